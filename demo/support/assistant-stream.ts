/**
 * The one thing that the published edge from format 1 to 2 takes from a release of `@deepseek-ai/dsh-llm` that is on no
 * registry: a list of what was streamed. The real one also packs runs of pieces, which the format leaves open.
 */
export class AssistantStreamAccumulator {
  private readonly records: object[] = []

  push({ time, chunk }: { time: number; chunk: unknown }): void {
    this.records.push({ type: 'chunk', time, chunk })
  }

  snapshot(): readonly object[] {
    return this.records
  }
}
