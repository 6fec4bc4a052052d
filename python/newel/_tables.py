# SPDX-License-Identifier: Apache-2.0
"""The names that options take."""

from __future__ import annotations

from . import _core


def solvers() -> list[str]:
    """The values of ``solver=``."""
    return ["auto", *_core.solvers()]


def preconditioners() -> list[str]:
    """The values of ``preconditioner=`` that are names."""
    return ["auto", "none", *_core.preconditioners()]


def formats() -> list[str]:
    """The values of ``format=``."""
    return ["auto", "measure", *_core.formats()]


def preconditioner_options() -> dict[str, object]:
    """What ``options=`` may hold of preconditioners, with the defaults."""
    return dict(_core.preconditioner_options())


def solver_options() -> dict[str, object]:
    """What ``options=`` may hold of solvers, with the defaults; a ``restart`` of 0 is the method's own."""
    return dict(_core.solver_options())


def devices() -> list[str]:
    """The names of the CUDA devices that Newel can use, the one of ``device="cuda:0"`` first.

    None where there is no GPU or no driver for it, and in a build without CUDA.
    """
    return list(_core.device_names()) if _core.has_cuda else []
