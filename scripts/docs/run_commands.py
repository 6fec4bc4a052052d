#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that pages show, in ```console blocks, and compares what they print with what the pages say.

    run_commands.py BIN PAGE...            BIN: the folder of the programs; ends with 1 where something differs
    run_commands.py --update BIN PAGE...   writes what was printed into the pages, but for times if a line says the same

A line "$ COMMAND" begins a command, and what follows up to the next one or the end of the block is its output. All
commands of a page run one after the other in one new folder, which has links to the repository's apps, examples and
scripts, with two threads and without a GPU. They end with 0, or with the number in a comment "# ends with N" behind the
command. What is compared are the words. Figures of time and memory may differ, whole numbers by a seventh, others by a
factor of ten, those below 1e-6 of a hundred. Of lines on what the cost model chose for the machine only those on phases
and on the system are compared: the phases that take more than a fifth have to be there, and the method."""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
# A figure that the machine decides: a time, a size, a rate, a load.
MACHINE = re.compile(
    rf"{NUMBER} ?(?:ns|us|µs|ms|s|min|h|B|kB|MB|GB|GB/s|MB/s)(?![\w/])"
    rf"|{NUMBER} times (?:faster|slower)|(?<=matrix as )[\w:-]+"
)
# What depends on the processor: choices by its cost model, phases that are shown where they take a while, progress.
CHOSEN = re.compile(r"^ *(seconds|changed|format|measured|shares|setup|start) |\((?:estimated|a cost model)\)| left  ")
# Lines that list phases with their times or shares, the longest first; and the line on the system, up to the format.
PHASES = re.compile(r"^  (seconds|shares|start) .*")
PHASE = re.compile(rf"([a-z][a-z -]*) ({NUMBER}) ?(us|ms|s|%)")
SYSTEM = re.compile(r"^  (?:system|setup) .*?(?: as |:)")
# What a solve had done when its time was over.
CUT_SHORT = re.compile(r"(\((?:time_limit|stopped_by_caller)\) after) [\d,]+ iterations?")
TOKEN = re.compile(rf"(?<![\w.]){NUMBER}(?![\w])")


def commands_of(block):
    """Pairs of a command and its output, as lines."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise ValueError(f"a console block begins with '$ COMMAND', not with {line!r}")
        else:
            found[-1][1].append(line)
    return found


def run(command, folder, programs):
    """What the command prints, as lines without blanks at their ends. Ends the script where its status is another."""
    expected = int(match.group(1)) if (match := re.search(r"# ends with (\d+)", command)) else 0
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "118",
        "OMP_NUM_THREADS": "2",
        "CUDA_VISIBLE_DEVICES": "",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != expected:
        sys.exit(f"'{command}' ended with {done.returncode} instead of {expected}:\n{done.stdout}")
    return [line.rstrip() for line in done.stdout.splitlines()]


def value(token):
    return float(token.replace(",", ""))


def alike(shown, printed):
    """Whether two lines say the same but for figures that vary."""
    shown, printed = (MACHINE.sub("#", CUT_SHORT.sub(r"\1 #", " ".join(line.split()))) for line in (shown, printed))
    if TOKEN.sub("%", shown) != TOKEN.sub("%", printed):
        return False
    for one, other in zip(TOKEN.findall(shown), TOKEN.findall(printed)):
        a, b = value(one), value(other)
        whole = one.replace(",", "").isdigit() and other.replace(",", "").isdigit()
        if whole and abs(a - b) > max(2, 0.15 * max(a, b)):
            return False
        factor = 10 if max(abs(a), abs(b)) > 1e-6 else 100  # what rounding leaves varies more
        if not whole and not (a == b or (a * b > 0 and 1 / factor < a / b < factor)):
            return False
    return True


def renewed_lines(shown, printed):
    """What was printed; if it has as many lines as are shown, those that differ in times alone are kept."""
    if len(shown) != len(printed):
        return printed
    same = [MACHINE.sub("#", old) == MACHINE.sub("#", new) for old, new in zip(shown, printed)]
    return [old if kept else new for kept, old, new in zip(same, shown, printed)]


def phases(line):
    """What a line lists, with its time in seconds or its share."""
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "%": 1.0}
    listed = line.partition(":")[2] if ":" in line else line.split(maxsplit=1)[1]
    found = filter(None, map(PHASE.match, listed.strip().split(", ")))
    return {match[1]: value(match[2]) * unit[match[3]] for match in found}


def long_phases(line):
    """The phases that take more than a fifth of those that a line lists."""
    found = phases(line)
    return {name for name, time in found.items() if time > sum(found.values()) / 5}


def same_phases(shown, printed):
    """Whether lists of phases have the same labels, and the long ones of the page are still phases."""
    shown, printed = ([line for line in lines if PHASES.match(line)] for lines in (shown, printed))
    labels = [[PHASES.match(line)[1] for line in lines] for lines in (shown, printed)]
    return labels[0] == labels[1] and all(
        long_phases(a) <= phases(b).keys() for a, b in zip(shown, printed))


def same_systems(shown, printed):
    shown, printed = ([match[0] for line in lines if (match := SYSTEM.match(line))] for lines in (shown, printed))
    return len(shown) == len(printed) and all(alike(a, b) for a, b in zip(shown, printed))


def same_output(shown, printed):
    if not same_phases(shown, printed) or not same_systems(shown, printed):
        return False
    shown, printed = ([line for line in lines if not CHOSEN.search(line)] for lines in (shown, printed))
    return len(shown) == len(printed) and all(alike(a, b) for a, b in zip(shown, printed))


def work_through(page, programs, update):
    """Runs a page; returns how many commands it has, and what differs."""
    text, differences, count = page.read_text(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("apps", "examples", "scripts"):
            os.symlink(ROOT / name, pathlib.Path(folder) / name)

        def renewed(match):
            nonlocal count
            lines = []
            for command, shown in commands_of(match.group(1)):
                count += 1
                printed = run(command, folder, programs)
                if not same_output(shown, printed):
                    differences.append(
                        f"{page.name}: {command}\n"
                        + "\n".join(difflib.unified_diff(shown, printed, "in the page", "printed", lineterm=""))
                    )
                lines += [f"$ {command}", *renewed_lines(shown, printed)]
            return "```console\n" + "\n".join(lines) + "\n```"

        text = BLOCK.sub(renewed, text)
    if update:
        page.write_text(text)
    return count, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write what was printed into the pages")
    parser.add_argument("programs", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    failed = False
    for page in options.pages:
        count, differences = work_through(page, options.programs.resolve(), options.update)
        print(f"{page.name}: {count} commands, {len(differences)} differ")
        if not options.update and differences:
            failed = True
            print("\n".join(differences))
        if count == 0:
            sys.exit(f"{page}: no ```console block")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
