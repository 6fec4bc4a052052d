# SPDX-License-Identifier: Apache-2.0
"""C++ and comments as text: escaped for Markdown, declarations as this project writes them."""

import html
import re


def escape(text):
    return re.sub(r"([\\`*_{}\[\]#])", r"\\\1", html.escape(text, quote=False)).replace("|", "&#124;")


def prose(text):
    """A comment that is Markdown's already as far as its `code` goes."""
    return "".join(part if part.startswith("`") else escape(part) for part in re.split(r"(`[^`]*`)", text))


def tidy(text):
    """C++ as this project writes it, from the blanks that Doxygen puts."""
    text = " ".join(text.split()).replace("< ", "<").replace(" >", ">")
    text = re.sub(r" ([&*]+)(?=[\w),=]|$)", r"\1 ", text)
    text = re.sub(r"([&*]) (?=[),>]|$)", r"\1", text)
    return re.sub(r"(?<=[\w)])=(?=[\w{\"-])", " = ", re.sub(r"=0$", "= 0", text))


def toc_label(title):
    return html.escape(title, quote=True)


def text_in(element, tag):
    child = element.find(tag)
    return "" if child is None else "".join(child.itertext())


def template_line(element):
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    texts = []
    for parameter in parameters.findall("param"):
        kind = "".join(parameter.find("type").itertext())
        name = parameter.findtext("declname") or ""
        default = parameter.find("defval")
        texts.append(
            " ".join(f"{kind} {name}".split()) + (f" = {''.join(default.itertext())}" if default is not None else "")
        )
    return f"template <{', '.join(texts)}>\n"


def signature(item):
    element = item.element
    if item.kind in ("class", "struct"):
        return template_line(element) + f"{item.kind} {tidy(item.name)}"
    if item.kind == "enum":
        return f"enum class {item.name}"
    type_text = tidy(text_in(element, "type"))
    name, arguments = element.findtext("name"), tidy(text_in(element, "argsstring"))
    if item.kind == "typedef":
        return template_line(element) + f"using {name} = {type_text}{arguments}"
    before = [word for word in ("static", "explicit") if element.get(word) == "yes" and word not in type_text.split()]
    if element.get("virt") in ("virtual", "pure-virtual"):
        before.append("virtual")
    head = " ".join([*before, f"{type_text} {name}".strip()])
    value = tidy(text_in(element, "initializer")) if item.kind == "variable" else ""
    return wrapped(template_line(element) + head + arguments) + (f" {value}" if value else "")


def wrapped(text):
    """Arguments on lines of their own where one line would be too long."""
    head, bracket, rest = text.rpartition("\n")[2].partition("(")
    if len(head + bracket + rest) <= 100 or not bracket:
        return text
    depth, start, pieces = 0, 0, []
    for at, char in enumerate(rest):
        depth += char in "(<{"
        depth -= char in ")>}"
        if depth < 0:
            pieces.append(rest[start:at])
            tail = rest[at:]
            break
        if char == "," and depth == 0:
            pieces.append(rest[start:at])
            start = at + 1
    before = text[: len(text) - len(head + bracket + rest)]
    return before + head + "(\n    " + ",\n    ".join(piece.strip() for piece in pieces) + tail
