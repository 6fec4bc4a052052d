#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions and data members of the classes in C++ sources, counted by text.

    scripts/class_sizes.py FILE...       prints the classes above a limit; exit status 1 if there is one

Counted are the functions that a class declares itself, constructors and overrides included, and its data members, each name of
a line. Not counted are functions that are defaulted or deleted, friends, types, static data and what base classes have.
"""
import pathlib
import re
import sys

MOST_FUNCTIONS, MOST_MEMBERS, MOST_VIRTUAL = 15, 20, 12
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*', re.S | re.M)
RAW_TEXT = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
HEAD = re.compile(r"(?<!enum )\b(?:class|struct) +(?:alignas *\([^)]*\) *)?(\w+)(?:<[^;{}]*?>)?(?: final)?\s*"
                  r"(?::[^:;{}][^;{}]*)?\{")
LABEL = re.compile(r"\b(?:public|private|protected) *:(?!:)|\[\[.*?\]\]")
NO_MEMBER = re.compile(r"(?:using|typedef|friend|static_assert|enum|class|struct|union)\b|.*= *(?:default|delete)$")


def without_text(source):
    """The source without comments, preprocessor lines and the contents of strings."""
    return IGNORED.sub(" ", RAW_TEXT.sub('""', re.sub(r"(?<=\d)'(?=\d)", "", source)))


def block_end(text, begin):
    """The place after the brace that closes the one at `begin`."""
    depth = 0
    for match in re.finditer(r"[{}]", text[begin:]):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return begin + match.end()
    return len(text)


def declarations(body):
    """What a class declares, each on one line. Blocks are left out: `{}` stands for them."""
    found, text, at = [], "", 0
    while at < len(body):
        end = at + 1
        if body[at] == "{":
            end = block_end(body, at)
            text += "{}"
            rest = body[end:].lstrip()[:1]
            in_brackets = text.count("(") > text.count(")")
            if not in_brackets and rest not in (";", ",", "{", ")"):  # not an initialiser: a function or a type
                found.append(text)
                text = ""
        elif body[at] == ";":
            found.append(text)
            text = ""
        else:
            text += body[at]
        at = end
    return [" ".join(LABEL.sub(" ", text).split()) for text in found]


def without_brackets(text, pairs="<>"):
    """The text outside of angle brackets, or of other pairs."""
    pattern, before = re.compile(rf"{re.escape(pairs[0])}[^{re.escape(pairs)}]*{re.escape(pairs[1])}"), None
    while before != text:
        before, text = text, pattern.sub("", text)
    return text


def count(body):
    """(functions, data members, virtual functions) that the text between the braces of a class declares."""
    functions = members = virtual = 0
    for declared in declarations(body):
        declared = re.sub(r"operator *(?:\(\)|[^\s(\w]+)", "operator_", declared.replace("->", ""))
        flat = without_brackets(without_brackets(declared.strip(), "()").replace(" ()", "()"))
        flat = re.sub(r"^(?:template *)+", "", without_brackets(declared)).strip()
        if not flat or NO_MEMBER.match(flat):
            continue
        if "(" in re.split(r"[={]", flat)[0] and "(*" not in flat:
            functions += 1
            virtual += flat.startswith("virtual ")
        elif not re.match(r"(?:inline )?(?:static|constexpr)\b", flat):
            for pairs in ("()", "{}", "[]"):
                flat = without_brackets(flat, pairs)
            members += 1 + flat.count(",")
    return functions, members, virtual


def classes(source):
    """(name, functions, data members, virtual functions) of each class that is defined in a source."""
    text = without_text(source)
    for head in HEAD.finditer(text):
        yield head.group(1), *count(text[head.end():block_end(text, head.end() - 1) - 1])


def too_large(source):
    """Those above a limit."""
    return [found for found in classes(source)
            if found[1] > MOST_FUNCTIONS or found[2] > MOST_MEMBERS or found[3] > MOST_VIRTUAL]


def main():
    large = [(*found, name) for name in sys.argv[1:] for found in too_large(pathlib.Path(name).read_text(encoding="utf-8"))]
    for name, functions, members, virtual, file in sorted(large, key=lambda row: -row[1]):
        print(f"{file}: {name} has {functions} functions, {virtual} of them virtual, and {members} data members")
    print(f"at most {MOST_FUNCTIONS} functions, {MOST_VIRTUAL} of them virtual, and {MOST_MEMBERS} data members")
    sys.exit(1 if large else 0)


if __name__ == "__main__":
    main()
