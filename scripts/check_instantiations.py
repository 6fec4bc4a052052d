#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds templates that one source of the library defines and another uses without an explicit instantiation.

    check_instantiations.py [--jobs N] [CMAKE_CHOICE...]     N compilers at once, as many as processors by default

Whether a program that uses such a template links is up to the optimiser: the defining source may have inlined all its
own uses and keep no copy. Here clang++ says what each source defines for others (strong or weak_odr, an explicit
instantiation), what it defines for itself (linkonce_odr), and what it expects elsewhere. Host only, not linked, nothing
is optimised. Ends with 1 where something is missing, and with 77 without clang++."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINKAGE = r"(?P<linkage>internal |private |linkonce_odr |weak_odr )?"
# A function, or a second name of one, as constructors have it.
DEFINED = re.compile(rf"^define {LINKAGE}.*? @(?P<name>_Z[\w.$]+)\(|^@(?P<alias>_Z[\w.$]+) = (?P<of>\w+ ).*\balias ", re.MULTILINE)
EXPECTED = re.compile(r"^declare .*? @(?P<name>_Z\w*5newel[\w.$]*)\(", re.MULTILINE)
CHOICES = ["-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DNEWEL_UNITY=OFF", "-DNEWEL_CUDA=OFF",
           "-DNEWEL_FORTRAN=OFF", *(f"-DNEWEL_BUILD_{part}=OFF" for part in ("APPS", "EXAMPLES", "TESTS", "BENCHMARKS"))]


def symbols(text):
    """Of LLVM's text of a source: the names that it defines for all, those that it defines for itself, and those that
    it expects elsewhere."""
    for_all, for_itself = set(), set()
    for found in DEFINED.finditer(text):
        linkage = (found["linkage"] or found["of"] or "").strip()
        if linkage not in ("internal", "private"):
            (for_itself if linkage == "linkonce_odr" else for_all).add(found["name"] or found["alias"])
    return for_all, for_itself, {found["name"] for found in EXPECTED.finditer(text)}


def compiled(entry):
    """What clang++ makes of a source without optimising it, as text; from ccache if it has been made before."""
    words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
    words = words[words.index("clang++") if "clang++" in words else [w.endswith("/clang++") for w in words].index(True):]
    del words[words.index("-o"):words.index("-o") + 2]
    words = [word for word in words if word != "-c" and not re.fullmatch(r"-O.|-g.*", word)]
    cache = [ccache] if (ccache := shutil.which("ccache")) else []
    with tempfile.NamedTemporaryFile(suffix=".ll") as made:
        subprocess.run([*cache, *words, "-w", "-O0", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o", made.name],
                       cwd=entry["directory"], check=True)
        return pathlib.Path(made.name).read_text(encoding="utf-8")


def missing(sources):
    """Lines on what is expected and defined for all nowhere, of a dictionary from sources to their symbols."""
    for_all = set().union(*(found[0] for found in sources.values()))
    lines = []
    for name in sorted(set().union(*(found[2] for found in sources.values())) - for_all):
        users = [source for source, found in sources.items() if name in found[2]]
        definers = [source for source, found in sources.items() if name in found[1]]
        shown = subprocess.run(["c++filt", name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        lines.append(f"{shown}\n  used by {', '.join(users)}\n  defined by {', '.join(definers) or 'no source'}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options, choices = parser.parse_known_args()
    if not shutil.which("clang++"):
        print("clang++ was not found: nothing is checked")
        sys.exit(77)
    build = ROOT / "build" / "instantiations"  # always the same, for ccache
    subprocess.run(["cmake", "-S", ROOT, "-B", build, *CHOICES, *choices], stdout=subprocess.DEVNULL, check=True)
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda entry: symbols(compiled(entry)), entries)
        sources = {os.path.relpath(entry["file"], ROOT): names for entry, names in zip(entries, found)}
    lines = missing(sources)
    print(*lines, f"{len(sources)} sources, {len(lines)} templates without the instantiation that another source needs",
          sep="\n")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
