#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The smallest eigenpairs of an elastic block by newel.eigsh and by SciPy's shift-invert.

    bench/run/bench_eigsh.py [--device host|cuda] [--nodes 16 24 33] [--pairs 6] [--most-rows 50000] [--json FILE]

A cube of N^3 nodes, linear hexahedra, clamped on one face, Poisson's ratio 0.3, density 1: the stiffness and the consistent
mass, assembled by scikit-fem. OMP_NUM_THREADS and OPENBLAS_NUM_THREADS give the threads. SciPy's eigsh factorises the
stiffness (sigma=0); it is called once, and left out above --most-rows. Times are whole calls, setup included; of newel the
best of --repeats after one that warms up. On a device matrices come from the host and eigenvectors return to it, which is counted. The
eigenvalues of both are compared. Needs scikit-fem.
"""
import argparse
import os
import pathlib
import time

import numpy as np
import newel
import scipy
import scipy.sparse
import scipy.sparse.linalg
import skfem
from skfem.helpers import ddot, dot, eye, sym_grad, trace

import measured

LAME, SHEAR = 0.3 / (1.3 * 0.4), 1 / 2.6  # Young's modulus 1, Poisson's ratio 0.3


@skfem.BilinearForm
def stiffness(u, v, w):
    strain = sym_grad(u)
    return ddot(eye(LAME * trace(strain), 3) + 2 * SHEAR * strain, sym_grad(v))


@skfem.BilinearForm
def mass(u, v, w):
    return dot(u, v)


def block(nodes):
    """(A, M, coordinates of the nodes) of what is not clamped."""
    line = np.linspace(0, 1, nodes)
    mesh = skfem.MeshHex.init_tensor(line, line, line)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementHex1()), intorder=2)
    free = np.setdiff1d(np.arange(basis.N), basis.get_dofs(lambda x: x[0] == 0).all())
    a, m = (form.assemble(basis).tocsr()[free][:, free] for form in (stiffness, mass))
    return scipy.sparse.csr_array(a), scipy.sparse.csr_array(m), basis.doflocs[:, free].T[::3].copy()


def best(call, repeats):
    """(seconds of the fastest, what it returned)"""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = call()
        taken.append(time.perf_counter() - began)
    return round(min(taken), 3), result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("host", "cuda"), default="host")
    parser.add_argument("--nodes", type=int, nargs="+", default=[16, 24, 33])
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most-rows", type=int, default=50000)
    parser.add_argument("--json", type=pathlib.Path, help="docs/results/eigsh_host.json or eigsh_h200.json by default")
    settings = parser.parse_args()
    on_host = settings.device == "host"
    blocks = []
    for nodes in settings.nodes:
        a, m, coordinates = block(nodes)

        def call():
            return newel.eigsh(a, settings.pairs, m, coordinates=coordinates, device=settings.device, return_report=True)

        call()
        seconds, (w, _, report) = best(call, settings.repeats)
        taken = {"rows": a.shape[0], "entries": a.nnz, "newel_seconds": seconds, "setup_seconds": round(report.seconds["setup"], 3),
                 "iterations": report.iterations, "eigenvalues": [float(f"{value:.9g}") for value in w]}
        if a.shape[0] <= settings.most_rows:
            seconds, (other, _) = best(lambda: scipy.sparse.linalg.eigsh(a.tocsc(), settings.pairs, m.tocsc(), sigma=0), 1)
            taken |= {"scipy_seconds": seconds, "largest_difference": float(f"{abs(w / np.sort(other) - 1).max():.2e}")}
        blocks.append(taken)
        print(taken, flush=True)
    to = settings.json or measured.RESULTS / f"eigsh_{'host' if on_host else 'h200'}.json"
    machine = measured.machine() if on_host else newel.devices()[0]
    measured.write(to, {"schema": 1, "program": "bench_eigsh", "date": measured.today(),
                        "commit": measured.commit(), "machine": machine, "pairs": settings.pairs,
                        "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())),
                        "versions": {"newel": newel.__version__, "scipy": scipy.__version__,
                                     "numpy": np.__version__, "scikit-fem": skfem.__version__},
                        "blocks": blocks})


if __name__ == "__main__":
    main()
