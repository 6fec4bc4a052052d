# SPDX-License-Identifier: Apache-2.0
"""Matrix Market files."""

from __future__ import annotations

import gzip
import os
from typing import Any

from . import _core
from ._choices import check_threads
from ._keywords import names_keywords


@names_keywords()
def read(path: str | os.PathLike[str], *, threads: int | None = None) -> Any:
    """Read a Matrix Market file, plain or gzipped, by all threads.

    Parameters
    ----------
    path : str or path
        Real, integer or pattern entries; general, symmetric or skew-symmetric. Symmetric ones are expanded, repeated
        ones summed, and those of a pattern are 1.
    threads : int, optional

    Returns
    -------
    scipy.sparse.csr_array, for a file of the layout ``coordinate``
    numpy.ndarray, for one of the layout ``array``: of one dimension where it has one column

    Raises
    ------
    ValueError
        With file and line, for what is no well-formed file.
    """
    rows, columns, indptr, indices, values, is_array = _parts(os.fspath(path), check_threads(threads, None))
    if is_array:
        full = values.reshape(rows, columns)
        return full.reshape(-1) if columns == 1 else full
    from scipy.sparse import csr_array

    matrix = csr_array((values, indices, indptr), shape=(rows, columns), copy=False)
    matrix.has_canonical_format = True
    return matrix


def _parts(path: str, threads: int):
    """What the library reads; a packed file is unpacked here where the library was built without zlib."""
    if not _core.has_zlib and os.path.isfile(path):
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        if packed:
            with gzip.open(path) as file:
                try:
                    text = file.read()
                except (EOFError, OSError) as error:
                    raise ValueError(f"{path}: expected an intact gzip stream: {error}") from error
            return _core.parse_matrix(text, path, threads)
    return _core.read_matrix(path, threads)
