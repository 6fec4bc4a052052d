! SPDX-License-Identifier: Apache-2.0
!> Arrays of any supported index or value kind, in the form that the C interface takes: address, bits and sizes.
module newel_arrays
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private
  public :: array_view, indices, value_name, values

  !> Valid as long as the array that it refers to, which must have the attribute target.
  type :: array_view
    type(c_ptr) :: address = c_null_ptr  !< of the first element; null if there is none
    integer :: bits = 0                  !< per element; of complex values minus those of a part
    integer(int64) :: rows = 0, columns = 1
    integer(int64) :: last = 0           !< of an index array: its last element
  end type

  interface indices
    module procedure indices_32, indices_64
  end interface

  interface values
    module procedure values_32, values_64, columns_32, columns_64
    module procedure values_c32, values_c64, columns_c32, columns_c64
  end interface

contains

  function indices_32(array) result(view)
    integer(int32), intent(in), contiguous, target :: array(:)
    type(array_view) :: view
    view = array_view(bits=32, rows=size(array, kind=int64))
    if (size(array) == 0) return
    view%address = c_loc(array)
    view%last = array(size(array))
  end function

  function indices_64(array) result(view)
    integer(int64), intent(in), contiguous, target :: array(:)
    type(array_view) :: view
    view = array_view(bits=64, rows=size(array, kind=int64))
    if (size(array) == 0) return
    view%address = c_loc(array)
    view%last = array(size(array))
  end function

  function values_32(array) result(view)
    real(real32), intent(in), contiguous, target :: array(:)
    type(array_view) :: view
    view = array_view(bits=32, rows=size(array, kind=int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function values_64(array) result(view)
    real(real64), intent(in), contiguous, target :: array(:)
    type(array_view) :: view
    view = array_view(bits=64, rows=size(array, kind=int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function columns_32(array) result(view)
    real(real32), intent(in), contiguous, target :: array(:, :)
    type(array_view) :: view
    view = array_view(bits=32, rows=size(array, 1, int64), columns=size(array, 2, int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function columns_64(array) result(view)
    real(real64), intent(in), contiguous, target :: array(:, :)
    type(array_view) :: view
    view = array_view(bits=64, rows=size(array, 1, int64), columns=size(array, 2, int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function values_c32(array) result(view)
    complex(real32), intent(in), contiguous, target :: array(:)
    type(array_view) :: view
    view = array_view(bits=-32, rows=size(array, kind=int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function values_c64(array) result(view)
    complex(real64), intent(in), contiguous, target :: array(:)
    type(array_view) :: view
    view = array_view(bits=-64, rows=size(array, kind=int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function columns_c32(array) result(view)
    complex(real32), intent(in), contiguous, target :: array(:, :)
    type(array_view) :: view
    view = array_view(bits=-32, rows=size(array, 1, int64), columns=size(array, 2, int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  function columns_c64(array) result(view)
    complex(real64), intent(in), contiguous, target :: array(:, :)
    type(array_view) :: view
    view = array_view(bits=-64, rows=size(array, 1, int64), columns=size(array, 2, int64))
    if (size(array) > 0) view%address = c_loc(array)
  end function

  !> 'real64' or 'complex64', by the bits of a view of values.
  pure function value_name(bits) result(name)
    integer, intent(in) :: bits
    character(:), allocatable :: name
    name = trim(merge('complex', 'real   ', bits < 0))//merge('32', '64', abs(bits) == 32)
  end function
end module
