# SPDX-License-Identifier: Apache-2.0
"""Reading files of matrices and vectors."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import os
import stat
import zipfile
import zlib
from typing import IO, Any

from . import _core
from ._choices import check_threads, is_utf8
from ._keywords import names_keywords


@names_keywords()
def read(file: str | os.PathLike[str] | IO[Any], *, threads: int | None = None) -> Any:
    """Read a matrix or a vector from a file, using all threads. The format is detected from the content.

    Parameters
    ----------
    file : str, path, or an open file
        Matrix Market: real, complex, integer or pattern entries; general, symmetric, skew-symmetric or Hermitian. Symmetric storage is
        expanded, repeated entries are summed, and entries of a pattern have the value 1.

        Also files of ``scipy.sparse.save_npz`` and one- and two-dimensional arrays of ``numpy.save``, real or complex, PETSc's binary
        matrices and vectors, and text tables with the suffix ``.csv`` or ``.txt``.

        All of them may be compressed with gzip or bzip2. An open file, binary or text, is read from its current
        position to its end.
    threads : int, optional

    Returns
    -------
    scipy.sparse.csr_array, for sparse matrices
    numpy.ndarray, for arrays, for example Matrix Market's layout ``array``: one-dimensional for a single column

    Raises
    ------
    ValueError
        If the file is not well formed; the message names the file and the position. Also for complex values in
        PETSc's files. For a MATLAB file the message gives the line of Python that converts it.
    FileNotFoundError, IsADirectoryError, PermissionError
        As for ``open``.
    """
    rows, columns, indptr, indices, values, is_array = _parts(file, check_threads(threads, None))
    if is_array and values.size == rows * columns:
        full = values.reshape(rows, columns)
        return full.reshape(-1) if columns == 1 else full
    from scipy.sparse import csr_array

    matrix = csr_array((values, indices, indptr), shape=(rows, columns), copy=False)
    matrix.has_canonical_format = True
    # An array that is skew-symmetric comes without its diagonal.
    return matrix.toarray() if is_array else matrix


def _parts(file: str | os.PathLike | IO, threads: int):
    """The input for the library; decompressed here if the library cannot do it."""
    if hasattr(file, "read"):
        content = file.read()
        name = getattr(file, "name", None)
        # Comments may have any letters.
        data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
        return _parse(data, name if isinstance(name, str) else "<stream>", threads)
    path = os.fsdecode(file)
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as opened:
            head = opened.read(4)
            if _needs_unpacking(head) or not is_utf8(path):
                return _parse(head + opened.read(), path, threads)
    return _core.read_matrix_file(path, threads)


def _needs_unpacking(head: bytes) -> bool:
    """Whether a file that starts with these bytes uses a compression that this build of the library does not
    support."""
    return head[:3] == b"BZh" or (not _core.has_zlib and (head[:2] == b"\x1f\x8b" or head[:2] == b"PK"))


def _parse(data: bytes, name: str, threads: int):
    name = name.encode(errors="replace").decode()  # for messages
    try:
        if _needs_unpacking(data[:4]):
            data = _unpacked(data)
    except (EOFError, OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{name}: expected intact packed data: {error}") from error
    return _core.parse_matrix_file(data, name, threads)


def _unpacked(data: bytes) -> bytes:
    if data[:3] == b"BZh":
        return bz2.decompress(data)
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    stored = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as packed, zipfile.ZipFile(stored, "w") as plain:
        for member in packed.namelist():
            plain.writestr(member, packed.read(member))
    return stored.getvalue()
