#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a product and CG with Jacobi against the loop that sample codes write: on a device cuSPARSE's and cuBLAS's calls, on
the host Eigen. Writes the result that docs/performance-loops.md shows.

    bench/run/bench_loops.py docs/results/device_h200.json --newel build/bench-loops/bin/newel --device cuda [SYSTEM...]

All figures are of `newel bench`, in whose runs both sides take turns: products (`spmv`), a fixed number of iterations (`solve --tol
0`; an iteration is a whole solve over their number) and, on a device, one solve to 1e-8. bench_loops.sh builds the program first.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

from measured import reports, today, write

SYSTEMS = {"cuda": ("generate:elasticity:68", "generate:diffusion:68"), "host": ("generate:diffusion:80", "generate:elasticity:40")}
ITERATIONS = {"cuda": 200, "host": 120}


def bench(settings, command, *options):
    """The full report of `newel bench`."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        threads = ["--threads", str(settings.threads)] if settings.threads else []
        words = [settings.newel, "bench", command, *settings.systems, "--device", settings.device, "--precision", "double",
                 "--report", str(file), *threads, *options]
        subprocess.run(words, check=True)
        return reports.load(file)


def scaled(sample, factor=1.0):
    return {key: factor * sample[key] for key in ("min", "median", "max")}


def over(other, own):
    """The ratio of the samples of each round."""
    ratios = [a / b for a, b in zip(other["milliseconds"]["samples"], own["milliseconds"]["samples"])]
    return {"min": min(ratios), "median": statistics.median(ratios), "max": max(ratios)}


def line_of(system, name, key="formats"):
    """Of a format, or of who solved."""
    return next(line for line in system[key] if line["name" if key == "formats" else "by"] == name and line["refused"] is None)


def compared(settings, product, loops, solves):
    """One system of the result from those of the three reports."""
    own, usual = (line_of(loops, by, "solves") for by in ("newel", "eigen" if settings.device == "host" else "cublas+cusparse"))
    result = {"system": product["system"], "rows": product["rows"], "nonzeros": product["nonzeros"]}
    if settings.device == "host":
        mine, eigen = line_of(product, "csr")["warm"], line_of(product, "eigen")["warm"]
        result["product"] = {"milliseconds": {"newel": scaled(mine["milliseconds"]), "eigen": scaled(eigen["milliseconds"])},
                             "eigen_over_newel": over(eigen, mine)}
        result["cg_jacobi"] = {"iterations": own["iterations"], "eigen_over_newel": over(usual["iteration"], own["iteration"]),
                               "milliseconds": {"newel": scaled(own["iteration"]["milliseconds"]),
                                                "eigen": scaled(usual["iteration"]["milliseconds"])}}
        return result
    result["product"] = {f"newel_{name}": {"microseconds": scaled(line_of(product, f"csr:{name}")["warm"]["milliseconds"], 1e3)}
                         for name in ("alg1", "alg2")}
    result["cg_jacobi"] = {"iterations": own["iterations"], "usual_over_newel": over(usual["iteration"], own["iteration"]),
                           "microseconds": {"newel": scaled(own["iteration"]["milliseconds"], 1e3),
                                            "usual": scaled(usual["iteration"]["milliseconds"], 1e3)}}
    ends = {who: line_of(solves, by, "solves") for who, by in (("newel", "newel"), ("usual", "cublas+cusparse"))}
    result["cg_jacobi_to_tolerance"] = {"tolerance": solves["tolerance"], **{
        who: {"status": end["status"], "iterations": end["iterations"], "true_residual": end["true_relative_residual"],
              "seconds": 1e-3 * end["solve"]["milliseconds"]["median"]} for who, end in ends.items()}}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM")
    parser.add_argument("--newel", default="build/bench-loops/bin/newel", help="the program")
    parser.add_argument("--device", choices=SYSTEMS, default="host")
    parser.add_argument("--threads", type=int, default=0)
    settings = parser.parse_args()
    settings.systems = settings.systems or SYSTEMS[settings.device]
    on_host = settings.device == "host"
    cg = ("--solvers", "cg", "--preconds", "jacobi", "--formats", "csr" if on_host else "csr:alg1")
    product = bench(settings, "spmv", "--formats", "csr" if on_host else "csr:alg1,csr:alg2")
    loops = bench(settings, "solve", *cg, "--tol", "0", "--max-iterations", str(ITERATIONS[settings.device]), "--repeats", "11")
    solves = loops if on_host else bench(settings, "solve", *cg, "--max-iterations", "100000", "--repeats", "1")
    head = {key: product[key] for key in product if key not in ("systems", "geometric_means", "displacing_bytes", "command")}
    if on_host:
        head["eigen"] = line_of(loops["systems"][0], "eigen", "solves")["detail"]
    write(settings.result, {
        **head, "program": "bench/run/bench_loops.py", "command": " ".join(["bench/run/bench_loops.py", settings.result.name]),
        "date": today(), "load_average": os.getloadavg()[0],
        "systems": [compared(settings, *three) for three in zip(product["systems"], loops["systems"], solves["systems"])]})


if __name__ == "__main__":
    main()
