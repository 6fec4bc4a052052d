#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solves random small systems through the interfaces and judges every statement of the reports in exact arithmetic.

    scripts/check_statements.py --build build/host --python build/python/venv/bin/python [--systems 50000]

The systems are singular or not, consistent or not, graded, scaled from 1e-300 to 1e300, with zero rows and empty
columns; options are random too (statements/cases.py, statements/families.py). A system is what its seed says, and goes
through one interface of its own, so that a run is the same wherever the same interfaces are there; those that are not
are left out with a message. With `--through NAME` all systems go through that interface. With `--plain` nothing is chosen
in any of them, and a system whose condition number is below 1e12 has to be solved, too. One line for each false
statement, with the command that repeats it; then a summary. The exit status is 1 if there was any, but for kinds that
--open names, which are known and counted only. `--seed N` runs one system, and writes its files with --save FOLDER.
"""

import argparse
import collections
import multiprocessing
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from statements.cases import INTERFACES, Case  # noqa: E402
from statements.command import Command  # noqa: E402
from statements.drivers import Driver, Silence  # noqa: E402
from statements.judge import Judge  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", help="a build folder with tests: programs for command, c, cpp and fortran")
    parser.add_argument("--python", help="an interpreter with the package, for python")
    parser.add_argument("--interfaces", help="a list with commas, default: all that are there")
    parser.add_argument("--through", metavar="NAME", help="solve all through this interface, also those of others")
    parser.add_argument("--plain", action="store_true", help="default options only; well-conditioned systems converge")
    parser.add_argument("--systems", type=int, default=50000)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this system")
    parser.add_argument("--save", metavar="FOLDER", help="with --seed: write A.mtx, b.mtx and x0.mtx, print a command")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=60, help="seconds for a system, then it counts as a hang")
    parser.add_argument("--open", metavar="FILE", help="kinds that are known to occur, one a line; # begins a remark")
    parser.add_argument("--most", type=int, default=200, help="lines of false statements that are printed")
    return parser.parse_args()


def programs(options):
    """{interface: command}"""
    found = {}
    if options.build:
        folder = os.path.join(os.path.abspath(options.build), "bin")
        for interface, name in (("command", "newel"), ("c", "newel_drive_c"), ("cpp", "newel_drive_cpp"),
                                ("fortran", "newel_drive_fortran")):
            if os.access(os.path.join(folder, name), os.X_OK):
                found[interface] = [os.path.join(folder, name)]
    if options.python:
        python = options.python if os.sep not in options.python else os.path.abspath(options.python)
        found["python"] = [python, os.path.join(HERE, "statements", "drive_package.py")]
    if options.through:
        options.interfaces = options.through
    wanted = options.interfaces.split(",") if options.interfaces else list(INTERFACES)
    for interface in wanted:
        if interface not in found:
            if options.interfaces:
                sys.exit(f"check_statements.py: the interface {interface} is not there: see --build and --python")
            print(f"left out, because it is not there: {interface}")
    return {interface: found[interface] for interface in INTERFACES if interface in wanted and interface in found}


class Worker:
    """What a process keeps from case to case."""

    drivers = {}
    through = None
    plain = False

    @classmethod
    def start(cls, found, limit, through, plain):
        cls.through, cls.plain = through, plain
        cls.drivers = {name: Command(command[0], limit) if name == "command" else Driver(command, limit)
                       for name, command in found.items()}

    @classmethod
    def check(cls, seed):
        """(seed, interface, family, status of each answer, [(kind, detail)]); interface None: not for any of ours."""
        case = Case(seed, cls.through, cls.plain)
        if case.interface not in cls.drivers:
            return seed, None, case.family, [], []
        try:
            answers = cls.drivers[case.interface].answers(case)
        except Silence as silence:
            return seed, case.interface, case.family, [], [("crash or hang", str(silence))]
        try:
            wrong = Judge(case).judge(answers)
        except Exception as error:
            raise RuntimeError(f"the judge fails on system {seed}") from error
        statuses = [r.get("status", "converged" if r.get("converged") else "not converged")
                    for a in answers for r in a.reports if a.code in (0, 1, 9)]
        statuses += ["refused" for a in answers if a.code not in (0, 1, 9)]
        return seed, case.interface, case.family, statuses, wrong


def repeat_command(options, seed):
    words = ["scripts/check_statements.py"]
    words += ["--build", options.build] if options.build else []
    words += ["--python", options.python] if options.python else []
    words += ["--through", options.through] if options.through else []
    words += ["--plain"] if options.plain else []
    return " ".join(words + ["--seed", str(seed)])


def open_kinds(path):
    if not path:
        return set()
    with open(path, encoding="utf-8") as lines:
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def save(case, folder):
    """The files of each round, and the command for the command line, whatever the interface of the case."""
    for number in range(len(case.rounds)):
        target = folder if len(case.rounds) == 1 else os.path.join(folder, str(number))
        os.makedirs(target, exist_ok=True)
        command = Command("newel", 60)
        print(f"cd {target}; newel", " ".join(w for w in command.arguments(case, number, target) if w != "--quiet"))
        command.close()


def main():
    options = arguments()
    found = programs(options)
    seeds = range(options.first, options.first + options.systems)
    if options.seed is not None:
        seeds, options.jobs = [options.seed], 1
        case = Case(options.seed, options.through, options.plain)
        print(f"{case.family}, {case.n} unknowns, {case.columns} columns, {len(case.rounds)} rounds, form {case.form}, "
              f"through {case.interface}: {case.options}")
        if options.save:
            save(case, options.save)
    began = time.monotonic()
    solved, statuses, kinds, examples = (collections.Counter() for _ in range(4))
    with multiprocessing.Pool(options.jobs, Worker.start, (found, options.limit, options.through,
                                                            options.plain)) as pool:
        for seed, interface, family, ended, wrong in pool.imap_unordered(Worker.check, seeds, chunksize=20):
            if interface is None:
                continue
            solved[interface] += 1
            statuses.update(ended)
            for kind, detail in wrong:
                kinds[kind] += 1
                if sum(kinds.values()) <= options.most or kinds[kind] <= 3:
                    print(f"{seed} {interface} {family}: {kind}{': ' + detail if detail else ''}\n"
                          f"    {repeat_command(options, seed)}", flush=True)
        pool.close()
        pool.join()
    print(f"{sum(solved.values())} systems in {time.monotonic() - began:.0f} s:",
          ", ".join(f"{count} through {name}" for name, count in sorted(solved.items())))
    print("statuses:", ", ".join(f"{count} {name}" for name, count in statuses.most_common()))
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    known = open_kinds(options.open)
    new = sum(count for kind, count in kinds.items() if kind not in known)
    print(f"{sum(kinds.values())} false statements" + (f", {new} of them of kinds that are not open" if known else ""))
    if not solved:
        sys.exit("check_statements.py: nothing was checked")
    sys.exit(1 if new else 0)


if __name__ == "__main__":
    main()
