#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/automatic-rules.md: the rules of `auto` from scripts/docs/automatic_rules.md.in, with the constants and their
comments as the sources have them now.

    automatic_rules.py            writes the page
    automatic_rules.py --check    ends with 1 if the page is another one

`{{name}}` in the text is a constant, `{{Struct.name}}` one of a struct, and `{{name|filter}}` writes it otherwise. A
constant that the sources do not have is an error, and so is one that a struct of the tables does not explain.
"""

import ast
import math
import operator
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = ROOT / "scripts/docs/automatic_rules.md.in"
PAGE = ROOT / "docs/automatic-rules.md"
PROFILES = "solver/cost/profiles"

DECISIONS = f"{PROFILES}/decision_constants.hpp"
FORECASTS = f"{PROFILES}/forecast_constants.hpp"
HOST_SPEED = f"{PROFILES}/host_speed_constants.hpp"
FACTORS = f"{PROFILES}/factor_constants.hpp"
LAST_RESORT = "solver/chain/attempts.hpp"
DECLARATIONS = ("core/memory/machine_constants.hpp", "spmv/cost/product_constants.hpp", "precond/precond_constants.hpp",
                f"{PROFILES}/iteration_constants.hpp", HOST_SPEED)
MACHINES = {"EPYC": f"{PROFILES}/epyc.cpp", "H200 and H100": f"{PROFILES}/h200.cpp"}
COUNTS = f"{PROFILES}/solves.cpp"

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


class Missing(Exception):
    pass


def value_of(expression):
    """The number of a C++ expression of literals."""

    def evaluated(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](evaluated(node.left), evaluated(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -evaluated(node.operand)
        raise Missing(f"{expression} is no number")

    return evaluated(ast.parse(expression.strip().rstrip("f"), mode="eval").body)


def shown(number):
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"


def without_code_marks(comment):
    """A comment as a cell of a table."""
    return " ".join(comment.split()).replace("|", "\\|").replace("<", "&lt;")


def definitions(statement):
    """{name: expression} of `double a = 1, b = 2`, the type left out; commas in braces and brackets do not count."""
    found, depth, start, parts = {}, 0, 0, []
    for at, letter in enumerate(statement):
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and depth == 0:
            parts.append(statement[start:at])
            start = at + 1
    for part in [*parts, statement[start:]]:
        name, equals, expression = part.partition("=")
        name = name.split()[-1] if name.split() else ""
        if re.fullmatch(r"\w+", name):
            found[name] = expression.strip() if equals else ""
    return found


class Struct:
    def __init__(self, name, comment):
        self.name, self.comment, self.fields = name, comment, []  # of (names with expressions, comment)
        self.types = {}  # of the fields


def read_structs(text):
    """The structs of a header with their fields, and its constants outside of them as a struct without a name."""
    structs, current, comment, statement, trailing = [Struct("", "")], None, [], "", ""
    shared = ""  # the comment above a field, which is for those that follow without one too
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.endswith("{"):
            shared = ""
        if stripped.startswith("///"):
            comment.append(stripped[3:].strip())
            continue
        opening = re.match(r"(?:struct|class) (\w+)(?: [^;{]*)?\{$", stripped)
        if opening and current is None:
            current = Struct(opening.group(1), " ".join(comment))
            structs.append(current)
            comment = []
            continue
        if re.match(r"\};", stripped):
            current, comment = None, []
            continue
        place = current if current is not None else structs[0]
        code, _, remark = stripped.partition("///<")
        trailing = (trailing + " " + remark.strip()).strip()
        if statement or re.match(r"(?:inline |static )?constexpr (?:double|int)\b|[\w:]+ \w+( =|,|;)", code):
            statement += " " + code.partition("//")[0]
            if not code.rstrip().endswith(";"):
                continue
            wanted = current is not None or "constexpr" in statement
            names = definitions(statement.strip().rstrip(";"))
            if wanted and names and "(" not in statement:
                shared = "" if trailing else " ".join(comment) or shared
                place.fields.append((names, trailing or shared))
                place.types.update((name, statement.split()[0]) for name in names)
            statement = ""
        comment, trailing = [], ""
    return [struct for struct in structs if struct.fields]


def read_fitted(text):
    """{struct: {field: (expression, comment)}} of a file of fitted values, and {struct: comment above its function}."""
    values, comments, current, above = {}, {}, None, []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("//"):
            above.append(stripped.lstrip("/ "))
            continue
        function = re.match(r"constexpr (\w+) \w+\(.*\{$", stripped)
        if function:
            current = function.group(1)
            values.setdefault(current, {})
            comments[current] = " ".join(above)
        assigned = re.match(r"\w+\.(\w+) = (.*?);(?: *// *(.*))?$", stripped)
        if assigned and current:
            remark = " ".join([*above, assigned.group(3) or ""]).strip()
            values[current][assigned.group(1)] = (assigned.group(2), remark)
        lone = re.match(r"constexpr (\w+) \w+(\{.*\});(?: *// *(.*))?$", stripped)
        if lone:
            values[lone.group(1)] = {"": (lone.group(2), lone.group(3) or "")}
        above = []
    return values, comments


def constants():
    """{name or Struct.name: number} of all that the text may name."""
    found = {}
    for path in (DECISIONS, FORECASTS, HOST_SPEED, FACTORS, LAST_RESORT):
        for struct in read_structs((ROOT / path).read_text(encoding="utf-8")):
            for names, _ in struct.fields:
                for name, expression in names.items():
                    try:
                        found[f"{struct.name}.{name}".lstrip(".")] = value_of(expression)
                    except (Missing, SyntaxError):
                        pass
    for name, (expression, _) in read_fitted((ROOT / COUNTS).read_text(encoding="utf-8"))[0]["PrecondCounts"].items():
        found[name] = value_of(expression)
    found["amg_margin_undamped"] = math.sqrt(found["amg_margin"] * found["amg_margin_of_mesh"])
    return found


FILTERS = {
    "": shown,
    "milliseconds": lambda number: f"{shown(1000 * number)} ms",
    "percent": lambda number: f"{round(100 * number)} %",
    "more": lambda number: f"{round(100 * (number - 1))} %",
    "worst": lambda number: f"{math.floor(1 + 1 / number)}",
}


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def decision_tables():
    parts = []
    for struct in read_structs((ROOT / DECISIONS).read_text(encoding="utf-8")):
        if struct.comment:
            parts.append(f"**{struct.name}**: {' '.join(struct.comment.split())}")
        rows = [
            (", ".join(f"`{name}` = {expression}" for name, expression in names.items()), without_code_marks(comment))
            for names, comment in struct.fields
        ]
        parts.append(table(("constant", "meaning"), rows))
    return "\n\n".join(parts)


def declared():
    """{struct: {field: comment}} in the order of the headers. A field that is a struct is explained by the names of
    its own fields too."""
    structs = [struct for path in DECLARATIONS for struct in read_structs((ROOT / path).read_text(encoding="utf-8"))]
    names_of = {struct.name: ", ".join(name for names, _ in struct.fields for name in names) for struct in structs}
    found = {}
    for struct in structs:
        found[struct.name] = {}
        for names, comment in struct.fields:
            for name in names:
                parts = names_of.get(struct.types[name], "")
                found[struct.name][name] = f"{comment} ({parts})".strip() if parts else comment
    return found


def count_table():
    meanings = declared()
    rows = []
    for struct, fields in read_fitted((ROOT / COUNTS).read_text(encoding="utf-8"))[0].items():
        for field, (expression, remark) in fields.items():
            name = f"`{struct}`" if not field else f"`{field}`"
            meaning = "; ".join(meanings[struct]) if not field else meaning_of(meanings, struct, field)
            rows.append((name, expression.strip("{}"), without_code_marks(meaning), without_code_marks(remark)))
    return table(("constant", "value", "meaning", "fitted to"), rows)


def meaning_of(meanings, struct, field):
    if field not in meanings.get(struct, {}):
        raise Missing(f"{struct}.{field} is declared in none of {', '.join(DECLARATIONS)}")
    return meanings[struct][field]


def machine_tables():
    meanings = declared()
    parts = []
    for machine, path in MACHINES.items():
        values, comments = read_fitted((ROOT / path).read_text(encoding="utf-8"))
        parts.append(f"### {machine}")
        for struct, fields in values.items():
            if struct not in meanings:
                continue  # a profile, which consists of the others
            rows = [
                (f"`{field}`", expression.strip("{}"), without_code_marks(meaning_of(meanings, struct, field)),
                 without_code_marks(remark))
                for field, (expression, remark) in fields.items()
                if not expression.endswith(")")  # a struct of its own
            ]
            head = f"**{struct}**" + (f": {' '.join(comments[struct].split())}" if comments.get(struct) else "")
            parts += [head, table(("constant", "value", "meaning", "remark"), rows)]
    return "\n\n".join(parts)


def page():
    numbers = constants()
    tables = {"decisions": decision_tables, "counts": count_table, "machines": machine_tables}

    def filled(match):
        name, _, chosen = match.group(1).partition("|")
        if name == "written":
            return "<!-- Written by scripts/docs/automatic_rules.py from the sources; run it again instead of editing. -->"
        if name in tables:
            return tables[name]()
        if name not in numbers:
            raise Missing(f"{TEXT.name} names {name}, which the sources do not have")
        return FILTERS[chosen](numbers[name])

    return re.sub(r"\{\{([^{}]+)\}\}", filled, TEXT.read_text(encoding="utf-8"))


def main():
    try:
        text = page()
    except Missing as missing:
        sys.exit(f"automatic_rules.py: {missing}")
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/automatic-rules.md is not what the sources say: run scripts/docs/automatic_rules.py")
        print("docs/automatic-rules.md is what the sources say")
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
