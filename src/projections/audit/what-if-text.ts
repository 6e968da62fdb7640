import { clockText, durationText, oneLine } from '../text.ts'
import { counted, shownRoute } from './describe.ts'
import type { Decision, WhatIfReport } from './what-if.ts'

/** Lines of each kind that are printed; the JSON document has more. */
const SHOWN = 40

function decisionText(decision: Decision): string {
  switch (decision.kind) {
    case 'wait': return `wait ${durationText(decision.delayMs)}`
    case 'retry': return `try again in ${durationText(decision.delayMs)}`
    case 'move': return `move to ${shownRoute(decision.to)} (pool ${oneLine(decision.pool, 120)})`
    case 'left': return `no answer of the plugin (${decision.why})`
  }
}

/** From the earliest to the latest time; one where they are the same. */
const spanText = (fromMs: number, toMs: number): string =>
  durationText(fromMs) === durationText(toMs) ? durationText(fromMs) : `${durationText(fromMs)} to ${durationText(toMs)}`
const numbersText = (from: number, to: number): string => from === to ? String(from) : `${from} to ${to}`

function outageText(outage: WhatIfReport['outages'][number], timeZone: string | undefined): string {
  const route = outage.route === null ? 'an unnamed route' : shownRoute(outage.route)
  const stood = outage.givenUpAfterMs !== null && outage.earliestMs === outage.givenUpAfterMs
  if (stood) {
    return `  ${clockText(outage.at, timeZone)}  ${route}: ${durationText(outage.loggedMs)} and ${counted(outage.loggedAttempts, 'attempt')} in the log; `
      + `given up after ${durationText(outage.earliestMs)} and ${counted(outage.mostAttempts, 'attempt')} instead`
  }
  const end = outage.givenUpAfterMs === null ? '' : `, or given up after ${durationText(outage.givenUpAfterMs)}`
  return `  ${clockText(outage.at, timeZone)}  ${route}: ${durationText(outage.loggedMs)} and ${counted(outage.loggedAttempts, 'attempt')} in the log; `
    + `${spanText(outage.earliestMs, outage.latestMs)} and ${numbersText(outage.fewestAttempts, outage.mostAttempts)} instead${end}`
}

const more = (all: number): string[] => all > SHOWN ? [`  and ${all - SHOWN} more`] : []

/**
 * What another configuration would have done, as text.
 *
 * @param report - what it would have done.
 * @param timeZone - an IANA zone; the host's own when absent.
 */
export function whatIfText(report: WhatIfReport, timeZone?: string): string {
  const { waits, divergences, outages } = report
  const changed = outages.filter(outage => outage.givenUpAfterMs !== null || durationText(outage.earliestMs) !== durationText(outage.loggedMs) || durationText(outage.latestMs) !== durationText(outage.loggedMs))
  return [
    'With the other configuration:',
    `${counted(report.decisions, 'refusal')} to answer, ${report.alike} answered alike, ${counted(report.moves, 'other move')}`
      + (report.unknowable === 0 ? '' : `; ${report.unknowable} later in the same turns would have been others, or none`),
    ...divergences.slice(0, SHOWN).map(({ at, route, logged, instead, answeredAfterMs }) =>
      `  ${clockText(at, timeZone)}  ${route === null ? 'an unnamed route' : shownRoute(route)} refused: ${decisionText(instead)}; the log has: ${decisionText(logged)}${answeredAfterMs === null ? '' : `, answered after ${durationText(answeredAfterMs)}`}`),
    ...more(divergences.length),
    ...waits.outages === 0 ? [] : [`${counted(waits.outages, 'outage')} waited out alike: ${durationText(waits.loggedMs)} and ${counted(waits.loggedAttempts, 'attempt')} in the log, `
      + `${spanText(waits.earliestMs, waits.latestMs)} and ${numbersText(waits.fewestAttempts, waits.mostAttempts)} instead`
      + (waits.givenUp === 0 ? '' : `; ${waits.givenUp} of them could have been given up`)],
    ...changed.slice(0, SHOWN).map(outage => outageText(outage, timeZone)),
    ...more(changed.length),
    'A log cannot say:',
    ...report.unknown.map(line => `  - ${line}`),
  ].join('\n')
}
