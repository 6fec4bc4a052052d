#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile: its instructions are known, what it configures are options of CMakeLists.txt, and its packages are those of
the set-up scripts. No image is built."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def instructions(text):
    """(name, argument) of each instruction, with continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


class Dockerfile(unittest.TestCase):
    def setUp(self):
        self.instructions = instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))

    def test_instructions(self):
        names = [name for name, _ in self.instructions]
        self.assertEqual(names[0], "FROM")
        self.assertEqual(names.count("FROM"), 2)
        self.assertLessEqual(set(names), {"FROM", "RUN", "COPY", "ENV", "ENTRYPOINT"})

    def test_options_exist(self):
        known = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        used = re.findall(r"-D(NEWEL_\w+)=", " ".join(argument for _, argument in self.instructions))
        self.assertGreater(len(used), 5)
        for option in used:
            self.assertRegex(known, rf"(option|set)\({option}\b")

    def test_packages(self):
        listed = (ROOT / "scripts/setup_common.sh").read_text(encoding="utf-8")
        wanted = set(re.search(r"build_packages=\(([^)]*)\)", listed).group(1).split()) - {"make"}
        first = next(argument for name, argument in self.instructions if name == "RUN")
        self.assertLessEqual(wanted, set(first.split()))

    def test_stages(self):
        stages = re.findall(r"^FROM \S+ AS (\w+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)
        copied = [re.match(r"--from=(\w+)", argument) for name, argument in self.instructions if name == "COPY"]
        self.assertEqual([match.group(1) for match in copied if match], stages)


if __name__ == "__main__":
    unittest.main()
