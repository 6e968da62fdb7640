import { describe, expect, it } from 'vitest'
import { audit, HOUR, scratch, START, story, TestLog } from './helpers.ts'

const MINUTE = 60_000
const waited = new TestLog().turn().asks('a', 'm').fails().waits(1).after(HOUR).starts(1).fails().waits(2).after(HOUR).starts(2).answers('a', 'm').ends()
const pool = { p: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } }

async function whatIf(log: TestLog, config: unknown, name = 'c.json') {
  using place = scratch()
  const file = place.put(name, typeof config === 'string' ? config : JSON.stringify(config))
  const { out, err, code } = await audit(['--json', '--what-if', file, place.put('a.jsonl', log.text)])
  return { code, err, report: code === 2 ? undefined : JSON.parse(out).whatIf }
}

describe('--what-if', () => {
  it('bounds a wait from both sides: refused up to the last refusal, answered from the answer on', async () => {
    const { report } = await whatIf(waited, { longTermDelayMs: 25 * MINUTE })
    expect(report).toMatchObject({ decisions: 2, alike: 2, moves: 0, divergences: [] })
    expect(report.outages).toEqual([expect.objectContaining({
      at: START, loggedMs: 2 * HOUR, loggedAttempts: 2, earliestMs: 75 * MINUTE, fewestAttempts: 3, latestMs: 125 * MINUTE, mostAttempts: 5, givenUpAfterMs: null,
    })])
  })

  it('is the log itself under the configuration of the log', async () => {
    const { report } = await whatIf(waited, {})
    expect(report.waits).toEqual({ outages: 1, loggedMs: 2 * HOUR, earliestMs: 2 * HOUR, latestMs: 2 * HOUR, loggedAttempts: 2, fewestAttempts: 2, mostAttempts: 2, givenUp: 0 })
  })

  it('finds the move that would have happened, and does not pretend to know what came after it', async () => {
    const { report } = await whatIf(waited, { pools: pool })
    expect(report).toMatchObject({ decisions: 2, alike: 0, moves: 1, unknowable: 1, outages: [] })
    expect(report.divergences).toEqual([expect.objectContaining({
      at: START, route: { provider: 'a', model: 'm' }, logged: { kind: 'wait', delayMs: HOUR, cause: 'interval' }, instead: { kind: 'move', to: { provider: 'b', model: 'n' }, pool: 'p' }, answeredAfterMs: 2 * HOUR,
    })])
    expect(report.unknown.length).toBeGreaterThan(3)
  })

  it('finds the move that would not have happened', async () => {
    const { report } = await whatIf(story(), {})
    expect(report.divergences).toEqual([expect.objectContaining({ logged: expect.objectContaining({ kind: 'move' }), instead: expect.objectContaining({ kind: 'wait' }) })])
  })

  it('finds where the longest wait would have been used up', async () => {
    const { report } = await whatIf(waited, { maxWaitMs: 30 * MINUTE })
    expect(report.outages).toEqual([expect.objectContaining({ givenUpAfterMs: 30 * MINUTE })])
    expect(report.waits.givenUp).toBe(1)
  })

  it('takes a patch file in YAML as people have it', async () => {
    const { report } = await whatIf(waited, '- id: other\n- id: llm-quota-retry\n  config:\n    defaultEnabled: false\n', 'cordis.patch.yml')
    expect(report.divergences[0].instead).toEqual({ kind: 'left', why: 'switched-off' })
  })

  it.each([
    ['c.json', '{"longTermDelay": 5}', 'unknown key "longTermDelay"'], ['c.json', '{', 'is not JSON'], ['c.yml', 'a: [', 'neither JSON nor YAML'], ['c.yml', '- id: x', 'without a row'],
  ])('%s %s: says what is wrong, and ends with 2', async (name, text, words) => {
    const { code, err } = await whatIf(waited, text, name)
    expect(code).toBe(2)
    expect(err).toContain(words)
  })
})
