# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/howto/differentiate.md, as bench_gradients.py measures them."""
from page import load, table, write_parts

NAMES = {"torch": "PyTorch", "jax": "JAX"}


def calls_table(report):
    rows = [[NAMES[kind], f"{int(size):,}", *(f"{taken[name]:,.0f}" for name in ("plain", "forward", "gradient"))]
            for kind, sizes in report["kinds"].items() for size, taken in sizes.items()]
    return table(["library", "rows", "`newel.Solver.solve`", "differentiable solve", "with its gradient"], rows, 1)


def maps_table(report):
    rows = [[NAMES[kind], f"{int(size):,}", *(f"{taken[name]:,.1f}" for name in ("together", "alone"))]
            for kind, sizes in report["mapped"].items() for size, taken in sizes.items()]
    return table(["library", "rows", "together", "one after the other"], rows, 1)


def lines_of(name):
    report = load(name)
    return [*calls_table(report), "", "A map over the values of 64 such matrices takes, for each system:", "", *maps_table(report), "",
            f"Measured on {report['date']} ([{name}.json](../results/{name}.json))."]


def write():
    write_parts("howto/differentiate.md", "gradient_tables.py",
                {"host": lines_of("gradients_host"), "device": lines_of("gradients_h200")})


if __name__ == "__main__":
    write()
