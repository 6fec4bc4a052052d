# SPDX-License-Identifier: Apache-2.0
"""Pages of the C++ reference, one for each public header, from what cpp_model reads."""

import posixpath
import re

from cpp_text import escape, prose, signature, text_in, tidy, toc_label

FOLDERS = {
    "solver": "Systems and solvers",
    "spmv": "Operators and formats",
    "precond": "Preconditioners",
    "core": "Contexts, arrays, matrices, files",
    "io": "Files of every format",
    "reorder": "Orders and parts",
    "adapt": "Other libraries' types",
}


def page_of(path):
    """Where the page of a header stands, from the root of the site's sources."""
    return "reference/cpp/" + path.replace(".hpp", ".md")


class Pages:
    """Renders headers; `anchors` says where each id of Doxygen's is described."""

    def __init__(self, headers):
        self.headers = headers
        self.anchors = {}
        for header in headers:
            taken = set()
            for item in header.declarations:
                self.place(item, page_of(header.name), taken)
        self.addresses_by_name = self.addresses()

    def place(self, item, page, taken):
        name = free_anchor(item, taken)
        for one in [item, *item.along]:
            self.anchors[one.id] = (page, name)
        for value in item.element.findall("enumvalue"):
            self.anchors[value.get("id")] = (page, name)
        for member in item.members:
            self.place(member, page, taken)

    def addresses(self):
        """Page and anchor of every class, of every member by its qualified name, and of every function that no member is
        named like; of overloads the first."""
        members = {
            member.name.rpartition("::")[2]
            for header in self.headers
            for item in header.declarations
            for member in item.members
        }
        found = {}
        for header in self.headers:
            for item in header.declarations:
                plain = re.sub(r"<.*?>", "", item.name).replace(" ", "")
                if plain[0].isupper() or ("_" in plain and plain not in members):
                    found.setdefault(plain, "#".join(self.anchors[item.id]))
                for member in item.members:
                    for one in [member, *member.along]:
                        found.setdefault(re.sub(r"< .*? >", "", one.name), "#".join(self.anchors[one.id]))
        return found

    def anchor(self, item):
        return self.anchors[item.id][1]

    def link(self, target, text, page):
        return self.link_to(self.anchors[target], text, page) if target in self.anchors else text

    def link_to(self, address, text, page):
        other, name = address
        path = "" if other == page else posixpath.relpath(other, posixpath.dirname(page))
        return f"[{text}]({path}#{name})"

    def inline(self, element, page):
        """The content of a paragraph as Markdown, without the blocks in it."""
        parts = [escape(element.text or "")]
        for child in element:
            parts.append(self.inline_element(child, page))
            parts.append(escape(child.tail or ""))
        return "".join(parts)

    def inline_element(self, child, page):
        content = "".join(child.itertext())
        if child.tag == "computeroutput":
            ref = child.find("ref")
            code = f"`{content.strip()}`"
            if ref is not None and len(child) == 1:
                return self.link(ref.get("refid"), code, page)
            address = self.addresses_by_name.get(content.strip())
            return self.link_to(address.split("#"), code, page) if address else code
        if child.tag == "ref":
            return self.link(child.get("refid"), escape(content), page)
        if child.tag in ("emphasis", "bold"):
            mark = {"emphasis": "*", "bold": "**"}[child.tag]
            return f"{mark}{self.inline(child, page)}{mark}"
        if child.tag in ("ndash", "mdash", "nonbreakablespace"):
            return {"ndash": "–", "mdash": "—", "nonbreakablespace": " "}[child.tag]
        if child.tag in ("subscript", "superscript", "ulink", "linebreak", "sp"):
            return escape(content) or " "
        raise ValueError(f"{page}: no rule for <{child.tag}> in a comment: {content[:60]!r}")

    def blocks(self, element, page):
        """A description as Markdown paragraphs and lists."""
        result = []
        for para in element.findall("para") if element is not None else ():
            result += self.paragraph(para, page)
        return result

    def paragraph(self, para, page):
        result, text = [], [escape(para.text or "")]

        def flush():
            line = " ".join("".join(text).split())
            if line:
                result.append(line)
            text.clear()

        for child in para:
            if child.tag in ("itemizedlist", "orderedlist"):
                flush()
                mark = "-" if child.tag == "itemizedlist" else "1."
                result.append(
                    "\n".join(
                        f"{mark}   " + "\n    ".join(self.blocks(entry, page)) for entry in child.findall("listitem")
                    )
                )
            elif child.tag in ("verbatim", "programlisting"):
                flush()
                result.append("```cpp\n" + "".join(child.itertext()).strip("\n") + "\n```")
            else:
                text.append(self.inline_element(child, page))
            text.append(escape(child.tail or ""))
        flush()
        return result

    def comment(self, element, page):
        return self.blocks(element.find("briefdescription"), page) + self.blocks(
            element.find("detaileddescription"), page
        )

    def declaration(self, item, page, depth):
        title = item.element.findtext("name") or tidy(item.name)
        lines = [
            f'{"#" * depth} {escape(title)} {{ #{self.anchor(item)} data-toc-label="{toc_label(title)}" }}',
            "",
            "```cpp",
            *(signature(one) for one in [item, *item.along]),
            "```",
            "",
        ]
        bases = [
            self.link(base.get("refid"), escape(tidy(base.text).replace("newel::", "")), page)
            for base in item.element.findall("basecompoundref")
            if base.get("refid")
        ]
        if bases:
            lines += ["Derives from " + ", ".join(bases) + ".", ""]
        text = self.comment(item.element, page)
        overridden = item.element.find("reimplements")
        if not text and overridden is not None:
            text = [
                "As in " + self.link(overridden.get("refid"), f"`{self.owner(overridden.get('refid'))}`", page) + "."
            ]
        for block in text:
            lines += [block, ""]
        values = [
            (value.findtext("name"), " ".join(self.comment(value, page)))
            for value in item.element.findall("enumvalue")
        ]
        lines += [f"-   `{name}`" + (f": {said}" if said else "") for name, said in values] + [""]
        fields = [member for member in item.members if member.kind == "variable"]
        lines += [self.field(member, page) for member in fields] + [""]
        for member in item.members:
            if member.kind != "variable" and not self.internal(member, page):
                lines += self.declaration(member, page, depth + 1)
        return lines

    def internal(self, member, page):
        """Whether the comment says that users have nothing to do with it."""
        return " ".join(self.comment(member.element, page)).lower().startswith("internal")

    def owner(self, target):
        """The class that a member belongs to."""
        for header in self.headers:
            for item in header.declarations:
                if any(one.id == target for member in item.members for one in [member, *member.along]):
                    return re.sub(r"<.*", "", item.name)
        return "its base class"

    def field(self, member, page):
        type_text = tidy(text_in(member.element, "type"))
        value = tidy(text_in(member.element, "initializer"))
        names = ", ".join(f"`{one.name.rsplit('::', 1)[-1]}`" for one in [member, *member.along])
        said = self.comment(member.element, page)
        return (
            f'-   {names} &nbsp; <small>`{type_text}{" " + value if value else ""}`</small><a id="{self.anchor(member)}">'
            f"</a>\n\n" + "\n\n".join("    " + block.replace("\n", "\n    ") for block in said) + "\n"
        )

    def page(self, header):
        page = page_of(header.name)
        lines = [
            f'# {header.name} {{ data-toc-label="{posixpath.basename(header.name)}" }}',
            "",
            prose(header.summary),
            "",
            f"```cpp\n#include <newel/{header.name}>\n```",
            "",
        ]
        for item in header.declarations:
            lines += self.declaration(item, page, 2)
        lines += [f"[The header itself](/{header.path})", ""]
        return "\n".join(lines)

    def index(self):
        lines = [
            "# C++",
            "",
            "Every public class, function and type, by the header that declares it, all in the namespace "
            "`newel`. `#include <newel/newel.hpp>` includes the usual ones. The pages are made from the headers.",
            "",
            "Most programs need [LinearSystem](solver/linear_system.md), its options and its "
            "[SolveReport](solver/krylov.md); [Context](core/context.md) and [Span](core/span.md) are the types of "
            "their arguments.",
            "",
        ]
        for folder, title in FOLDERS.items():
            lines += [f"## {title}", "", "| header | declares |", "|---|---|"]
            for header in self.headers:
                if header.name.split("/")[0] == folder:
                    lines.append(self.index_row(header))
            lines.append("")
        return "\n".join(lines)

    def index_row(self, header):
        here = "reference/cpp/index.md"
        names = []
        for item in header.declarations:
            link = self.link(item.id, f"`{re.sub('<.*', '', item.name).strip()}`", here)
            if link not in names:
                names.append(link)
        path = posixpath.relpath(page_of(header.name), "reference/cpp")
        return f"| [{escape(header.name)}]({path}) | {', '.join(names)} |"


def free_anchor(item, taken):
    """The name as part of an address; overloads get numbers."""
    name = plain = re.sub(r"[^A-Za-z0-9_~]+", "-", item.name).strip("-")
    count = 1
    while name in taken:
        count += 1
        name = f"{plain}-{count}"
    taken.add(name)
    return name
