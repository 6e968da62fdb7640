import tseslint from 'typescript-eslint'

/** Folder order of the architecture: a folder may import only from those before it. */
const layers = ['events', 'reducers', 'policy', 'projections', 'host']

const layerRule = (folder, index) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': ['error', {
      patterns: [
        ...layers.slice(index + 1).map(later => ({
          group: [`**/${later}/*`],
          message: `src/${folder} may not import from src/${later}: a lower layer never knows a higher one.`,
        })),
      ],
    }],
  },
})

export default tseslint.config(
  { ignores: ['lib/', 'mutation/', 'node_modules/', 'test/data/', 'test/golden/'] },
  ...tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, varsIgnorePattern: '^_', argsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/**/*.ts', 'client/**/*.ts', 'client/**/*.tsx'],
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', {
        selector: "ImportDeclaration[source.value=/^@deepseek-ai\\u002F/][importKind!='type']",
        message: 'Harness packages are imported for types only: a value import resolves from the wrong place in a linked install.',
      }],
    },
  },
  {
    files: ['src/{events,reducers,policy,projections}/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error',
        ...['setTimeout', 'setInterval', 'process', 'fetch'].map(name => ({ name, message: 'Pure layers hold no clock and no I/O.' }))],
      'no-restricted-properties': ['error',
        { object: 'Date', property: 'now', message: 'Time is passed in.' },
        { object: 'Math', property: 'random', message: 'Randomness is passed in.' }],
    },
  },
  ...layers.map(layerRule),
  ...['src/*.ts', 'src/*/**/*.ts'].map((files, depth) => ({
    files: [files],
    ignores: ['src/audit/**'],
    rules: {
      // Under the plain name this would replace what the layers say under it.
      '@typescript-eslint/no-restricted-imports': ['error', {
        patterns: [{
          regex: depth === 0 ? '^\\./audit/' : '^(\\.\\./)+audit/',
          message: 'src/audit is a command: nothing else may need its files, arguments and exit codes.',
        }],
      }],
    },
  })),
  {
    files: ['test/**/*.ts', 'demo/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-explicit-any': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
)
