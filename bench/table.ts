/**
 * Rows as text in columns, the first row being the heading.
 *
 * @param rows - cells; every row has as many as the first.
 */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_head, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()
  const [head, ...rest] = rows.map(line)
  return [head, widths.map(width => '-'.repeat(width)).join('  '), ...rest].join('\n')
}
