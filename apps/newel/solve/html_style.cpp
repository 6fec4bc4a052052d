// SPDX-License-Identifier: Apache-2.0
// The style sheet of the page: two sets of colours, and everything else in terms of them.
#include "html_page.hpp"

namespace newel::cli {

const char* const page_style = R"(:root {
  --paper: #ffffff; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --panel: #f5f7fa;
  --curve: #1764c0; --other: #9db4cf; --mark: #c2410c; --good: #15733b; --bad: #b3261e;
  --p0: #1764c0; --p1: #e08a1e; --p2: #2a9d6f; --p3: #8e4ec6; --p4: #c2410c;
  --p5: #0f8b9d; --p6: #a3952a; --p7: #c0438b; --p8: #6b7785; --p9: #5f8f2f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --ink: #e4e9f0; --soft: #9aa6b5; --line: #323b47; --panel: #1b222b;
    --curve: #6cb0ff; --other: #44586f; --mark: #ff9b62; --good: #6fd596; --bad: #ff8a80;
    --p0: #4d9bf5; --p1: #f0a94a; --p2: #45c08d; --p3: #b184e0; --p4: #f0764a;
    --p5: #3cb8ca; --p6: #cbbd52; --p7: #e274b0; --p8: #8d99a8; --p9: #8dbf5a;
  }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
p { margin: 0.4rem 0; }
section > p { color: var(--soft); }
.good strong { color: var(--good); }
.bad strong { color: var(--bad); }
.advice { border-left: 4px solid var(--mark); padding: 0.3rem 0.8rem; background: var(--panel); }
.tiles { display: flex; flex-wrap: wrap; gap: 0.6rem; margin: 1rem 0; }
.tile { flex: 1 1 9rem; background: var(--panel); border-radius: 6px; padding: 0.5rem 0.8rem; }
.tile span { display: block; color: var(--soft); font-size: 0.8rem; }
.tile strong { font-size: 1.15rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; }
th { color: var(--soft); font-weight: 500; }
section { overflow-x: auto; }
pre { background: var(--panel); border-radius: 6px; padding: 0.7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; margin: 0.4rem 0; }
svg text { font-size: 12px; fill: var(--soft); }
.grid { stroke: var(--line); }
.axis { stroke: var(--soft); }
.level { stroke: var(--good); stroke-dasharray: 6 4; }
.step { stroke: var(--soft); stroke-dasharray: 2 4; }
.curve { fill: none; stroke: var(--curve); stroke-width: 2; stroke-linejoin: round; }
.curve.other { stroke: var(--other); stroke-width: 1; }
.mark { fill: var(--mark); }
.swatch { display: inline-block; width: 0.8rem; height: 0.8rem; border-radius: 2px; }
.part-0 { fill: var(--p0); background: var(--p0); } .part-1 { fill: var(--p1); background: var(--p1); }
.part-2 { fill: var(--p2); background: var(--p2); } .part-3 { fill: var(--p3); background: var(--p3); }
.part-4 { fill: var(--p4); background: var(--p4); } .part-5 { fill: var(--p5); background: var(--p5); }
.part-6 { fill: var(--p6); background: var(--p6); } .part-7 { fill: var(--p7); background: var(--p7); }
.part-8 { fill: var(--p8); background: var(--p8); } .part-9 { fill: var(--p9); background: var(--p9); }
@media print { main { max-width: none; } section { break-inside: avoid; } }
)";

}  // namespace newel::cli
