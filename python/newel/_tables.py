# SPDX-License-Identifier: Apache-2.0
"""The valid names of options."""

from __future__ import annotations

from . import _core


def solvers() -> list[str]:
    """The values of ``solver=``."""
    return ["auto", *_core.solvers()]


def preconditioners() -> list[str]:
    """The names that ``preconditioner=`` accepts."""
    return ["auto", "none", *_core.preconditioners()]


def formats() -> list[str]:
    """The values of ``format=``."""
    return ["auto", "measure", *_core.formats()]


def preconditioner_options() -> dict[str, object]:
    """The preconditioner options for ``options=``, with their defaults."""
    return dict(_core.preconditioner_options())


def solver_options() -> dict[str, object]:
    """The solver options for ``options=``, with their defaults; a ``restart`` of 0 lets the method choose."""
    return dict(_core.solver_options())


def devices() -> list[str]:
    """The names of the CUDA devices that Newel can use; the first is ``device="cuda:0"``.

    Empty if there is no GPU or no driver, and in a build without CUDA.
    """
    return list(_core.device_names()) if _core.has_cuda else []
