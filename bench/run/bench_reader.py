#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures reading a large Matrix Market file: newel.read (to sorted CSR) against the Python package fast_matrix_market (to the
COO matrix that its mmread gives, and its tocsr() apart), with the same number of threads, alternating in one run. The files are
finite-element-like, values with their shortest digits, in three orders: by rows, by columns, and the lower triangle of a symmetric
matrix by columns.

    bench/run/bench_reader.py [--json docs/results/reader_NAME.json]

Run it by the Python of an environment that has newel (build/python/venv/bin/python after scripts/python_test.sh), SciPy and
fast_matrix_market.
"""
import argparse
import os
import platform
import statistics
import sys
import tempfile
import time

import fast_matrix_market
import newel
import numpy
import scipy.sparse

import measured
import reports

PROGRAM = "bench/run/bench_reader.py"
LINE_BYTES = 33.5
CHUNK = 1 << 20  # lines


def make(path, megabytes, order):
    """Three unknowns on each node of a cube, every node coupled with its 26 neighbours: 81 entries in an inner row."""
    symmetric = order == "symmetric"
    side = 2
    while 243 * side ** 3 * LINE_BYTES * (0.5 if symmetric else 1) < megabytes * 1e6:
        side += 1
    line = scipy.sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(side, side))
    a = scipy.sparse.kron(scipy.sparse.kron(line, line), scipy.sparse.kron(line, numpy.ones((3, 3))))
    a = scipy.sparse.tril(a) if symmetric else a
    a = (a.tocsr() if order == "rows" else a.tocsc()).tocoo()
    random = numpy.random.default_rng(1)
    values = (random.random(a.nnz) - 0.5) * 10.0 ** random.integers(0, 4, a.nnz)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate real {'symmetric' if symmetric else 'general'}\n")
        file.write(f"{a.shape[0]} {a.shape[1]} {a.nnz}\n")
        for k in range(0, a.nnz, CHUNK):
            lines = zip(*((part[k:k + CHUNK] + first).tolist() for part, first in ((a.row, 1), (a.col, 1), (values, 0))))
            file.writelines(f"{i} {j} {value!r}\n" for i, j, value in lines)


def timed(work):
    """Seconds by the clock and of the processors, and the result."""
    begin, processor_begin = time.perf_counter(), time.process_time()
    result = work()
    return (time.perf_counter() - begin, time.process_time() - processor_begin), result


def facts(a):
    return a.shape[0], int(a.nnz), float(a.data.sum())


def measure(path, threads, rounds):
    ours, theirs, tocsr = [], [], []
    for turn in range(rounds + 1):
        seconds, a = timed(lambda: newel.read(path, threads=threads))
        own = facts(a)
        their_seconds, coo = timed(lambda: fast_matrix_market.mmread(path))
        (csr_seconds, _), a = timed(coo.tocsr)
        other = facts(a)
        if own[:2] != other[:2] or abs(own[2] - other[2]) > 1e-6 * abs(own[2]) + 1e-3:
            sys.exit(f"the readers disagree: {own} and {other}")
        if turn > 0:  # the first round warms the caches
            ours.append(seconds)
            theirs.append(their_seconds)
            tocsr.append(csr_seconds)
    return {"bytes": os.path.getsize(path), "rows": own[0], "entries": own[1],
            "newel_csr_seconds": statistics.median(wall for wall, _ in ours),
            "newel_csr_processor_seconds": statistics.median(processor for _, processor in ours),
            "fast_matrix_market_coo_seconds": statistics.median(wall for wall, _ in theirs),
            "fast_matrix_market_coo_processor_seconds": statistics.median(processor for _, processor in theirs),
            "fast_matrix_market_tocsr_seconds": statistics.median(tocsr)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--orders", default="rows,columns,symmetric")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the files are made")
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_args()
    fast_matrix_market.PARALLELISM = arguments.threads
    results = {}
    print(f"{arguments.threads} threads, median of {arguments.rounds} alternating rounds, fast_matrix_market "
          f"{fast_matrix_market.__version__}, {platform.machine()}, {os.cpu_count()} processors")
    for order in arguments.orders.split(","):
        path = os.path.join(arguments.folder, f"newel_bench_{os.getpid()}_{order}.mtx")
        try:
            make(path, arguments.megabytes, order)
            r = results[order] = measure(path, arguments.threads, arguments.rounds)
        finally:
            if os.path.exists(path):
                os.remove(path)
        ours, theirs = r["newel_csr_seconds"], r["fast_matrix_market_coo_seconds"]
        print(f"{order}: {r['bytes'] / 1e6:.0f} MB, {r['entries']} entries; seconds (of processors): Newel to CSR {ours:.3f} "
              f"({r['newel_csr_processor_seconds']:.3f}), theirs to COO {theirs:.3f} "
              f"({r['fast_matrix_market_coo_processor_seconds']:.3f}), their tocsr {r['fast_matrix_market_tocsr_seconds']:.3f}; "
              f"COO over Newel {theirs / ours:.2f}", flush=True)
    if arguments.json:
        measured.write(arguments.json, {
            **reports.head(PROGRAM), "command": " ".join([PROGRAM] + sys.argv[1:]), "date": measured.today(),
            "processor": reports.processor(), "fast_matrix_market": fast_matrix_market.__version__,
            "threads": arguments.threads, "rounds": arguments.rounds, "results": results})


if __name__ == "__main__":
    main()
