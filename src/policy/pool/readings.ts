import { z } from 'zod'

/** What a balance script reported of one provider. */
export interface Reading {
  readonly remaining: number
  /** What `remaining` counts, for a person. */
  readonly unit?: string
  /** The most that `remaining` can be, where that is known. */
  readonly maximum?: number
  /** When the provider says that its allowance comes back, as the script wrote it. */
  readonly resetsAt?: string
  /** The provider's own refusal, reported beside the reading. */
  readonly error?: string
  /** Epoch ms at which the script ended. */
  readonly at: number
}

/** A run of a balance script that gave no reading. Never holds what the script printed. */
export interface MissingReading {
  readonly missing: 'exit' | 'timeout' | 'output' | 'no-service' | 'spawn'
  /** Epoch ms at which the run ended. */
  readonly at: number
}

/** The last word of each provider's script. */
export type Readings = Readonly<Record<string, Reading | MissingReading>>

const Output = z.looseObject({
  remaining: z.number(),
  unit: z.string().min(1).max(40).optional().catch(undefined),
  maximum: z.number().positive().optional().catch(undefined),
  resetsAt: z.string().min(1).max(60).optional().catch(undefined),
  error: z.string().min(1).max(300).optional().catch(undefined),
})

/**
 * Read what a balance script printed: one JSON object with a finite `remaining`, and nothing beside it.
 *
 * @param stdout - everything the script printed.
 * @param at - epoch ms.
 * @param shown - what may be shown of a text: every one is given to it after it was decoded, so that no way to write a
 *   secret in JSON gets past.
 * @returns the reading, or `undefined` for anything else.
 */
export function parseReading(stdout: string, at: number, shown: (text: string) => string = text => text): Reading | undefined {
  let value: unknown
  try {
    value = JSON.parse(stdout, (_key, found: unknown) => typeof found === 'string' ? shown(found) : found)
  } catch {
    return undefined
  }
  const parsed = Output.safeParse(value)
  if (!parsed.success || !Number.isFinite(parsed.data.remaining)) return undefined
  const { remaining, unit, maximum, resetsAt, error } = parsed.data
  return {
    remaining,
    ...unit === undefined ? {} : { unit },
    ...maximum === undefined ? {} : { maximum },
    ...resetsAt === undefined ? {} : { resetsAt },
    ...error === undefined ? {} : { error },
    at,
  }
}

/**
 * The reading of a provider, when its last run gave one.
 *
 * @param readings - the last word of each script.
 * @param provider - the provider.
 */
export function readingOf(readings: Readings, provider: string): Reading | undefined {
  const last = Object.hasOwn(readings, provider) ? readings[provider] : undefined
  return last === undefined || 'missing' in last ? undefined : last
}
