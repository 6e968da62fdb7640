/** The page: figures, tables, and the list of sessions, each of which opens its lanes. Plain script. */
export const PAGE_SCRIPT = String.raw`
const report = JSON.parse(document.getElementById('data').textContent)
const byId = id => document.getElementById(id)
const sum = report.summary
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const counted = (count, noun) => count + ' ' + noun + (count === 1 ? '' : 's')
const ranges = new Map(report.sessions.map(s => [s, rangeOf(s)]))
const whole = { from: Math.min(...[...ranges.values()].map(r => r.from)), to: Math.max(...[...ranges.values()].map(r => r.to)) }
const filter = Object.entries(report.filter).map(([key, value]) => key + ' ' + (key === 'since' ? clock(value) : value)).join(', ')
byId('scope').textContent = report.sessions.length === 0 ? 'No session.' : clock(whole.from) + ' to ' + clock(whole.to) + ', times in ' + zone + (filter === '' ? '' : ' · only ' + filter)

const figure = (name, value, note) => {
  const box = make('div', {})
  box.append(make('div', { class: 'figure-name' }, name), make('div', { class: 'figure' }, value), make('div', { class: 'figure-note' }, note))
  byId('figures').append(box)
}
const longest = sum.entries.longest
figure('Sessions', sum.sessions, sum.affected + ' out of allowance at some time')
figure('Failovers', sum.failovers.total, sum.failovers.total === 0 ? '' : sum.failovers.confirmed + ' confirmed by a request')
figure('Waited', sum.waits.total === 0 ? 'not at all' : span(sum.waits.keptMs), sum.waits.total === 0 ? '' : counted(sum.waits.total, 'wait') + ', ' + counted(sum.attempts, 'attempt'))
figure('Longest outage', longest === null ? 'none' : span(longest.durationMs), longest === null ? '' : longest.provider + (longest.open ? ', still open' : ''))
figure('Refusals', sum.refused, counted(sum.answered, 'answer'))

const table = (title, heads, rows) => {
  if (rows.length === 0) return
  const card = make('div', { class: 'card' }), grid = make('table', {}), head = make('tr', {}), body = make('tbody', {})
  heads.forEach((name, index) => head.append(make('th', index > 0 && index === heads.length - 1 ? { class: 'n' } : {}, name)))
  for (const cells of rows) {
    const line = make('tr', {})
    cells.forEach((cell, index) => line.append(make('td', index > 0 && index === cells.length - 1 ? { class: 'n' } : {}, cell)))
    body.append(line)
  }
  const top = make('thead', {})
  top.append(head)
  grid.append(top, body)
  card.append(make('h2', {}, title), grid)
  byId('tables').append(card)
}
const counts = map => Object.entries(map).map(([name, count]) => name + ' ' + count).join(', ')
table('Failovers', ['From', 'To', 'Times'], sum.failovers.pairs.slice(0, 20).map(p => [routeText(p.from), routeText(p.to), p.count]))
table('Refusals by provider', ['Provider', 'What they were', 'By rule', 'Times'], sum.providers.slice(0, 20).map(p => [p.provider ?? 'not named', counts(p.byKind), counts(p.byRule), p.failures]))

const legendMark = (shape, text) => {
  const icon = draw('svg', { width: 18, height: 12, viewBox: '0 0 18 12' })
  icon.append(shape)
  const item = make('span', {})
  item.append(icon, make('span', {}, text))
  byId('legend').append(item)
}
legendMark(draw('rect', { class: 'answer', x: 0, y: 2, width: 18, height: 8, rx: 3 }), 'answers')
legendMark(draw('rect', { x: 0.5, y: 1, width: 17, height: 10, rx: 3, style: 'fill: var(--wait-fill); stroke: var(--wait)' }), 'wait')
legendMark(draw('circle', { class: 'refused spent-allowance', cx: 9, cy: 6, r: 4 }), 'allowance spent')
legendMark(draw('circle', { class: 'refused other', cx: 9, cy: 6, r: 4 }), 'other refusal')
legendMark(draw('path', { class: 'arrow', d: 'M9 12 l-5 -7 h4 v-5 h2 v5 h4 z' }), 'failover')

const WIDE = 1000
/** A session in one line, on the time scale of all. */
const strip = s => {
  const svg = draw('svg', { viewBox: '0 0 ' + WIDE + ' 16', preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  const x = at => WIDE * (at - whole.from) / (whole.to - whole.from)
  const own = ranges.get(s)
  const bar = (kind, from, to, y, height, least) => svg.append(draw('rect', { class: kind, x: Math.min(x(from), WIDE - least), y, width: Math.max(least, x(to) - x(from)), height }))
  bar('strip-base', own.from, own.to, 7, 2, 3)
  for (const r of s.waits) bar('strip-wait', r.at, r.at + r.keptMs, 4, 8, 2)
  for (const r of s.failures) bar(r.kind === 'spent-allowance' ? 'strip-spent' : 'strip-fail', r.at, r.at, 3, 10, 2)
  for (const r of s.moves) bar('strip-move', r.at, r.at, 1, 14, 2.5)
  return svg
}

const tip = byId('tip')
const hover = (event) => {
  const r = event.target.record
  if (r === undefined) { tip.hidden = true; return }
  const [title, values] = facts[r.record](r)
  const listing = make('dl', {})
  for (const [key, value] of Object.entries({ time: clock(r.at), ...values })) {
    if (value === null || value === undefined || value === '') continue
    listing.append(make('dt', {}, key), make('dd', {}, value))
  }
  tip.replaceChildren(make('b', {}, title), listing)
  tip.hidden = false
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px'
  tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + 'px'
}

const detail = s => {
  const box = make('div', { class: 'detail' }), canvas = make('div', {}), hint = make('div', { class: 'hint' })
  const reset = make('button', { class: 'reset', type: 'button' }, 'whole time')
  const lines = make('div', { class: 'lines' })
  let view = ranges.get(s)
  const render = () => {
    const width = Math.max(300, canvas.clientWidth)
    tip.hidden = true
    const drawn = lanes(s, width, view)
    let from
    const brush = draw('rect', { class: 'brush', y: 0, height: drawn.height, width: 0 })
    const place = event => event.clientX - drawn.svg.getBoundingClientRect().left
    drawn.svg.addEventListener('pointerdown', event => { from = place(event); drawn.svg.append(brush); drawn.svg.setPointerCapture(event.pointerId) })
    drawn.svg.addEventListener('pointermove', event => {
      if (from === undefined) return hover(event)
      brush.setAttribute('x', Math.min(from, place(event)))
      brush.setAttribute('width', Math.abs(place(event) - from))
    })
    drawn.svg.addEventListener('pointerup', event => {
      const a = drawn.at(Math.min(from, place(event))), b = drawn.at(Math.max(from, place(event)))
      if (Math.abs(place(event) - from) > 6 && b - a > 5) { view = { from: a, to: b }; render() }
      from = undefined
      brush.remove()
    })
    drawn.svg.addEventListener('pointerleave', () => { tip.hidden = true })
    reset.hidden = view === ranges.get(s)
    canvas.replaceChildren(drawn.svg)
  }
  reset.addEventListener('click', () => { view = ranges.get(s); render() })
  hint.append(make('span', {}, 'Drag over a stretch of time to look closer; hover a mark for its record.'), reset)
  box.append(make('p', { class: 'file' }, s.file + (s.parent === null ? '' : ' · child of ' + s.parent) + (s.inherited === 0 ? '' : ' · its first ' + counted(s.inherited, 'event') + ' are its parent\'s')), canvas, hint)
  if (s.timeline !== undefined && s.timeline.length > 0) {
    const more = make('details', {})
    more.append(make('summary', {}, counted(s.timeline.length, 'line') + ' of its timeline'), lines)
    more.addEventListener('toggle', () => {
      if (lines.firstChild !== null) return
      for (const r of s.timeline) lines.append(make('time', {}, clock(r.at)), make('span', {}, r.text + (r.until === undefined ? '' : ', until ' + clock(r.until))))
    })
    box.append(more)
  }
  return { box, render }
}

const opened = new Map()
const nameOf = s => s.session === null ? 'no id' : s.session.replace(/^session-/, '')
const noteOf = s => [s.totals.moves > 0 ? counted(s.totals.moves, 'move') : '', s.totals.waits > 0 ? span(s.totals.waitedMs) + ' waited' : '', s.totals.moves + s.totals.waits === 0 ? s.totals.refused === 0 ? counted(s.totals.answered, 'answer') : counted(s.totals.refused, 'refusal') : ''].filter(Boolean).join(' · ')
const rows = report.sessions.map(s => {
  const box = make('div', { class: 'session' }), row = make('button', { class: 'row', type: 'button', 'aria-expanded': 'false' })
  row.append(make('span', { class: 'id', title: s.session ?? '' }, nameOf(s)), strip(s), make('span', { class: 'note' }, noteOf(s)))
  const toggle = () => {
    const known = opened.get(s)
    if (known !== undefined) { known.box.remove(); opened.delete(s) } else {
      const made = detail(s)
      box.append(made.box)
      opened.set(s, made)
      made.render()
    }
    box.classList.toggle('open', opened.has(s))
    row.setAttribute('aria-expanded', String(opened.has(s)))
  }
  row.addEventListener('click', toggle)
  box.append(row)
  const words = [s.session, s.file, ...lanesOf(s).keys(), ...s.failures.map(r => r.rule)].join(' ').toLowerCase()
  const quiet = [s.failures, s.moves, s.waits, s.entries, s.continuations].every(records => records.length === 0)
  return { s, box, toggle, words, quiet }
})
/** Whether sessions that tell nothing are shown too: where there are no others, and where somebody asks for them. */
let everything = rows.every(row => row.quiet)
const orders = { time: (a, b) => ranges.get(a.s).from - ranges.get(b.s).from, waited: (a, b) => b.s.totals.waitedMs - a.s.totals.waitedMs, moves: (a, b) => b.s.totals.moves - a.s.totals.moves }
const list = () => {
  const words = byId('find').value.trim().toLowerCase(), only = byId('only').checked
  const shown = rows.filter(row => row.words.includes(words) && (!only || row.s.entries.length + row.s.moves.length > 0)).sort(orders[byId('order').value])
  const told = words === '' && !everything ? shown.filter(row => !row.quiet) : shown
  byId('list').replaceChildren(...told.map(row => row.box))
  if (told.length < shown.length) {
    const more = make('button', { class: 'more', type: 'button' }, counted(shown.length - told.length, 'session') + ' in which nothing was refused, moved or waited for')
    more.addEventListener('click', () => { everything = true; list() })
    byId('list').append(more)
  }
  if (shown.length === 0) byId('list').append(make('div', { class: 'empty' }, 'No session is like that.'))
}
for (const id of ['find', 'only', 'order']) byId(id).addEventListener('input', list)
list()
const axis = make('div', {})
if (report.sessions.length > 1) {
  const places = ticks(whole.from, whole.to, 7)
  for (const at of places.places) {
    const part = (at - whole.from) / (whole.to - whole.from)
    axis.append(make('span', { style: 'left: ' + 100 * part + '%', class: part < 0.04 ? 'first' : part > 0.96 ? 'last' : '' }, tickText(at, places.step)))
  }
  byId('axis').append(axis)
} else if (rows.length === 1) rows[0].toggle()
let later
addEventListener('resize', () => { clearTimeout(later); later = setTimeout(() => { for (const made of opened.values()) made.render() }, 100) })

const note = (title, lines) => {
  if (lines.length === 0) return
  const box = make('div', { class: 'card' }), items = make('ul', {})
  for (const line of lines.slice(0, 200)) items.append(make('li', {}, line))
  box.append(make('h2', {}, title), items)
  byId('notes').append(box)
}
note('Not read', report.problems.map(p => p.file + (p.offset === null ? '' : ' at byte ' + p.offset) + ': ' + p.text))
if (report.whatIf !== undefined) {
  const w = report.whatIf
  note('With the other configuration', [
    w.decisions + ' refusals to answer, ' + w.alike + ' answered alike, ' + counted(w.moves, 'other move'),
    ...w.waits.outages === 0 ? [] : [counted(w.waits.outages, 'outage') + ' waited out alike: ' + span(w.waits.loggedMs) + ' in the log, ' + span(w.waits.earliestMs) + ' to ' + span(w.waits.latestMs) + ' instead'],
    ...w.unknown.map(line => 'A log cannot say ' + line),
  ])
}
`
