# SPDX-License-Identifier: Apache-2.0
"""Doxygen's XML as declarations by header, and which of them say nothing of themselves."""

import dataclasses
import pathlib
import re
import xml.etree.ElementTree as xml

from cpp_headers import ROOT, public_headers

CLASSES = ("class", "struct")


@dataclasses.dataclass
class Declaration:
    """A class, a function, a variable, an enumeration or a type with its comment, as Doxygen found it."""

    id: str
    kind: str
    name: str  # qualified, without the namespace newel
    line: int
    element: xml.Element
    documented: bool
    members: list = dataclasses.field(default_factory=list)  # of a class, in the order of the header
    along: list = dataclasses.field(default_factory=list)  # declarations that follow under the same comment


@dataclasses.dataclass
class Header:
    path: str  # from the root of the repository
    summary: str
    declarations: list

    @property
    def name(self):
        """As it is included, below newel."""
        return self.path.removeprefix("include/newel/")


def has_comment(element):
    return any(
        "".join(element.find(part).itertext()).strip()
        for part in ("briefdescription", "detaileddescription")
        if element.find(part) is not None
    )


def plain_name(qualified):
    return qualified.removeprefix("newel::")


def file_summary(lines):
    """The comment with which a header begins."""
    comment = []
    for line in lines[1:]:
        if not line.startswith("///"):
            break
        comment.append(line[3:].strip())
    return " ".join(comment)


def is_special_member(element, class_name):
    """Whether it is a destructor, or a constructor or assignment of which nothing can be said: default, copy, move."""
    if element.get("kind") != "function":
        return False
    name = element.findtext("name")
    arguments = element.findtext("argsstring") or ""
    own = re.sub(r".*::", "", re.sub(r"<.*", "", class_name))
    if name.startswith("~"):
        return True
    first = arguments[1 : arguments.find(")")].strip()
    takes_itself = re.fullmatch(rf"(const )?{own}(< ?.*? ?>)? ?&&?( ?\w+)?", first) is not None
    return (name == own and (first == "" or takes_itself)) or (name == "operator=" and takes_itself)


def declaration_of(element, kind, name):
    location = element.find("location")
    return Declaration(
        element.get("id"), kind, plain_name(name), int(location.get("line")), element, has_comment(element)
    )


def members_of(compound, class_name):
    found = []
    for member in compound.iter("memberdef"):
        if member.get("prot") == "private" or member.get("kind") == "friend":
            continue
        if class_name and is_special_member(member, class_name) and not has_comment(member):
            continue
        name = member.findtext("name")
        if class_name is not None:
            name = f"{plain_name(class_name)}::{name}"
        found.append((member.find("location").get("file"), declaration_of(member, member.get("kind"), name)))
    return found


def gather(declarations, lines):
    """Puts a declaration without a comment along with a documented one of the same statement, and a function along with
    one that it follows without an empty line."""
    result, leader = [], None
    for item in sorted(declarations, key=lambda item: (item.line, not item.documented)):
        between = (
            lines[leader.along[-1].line if leader and leader.along else leader.line : item.line - 1] if leader else []
        )
        adjacent = leader is not None and all(text.strip() for text in between)
        same_statement = leader is not None and item.line == leader.line
        follows = leader is not None and item.kind == leader.kind == "function" and adjacent
        if not item.documented and (same_statement or follows):
            leader.along.append(item)
            continue
        result.append(item)
        leader = item if item.documented else None
    return result


def read_headers(folder, root=ROOT, paths=None):
    """The headers at these paths below the root, the public ones by default, with their declarations from the XML in
    `folder`."""
    by_file = {}
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        if path.name == "index.xml" or path.name.startswith("dir_"):
            continue
        for compound in xml.parse(path).getroot().iter("compounddef"):
            add_compound(compound, by_file)
    headers = []
    for path in public_headers() if paths is None else paths:
        lines = (root / path).read_text().splitlines()
        declarations = gather(by_file.get(path, []), lines)
        for item in declarations:
            item.members = gather(item.members, lines)
        headers.append(Header(path, file_summary(lines), declarations))
    return headers


def add_compound(compound, by_file):
    kind, name = compound.get("kind"), compound.findtext("compoundname")
    if "detail" in name.split("::") or not (kind in CLASSES or name == "newel"):
        return
    if kind in CLASSES:
        if compound.get("prot") == "private" or compound.find("location") is None:
            return
        item = declaration_of(compound, kind, name)
        item.members = [member for _, member in members_of(compound, name)]
        by_file.setdefault(compound.find("location").get("file"), []).append(item)
    elif kind == "namespace":
        for path, item in members_of(compound, None):
            by_file.setdefault(path, []).append(item)


def undocumented(headers):
    """Lines "file:line: name" for what has no comment: none of its own, none of a declaration that it follows, and none
    in a base class that it overrides."""
    found = []
    for header in headers:
        if not header.summary:
            found.append(f"{header.path}:1: the header itself")
        for item in header.declarations:
            found += [f"{header.path}:{line}: {name}" for line, name in silent_parts(item)]
    return found


def silent_parts(item):
    if not item.documented and item.element.find("reimplements") is None:
        yield item.line, item.name
    values = item.element.findall("enumvalue")
    if any(has_comment(value) for value in values):  # else the comment of the enumeration speaks of all
        for value in values:
            if not has_comment(value):
                yield item.line, f"{item.name}::{value.findtext('name')}"
    for member in item.members:
        yield from silent_parts(member)
