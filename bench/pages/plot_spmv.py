#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the measurements of `newel bench spmv`: speed-ups over the fastest competitor, and what setup costs.

    bench/pages/plot_spmv.py [docs/results/spmv_NAME.json ...] [--formats ehyb,bce]

Without files, all of docs/results/spmv_*.json. Writes spmv_NAME_speedup.svg and spmv_NAME_setup.svg beside each.
Without --formats, the table's formats by their plain names. Needs matplotlib.
"""
import argparse
import pathlib

from drawing import RESULTS, grid, name_rows, reports, save, short

PRECISIONS = ("double", "single")


def drawn_formats(data, wanted):
    """Names in the order of the report."""
    names = []
    for system in data["systems"]:
        for line in system["formats"]:
            plain = ":" not in line["name"] and not line["competitor"]
            if line["name"] not in names and (line["name"] in wanted if wanted else plain):
                names.append(line["name"])
    return names


def line_of(system, name):
    return next((line for line in system["formats"] if line["name"] == name), None)


def usable(line):
    return line is not None and line["refused"] is None and not line["wrong"]


def draw_bars(axis, systems, names):
    width = 0.8 / max(1, len(names))
    for k, name in enumerate(names):
        at = [i - 0.4 + (k + 0.5) * width for i in range(len(systems))]
        lines = [line_of(system, name) for system in systems]
        lengths = [line["speedup"] or 0 if usable(line) else 0 for line in lines]
        axis.barh(at, lengths, width, label=name, color=f"C{k}")
        for y, line in zip(at, lines):
            if line is not None and not usable(line):
                word = "refused" if line["refused"] is not None else "WRONG"
                axis.text(0.02, y, word, va="center", fontsize=5)
    axis.axvline(1, color="black", linewidth=0.8)
    name_rows(axis, [f"{short(s['system'])}\n{s['best_competitor']}" for s in systems])
    axis.set_ylim(len(systems) - 0.5, -0.5)


def plot_speedups(data, names, path):
    present = [p for p in PRECISIONS if any(s["precision"] == p for s in data["systems"])]
    count = max(sum(s["precision"] == p for s in data["systems"]) for p in present)
    figure, axes = grid(len(present), len(present), 5, 1.2 + 0.5 * count)
    for axis, precision in zip(axes, present):
        draw_bars(axis, [s for s in data["systems"] if s["precision"] == precision and s["formats"]], names)
        axis.set_title(f"{precision} precision", fontsize=10)
    figure.supxlabel("speed-up over the fastest competitor, which is named below each system", fontsize=9)
    axes[0].legend(fontsize=7)
    save(figure, path)


def draw_setup(axis, system, names):
    """Seconds of setup and n products, over those of the competitor that the break-even is reckoned against."""
    base = line_of(system, system["break_even_competitor"])
    counts = [10 ** (k / 4) for k in range(25)]

    def seconds(line, n):
        return line["setup_seconds"]["total"] + n * 1e-3 * line["warm"]["milliseconds"]["median"]

    for k, name in enumerate(names):
        line = line_of(system, name)
        if not usable(line):
            continue
        axis.plot(counts, [seconds(line, n) / seconds(base, n) for n in counts], label=name, color=f"C{k}")
        if line["break_even"] and line["break_even"] <= counts[-1]:
            axis.plot([line["break_even"]], [1], "o", color=f"C{k}", markersize=4)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set(xscale="log", yscale="log")
    axis.set_title(f"{short(system['system'])}, {system['precision']}, over {base['name']}", fontsize=8)


def plot_setups(data, names, path):
    systems = [s for s in data["systems"] if s["break_even_competitor"] is not None]
    if not systems:
        return
    figure, axes = grid(len(systems), 3, 4, 3, sharex=True)
    for axis, system in zip(axes, systems):
        draw_setup(axis, system, names)
    axes[0].legend(fontsize=7)
    figure.supxlabel("products", fontsize=9)
    figure.supylabel("setup and products together, relative", fontsize=9)
    save(figure, path)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="*", type=pathlib.Path)
    parser.add_argument("--formats", default="", help="names, separated by commas")
    arguments = parser.parse_args(words)
    for path in arguments.reports or sorted(RESULTS.glob("spmv_*.json*")):
        data = reports.load(path)
        names = drawn_formats(data, [name for name in arguments.formats.split(",") if name])
        plot_speedups(data, names, RESULTS / (path.name.partition(".")[0] + "_speedup.svg"))
        plot_setups(data, names, RESULTS / (path.name.partition(".")[0] + "_setup.svg"))


if __name__ == "__main__":
    main()
