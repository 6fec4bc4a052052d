# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-products-NAME.md and docs/performance-columns-NAME.md, of `newel bench spmv`; see
write_performance.py."""
import statistics

from page import copy_speed, each_system, folded, number, pictures, place, prose, remark, row, source, spread, table


def plain_formats(data):
    names = []
    for system in data["systems"]:
        for line in system["formats"]:
            if ":" not in line["name"] and not line["competitor"] and line["name"] not in names:
                names.append(line["name"])
    return names


def verdict(line):
    if line is None:
        return "-"
    if line["refused"] is not None:
        return "refused"
    if line["wrong"]:
        return "**WRONG**"
    return number(line["speedup"])


def break_even(line, system):
    if line["name"] == system["break_even_competitor"] or line["same_as"] == system["break_even_competitor"]:
        return "-"
    return "never" if line["break_even"] is None else f"{line['break_even']:,.0f}"


def overview(data):
    names = plain_formats(data)
    lines = [row(["system", "precision", "rows", "non-zeros", "fastest competitor", "its ms", *(f"`{name}`" for name in names)]),
             "|---|---|---:|---:|---|---:|" + "---:|" * len(names)]
    for system in data["systems"]:
        by_name = {line["name"]: line for line in system["formats"]}
        best = by_name.get(system["best_competitor"])
        # A matrix that could not be read has no sizes.
        sizes = ["-" if system[size] is None else f"{system[size]:,}" for size in ("rows", "nonzeros")]
        cells = [system["system"], system["precision"], *sizes,
                 "-" if best is None else f"`{best['name']}`",
                 "-" if best is None else spread(best["warm"]["milliseconds"], digits=4)]
        lines.append(row([*cells, *(verdict(by_name.get(name)) for name in names)]))
    for precision in ("double", "single"):
        means = {m["name"]: m for m in data["geometric_means"] if m["precision"] == precision}
        if means:
            cells = [number(means[name]["speedup"]) if name in means else "-" for name in names]
            lines.append(f"| geometric mean | {precision} | | | | " + row(cells))
    for what, competitor in (("fastest competitor", None), ("`cusparse:csr-alg1`", "cusparse:csr-alg1")):
        for precision in ("double", "single"):
            cells = mesh_means(data["systems"], precision, names, competitor)
            if cells:
                lines.append(f"| geometric mean on meshes, over {what} | {precision} | | | | " + row(cells))
    return lines + [""]


def mesh_means(systems, precision, names, competitor):
    """Of the speed-ups on systems assembled on mesh files; over one competitor, or over the fastest of each. Empty if
    there are none."""
    ratios = {name: [] for name in names}
    for system in systems:
        by_name = {line["name"]: line for line in system["formats"] if line.get("warm")}
        if system["precision"] != precision or not system["system"].startswith("mesh:"):
            continue
        if competitor is not None and competitor not in by_name:
            return []
        for name in names:
            if name in by_name:
                over = 1 if competitor is None else by_name[competitor]["speedup"]
                ratios[name].append(by_name[name]["speedup"] / over)
    return [number(statistics.geometric_mean(ratios[name])) if ratios[name] else "-" for name in names] if any(
        ratios.values()) else []


def format_row(line, system):
    error = number(line["error_in_bounds"], 2)
    cells = [f"`{line['name']}`", spread(line["warm"]["milliseconds"], digits=4), number(line["cold"]["milliseconds"]["median"], 4),
             number(line["gflops"]), number(line["bytes_per_product"] / 1e6), number(line["gigabytes_per_second"]),
             number(line["percent_of_copy"]), number(line["percent_of_csr_roofline"]), number(line["speedup"]),
             f"{100 * line['padding']:.1f} %", f"{line['beta']:.3f}", number(line["code_balance"]),
             number(line["p_max_gflops"]), number(1e3 * line["setup_seconds"]["total"]),
             number(line["setup_in_products"]), break_even(line, system), number(line["refresh_in_products"]),
             f"**WRONG** ({error})" if line["wrong"] else error]
    return row(cells)


def details(system):
    lines = [
        "| format | ms | cold ms | GFLOP/s | MB | GB/s | % of copy | % of CSR roofline | speed-up | padding | beta | B | "
        "P_max | setup ms | in products | pays back after | refresh, in products | error |",
        "|---|" + "---:|" * 17,
    ]
    for line in system["formats"]:
        if line["refused"] is not None:
            lines.append(f"| `{line['name']}` | refused: {line['refused']} |" + " |" * 16)
        elif line["same_as"] is None:
            lines.append(format_row(line, system))
    return folded(f"{system['system']}, {system['precision']} precision", lines)


def same_bits_cost(data):
    """What cuSPARSE's CSR costs if its bits have to be the same on every run."""
    ratios = []
    for system in data["systems"]:
        times = {line["name"]: line["warm"]["milliseconds"]["median"] for line in system["formats"]
                 if line["refused"] is None}
        if {"cusparse:csr-alg1", "cusparse:csr-alg2"} <= times.keys():
            ratios.append(times["cusparse:csr-alg2"] / times["cusparse:csr-alg1"])
    if not ratios:
        return []
    return ["The same bits on every run (`--deterministic`) cost nothing in Newel's formats. cuSPARSE's CSR needs "
            f"algorithm 2 for them. On the products below it takes {min(ratios):.2f} to {max(ratios):.2f} times as long as algorithm 1, "
            f"{statistics.geometric_mean(ratios):.2f} times in the geometric mean.", ""]


def section(name, data):
    return [
        *prose("spmv.intro", place=place(data), source=source(name, data), copy=copy_speed(data), megabytes=data['displacing_bytes'] / 1e6),
        *same_bits_cost(data),
        *overview(data),
        *pictures(name, {"speedup": "speed-ups", "setup": "setup and products together"}),
        *each_system(data, details),
    ]


def columns_section(name, data):
    """From a report of `newel bench spmv --columns`."""
    lines = [
        *prose("spmv.columns", data=data, source=source(name, data), remark=remark(data)),
    ]
    for system in data["systems"]:
        timed = [line for line in system["formats"] if line.get("columns")]
        if not timed:
            continue
        counts = [column["columns"] for column in timed[0]["columns"]]
        rows = [[f"`{line['name']}`", spread(line["warm"]["milliseconds"], 1e3),
                 *(number(column["in_products"]) for column in line["columns"])] for line in timed]
        lines += [*table([f"{system['system']}, {system['precision']}", "one vector, µs", *(f"{count} vectors" for count in counts)],
                         rows, 1), ""]
    return lines
