# SPDX-License-Identifier: Apache-2.0
"""Reading files, and the description of a matrix."""

import bz2
import gzip
import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import convection, laplacian

import newel


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_a_matrix_is_read_as_scipy_reads_it(tmp_path, suffix, symmetry):
    a = laplacian(6)
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, a, symmetry=symmetry, precision=17)
    if suffix == ".mtx.gz":
        path = tmp_path / "a.mtx.gz"
        path.write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    read = newel.read(path)
    assert isinstance(read, sp.csr_array) and read.dtype == np.float64
    assert (read != a).nnz == 0
    assert newel.solve(read, np.ones(36))[1].converged


@pytest.mark.parametrize("has_zlib", [False, True])
def test_packed_files_are_read_without_zlib_too(tmp_path, monkeypatch, has_zlib):
    if has_zlib and not newel._core.has_zlib:
        pytest.skip("this build has no zlib")
    monkeypatch.setattr(newel._core, "has_zlib", has_zlib)
    text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4.0\n2 1 -1.5\n"
    packed = gzip.compress(text)
    (tmp_path / "a.mtx.gz").write_bytes(packed)
    assert np.array_equal(newel.read(tmp_path / "a.mtx.gz").toarray(), [[4.0, -1.5], [-1.5, 0.0]])
    (tmp_path / "cut.mtx.gz").write_bytes(packed[:-12])
    with pytest.raises(ValueError, match=r"cut\.mtx\.gz: expected"):
        newel.read(tmp_path / "cut.mtx.gz")
    (tmp_path / "bad.mtx.gz").write_bytes(gzip.compress(text.replace(b"2 1", b"3 1")))
    with pytest.raises(ValueError, match=r"bad\.mtx\.gz:4"):
        newel.read(tmp_path / "bad.mtx.gz")


def test_an_array_is_read_as_numpy_has_it(tmp_path):
    for values in (np.arange(5.0), np.arange(12.0).reshape(4, 3)):
        path = tmp_path / "b.mtx"
        scipy.io.mmwrite(path, values.reshape(values.shape[0], -1), precision=17)
        assert np.array_equal(newel.read(str(path)), values)


def test_a_damaged_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 4.0\n")
    with pytest.raises(ValueError, match=r"a\.mtx:3"):
        newel.read(path)


def test_files_that_are_not_there_raise_what_open_raises(tmp_path):
    for name in (tmp_path / "nowhere.mtx", str(tmp_path / "nowhere.mtx"), bytes(tmp_path / "nowhere.mtx")):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            newel.read(name)
    with pytest.raises(IsADirectoryError):
        newel.read(tmp_path)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_skew_symmetric_array_is_read_with_its_zero_diagonal(tmp_path, n):
    lower = np.tril(np.arange(1.0, n * n + 1).reshape(n, n), -1)
    a = lower - lower.T
    path = tmp_path / "skew.mtx"
    scipy.io.mmwrite(path, a, symmetry="skew-symmetric", precision=17)
    read = newel.read(path)
    assert isinstance(read, np.ndarray) and read.shape == (n, n)
    assert np.array_equal(read, a)


def test_open_files_are_read_from_where_they_stand(tmp_path):
    text = "%%MatrixMarket matrix coordinate real symmetric\n% Müller\n2 2 2\n1 1 4.0\n2 1 -1.5\n"
    expected = [[4.0, -1.5], [-1.5, 0.0]]
    plain, packed = tmp_path / "a.mtx", tmp_path / "a.mtx.gz"
    plain.write_text(text, encoding="utf-8")
    packed.write_bytes(gzip.compress(text.encode()))
    with open(plain, encoding="utf-8") as words, open(plain, "rb") as raw, gzip.open(packed) as inflated:
        for stream in (words, raw, inflated, io.StringIO(text), io.BytesIO(text.encode()), io.BytesIO(packed.read_bytes())):
            assert np.array_equal(newel.read(stream).toarray(), expected)
    later = io.BytesIO(b"before" + text.encode())
    later.seek(6)
    assert np.array_equal(newel.read(later).toarray(), expected)
    (tmp_path / "a.mtx.bz2").write_bytes(bz2.compress(text.encode()))
    assert np.array_equal(newel.read(tmp_path / "a.mtx.bz2").toarray(), expected)
    with pytest.raises(ValueError, match=r"<stream>:1: expected the banner"):
        newel.read(io.StringIO("nothing"))
    with open(tmp_path / "bad.mtx", "w+") as bad:
        bad.write(text.replace("2 1 -1.5", "3 1 -1.5"))
        bad.seek(0)
        with pytest.raises(ValueError, match=r"bad\.mtx:5"):
            newel.read(bad)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_what_save_npz_writes_is_read(tmp_path, kind, form, packed):
    a = kind(convection(6))
    sp.save_npz(tmp_path / "a.npz", a.asformat(form), compressed=packed)
    read = newel.read(tmp_path / "a.npz")
    assert isinstance(read, sp.csr_array)
    assert (read != sp.csr_array(a)).nnz == 0


@pytest.mark.parametrize("has_zlib", [False, True])
def test_packed_archives_are_read_without_zlib_too(tmp_path, monkeypatch, has_zlib):
    if has_zlib and not newel._core.has_zlib:
        pytest.skip("this build has no zlib")
    monkeypatch.setattr(newel._core, "has_zlib", has_zlib)
    sp.save_npz(tmp_path / "a.npz", laplacian(4))
    assert (newel.read(tmp_path / "a.npz") != sp.csr_array(laplacian(4))).nnz == 0


@pytest.mark.parametrize("dtype", ["f8", ">f4", "i2", "u8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_numpy_saves_is_read(tmp_path, dtype, order):
    for values in (np.arange(5), np.arange(12).reshape(4, 3), np.zeros((0, 2))):
        saved = np.asarray(values, dtype=dtype, order=order)
        np.save(tmp_path / "b.npy", saved)
        read = newel.read(tmp_path / "b.npy")
        assert read.dtype == np.float64 and np.array_equal(read, saved.astype(float))
    values = np.arange(3) * (2 - 1j)
    np.save(tmp_path / "c.npy", values)
    read = newel.read(tmp_path / "c.npy")
    assert read.dtype == np.complex128 and np.array_equal(read, values)


def _converted(path):
    """What the line that answers a file of MATLAB converts it to."""
    with pytest.raises(ValueError, match="MATLAB") as refused:
        newel.read(path)
    line = re.search(r'python3 -c "(.*)"$', str(refused.value)).group(1)
    subprocess.run([sys.executable, "-c", line], check=True)
    return newel.read(path.with_suffix(".mtx"))


def test_the_line_that_answers_a_file_of_matlab_converts_it(tmp_path):
    a = convection(4)
    path = tmp_path / "A.mat"
    for content in ({"A": sp.csc_array(a)}, {"Problem": {"A": sp.csc_array(a), "name": "x"}}, {"A": a.toarray()}):
        for options in ({}, {"do_compression": True}):
            scipy.io.savemat(path, content, **options)
            read = _converted(path)
            assert np.allclose(read.toarray() if sp.issparse(read) else read, a.toarray(), rtol=1e-14)
    scipy.io.savemat(path, {"A": sp.csc_array(a)}, format="4")
    assert np.allclose(_converted(path).toarray(), a.toarray(), rtol=1e-14)


def test_the_line_that_answers_a_file_of_hdf5_converts_it(tmp_path):
    h5py = pytest.importorskip("h5py")
    a = sp.csc_array(convection(4))
    path = tmp_path / "A.mat"
    for folder in ("", "Problem/"):
        with h5py.File(path, "w", userblock_size=512) as file:
            group = file.create_group(folder + "A")
            group.attrs["MATLAB_sparse"] = a.shape[0]
            group["data"], group["ir"], group["jc"] = a.data, a.indices, a.indptr
        with open(path, "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
        assert np.allclose(_converted(path).toarray(), a.toarray(), rtol=1e-14)


def test_facts_are_those_of_the_matrix():
    facts = newel.info(laplacian(10))
    assert facts["rows"] == 100 and facts["nonzeros"] == laplacian(10).nnz
    assert facts["symmetric"] and facts["positive_diagonal"] and not facts["rows_sum_to_zero"]
    assert facts["row_length"] == (3, 4.6, 5)
    assert facts["magnitudes"] == (1.0, 4.0)
    assert facts["solvers"][0] == "cg" and "cg" in facts["recommendation"]
    assert "100 x 100" in repr(facts)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_facts_do_not_depend_on_the_form(form):
    facts = newel.info(convection(30).asformat(form))
    assert not facts["symmetric"] and facts["pattern_symmetric"] and facts["solvers"][0] == "bicgstab"
    assert facts["largest_asymmetry"] == pytest.approx(1.2)


def test_repeated_entries_are_summed_for_the_facts():
    a = sp.coo_array((np.array([1.0, 1.0, 5.0]), (np.array([0, 0, 1]), np.array([0, 0, 1]))), shape=(2, 2))
    facts = newel.info(a)
    assert facts["nonzeros"] == 3 and facts["magnitudes"] == (2.0, 5.0) and facts["row_length"] == (1, 1.0, 1)
    csr = sp.csr_array((np.array([1.0, 1.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert newel.info(csr)["magnitudes"] == (2.0, 5.0) and csr.nnz == 3


def test_facts_name_what_is_wrong():
    a = convection(10).tolil()
    a[4, 4] = -1
    a[7, 7] = 0
    facts = newel.info(a.tocsr())
    assert facts["negative_diagonal"] == {"count": 1, "first": 4}
    assert facts["missing_diagonal"]["count"] + facts["zero_diagonal"]["count"] == 1
    assert "row 4" in repr(facts) and "row 7" in repr(facts)
    assert "not square" in repr(newel.info(convection(10)[:, :5]))
    a[2, :] = 0
    facts = newel.info(a.tocsr())
    assert "row 2 is empty" in facts["recommendation"]


def test_names_are_those_that_options_take():
    a = laplacian(5)
    for name in newel.solvers():
        matrix = sp.eye_array(25, format="csr") if name == "division" else a
        assert newel.solve(matrix, np.ones(25), solver=name)[1].converged
    constraint = sp.block_array([[a, np.ones((25, 1))], [np.ones((1, 25)), None]], format="csr")
    for name in newel.preconditioners():
        matrix = constraint if name == "saddle" else a
        assert newel.solve(matrix, np.ones(matrix.shape[0]), preconditioner=name)[1].converged
    for name in newel.formats():
        assert newel.solve(a, np.ones(25), format=name)[1].converged
    for name, value in {**newel.preconditioner_options(), **newel.solver_options()}.items():
        newel.Solver(a, options={name: value})


def test_options_of_a_solver_are_those_of_the_table():
    assert newel.solver_options() == {"resident": True, "restart": 0, "left": False, "basis": "full", "idr_s": 4,
                                      "scale": "auto", "match": "auto", "guess": "given",
                                      "recycle": "0"}
    a = convection(10)
    by_keyword = newel.solve(a, np.ones(a.shape[0]), solver="gmres", preconditioner="jacobi", restart=7)
    by_option = newel.solve(a, np.ones(a.shape[0]), solver="gmres", preconditioner="jacobi", options={"restart": 7})
    assert np.array_equal(by_keyword[0], by_option[0])
    usual = newel.solve(a, np.ones(a.shape[0]), solver="gmres", preconditioner="jacobi")
    assert not np.array_equal(by_option[0], usual[0])
    left = newel.solve(a, np.ones(a.shape[0]), solver="gmres", preconditioner="jacobi", options={"left": True})
    assert not np.array_equal(by_keyword[0], left[0])
    for options, words in (({"left": 1}, "True or False"), ({"basis": "half"}, "one of full, single"),
                           ({"restart": -1}, "a whole number from 0"), ({"restrt": 3}, "did you mean 'restart'")):
        with pytest.raises(ValueError, match=words):
            newel.Solver(a, solver="gmres", options=options)
    with pytest.warns(UserWarning, match="options: basis has no effect: it belongs to the solver gmres"):
        newel.Solver(a, solver="bicgstab", options={"basis": "single"})


def test_the_direct_solver_needs_no_iteration_and_says_what_it_found():
    a = convection(12)
    b = a @ np.arange(1.0, a.shape[0] + 1)
    x, report = newel.solve(a, b, solver="direct")
    assert report.converged and report.solver == "direct" and report.iterations == 0
    assert np.allclose(x, np.arange(1.0, a.shape[0] + 1), rtol=1e-10)
    solver = newel.Solver(a, solver="direct")
    solver.refresh(2 * a)
    assert np.allclose(solver.solve(b)[0], x / 2, rtol=1e-10)
    singular = sp.csr_array(np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 1.0, 1.0]]))
    _, report = newel.solve(singular, np.array([1.0, 0.0, 0.0]), solver="direct")
    assert report.status == "breakdown" and report.cause == "singular"
    assert report.reason.startswith("the matrix is singular: at most 2 rows can be paired")
    with pytest.raises(ValueError, match="'direct' uses no preconditioner"):
        newel.solve(a, b, solver="direct", preconditioner="jacobi")


def test_a_solver_for_diagonal_matrices_refuses_others():
    diagonal = sp.diags_array(np.arange(1.0, 9.0), format="csr")
    x, report = newel.solve(diagonal, np.ones(8), solver="division")
    assert report.solver == "division" and report.iterations == 0
    assert np.allclose(x, 1 / np.arange(1.0, 9.0), rtol=1e-15)
    with pytest.raises(ValueError, match="'division' is for diagonal matrices"):
        newel.solve(laplacian(4), np.ones(16), solver="division")


def test_a_file_whose_name_is_not_in_utf8_is_read(tmp_path):
    path = os.fsencode(tmp_path / "a") + b"\xff.mtx"
    text = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4.0\n2 1 -1.5\n"
    try:
        with open(path, "wb") as file:
            file.write(text)
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    assert np.array_equal(newel.read(path).toarray(), [[4.0, 0.0], [-1.5, 0.0]])
    with open(os.fsdecode(path)) as file:
        assert newel.read(file).nnz == 2
    with open(path, "wb") as file:
        file.write(text.replace(b"2 1", b"3 1"))
    with pytest.raises(ValueError, match=r"a\?\.mtx:4"):
        newel.read(path)
