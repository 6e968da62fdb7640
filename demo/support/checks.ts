/** A failure of a demo that a newcomer can act on. */
export class DemoFailure extends Error {}

/**
 * Stop the demo unless something holds.
 *
 * @param holds - the condition.
 * @param message - what went wrong, in words that need no knowledge of the code.
 */
export function expectThat(holds: boolean, message: string): asserts holds {
  if (!holds) throw new DemoFailure(message)
}
