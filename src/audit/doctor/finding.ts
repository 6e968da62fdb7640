/** One thing that the doctor found. */
export interface Finding {
  /** `wrong` is what needs somebody to act; `note` what they may want to know. */
  readonly level: 'ok' | 'note' | 'wrong'
  readonly what: string
  /** What to do about it. */
  readonly todo?: string
}

/** All is well here. */
export const ok = (what: string): Finding => ({ level: 'ok', what })
/** Worth knowing. */
export const note = (what: string, todo?: string): Finding => ({ level: 'note', what, ...todo === undefined ? {} : { todo } })
/** Something to mend. */
export const wrong = (what: string, todo: string): Finding => ({ level: 'wrong', what, todo })
