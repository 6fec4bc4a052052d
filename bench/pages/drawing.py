# SPDX-License-Identifier: Apache-2.0
"""What the scripts that draw results share: matplotlib, axes in a grid, rows of bars, and small SVG files."""
import io

from page import RESULTS, load, load_all, place, reports  # noqa: F401
from plot_needs import need

need("matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "newel", "svg.fonttype": "none"})  # the same file for the same figures
import matplotlib.dates  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

from slim_svg import slim  # noqa: E402

OURS, OTHERS, SETUP = "C0", "C1", "0.75"


def short(system):
    return system.removeprefix("generate:").removeprefix("mesh:").replace(".mtx", "").replace(".gz", "")


def grid(count, columns, width, height, **more):
    """A figure of so many axes, and the axes."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, **more)
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, list(axes.flat[:count])


def name_rows(axis, names, size=7):
    """Names of horizontal bars, from the top down."""
    axis.set_yticks(range(len(names)), names, fontsize=size)
    axis.invert_yaxis()


def bars(axis, rows, show, size=8):
    """A bar for each (name, value, colour, ...) with what `show` says of its value."""
    for k, (_, value, colour, *_) in enumerate(rows):
        axis.barh(k, value, color=colour)
        axis.text(value, k, f" {show(value)}", va="center", fontsize=size)
    name_rows(axis, [one[0] for one in rows], size)


def save(figure, path):
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    path.write_text(slim(text.getvalue()), encoding="utf-8")
    print("written:", path)
