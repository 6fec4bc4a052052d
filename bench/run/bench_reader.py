#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures reading a large Matrix Market file: Newel (to sorted CSR) against the Python package fast_matrix_market
(to the COO matrix that its mmread gives, and its tocsr() apart), with the same number of threads, alternating in
one run. The files are finite-element-like, values with their shortest digits, in three orders: by rows, by columns, and the
lower triangle of a symmetric matrix by columns. Needs: pip install fast_matrix_market scipy.

  bench/run/bench_reader.py --program build/host/bin/bench_reader
"""
import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import measured
import reports

PROGRAM = "bench/run/bench_reader.py"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/host/bin/bench_reader", help="the built bench_reader")
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--orders", default="rows,columns,symmetric")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the files are made")
    parser.add_argument("--json", help="also write the figures to this file")
    return parser.parse_args()


class Newel:
    """A process that reads the file once per request, so that both sides start warm."""

    def __init__(self, program, path, threads):
        self.process = subprocess.Popen([program, "read", path, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def read(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds, processor, rows, entries, checksum = self.process.stdout.readline().split()
        return (float(seconds), float(processor)), (int(rows), int(entries), float(checksum))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_theirs(path):
    import fast_matrix_market
    begin, processor_begin = time.perf_counter(), time.process_time()
    coo = fast_matrix_market.mmread(path)
    read, processor_read = time.perf_counter(), time.process_time()
    csr = coo.tocsr()
    tocsr = time.perf_counter() - read
    return (read - begin, processor_read - processor_begin), tocsr, (csr.shape[0], csr.nnz, float(csr.data.sum()))


def measure(path, arguments):
    newel = Newel(arguments.program, path, arguments.threads)
    ours, theirs, tocsr = [], [], []
    for round_number in range(arguments.rounds + 1):
        seconds, facts = newel.read()
        their_read, their_tocsr, their_facts = read_theirs(path)
        if facts[:2] != their_facts[:2] or abs(facts[2] - their_facts[2]) > 1e-6 * abs(facts[2]) + 1e-3:
            sys.exit(f"the readers disagree: {facts} and {their_facts}")
        if round_number > 0:  # the first round warms the caches
            ours.append(seconds)
            theirs.append(their_read)
            tocsr.append(their_tocsr)
    newel.close()
    return {
        "bytes": os.path.getsize(path),
        "rows": facts[0],
        "entries": facts[1],
        "newel_csr_seconds": statistics.median(wall for wall, _ in ours),
        "newel_csr_processor_seconds": statistics.median(processor for _, processor in ours),
        "fast_matrix_market_coo_seconds": statistics.median(wall for wall, _ in theirs),
        "fast_matrix_market_coo_processor_seconds": statistics.median(processor for _, processor in theirs),
        "fast_matrix_market_tocsr_seconds": statistics.median(tocsr),
        "all": {"newel": ours, "fast_matrix_market": theirs, "tocsr": tocsr},
    }


def main():
    arguments = parse_arguments()
    try:
        import fast_matrix_market
    except ImportError:
        sys.exit("fast_matrix_market is missing: pip install fast_matrix_market scipy")
    fast_matrix_market.PARALLELISM = arguments.threads
    results = {}
    print(f"{arguments.threads} threads, median of {arguments.rounds} alternating rounds, fast_matrix_market "
          f"{fast_matrix_market.__version__}, {platform.machine()}, {os.cpu_count()} processors")
    print("seconds of wall clock (of processor, all threads)")
    print(f"{'order':>10} {'MB':>5} {'entries':>10} {'Newel to CSR':>15} {'theirs to COO':>15} {'their tocsr':>11} "
          f"{'COO/Newel':>10}")
    for order in arguments.orders.split(","):
        path = os.path.join(arguments.folder, f"newel_bench_{os.getpid()}_{order}.mtx")
        try:
            subprocess.run([arguments.program, "make", path, str(arguments.megabytes), order], check=True)
            r = results[order] = measure(path, arguments)
        finally:
            if os.path.exists(path):
                os.remove(path)
        ours, theirs = r["newel_csr_seconds"], r["fast_matrix_market_coo_seconds"]
        print(f"{order:>10} {r['bytes'] / 1e6:5.0f} {r['entries']:10d} "
              f"{ours:6.3f} ({r['newel_csr_processor_seconds']:.3f}) "
              f"{theirs:7.3f} ({r['fast_matrix_market_coo_processor_seconds']:.3f}) "
              f"{r['fast_matrix_market_tocsr_seconds']:11.3f} {theirs / ours:10.2f}", flush=True)
    if arguments.json:
        measured.write(arguments.json, {
            **reports.head(PROGRAM), "command": " ".join([PROGRAM] + sys.argv[1:]), "date": measured.today(),
            "processor": reports.processor(), "fast_matrix_market": fast_matrix_market.__version__,
            "threads": arguments.threads, "rounds": arguments.rounds, "results": results})


if __name__ == "__main__":
    main()
