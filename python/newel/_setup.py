# SPDX-License-Identifier: Apache-2.0
"""How a Solver is set up: from a matrix, from an operator, or from the rows of a rank."""

from __future__ import annotations

import numpy as np

from . import _core
from ._arrays import check_dtype
from ._choices import (
    a_count_or_name,
    a_name,
    a_path,
    check_rows,
    check_threads,
    choose_device,
    number_of_solves,
    real_number,
    rows_of_numbers,
    stream_handle,
    whole_number,
)
from ._device_matrices import library_and_device_of
from ._libraries import Foreign
from ._matrices import ValueMap, given_matrix, is_matrix, require_finite
from ._operators import DeviceProduct, HostProduct, check_square, is_operator
from ._options import check_options, warn_of_unused
from ._own_rows import OwnRows, refuse_of_whole, refuse_on_ranks
from ._products import Products
from ._ranks import Ranks
from ._saddle import constraint_rows, mass_matrix
from ._single import choose_precision, default_rtol, is_complex


class Setup(Products):
    """The methods of a Solver that its constructor calls."""

    _value_map: ValueMap | None = None  # of an operator: none
    _like = None  # a vector that will be solved for, where it is known: `_made_for` sets it
    _once = False  # whether it serves one call, so that no new values come; `_made_for` sets it
    _ranks: Ranks | None = None  # that share the system, if there are several
    _gpu_of_rank: int | None = None  # on which this rank's rows are solved
    _devices: list[int] | None = None  # the same of devices
    _complex = False
    _resident = True  # whether a solve may keep its vectors on the chip, where callbacks do not see them

    def _set_up(self, A, solver, preconditioner, format, precision, device, coordinates, near_null_space,
                expected_solves, threads, stream, columns, null_space, restart, deterministic, plan_cache, decision,
                options, constraints, mass, rtol, guess, recycle) -> None:
        if null_space is not None and null_space not in ("none", "constant"):
            raise ValueError(f'null_space: expected None or "constant", found {null_space!r}')
        self._precision = choose_precision(precision, A, self._like)
        single = self._precision == "single"
        self._complex = is_complex(A) or is_complex(self._like)
        if self._complex:
            self._dtype = np.dtype(np.complex64 if single else np.complex128)
        else:
            self._dtype = np.dtype(np.float32 if single else np.float64)
        choices = {
            "solver": a_name(solver, "solver"),
            "format": a_name(format, "format"),
            "mixed": self._precision == "mixed",
            "deterministic": bool(deterministic),
            "columns": whole_number(columns, "columns", 1),
            "rtol": default_rtol(self._dtype) if rtol is None else real_number(rtol, "rtol"),
            "null_space": "constant" if null_space == "constant" else None,
            "restart": restart,
            "plan_cache": a_path(plan_cache, "plan_cache"),
            "decision": a_name(decision, "decision") if decision is not None else None,
            "coordinates": rows_of_numbers(coordinates, "coordinates"),
            "near_null_space": rows_of_numbers(near_null_space, "near_null_space"),
            "constraints": constraint_rows(constraints),
            "mass": mass_matrix(mass),
            "options": check_options(options),
            "expected_solves": number_of_solves(expected_solves),
            "complex": self._complex,
            "plain": not self._resident,  # iterates are seen where x lies
        }
        warn_of_unused(choices, preconditioner)
        if restart is not None:
            choices["options"]["restart"] = whole_number(restart, "restart", 1)
        if guess is not None:
            choices["options"]["guess"] = a_name(guess, "guess")
        if recycle is not None:
            choices["options"]["recycle"] = a_count_or_name(recycle, "recycle")
        if not self._resident:
            choices["options"]["resident"] = False
        if self._complex and (self._ranks is not None or self._devices is not None):
            raise TypeError(f"A is complex: complex systems are solved by one process, on the host or on one device, not "
                            f"with {'comm' if self._ranks is not None else 'several devices'}")
        if self._ranks is not None:
            self._set_up_rows(A, preconditioner, choices, device, stream, threads)
            return
        if self._devices is not None:
            self._set_up_devices(A, preconditioner, choices, device, stream, threads)
            return
        self._place(A, device, stream, threads)
        if is_operator(A) and not is_matrix(A):
            self._set_up_operator(A, preconditioner, choices)
        else:
            self._set_up_matrix(A, preconditioner, choices)

    def _set_up_rows(self, A, preconditioner, choices, device, stream, threads) -> None:
        """Set up the system of all ranks, of which this one has the rows A."""
        refuse_on_ranks(choices, device, stream, preconditioner)
        choices["preconditioner"] = preconditioner or "none"
        self._device, self._library = None, Foreign()
        self._own_rows = own = OwnRows(A, self._dtype)
        self._rows = own.rows
        check_rows(choices, own.rows)
        self._system, self._gpu_of_rank = own.system(self._precision == "single", choices, check_threads(threads, None),
                                                     self._ranks, str(device) == "cuda")
        self._all_rows = self._system.info()["all_rows"]
        own.check_columns(self._all_rows)

    def _set_up_devices(self, A, preconditioner, choices, device, stream, threads) -> None:
        """Set up the system that several devices share, from a matrix on the host."""
        refuse_of_whole(choices, preconditioner, "devices")
        for name, value, usual in (("device", device, "auto"), ("stream", stream, None), ("threads", threads, None)):
            if value != usual:
                raise ValueError(f"{name}: not possible with devices")
        if is_operator(A) and not is_matrix(A):
            raise TypeError("A: devices share the rows of a matrix, and an operator has none")
        if library_and_device_of(A)[1] is not None:
            raise TypeError("A: devices share the rows of a matrix on the host; pass a copy (CuPy: A.get(), PyTorch: "
                            "A.cpu())")
        self._device, self._library = None, Foreign()
        given = given_matrix(A, self._dtype)
        n = self._rows = check_square(given.shape, "A")
        require_finite(given, A)
        check_rows(choices, n)
        choices["preconditioner"] = preconditioner or "none"
        self._system = _core.system_of_team(given.arrays, self._precision == "single", choices, self._devices)
        self._value_map = given.value_map(self._system)

    def _place(self, A, device, stream, threads) -> None:
        """Decide where the system is solved, and which library's arrays its operators receive."""
        of_matrix = library_and_device_of(A)
        of_vectors = library_and_device_of(self._like)
        self._library = of_matrix[0] or of_vectors[0] or Foreign()
        self._device = choose_device(device, of_matrix[1], of_vectors[1])
        threads, handle = check_threads(threads, self._device), stream_handle(stream, self._device)
        self._where = (threads,) if self._device is None else (self._device, handle, stream)

    def _set_up_matrix(self, A, preconditioner, choices) -> None:
        given = given_matrix(A, self._dtype)
        n = self._rows = check_square(given.shape, "A")
        require_finite(given, A)
        check_rows(choices, n)
        choices["preconditioner"], own = self._preconditioner_of(preconditioner, n)
        make = _core.system_of_matrix if self._device is None else _core.device_system_of_matrix
        self._system = make(given.arrays, self._precision == "single", choices, *self._where, own)
        if not (self._once and self._device is None):  # a hash of the pattern takes as long as some products
            self._value_map = given.value_map(self._system)

    def _set_up_operator(self, A, preconditioner, choices) -> None:
        if self._precision == "mixed":
            raise ValueError('precision="mixed" needs the entries of A, and an operator has none')
        if not hasattr(A, "shape"):
            raise ValueError("A: a callable does not say how many rows it has; make it a scipy.sparse.linalg."
                             "LinearOperator((n, n), matvec=A)")
        n = self._rows = check_square(A.shape, "A")
        check_rows(choices, n)
        if getattr(A, "dtype", None) is not None:
            check_dtype(A.dtype, self._dtype, "A")
        choices["preconditioner"], own = self._preconditioner_of(preconditioner, n)
        if choices["format"] != "auto":
            raise ValueError("format: an operator is multiplied as it is; a format needs the entries of a matrix")
        make = _core.system_of_operator if self._device is None else _core.device_system_of_operator
        self._system = make(n, self._product_of(A, n, "A"), self._precision == "single", choices, *self._where, own)

    def _product_of(self, operator, n: int, what: str):
        """The object that the compiled part calls for a product."""
        if self._device is None:
            return HostProduct(operator, n, self._dtype, what)
        library = library_and_device_of(operator)[0] or self._library
        return DeviceProduct(operator, n, self._dtype, what, library, self._device)

    def _preconditioner_of(self, preconditioner, n: int):
        """The name for the library, and a product or None."""
        if preconditioner is None:
            return "none", None
        if isinstance(preconditioner, str):
            return preconditioner, None
        if isinstance(preconditioner, Setup):
            raise TypeError("preconditioner: a Solver stands for its matrix; pass solver.as_preconditioner()")
        if self._precision == "mixed":
            raise ValueError('precision="mixed" takes preconditioners by name only')
        if hasattr(preconditioner, "shape") and tuple(preconditioner.shape) != (n, n):
            raise ValueError(f"preconditioner: expected the shape {(n, n)}, found {tuple(preconditioner.shape)}")
        if getattr(preconditioner, "dtype", None) is not None:
            check_dtype(preconditioner.dtype, self._dtype, "preconditioner")
        return "none", self._product_of(preconditioner, n, "preconditioner")
