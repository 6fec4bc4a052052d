#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the pages of tables and the one of the README, from docs/results: docs/results/NAME.svg.

    bench/pages/plot_tables.py [NAME ...]     names of PICTURES below; all of them by default. Needs matplotlib.
"""
import datetime
import statistics
import sys

import multigrid_tables
import gpu_tables
import plot_solve
import plot_spmv
from drawing import OTHERS, OURS, RESULTS, SETUP, bars, grid, load, matplotlib, name_rows, place, plt, save, short


def case_label(system):
    return f"{short(system['system'])}, {system['rows']:,} rows"


def solve_of(system, by, format_name=None):
    """The line of CG with Jacobi by that library: (milliseconds of its setup, of its solve). The fastest of its
    formats unless one is named."""
    lines = [line for line in system["solves"] if line["refused"] is None and line["by"] == by and line["converged"]
             and (line["solver"], line["precond"]) == ("cg", "jacobi") and format_name in (None, line["format"])]
    return min(((1e3 * line["setup_seconds"], line["solve"]["milliseconds"]["median"]) for line in lines),
               key=lambda times: times[1])


def solve_groups():
    """Titles, with the bars of each system: (label, setup, solve, colour), all in milliseconds to the same residual."""
    multigrid = {system["system"]: system for system in load("amg_h200")["systems"]}
    device, host = load("solve_h200"), load("solve_host")
    groups = []
    for system in device["systems"]:
        if system["precision"] != "double" or system["system"] not in multigrid:
            continue
        best = min((line for line in multigrid[system["system"]]["solves"] if line["precond"] == "amg"),
                   key=lambda line: line["setup_milliseconds"] + line["solve"]["milliseconds"]["median"])
        groups.append((f"{device['device']}\n{case_label(system)}", [
            ("CuPy's cg", 0, solve_of(system, "cupy")[1], OTHERS),
            ("cuBLAS + cuSPARSE", *solve_of(system, "cublas+cusparse"), OTHERS),
            ("the same as a CUDA graph", *solve_of(system, "cublas+cusparse:graph"), OTHERS),
            ("Newel, CSR", *solve_of(system, "newel", "csr"), OURS),
            ("Newel, EHYB", *solve_of(system, "newel", "ehyb"), OURS),
            ("Newel, multigrid", best["setup_milliseconds"], best["solve"]["milliseconds"]["median"], OURS)]))
    for system in host["systems"]:
        if system["precision"] == "double" and system["system"].startswith("generate:elasticity"):
            groups.append((f"{host['processor']}, {host['threads']} threads\n{case_label(system)}", [
                ("Eigen", *solve_of(system, "eigen"), OTHERS),
                ("Newel, CSR", *solve_of(system, "newel", "csr"), OURS),
                ("Newel, EHYB", *solve_of(system, "newel", "ehyb"), OURS)]))
    return groups


def milliseconds(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def faster(path):
    groups = solve_groups()
    figure, axes = grid(len(groups), 2, 5, 2.1)
    for axis, (title, lines) in zip(axes, groups):
        slowest = max(setup + solve for _, setup, solve, _ in lines)
        for k, (_, setup, solve, colour) in enumerate(lines):
            axis.barh(k, solve, color=colour)
            axis.barh(k, setup, left=solve, color=SETUP)
            words = f" {milliseconds(solve)}" + (f" + {milliseconds(setup)}" if setup else "") + " ms"
            times = slowest / (setup + solve)
            axis.text(solve + setup, k, words + (f": {times:.1f} x" if times > 1 else ""), va="center", fontsize=9)
        name_rows(axis, [line[0] for line in lines], 9)
        axis.set_xlim(0, 1.7 * max(setup + solve for _, setup, solve, _ in lines))
        axis.tick_params(axis="x", labelsize=8)
        axis.set_title(title, fontsize=9.5)
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("milliseconds of CG, with Jacobi or multigrid, until |b - A x| <= 1e-8 |b|: the solve + (grey) the setup, which "
                     "new values\nand right-hand sides need not repeat; N x: over the slowest, setup included", fontsize=9.5)
    save(figure, path)


def columns(path):
    data = load("columns_h200")
    systems = [system for system in data["systems"] if system["precision"] == "double"]
    figure, axes = plt.subplots(1, len(systems), figsize=(4.5 * len(systems), 3.2), sharey=True)
    for axis, system in zip(axes, systems):
        lines = [line for line in system["formats"] if line.get("columns")]
        for line in lines:
            at = [1] + [column["columns"] for column in line["columns"]]
            axis.plot(at, [1] + [column["in_products"] for column in line["columns"]], marker="o", markersize=3,
                      linestyle=":" if line["competitor"] else "-", label=line["name"])
        axis.plot([1, at[-1]], [1, at[-1]], color="black", linewidth=0.8)
        axis.set(title=f"{short(system['system'])}, double precision", xlabel="vectors")
        axis.set_xticks(at)
    axes[0].set_ylabel("time, in products with one vector")
    axes[0].legend(fontsize=7)
    save(figure, path)


def save_by_systems(figure, axis, systems, label, path):
    """Ratios of systems, one below the other, next to the line at which both sides are alike."""
    axis.axvline(1, color="black", linewidth=0.8)
    name_rows(axis, [short(system["system"]) for system in systems])
    axis.set_xlabel(label)
    axis.legend(fontsize=7)
    save(figure, path)


def regret(path):
    data = load(path.stem)
    systems = [system for system in data["systems"] if system["refused"] is None]
    figure, axis = plt.subplots(figsize=(8, 0.6 + 0.32 * len(systems)))
    for k, use in enumerate(data["uses"]):
        found = [(i, one["regret"]) for i, system in enumerate(systems) for one in system["uses"]
                 if one["use"] == use["use"] and one["outcome"] == "measured"]
        axis.plot([value for _, value in found], [i + 0.2 * (k - 1) for i, _ in found], "o", markersize=4,
                  label=f"{use['solves']} solve{'s' if use['solves'] > 1 else ''}")
    save_by_systems(figure, axis, systems, "time without options over the best combination's", path)


def multigrid(path):
    """Setup and solve of each package, its best variant, over Newel's."""
    data, rivals = load("amg_beside_rivals_h200"), load("amg_rivals_h200")
    systems = [system for system in data["systems"] if any(run["system"] == system["system"] for run in rivals["runs"])]
    figure, axis = plt.subplots(figsize=(8, 0.8 + 0.55 * len(systems)))
    for k, package in enumerate(multigrid_tables.PACKAGES):
        found = [(i, multigrid_tables.over_newel(system, rivals, package)) for i, system in enumerate(systems)]
        found = [(i, ratio) for i, ratio in found if ratio is not None]
        bars = axis.barh([i + 0.25 * (k - 1) for i, _ in found], [ratio for _, ratio in found], 0.23, label=package)
        axis.bar_label(bars, [f"{ratio:.1f}" for _, ratio in found], fontsize=7, padding=2)
    axis.set_xscale("log")
    save_by_systems(figure, axis, systems, "setup and solve over Newel's, NVIDIA H200", path)


def heart(path):
    figure, axis = plt.subplots(figsize=(9, 3.4))
    for k, (name, marker) in enumerate((("heart_host", "s"), ("heart_h200", "o"))):
        data = load(name)
        for assembly, style in (("reference", ":"), ("in-place", "-")):
            points = []
            for size in data["sizes"]:
                runs = [run["milliseconds_per_step"]["total"] for run in size["runs"] if run["assembly"] == assembly]
                points += [(size["nodes"], min(runs))] if runs else []
            axis.plot([nodes for nodes, _ in points], [value for _, value in points], style, marker=marker, markersize=4,
                      color=f"C{k}", label=f"{place(data)}, {assembly} assembly")
    axis.axhline(0.25, color="black", linewidth=0.8)
    axis.annotate("as fast as a heart beats, with steps of 0.25 ms", (1, 0.25), xycoords=("axes fraction", "data"), fontsize=7,
                  ha="right", va="top")
    axis.set(xscale="log", yscale="log", xlabel="nodes", ylabel="milliseconds per step, fastest format")
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def loops(path):
    """Ratios of CG with Jacobi and of a product to the usual loop, with the spread of the samples."""
    ratios = []
    for name in ("device_h200", "host_epyc", "host_xeon"):
        data = load(name)
        for system in data["systems"]:
            label = f"{place(data).replace('(R)', '')}\n{short(system['system'])}"
            cg = system["cg_jacobi"]
            ratios.append((label, "an iteration of CG", cg.get("usual_over_newel") or cg["eigen_over_newel"]))
            if "eigen_over_newel" in system["product"]:
                ratios.append((label, "a product", system["product"]["eigen_over_newel"]))
    labels = list(dict.fromkeys(label for label, _, _ in ratios))
    figure, axis = plt.subplots(figsize=(8, 0.8 + 0.5 * len(labels)))
    for k, what in enumerate(("an iteration of CG", "a product")):
        for label, kind, ratio in ratios:
            if kind == what:
                at = labels.index(label) + 0.4 * k - 0.2
                axis.barh(at, ratio["median"], 0.38, color=f"C{2 * k}",
                          xerr=[[ratio["median"] - ratio["min"]], [ratio["max"] - ratio["median"]]], error_kw={"linewidth": 0.8},
                          label=what if label == labels[-1] else None)
    axis.axvline(1, color="black", linewidth=0.8)
    name_rows(axis, labels)
    axis.set_xlabel("the usual loop's time over Newel's; lines: smallest and largest of the samples")
    axis.legend(fontsize=7)
    save(figure, path)


def reading(path):
    data = load("reader_xeon")
    figure, axis = plt.subplots(figsize=(7, 2.6))
    for k, (order, result) in enumerate(data["results"].items()):
        axis.barh(k - 0.2, result["newel_csr_seconds"], 0.38, color=OURS, label="Newel, to sorted CSR" if k == 0 else None)
        axis.barh(k + 0.2, result["fast_matrix_market_coo_seconds"], 0.38, color=OTHERS,
                  label="fast_matrix_market, to coordinates" if k == 0 else None)
        axis.barh(k + 0.2, result["fast_matrix_market_tocsr_seconds"], 0.38, left=result["fast_matrix_market_coo_seconds"],
                  color=SETUP, label="SciPy's tocsr after it" if k == 0 else None)
    name_rows(axis, [f"{order} order\n{r['entries'] / 1e6:.0f} million entries" for order, r in data["results"].items()])
    axis.set_xlabel("seconds")
    axis.legend(fontsize=7)
    save(figure, path)


def matrices(path):
    """How many of the real matrices each solver brings below the tolerance, by the residual of the script."""
    systems = load("matrices")["matrices"]
    sides = (("scipy", "SciPy", OTHERS), ("newel", "Newel", OURS))
    solvers = ("cg", "bicgstab", "gmres")

    def count(side, *names):
        return sum(any(system[side][name]["reached"] for name in names) for system in systems)

    rows = [(f"{who}, {solver}", count(side, solver), colour) for solver in solvers for side, who, colour in sides]
    rows += [(f"{who}, any of the three", count(side, *solvers), colour) for side, who, colour in sides]
    rows.append(("Newel, auto", count("newel", "auto"), OURS))
    figure, axis = plt.subplots(figsize=(7, 3))
    bars(axis, rows, str)
    axis.set_xlim(0, len(systems))
    axis.set_xlabel(f"systems solved to 1e-8 with Jacobi or no preconditioner, of {len(systems)}")
    save(figure, path)


def preconditioners(path):
    """How many systems are solved within so many iterations, by preconditioner, and AMG's iterations over Jacobi's."""
    data, multigrid = load("preconditioners_host"), load("amg_host")
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.3))
    for axis, solver in zip(axes, ("cg", "bicgstab")):
        for name in ("none", "jacobi", "fsai(1)", "spai", "auto"):
            counts = sorted(run["iterations"] for run in data["runs"] if run["status"] == "converged"
                            and (run["precond"], run["solver"]) == (name, solver))
            if counts:
                axis.step([max(1, count) for count in counts], range(1, len(counts) + 1), where="post", label=name)
        axis.set(xscale="log", xlabel="iterations", title=f"{solver}: systems solved within")
        axis.legend(fontsize=7)
    of_system = {}
    for run in multigrid["runs"]:
        if run["converged"]:
            of_system.setdefault(run["system"], {})[run["precond"]] = run["iterations"]
    both = [found for found in of_system.values() if {"jacobi", "amg"} <= found.keys()]
    axes[2].loglog([found["jacobi"] for found in both], [found["amg"] for found in both], "o", markersize=4)
    share = statistics.geometric_mean(found["amg"] / found["jacobi"] for found in both if found["jacobi"] > 300)
    axes[2].set(xlabel="iterations with Jacobi", ylabel="with AMG", title=f"AMG: {share:.3f} of Jacobi's, if over 300")
    for axis in axes:
        axis.title.set_fontsize(9)
    save(figure, path)


def over_time(path):
    """Each headline figure that a machine has more than once, over its first value."""
    found = {}
    for line in load("over_time")["lines"]:
        for name, figure in line["figures"].items():
            found.setdefault((name, line["machine"]), []).append((datetime.date.fromisoformat(line["date"]), figure["value"]))
    figure, axis = plt.subplots(figsize=(9, 3.4))
    for (name, machine), points in sorted(found.items()):
        if len(points) > 1:
            axis.plot([date for date, _ in points], [value / points[0][1] for _, value in points], marker="o", markersize=4,
                      label=f"{name} ({machine})")
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_ylabel("over the first value; less is better")
    axis.xaxis.set_major_locator(matplotlib.dates.DayLocator())
    axis.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%d %b %Y"))
    axis.tick_params(axis="x", labelsize=7, rotation=30)
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def start(path):
    """Whole processes that do little, from start to end."""
    seconds = load("start_h200")["seconds"]
    rows = [("newel --version", "version", OURS), ("a small solve on the host", "solve_host", OURS),
            ("an empty CUDA program", "empty_cuda_program", SETUP), ("a small solve on the device", "solve_device", OURS)]
    figure, axis = plt.subplots(figsize=(7, 1.8))
    bars(axis, [(name, 1e3 * seconds[key]["median"], colour) for name, key, colour in rows], lambda value: f"{value:.3g}")
    axis.margins(x=0.1)
    axis.set_xlabel("milliseconds of the process")
    save(figure, path)


def gpus(path):
    """Iterations on several GPUs over those on one, and with as many rows on each."""
    report = load("gpus_h200")
    counts = [1, *gpu_tables.all_counts(report)]
    figure, (strong, weak) = plt.subplots(1, 2, figsize=(9, 3.6))
    for system in report["systems"]:
        points = [(count, gpu_tables.best(system, count)) for count in counts]
        points = [(count, time / gpu_tables.best_of_one(system)) for count, time in points if time is not None]
        strong.plot(*zip(*points), marker="o", markersize=4, label=f"{short(system['system'])}, {system['rows']:,} rows")
    strong.plot(counts, [1 / count for count in counts], color="black", linewidth=0.8, label="1 / GPUs")
    strong.set(xscale="log", yscale="log", xlabel="GPUs", ylabel="time of an iteration over that on one GPU")
    strong.legend(fontsize=6)
    pairs = list(gpu_tables.weak_pairs(report))
    weak.plot([1, *(count for count, *_ in pairs)], [100, *(100 * share for *_, share in pairs)], marker="o", markersize=4,
              label=f"from {short(pairs[0][1]['system'])} on one GPU")
    weak.set(xscale="log", xlabel="GPUs", ylabel="% of one GPU's rate for a row", ylim=(0, 110))
    weak.legend(fontsize=7, loc="lower left")
    strong.set_yticks([1 / count for count in counts], [f"{1 / count:.3g}" for count in counts])
    for axis in (strong, weak):
        axis.set_xticks(counts, [str(count) for count in counts])
        axis.minorticks_off()
    save(figure, path)


def each(kind, suffix, draw):
    """The picture of every result of a kind."""
    return {name + suffix: draw for name in sorted(path.name.partition(".")[0] for path in RESULTS.glob(kind + "_*.json*"))}


def of_result(draw):
    return lambda path: draw(load(path.stem.rpartition("_")[0]), path)


PICTURES = {"faster": faster, "columns_h200": columns, **each("regret", "", regret),
            **each("spmv", "_speedup", of_result(plot_spmv.plot_speedups)),
            **each("spmv", "_setup", of_result(plot_spmv.plot_setups)),
            **each("solve", "_iteration", of_result(plot_solve.plot_iterations)),
            **each("solve", "_time", of_result(plot_solve.plot_times)), "multigrid": multigrid, "heart": heart, "loops": loops,
            "reader_xeon": reading, "start_h200": start, "matrices": matrices, "preconditioners": preconditioners,
            "over_time": over_time, "gpus_h200": gpus}


def main(names):
    unknown = set(names) - PICTURES.keys()
    if unknown:
        sys.exit(f"plot_tables: no picture {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}")
    for name in names or PICTURES:
        PICTURES[name](RESULTS / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
