# SPDX-License-Identifier: Apache-2.0
"""Makes the SVG files of matplotlib small: a tenth of a point is the finest step, styles are classes, ticks of an axis are one
path, groups without a purpose go. What one sees stays the same."""
import re
import xml.etree.ElementTree as ET

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
FONTS = "'DejaVu Sans',Verdana,sans-serif"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


def tenths(number):
    return round(10 * float(number))


def shown(value):
    """Tenths as a decimal number without what it does not need."""
    text = f"{value / 10:.1f}".removesuffix(".0")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def joined(numbers):
    return re.sub(r" -", "-", " ".join(map(shown, numbers)))


def points(words):
    """The commands of a path with absolute coordinates: (letter, coordinates in tenths)."""
    for letter, rest in re.findall(r"([MLQCz])([^MLQCz]*)", words):
        yield letter, [tenths(number) for number in rest.split()]


def path(words):
    """The same path with relative coordinates."""
    parts, here, begin = [], [0, 0], [0, 0]
    for letter, at in points(words):
        if letter == "z":
            parts.append("z")
            here = begin
            continue
        if letter == "M":
            parts.append("M" + joined(at))
            begin = at
        elif letter == "L" and at == here:
            continue
        else:
            step = [value - here[k % 2] for k, value in enumerate(at)]
            straight = {0: "v" + shown(step[1]), 1: "h" + shown(step[0])} if letter == "L" else {}
            parts.append(straight[step.index(0)] if straight and 0 in step else letter.lower() + joined(step))
        here = at[-2:]
    return "".join(parts)


def moved(words, x, y):
    """The same path elsewhere, still with absolute coordinates."""
    shift = (tenths(x), tenths(y))
    return "".join(letter + " ".join(f"{(value + shift[k % 2]) / 10}" for k, value in enumerate(at)) for letter, at in points(words))


class Slimmer:
    def __init__(self, root):
        self.root = root
        self.classes = {}
        self.markers = {element.get("id"): element for element in root.iter(f"{{{SVG}}}path") if element.get("id")}
        self.names = {}

    def name(self, identifier):
        return self.names.setdefault(identifier, f"m{len(self.names)}")

    def referred(self, value):
        return re.sub(r"(^|url\()#(\w+)", lambda match: f"{match[1]}#{self.name(match[2])}", value)

    def style(self, element):
        words = re.sub(r"font-family:[^;]*(;|$)", "", element.attrib.pop("style", "")).strip().strip(";")
        words = re.sub(r"\s*([:;,])\s*", r"\1", words)
        words = self.referred(words).replace("text-anchor:start", "").replace(";;", ";").strip(";")
        if words:
            element.set("class", self.classes.setdefault(words, f"c{len(self.classes)}"))

    def merge_ticks(self, axis):
        """One path of all ticks that look alike."""
        found = {}
        for parent in list(axis.iter()):
            for use in parent.findall(f"{{{SVG}}}use"):
                marker = self.markers[use.get(HREF)[1:]]
                if "C" not in marker.get("d"):
                    tick = moved(marker.get("d"), use.get("x"), use.get("y"))
                    found.setdefault((marker.get("d"), use.get("style")), []).append(tick)
                    parent.remove(use)
        for (_, style), ticks in found.items():
            ET.SubElement(axis, f"{{{SVG}}}path", {"d": "".join(ticks), "style": style})

    def attributes(self, element):
        if element.tag.endswith("}path"):
            element.set("d", path(element.get("d")))
        for key in ("x", "y", "width", "height"):
            if key in element.attrib and element is not self.root:
                element.set(key, shown(tenths(element.get(key))))
        turn = element.get("transform", "")
        if turn.startswith("rotate(-0 "):
            del element.attrib["transform"]
        elif turn:
            element.set("transform", re.sub(r"-?\d+\.\d+", lambda match: shown(tenths(match[0])), turn))
        for key in ("clip-path", HREF):
            if key in element.attrib:
                element.set(key.rpartition("}")[2], self.referred(element.attrib.pop(key)))
        if element.tag.endswith("}g"):
            element.attrib.pop("id", None)
        elif "id" in element.attrib:
            element.set("id", self.name(element.get("id")))
        self.style(element)

    def join_words(self, text):
        """Letters of a number that have a place each become a word."""
        for word in list(text)[1:]:
            before = text[list(text).index(word) - 1]
            if (word.get("y"), word.get("class")) == (before.get("y"), before.get("class")) and (before.text + word.text).isdigit():
                before.text += word.text
                text.remove(word)

    def unwrap(self, parent):
        for child in list(parent):
            self.unwrap(child)
            child.tail = None
            if child.tag.endswith("}g") and not child.attrib or child.tag.endswith("}defs") and len(child) == 0:
                at = list(parent).index(child)
                parent.remove(child)
                for k, inner in enumerate(child):
                    parent.insert(at + k, inner)

    def slim(self):
        self.root.remove(self.root.find(f"{{{SVG}}}metadata"))
        for style in self.root.iter(f"{{{SVG}}}defs"):
            for old in style.findall(f"{{{SVG}}}style"):
                style.remove(old)
        for group in list(self.root.iter(f"{{{SVG}}}g")):
            if group.get("id", "").startswith("matplotlib.axis_"):
                self.merge_ticks(group)
        used = {use.get(HREF)[1:] for use in self.root.iter(f"{{{SVG}}}use")}
        for parent in list(self.root.iter(f"{{{SVG}}}defs")):
            for marker in parent.findall(f"{{{SVG}}}path"):
                if marker.get("id") not in used:
                    parent.remove(marker)
        for element in self.root.iter():
            if element.text is not None and not element.text.strip():
                element.text = None
            elif element.text is not None and element.text[0] == " ":  # which would not be shown
                element.text = "\N{NO-BREAK SPACE}" + element.text[1:]
            self.attributes(element)
        for text in self.root.iter(f"{{{SVG}}}text"):
            self.join_words(text)
        self.unwrap(self.root)
        rules = "".join(f".{name}{{{words}}}" for words, name in self.classes.items())
        style = ET.Element(f"{{{SVG}}}style")
        style.text = f"*{{stroke-linejoin:round;stroke-linecap:butt}}text{{font-family:{FONTS}}}{rules}"
        self.root.insert(0, style)


def slim(text):
    """The small form of an SVG file."""
    root = ET.fromstring(text)
    Slimmer(root).slim()
    for child in root:
        child.tail = "\n"
    return ET.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"
