# SPDX-License-Identifier: Apache-2.0
"""What to try after a solve that did not converge: the typical failures of each method, in the words of Python."""

from __future__ import annotations

# GMRES that is never restarted ends after n iterations, and for small systems its basis is small.
_SMALL = 2000


def advice_for(fields: dict) -> str:
    """One line; empty where the solve converged."""
    status = fields["status"]
    if status in ("converged", "stopped_by_caller"):
        return "" if status == "converged" else "pass x as x0 to continue from here"
    single = _after_single_precision(fields)
    return single if single else _after[status](fields)


def _uses_gmres(fields: dict) -> bool:
    return any(attempt["method"] == "gmres" for attempt in fields["attempts"]) or fields["method"] == "gmres"


def _stronger(fields: dict) -> str:
    now = fields["preconditioner"]
    if now == "amg":
        return 'preconditioner="spai"'
    return 'preconditioner="amg" for a system of an elliptic equation, else preconditioner="spai"'


def _restart(fields: dict, wanted: int) -> int:
    rows = fields["rows"]
    return rows if rows <= _SMALL else min(wanted, rows)


def _longer_cycle(fields: dict) -> str:
    now = fields["cycle_length"]
    if now >= fields["rows"]:
        return _stronger(fields)
    return f"restart={_restart(fields, 2 * max(now, 50))} for longer cycles of GMRES (now {now})"


def _gmres_instead(fields: dict) -> str:
    if _uses_gmres(fields):
        return _stronger(fields)
    return f'solver="gmres", restart={_restart(fields, 100)}'


def _after_iterations(fields: dict) -> str:
    enough_to_judge = min(fields["rows"], 1000)
    judged = fields["iterations"] >= enough_to_judge
    if judged and fields["method"] == "gmres" and fields["restarts"] > 0:
        return _longer_cycle(fields)
    if judged and not fields["true_residual"] < 0.1 * fields["initial_residual"]:
        return _gmres_instead(fields)
    return f"max_iterations={max(10000, 10 * fields['iterations'])}, or {_stronger(fields)}"


def _after_stagnation(fields: dict) -> str:
    attainable, norm = fields["attainable_residual"], fields["rhs_norm"]
    if attainable > 0 and norm > 0:
        return f"rtol={2 * attainable / norm:.0e}, which is what rounding allows for this matrix"
    if fields["method"] == "gmres":
        return _longer_cycle(fields)
    return _gmres_instead(fields)


def _after_divergence(fields: dict) -> str:
    if fields["method"] != "gmres":
        return _gmres_instead(fields)
    return _stronger(fields) if fields["preconditioner"] == "none" else 'preconditioner="none"'


def _after_breakdown(fields: dict) -> str:
    if fields["method"] != "gmres":
        return _gmres_instead(fields)
    return "look at the matrix with purlin.info(A): it may be singular"


def _after_indefinite(fields: dict) -> str:
    if fields["cause"] == "precond_not_positive" and fields["preconditioner"] != "none":
        return 'preconditioner="none", or solver="gmres"'
    return 'solver="gmres", which needs no positive definite matrix'


def _after_single_precision(fields: dict) -> str:
    if fields["precision"] != "single" or fields["status"] in ("time_limit", "max_iterations"):
        return ""
    if fields["status"] == "not_positive_definite":
        return ""
    return 'precision="double" or "mixed": in single precision rounding may be what ended the solve'


_after = {
    "max_iterations": _after_iterations,
    "breakdown": _after_breakdown,
    "not_positive_definite": _after_indefinite,
    "not_finite": lambda fields: "look for NaN and infinity in A, b and x0; purlin.info(A) shows the sizes of entries",
    "stagnation": _after_stagnation,
    "diverged": _after_divergence,
    "time_limit": lambda fields: "a longer time_limit, or pass x as x0 to continue from here",
}
