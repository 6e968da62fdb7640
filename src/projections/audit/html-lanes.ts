/**
 * Draws one session: a lane for each route, time from left to right. Plain script of the page; what it draws from is
 * the JSON document, and every text of it is set as text.
 */
export const LANES_SCRIPT = String.raw`
'use strict'
const SVG = 'http://www.w3.org/2000/svg'
const make = (name, attributes, text) => {
  const element = document.createElement(name)
  for (const key in attributes) element.setAttribute(key, attributes[key])
  if (text !== undefined) element.textContent = text
  return element
}
const draw = (name, attributes, text) => {
  const element = document.createElementNS(SVG, name)
  for (const key in attributes) element.setAttribute(key, attributes[key])
  if (text !== undefined) element.textContent = text
  return element
}
const routeText = route => route === null || route === undefined ? 'a route that the log does not name' : route.provider + '/' + route.model
const UNITS = [[86400000, 'd'], [3600000, 'h'], [60000, 'min'], [1000, 's']]
const span = ms => {
  if (ms < 999.5) return Math.max(0, Math.round(ms)) + ' ms'
  const left = 1000 * Math.round(ms / 1000)
  const first = UNITS.findIndex(unit => left >= unit[0])
  const whole = Math.floor(left / UNITS[first][0])
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((left - whole * UNITS[first][0]) / next[0])
  return whole + ' ' + UNITS[first][1] + (rest === 0 ? '' : ' ' + rest + ' ' + next[1])
}
const pad = (value, width) => String(value).padStart(width, '0')
const clock = at => {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? String(at) : time.getFullYear() + '-' + pad(time.getMonth() + 1, 2) + '-' + pad(time.getDate(), 2)
    + ' ' + pad(time.getHours(), 2) + ':' + pad(time.getMinutes(), 2) + ':' + pad(time.getSeconds(), 2)
}
const STEPS = [1, 5, 20, 100, 250, 500, 1e3, 5e3, 15e3, 6e4, 3e5, 9e5, 36e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 26e8, 79e8, 32e9]
/** Places for a scale, at round local times. */
const ticks = (from, to, most) => {
  const step = STEPS.find(size => (to - from) / size <= most) ?? 32e9
  const shift = step >= 36e5 ? new Date(from).getTimezoneOffset() * 60000 : 0
  const places = []
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) places.push(at)
  return { step, places }
}
const tickText = (at, step) => {
  const text = clock(at)
  if (step >= 864e5) return text.slice(0, 10)
  if (step >= 6e4) return text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16)
  return step >= 1e3 ? text.slice(11) : text.slice(11) + '.' + pad(new Date(at).getMilliseconds(), 3)
}
const ENDS = { 'attempt': 'in an attempt', 'turn-ended': 'with its turn', 'switched-off': 'by switching off', 'host-ended': 'with the host', 'given-up': 'with the plugin', 'answer': 'with an answer', 'replaced': 'by another wait', 'log-ended': 'is open at the end of the log' }
/** What hovering a mark shows: its kind and the record behind it. */
const facts = {
  failure: r => ['Refused', { route: routeText(r.route), kind: r.kind + ' (' + r.confidence + ')', rule: r.rule, why: r.reason, code: r.code + (r.status === null ? '' : ' ' + r.status), said: r.message, resets: r.resetsAt === null ? r.resetHint : clock(r.resetsAt) }],
  wait: r => ['Wait ' + r.attempt, { route: r.provider + (r.model === null ? '' : '/' + r.model), planned: span(r.plannedMs) + ' (' + r.cause + ')', kept: span(r.keptMs), ended: ENDS[r.endedBy] + (r.outcome === null ? '' : ' (' + r.outcome + ')') }],
  move: r => [r.beforeSending ? 'Moved before sending' : 'Failover', { from: routeText(r.from), to: routeText(r.to), pool: r.pool, why: r.reason, said: r.message, confirmed: r.confirmedAt === null ? 'by no request in this log' : clock(r.confirmedAt) }],
  answers: r => [r.count === 1 ? 'Answered' : r.count + ' answers', { route: routeText(r.route), until: r.count === 1 ? null : clock(r.until) }],
  entry: r => ['Out of allowance', { route: r.provider + (r.model === null ? '' : '/' + r.model), lasted: span(r.durationMs), waits: r.attempts, ended: r.reason, said: r.message }],
  setting: r => ['Setting', { set: r.setting + ' ' + r.value, by: r.inherited ? 'inherited' : r.by, outcome: r.outcome }],
  turn: r => ['Turn ' + r.turn + ' ended', { outcome: r.outcome }],
  continuation: r => ['Turn ' + r.turn + ' goes on', { with: 'the run of turn ' + r.ofTurn + ', which the end of its host cut off', due: clock(r.dueAt) }],
}
const all = s => [...s.routes, ...s.answers, ...s.failures, ...s.moves, ...s.waits, ...s.entries, ...s.settings, ...s.turns, ...s.continuations]
const endOf = r => r.record === 'answers' ? r.until : r.record === 'wait' ? r.at + r.keptMs : r.record === 'entry' ? r.at + r.durationMs : r.at
const rangeOf = s => {
  let from = s.startedAt ?? Infinity, to = s.totals.endedAt ?? -Infinity
  for (const r of all(s)) { from = Math.min(from, r.at); to = Math.max(to, endOf(r)) }
  return Number.isFinite(from) && Number.isFinite(to) ? { from, to: Math.max(to, from + 1) } : { from: 0, to: 1 }
}
/** Lanes in order of first use. */
const lanesOf = s => {
  const lanes = new Map()
  const add = name => { if (!lanes.has(name)) lanes.set(name, lanes.size) }
  for (const r of all(s).sort((a, b) => a.at - b.at)) {
    if (r.record === 'move') { if (r.from !== null) add(routeText(r.from)); add(routeText(r.to)) } else if (r.route) add(routeText(r.route))
    else if (r.record === 'wait') add(r.provider + (r.model === null ? '' : '/' + r.model))
  }
  if (lanes.size === 0) add('no request')
  return lanes
}
const LANE = 34, TOP = 26, LEFT = 0, NAME = 15
/** The lanes of a session between two times. */
const lanes = (s, width, view) => {
  const names = lanesOf(s)
  const height = TOP + names.size * (LANE + NAME) + 22
  const svg = draw('svg', { width, height, viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': 'Lanes of session ' + s.session })
  const x = at => Math.max(-20, Math.min(width + 20, LEFT + 8 + (width - LEFT - 20) * (at - view.from) / (view.to - view.from)))
  const y = name => TOP + (names.get(name) ?? 0) * (LANE + NAME) + NAME + LANE / 2
  const seen = r => endOf(r) >= view.from && r.at <= view.to
  const mark = (element, r) => { element.record = r; svg.append(element); return element }
  const pattern = draw('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' })
  pattern.append(draw('rect', { width: 6, height: 6, style: 'fill: var(--wait-fill)' }), draw('line', { x1: 0, y1: 0, x2: 0, y2: 6, style: 'stroke: var(--wait); stroke-width: 2; opacity: .55' }))
  const defs = draw('defs', {})
  defs.append(pattern)
  svg.append(defs)
  for (const r of s.entries.filter(seen)) mark(draw('rect', { class: 'band', x: x(r.at), y: TOP - 4, width: Math.max(2, x(endOf(r)) - x(r.at)), height: height - TOP - 14 }), r)
  const scale = ticks(view.from, view.to, Math.max(2, width / 110))
  for (const at of scale.places) {
    svg.append(draw('line', { class: 'grid', x1: x(at), x2: x(at), y1: TOP - 4, y2: height - 18 }))
    svg.append(draw('text', { class: 'tick', x: x(at), y: height - 5, 'text-anchor': x(at) < 30 ? 'start' : x(at) > width - 30 ? 'end' : 'middle' }, tickText(at, scale.step)))
  }
  for (const [name] of names) {
    svg.append(draw('text', { class: 'lane-name', x: LEFT + 8, y: y(name) - LANE / 2 - 2 }, name.length > 90 ? name.slice(0, 89) + '…' : name))
    svg.append(draw('line', { class: 'rail', x1: LEFT + 8, x2: width - 8, y1: y(name), y2: y(name) }))
  }
  s.routes.forEach((r, index) => {
    const until = s.routes[index + 1]?.at ?? rangeOf(s).to
    if (until < view.from || r.at > view.to) return
    const name = routeText(r.route)
    svg.append(draw('line', { class: 'rail used', x1: x(r.at), x2: x(until), y1: y(name), y2: y(name) }))
  })
  for (const r of s.waits.filter(seen)) {
    const at = y(r.model === null ? r.provider : r.provider + '/' + r.model)
    if (r.endedBy !== 'attempt' && r.plannedMs > r.keptMs) svg.append(draw('line', { class: 'planned', x1: x(r.at + r.keptMs), x2: x(r.at + r.plannedMs), y1: at, y2: at }))
    mark(draw('rect', { class: 'wait' + (r.endedBy === 'log-ended' ? ' open' : ''), x: x(r.at), y: at - 8, width: Math.max(3, x(endOf(r)) - x(r.at)), height: 16, rx: 3 }), r)
  }
  for (const r of s.answers.filter(seen)) mark(draw('rect', { class: 'answer', x: x(r.at) - 2, y: y(routeText(r.route)) - 5, width: Math.max(5, x(r.until) - x(r.at) + 4), height: 10, rx: 3 }), r)
  for (const r of s.moves.filter(seen)) {
    const from = r.from === null ? TOP - 8 : y(routeText(r.from)), to = y(routeText(r.to)), at = x(r.at), down = to > from ? 1 : -1
    const end = to - 7 * down, ends = { x1: at, x2: at, y1: from, y2: end - 7 * down }
    svg.append(draw('line', { class: 'halo', ...ends }), draw('line', { class: 'move' + (r.confirmedAt === null ? ' unconfirmed' : ''), ...ends }))
    svg.append(draw('path', { class: 'arrow', d: 'M' + at + ' ' + end + ' l-6 ' + -9 * down + ' h12 z' }))
    mark(draw('line', { class: 'hit', 'stroke-width': 14, x1: at, x2: at, y1: from, y2: to }), r)
  }
  for (const r of s.failures.filter(seen)) mark(draw('circle', { class: 'refused ' + r.kind, cx: x(r.at), cy: y(routeText(r.route)), r: 5 }), r)
  for (const r of s.settings.filter(seen)) mark(draw('path', { class: 'setting', d: 'M' + x(r.at) + ' ' + (TOP - 6) + ' l-5 -9 h10 z' }), r)
  for (const r of [...s.turns, ...s.continuations].filter(seen)) mark(draw('rect', { class: 'turn', x: x(r.at) - 4, y: TOP - 15, width: 8, height: 8 }), r)
  return { svg, at: place => view.from + (place - LEFT - 8) / (width - LEFT - 20) * (view.to - view.from), height }
}
`
