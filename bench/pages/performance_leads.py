# SPDX-License-Identifier: Apache-2.0
"""The first sentences of the pages of tables of write_performance.py: what is compared, and the result."""
import statistics

import solve_tables
from page import number

DEFAULTS = ("The tables compare a system without options with the best fixed combination of format, preconditioner and solver. "
            "A regret of 1 means that the defaults lose no time. Times are whole: setup, solves and refreshes.")
MULTIGRID = ("The tables show what `--precond amg` costs and saves on a GPU. The matrix is in the GPU's memory, and the GPU sets "
             "up, refreshes and applies the hierarchy. The systems are solved for b = ones to 1e-8 in double. Every solution was "
             "checked by its true residual. The hierarchy is that of a cycle in CSR; its time excludes the first loading of "
             "kernels. Solves are CG from x = 0, without setup.")
HEART = ("The tables divide the time of a step of `newel-heart` into its phases, for each format, mesh and machine. The matrix "
         "gets new values in every step, so assembly and refresh count as much as the product. The last tables show which steps "
         "are fast enough to simulate a heart in real time.")
LOOPS = ("The tables compare Newel with the loop that sample codes write around a library's calls. The libraries are cuBLAS and "
         "cuSPARSE on a device, Eigen on a host. Each table compares a fixed number of iterations of CG with Jacobi, and one "
         "product. Both sides do the same number of iterations, so the ratios compare implementations, not methods. Newel is "
         "faster if a ratio is above 1.")


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
    results = []
    for precision, ratios in found.items():
        if ratios:
            results.append(f"In {precision} precision Newel's fastest format is faster on {sum(r > 1 for r in ratios)} of "
                           f"{len(ratios)} systems; the geometric mean of the speed-ups is {number(statistics.geometric_mean(ratios))}. ")
    return (lead + "".join(results) + "The tables at the end, one per system, list every format with its setup, its bytes and its "
            "error.")


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
            "reads the matrix once for all vectors takes less than one product per vector. The best format of each "
            f"system takes {number(min(best))} to {number(max(best))} products for {most} vectors. A format without such a kernel multiplies one "
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
    return ("The tables compare whole solves, and their iterations, with those of other libraries on the same machine. Iterations are "
            "compared if both sides converged with the same solver and preconditioner. Newel's iteration in its fastest format is "
            f"shorter in {sum(ratio > 1 for ratio in ratios)} of {len(ratios)} cases; the geometric mean of the speed-ups is "
            f"{number(statistics.geometric_mean(ratios))}. The residual of every x was computed afterwards, outside the library "
            "that returned it.")


def reading(data):
    """Of a report of bench_reader.py."""
    ratios = [r["fast_matrix_market_coo_seconds"] / r["newel_csr_seconds"] for r in data["results"].values()]
    return ("The table compares the seconds that two programs take to read a large Matrix Market file. Newel's time includes the "
            "conversion to a sorted CSR matrix; the other program returns only coordinates. The other program takes "
            f"{number(min(ratios))} to {number(max(ratios))} times as long.")


def start(data):
    """Of a report of bench_start.py."""
    median = {name: 1e3 * sample["median"] for name, sample in data["seconds"].items()}
    lead = f"A small solve on the host takes {number(median['solve_host'])} ms from the start of the process to its end. "
    if "solve_device" in median:
        lead += (f"On the device it takes {number(median['solve_device'] - median['empty_cuda_program'])} ms more than a program "
                 "that only creates a context and a stream. The driver itself takes the time "
                 "of such a program. ")
    return lead + "The table gives medians of whole processes, with minimum and maximum in brackets."
