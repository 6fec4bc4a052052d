! SPDX-License-Identifier: Apache-2.0
!> Converts texts between C and Fortran, and ends calls: with stat= and errmsg=, like allocate, or with the program.
module newel_errors
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_null_char, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use newel_bindings, only: newel_invalid, newel_ok
  implicit none
  private
  public :: call_outcome, decimal, from_c, to_c

  !> The result of a call: a status, and a text if the status is not newel_ok. Only procedures that programs call have
  !> errmsg, because gfortran 12 loses the length of a deferred-length argument that is optional on two levels of calls.
  type :: call_outcome
    integer :: code = newel_ok
    character(:), allocatable :: text
  contains
    procedure :: refuse, failed, explain, conclude
  end type

  interface
    function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  !> Records an invalid argument, option or matrix.
  subroutine refuse(self, text)
    class(call_outcome), intent(inout) :: self
    character(*), intent(in) :: text
    self%code = newel_invalid
    self%text = text
  end subroutine

  pure function failed(self)
    class(call_outcome), intent(in) :: self
    logical :: failed
    failed = self%code /= newel_ok
  end function

  !> Sets errmsg if there was an error; otherwise errmsg keeps its value.
  subroutine explain(self, errmsg)
    class(call_outcome), intent(in) :: self
    character(:), allocatable, intent(inout) :: errmsg
    if (self%failed()) errmsg = self%text
  end subroutine

  !> Sets stat. If stat is absent, an error is printed to the error unit and stops the program with exit status 1.
  subroutine conclude(self, stat)
    class(call_outcome), intent(in) :: self
    integer, intent(out), optional :: stat
    if (present(stat)) then
      stat = self%code
    else if (self%failed()) then
      write (error_unit, '(2a)') 'newel: ', self%text
      error stop 1
    end if
  end subroutine

  !> The C text at an address; empty for a null pointer.
  function from_c(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    length = 0
    if (c_associated(address)) length = int(c_strlen(address))
    allocate (character(length) :: text)
    if (length == 0) return
    call c_f_pointer(address, letters, [length])
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  !> The text for C, without trailing blanks.
  pure function to_c(text) result(letters)
    character(*), intent(in) :: text
    character(kind=c_char, len=len_trim(text) + 1) :: letters
    letters = trim(text)//c_null_char
  end function

  !> A whole number as text.
  pure function decimal(number) result(text)
    integer(int64), intent(in) :: number
    character(:), allocatable :: text
    character(20) :: digits
    write (digits, '(i0)') number
    text = trim(digits)
  end function
end module
