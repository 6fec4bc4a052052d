# SPDX-License-Identifier: Apache-2.0
"""What the scripts that write pages share: reading results, figures and tables in Markdown, and files in docs/."""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
sys.path.append(str(ROOT / "scripts"))

import reports  # noqa: E402


def load(name):
    """The result docs/results/NAME.json."""
    return reports.load(RESULTS / f"{name}.json")


def load_all(pattern):
    """File names and results, in order. `pattern` is without its suffix."""
    return [(path.name, reports.load(path)) for path in sorted(RESULTS.glob(pattern + ".json*"))]


def prose(name, **values):
    """The lines of a section of texts/FILE.md.in, "FILE.SECTION", with what stands there in braces filled in."""
    file, _, section = name.partition(".")
    content = (pathlib.Path(__file__).parent / "texts" / f"{file}.md.in").read_text(encoding="utf-8")
    found = re.search(rf"^<!-- {section} -->\n(.*?)\n(?=<!-- |\Z)", content, re.M | re.S)
    return found[1].format(**values).split("\n")


def number(value, digits=3, missing="-"):
    """Plain digits, however large."""
    if value is None:
        return missing
    return f"{value:,.0f}" if abs(value) >= 10 ** digits else f"{value:.{digits}g}"


def spread(sample, scale=1.0, digits=3, show=None):
    """A median with minimum and maximum."""
    median, least, most = (show(value) if show else f"{value:.{digits}g}"
                           for value in (sample[key] * scale for key in ("median", "min", "max")))
    return f"{median} ({least} to {most})"


def place(report):
    """The device of a report, or the processor and the threads."""
    return report.get("device_name", report.get("device")) or f"{report['processor']}, {report['threads']} threads"


def remark(report):
    """The note about the machine that the person who ran a benchmark left in its report, with a space before it."""
    return f" {report['remark']}" if "remark" in report else ""


def link(name):
    return f"[results/{name}](results/{name})"


def command(report):
    """The command of a result as a block, because some name thirty systems."""
    words = textwrap.wrap(report["command"], 84, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(["```text", " \\\n".join(words), "```"])


def source(name, report):
    return f"{command(report)}\n\nMeasured on {report['date']}; the figures are in {link(name)}."


def copy_speed(report):
    return f"{report['copy']['gigabytes_per_second']['median']:,.0f} GB/s in the same run.{remark(report)}"


def pictures(name, words):
    """Those of a result, {what its file's name ends with: what it shows}."""
    stem = name.partition(".")[0]
    return [line for kind, shown in words.items() if (RESULTS / f"{stem}_{kind}.svg").exists()
            for line in (picture_line(f"{stem}_{kind}", shown), "")]


def each_system(report, details):
    """The lines of every system, or why it was refused."""
    return [line for system in report["systems"]
            for line in (details(system) if system["refused"] is None else
                         [f"{system['system']}, {system['precision']} precision: {system['refused']}", ""])]


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(header, rows, left=0):
    """Lines of a table of cells, or of lines; the first `left` columns are aligned to the left."""
    rule = "|" + "---|" * left + "---:|" * (len(header) - left)
    return [row(header), rule, *(cells if isinstance(cells, str) else row(cells) for cells in rows)]


def folded(summary, lines):
    """Lines that a reader opens."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>", ""]


PAGES = {"spmv_": "products", "columns_": "columns", "solve_": "solves", "regret_": "defaults"}


def tables_page(name):
    """The page in docs/ with the tables of a result: performance-solves-h200.md of solve_h200.json."""
    kind = next(kind for kind in PAGES if name.startswith(kind))
    return f"performance-{PAGES[kind]}-{name.removeprefix(kind).partition('.')[0]}.md"


def picture_line(name, words):
    return f"![{words}](results/{name}.svg)"


def write_page(file, lines, script="write_performance.py"):
    """One of the pages; its first section's heading becomes its title."""
    mark = ["", f"<!-- Written by bench/pages/{script} from docs/results; run it again instead of editing. -->", ""]
    (DOCS / file).write_text("\n".join([lines[0].replace("## ", "# ", 1), *mark, *lines[1:]]).replace("\n\n\n", "\n\n"))


def write_parts(file, script, parts):
    """Replaces what stands between the markers of a page: {name of the part: lines}."""
    text = (DOCS / file).read_text(encoding="utf-8")
    for name, lines in parts.items():
        begin, end = f"<!-- {name}: written by bench/pages/{script} -->", f"<!-- end of {name} -->"
        if begin not in text or end not in text:
            raise SystemExit(f"error: {file} has no markers for {name}: {begin} ... {end}")
        text = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: "\n".join([begin, "", *lines, "", end]), text,
                      flags=re.DOTALL)
    (DOCS / file).write_text(text, encoding="utf-8")
