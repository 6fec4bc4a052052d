#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long small runs of newel take as whole processes, beside a program that only makes a CUDA context and a stream.

    bench/run/bench_start.py [BIN_DIR] [--rounds N] [--heart MESH] [--out docs/results/start_h200.json]

BIN_DIR holds newel, and newel_bench_start of a CUDA build, without which devices are left out (default build/cuda/bin).
The commands take turns, so that what else the machine does falls on all of them; each is run once before it counts.
--heart adds one start of newel-heart on that mesh, refined twice, and the phases that it reports.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import measured
import reports

SYSTEM = "generate:grid7:20"


def seconds_of(command):
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def commands(folder):
    newel = str(folder / "newel")
    found = {"version": [newel, "--version"], "solve_host": [newel, "solve", SYSTEM, "--device", "host"]}
    empty = folder / "newel_bench_start"
    if empty.exists():
        found["empty_cuda_program"] = [str(empty)]
        found["solve_device"] = [newel, "solve", SYSTEM, "--device", "cuda"]
    return found


def device_name():
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.splitlines()[0].strip()


def heart_start(folder, mesh):
    """One run of a millisecond; what its report says of the time before the first step."""
    with tempfile.TemporaryDirectory() as out:
        command = [str(folder / "newel-heart"), mesh, "--refine", "2", "--duration", "1", "--output-every", "0", "--out", out]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        whole = time.perf_counter() - began
        data = json.loads((pathlib.Path(out) / "report.json").read_text(encoding="utf-8"))
    phases = data["start_phases"]
    return {"command": " ".join(["newel-heart", pathlib.Path(mesh).name, *command[2:-2]]), "nodes": data["mesh"]["nodes"],
            "process_seconds": whole, "start_seconds": sum(phases.values()), "start_phases": phases}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="build/cuda/bin", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--heart", metavar="MESH")
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args()

    runs = commands(asked.folder)
    samples = {name: [] for name in runs}
    for turn in range(asked.rounds + 1):
        for name, command in runs.items():
            seconds = seconds_of(command)
            if turn > 0:
                samples[name].append(seconds)
    result = {
        **reports.head("bench/run/bench_start.py"),
        "date": measured.today(),
        "processor": reports.processor(),
        "cores": os.cpu_count(),
        "device": device_name(),
        "system": SYSTEM,
        "rounds": asked.rounds,
        "seconds": {name: {"min": min(s), "median": statistics.median(s), "max": max(s)} for name, s in samples.items()},
    }
    if asked.heart:
        result["heart"] = heart_start(asked.folder, asked.heart)
    if asked.out:
        measured.write(asked.out, result)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
