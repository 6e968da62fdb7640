/** Where a setting comes from, for a person. */
export const SOURCES: Readonly<Record<string, string>> = {
  default: 'the deployment\'s default',
  session: 'set in this session',
  inherited: 'inherited from the session it was started from',
  off: 'set in this session',
}
