/** What a published package may hold and must hold. */
import { dirname, join, normalize } from 'node:path/posix'

/** The parts of a manifest that name files. */
export interface Manifest {
  readonly main?: string
  readonly types?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: unknown
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Every file of the package is of one of these kinds. */
const ALLOWED = [
  /^lib\/.+\.(?:js|d\.ts)$/, /^lib\/audit\/LICENSES\.txt$/, /^balance\/.+\.(?:mjs|json|md)$/, /^docs\/.+\.(?:md|png)$/,
  /^(?:CHANGELOG\.md|LICENSE|README\.md|cordis\.patch\.yml|package\.json)$/,
]

/** Scripts that npm runs, or warns of, when the package is installed. */
const AT_INSTALL = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']

function targets(exported: unknown): string[] {
  if (typeof exported === 'string') return [exported]
  return typeof exported === 'object' && exported !== null ? Object.values(exported).flatMap(targets) : []
}

/** Links and images of a page that stay within the package, without what stands behind `#`. */
function links(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
  const found = [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)|(?:src|href)="([^"]+)"|^\[[^\]]+\]:\s*(\S+)/gm)]
  return found.map(([, inline, attribute, reference]) => inline ?? attribute ?? reference ?? '')
    .filter(target => !/^(?:[a-z][a-z\d+.-]*:|#|\/\/)/i.test(target)).map(target => target.split('#')[0]!)
}

/**
 * What is wrong with the contents of a package.
 *
 * @param files - its paths.
 * @param read - the text of one of them.
 */
export function contentProblems(files: readonly string[], read: (file: string) => string): string[] {
  const present = new Set(files)
  const manifest = JSON.parse(read('package.json')) as Manifest
  const named = [manifest.main, manifest.types, ...Object.values(manifest.bin ?? {}), ...targets(manifest.exports)]
    .filter(target => target !== undefined).map(target => normalize(target))
  const broken = files.filter(file => file.endsWith('.md')).flatMap(page =>
    links(read(page)).filter(target => !present.has(join(dirname(page), decodeURIComponent(target)))).map(target => `${page} links to ${target}, which is not in the package`))
  return [
    ...files.filter(file => !ALLOWED.some(kind => kind.test(file))).map(file => `${file} has no business in the package`),
    ...['LICENSE', 'README.md', 'CHANGELOG.md', ...named].filter(file => !present.has(file)).map(file => `${file} is missing`),
    ...broken,
    ...AT_INSTALL.filter(script => manifest.scripts?.[script] !== undefined).map(script => `package.json has the script "${script}", which npm warns of`),
    ...Object.values(manifest.bin ?? {}).map(file => normalize(file)).filter(file => present.has(file) && !read(file).startsWith('#!/usr/bin/env node\n'))
      .map(file => `${file} does not begin with #!/usr/bin/env node`),
    ...Object.entries(manifest.dependencies ?? {}).filter(([, range]) => /^(?:link|file|workspace|git|https?):/.test(range))
      .map(([name, range]) => `the dependency ${name} is ${range}: no registry has that`),
  ]
}
