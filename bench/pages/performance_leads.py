# SPDX-License-Identifier: Apache-2.0
"""The sentences that begin the pages of tables of write_performance.py: what is compared, and what came of it."""
import statistics

import solve_tables
from page import number

DEFAULTS = ("The tables compare a system without options with the best fixed combination of format, preconditioner and solver. "
            "A regret of 1 means that nothing was lost by not choosing. Times are whole: setup, solves and refreshes.")
MULTIGRID = ("The tables show what `--precond amg` costs and saves on a GPU, set up, refreshed and applied there from the matrix in its memory, "
             "for b = ones to 1e-8 in double. Every solution was judged by its true residual. The hierarchy is that of a cycle in CSR, "
             "without the first loading of kernels; solves are CG from x = 0, setup not included.")
HEART = ("The tables take the time of a step of `newel-heart` apart, for each format, mesh and machine. In every step the "
         "matrix gets new values, so that assembly and refresh count as much as the product. The last tables say which steps "
         "keep up with a heart in real time.")
LOOPS = ("The tables compare a fixed number of iterations of CG with Jacobi, and one product, with the loop that sample codes "
         "write around a library's calls: cuBLAS and cuSPARSE on a device, Eigen on a host. The same number of iterations is "
         "made on both sides, so that the ratios are those of the implementations, not of the methods. Ratios above 1 say that "
         "Newel is faster.")


def fastest_of_ours(system):
    lines = [line["speedup"] for line in system["formats"]
             if not line["competitor"] and line["refused"] is None and not line["wrong"] and line["speedup"] is not None]
    return max(lines, default=None)


def products(data):
    """Of a report of `newel bench spmv`."""
    found = {precision: [best for system in data["systems"] if system["precision"] == precision and system["refused"] is None
                         and (best := fastest_of_ours(system)) is not None] for precision in ("double", "single")}
    other = "cuSPARSE's formats" if data["space"] == "device" else "the other implementations"
    lead = f"The tables compare one product y = A x in each of Newel's formats with the fastest of {other}. "
    told = []
    for precision, ratios in found.items():
        if ratios:
            told.append(f"in {precision} precision Newel's fastest format is ahead on {sum(r > 1 for r in ratios)} of "
                        f"{len(ratios)} systems, by {number(statistics.geometric_mean(ratios))} in the geometric mean")
    said = "; ".join(told)
    return lead + said[0].upper() + said[1:] + ". The tables at the end, one a system, have every format with its setup, its bytes and its error."


def columns(data):
    """Of a report of `newel bench spmv --columns`."""
    fewest = {}
    for system in data["systems"]:
        for line in system["formats"]:
            for column in line.get("columns") or ():
                if not line["competitor"]:
                    key = (column["columns"], system["system"], system["precision"])
                    fewest[key] = min(fewest.get(key, float("inf")), column["in_products"])
    most = max(count for count, _, _ in fewest)
    best = [value for (count, _, _), value in fewest.items() if count == most]
    return ("The tables give the time of a product with several vectors at once, in units of the product with one. A format that "
            "reads the matrix once for all vectors needs fewer than their number: the best of each system takes "
            f"{number(min(best))} to {number(max(best))} products for {most} vectors. A format without such a kernel multiplies one "
            "vector after the other.")


def solves(data):
    """Of a report of `newel bench solve`."""
    ratios = []
    for system in data["systems"]:
        for pair in solve_tables.pairs(system) if system["refused"] is None else ():
            ours = [line for line in solve_tables.measured(system) if (line["solver"], line["precond"]) == pair
                    and not line["competitor"]]
            found = [ratio for line in ours if (ratio := solve_tables.iteration_speedup(line, system)) is not None]
            ratios += [max(found)] if found else []
    return ("The tables compare whole solves, and their iterations, with those of other libraries on the same machine. Where both "
            "sides converged with the same solver and preconditioner, Newel's iteration in its fastest format is the shorter one in "
            f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} cases, by {number(statistics.geometric_mean(ratios))} in the "
            "geometric mean. The residual of every x was computed afterwards, outside the library that returned it.")


def reading(data):
    """Of a report of bench_reader.py."""
    ratios = [r["fast_matrix_market_coo_seconds"] / r["newel_csr_seconds"] for r in data["results"].values()]
    return ("The table compares the seconds in which a large Matrix Market file is read. Newel's time includes the sorted CSR "
            "matrix, the other program's only coordinates. The other takes "
            f"{number(min(ratios))} to {number(max(ratios))} times as long.")


def start(data):
    """Of a report of bench_start.py."""
    median = {name: 1e3 * sample["median"] for name, sample in data["seconds"].items()}
    lead = f"A small solve on the host takes {number(median['solve_host'])} ms from the start of the process to its end. "
    if "solve_device" in median:
        lead += (f"On the device it takes {number(median['solve_device'] - median['empty_cuda_program'])} ms more than a program "
                 "that only makes a context and a stream, which the driver takes for itself. ")
    return lead + "The table has medians of whole processes, with the least and the most in brackets."
