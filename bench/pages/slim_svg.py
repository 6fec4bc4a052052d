# SPDX-License-Identifier: Apache-2.0
"""Makes the SVG files of matplotlib small: a tenth of a point is the finest step, styles are classes, ticks of an axis are one
path, groups without a purpose go. What one sees stays the same."""
import re
import xml.etree.ElementTree as ET

SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
COMMON = "*{stroke-linejoin:round;stroke-linecap:butt}text{font-family:'DejaVu Sans',Verdana,sans-serif}"
ET.register_namespace("", SVG.strip("{}"))


def tenths(number):
    return round(10 * float(number))


def shown(value):
    """Tenths as a decimal number without what it does not need."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value / 10:.1f}".removesuffix(".0"))


def joined(numbers):
    return re.sub(r" -", "-", " ".join(map(shown, numbers)))


def points(words):
    """The commands of a path with absolute coordinates: (letter, coordinates in tenths)."""
    for letter, rest in re.findall(r"([MLQCz])([^MLQCz]*)", words):
        yield letter, [tenths(number) for number in rest.split()]


def moved(words, use):
    """The path of a marker where it is used, still with absolute coordinates."""
    shift = tenths(use.get("x")), tenths(use.get("y"))
    return "".join(letter + " ".join(f"{(value + shift[k % 2]) / 10}" for k, value in enumerate(at)) for letter, at in points(words))


def relative(words):
    """The same path with relative coordinates."""
    parts, here, begin = [], [0, 0], [0, 0]
    for letter, at in points(words):
        step = [value - here[k % 2] for k, value in enumerate(at)]
        if letter == "z":
            parts.append("z")
        elif letter == "M":
            parts.append("M" + joined(at))
            begin = at
        elif letter == "L" and 0 in step:
            parts += ["h" + shown(step[0])] if step[0] else ["v" + shown(step[1])] if step[1] else []
        else:
            parts.append(letter.lower() + joined(step))
        here = at[-2:] or begin
    return "".join(parts)


def merge_ticks(axis, markers):
    """One path of all ticks of an axis that look alike."""
    found = {}
    for parent in list(axis.iter()):
        for use in parent.findall(SVG + "use"):
            tick = markers[use.get(HREF)[1:]]
            if "C" not in tick:
                found.setdefault((tick, use.get("style")), []).append(moved(tick, use))
                parent.remove(use)
    for (_, style), ticks in found.items():
        ET.SubElement(axis, SVG + "path", {"d": "".join(ticks), "style": style})


def join_digits(text):
    """The digits of a number that have a place each become a word."""
    words = list(text)
    for before, word in zip(words[-2::-1], words[:0:-1]):
        if all(before.get(key) == word.get(key) for key in ("y", "class")) and (before.text + word.text).isdigit():
            before.text += word.text
            text.remove(word)


def unwrap(parent):
    """Removes groups that only hold others."""
    for child in list(parent):
        unwrap(child)
        child.tail = None
        if child.tag == SVG + "g" and not child.attrib or child.tag == SVG + "defs" and len(child) == 0:
            at = list(parent).index(child)
            parent[at:at + 1] = list(child)


class Names:
    """Short names for what has long ones."""

    def __init__(self, letter):
        self.letter, self.known = letter, {}

    def of(self, words):
        return self.known.setdefault(words, f"{self.letter}{len(self.known)}")


def shorten(element, names, classes):
    """Attributes and text of one element."""
    def referred(words):
        return re.sub(r"(^|url\()#(\w+)", lambda match: f"{match[1]}#{names.of(match[2])}", words)

    text, old = element.text or "", dict(element.attrib)
    element.text = re.sub(r"^ ", "\N{NO-BREAK SPACE}", text) if text.strip() else None  # which is shown
    element.attrib.clear()
    if element.tag == SVG + "g":
        old.pop("id", None)
    style = re.sub(r"font-family:[^;]*;?|text-anchor: start", "", old.pop("style", ""))
    style = referred(re.sub(r"\s*([:;,])\s*", r"\1", style).strip("; "))
    for key, value in old.items():
        if key == "d":
            value = relative(value)
        elif key in ("x", "y", "width", "height") and element.tag != SVG + "svg":
            value = shown(tenths(value))
        elif key == "transform":
            value = re.sub(r"-?\d+\.\d+", lambda match: shown(tenths(match[0])), value)
        elif key == "id":
            value = names.of(value)
        elif key in ("clip-path", HREF):
            key, value = key.removeprefix("{http://www.w3.org/1999/xlink}"), referred(value)
        if not value.startswith("rotate(-0 "):
            element.set(key, value)
    if style:
        element.set("class", classes.of(style))


def slim(text):
    """The small form of an SVG file."""
    root = ET.fromstring(text)
    root.remove(root.find(SVG + "metadata"))
    root.find(SVG + "defs").clear()
    markers = {path.get("id"): path.get("d") for path in root.iter(SVG + "path") if path.get("id")}
    for group in list(root.iter(SVG + "g")):
        if group.get("id", "").startswith("matplotlib.axis_"):
            merge_ticks(group, markers)
    used = {use.get(HREF)[1:] for use in root.iter(SVG + "use")}
    for defs in root.iter(SVG + "defs"):
        defs[:] = [one for one in defs if one.tag != SVG + "path" or one.get("id") in used]
    names, classes = Names("m"), Names("c")
    for element in root.iter():
        shorten(element, names, classes)
    for words in root.iter(SVG + "text"):
        join_digits(words)
    unwrap(root)
    style = ET.Element(SVG + "style")
    style.text = COMMON + "".join(f".{name}{{{words}}}" for words, name in classes.known.items())
    root.insert(0, style)
    for child in root:
        child.tail = "\n"
    return ET.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"
