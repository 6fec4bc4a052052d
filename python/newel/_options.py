# SPDX-License-Identifier: Apache-2.0
"""Options of preconditioners and solvers: checks for unknown names, and for options without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._choices import a_name, shown
from ._keywords import likely
from ._warn import warn


def check_options(options: Any) -> dict[str, Any]:
    """The options as a dictionary; ValueError for an unknown name. The library checks the values."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"options: expected a mapping from names to values, found {shown(options)}")
    known = {**_core.preconditioner_options(), **_core.solver_options()}
    for key in options:
        if not isinstance(key, str):
            raise TypeError(f"options: expected names as keys, found {shown(key)}")
        if key not in known:
            meant = likely(key, known)
            raise ValueError(f"options: there is no option {key}; "
                             + (f"did you mean {meant!r}?" if meant else "expected one of: " + ", ".join(known)))
    return dict(options)


def warn_of_unused(choices: Mapping[str, Any], preconditioner: Any) -> None:
    """Warn of options that belong to another preconditioner or solver than the named one.

    Parameters
    ----------
    choices : the arguments of a Solver.
    preconditioner : as given: a name, None or an operator.
    """
    if isinstance(preconditioner, str):
        name = a_name(preconditioner, "preconditioner")
    else:
        name = "none" if preconditioner is None else "your own"
    given = [key for key in ("coordinates", "near_null_space", "constraints", "mass") if choices[key] is not None]
    of_solvers = _core.solver_option_owners()
    for key in (*choices["options"], *given):
        if key in of_solvers:
            _warn_of_solver(key, of_solvers[key], choices["solver"], "options: ")
            continue
        owners = _core.option_owners().get(key)
        if owners is None:
            continue  # of the system, whatever solves it
        if not _is_one_of(name, [*owners, "auto"]):
            where = "" if key in given else "options: "
            warn(f"{where}{key} has no effect: it belongs to the preconditioner {' or '.join(owners)}, and this is "
                 f"{name}", UserWarning)
    if choices["restart"] is not None:
        _warn_of_solver("restart", of_solvers["restart"], choices["solver"], "")


def _warn_of_solver(key: str, owners: list[str], solver: str, where: str) -> None:
    if not _is_one_of(solver, [*owners, "auto"]):
        warn(f"{where}{key} has no effect: it belongs to the solver {' or '.join(owners)}, and this is {solver}",
             UserWarning)


def _is_one_of(name: str, names: list[str]) -> bool:
    return any(_core.same_name(name, one) for one in names)
