import { jsonText } from '../text.ts'
import { LANES_SCRIPT } from './html-lanes.ts'
import { PAGE_SCRIPT } from './html-script.ts'
import { PAGE_STYLE } from './html-style.ts'
import type { AuditReport } from './report.ts'

/**
 * Data as it may stand inside a script element: no text in it can end the element, open a comment, or break a line.
 *
 * @param value - any JSON value.
 */
export const embedded = (value: unknown): string =>
  jsonText(value).replace(/[<>&]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * The audit as one page that needs nothing else: lanes per route over time, waits as spans, failovers as links.
 *
 * Foreign text reaches the page only as data, and the script puts it there as text, never as markup; the page's own
 * policy forbids everything that is not in it.
 *
 * @param report - the document that `--json` prints.
 */
export function page(report: AuditReport): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Allowance audit</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>Allowance audit</h1>
<p id="scope"></p>
</header>
<main>
<section id="figures" aria-label="Summary"></section>
<section id="tables"></section>
<section id="sessions" aria-label="Sessions">
<div id="controls">
<h2>Sessions</h2>
<label>Find <input id="find" type="search" placeholder="id, route, rule"></label>
<label><input id="only" type="checkbox"> only out of allowance</label>
<label>Order <select id="order"><option value="time">by time</option><option value="waited">by time waited</option><option value="moves">by moves</option></select></label>
<span id="legend"></span>
</div>
<div id="axis" aria-hidden="true"></div>
<div id="list"></div>
</section>
<section id="notes"></section>
</main>
<div id="tip" role="tooltip" hidden></div>
<noscript><p>This page draws itself with its own script, which this browser does not run.</p></noscript>
<script type="application/json" id="data">${embedded(report)}</script>
<script>${LANES_SCRIPT}${PAGE_SCRIPT}</script>
</body>
</html>
`
}
