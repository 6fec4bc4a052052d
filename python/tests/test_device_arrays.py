# SPDX-License-Identifier: Apache-2.0
"""How arrays of unknown libraries are read, and choices of devices and streams: nothing here needs a device."""

import numpy as np
import pytest

import newel
from newel._choices import choose_device, stream_handle
from newel._device_array import ForeignArray, shape_of

needs_cuda = pytest.mark.skipif(not newel._core.has_cuda, reason="this build has no CUDA")


class Interface:
    def __init__(self, **fields):
        described = {"shape": (4, 3), "typestr": "<f8", "data": (4096, True), "version": 3}
        self.__cuda_array_interface__ = {**described, **fields}


def test_the_array_interface_is_read():
    array = ForeignArray.of(Interface(strides=None, stream=7))
    assert (array.address, array.shape, array.strides, array.stream) == (4096, (4, 3), (24, 8), 7)
    assert array.dtype == np.float64 and array.size == 12 and array.ndim == 2
    assert array.by_rows and not array.by_columns
    assert ForeignArray.of(array) is array


@pytest.mark.parametrize("fields, by_rows, by_columns", [
    ({"strides": (8, 32)}, False, True),
    ({"strides": (24, 8)}, True, False),
    ({"strides": (16, 64)}, False, False),
    ({"shape": (4, 1), "strides": (8, 8)}, True, True),
    ({"shape": (4, 1), "strides": (8, 999)}, True, True),
    ({"shape": (1, 4), "strides": (999, 8)}, True, True),
    ({"shape": (5,)}, True, True),
    ({"shape": (5,), "strides": (-8,)}, False, False),
    ({"shape": (4, 0), "strides": (0, 0)}, True, True),
])
def test_orders_are_told_apart(fields, by_rows, by_columns):
    array = ForeignArray.of(Interface(**fields))
    assert (array.by_rows, array.by_columns) == (by_rows, by_columns)


@pytest.mark.parametrize("stream, expected", [(None, 0), (1, 0), (2, 2), (140001, 140001)])
def test_streams_of_the_array_interface_are_read(stream, expected):
    assert ForeignArray.of(Interface(stream=stream)).stream == expected


@needs_cuda
def test_an_interface_without_a_stream_is_read_by_dlpack_which_waits():
    values, asked = np.arange(12.0).reshape(4, 3), []

    class Both(Interface):
        def __dlpack__(self, stream):
            asked.append(stream)
            return values.__dlpack__()

    array = ForeignArray.of(Both())
    assert asked == [1]  # the default stream, in which the values are read
    assert array.address == values.__array_interface__["data"][0] and array.shape == (4, 3)
    assert ForeignArray.of(Both(stream=7)).address == 4096 and asked == [1]  # it says when the values are there


def test_masks_are_refused():
    with pytest.raises(TypeError, match="mask"):
        ForeignArray.of(Interface(mask=Interface()))


def test_an_empty_array_may_have_no_address():
    assert ForeignArray.of(Interface(data=(None, False), shape=(0,))).address == 0


def test_shapes_are_those_of_whatever_comes():
    assert shape_of(Interface()) == (4, 3)
    assert shape_of(np.ones((2, 5))) == (2, 5)
    assert shape_of([1, 2, 3]) == (3,)


@needs_cuda
@pytest.mark.parametrize("values", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.ones((2, 3), dtype=np.float32)),
                                    np.arange(5, dtype=np.int64)[::2], np.array([True]), np.arange(3, dtype=np.uint32)])
def test_dlpack_is_read(values):
    array = newel._core.DlpackArray(values.__dlpack__())
    assert array.address == values.__array_interface__["data"][0]
    assert tuple(array.shape) == values.shape and tuple(array.strides) == values.strides
    assert np.dtype(array.type) == values.dtype


@pytest.mark.parametrize("device, of_matrix, of_vectors, expected", [
    ("auto", None, None, None),
    ("auto", 1, None, 1),
    ("auto", None, 2, 2),
    ("auto", 1, 2, 1),
    ("host", None, 2, None),
    ("cpu", None, None, None),
])
def test_a_system_is_where_its_matrix_is(device, of_matrix, of_vectors, expected):
    assert choose_device(device, of_matrix, of_vectors) == expected


@needs_cuda
def test_a_device_may_be_named():
    assert choose_device("cuda", None, None) == 0
    assert choose_device("cuda", None, 3) == 3
    assert choose_device("cuda", 2, 3) == 2
    assert choose_device("cuda:5", None, None) == 5
    with pytest.raises(ValueError, match="A is on device 2"):
        choose_device("cuda:5", 2, None)


@pytest.mark.skipif(newel._core.has_cuda, reason="this build has CUDA")
def test_a_build_without_cuda_says_so():
    with pytest.raises(RuntimeError, match="this build of Newel has no CUDA"):
        choose_device("cuda", None, None)
    with pytest.raises(RuntimeError, match="this build of Newel has no CUDA"):
        newel.solve(newel.Solver, Interface())
    assert newel.devices() == []


def test_streams_come_in_several_kinds():
    class OfCuPy:
        ptr = 11

    class OfPyTorch:
        cuda_stream = 12

    class OfCudaPython:
        def __cuda_stream__(self):
            return 0, 13

    streams = [OfCuPy(), OfPyTorch(), OfCudaPython(), 14, np.int64(15), None]
    assert [stream_handle(stream, 0) for stream in streams] == [11, 12, 13, 14, 15, None]
    with pytest.raises(TypeError, match="expected a stream of CuPy or PyTorch"):
        stream_handle("fast", 0)
    with pytest.raises(ValueError, match="on the host"):
        stream_handle(14, None)
