# SPDX-License-Identifier: Apache-2.0
"""Figures of reports as the pages print them."""


def number(value, digits=3, missing="-"):
    """Plain digits, however large."""
    if value is None:
        return missing
    return f"{value:,.0f}" if abs(value) >= 10 ** digits else f"{value:.{digits}g}"


def spread(sample, scale=1.0, digits=3):
    """A median with minimum and maximum."""
    values = [sample[key] * scale for key in ("median", "min", "max")]
    return "{0:.{d}g} ({1:.{d}g} to {2:.{d}g})".format(*values, d=digits)


def remark(report):
    """The note about the machine that the person who ran a benchmark left in its report, with a space before it."""
    return f" {report['remark']}" if "remark" in report else ""


PAGES = {"spmv_": "products", "columns_": "columns", "solve_": "solves", "regret_": "defaults"}


def tables_page(name):
    """The page in docs/ with the tables of a report: performance-solves-h200.md of solve_h200.json."""
    kind = next(kind for kind in PAGES if name.startswith(kind))
    return f"performance-{PAGES[kind]}-{name.removeprefix(kind).removesuffix('.json')}.md"
