/**
 * A session's log on a simulated disk: lines behind one another, of which a kill leaves what was written. Kept as
 * bytes outside the heap, so that the heap shows what the plugin holds.
 */
export class SoakLog {
  /** Events, on the disk or not. */
  count = 0
  private bytes = Buffer.allocUnsafeSlow(1_024)
  private size = 0
  /** Where each event that is not on the disk yet begins. */
  private loose: number[] = []

  /** Bytes in all. */
  get length(): number {
    return this.size
  }

  /**
   * Write an event; it is on the disk after {@link flush}.
   *
   * @param event - the event.
   */
  append(event: unknown): void {
    const line = `${JSON.stringify(event)}\n`
    const needed = this.size + Buffer.byteLength(line)
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length))
      this.bytes.copy(larger, 0, 0, this.size)
      this.bytes = larger
    }
    this.loose.push(this.size)
    this.size += this.bytes.write(line, this.size)
    this.count += 1
  }

  /** Everything is on the disk. */
  flush(): void {
    this.loose = []
  }

  /**
   * The process is gone, and with it a part of what was not on the disk.
   *
   * @param random - decides how much.
   */
  cut(random: () => number): void {
    const kept = Math.floor(random() * (this.loose.length + 1))
    this.count -= this.loose.length - kept
    this.size = this.loose[kept] ?? this.size
    this.flush()
  }

  /** Every event, read anew. */
  read(): any[] {
    return this.size === 0 ? [] : this.bytes.toString('utf8', 0, this.size).trimEnd().split('\n').map(line => JSON.parse(line) as unknown)
  }
}
