import { availableParallelism, cpus } from 'node:os'

/** What the figures were taken on. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly node: string
  readonly platform: string
}

/** The machine that this runs on. */
export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: availableParallelism(), node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
  }
}
