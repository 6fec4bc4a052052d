# SPDX-License-Identifier: Apache-2.0
"""Run SciPy's own tests of its iterative solvers with cg, minres, bicgstab and gmres of this package in their place.

    python scipys_iterative_tests.py

It prints each difference with its reason, and fails where the table below is not what differs: a test that fails and is
not in it, or one that is in it and passes. The file of tests is that of the SciPy that is installed;
test_scipy_iterative.py runs it with the tests of the package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

# Regular expressions for names of tests, every one of which differs, and the reason.
DIFFERENCES = {
    r".*\[(rand-cmplx.*|nonsymposdef-F)-(bicgstab|cg|gmres)\]": "complex systems are refused",
    r"test_abi": "complex systems are refused",
    r"test_callback": "GMRES is preconditioned from the right: its callback gets the residual of the system",
    r"test_precond_inverse\[poisson.d\]": "expects at most 3 products. BiCGStab takes 4: two in its iteration, which "
    "does not end halfway, one for the residual of the x that is returned, one to estimate the rounding of it",
}

# Tests that compare rounding with an exact 0: they end either way, as the processor rounds.
ROUNDING = {
    r"test_defective_precond_breakdown": "expects exactly 0 in an entry of x that comes out as 3e-32",
}

# Tests of solvers that this package does not have.
NOT_OURS = "not test_show and not TestQMR"


def rewritten(source: str) -> str:
    """The file of tests with this package's solvers."""
    source, count = re.subn(r"^_SOLVERS = \[.*?\]$", "from newel import bicgstab, cg, gmres, minres\n"
                            "_SOLVERS = [bicgstab, cg, gmres, minres]", source, flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        raise SystemExit("SciPy's file has no list _SOLVERS any more: adapt this script")
    return source


def rewritten_minres(source: str) -> str:
    """The file of tests of minres with this package's."""
    theirs = "from scipy.sparse.linalg._isolve import minres"
    if source.count(theirs) != 1:
        raise SystemExit("SciPy's file does not import minres as it did: adapt this script")
    return source.replace(theirs, "from newel import minres")


def outcomes() -> dict[str, tuple[str, str]]:
    """By name of a test: "passed", "failed" or "skipped", and the first line of what it says."""
    import scipy.sparse.linalg._isolve as isolve

    tests = Path(isolve.__file__).parent / "tests"
    files = {"test_iterative.py": rewritten, "test_minres.py": rewritten_minres}
    for name in files:
        if not (tests / name).exists():
            raise FileNotFoundError(tests / name)
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record.xml")
        for name, rewrite in files.items():
            Path(folder, name).write_text(rewrite((tests / name).read_text()))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", NOT_OURS, f"--junitxml={record}",
                   "-W", "ignore", "-W", "ignore::pytest.PytestUnknownMarkWarning", "--rootdir", folder,
                   *(str(Path(folder, name)) for name in files)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if not record.exists():
            raise SystemExit(run.stdout + run.stderr)
        return {case.get("name"): _outcome(case) for case in ElementTree.parse(record).iter("testcase")}


def _outcome(case: ElementTree.Element) -> tuple[str, str]:
    for kind, word in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        found = case.find(kind)
        if found is not None:
            return word, (found.get("message") or "").splitlines()[0][:150]
    return "passed", ""


def changes(found: dict[str, tuple[str, str]]) -> list[str]:
    """In what the list of differences is wrong."""
    wrong = []
    for name, (word, message) in found.items():
        reasons = [reason for pattern, reason in DIFFERENCES.items() if re.fullmatch(pattern, name)]
        if any(re.fullmatch(pattern, name) for pattern in ROUNDING):
            continue
        if word == "failed" and not reasons:
            wrong.append(f"{name} fails and is not in the table: {message}")
        if word == "passed" and reasons:
            wrong.append(f"{name} passes and is in the table: {reasons[0]}")
    for pattern in (*DIFFERENCES, *ROUNDING):
        if not any(re.fullmatch(pattern, name) for name in found):
            wrong.append(f"there is no test {pattern}")
    return wrong


def main() -> int:
    import scipy

    found = outcomes()
    for pattern, reason in (DIFFERENCES | ROUNDING).items():
        count = sum(re.fullmatch(pattern, name) is not None and found[name][0] == "failed" for name in found)
        print(f"{count:3} {pattern}: {reason}")
    words = [word for word, _ in found.values()]
    print(f"SciPy {scipy.__version__}: {words.count('passed')} of {len(words)} tests pass, {words.count('failed')} differ, "
          f"{words.count('skipped')} are skipped")
    wrong = changes(found)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
