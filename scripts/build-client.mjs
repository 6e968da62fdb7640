// Builds the browser half: one classic script that hands one factory to the page's module loader. The page joins the
// bundles of all plugins into one script, so nothing may stand outside the factory.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * The page hands out its own React, once: every file that imports it gets the same few local names, which the minifier
 * can shorten. Nothing else is required, for the page's packages move between releases.
 */
const react = {
  name: 'react',
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^react$/ }, () => ({ path: 'react', namespace: 'page' }))
    pluginBuild.onLoad({ filter: /.*/, namespace: 'page' }, () => ({
      contents: `export const { ${USED.join(', ')} } = page('react')`,
    }))
  },
}
const USED = ['Component', 'createElement', 'Fragment', 'useCallback', 'useEffect', 'useId', 'useLayoutEffect', 'useMemo', 'useRef', 'useState']

/** A style sheet is a minified string, which the plugin puts into the page itself; it names the theme's colours a hundred times. */
const styles = {
  name: 'styles',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true })
      return { contents: code.trim().replaceAll('var(--dsw-alias-', '@('), loader: 'text' }
    })
  },
}

/** Class names are long for whoever reads the source, and short in the page, as those of CSS modules are. */
function shortClasses(code) {
  const short = new Map()
  return code.replace(/\blqr-[a-z]+(?:-[a-z]+)*/g, (name) => {
    if (!short.has(name)) short.set(name, `lq${short.size.toString(36)}`)
    return short.get(name)
  })
}

/**
 * @param {string} outfile where the bundle goes
 * @returns {Promise<void>}
 */
export async function buildClient(outfile) {
  await build({
    entryPoints: [join(root, 'client', 'index.ts')],
    outfile,
    bundle: true,
    // A module only until it is wrapped below: its exports become what the factory returns.
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    // The short form of an element saves a tenth of the bundle.
    jsx: 'transform',
    jsxFactory: 'createElement',
    jsxFragment: 'Fragment',
    inject: [join(root, 'client', 'element.ts')],
    minify: true,
    legalComments: 'none',
    plugins: [react, styles],
    // The one of client/ is for the type check; its way of writing elements would win over the one below.
    tsconfigRaw: {},
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  })
  const code = shortClasses(readFileSync(outfile, 'utf8'))
  const exported = /export\{(.+?)\};?\s*$/.exec(code)
  if (exported === null) throw new Error('the bundle of the browser half has no exports at its end')
  const members = exported[1].replace(/([\w$]+) as ([\w$]+)/g, '$2:$1')
  const factory = `page=>{"use strict";${code.slice(0, exported.index)}return{${members}}}`
  writeFileSync(outfile, `window.__ModuleLoader__.load({id:${JSON.stringify(name)},factory:${factory}});\n`)
}
