"""The style sheet of the page: light and dark, wide and narrow, screen and paper."""

from __future__ import annotations

from typing import Final

STYLE: Final[str] = """\
:root {
  color-scheme: light dark;
  --ground: #ffffff; --sheet: #f5f6f8; --ink: #1c2128; --muted: #59626e; --line: #d5dae0; --grid: #e6e9ed;
  --mark: #1f5fbf; --whisker: #12396f; --on-mark: #ffffff; --warn: #8a3c00;
  --more: 31 95 191; --less: 196 98 16;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --sheet: #1d2128; --ink: #e5e8ec; --muted: #9fa8b4; --line: #3a414b; --grid: #2a3038;
    --mark: #6fa8f5; --whisker: #b9d4fb; --on-mark: #10131a; --warn: #f0a468;
    --more: 84 148 240; --less: 224 130 50;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.25rem 1rem 3rem; max-width: 68rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: .9rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.note, figcaption { color: var(--muted); font-size: .88rem; }
.warning { color: var(--warn); font-weight: 600; }
pre {
  margin: .6rem 0; padding: .6rem .8rem; background: var(--sheet); border: 1px solid var(--line);
  border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem;
}
.scroll { overflow-x: auto; margin: .6rem 0; }
.scroll:focus-visible { outline: 2px solid var(--mark); }
table { border-collapse: separate; border-spacing: 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .2rem 0 .4rem; }
caption.said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { padding: .28rem .6rem; text-align: right; white-space: nowrap; }
tbody th, tbody td { border-top: 1px solid var(--line); }
thead th { font-weight: 600; color: var(--muted); vertical-align: bottom; }
tbody th { font-weight: 500; position: sticky; left: 0; background: var(--ground); }
th.text, td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
td.text:last-child { min-width: 16rem; }
td.dim { color: var(--muted); }
table.pairs th, table.pairs td { text-align: center; padding: .25rem .35rem; }
table.pairs th.text { text-align: left; padding-left: 0; min-width: 5.5rem; }
table.pairs td { border: 2px solid var(--ground); }
table.pairs small { display: block; font-size: .72rem; line-height: 1.2; }
table.pairs thead th { overflow-wrap: anywhere; white-space: normal; max-width: 8.5rem; }
table.wide { font-size: .82rem; }
table.wide th.text { white-space: nowrap; }
table.wide small { font-size: .68rem; }
td.more { background: rgb(var(--more) / var(--part)); }
td.less { background: rgb(var(--less) / var(--part)); }
figure { margin: .8rem 0; max-width: 44rem; }
.several { display: grid; gap: 1.1rem 1.6rem; margin-top: 1rem; }
.several { grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); }
.several figure { margin: 0; max-width: none; break-inside: avoid; }
.indented { padding-left: 44px; }
svg { display: block; overflow: visible; }
svg text { font-size: 13px; fill: var(--ink); stroke: var(--ground); stroke-width: 4px; paint-order: stroke; }
svg text.muted { font-size: 12px; fill: var(--muted); }
svg text.number { font-variant-numeric: tabular-nums; }
svg text.on-dot { font-size: 11px; font-weight: 700; fill: var(--on-mark); stroke: none; }
svg .grid { stroke: var(--grid); }
svg .base { stroke: var(--muted); }
svg .reference { stroke: var(--muted); stroke-dasharray: 5 4; }
svg .whisker { stroke: var(--whisker); stroke-width: 2; }
svg .dot { fill: var(--mark); stroke: var(--ground); }
svg .bar { fill: rgb(var(--more) / .55); }
dl { max-width: 46rem; } dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0; }
footer { margin-top: 2.5rem; color: var(--muted); font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 2rem; }
  h1 { font-size: 1.35rem; }
  table { font-size: .82rem; }
  th, td { padding: .25rem .4rem; }
  tbody th.text { font-size: .76rem; min-width: 9.5rem; }
  table.pairs th.text { min-width: 5.5rem; }
}
@media print {
  :root {
    --ground: #ffffff; --sheet: #f5f6f8; --ink: #000000; --muted: #444444; --line: #bbbbbb; --grid: #dddddd;
    --mark: #1f5fbf; --whisker: #12396f; --on-mark: #ffffff; --warn: #8a3c00;
    --more: 31 95 191; --less: 196 98 16;
  }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  .scroll { overflow: visible; }
  tbody th { position: static; }
  table { font-size: 8pt; }
  th, td { padding: .15rem .3rem; }
  th.text, td.text, td.text:last-child { min-width: 0; }
  table.wide { font-size: 6pt; } table.wide small { font-size: 5pt; }
  table.wide th, table.wide td { padding: 1px 2px; }
  h2, figure, tr { break-inside: avoid; } h2, caption, thead { break-after: avoid; }
}
"""
"""Inlined into every page."""
