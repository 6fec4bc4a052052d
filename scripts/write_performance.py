#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md from the measurements in docs/results (device_*.json, host_*.json, reader_*.json)."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"


def load(pattern):
    return [(path.name, json.loads(path.read_text())) for path in sorted(RESULTS.glob(pattern))]


def spread(sample, scale=1.0, digits=4):
    values = [sample[key] * scale for key in ("median", "min", "max")]
    return "{0:.{d}g} ({1:.{d}g} to {2:.{d}g})".format(*values, d=digits)


def device_section(name, data):
    lines = [
        f"## {data['device']}",
        "",
        f"`{data['command']}`, {data['date']}, CUDA {data['cuda_toolkit']}; all figures in "
        f"[results/{name}](results/{name}). A copy on the card moves "
        f"{data['copy']['gigabytes_per_second']['median']:,.0f} GB/s in the same run.",
        "",
        "| system | rows | entries | product, `csr:alg1` | product, `csr:alg2` | CG + Jacobi, an iteration | "
        "the usual loop | usual / Purlin |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for system in data["systems"]:
        product, cg = system["product"], system["cg_jacobi"]
        lines.append(
            f"| {system['system']} | {system['rows']:,} | {system['nonzeros']:,} "
            f"| {spread(product['purlin_alg1']['microseconds'])} µs | {spread(product['purlin_alg2']['microseconds'])} µs "
            f"| {spread(cg['microseconds']['purlin'])} µs | {spread(cg['microseconds']['usual'])} µs "
            f"| {spread(cg['usual_over_purlin'], digits=3)} |")
    lines += [
        "",
        "The usual loop is conjugate gradients with Jacobi as samples write it: cuSPARSE's product, cuBLAS for dots and "
        "updates, scalars read back by the host. Purlin's product is the same call of cuSPARSE; the difference is that "
        "its scalars stay on the card, its vector steps are fused, and the host looks every 16 iterations.",
        "",
    ]
    return lines


def host_section(name, data):
    lines = [
        f"## {data['processor']}, {data['threads']} threads",
        "",
        f"`{data['command']}`, {data['date']}; Eigen {data['eigen']}; all figures in [results/{name}](results/{name}).",
        "",
        "| system | rows | entries | product, Purlin | Eigen | Eigen / Purlin | CG + Jacobi, an iteration, Purlin | "
        "Eigen | Eigen / Purlin |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for system in data["systems"]:
        cells = [system["system"], f"{system['rows']:,}", f"{system['nonzeros']:,}"]
        for part in (system["product"], system["cg_jacobi"]):
            cells += [spread(part["milliseconds"][who], digits=3) + " ms" for who in ("purlin", "eigen")]
            cells.append(spread(part["eigen_over_purlin"], digits=3))
        lines.append("| " + " | ".join(cells) + " |")
    return lines + [""]


def reader_section(name, data):
    lines = [
        "## Reading Matrix Market files",
        "",
        f"`{data['command']}`, {data['date']}, {data['processor']}, {data['threads']} threads, medians of "
        f"{data['rounds']} rounds; [results/{name}](results/{name}). Purlin's time ends with a sorted CSR matrix, that of "
        f"fast_matrix_market {data['fast_matrix_market']} with coordinates; SciPy's conversion comes on top.",
        "",
        "| entries in the file | MB | entries | Purlin, to CSR | fast_matrix_market, to coordinates | SciPy's tocsr |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for order, r in data["results"].items():
        lines.append(f"| {order} order | {r['bytes'] / 1e6:,.0f} | {r['entries']:,} | {r['purlin_csr_seconds']:.3g} s "
                     f"| {r['fast_matrix_market_coo_seconds']:.3g} s | {r['fast_matrix_market_tocsr_seconds']:.3g} s |")
    return lines + [""]


def main():
    text = [
        "# Performance",
        "",
        "<!-- Written by scripts/write_performance.py from docs/results; run it again instead of editing. -->",
        "",
        "Medians, with the least and the most in brackets. The sides of a comparison alternate in one process, on one "
        "machine, in one run. `generate:elasticity:68` and the like are systems that the programs make themselves "
        "(`purlin solve generate:elasticity:68` solves one).",
        "",
    ]
    for name, data in load("device_*.json"):
        text += device_section(name, data)
    for name, data in load("host_*.json"):
        text += host_section(name, data)
    for name, data in load("reader_*.json"):
        text += reader_section(name, data)
    text += [
        "To repeat: `scripts/bench_device.sh`, `scripts/bench_host.sh`, `scripts/bench_reader.py`, then "
        "`scripts/write_performance.py`.",
        "",
    ]
    (ROOT / "docs" / "performance.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()
