# SPDX-License-Identifier: Apache-2.0
"""Types: a program that uses every public name passes mypy --strict, and every public function has types."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import newel

PROGRAM = Path(__file__).with_name("typed_program.py")


def public_functions():
    for name in newel.__all__:
        thing = getattr(newel, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and thing.__module__ != "newel._core":
            for owner in thing.__mro__:
                if owner.__module__.startswith("newel"):
                    for member, value in vars(owner).items():
                        value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                        if inspect.isfunction(value) and (not member.startswith("_") or member == "__init__"):
                            yield f"{name}.{member}", value


def test_every_public_function_has_types():
    missing = []
    for name, function in public_functions():
        signature = inspect.signature(function)
        missing += [f"{name}({p.name})" for p in signature.parameters.values()
                    if p.annotation is p.empty and p.name not in ("self", "cls")]
        if signature.return_annotation is signature.empty:
            missing.append(f"{name} -> ?")
    assert not missing


def test_the_program_uses_every_public_name():
    used = set(re.findall(r"\bnewel\.(\w+)", PROGRAM.read_text()))
    assert used >= set(newel.__all__)


def mypy(path, *arguments):
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null", *arguments, str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent)


def test_a_program_passes_the_strict_check():
    result = mypy(PROGRAM)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name, needed", [("torch", "torch"), ("jax", "newel.jax")])
def test_a_program_that_differentiates_passes_the_strict_check(name, needed):
    pytest.importorskip(needed)
    result = mypy(PROGRAM.with_name(f"typed_{name}_program.py"))
    assert result.returncode == 0, result.stdout + result.stderr


def test_mistakes_in_a_program_are_found(tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text("import numpy as np\nimport newel\nb = np.ones(3)\n"
                       "x, report = newel.solve(None, b, maxiter=3)\n"
                       "print(report.convergd)\n"
                       "y, info = newel.cg(None, b, tol=1)\n"
                       "newel.Solver(None, precond='amg')\n")
    result = mypy(program)
    lines = [int(found) for found in re.findall(r"wrong\.py:(\d+): error", result.stdout)]
    assert {4, 6, 7} <= set(lines), result.stdout


def test_the_keywords_of_solve_are_those_of_a_solver():
    source = (Path(newel.__file__).parent / "_typing.py").read_text()
    names = re.findall(r"^    (\w+): ", source, re.MULTILINE)
    taken = list(inspect.signature(newel.Solver).parameters)
    # One solve has no earlier one to begin from: its guess is x0, and there is nothing to recycle.
    assert names == [name for name in taken if name not in ("A", "rtol", "guess", "recycle")]
