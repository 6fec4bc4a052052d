#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md and docs/performance-*.md from the measurements in docs/results (spmv_*.json, columns_*.json, solve_*.json,
regret_*.json, heart_*.json, device_*.json, host_*.json, reader_*.json, start_*.json)."""
import heart_tables
import loop_tables
import multigrid_tables
import performance_leads as leads
import regret_tables
import solve_tables
import spmv_tables
import why_fast
from page import link, load, load_all, picture_line, prose, spread, tables_page, write_page


def reader_section(name, data):
    lines = [
        *prose("write_performance.reading", data=data, link=link(name)),
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
        *prose("write_performance.start", machine=data['device'] or data['processor'], data=data, link=link(name)),
    ]
    for key, words in START_ROWS.items():
        if key in seconds:
            lines.append(f"| {words.format(system=data['system'])} | {spread(seconds[key], 1e3)} |")
    if heart := data.get("heart"):
        lines += [
            *prose("write_performance.heart_start", heart=heart),
        ]
        lines += [f"| {phase.replace('_', ' ')} | {value:.3g} |" for phase, value in heart["start_phases"].items()]
    return lines + [""]


def with_lead(lines, lead, picture=None):
    """A section with sentences that say what its tables show put after its heading, and the picture, by default its
    first, after them."""
    picture = picture or next((line for line in lines if line.startswith("![")), None)
    rest = [line for line in lines[1:] if line != picture]
    return [lines[0], "", lead, "", *([picture, ""] if picture else []), *rest]


def pages():
    """File, title and section of every page of tables."""
    for name, data in load_all("spmv_*"):
        yield tables_page(name), with_lead(
            spmv_tables.section(name, data), leads.products(data))
    for name, data in load_all("columns_*"):
        yield tables_page(name), with_lead(
            spmv_tables.columns_section(name, data), leads.columns(data),
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
    yield "performance-loops.md", with_lead(
        loop_tables.section(), leads.LOOPS, picture_line("loops", "the usual loop's time over Newel's"))
    for name, data in load_all("reader_*"):
        yield "performance-reading.md", with_lead(
            reader_section(name, data), leads.reading(data), picture_line(name.partition(".")[0], "seconds to read a file"))
    for name, data in load_all("start_*"):
        yield "performance-start.md", with_lead(
            start_section(name, data), leads.start(data),
            picture_line(name.partition(".")[0], "milliseconds of small processes"))


def main():
    text = [
        *prose("write_performance.intro"),
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
        "To repeat the measurements: [the README of the benchmarks](../bench/README.md).",
        "",
    ]
    write_page("performance.md", text)


if __name__ == "__main__":
    main()
