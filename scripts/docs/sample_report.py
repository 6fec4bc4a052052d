#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/howto/report.html, the page of `newel solve --html` that the documents show, and compares it with a run.

    sample_report.py BIN            BIN: the folder of the programs; ends with 1 where the page says something else
    sample_report.py --update BIN   writes the page of the fastest of ten runs

The printed report in the page is compared as run_commands.py compares outputs: words, counts and residuals, not times. All
around it and around the JSON has to be the same. The cost model of another processor may choose another format, of which the
page would say other things: the script then ends with 77."""

import argparse
import difflib
import html
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run_commands  # noqa: E402

PAGE = run_commands.ROOT / "docs/howto/report.html"
BEAM = "apps/data/cantilever_beam"
COMMAND = f"newel solve {BEAM}.mtx.gz --rhs {BEAM}_b.mtx.gz --html report.html"
BLOCKS = re.compile(r'(.*<script type="application/json" id="report">)(.*?)(</script>.*<noscript>.*?<pre>)(.*?)(</pre></noscript>.*)',
                    re.DOTALL)


def said(page):
    """The template of a page, the JSON report in it, and the lines of the printed report."""
    before, report, between, printed, after = BLOCKS.fullmatch(page).groups()
    return before + between + after, json.loads(report), html.unescape(printed).strip().splitlines()


def difference(shown, made):
    """What the page that is shown does not say as the one that was made; empty: nothing."""
    (template, _, lines), (template_now, _, lines_now) = said(shown), said(made)
    if template != template_now:
        return "the template of the page differs"
    if run_commands.same_output(lines, lines_now):
        return ""
    return "\n".join(difflib.unified_diff(lines, lines_now, "in the page", "made", lineterm=""))


def chosen_format(page):
    return said(page)[1]["format"]


def made_page(programs):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "apps").symlink_to(run_commands.ROOT / "apps")
        run_commands.run(f"{COMMAND} --quiet", folder, programs)
        page = (pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
    return page.replace(f"{COMMAND} --quiet", COMMAND)


def seconds(page):
    return said(page)[1]["seconds"]["total"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the page")
    parser.add_argument("programs", type=pathlib.Path, help="the folder of the programs")
    options = parser.parse_args()
    programs = options.programs.resolve()
    if options.update:
        PAGE.write_text(min((made_page(programs) for _ in range(10)), key=seconds), encoding="utf-8")
        return
    shown, made = PAGE.read_text(encoding="utf-8"), made_page(programs)
    found = difference(shown, made)
    if found and chosen_format(shown) != chosen_format(made):
        print(f"the page shows a run with {chosen_format(shown)}; here {chosen_format(made)} is chosen")
        sys.exit(77)
    if found:
        sys.exit(f"docs/howto/report.html is not what a run makes; sample_report.py --update BIN writes it\n{found}")


if __name__ == "__main__":
    main()
