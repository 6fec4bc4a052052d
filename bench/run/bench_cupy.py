#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solves the systems of a report of `newel bench solve` with CuPy's cg and gmres too, and adds them to the report.

    newel bench solve generate:diffusion:68 matrices/bone.mtx --report docs/results/solve_NAME.json
    bench/run/bench_cupy.py docs/results/solve_NAME.json generate:diffusion:68 matrices/bone.mtx --newel build/cuda/bin/newel

Right-hand side, tolerance, restart, rounds and precisions are those of the report, whose right-hand side must be ones; the
systems are given again, since a report holds no folders (without any: those that are generated). What is no Matrix Market
file is written by `newel info SYSTEM --out`. Whole solves from x = 0 between two synchronisations, one to warm up, the
solvers in turns, every other round backwards; iterations are counted in the solve that warms up. CuPy's GMRES looks at the
residual once a cycle. --library scipy does the same with SciPy on the host. Needs cupy (or scipy alone), on a quiet machine.
"""
import argparse
import inspect
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.io
import scipy.sparse

import measured
import reports


class CupyLibrary:
    """The few names in which CuPy and SciPy differ."""

    def __init__(self):
        import cupy
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg
        self.name, self.array, self.linalg = "cupy", cupy, cupyx.scipy.sparse.linalg
        self.matrix = cupyx.scipy.sparse.csr_matrix
        self.version = f"CuPy {cupy.__version__}"
        self.synchronize = cupy.cuda.get_current_stream().synchronize
        self.to_host = cupy.asnumpy

    def gmres_limits(self, restart, most):
        return {"restart": restart, "maxiter": most}

    def gmres_iterations(self, calls, restart):
        return calls * restart  # it tells of whole cycles


class ScipyLibrary:
    def __init__(self):
        import scipy.sparse.linalg
        self.name, self.array, self.linalg = "scipy", numpy, scipy.sparse.linalg
        self.matrix = scipy.sparse.csr_matrix
        self.version = f"SciPy {scipy.__version__}"
        self.synchronize = lambda: None
        self.to_host = numpy.asarray

    def gmres_limits(self, restart, most):
        return {"restart": restart, "maxiter": -(-most // restart)}

    def gmres_iterations(self, calls, restart):
        return calls


class Contender:
    """A solver with a preconditioner on a matrix that is in the library's memory."""

    def __init__(self, library, matrix, b, solver, precond, report, tolerance):
        self.library, self.matrix, self.b, self.solver, self.precond = library, matrix, b, solver, precond
        self.restart = report["restart"]
        library.synchronize()
        start = time.perf_counter()
        self.options = {"M": self.jacobi() if precond == "jacobi" else None, "atol": 0.0}
        library.synchronize()
        self.setup_seconds = time.perf_counter() - start
        self.function = getattr(library.linalg, solver)
        # The relative tolerance has had two names.
        self.options["rtol" if "rtol" in inspect.signature(self.function).parameters else "tol"] = tolerance
        most = report["max_iterations"]
        self.options.update(library.gmres_limits(self.restart, most) if solver == "gmres" else {"maxiter": most})
        self.seconds, self.iterations, self.converged, self.x = [], 0, False, None

    def jacobi(self):
        inverse = 1 / self.matrix.diagonal()
        return self.library.linalg.LinearOperator(self.matrix.shape, matvec=lambda r: inverse * r.ravel(),
                                                  dtype=self.matrix.dtype)

    def solve(self, **more):
        self.library.synchronize()
        start = time.perf_counter()
        self.x, info = self.function(self.matrix, self.b, **self.options, **more)
        self.library.synchronize()
        self.converged = info == 0
        return time.perf_counter() - start

    def warm_up(self):
        calls = []
        more = {"callback_type": "pr_norm"} if self.solver == "gmres" else {}
        self.solve(callback=lambda _: calls.append(None), **more)
        self.iterations = (self.library.gmres_iterations(len(calls), self.restart) if self.solver == "gmres"
                           else len(calls))

    def line(self, host_matrix, host_b):
        milliseconds = [1e3 * seconds for seconds in self.seconds]
        exact = host_matrix.astype(numpy.longdouble)
        rest = host_b - exact @ self.library.to_host(self.x).astype(numpy.longdouble)
        residual = float(numpy.linalg.norm(rest) / numpy.linalg.norm(host_b))
        finite = numpy.isfinite(residual)
        return {"by": self.library.name, "solver": self.solver, "precond": self.precond, "format": "csr",
                "competitor": True, "refused": None, "built": "csr", "detail": self.library.version,
                "status": "converged" if self.converged else "max_iterations" if finite else "not_finite",
                "reason": None, "converged": self.converged, "wrong": False, "iterations": self.iterations,
                "true_relative_residual": residual if finite else None, "recurrence_relative_residual": None,
                "iteration": {"milliseconds": summary([t / max(1, self.iterations) for t in milliseconds])},
                "solve": {"milliseconds": summary(milliseconds)}, "setup_seconds": self.setup_seconds,
                "setup_phases": {}}


def summary(samples):
    return {"min": min(samples), "median": statistics.median(samples), "max": max(samples), "samples": samples}


def without_folders(name):
    """As the report names a system."""
    return ":".join(part.rsplit("/", 1)[-1] for part in name.split(":"))


def load(system, newel):
    if not system.startswith(("generate:", "mesh:")):
        return scipy.io.mmread(system).tocsr()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "A.mtx")
        subprocess.run([newel, "info", system, "--out", file], check=True, stdout=subprocess.DEVNULL)
        return scipy.io.mmread(file).tocsr()


def measure(library, host_matrix, report, system, solvers, preconds):
    dtype = numpy.float32 if system["precision"] == "single" else numpy.float64
    host_matrix = host_matrix.astype(dtype)
    host_b = numpy.ones(host_matrix.shape[0], dtype)
    matrix, b = library.matrix(host_matrix), library.array.asarray(host_b)
    contenders = [Contender(library, matrix, b, solver, precond, report, system["tolerance"])
                  for solver in solvers for precond in preconds]
    for contender in contenders:
        contender.warm_up()
    for turn in range(report["repeats"]):
        for contender in contenders if turn % 2 == 0 else reversed(contenders):
            contender.seconds.append(contender.solve())
    return [contender.line(host_matrix, host_b) for contender in contenders]


def compare(system):
    """What follows from all lines together: floors for the new ones, speed-ups for all."""
    lines = [line for line in system["solves"] if line["refused"] is None]

    def fastest(what, takes):
        return min((line[what]["milliseconds"]["median"] for line in lines if line["competitor"] and takes(line)),
                   default=None)

    for line in lines:
        alike = [other for other in lines if (other["solver"], other["precond"]) == (line["solver"], line["precond"])]
        if "floor_milliseconds" not in line:
            floor = next((other for other in alike if "floor_milliseconds" in other), None)
            line["floor_milliseconds"] = None if floor is None else floor["floor_milliseconds"]
            line["percent_of_floor"] = None if floor is None else (
                100 * floor["floor_milliseconds"] / line["iteration"]["milliseconds"]["median"])
        best = fastest("iteration", lambda other: other in alike and other["iterations"] > 0)
        line["iteration_speedup"] = None if best is None else best / line["iteration"]["milliseconds"]["median"]
        best = fastest("solve", lambda other: other["converged"])
        usable = best is not None and line["converged"] and not line["wrong"]
        line["solve_speedup"] = best / line["solve"]["milliseconds"]["median"] if usable else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path, help="of newel bench solve; it is written anew")
    parser.add_argument("systems", nargs="*", help="as they were given there; default: those that are generated")
    parser.add_argument("--newel", default="newel", help="the program, for systems that are no Matrix Market file")
    parser.add_argument("--solvers", default="cg,gmres")
    parser.add_argument("--preconds", default="jacobi", help="none, jacobi")
    parser.add_argument("--library", choices=("cupy", "scipy"), default="cupy")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    report = reports.load(arguments.report)
    if report["rhs"] != "ones":
        sys.exit(f"{arguments.report}: its right-hand side is {report['rhs']}, and this solves for ones")
    names = {system["system"] for system in report["systems"] if system["refused"] is None}
    given = {without_folders(name): name for name in arguments.systems} or {
        name: name for name in sorted(names) if name.startswith("generate:")}
    if not set(given) <= names:
        sys.exit(f"{arguments.report} holds {', '.join(sorted(names))}, not {', '.join(sorted(set(given) - names))}")
    library = CupyLibrary() if arguments.library == "cupy" else ScipyLibrary()
    for name, path in given.items():
        host_matrix = load(path, arguments.newel)
        for system in report["systems"]:
            if system["system"] != name:
                continue
            system["solves"] = [line for line in system["solves"] if line["by"] != library.name]
            lines = measure(library, host_matrix, report, system, arguments.solvers.split(","),
                            arguments.preconds.split(","))
            system["solves"] += lines
            compare(system)
            for line in lines:
                print(f"{name}, {system['precision']}: {line['by']} {line['solver']} {line['precond']}: "
                      f"{line['iteration']['milliseconds']['median']:.4g} ms an iteration, {line['iterations']} iterations, "
                      f"{line['status']}, residual {line['true_relative_residual']}")
    before = report.setdefault("added", {}).get(library.name)
    command = " ".join(["bench/run/bench_cupy.py"] + [without_folders(word) for word in sys.argv[1:]])
    report["added"][library.name] = {
        "command": command if before is None else f"{before['command']}; {command}",
        "date": measured.today(),
        "version": library.version, "load_average": os.getloadavg()[0]}
    measured.write(arguments.report, report)
    print("written:", arguments.report)


if __name__ == "__main__":
    main()
