# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/howto/differentiate.md, as bench_gradients.py measures them."""
from page import load, table, write_parts

NAMES = {"torch": "PyTorch", "jax": "JAX"}
CALLS = {"plain": "`newel.Solver.solve`", "forward": "differentiable solve", "gradient": "with its gradient"}
MAPS = {"together": "together", "alone": "one after the other"}


def times_table(sizes_of, columns, digits):
    """{library: {rows: {what: microseconds}}}, of which `columns` are shown: {what: its header}."""
    rows = [[NAMES[kind], f"{int(size):,}", *(f"{taken[what]:,.{digits}f}" for what in columns)]
            for kind, sizes in sizes_of.items() for size, taken in sizes.items()]
    return table(["library", "rows", *columns.values()], rows, 1)


def lines_of(name):
    report = load(name)
    return [*times_table(report["kinds"], CALLS, 0), "", "A map over the values of 64 such matrices takes, for each system:", "", *times_table(report["mapped"], MAPS, 1), "",
            f"Measured on {report['date']} ([{name}.json](../results/{name}.json))."]


def write():
    write_parts("howto/differentiate.md", "gradient_tables.py",
                {"host": lines_of("gradients_host"), "device": lines_of("gradients_h200")})


if __name__ == "__main__":
    write()
