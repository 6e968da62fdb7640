import { z } from 'zod'
import { MAX_DELAY_MS } from '../bounds.ts'

const ms = (least: number) => {
  const what = `a number of milliseconds from ${least} to ${MAX_DELAY_MS}`
  return z.number(what).min(least, what).max(MAX_DELAY_MS, what)
}
const count = (least: number, what: string) => z.number(what).int(what).min(least, what).max(1_000_000, what)
const codes = (what: string) => z.array(z.string(what).trim().min(1, what), what)

/** A cleared field is its default, never zero: a delay of zero is a busy loop. */
const cleared = <T extends z.ZodType>(schema: T) => z.preprocess(value => value === null || value === '' ? undefined : value, schema)

/** The section `transient` of the row: failures that pass are asked again in the step. */
export const TransientConfig = z.strictObject({
  enabled: cleared(z.boolean('true or false').default(true)),
  maxRetries: count(0, 'a whole number of extra tries from 0, or null for no limit').nullable().default(3),
  maxDurationMs: ms(1).nullable().default(null),
  initialDelayMs: cleared(ms(1).default(1_000)),
  maxDelayMs: cleared(ms(1).default(60_000)),
  jitterRatio: cleared(z.number('a number from 0 to 1').min(0, 'a number from 0 to 1').max(1, 'a number from 0 to 1').default(0.2)),
  curve: cleared(z.enum(['continue', 'fresh'], 'continue or fresh').default('continue')),
  codes: cleared(codes('a list of failure codes that are retried besides those that pass by their meaning').default([])),
  excludeCodes: cleared(codes('a list of failure codes that are never retried').default([])),
  retryWithoutProviderPolicy: cleared(z.boolean('true or false').default(true)),
  moveAfter: count(1, 'a whole number of tries from 1, or null').nullable().default(null),
}, 'a map of settings')

/** The section with every default filled in. */
export type TransientConfig = z.infer<typeof TransientConfig>
