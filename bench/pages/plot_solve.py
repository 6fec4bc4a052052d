#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the measurements of `newel bench solve`: iterations over the byte floor, and the time to a solution.

    bench/pages/plot_solve.py [docs/results/solve_NAME.json ...] [--solver cg] [--precond jacobi] [--precision double]

Without files, all of docs/results/solve_*.json. Writes solve_NAME_iteration.svg and solve_NAME_time.svg beside each: the first
for one solver and preconditioner, the second for all. Needs matplotlib.
"""
import argparse
import pathlib

from drawing import RESULTS, grid, name_rows, plt, reports, save, short
from solve_tables import measured


def label(line):
    return line["format"] if line["by"] == "newel" else line["by"]


def systems_of(data, precision):
    return [s for s in data["systems"] if s["precision"] == precision and s["refused"] is None]


def plot_iterations(data, arguments, path):
    """Milliseconds of an iteration over those of the floor: 1 is the floor, and what is below stays on the chip."""
    systems = systems_of(data, arguments.precision)
    of_system = [[line for line in measured(system)
                  if (line["solver"], line["precond"]) == (arguments.solver, arguments.precond)
                  and line["percent_of_floor"] is not None] for system in systems]
    names = list(dict.fromkeys(label(line) for lines in of_system for line in lines))
    if not names:
        return
    figure, axis = plt.subplots(figsize=(min(11, max(7, 2.2 * len(systems))), 3.8))
    width = 0.8 / len(names)
    for k, name in enumerate(names):
        at, heights = [], []
        for i, lines in enumerate(of_system):
            for line in lines:
                if label(line) == name:
                    at.append(i - 0.4 + (k + 0.5) * width)
                    heights.append(100 / line["percent_of_floor"])
        axis.bar(at, heights, width, label=name, color=f"C{k % 10}")
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(systems)), [f"{short(s['system'])}\n{s['rows']:,} rows" for s in systems], fontsize=7)
    axis.set_yscale("log")
    axis.set_ylabel("an iteration, over the byte floor")
    axis.set_title(f"{arguments.solver} with {arguments.precond}, {arguments.precision} precision", fontsize=10)
    axis.legend(fontsize=8)
    save(figure, path)


def draw_times(axis, system):
    lines = sorted(measured(system), key=lambda line: line["solve"]["milliseconds"]["median"])
    for k, line in enumerate(lines):
        solve, setup = line["solve"]["milliseconds"]["median"], 1e3 * line["setup_seconds"]
        usable = line["converged"] and not line["wrong"]
        color = "C1" if line["competitor"] else "C0"
        axis.barh(k, solve, color=color if usable else "none", edgecolor=color, hatch=None if usable else "///")
        axis.plot([solve + setup], [k], "|", color="black", markersize=7)
        if not usable:
            axis.text(solve, k, " " + ("WRONG" if line["wrong"] else line["status"]), va="center", fontsize=6)
    name_rows(axis, [f"{line['solver']} {line['precond']} {label(line)}" for line in lines], 6)
    axis.set_xscale("log")
    axis.set_title(f"{short(system['system'])}, tolerance {system['tolerance']:g}", fontsize=9)


def plot_times(data, arguments, path):
    systems = [system for system in systems_of(data, arguments.precision) if measured(system)]
    if not systems:
        return
    tallest = max(len(measured(system)) for system in systems)
    figure, axes = grid(len(systems), 2, 6, 1 + 0.16 * tallest)
    for axis, system in zip(axes, systems):
        draw_times(axis, system)
    figure.supxlabel("milliseconds of a solve (bar), with its setup (mark); orange: others; hatched: not converged", fontsize=9)
    save(figure, path)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="*", type=pathlib.Path)
    parser.add_argument("--solver", default="cg")
    parser.add_argument("--precond", default="jacobi")
    parser.add_argument("--precision", default="double", choices=("double", "single"))
    arguments = parser.parse_args(words)
    for path in arguments.reports or sorted(RESULTS.glob("solve_*.json*")):
        data = reports.load(path)
        plot_iterations(data, arguments, RESULTS / (path.name.partition(".")[0] + "_iteration.svg"))
        plot_times(data, arguments, RESULTS / (path.name.partition(".")[0] + "_time.svg"))


if __name__ == "__main__":
    main()
