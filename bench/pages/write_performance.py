#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md and docs/performance-*.md from the measurements in docs/results (spmv_*.json, columns_*.json, solve_*.json,
regret_*.json, heart_*.json, device_*.json, host_*.json, reader_*.json, start_*.json)."""
import statistics

import heart_tables
import multigrid_tables
import performance_leads as leads
import regret_tables
import solve_tables
import why_fast
from page import (RESULTS, folded, link, load, load_all, number, picture_line, place, remark, row, spread, tables_page,
                  write_page)


def device_section(name, data):
    lines = [
        f"## {data['device']}",
        "",
        f"`{data['command']}`, {data['date']}, CUDA {data['cuda_toolkit']}; the figures are in "
        f"{link(name)}. A copy on the device reaches "
        f"{data['copy']['gigabytes_per_second']['median']:,.0f} GB/s in the same run.{remark(data)}",
        "",
        "| system | rows | entries | product, `csr:alg1` | product, `csr:alg2` | CG + Jacobi, one of "
        f"{fixed_iterations(data)} iterations | the usual loop | usual / Newel | CG + Jacobi to convergence, once "
        "| the usual loop |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for system in data["systems"]:
        product, cg = system["product"], system["cg_jacobi"]
        times = (product["newel_alg1"]["microseconds"], product["newel_alg2"]["microseconds"], *cg["microseconds"].values())
        lines.append(row([system["system"], f"{system['rows']:,}", f"{system['nonzeros']:,}",
                          *(f"{spread(sample, digits=4)} µs" for sample in times), spread(cg["usual_over_newel"]),
                          *(whole_solve(system["cg_jacobi_to_tolerance"][who]) for who in ("newel", "usual"))]))
    lines += [
        "",
        "The usual loop is conjugate gradients with Jacobi as sample codes write it: cuSPARSE's product, cuBLAS for dot products "
        "and updates, scalars read back by the host. Newel calls the same cuSPARSE product, but keeps its scalars on the device, "
        "fuses its vector steps, and polls the device from the host every 16 iterations. The iteration columns compare a fixed "
        "number of iterations, the same on both sides, not converged solves; the last two columns are single solves to a true "
        f"residual of {data['systems'][0]['cg_jacobi_to_tolerance']['tolerance']:g}.",
        "",
    ]
    return lines + while_node_lines(data["systems"])


def fixed_iterations(data):
    return " or ".join(str(count) for count in sorted({system["cg_jacobi"]["iterations"] for system in data["systems"]}))


def whole_solve(end):
    return f"{1e3 * end['seconds']:.3g} ms, {end['iterations']:,} iterations"


def while_node_lines(systems):
    """How iterations are repeated on the device, where that was measured."""
    measured = [(system["system"], system["cg_repeated"]) for system in systems
                if "while_over_pieces" in system.get("cg_repeated", {})]
    if not measured:
        return []
    cells = [f"`{name}`: {spread(repeated['microseconds']['pieces'], digits=4)} µs, {spread(repeated['microseconds']['while_node'], digits=4)} µs, "
             f"{spread(repeated['while_over_pieces'])}" for name, repeated in measured]
    return [
        "Iterations in a CUDA graph can be repeated in two ways: in pieces, which the host launches and polls, or by a conditional "
        "while node, where the device decides. An iteration of CG with Jacobi and ELL-WARP's product in pieces of "
        f"{measured[0][1]['piece']}, by a while node, and the second over the first: {'; '.join(cells)}. The solvers launch "
        "pieces.",
        "",
    ]


def host_section(name, data):
    lines = [
        f"## {data['processor']}, {data['threads']} threads",
        "",
        f"`{data['command']}`, {data['date']}; Eigen {data['eigen']}; the figures are in {link(name)}. The "
        "iteration columns compare a fixed number of iterations, the same on both sides, not converged solves.",
        "",
        "| system | rows | entries | product, Newel | Eigen | Eigen / Newel | CG + Jacobi, one of "
        f"{fixed_iterations(data)} iterations, Newel | Eigen | Eigen / Newel |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for system in data["systems"]:
        cells = [system["system"], f"{system['rows']:,}", f"{system['nonzeros']:,}"]
        for part in (system["product"], system["cg_jacobi"]):
            cells += [spread(part["milliseconds"][who]) + " ms" for who in ("newel", "eigen")]
            cells.append(spread(part["eigen_over_newel"]))
        lines.append(row(cells))
    return lines + [""]


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


def spmv_overview(data):
    names = plain_formats(data)
    lines = [
        row(["system", "precision", "rows", "non-zeros", "fastest competitor", "its ms", *(f"`{name}`" for name in names)]),
        "|---|---|---:|---:|---|---:|" + "---:|" * len(names),
    ]
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
    """Of the speed-ups on systems assembled on mesh files; over one competitor, or over the fastest of each. Empty where
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


def spmv_row(line, system):
    error = number(line["error_in_bounds"], 2)
    cells = [f"`{line['name']}`", spread(line["warm"]["milliseconds"], digits=4), number(line["cold"]["milliseconds"]["median"], 4),
             number(line["gflops"]), number(line["bytes_per_product"] / 1e6), number(line["gigabytes_per_second"]),
             number(line["percent_of_copy"]), number(line["percent_of_csr_roofline"]), number(line["speedup"]),
             f"{100 * line['padding']:.1f} %", f"{line['beta']:.3f}", number(line["code_balance"]),
             number(line["p_max_gflops"]), number(1e3 * line["setup_seconds"]["total"]),
             number(line["setup_in_products"]), break_even(line, system), number(line["refresh_in_products"]),
             f"**WRONG** ({error})" if line["wrong"] else error]
    return row(cells)


def spmv_details(system):
    lines = [
        "| format | ms | cold ms | GFLOP/s | MB | GB/s | % of copy | % of CSR roofline | speed-up | padding | beta | B | "
        "P_max | setup ms | in products | pays back after | refresh, in products | error |",
        "|---|" + "---:|" * 17,
    ]
    for line in system["formats"]:
        if line["refused"] is not None:
            lines.append(f"| `{line['name']}` | refused: {line['refused']} |" + " |" * 16)
        elif line["same_as"] is None:
            lines.append(spmv_row(line, system))
    return folded(f"{system['system']}, {system['precision']} precision", lines)


def same_bits_price(data):
    """What cuSPARSE's CSR costs where its bits are to be the same on every run."""
    ratios = []
    for system in data["systems"]:
        times = {line["name"]: line["warm"]["milliseconds"]["median"] for line in system["formats"]
                 if line["refused"] is None}
        if {"cusparse:csr-alg1", "cusparse:csr-alg2"} <= times.keys():
            ratios.append(times["cusparse:csr-alg2"] / times["cusparse:csr-alg1"])
    if not ratios:
        return []
    return ["The same bits on every run (`--deterministic`) cost nothing in Newel's formats. cuSPARSE's CSR needs "
            f"algorithm 2 for them, which takes {statistics.geometric_mean(ratios):.2f} times as long as algorithm 1 in the geometric "
            f"mean of the products below ({min(ratios):.2f} to {max(ratios):.2f}).", ""]


def spmv_section(name, data):
    lines = [
        f"## Products of all formats, {place(data)}",
        "",
        f"`{data['command']}`, {data['date']}; the figures are in {link(name)}. A copy reaches "
        f"{data['copy']['gigabytes_per_second']['median']:,.0f} GB/s in the same run.{remark(data)}",
        "",
        "Speed-ups are over the fastest competitor in the same precision; `newel bench spmv --help` explains the columns. A "
        "product is y = A x in the format's own order, timed on the stream between two events (host: by the clock) in blocks of "
        "10 ms or one product. The blocks of all formats take turns, every other round in reverse order. Before each cold product "
        f"{data['displacing_bytes'] / 1e6:,.0f} MB are written. Setup starts with the matrix in device memory "
        "(host: in memory), after a warm-up on a small matrix. Conversions that cuSPARSE does not offer are done on the host, as "
        "for our formats.",
        "",
    ]
    lines += same_bits_price(data)
    lines += spmv_overview(data)
    for picture, words in (("speedup", "speed-ups"), ("setup", "setup and products together")):
        file = f"{name.partition('.')[0]}_{picture}.svg"
        if (RESULTS / file).exists():
            lines += [f"![{words}](results/{file})", ""]
    for system in data["systems"]:
        if system["refused"] is None:
            lines += spmv_details(system)
        else:
            lines += [f"{system['system']}, {system['precision']} precision: {system['refused']}", ""]
    return lines


def columns_section(name, data):
    """From a report of `newel bench spmv --columns`."""
    lines = [
        f"## Several vectors at once, {data['device']}",
        "",
        f"`{data['command']}`, {data['date']}; the figures are in {link(name)}.{remark(data)} Times are in "
        "units of the same format's product with one vector. cuSPARSE's formats, like every format without a kernel for several "
        "vectors, multiply one vector after the other between interleaved arrays.",
        "",
    ]
    for system in data["systems"]:
        timed = [line for line in system["formats"] if line.get("columns")]
        if not timed:
            continue
        counts = [column["columns"] for column in timed[0]["columns"]]
        lines += [f"| {system['system']}, {system['precision']} | one vector, µs | "
                  + " | ".join(f"{count} vectors" for count in counts) + " |", "|---|---:|" + "---:|" * len(counts)]
        for line in timed:
            cells = [f"`{line['name']}`", spread(line["warm"]["milliseconds"], 1e3)]
            cells += [number(column["in_products"]) for column in line["columns"]]
            lines.append(row(cells))
        lines.append("")
    return lines


def reader_section(name, data):
    lines = [
        "## Reading Matrix Market files",
        "",
        f"`{data['command']}`, {data['date']}, {data['processor']}, {data['threads']} threads, medians of "
        f"{data['rounds']} rounds; {link(name)}. Newel's time includes the conversion to a sorted CSR matrix; "
        f"fast_matrix_market {data['fast_matrix_market']} returns coordinates, which SciPy converts in the last column.",
        "",
        "| entries in the file | MB | entries | Newel, to CSR | fast_matrix_market, to coordinates | SciPy's tocsr |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for order, r in data["results"].items():
        lines.append(f"| {order} order | {r['bytes'] / 1e6:,.0f} | {r['entries']:,} | {r['newel_csr_seconds']:.3g} s "
                     f"| {r['fast_matrix_market_coo_seconds']:.3g} s | {r['fast_matrix_market_tocsr_seconds']:.3g} s |")
    return lines + [""]


START_ROWS = {
    "version": "`newel --version`",
    "solve_host": "`newel solve {system} --device host`",
    "empty_cuda_program": "a program that makes a CUDA context and a stream, nothing else",
    "solve_device": "`newel solve {system} --device cuda`",
}


def start_section(name, data):
    """From a report of bench_start.py."""
    seconds = data["seconds"]
    lines = [
        f"## Starting and ending, {data['device'] or data['processor']}",
        "",
        f"`bench/run/bench_start.py --rounds {data['rounds']}`, {data['date']}, {data['cores']} cores; "
        f"{link(name)}. Whole processes, from start to end, which take turns.",
        "",
        "| process | ms |",
        "|---|---:|",
    ]
    for key, words in START_ROWS.items():
        if key in seconds:
            lines.append(f"| {words.format(system=data['system'])} | {spread(seconds[key], 1e3)} |")
    if heart := data.get("heart"):
        lines += [
            "",
            f"`{heart['command']}` has {heart['nodes']:,} nodes and spends {heart['start_seconds']:.3g} s before its first step:",
            "",
            "| phase | s |",
            "|---|---:|",
        ]
        lines += [f"| {phase.replace('_', ' ')} | {value:.3g} |" for phase, value in heart["start_phases"].items()]
    return lines + [""]


def with_lead(lines, lead, picture=None):
    """A section with sentences that say what its tables show put behind its heading, and the picture, by default its
    first, after them."""
    picture = picture or next((line for line in lines if line.startswith("![")), None)
    rest = [line for line in lines[1:] if line != picture]
    return [lines[0], "", lead, "", *([picture, ""] if picture else []), *rest]


def pages():
    """File, title and section of every page of tables."""
    for name, data in load_all("spmv_*"):
        yield tables_page(name), with_lead(
            spmv_section(name, data), leads.products(data))
    for name, data in load_all("columns_*"):
        yield tables_page(name), with_lead(
            columns_section(name, data), leads.columns(data),
            picture_line(name.partition(".")[0], "time of a product with several vectors, in products with one"))
    for name, data in load_all("solve_*"):
        yield tables_page(name), with_lead(
            solve_tables.section(name, data), leads.solves(data))
    for name, data in load_all("regret_*"):
        yield tables_page(name), with_lead(
            regret_tables.section(name, data), leads.DEFAULTS,
            picture_line(name.partition(".")[0], f"regret of every system, for 1, 10 and {data['loop']} solves"))
    multigrid = (load(f"{name}_h200")
                 for name in ("amg", "amg_beside_rivals", "amg_rivals", "amg_rivals_large", "amg_meshes"))
    yield "performance-multigrid-h200.md", with_lead(
        multigrid_tables.section(*multigrid), leads.MULTIGRID,
        picture_line("multigrid", "setup and solve of hypre, AmgX and amgcl over Newel's"))
    yield "performance-heart.md", with_lead(
        heart_tables.section(), leads.HEART, picture_line("heart", "milliseconds a step over the nodes"))
    loops = ["## The usual loops", "", leads.LOOPS, "", picture_line("loops", "the usual loop's time over Newel's"), ""]
    for name, data in load_all("device_*"):
        if data["program"] == "newel_bench_device":  # not the record of the device tests
            loops += device_section(name, data)
    for name, data in load_all("host_*"):
        loops += host_section(name, data)
    yield "performance-loops.md", loops
    for name, data in load_all("reader_*"):
        yield "performance-reading.md", with_lead(
            reader_section(name, data), leads.reading(data), picture_line(name.partition(".")[0], "seconds to read a file"))
    for name, data in load_all("start_*"):
        yield "performance-start.md", with_lead(
            start_section(name, data), leads.start(data),
            picture_line(name.partition(".")[0], "milliseconds of small processes"))


def main():
    text = [
        "## Performance",
        "",
        "This page says where the time of an iteration goes and what Newel does about it; the tables behind it have pages of "
        "their own.",
        "",
        "All times are medians, with minimum and maximum in brackets. The contenders of a comparison take turns in one process, "
        "on one machine, in one run. Speed-ups compare converged runs in one precision unless the column says otherwise. "
        "Names such as `generate:elasticity:68` are systems that the programs generate "
        "(`newel solve generate:elasticity:68` solves one). [glossary.md](glossary.md) explains the terms.",
        "",
    ]
    products = {data["device"]: (name, data) for name, data in load_all("spmv_*") if data["space"] == "device"}
    for name, data in load_all("solve_*"):
        if data["space"] == "device":
            text += why_fast.section(name, data, products.get(data["device"]))
    text += ["## All tables", ""]
    for file, lines in pages():
        text += [f"* [{lines[0].removeprefix('## ')}]({file})"]
        write_page(file, lines)
    text += [
        "* [Performance over time](performance-over-time.md)",
        "",
        "To repeat the measurements: [bench/README.md](../bench/README.md).",
        "",
    ]
    write_page("performance.md", text)


if __name__ == "__main__":
    main()
