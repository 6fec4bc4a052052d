#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of tests/io/files by NumPy and SciPy: one matrix of 4 x 6, with a repeated entry in coo, in every format of
save_npz, packed and not, in several types; and arrays. test_matrix_file.cpp has the values in its own words."""

import pathlib

import numpy as np
import scipy.sparse as sp

folder = pathlib.Path(__file__).parent / "files"
folder.mkdir(exist_ok=True)
row = np.array([3, 0, 0, 1, 2, 3, 0])
col = np.array([5, 0, 2, 1, 4, 0, 2])
value = np.array([-7.0, 1.0, 2.0, 3.0, 4.0, 5.0, 2.0])
coo = sp.coo_array((value, (row, col)), shape=(4, 6))
sp.save_npz(folder / "coo.npz", coo, compressed=False)
sp.save_npz(folder / "coo_packed.npz", coo)
for form in ("csr", "csc", "dia"):
    sp.save_npz(folder / f"{form}.npz", coo.asformat(form), compressed=False)
    sp.save_npz(folder / f"{form}_packed.npz", sp.coo_matrix(coo).asformat(form))
for blocks in ((2, 2), (2, 3), (4, 1)):
    sp.save_npz(folder / f"bsr_{blocks[0]}x{blocks[1]}.npz", coo.tocsr().tobsr(blocks))
for kind in ("int8", "uint16", "int64", "float32"):
    unsigned = abs(coo.tocsr()) if kind.startswith("u") else coo.tocsr()
    sp.save_npz(folder / f"csr_{kind}.npz", unsigned.astype(kind))
sp.save_npz(folder / "csr_complex.npz", coo.tocsr().astype(complex))
wide = coo.tocsr()
wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
sp.save_npz(folder / "csr_wide.npz", wide)
unsorted = sp.csr_array((np.array([2.0, 1.0, 2.0, 3.0, 4.0, 5.0, -7.0]), np.array([2, 0, 2, 1, 4, 0, 5]),
                         np.array([0, 3, 4, 5, 7])), shape=(4, 6))
sp.save_npz(folder / "csr_unsorted.npz", unsorted)
np.savez(folder / "single_array.npz", np.array([1.5, -2.5, 3.5]))
np.savez(folder / "two_arrays.npz", a=np.ones(2), b=np.ones(2))

vector = np.array([1.5, -2.5, 3.5])
np.save(folder / "vector.npy", vector)
np.save(folder / "column.npy", vector.reshape(-1, 1))
np.save(folder / "row.npy", vector.reshape(1, -1))
full = np.arange(6.0).reshape(3, 2) - 1.5
np.save(folder / "by_rows.npy", full)
np.save(folder / "by_columns.npy", np.asfortranarray(full))
np.save(folder / "big_endian.npy", full.astype(">f8"))
np.save(folder / "half.npy", np.array([1.5, -0.25, 2.0**-24, 65504.0], dtype=np.float16))
np.save(folder / "truth.npy", np.array([True, False, True]))
np.save(folder / "unsigned.npy", np.array([0, 2**64 - 1], dtype=np.uint64))
np.save(folder / "complex.npy", vector.astype(complex))
# An entry without a real part, and one without an imaginary part.
phase = np.array([1 + 2j, 1j, 1 - 1j, 1, 2 - 3j, 1 + 0.5j, 1 - 1j])
complex_coo = sp.coo_array((value * phase, (row, col)), shape=(4, 6))
for form in ("coo", "csr", "csc", "dia"):
    sp.save_npz(folder / f"complex_{form}.npz", complex_coo.asformat(form), compressed=form == "csr")
sp.save_npz(folder / "complex_bsr.npz", complex_coo.tocsr().tobsr((2, 3)))
sp.save_npz(folder / "complex64_csr.npz", complex_coo.tocsr().astype(np.complex64))
np.save(folder / "complex_by_columns.npy", np.asfortranarray(full + 1j * full[::-1]))
np.save(folder / "complex_nan.npy", np.array([1.0, 2 + 1j * np.inf]))
np.save(folder / "three_dimensions.npy", np.ones((2, 2, 2)))
np.save(folder / "records.npy", np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")]))
np.save(folder / "objects.npy", np.array([None, 1], dtype=object), allow_pickle=True)
np.save(folder / "nan.npy", np.array([1.0, np.nan]))
