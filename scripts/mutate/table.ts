/** The figures of a mutation run, by file. */

/** What became of the mutants of one file. */
export interface Counts { readonly killed: number; readonly survived: number }

/** Counts by the path of the file. */
export type Figures = Readonly<Record<string, Counts>>

/** One mutant, as Stryker reports it. */
export interface Mutant { readonly fileName: string; readonly status: string }

const KILLED = new Set(['Killed', 'Timeout'])
/** Not covered is survived: no test can have seen it. The rest (ignored, does not compile) says nothing of the tests. */
const SURVIVED = new Set(['Survived', 'NoCoverage'])

/**
 * Count mutants by file.
 *
 * @param mutants - of one run.
 * @param name - the path of a file as it is to be shown.
 */
export function count(mutants: readonly Mutant[], name: (fileName: string) => string = fileName => fileName): Figures {
  const figures: Record<string, Counts> = {}
  for (const { fileName, status } of mutants) {
    const { killed, survived } = figures[name(fileName)] ?? { killed: 0, survived: 0 }
    figures[name(fileName)] = { killed: killed + Number(KILLED.has(status)), survived: survived + Number(SURVIVED.has(status)) }
  }
  return figures
}

const sum = (all: readonly Counts[]): Counts => ({
  killed: all.reduce((total, { killed }) => total + killed, 0), survived: all.reduce((total, { survived }) => total + survived, 0),
})

const percent = (counts: Counts | undefined): string => {
  const of = counts === undefined ? 0 : counts.killed + counts.survived
  return of === 0 ? '' : `${(100 * counts!.killed / of).toFixed(1)} %`
}

const row = (name: string, all: Counts | undefined, properties: Counts | undefined): string[] =>
  [name, String(all === undefined ? properties!.killed + properties!.survived : all.killed + all.survived), percent(all), percent(properties), all === undefined ? '' : String(all.survived)]

/**
 * A row for each file, worst first, then one for each folder of `src` and one for all.
 *
 * @param all - what all tests killed; a file without a run of them is left empty.
 * @param properties - what the properties killed alone, likewise.
 * @param files - which files are shown.
 */
export function rows(all: Figures, properties: Figures, files: readonly string[]): string[][] {
  const score = (file: string): number => {
    const counts = all[file] ?? properties[file]!
    return counts.killed / Math.max(1, counts.killed + counts.survived)
  }
  const total = (name: string, of: readonly string[]): string[] => {
    // A sum over files of which some were not run would look like one over all.
    const whole = (figures: Figures): Counts | undefined => of.every(file => Object.hasOwn(figures, file)) ? sum(of.map(file => figures[file]!)) : undefined
    return row(name, whole(all), whole(properties) ?? { killed: 0, survived: 0 })
  }
  const folders = [...new Set(files.map(file => file.split('/').slice(0, 2).join('/')))].sort()
  return [
    ['file', 'mutants', 'killed', 'by properties', 'alive'],
    ...[...files].sort((a, b) => score(a) - score(b) || a.localeCompare(b)).map(file => row(file, all[file], properties[file])),
    ...folders.map(folder => total(folder, files.filter(file => file.startsWith(`${folder}/`)))),
    total('all', files),
  ]
}
