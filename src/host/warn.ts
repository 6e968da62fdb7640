/**
 * Warn a person, once for each kind of trouble.
 *
 * @param kind - the kind; a second warning of it is swallowed.
 * @param message - what is degraded and how to mend it.
 */
export type Warn = (kind: string, message: string) => void

/**
 * A {@link Warn} over a logger.
 *
 * @param log - the logger's warning level.
 */
export function warnOnce(log: (message: string) => void): Warn {
  const said = new Set<string>()
  return (kind, message) => {
    if (said.has(kind)) return
    said.add(kind)
    log(`llm-quota-retry: ${message}`)
  }
}
