import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { isPlainFile } from '../../projections/page.ts'

/** How the name of a script ends that another program runs. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|sh|rb|pl|php|ps1)$/

const isThere = (file: string): boolean => existsSync(resolve(file))

/** Whether a program can be found as the platform finds it: by its path, or on the `PATH`. */
function isProgram(name: string): boolean {
  if (/[\\/]/.test(name)) return isThere(name)
  // What may stand behind a name there is the system's own list.
  if (process.platform === 'win32') return true
  return (process.env['PATH'] ?? '').split(delimiter).some(dir => existsSync(join(dir, name)))
}

/**
 * The part of a command that does not exist: its program, or the script that the program is to run.
 *
 * @param argv - the command. Relative names are those of the host's own directory, in which scripts run.
 * @returns its name; `undefined` where nothing is missing.
 */
export function missingFile([program = '', ...rest]: readonly string[]): string | undefined {
  if (!isProgram(program)) return program
  const [script] = rest
  return script !== undefined && SCRIPT.test(script) && isPlainFile(script) && !isThere(script) ? script : undefined
}
