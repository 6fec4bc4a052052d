#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes results in the compact form of docs/results: without the figures that no page, script or test reads, six digits a
number, a line for each system or run.

    bench/compact_results.py [FILE...] [--from FULL]     rewrites the files, by default all of docs/results;
                                                         --from: writes the full report FULL to the one FILE

A file that is larger than a megabyte even so is gzipped: FILE.json becomes FILE.json.gz.
"""
import argparse
import decimal
import fnmatch
import gzip
import json
import pathlib
import sys

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results"
sys.path.append(str(RESULTS.parent.parent / "scripts"))

import reports  # noqa: E402

DIGITS = 6
MOST_BYTES = 1_000_000  # of a file that is not gzipped

SPMV = """samples refresh bytes figures order format_phases plan_phases detail cold.milliseconds.min cold.milliseconds.max
    stored_slots built cached_share cols block setup_seconds.plan setup_seconds.permute setup_seconds.format"""
# Of products of which a page quotes nothing but their times.
TIMES = SPMV + """ cold setup_seconds refresh_in_products setup_in_products bytes_per_product gflops percent_of_copy
    percent_of_csr_roofline formats.gigabytes_per_second padding beta code_balance p_max_gflops error_in_bounds break_even
    same_as"""
SOLVE = "samples setup_phases detail recurrence_relative_residual iteration_speedup floor_bytes precond_bytes"
AMG = """samples solves.setup_seconds levels amg.setup_seconds amg.detail min max first_setup_milliseconds amg.bytes
    true_residual"""
END = "status reason wrong resident true_relative_residual refused converged iterations seconds"
REGRET = ("samples setup.seconds.min setup.seconds.max solve.seconds.min solve.seconds.max first_solve refresh "
    "combinations.uses systems.precision systems.tolerance model.resident "
          + " ".join(f"combinations.{name}" for name in "status reason wrong resident true_relative_residual".split())
          + " " + " ".join(f"auto.{name}" for name in (END + " solves").split())
          + " " + " ".join(f"usual.{name}" for name in "status reason wrong resident true_relative_residual iterations "
                                                 "solver precond setup_seconds solve_seconds".split()))
# Names of what is left out, at any depth, by the names of files: the first pattern that fits counts.
UNREAD = {
    "amg_meshes_*": AMG + " cycle refresh first_setup_milliseconds setup_milliseconds",
    "amg_rivals_*": "first_setup_seconds solve_seconds_min operator_complexity alloc levels where device_bytes_high",
    "amg_host*": "smoothers.operator_complexity smoothers.precond smoothers.solver",
    "amg_*": AMG,
    "columns_*": TIMES + " columns.milliseconds plan_phases geometric_means speedup",
    "csr_*": TIMES + " columns",
    "bodies_*": TIMES + " columns",
    "spmv_*": SPMV + " columns geometric_means.systems geometric_means.of",
    "iterations_*": SOLVE + " solve product_bytes floor_milliseconds percent_of_floor solve_speedup setup_seconds",
    "solve_*": SOLVE,
    "mixed_host*": SOLVE,
    "mixed_auto_*": "rounds changed true_relative_residual ratio",
    "regret_flow*": REGRET + " combinations model",
    "regret_*": REGRET,
    "preconditioners_host*": "runs.reason runs.setup runs.total",
    "preconditioners_*": "command_line",
    "gpus_*": "samples",
    "large_*": "timeline history operators.preconditioner format_trials candidates unused_options setup_phases",
    "matrices*": "attempts said_true_residual matrices.newel.cg.reason matrices.newel.bicgstab.reason seconds command_seconds "
                 "exit message matrices.newel.gmres.reason matrices.newel.auto.reason empty_rows",
    "heart_*": "assembly_milliseconds_per_step serial elements_in_products iterations_per_step newton_per_step peak_bytes "
               "runs.format runs.device runs.threads runs.steps samples last_activation_milliseconds output_seconds "
               "steps_of_a_tenth steps_refused activated eigen_over_newel_csr format_reason largest_voltage_difference",
    "host_*": "samples relative_difference newel_gigabytes_per_second least_bytes",
    "device_tests*": "",
    "device_*": "samples other_solvers cusparse_alg1 cusparse_alg2 least_bytes newel_alg1.gigabytes_per_second "
                "newel_alg2.gigabytes_per_second",
    "reader_*": "all newel_csr_processor_seconds fast_matrix_market_coo_processor_seconds results.rows.rows",
    "beat_*": "",
}


def rules_of(name):
    for pattern, paths in UNREAD.items():
        if fnmatch.fnmatch(name, pattern):
            return {tuple(path.split(".")) for path in paths.split()}
    return set()


def shortened(value):
    """Six digits. The last one is cut off so that a page which prints fewer rounds as from all digits: where something is
    cut, 0 and 5 become 1 and 6."""
    exact = decimal.Decimal(repr(value))
    if not exact or not exact.is_finite():
        return value
    step = decimal.Decimal(1).scaleb(exact.adjusted() - DIGITS + 1)
    short = exact.quantize(step, decimal.ROUND_DOWN)
    if short != exact and short.as_tuple().digits[-1] in (0, 5):
        short += step.copy_sign(exact)
    return float(short)


def kept(value, rules, path=()):
    if isinstance(value, dict):
        paths = {key: (*path, key) for key in value}
        return {key: kept(value[key], rules, to) for key, to in paths.items()
                if not any(to[-length:] in rules for length in range(1, len(to) + 1))}
    if isinstance(value, list):
        return [kept(one, rules, path) for one in value]
    return shortened(value) if isinstance(value, float) else value


def text(report):
    """JSON with a line for each entry, and for each system or run."""
    def short(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def entry(value):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n" + ",\n".join(map(short, value)) + "\n]"
        return short(value)

    return "{\n" + ",\n".join(f"{short(key)}:{entry(value)}" for key, value in report.items()) + "\n}\n"


def write(path, report):
    """Writes a report as FILE.json in the compact form."""
    path = pathlib.Path(path)
    name = path.name.removesuffix(".gz").removesuffix(".json")
    plain = path.with_name(name + ".json")
    content = text(kept(report, rules_of(name))).encode()
    path, other = plain, plain.with_name(name + ".json.gz")
    if len(content) > MOST_BYTES:
        path, other, content = other, path, gzip.compress(content, mtime=0)
    path.write_bytes(content)
    other.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--from", dest="full", metavar="FULL")
    arguments = parser.parse_args()
    for path in arguments.files or sorted(RESULTS.glob("*.json*")):
        write(path, reports.load(arguments.full or path))


if __name__ == "__main__":
    main()
