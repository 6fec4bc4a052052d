#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the steps of newel-heart's ventricle over sizes and formats, and writes docs/results/heart_NAME.json, which
bench/pages/write_all.py shows.

    bench/run/bench_heart.py --name host [--program build/host/bin/newel-heart] [--sizes 3000 30000] [--duration 60]
    bench/run/bench_heart.py --name host --real-time --sizes        only a beat against the clock, added to the file

Each run is a process that simulates the first --duration ms of a beat (240 steps as usual) from rest, in every format
with the matrix written in place, in csr and ELL-WARP also by the reference assembly of the paper, whose CSR values the
format then reorders; and once by one thread of the host, reference assembly and csr: what the paper's Figure 12 counts
speed-ups from. The runs of a size take turns, every other round backwards; each figure is the median of the
repetitions by itself, so that phases need not add up to the whole. An assembly's time by the clock is all of a run's
assembly over its solves: elements, matrix, what Jacobi makes of it, right-hand side, and the check that ends a step; the
pass over the elements, and the matrix with the right-hand side, are also timed alone, queued as products are. Sizes that are measured again replace those in the
file. With --eigen, Eigen's CG in the solver's place is measured by
newel_bench_heart (host only).

--real-time simulates one beat of --real-time-nodes nodes with the longest step whose activation times lie within
--within ms of those of a run with a tenth of the step, everywhere: steps are tried from the longest on. The short
steps run until the wave of the long ones has ended, and 10 ms more. Reads activation.vtu, and needs numpy for that.
"""
import argparse
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

import measured
import reports
from measured import ROOT

PROGRAM = "bench/run/bench_heart.py"
FORMATS = ("csr", "ellwarp:k1rs", "ellwarp:k2rs", "bce", "evchyb", "ehyb")
REFERENCES = ("csr", "ellwarp:k1rs", "ellwarp:k2rs")
HOST_SIZES, DEVICE_SIZES = (3000, 5000, 30000, 50000), (3000, 5000, 30000, 50000, 1000000)
STEPS = (0.5, 0.25, 0.1875, 0.125, 0.0625, 0.03125)
MOST_SERIAL_NODES = 100000  # one thread of the host would take minutes beyond
MARGIN_MILLISECONDS = 10  # beyond the end of the wave


class Heart:
    """newel-heart, run in a folder that is thrown away."""

    def __init__(self, settings):
        self.program, self.device = settings.program, settings.device
        self.threads = ["--threads", str(settings.threads)] if settings.threads else []

    def run(self, folder, *options, device=None, threads=None):
        """The report of a run."""
        words = [self.program, "--out", folder, "--quiet", "--output-every", "0", "--device", device or self.device]
        words += self.threads if threads is None else ["--threads", str(threads)]
        words += [str(option) for option in options]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"error: {shlex.join(words)} ends with {done.returncode}: {done.stderr.strip()}")
        return reports.load(pathlib.Path(folder) / "report.json")


def alone_in_products(one, product):
    """The pass over the elements, and the matrix with the right-hand side from their numbers: each timed alone."""
    return {"elements_in_products": one["elements"] / product,
            "sums_in_products": one["matrix_and_right_hand_side"] / product}


def figures(report):
    """What a report says of a step, in ms, and of the setup and one operation, in seconds."""
    seconds, steps, solves = report["shares"]["seconds"], report["steps"], report["solves"]
    phases = ("assembly", "product", "preconditioner", "vector_work", "other")
    milliseconds = {phase: 1e3 * seconds[phase] / steps for phase in phases}
    milliseconds["total"] = sum(milliseconds.values())
    product = report["shares"]["one_product_seconds"]
    assembly = seconds["assembly"] / solves["solves"]
    one = report["one_assembly_seconds"]
    parts = report["shares"]["assembly_seconds"]
    return {
        "format": report["format"], "assembly": report["assembly"], "device": report["device"],
        "threads": report["threads"], "steps": steps, "milliseconds_per_step": milliseconds,
        "newton_per_step": report["newton_iterations"] / steps, "iterations_per_step": solves["iterations"] / steps,
        "setup_seconds": sum(report["setup_phases"].values()), "product_seconds": product,
        "assembly_seconds": assembly, "assembly_in_products": assembly / product,
        "assembly_milliseconds_per_step": {part: 1e3 * value / steps for part, value in parts.items()},
        "one_assembly_seconds": one, **alone_in_products(one, product),
        "products_per_setup": report["products_per_setup"], "peak_bytes": report["memory"]["peak_bytes"],
    }


def per_step(run):
    return run["milliseconds_per_step"]["total"]


def medians(values):
    """Of each number by itself, in figures of one shape; words are those of the first."""
    first = values[0]
    if isinstance(first, dict):
        return {key: medians([value[key] for value in values]) for key in first}
    return statistics.median(values) if isinstance(first, (int, float)) else first


def median_run(runs):
    """The repetitions' medians, and their ms of a step."""
    run = dict(medians(runs), repetitions=[per_step(run) for run in runs])
    run["assembly_in_products"] = run["assembly_seconds"] / run["product_seconds"]
    run.update(alone_in_products(run["one_assembly_seconds"], run["product_seconds"]))
    return run


def break_even(extra_seconds, product, csr_product):
    """Equation 14: so many products pay for the extra seconds. None: never."""
    if extra_seconds <= 0:
        return 0.0 if product <= csr_product else None
    return extra_seconds / (csr_product - product) if product < csr_product else None


def add_comparisons(runs, serial):
    by_name = {(run["asked"], run["assembly"]): run for run in runs}
    for run in runs:
        csr = by_name["csr", run["assembly"]]
        times = run["product_seconds"], csr["product_seconds"]
        run["alpha_setup"] = break_even(run["setup_seconds"] - csr["setup_seconds"], *times)
        run["alpha_newton"] = break_even(run["assembly_seconds"] - csr["assembly_seconds"], *times)
        run["speedup_over_csr"] = per_step(csr) / per_step(run)
        if serial:
            run["speedup_over_serial"] = per_step(serial) / per_step(run)


def measure_size(heart, nodes, settings, folder):
    load = os.getloadavg()[0]
    asked = [(form, "in-place", {}) for form in settings.formats]
    asked += [(form, "reference", {}) for form in REFERENCES if form in settings.formats]
    if nodes <= MOST_SERIAL_NODES:
        asked.append(("csr", "reference", {"device": "host", "threads": 1}))
    collected = [[] for _ in asked]
    for repetition in range(settings.repeats):
        turns = list(enumerate(asked))
        for k, (form, assembly, place) in turns if repetition % 2 == 0 else reversed(turns):
            report = heart.run(folder, "--nodes", nodes, "--duration", settings.duration, "--format", form, "--assembly",
                               assembly, **place)
            collected[k].append(dict({"asked": form}, **figures(report)))
    runs = [median_run(run) for run in collected]
    serial = runs.pop() if nodes <= MOST_SERIAL_NODES else None
    add_comparisons(runs, serial)
    facts = {"nodes": report["mesh"]["nodes"], "tetrahedra": report["mesh"]["tetrahedra"], "load_average": load,
             "runs": runs, "serial": serial}
    print(f"{facts['nodes']:,} nodes, {facts['tetrahedra']:,} tetrahedra, ms a step:", flush=True)
    for run in runs + ([serial] if serial else []):
        parts = run["milliseconds_per_step"]
        words = ", ".join(f"{phase.replace('_', ' ')} {parts[phase]:.3g}" for phase in ("assembly", "product", "vector_work"))
        print(f"  {run['asked']:<14}{run['assembly']:<10} {parts['total']:8.4g}  ({words}); an assembly is "
              f"{run['assembly_in_products']:.3g} products by the clock; alone, elements {run['elements_in_products']:.3g}, "
              f"matrix and right-hand side {run['sums_in_products']:.3g}"
              + (", one thread of the host" if run is serial else ""), flush=True)
    return facts


def activation_times(folder):
    from heart_run import Vtu  # needs numpy
    return Vtu(pathlib.Path(folder) / "activation.vtu").on_nodes("activation_ms")


def compare_activation(coarse, fine, until):
    """ms: the largest difference; None where some node is activated in one run alone."""
    reached = coarse >= 0
    if ((fine >= 0) & ~reached & (fine < until)).any() or (reached & (fine < 0)).any() or not reached.any():
        return None
    both = reached & (fine >= 0)
    return float(abs(coarse - fine)[both].max())


def real_time(heart, settings, folder):
    """The longest of the steps that is exact enough, and a beat in it."""
    tried = []
    for step in settings.steps:
        common = ["--nodes", settings.real_time_nodes, "--format", settings.real_time_format]
        beat = heart.run(folder, *common, "--duration", settings.beat, "--dt", step)
        coarse = activation_times(folder)
        wave = min(float(coarse.max()) + MARGIN_MILLISECONDS, settings.beat)
        short = heart.run(folder, *common, "--duration", wave, "--dt", step / 10)
        difference = compare_activation(coarse, activation_times(folder), wave)
        stepping = beat["shares"]["total_seconds"] - beat["shares"]["seconds"]["setup"]
        seconds = stepping - beat["shares"]["seconds"]["output"]
        tried.append({
            "step_milliseconds": step, "difference_milliseconds": difference, "steps": beat["steps"],
            "steps_refused": beat["steps_refused"], "steps_of_a_tenth": short["steps"],
            "activated": beat["activation"]["nodes"], "last_activation_milliseconds": beat["activation"]["last_ms"],
            "seconds": seconds, "output_seconds": beat["shares"]["seconds"]["output"],
            "setup_seconds": beat["shares"]["seconds"]["setup"], "milliseconds_per_step": 1e3 * seconds / beat["steps"],
            "times_real_time": settings.beat * 1e-3 / seconds, "format": beat["format"],
        })
        last = tried[-1]
        words = "some nodes in one run only" if difference is None else f"{difference:.3g} ms"
        print(f"steps of {step:g} ms: activation differs by {words} from a tenth; a beat of {settings.beat:g} ms in "
              f"{seconds:.3g} s, {last['times_real_time']:.3g} times real time", flush=True)
        if difference is not None and difference <= settings.within:
            break
    return {"nodes": beat["mesh"]["nodes"], "beat_milliseconds": settings.beat, "within_milliseconds": settings.within,
            "device": beat["device"], "threads": beat["threads"], "load_average": os.getloadavg()[0], "tried": tried,
            "found": difference is not None and difference <= settings.within}


def eigen(settings, folder):
    """The report of newel_bench_heart."""
    file = pathlib.Path(folder) / "eigen.json"
    words = [settings.eigen, "--duration", f"{settings.duration:g}", "--repeats", "3", "--report", str(file)]
    words += ["--threads", str(settings.threads)] if settings.threads else []
    done = subprocess.run(words, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {shlex.join(words)} ends with {done.returncode}")
    return reports.load(file)


def head(probe):
    """What the measurements were made with, and on what."""
    words = [PROGRAM] + [word.replace(f"{ROOT}/", "") for word in sys.argv[1:]]
    return {**reports.head(PROGRAM), "command": shlex.join(words), "date": measured.today(), "commit": measured.commit(),
            "version": probe["version"], "device": probe["device"], "device_name": probe["device_name"],
            "processor": reports.processor(), "cores": os.cpu_count(), "threads": probe["threads"],
            "load_average": os.getloadavg()[0]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "host" / "bin" / "newel-heart"))
    parser.add_argument("--name", default="host", help="of the file: docs/results/heart_NAME.json")
    parser.add_argument("--device", default="auto", help="auto, host, cuda or cuda:N")
    parser.add_argument("--threads", type=int, default=0, help="of the host; default all")
    parser.add_argument("--sizes", type=int, nargs="*", help="nodes; default 3000 5000 30000 50000, 1000000 too on a device")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS))
    parser.add_argument("--duration", type=float, default=60, help="ms that a run simulates")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--eigen", nargs="?", const=str(ROOT / "build" / "host" / "bin" / "newel_bench_heart"),
                        help="run this newel_bench_heart too")
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--real-time-nodes", type=int, default=30000)
    parser.add_argument("--real-time-format", default="auto")
    parser.add_argument("--beat", type=float, default=400, help="ms")
    parser.add_argument("--steps", type=float, nargs="+", default=list(STEPS), help="ms, from the longest on")
    parser.add_argument("--within", type=float, default=1, help="ms")
    settings = parser.parse_args()
    if "csr" not in settings.formats:
        parser.error("--formats without csr: what would they be compared with?")
    return settings


def main():
    settings = parse()
    if settings.real_time:
        try:
            import numpy  # noqa: F401  # better now than after the runs
        except ImportError:
            sys.exit("error: --real-time reads activation.vtu with numpy, which is not there")
    file = measured.RESULTS / f"heart_{settings.name}.json"
    heart = Heart(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    document = reports.load(file) if file.exists() else reports.head(PROGRAM)

    def keep():  # after each measurement: a run that is cut short leaves what it has
        measured.write(file, document)

    with tempfile.TemporaryDirectory() as folder:
        probe = heart.run(folder, "--nodes", 300, "--duration", 0.5)
        sizes = settings.sizes
        if sizes is None:
            sizes = HOST_SIZES if probe["device"] == "host" else DEVICE_SIZES
        if sizes:
            document.update(head(probe), duration_milliseconds=settings.duration, repeats=settings.repeats)
        known = {size["nodes"]: size for size in document.get("sizes", [])}
        for nodes in sizes:
            size = measure_size(heart, nodes, settings, folder)
            known[size["nodes"]] = size
            document["sizes"] = [known[nodes] for nodes in sorted(known)]
            keep()
        for name, wanted, measure in (("eigen", settings.eigen, lambda: eigen(settings, folder)),
                                      ("real_time", settings.real_time, lambda: real_time(heart, settings, folder))):
            if wanted:
                document[name] = {**head(probe), **measure()}
                keep()
    print(f"written: {file.relative_to(ROOT)}; bench/pages/write_all.py shows it")


if __name__ == "__main__":
    main()
