# SPDX-License-Identifier: Apache-2.0
"""Pictures of `newel bench solve` in double precision: iterations over the byte floor, and the time to a solution."""
from drawing import OTHERS, OURS, grid, name_rows, plt, save, short
from solve_tables import measured, solve_ms, usable


def label(line):
    return line["format"] if line["by"] == "newel" else line["by"]


def double_systems(data):
    return [s for s in data["systems"] if s["precision"] == "double" and s["refused"] is None]


def plot_iterations(data, path):
    """An iteration of CG with Jacobi over the floor: 1 is the floor, and what is below stays on the chip."""
    systems = double_systems(data)
    of_system = [[line for line in measured(system)
                  if (line["solver"], line["precond"]) == ("cg", "jacobi")
                  and line["percent_of_floor"] is not None] for system in systems]
    names = list(dict.fromkeys(label(line) for lines in of_system for line in lines))
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
    axis.set_ylabel("time of an iteration over the byte floor")
    axis.set_title("CG with Jacobi, double precision", fontsize=10)
    axis.legend(fontsize=8)
    save(figure, path)


def draw_times(axis, system):
    lines = sorted(measured(system), key=solve_ms)
    for k, line in enumerate(lines):
        solve, setup = solve_ms(line), 1e3 * line["setup_seconds"]
        color = OTHERS if line["competitor"] else OURS
        axis.barh(k, solve, color=color if usable(line) else "none", edgecolor=color, hatch=None if usable(line) else "///")
        axis.plot([solve + setup], [k], "|", color="black", markersize=7)
        if not usable(line):
            axis.text(solve, k, " " + ("WRONG" if line["wrong"] else line["status"]), va="center", fontsize=6)
    name_rows(axis, [f"{line['solver']} {line['precond']} {label(line)}" for line in lines], 6)
    axis.set_xscale("log")
    axis.set_title(f"{short(system['system'])}, tolerance {system['tolerance']:g}", fontsize=9)


def plot_times(data, path):
    systems = double_systems(data)
    tallest = max(len(measured(system)) for system in systems)
    figure, axes = grid(len(systems), 2, 6, 1 + 0.16 * tallest)
    for axis, system in zip(axes, systems):
        draw_times(axis, system)
    figure.supxlabel("milliseconds of a solve (bar), with its setup (mark); orange: others; hatched: not converged", fontsize=9)
    save(figure, path)
