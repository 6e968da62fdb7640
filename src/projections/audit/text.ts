import { clockText, durationText, oneLine } from '../text.ts'
import { counted, shownRoute } from './describe.ts'
import type { Row, SessionHead, SessionTotals } from './records.ts'
import type { Summary } from './summary.ts'

/** Longest foreign name in one line, in UTF-16 units. */
const NAME = 200
const clean = (value: string): string => oneLine(value, NAME)

/**
 * The heading of a session.
 *
 * @param head - who it is.
 */
export function headText(head: SessionHead): string {
  const name = head.session === null ? 'Session without a head' : `Session ${clean(head.session)}`
  const parent = head.parent === null ? '' : `, child of ${clean(head.parent)}`
  const seed = head.inherited === 0 ? '' : `, its first ${counted(head.inherited, 'event')} taken over from there`
  return `${name}${parent}${seed}\n  ${clean(head.file)}`
}

/**
 * A line of a timeline.
 *
 * @param row - the line.
 * @param timeZone - an IANA zone; the host's own when absent.
 */
export function rowText(row: Row, timeZone?: string): string {
  const until = row.until === undefined ? '' : `, until ${clockText(row.until, timeZone)}`
  return `  ${clockText(row.at, timeZone)}  ${row.text}${until}`
}

/**
 * What a session comes to, in one line.
 *
 * @param totals - what it comes to.
 */
export function totalsText(totals: SessionTotals): string {
  const parts = [
    `${counted(totals.answered, 'answer')}, ${counted(totals.refused, 'refusal')}`
      + (totals.spent === 0 ? '' : ` (${totals.spent} for a spent allowance)`),
    ...totals.moves === 0 ? [] : [counted(totals.moves, 'move')],
    ...totals.waits === 0 ? [] : [`${counted(totals.waits, 'wait')}, ${durationText(totals.waitedMs)} waited, ${counted(totals.attempts, 'attempt')} after them`],
  ]
  return `  = ${parts.join('; ')}`
}

function outage({ entries }: Summary, timeZone: string | undefined): string[] {
  const { longest } = entries
  if (longest === null) return []
  const route = longest.model === null ? clean(longest.provider) : shownRoute({ provider: longest.provider, model: longest.model })
  return [`Longest outage: ${durationText(longest.durationMs)} on ${route} from ${clockText(longest.enteredAt, timeZone)}`
    + `${longest.open ? ', still open at the end of its log' : ''}, session ${longest.session === null ? 'without a head' : clean(longest.session)}`]
}

const countsText = (counts: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(counts).map(([name, count]) => `${name} ${count ?? 0}`).join(', ')

/**
 * The summary of all sessions.
 *
 * @param summary - the sum.
 * @param timeZone - an IANA zone; the host's own when absent.
 */
export function summaryText(summary: Summary, timeZone?: string): string {
  const { failovers, waits, entries, providers } = summary
  return [
    `${counted(summary.sessions, 'session')}, ${summary.affected} of them out of allowance at some time`,
    `Requests: ${summary.answered} answered, ${summary.refused} refused, ${summary.attempts} spent on asking again after a wait; ${counted(summary.quickRetries, 'quick retry')} of the harness`,
    entries.total === 0 ? 'Outages: none' : `Outages: ${entries.total} (${entries.recovered} recovered, ${entries.disabled} switched off, ${entries.open} open at the end), ${durationText(entries.totalMs)} in all`,
    ...waits.total === 0 ? [] : [`Waits: ${waits.total}, planned for ${durationText(waits.plannedMs)}, ${durationText(waits.keptMs)} waited, ${waits.cutShort} ended otherwise than in an attempt`],
    ...outage(summary, timeZone),
    `Failovers: ${failovers.total === 0 ? 'none' : `${failovers.total}, ${failovers.confirmed} confirmed by a request`}`,
    ...failovers.pairs.map(pair => `  ${pair.from === null ? 'an unnamed route' : shownRoute(pair.from)} -> ${shownRoute(pair.to)}: ${pair.count}`),
    ...providers.length === 0 ? [] : ['Refusals by provider:'],
    ...providers.map(tally => `  ${tally.provider === null ? 'an unnamed provider' : clean(tally.provider)}: ${tally.failures} (${countsText(tally.byKind)}) by rule ${countsText(tally.byRule)}`),
  ].join('\n')
}
