# SPDX-License-Identifier: Apache-2.0
"""Pictures of `newel bench spmv`: speed-ups over the fastest competitor, and what setup costs."""
from drawing import grid, name_rows, save, short
from spmv_tables import plain_formats


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


def plot_speedups(data, path):
    names = plain_formats(data)
    present = [p for p in ("double", "single") if any(s["precision"] == p for s in data["systems"])]
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


def plot_setups(data, path):
    systems = [s for s in data["systems"] if s["break_even_competitor"] is not None]
    figure, axes = grid(len(systems), 3, 4, 3, sharex=True)
    for axis, system in zip(axes, systems):
        draw_setup(axis, system, plain_formats(data))
    axes[0].legend(fontsize=7)
    figure.supxlabel("products", fontsize=9)
    figure.supylabel("setup and products together, relative", fontsize=9)
    save(figure, path)
