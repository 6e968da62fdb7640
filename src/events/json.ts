/**
 * Whether a value of unknown origin is a plain keyed value: no `null`, and no list.
 *
 * @param value - anything.
 */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
