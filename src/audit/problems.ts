/** Something in the input that could not be read, or is not known. */
export interface Problem {
  readonly file: string
  /** Byte of the file, or of its unpacked content where {@link Problem.unpacked} says so. */
  readonly offset: number | null
  readonly unpacked: boolean
  /** Whether evidence is missing, so that the audit is not of the whole input; what a killed host leaves behind is not. */
  readonly unreadable: boolean
  readonly text: string
}

/** Where problems go. */
export type Report = (problem: Problem) => void
