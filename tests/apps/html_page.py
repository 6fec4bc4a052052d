#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `newel solve --html` against the JSON report of the same run.

    html_page.py NEWEL FOLDER

The page holds the report, as the file has it, and what was printed. If there is a JavaScript engine (node), it runs the
page's script, and an XML parser reads what that draws: every figure names its field of the report and has that field's
digits; curves and bars are read back through the labels of their axes.
"""
import html.parser
import itertools
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

XHTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
newel, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("failed:", what)


def matrix_text(m, wind=0.0, shift=0.0):
    """The 5-point Laplacian on m x m points with a wind along x, less `shift` on the diagonal."""
    entries = []
    for y in range(m):
        for x in range(m):
            i = y * m + x + 1
            entries.append((i, i, 4 - shift))
            entries += [(i, i - m, -1)] * (y > 0) + [(i, i + m, -1)] * (y < m - 1)
            entries += [(i, i - 1, -1 - wind)] * (x > 0) + [(i, i + 1, -1 + wind)] * (x < m - 1)
    lines = [f"{i} {j} {v}" for i, j, v in entries]
    return "\n".join(["%%MatrixMarket matrix coordinate real general", f"{m * m} {m * m} {len(lines)}"] + lines) + "\n"


def array_text(columns):
    lines = [repr(v) for column in columns for v in column]
    return "\n".join(["%%MatrixMarket matrix array real general", f"{len(columns[0])} {len(columns)}"] + lines) + "\n"


class Blocks(html.parser.HTMLParser):
    """What a browser takes as the content of scripts, and of noscript, which it parses if it runs no scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.blocks, self.tags, self.inside = {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in ("script", "noscript"):
            self.inside = dict(attributes).get("id", tag)
            self.blocks[self.inside] = ""

    def handle_endtag(self, tag):
        if tag in ("script", "noscript"):
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.blocks[self.inside] += data


# Runs a script with the least of a document that the page's asks for; prints what it draws.
BROWSER = """
const [report, script] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const parts = {report: {textContent: report}, page: {}};
globalThis.document = {getElementById: (id) => parts[id]};
(0, eval)(script);
console.log(JSON.stringify([document.title, parts.page.innerHTML]));
"""
node = shutil.which("node") or shutil.which("nodejs")


def draw(name, blocks):
    """The page as its script draws it, which is XML as well; None without a JavaScript engine."""
    if not node:
        return None
    ended = subprocess.run([node, "-e", BROWSER], input=json.dumps([blocks["report"], blocks["script"]]),
                           capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{name}: the script fails\n{ended.stderr}")
    title, drawn = json.loads(ended.stdout)
    check(title.startswith("newel solve "), f"{name}: the title is {title}")
    return ElementTree.fromstring(f'<main xmlns="{XHTML[1:-1]}">{drawn}</main>')


def solve(name, *arguments, matrix="A.mtx", status=0):
    """Runs a solve; returns the page as it is drawn (or None) and the report with numbers as they are written."""
    page, report = folder / f"{name}.html", folder / f"{name}.json"
    ended = subprocess.run([newel, "solve", str(folder / matrix), "--device", "host", "--html", str(page), "--report",
                            str(report), *arguments], capture_output=True, text=True)
    check(status is None or ended.returncode == status, f"{name}: exit status {ended.returncode}\n{ended.stdout}{ended.stderr}")
    check(str(page) in ended.stdout, f"{name}: the page is not among the files that were written")
    text, raw = page.read_text(encoding="utf-8"), report.read_text(encoding="utf-8")
    blocks = Blocks(text)
    check_self_contained(name, text, blocks)
    check(json.loads(blocks.blocks["report"]) == json.loads(raw), f"{name}: the page and the report differ")
    passing = re.compile(r"  (seconds|written|measured) |.* iteration +\d|.*; continuing with")
    for line in itertools.filterfalse(passing.match, ended.stdout.splitlines()):
        check(line in blocks.blocks["noscript"], f"{name}: not in the page without scripts: {line}")
    return draw(name, blocks.blocks), json.loads(raw, parse_float=str, parse_int=str)


def at(report, pointer):
    for key in pointer.split("/")[1:]:
        key = key.replace("~1", "/").replace("~0", "~")
        report = report[int(key)] if isinstance(report, list) else report[key]
    return report


def words_of(element):
    return "".join(element.itertext())


def check_says(name, page, *words):
    for word in words if node else ():
        check(word in words_of(page), f"{name}: it does not say: {word}")


def check_figures(name, page, report, expected):
    if not node:
        return
    seen = set()
    for element in page.iter(XHTML + "data"):
        pointer = element.get("data-field")
        seen.add(pointer)
        check(float(at(report, pointer)) == float(element.get("value")), f"{name}: {pointer} is {element.get('value')}")
        check(words_of(element).strip() not in ("", "-"), f"{name}: {pointer} shows nothing")
    for pointer in expected:
        check(pointer in seen, f"{name}: {pointer} is missing")


def check_self_contained(name, text, blocks):
    check(text.startswith("<!DOCTYPE html>"), f"{name}: no doctype")
    check("prefers-color-scheme: dark" in text, f"{name}: no dark colours")
    check([tag for tag, _ in blocks.tags].count("script") == 2 and set(blocks.blocks) == {"report", "noscript", "script"},
          f"{name}: the scripts are {list(blocks.blocks)}")
    for tag, attributes in blocks.tags:
        check(tag not in ("link", "img", "iframe", "object"), f"{name}: {tag}")
        check(not {"src", "href"} & set(attributes), f"{name}: {tag} refers to something")
    for word in ("url(", "@import", "fetch(", "XMLHttpRequest", "import("):
        check(word not in text, f"{name}: the page refers to something by {word}")


def chart_of(page, label):
    found = [svg for svg in page.iter(SVG + "svg") if svg.get("aria-label") == label]
    return found[0] if found else None


def scale(svg, axis, position, of=float):
    """The linear map from positions to values, by the first and the last label of an axis."""
    ticks = [t for t in svg.iter(SVG + "text") if t.get("class") == f"tick-{axis}"]
    (p, a), (q, b) = ((float(t.get(position)), of(float(t.get("data-value")))) for t in (ticks[0], ticks[-1]))
    return lambda at: a + (at - p) * (b - a) / (q - p)


def check_curve(name, svg, xs, residuals):
    """Every vertex of the thick curve is one of the points, and its ends are theirs; returns where the mark is."""
    if svg is None:
        check(False, f"{name}: no chart")
        return None
    x_of, y_of = scale(svg, "x", "x"), scale(svg, "y", "y", math.log10)
    line = [p for p in svg.iter(SVG + "polyline") if p.get("class") == "curve"][0]
    vertices = [tuple(map(float, vertex.split(","))) for vertex in line.get("points").split()]
    offset = [float(t.get("y")) for t in svg.iter(SVG + "text") if t.get("class") == "tick-y"][0]
    grid = [float(g.get("y1")) for g in svg.iter(SVG + "line") if g.get("class") == "grid"][0]
    points = [(x, math.log10(r)) for x, r in zip(xs, residuals) if r > 0]
    decades = abs(y_of(1) - y_of(0)) or 1  # of a pixel
    reach = abs(x_of(1) - x_of(0))
    for x, y in vertices:
        value = y_of(y + offset - grid)
        near = [p for p in points if abs(p[0] - x_of(x)) <= 0.2 * reach and abs(p[1] - value) <= 0.2 * decades]
        check(near, f"{name}: ({x}, {y}) is no point of the report")
    for end, point in ((vertices[0], points[0]), (vertices[-1], points[-1])):
        check(abs(x_of(end[0]) - point[0]) <= 0.2 * reach, f"{name}: an end of the curve is at {x_of(end[0])}")
    check(len(vertices) >= min(len(points), 400), f"{name}: {len(vertices)} of {len(points)} points are drawn")
    marks = list(svg.iter(SVG + "circle"))
    check(len(marks) == 1, f"{name}: {len(marks)} true residuals")
    return y_of(float(marks[0].get("cy")) + offset - grid) if marks else None


def relative_history(report):
    norm = float(report["rhs_norm"])
    return [float(r) / norm for r in report["history"]]


def check_charts(name, page, report):
    residuals = relative_history(report)
    iterations = list(range(len(residuals)))
    if node:
        shown = check_curve(name, chart_of(page, "residual over iterations"), iterations, residuals)
        true = math.log10(float(report["true_relative_residual"]))
        check(shown is not None and abs(shown - true) < 0.05, f"{name}: the true residual is drawn at 1e{shown}")
    timeline = report["timeline"]
    times = [float(s) for s in timeline["seconds"]]
    most = float(report["seconds"]["report"]) + float(report["seconds"]["solve"])  # it starts when the setup is printed
    check(times == sorted(times) and times[-1] <= most, f"{name}: times do not ascend")
    check([int(i) for i in timeline["iteration"]] == sorted(int(i) for i in timeline["iteration"]), f"{name}: iterations")
    for i, residual in zip(timeline["iteration"], timeline["relative_residual"]):
        check(math.isclose(float(residual), residuals[iterations.index(int(i))], rel_tol=1e-12)
              or len(report["attempts"]) > 1, f"{name}: the timeline's residual at {i}")
    if node and len(times) > 1:
        check_curve(name + ", time", chart_of(page, "residual over time"), times,
                    [float(r) for r in timeline["relative_residual"]])


def check_bar(name, page, label, sizes):
    svg = chart_of(page, label)
    check(svg is not None, f"{name}: no bar of {label}")
    parts = list(svg.iter(SVG + "rect"))
    check(len(parts) == len(sizes), f"{name}: {len(parts)} parts of {label}")
    total = sum(sizes)
    for part, size in zip(parts, sizes):
        check(abs(float(part.get("width")) - 860 * size / total) < 0.01, f"{name}: a part of {label}")


def check_page(name, page, report, expected=()):
    check_figures(name, page, report, {"/true_relative_residual", "/iterations", "/rows", "/nonzeros", "/rhs_norm",
                                       "/seconds/solve", "/seconds/read", "/seconds/total", "/memory/peak_bytes",
                                       "/memory/system_bytes", "/rtol", "/threads", *expected})
    if node:
        check_bar(name, page, "seconds by phase", [float(s) for p, s in report["seconds"].items() if p != "total"])
    check_says(name, page, *(report[key] for key in (
        "command_line", "matrix", "format", "format_reason", "preconditioner", "preconditioner_reason", "solver",
        "solver_reason", "device", "version", "reason", "warning", "advice", "changed", "rhs")))


folder.mkdir(parents=True, exist_ok=True)
(folder / "A.mtx").write_text(matrix_text(24), encoding="utf-8")

page, report = solve("converged", "--explain")
check_page("converged", page, report, {"/solution_error"})
check_charts("converged", page, report)
check_says("converged", page, "Converged")

# A path that is markup: it would end the script, or open a comment that does not end.
(folder / "a<").mkdir(exist_ok=True)
name = "a</script><!--<script>&\"'@TEXT@.mtx"
(folder / name).write_text(matrix_text(6), encoding="utf-8")
page, report = solve("escaped", matrix=name)
check_page("escaped", page, report)
if node:
    check(words_of(page.find(f".//{XHTML}h1/{XHTML}code")) == str(folder / name), "escaped: the name in the heading")

# A name that a terminal would obey, and that XML does not have.
(folder / "\x1b[1m\n.mtx").write_text(matrix_text(6), encoding="utf-8")
page, report = solve("control", matrix="\x1b[1m\n.mtx")
check_says("control", page, r"\x1b[1m\n.mtx")

page, report = solve("failed", "--max-iterations", "3", status=1)
check_page("failed", page, report)
check_charts("failed", page, report)
check_says("failed", page, "Not converged: max_iterations")
check(report["advice"], "failed: no advice")

# Indefinite: CG gives up and others follow.
(folder / "I.mtx").write_text(matrix_text(24, shift=2.2), encoding="utf-8")
page, report = solve("chain", "--max-iterations", "3000", "--rtol", "1e-6", matrix="I.mtx")
check(len(report["attempts"]) > 1, "chain: one attempt only")
check_page("chain", page, report, {"/attempts/0/iterations", "/attempts/1/seconds"})
check_charts("chain", page, report)

columns = [[math.sin(1 + c + 0.7 * i * (c + 1)) for i in range(576)] for c in range(5)] + [[0.0] * 576]
(folder / "B.mtx").write_text(array_text(columns), encoding="utf-8")
page, report = solve("columns", "--rhs", str(folder / "B.mtx"))
check_page("columns", page, report, {"/worst_column"} | {f"/columns/{c}/iterations" for c in range(6)})
check_charts("columns", page, report)
check_says("columns", page, "6 of 6 columns converged")
if node:
    lines = list(chart_of(page, "residual over iterations").iter(SVG + "polyline"))
    check(len(lines) == 7, f"columns: {len(lines)} curves")  # each of six, and the worst above them

# A norm that overflows is the largest number, in the report and on the page.
(folder / "H.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1e308\n2 1 1e308\n2 2 1e308\n",
                              encoding="utf-8")
(folder / "huge.mtx").write_text(array_text([[1.7e308, 1.7e308]]), encoding="utf-8")
page, report = solve("huge", "--rhs", str(folder / "huge.mtx"), matrix="H.mtx", status=None)
check(float(report["rhs_norm"]) == sys.float_info.max, "huge: no norm overflows")
check_figures("huge", page, report, {"/iterations", "/seconds/total"})

# Nothing to iterate, and nothing to draw.
(folder / "zero.mtx").write_text(array_text([[0.0] * 576]), encoding="utf-8")
page, report = solve("zero", "--rhs", str(folder / "zero.mtx"))
check_page("zero", page, report)
check(not node or chart_of(page, "residual over iterations") is None, "zero: a chart of nothing")

# Many iterations: thinned in the chart, at most 500 times.
line = [f"{i} {i} 2" for i in range(1, 1501)] + [f"{i + 1} {i} -1" for i in range(1, 1500)]
(folder / "long.mtx").write_text(
    "\n".join(["%%MatrixMarket matrix coordinate real symmetric", "1500 1500 2999", *line]) + "\n", encoding="utf-8")
page, report = solve("long", "--solver", "cg", "--precond", "none", "--rtol", "1e-12", "--format", "csr",
                     matrix="long.mtx")
check_page("long", page, report)
check_charts("long", page, report)
check(int(report["iterations"]) > 1400, "long: too few iterations to thin out")
check(250 <= len(report["timeline"]["seconds"]) <= 501, f"long: {len(report['timeline']['seconds'])} times")
check(report["timeline"]["iteration"][-1] == report["iterations"], "long: the last iteration has no time")

print(f"{len(failures)} failures")
if not node and not failures:
    print("skipped: no node, so that the drawings were not checked; the texts in the pages are right")
sys.exit(1 if failures else 0)
