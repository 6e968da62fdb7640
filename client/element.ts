/** What the bundler makes of the angle brackets stands in every file through this one. */
export { createElement, Fragment } from 'react'
