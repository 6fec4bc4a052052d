# SPDX-License-Identifier: Apache-2.0
"""What the demos leave in their folders: frames and their series; of newel-heart activation times and electrograms.

Needs numpy and zlib.
"""
import pathlib
import re
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np

TYPES = {"Float64": "f8", "Float32": "f4", "Int32": "i4", "Int64": "i8", "UInt8": "u1"}
MARK = re.compile(rb'<AppendedData encoding="raw">\s*_')


class NoRun(Exception):
    """A folder or file that is not what newel-heart writes; the message names it."""


class Vtu:
    """A .vtu of tetrahedra as newel writes it: appended raw arrays in blocks compressed by zlib, 64-bit headers."""

    def __init__(self, path):
        self.path = path
        try:
            data = path.read_bytes()
        except OSError as error:
            raise NoRun(f"{path}: {error.strerror}") from None
        mark = MARK.search(data)
        if not mark:
            raise NoRun(f"{path}: not a .vtu of newel: there is no raw appended data")
        try:
            root = ElementTree.fromstring(data[:mark.start()] + b"</VTKFile>")
            piece = root.find("UnstructuredGrid/Piece")
            self.nodes, self.cells = int(piece.get("NumberOfPoints")), int(piece.get("NumberOfCells"))
        except (ElementTree.ParseError, AttributeError, TypeError, ValueError) as error:
            raise NoRun(f"{path}: not a .vtu of newel: {error}") from None
        if (root.get("type"), root.get("header_type"), root.get("compressor")) != (
                "UnstructuredGrid", "UInt64", "vtkZLibDataCompressor"):
            raise NoRun(f"{path}: not a .vtu of newel: UnstructuredGrid, UInt64 and zlib are expected")
        self._order = {"LittleEndian": "<", "BigEndian": ">"}.get(root.get("byte_order"), "<")
        self._bytes = memoryview(data)[mark.end():]
        self._arrays = {(part.tag, array.get("Name")): array for part in piece for array in part}

    def _read(self, part, name, count):
        array = self._arrays.get((part, name))
        if array is None:
            raise NoRun(f"{self.path}: there is no array '{name}' in {part}")
        try:
            dtype = np.dtype(self._order + TYPES[array.get("type")])
            values = np.frombuffer(self._unpacked(int(array.get("offset"))), dtype)
        except (zlib.error, KeyError, TypeError, ValueError) as error:
            raise NoRun(f"{self.path}: '{name}' cannot be unpacked, the file is damaged: {error}") from None
        if len(values) != count:
            raise NoRun(f"{self.path}: '{name}' has {len(values)} numbers, {count} are expected")
        return values

    def _unpacked(self, offset):
        """Number of blocks, size of each, size of the last where shorter, compressed sizes; then the blocks."""
        word = np.dtype(self._order + "u8")
        blocks = int(np.frombuffer(self._bytes, word, 1, offset)[0])
        sizes = np.frombuffer(self._bytes, word, blocks, offset + 24)
        at = offset + 24 + 8 * blocks
        parts = []
        for size in map(int, sizes):
            parts.append(zlib.decompress(self._bytes[at:at + size]))
            at += size
        return b"".join(parts)

    def points(self):
        return self._read("Points", "Points", 3 * self.nodes).reshape(-1, 3)

    def tets(self):
        if np.any(self._read("Cells", "types", self.cells) != 10):
            raise NoRun(f"{self.path}: other cells than tetrahedra")
        tets = self._read("Cells", "connectivity", 4 * self.cells).reshape(-1, 4)
        if self.cells == 0 or tets.min() < 0 or tets.max() >= self.nodes:
            raise NoRun(f"{self.path}: no tetrahedra, or tetrahedra of nodes that there are not")
        return tets

    def on_nodes(self, name):
        return self._read("PointData", name, self.nodes).astype(float)

    def vectors(self, name):
        """Three numbers for each node, (n, 3)."""
        return self._read("PointData", name, 3 * self.nodes).reshape(-1, 3).astype(float)


def series_of(path, program):
    """Times and files of the frames in a .pvd."""
    try:
        frames = ElementTree.fromstring(path.read_bytes()).findall("Collection/DataSet")
        times = np.array([float(frame.get("timestep")) for frame in frames])
        files = [path.parent / frame.get("file") for frame in frames]
    except OSError as error:
        raise NoRun(f"{path.parent}: not the folder of a {program} run: {path.name}: {error.strerror}") from None
    except (ElementTree.ParseError, TypeError, ValueError) as error:
        raise NoRun(f"{path}: not a list of frames: {error}") from None
    if not frames:
        raise NoRun(f"{path}: no frame in it")
    return times, files


class Run:
    """points (n, 3), mm, and tets (m, 4); times of the frames, ms. On nodes: activation, ms, NaN where the wave
    has not been, and transmural, 0 on the inner surface, 1 on the outer one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        if not self.folder.is_dir():
            raise NoRun(f"{self.folder}: there is no such folder")
        self.times, self._files = series_of(self.folder / "heart.pvd", "newel-heart")
        if not (self.folder / "activation.vtu").exists():
            raise NoRun(f"{self.folder}: there is no activation.vtu, the run has not ended; "
                        f"`newel-heart --resume {self.folder}` continues it")
        activation = Vtu(self.folder / "activation.vtu")
        self.points, self.tets = activation.points(), activation.tets()
        times = activation.on_nodes("activation_ms")
        self.activation = np.where(times < 0, np.nan, times)
        self.transmural = activation.on_nodes("transmural")
        self._electrograms(self.folder / "electrograms.csv")

    def _electrograms(self, path):
        """clock (k), ms; probes: node numbers from 0; probe_voltage and probe_field (k, probes), mV."""
        try:
            lines = path.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise NoRun(f"{path}: {error}") from None
        names = lines[0].split(",") if lines else []
        found = [re.fullmatch(r"voltage_mV_node_(\d+)", name) for name in names]
        self.probes = [int(match[1]) - 1 for match in found if match]
        if len(lines) < 2 or not self.probes or len(names) != 1 + 2 * len(self.probes):
            raise NoRun(f"{path}: not the electrograms of newel-heart")
        table = np.empty((len(lines) - 1, len(names)))
        for k, line in enumerate(lines[1:]):
            try:
                table[k] = np.array(line.split(","), float).reshape(len(names))
            except ValueError:
                raise NoRun(f"{path}, line {k + 2}: {len(names)} numbers are expected") from None
        if max(self.probes) >= len(self.points):
            raise NoRun(f"{path}: a probe beyond the {len(self.points)} nodes of activation.vtu")
        self.clock = table[:, 0]
        self.probe_voltage, self.probe_field = np.hsplit(table[:, 1:], 2)

    def voltage(self, frame):
        """mV at the nodes."""
        file = Vtu(self._files[frame])
        if file.nodes != len(self.points):
            raise NoRun(f"{file.path}: {file.nodes} nodes, but activation.vtu has {len(self.points)}")
        return file.on_nodes("voltage_mV")

    def frames_near(self, times):
        """The saved frames nearest to these times, each once, in order."""
        return sorted({int(np.argmin(abs(self.times - time))) for time in times})
