#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes every page and picture that comes from docs/results, and the pictures of the formats and of the
choice of a solver.

    bench/pages/write_all.py [--without-pictures]       pictures of results need matplotlib
"""
import argparse

import amg_tables
import direct_tables
import draw_decision
import draw_formats
import gpu_tables
import gradient_tables
import matrices_tables
import over_time
import preconditioner_tables
import recycle_tables
import sequence_tables
import write_performance


def write_pages():
    write_performance.main()
    over_time.main()
    preconditioner_tables.write()
    amg_tables.write()
    direct_tables.write()
    matrices_tables.write()
    gpu_tables.write()
    gradient_tables.write()
    sequence_tables.write()
    recycle_tables.write()
    draw_formats.main()
    draw_decision.main()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-pictures", action="store_true", help="of results")
    arguments = parser.parse_args()
    if not arguments.without_pictures:
        import plot_tables
        plot_tables.main([])
    write_pages()


if __name__ == "__main__":
    main()
