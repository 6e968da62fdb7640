/** The page's style. Light and dark follow the reader's system; marks differ in shape as well as in colour. */
export const PAGE_STYLE = `
:root {
  --bg: #f7f7f5; --card: #ffffff; --ink: #1d1f24; --soft: #62666f; --line: #e2e2de; --rail: #d3d4d0;
  --answer: #2f8f6b; --wait: #c98a00; --wait-fill: #f6e2ae; --spent: #c8362e; --rate: #c4631a; --other: #77699c;
  --move: #2d62c9; --band: #fbf3dd; --focus: #2d62c9; --shadow: 0 1px 2px rgb(0 0 0 / 6%), 0 4px 14px rgb(0 0 0 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #16181c; --card: #1e2127; --ink: #e7e8ea; --soft: #9aa0aa; --line: #30343c; --rail: #474c56;
    --answer: #56b892; --wait: #e2b04a; --wait-fill: #4d3f1c; --spent: #f0776f; --rate: #e8995a; --other: #ab9dd6;
    --move: #82aaf5; --band: #282419; --focus: #82aaf5; --shadow: 0 1px 2px rgb(0 0 0 / 40%);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif; font-variant-numeric: tabular-nums; }
header, main { max-width: 1280px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
h1 { font-size: 22px; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 15px; margin: 0; }
header p { margin: 2px 0 0; color: var(--soft); }
section { margin-top: 20px; }
section:last-child { margin-bottom: 48px; }
#figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
#figures > div { background: var(--card); padding: 12px 16px; }
.figure-name { color: var(--soft); font-size: 12px; }
.figure { font-size: 22px; font-weight: 600; letter-spacing: -.01em; line-height: 1.25; }
.figure-note { color: var(--soft); font-size: 12px; min-height: 18px; }
#tables { display: grid; grid-template-columns: repeat(auto-fit, minmax(380px, 1fr)); gap: 16px; }
#tables:empty { display: none; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: 12px; }
th, td { padding: 4px 12px 4px 0; vertical-align: top; }
tbody tr + tr td { border-top: 1px solid var(--line); }
td.n, th.n { text-align: right; padding-right: 0; white-space: nowrap; }
td { overflow-wrap: anywhere; }
#controls { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; margin-bottom: 8px; }
#controls label { color: var(--soft); font-size: 13px; }
input[type=search], select { font: inherit; font-size: 13px; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 3px 8px; margin-left: 4px; }
#legend { margin-left: auto; display: flex; flex-wrap: wrap; gap: 14px; color: var(--soft); font-size: 12px; }
#legend span { display: inline-flex; align-items: center; gap: 5px; }
#list { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
.row { display: grid; grid-template-columns: 190px minmax(0, 1fr) 210px; align-items: center; gap: 14px; width: 100%; padding: 0 16px; min-height: 26px; border: 0; background: none; color: inherit; font: inherit; text-align: left; cursor: pointer; }
.session + .session > .row { border-top: 1px solid var(--line); }
.row:hover, .session.open > .row { background: color-mix(in srgb, var(--ink) 4%, transparent); }
.row:focus-visible, select:focus-visible, input:focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; }
.row .id { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 12px; }
.row .id::before { content: "▸"; display: inline-block; width: 14px; color: var(--soft); }
.session.open .id::before { content: "▾"; }
.row .note { color: var(--soft); font-size: 12px; white-space: nowrap; text-align: right; overflow: hidden; text-overflow: ellipsis; }
.row svg { display: block; width: 100%; height: 16px; overflow: visible; }
#axis { display: grid; grid-template-columns: 190px minmax(0, 1fr) 210px; gap: 14px; padding: 0 17px; color: var(--soft); font-size: 11px; }
#axis div { grid-column: 2; position: relative; height: 18px; }
#axis span { position: absolute; white-space: nowrap; transform: translateX(-50%); }
#axis span.first { transform: none; } #axis span.last { transform: translateX(-100%); }
.detail { padding: 4px 16px 20px; border-top: 1px solid var(--line); }
.detail .file { color: var(--soft); font-size: 12px; overflow-wrap: anywhere; margin: 8px 0; }
.detail svg { display: block; width: 100%; touch-action: pan-y; user-select: none; }
.detail .hint { color: var(--soft); font-size: 12px; display: flex; gap: 12px; align-items: center; }
.detail button.reset { font: inherit; font-size: 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--card); color: var(--ink); padding: 1px 8px; cursor: pointer; }
details { margin-top: 10px; } summary { cursor: pointer; color: var(--soft); font-size: 13px; }
.lines { font-size: 13px; margin: 6px 0 0; display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; }
.lines time { color: var(--soft); } .lines span { overflow-wrap: anywhere; }
.lane-name { font-size: 12px; fill: var(--ink); } .tick { font-size: 11px; fill: var(--soft); }
.grid { stroke: var(--line); } .rail { stroke: var(--rail); stroke-width: 2; } .rail.used { stroke: var(--answer); opacity: .55; }
.answer { fill: var(--answer); } .wait { fill: url(#hatch); stroke: var(--wait); } .wait.open { stroke-dasharray: 3 2; }
.planned { stroke: var(--wait); stroke-dasharray: 2 3; fill: none; } .band { fill: var(--band); }
.refused { fill: var(--card); stroke-width: 2; } .refused.spent-allowance { stroke: var(--spent); fill: var(--spent); }
.refused.rate-limit { stroke: var(--rate); } .refused.auth, .refused.context, .refused.server, .refused.other { stroke: var(--other); }
.move { fill: none; stroke: var(--move); stroke-width: 2; } .move.unconfirmed { stroke-dasharray: 4 3; } .halo { stroke: var(--card); stroke-width: 4; } .arrow { fill: var(--move); stroke: var(--card); paint-order: stroke; }
.setting { fill: var(--soft); } .turn { fill: var(--soft); } .brush { fill: var(--focus); opacity: .15; } .hit { fill: transparent; stroke: transparent; }
.strip-base { fill: var(--rail); } .strip-wait { fill: var(--wait); } .strip-spent { fill: var(--spent); } .strip-fail { fill: var(--other); } .strip-move { fill: var(--move); }
#tip { position: fixed; z-index: 9; max-width: 420px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; box-shadow: var(--shadow); padding: 8px 12px; font-size: 12px; pointer-events: none; }
#tip b { display: block; margin-bottom: 2px; } #tip dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 10px; margin: 0; } #tip dt { color: var(--soft); } #tip dd { margin: 0; overflow-wrap: anywhere; }
.more { width: 100%; padding: 6px 16px; border: 0; border-top: 1px solid var(--line); background: none; color: var(--soft); font: inherit; font-size: 12px; text-align: left; cursor: pointer; } .more:hover { color: var(--ink); }
.empty { padding: 20px 16px; color: var(--soft); }
#notes ul { margin: 4px 0 0; padding-left: 18px; overflow-wrap: anywhere; }
@media (max-width: 760px) { header, main { padding: 0 14px; } .row, #axis { grid-template-columns: 100px minmax(0, 1fr) 90px; gap: 8px; padding: 0 10px; } #tables { grid-template-columns: 1fr; } #legend { margin-left: 0; } }
@media print { .row .id::before { content: ""; } #controls label, .hint { display: none; } }
`
