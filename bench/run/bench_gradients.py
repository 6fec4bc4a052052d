#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a solve that PyTorch or JAX can differentiate takes beyond a plain one, and a gradient beyond two solves.

    bench/run/bench_gradients.py [--device host|cuda] [--calls 300] [--json docs/results/gradients_host.json]
    bench/run/bench_gradients.py --device cuda --json docs/results/gradients_h200.json

Grids of 5 points, CG with Jacobi in CSR on one thread of the host. The kinds of calls take turns. The median of each is
reported, in microseconds: `plain` is newel.Solver.solve, `forward` the differentiable call, `gradient` a forward and
a backward pass for the values of A and for b. `mapped` is vmap over the values of 64 such systems with one vector each,
together as a batch and one after the other, in microseconds for each system. Runs where the package is installed.
"""
import argparse
import os
import pathlib
import statistics
import time

import numpy as np
import newel
import scipy.sparse

import measured

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch and newel need memory of the device too
SIDES = (10, 50)  # of the grids
MAPPED_SIDES, MAPPED = (10, 20, 40), 64
OPTIONS = {"solver": "cg", "preconditioner": "jacobi", "format": "csr"}


def grid(side):
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    eye = scipy.sparse.eye_array(side)
    return scipy.sparse.csr_array(scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line))


def pytorch_calls(a, device, options):
    import newel.torch
    import torch

    torch.set_num_threads(1)
    place = "cpu" if device == "host" else "cuda"
    parts = (torch.from_numpy(part.copy()) for part in (a.indptr, a.indices, a.data))
    A = torch.sparse_csr_tensor(*parts, size=a.shape).to(place)
    b = torch.ones(a.shape[0], dtype=torch.float64, device=place)
    values, of_b, ones = A.values().clone().requires_grad_(), b.clone().requires_grad_(), torch.ones_like(b)
    plain, solver = newel.Solver(A, **options), newel.torch.Solver(A, **options)
    return torch.__version__, {
        "plain": lambda: plain.solve(b),
        "forward": lambda: solver.solve(values, of_b),
        "gradient": lambda: torch.autograd.grad(solver.solve(values, of_b), (values, of_b), ones),
    }


def jax_calls(a, device, options):
    import jax
    import newel.jax

    jax.config.update("jax_enable_x64", True)
    place = jax.devices("cpu" if device == "host" else "cuda")[0]
    parts = (a.data, a.indices, a.indptr, np.ones(a.shape[0]))
    data, indices, indptr, b = (jax.device_put(part, place) for part in parts)
    plain = newel.Solver((data, indices, indptr) if device == "cuda" else a, **options)
    solver = newel.jax.Solver(**options)
    forward = jax.jit(lambda data, b: solver.solve((data, indices, indptr), b))
    gradient = jax.jit(jax.grad(lambda data, b: solver.solve((data, indices, indptr), b).sum(), (0, 1)))
    of_plain = b if device == "cuda" else np.ones(a.shape[0])
    return jax.__version__, {
        "plain": lambda: plain.solve(of_plain),
        "forward": lambda: forward(data, b).block_until_ready(),
        "gradient": lambda: jax.block_until_ready(gradient(data, b)),
    }


def pytorch_maps(a, device, options):
    import newel.torch
    import torch

    torch.set_num_threads(1)
    place = "cpu" if device == "host" else "cuda"
    parts = (torch.from_numpy(part.copy()) for part in (a.indptr, a.indices, a.data))
    A = torch.sparse_csr_tensor(*parts, size=a.shape).to(place)
    scales = torch.linspace(1, 2, MAPPED, dtype=torch.float64, device=place)
    values, b = scales[:, None] * A.values(), torch.ones(MAPPED, a.shape[0], dtype=torch.float64, device=place)
    together, alone = (newel.torch.Solver(A, **choices) for choices in options)
    return {"together": lambda: torch.func.vmap(together.solve)(values, b),
            "alone": lambda: torch.func.vmap(alone.solve)(values, b)}


def jax_maps(a, device, options):
    import jax
    import newel.jax

    jax.config.update("jax_enable_x64", True)
    place = jax.devices("cpu" if device == "host" else "cuda")[0]
    values, indices, indptr, b = (jax.device_put(part, place) for part in (
        a.data * np.linspace(1, 2, MAPPED)[:, None], a.indices, a.indptr, np.ones((MAPPED, a.shape[0]))))

    def call(choices):
        solver = newel.jax.Solver(**choices)
        compiled = jax.jit(jax.vmap(lambda values, b: solver.solve((values, indices, indptr), b)))
        return lambda: compiled(values, b).block_until_ready()

    return {"together": call(options[0]), "alone": call(options[1])}


def medians(calls, count):
    taken = {name: [] for name in calls}
    for name, call in calls.items():
        for _ in range(20):
            call()
    for _ in range(count):
        for name, call in calls.items():
            began = time.perf_counter_ns()
            call()
            taken[name].append((time.perf_counter_ns() - began) / 1e3)
    return {name: round(statistics.median(times), 1) for name, times in taken.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("host", "cuda"), default="host")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--json", type=pathlib.Path, help="the file to write; on a host docs/results/gradients_host.json")
    settings = parser.parse_args()
    if settings.json is None:
        if settings.device != "host":
            parser.error("--json: expected a file for the results of a device")
        settings.json = measured.RESULTS / "gradients_host.json"
    options = {**OPTIONS, "threads": 1} if settings.device == "host" else OPTIONS
    of_maps = ({key: value for key, value in options.items() if key != "format"}, options)  # a batch has no format
    versions, kinds, mapped = {"newel": newel.__version__}, {}, {}
    for name, make in (("torch", pytorch_calls), ("jax", jax_calls)):
        for side in SIDES:
            try:
                versions[name], calls = make(grid(side), settings.device, options)
            except (ImportError, RuntimeError) as error:
                print(f"{name}: {error}")
                continue
            kinds.setdefault(name, {})[str(side * side)] = medians(calls, settings.calls)
            print(name, side * side, kinds[name][str(side * side)])
        for side in MAPPED_SIDES if name in kinds else ():
            taken = medians({"torch": pytorch_maps, "jax": jax_maps}[name](grid(side), settings.device, of_maps),
                            settings.calls // 10)
            taken = {kind: round(time / MAPPED, 2) for kind, time in taken.items()}
            mapped.setdefault(name, {})[str(side * side)] = taken
            print(name, side * side, "mapped", taken)
    machine = measured.machine() if settings.device == "host" else newel.devices()[0]
    measured.write(settings.json, {"schema": 1, "program": "bench_gradients", "date": measured.today(),
                                   "commit": measured.commit(), "machine": machine, "calls": settings.calls,
                                   "versions": versions, "kinds": kinds, "mapped": mapped})


if __name__ == "__main__":
    main()
