import { beforeEach, describe, expect, it } from 'vitest'
import { SPACING_MS } from '../../src/host/pace.ts'
import { HINT_MARGIN_MS } from '../../src/policy/quota/wait.ts'
import { HOUR, MINUTE, SECOND } from '../support/build.ts'
import { ELSEWHERE, Queue, ROUTE, SIBLING, type Sitter } from '../support/queue.ts'

let queue: Queue
beforeEach(() => { queue = new Queue() })

const causes = (sitters: readonly Sitter[]): string[][] => sitters.map(({ woken }) => woken.map(([cause]) => cause))
const empty = (): void => { expect([queue.gates.waits.size, queue.scheduler.size, queue.clock.pending]).toEqual([0, 0, 0]) }

describe('of several sessions that wait on a route', () => {
  it('the one who waits longest asks, once an interval; the others join its time', async () => {
    const [first, second, third] = await queue.waiting(3) as [Sitter, Sitter, Sitter]
    await queue.until(SECOND + HOUR)
    expect(first.woken).toEqual([['due', SECOND + HOUR]])
    expect(causes([second, third])).toEqual([[], []])
  })

  it('the others are told the new time when it is refused, and the next one asks then', async () => {
    const [first, second, third] = await queue.waiting(3) as [Sitter, Sitter, Sitter]
    await queue.until(SECOND + HOUR)
    queue.asks(first)
    await queue.pass(2 * SECOND)
    queue.refuse(first)
    const next = 3 * SECOND + 2 * HOUR
    expect([first.told, second.told, third.told]).toEqual([[], [next], [next]])
    await queue.until(next)
    expect(second.woken).toEqual([['due', next]])
  })

  it('the others follow one after another when it is answered', async () => {
    const sitters = await queue.waiting(8)
    await queue.until(SECOND + HOUR)
    queue.asks(sitters[0]!)
    await queue.pass(2 * SECOND)
    queue.gates.answered(sitters[0]!.name, ROUTE)
    await queue.pass(2 * SECOND)
    const from = 3 * SECOND + HOUR
    expect(sitters.slice(1).flatMap(({ woken }) => woken)).toEqual([1, 2, 3, 4, 5, 6, 7].map(step => ['ramp', from + step * SPACING_MS]))
    empty()
  })

  it('the first word of an answer is as good as the answer', async () => {
    const [first, second] = await queue.waiting(2) as [Sitter, Sitter]
    await queue.until(SECOND + HOUR)
    queue.asks(first)
    expect([queue.gates.isProbing(first.name), queue.gates.isProbing(second.name)]).toEqual([true, false])
    queue.gates.streaming(first.name, ROUTE)
    expect(queue.gates.isProbing(first.name)).toBe(false)
    await queue.pass(SPACING_MS)
    expect(causes([second])).toEqual([['ramp']])
  })

  it('the rest goes back to waiting when one of those who follow is refused', async () => {
    const sitters = await queue.waiting(5)
    await queue.until(SECOND + HOUR)
    queue.asks(sitters[0]!)
    queue.gates.answered(sitters[0]!.name, ROUTE)
    await queue.pass(SPACING_MS)
    queue.asks(sitters[1]!)
    await queue.pass(50)
    queue.refuse(sitters[1]!)
    const next = queue.now + HOUR
    await queue.until(next - 1)
    expect(causes(sitters)).toEqual([['due'], ['ramp'], [], [], []])
    expect(sitters.slice(2).map(({ told }) => told)).toEqual([[next], [next], [next]])
    await queue.pass(1)
    expect(causes(sitters)).toEqual([['due'], ['ramp'], ['due'], [], []])
  })

  it('nobody asks in between while they follow, also when that takes longer than the interval', async () => {
    queue = new Queue({ intervalMs: SECOND })
    const sitters = await queue.waiting(1)
    for (let more = 1; more < 12; more += 1) sitters.push(queue.sitter(`s${more}`))
    for (const sitter of sitters.slice(1)) queue.refuse(sitter)
    await queue.pass(SECOND)
    queue.asks(sitters[0]!)
    queue.gates.answered(sitters[0]!.name, ROUTE)
    await queue.pass(11 * SPACING_MS)
    expect(causes(sitters)).toEqual([['due'], ...sitters.slice(1).map(() => ['ramp'])])
  })

  it('the next one asks soon when the one who asks ends without an answer', async () => {
    const [first, second] = await queue.waiting(2) as [Sitter, Sitter]
    await queue.until(SECOND + HOUR)
    queue.gates.left(first.name)
    await queue.pass(10 * SECOND)
    expect(second.woken).toEqual([['relay', 11 * SECOND + HOUR]])
  })

  it('the next one asks an interval later when nothing at all is heard of the one who asks', async () => {
    const [, second] = await queue.waiting(2)
    await queue.until(SECOND + 2 * HOUR)
    expect(second!.woken).toEqual([['relay', SECOND + 2 * HOUR]])
  })

  it('each asks for itself with a probe each', async () => {
    queue = new Queue({ probe: 'each' })
    const sitters = await queue.waiting(3)
    await queue.until(3 * SECOND + HOUR)
    expect(sitters.map(({ woken }) => woken)).toEqual([1, 2, 3].map(second => [['due', second * SECOND + HOUR]]))
  })

  it('each follows one after another with a probe each, too', async () => {
    queue = new Queue({ probe: 'each' })
    const sitters = await queue.waiting(3)
    await queue.until(SECOND + HOUR, 500)
    queue.asks(sitters[0]!)
    queue.gates.answered(sitters[0]!.name, ROUTE)
    await queue.pass(2 * SPACING_MS)
    expect(causes(sitters)).toEqual([['due'], ['ramp'], ['ramp']])
  })
})

describe('a newcomer', () => {
  it('that knows an earlier reset brings everybody forward, and they are told', async () => {
    const [first] = await queue.waiting(1) as [Sitter]
    const newcomer = queue.sitter('new')
    queue.asks(newcomer)
    const plan = queue.refuse(newcomer, { resetsAt: queue.clock.wall + 10 * MINUTE })
    expect(plan.cause).toBe('hint')
    const at = SECOND + 10 * MINUTE + HINT_MARGIN_MS
    expect(first.told).toEqual([at])
    await queue.until(at)
    // The new time stands in its log since it was told: what comes now is due.
    expect([first.woken, newcomer.woken]).toEqual([[['due', at]], []])
  })

  it('that is a few seconds off disturbs nobody', async () => {
    const resetsAt = queue.clock.wall + 30 * MINUTE
    const [first] = await queue.waiting(1, { resetsAt }) as [Sitter]
    const newcomer = queue.sitter('new')
    queue.refuse(newcomer, { resetsAt: resetsAt - 3 * SECOND })
    expect(first.told).toEqual([])
  })
})

describe('an answer', () => {
  it('to a request that was sent before the refused one is no news', async () => {
    const worker = queue.sitter('worker')
    queue.asks(worker)
    await queue.pass(SECOND)
    const [first] = await queue.waiting(1) as [Sitter]
    await queue.pass(MINUTE)
    queue.gates.answered(worker.name, ROUTE)
    await queue.pass(MINUTE)
    expect(first.woken).toEqual([])
  })

  it('to a later request is, whoever sent it', async () => {
    const [first, second] = await queue.waiting(2) as [Sitter, Sitter]
    const other = queue.sitter('other')
    queue.asks(other)
    queue.gates.answered(other.name, ROUTE)
    await queue.pass(2 * SPACING_MS)
    expect(causes([first, second])).toEqual([['ramp'], ['ramp']])
  })

  it('on another model of the provider has one ask, and is not believed again when that is refused', async () => {
    const [first, second] = await queue.waiting(2) as [Sitter, Sitter]
    const other = queue.sitter('other')
    const works = async (): Promise<void> => {
      queue.asks(other)
      queue.gates.answered(other.name, SIBLING)
      await queue.pass(SECOND)
    }
    await works()
    expect(causes([first, second])).toEqual([['answer'], []])
    queue.asks(first)
    queue.refuse(first)
    for (let more = 0; more < 5; more += 1) await works()
    expect(causes([first, second])).toEqual([['answer'], []])
  })

  it('of another provider says nothing', async () => {
    const [first] = await queue.waiting(1) as [Sitter]
    const other = queue.sitter('other')
    queue.asks(other)
    queue.gates.answered(other.name, ELSEWHERE)
    await queue.pass(SECOND)
    expect(first.woken).toEqual([])
  })
})

describe('a refusal', () => {
  it('of a request that was sent before the return does not shut the route again', async () => {
    const sitters = await queue.waiting(3)
    const late = queue.sitter('late')
    await queue.until(HOUR)
    queue.asks(late)
    await queue.until(SECOND + HOUR)
    queue.asks(sitters[0]!)
    await queue.pass(500)
    queue.gates.answered(sitters[0]!.name, ROUTE)
    expect(queue.refuse(late).cause).toBe('shared')
    await queue.pass(SECOND)
    expect(causes([...sitters, late])).toEqual([['due'], ['ramp'], ['ramp'], ['ramp']])
  })
})

describe('a balance reading that shows allowance', () => {
  it('has one ask at once', async () => {
    const sitters = await queue.waiting(3)
    queue.gates.providerBack('a')
    await queue.pass(100)
    expect(causes(sitters)).toEqual([['reading'], [], []])
  })

  it('adds nobody while one asks already, or while they follow', async () => {
    const sitters = await queue.waiting(4)
    queue.gates.providerBack('a')
    await queue.pass(100)
    queue.gates.providerBack('a')
    await queue.pass(100)
    expect(causes(sitters)).toEqual([['reading'], [], [], []])
    queue.asks(sitters[0]!)
    queue.gates.answered(sitters[0]!.name, ROUTE)
    queue.gates.providerBack('a')
    await queue.pass(SPACING_MS)
    expect(causes(sitters)).toEqual([['reading'], ['ramp'], [], []])
  })
})

describe('a wait', () => {
  it('on several routes ends when the first of them is due', async () => {
    const one = queue.sitter('one')
    queue.gates.hold(one.name, ELSEWHERE, queue.clock.wall + 10 * MINUTE)
    queue.refuse(one, {}, [ROUTE, ELSEWHERE])
    await queue.until(HOUR)
    expect(one.woken).toEqual([['due', 10 * MINUTE]])
    expect(one.wakes).toMatchObject([{ kind: 'go', route: ELSEWHERE }])
  })

  it('ends with a last look at its limit, whatever the route says', async () => {
    const one = queue.sitter('one')
    queue.refuse(one, {}, [ROUTE], 20 * MINUTE)
    await queue.until(HOUR, MINUTE)
    expect(one.woken).toEqual([['limit', 20 * MINUTE]])
  })

  it('is brought forward but never put off', async () => {
    const [one] = await queue.waiting(1) as [Sitter]
    queue.gates.waits.bringForward(one.name, queue.clock.wall + 2 * HOUR, 'message')
    queue.gates.waits.bringForward(one.name, queue.clock.wall + 10 * SECOND, 'message')
    queue.gates.waits.bringForward(one.name, queue.clock.wall + 30 * SECOND, 'message')
    await queue.until(2 * HOUR, MINUTE / 6)
    expect(one.woken).toEqual([['message', 11 * SECOND]])
  })

  it('ends at once when it is asked for, aborted, or opened anew', async () => {
    const [asked, again] = await queue.waiting(2) as [Sitter, Sitter]
    expect(queue.gates.waits.end(asked.name, { kind: 'go', cause: 'asked' })).toBe(true)
    expect(queue.gates.waits.end(asked.name, { kind: 'go', cause: 'asked' })).toBe(false)
    const abort = new AbortController()
    queue.wait(again, [ROUTE], undefined, abort.signal)
    await queue.pass(1)
    expect(causes([asked, again])).toEqual([['asked'], ['aborted']])
    abort.abort()
    await queue.pass(1)
    expect(causes([again])).toEqual([['aborted', 'aborted']])
    empty()
  })

  it('is over before it begins when its turn was cancelled', async () => {
    const one = queue.sitter('one')
    queue.gates.refused(one.name, ROUTE, { delayMs: HOUR, cause: 'interval' })
    queue.wait(one, [ROUTE], undefined, AbortSignal.abort())
    await queue.pass(1)
    expect(causes([one])).toEqual([['aborted']])
  })

  it('of everybody ends when the gates close', async () => {
    const sitters = await queue.waiting(3)
    queue.gates.close()
    await queue.pass(1)
    expect(causes(sitters)).toEqual([['aborted'], ['aborted'], ['aborted']])
    empty()
    // A listener that was on its way when the plugin went must not wait for ever.
    queue.wait(sitters[0]!)
    await queue.pass(1)
    expect(causes([sitters[0]!])).toEqual([['aborted', 'aborted']])
  })
})

it('after a sleep of the machine one asks within a tick, not all', async () => {
  const sitters = await queue.waiting(3)
  queue.clock.step(5 * HOUR)
  await queue.pass(MINUTE)
  expect(causes(sitters).flat()).toEqual(['due'])
})
