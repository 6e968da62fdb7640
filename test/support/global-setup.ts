import { shareTemplates } from '../../demo/support/templates.ts'

/** Before the first test file, in the process that starts the others; what it returns runs after the last. */
export default shareTemplates
