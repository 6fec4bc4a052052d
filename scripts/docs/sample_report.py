#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/howto/report.html, the page of `newel solve --html` that the documents show, and compares it with a run.

    sample_report.py BIN            BIN: the folder of the programs; ends with 1 where the page says something else
    sample_report.py --update BIN   writes the page of the fastest of ten runs

Text is compared as run_commands.py compares outputs: words, counts and residuals, not times. Ticks of axes and shares
are left out, and so is the drawing of curves; styles have to be the same. The cost model of another processor may choose
another format, of which the page would say other things: the script then ends with 77."""

import argparse
import difflib
import html
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run_commands  # noqa: E402

PAGE = run_commands.ROOT / "docs/howto/report.html"
BEAM = "apps/data/cantilever_beam"
COMMAND = f"newel solve {BEAM}.mtx.gz --rhs {BEAM}_b.mtx.gz --html report.html"
STYLE = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)
FIGURE = re.compile(rf"(?:{run_commands.NUMBER}|[\d.]+ %)$")


def said(page):
    """The styles of a page, and the lines of its text but for figures that stand alone."""
    lines = (html.unescape(line).strip() for line in re.sub(r"<[^>]*>", "\n", STYLE.sub("", page)).splitlines())
    return [match[0] for match in STYLE.finditer(page)], [line for line in lines if line and not FIGURE.match(line)]


def difference(shown, made):
    """What the page that is shown does not say as the one that was made; empty: nothing."""
    (styles, lines), (styles_now, lines_now) = said(shown), said(made)
    if styles != styles_now:
        return "the styles differ"
    if run_commands.same_output(lines, lines_now):
        return ""
    return "\n".join(difflib.unified_diff(lines, lines_now, "in the page", "made", lineterm=""))


def chosen_format(page):
    lines = said(page)[1]
    return lines[lines.index("format") + 1].partition(",")[0]


def made_page(programs):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "apps").symlink_to(run_commands.ROOT / "apps")
        run_commands.run(f"{COMMAND} --quiet", folder, programs)
        page = (pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
    return page.replace(f"{COMMAND} --quiet", COMMAND)


def seconds(page):
    return float(re.search(r'"/seconds/total" value="([^"]+)"', page)[1])


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
