# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/tutorial-transient.md: time loops whose solves begin in several ways, as newel_bench_sequence measures
them."""
from page import RESULTS, link, load, place, row, write_parts

PROBLEMS = ("heat", "elastodynamics")
MACHINES = ("h200", "host")


def runs():
    names = [f"sequence_{problem}_{machine}" for machine in MACHINES for problem in PROBLEMS]
    return [(name, load(name)) for name in names if (RESULTS / f"{name}.json").exists()]


def table_of(measured):
    heads = [f"{run['problem']}, {place(run)}" for _, run in measured]
    lines = [row(["guess", *heads]), "|---|" + "---:|" * len(heads)]
    for k, guess in enumerate(measured[0][1]["guesses"]):
        cells = [f"{run['guesses'][k]['iterations_ratio']:.2f}, {run['guesses'][k]['seconds_ratio']:.2f}" for _, run in measured]
        lines.append(row([f"`{guess['guess']}`", *cells]))
    return lines


def write():
    measured = runs()
    if not measured:
        return
    said = "; ".join(f"`{run['command']}` ({link(name + '.json')})" for name, run in measured)
    first = measured[0][1]
    write_parts("tutorial-transient.md", "sequence_tables.py", {"sequence": [
        f"Iterations, and time with the guess, over those of a loop whose solves start from the last state, after the first "
        f"{first['steps_left_out']} of {first['steps']} steps:", "", *table_of(measured), "", f"Measured by {said}."]})


if __name__ == "__main__":
    write()
