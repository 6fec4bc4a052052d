! SPDX-License-Identifier: Apache-2.0
!> The data of a system that has a matrix, and the setup from arrays of any kind.
module newel_matrices
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int64
  use newel_arrays, only: array_view, value_name
  use newel_bindings, only: newel_setup_bsr, newel_setup_coo, newel_setup_csc, newel_setup_csr, newel_update_csr
  use newel_errors, only: call_outcome, decimal
  use newel_settings, only: newel_options
  implicit none
  private
  public :: bsr, coo, csc, csr, newel_matrix

  integer, parameter :: csr = 1, csc = 2, coo = 3, bsr = 4
  character(7), parameter :: pointers(4) = ['row_ptr', 'col_ptr', 'row    ', 'row_ptr']
  character(3), parameter :: others(4) = ['col', 'row', 'col', 'col']

  !> Options and a matrix. Extended by newel_forms.
  type, extends(newel_options) :: newel_matrix
    private
    integer(int64) :: n = 0
    integer(int64) :: value_count = 0
    integer :: value_bits = 0
  contains
    !> Rows of the matrix; 0 if there is none.
    procedure :: rows
    !> Number of values that a refresh needs, and the bits of one, of complex values minus those of a part; 0 if there
    !> is no matrix.
    procedure :: entries
    procedure :: precision_bits
    procedure :: destroy
    !> The setup from arrays in one of the forms csr, csc, coo and bsr; n is used only for coo.
    procedure :: set_up
    !> An update by a matrix in CSR. `again`: it was set up again.
    procedure :: update_by
  end type

contains

  pure function rows(self) result(n)
    class(newel_matrix), intent(in) :: self
    integer :: n
    n = int(self%n)
  end function

  pure function entries(self) result(count)
    class(newel_matrix), intent(in) :: self
    integer(int64) :: count
    count = self%value_count
  end function

  pure function precision_bits(self) result(bits)
    class(newel_matrix), intent(in) :: self
    integer :: bits
    bits = self%value_bits
  end function

  impure elemental subroutine destroy(self)
    class(newel_matrix), intent(inout) :: self
    call self%newel_options%destroy()
    self%n = 0
    self%value_count = 0
    self%value_bits = 0
  end subroutine

  subroutine set_up(self, form, n, block_size, first, second, val, outcome)
    class(newel_matrix), intent(inout) :: self
    integer, intent(in) :: form, n, block_size
    type(array_view), intent(in) :: first, second, val
    type(call_outcome), intent(out) :: outcome
    integer(int64) :: block_rows
    call check_sizes(self%index_base(), form, block_size, first, second, val, outcome)
    if (.not. outcome%failed()) call choose_precision(self, val%bits, outcome)
    if (outcome%failed()) return
    block_rows = first%rows - 1
    if (form == coo) block_rows = n
    associate (code => outcome%code, bits => first%bits, one => first%address, two => second%address)
      select case (form)
      case (csr)
        code = newel_setup_csr(self%c_handle(), block_rows, bits, one, two, val%address)
      case (csc)
        code = newel_setup_csc(self%c_handle(), block_rows, bits, one, two, val%address)
      case (coo)
        code = newel_setup_coo(self%c_handle(), block_rows, val%rows, bits, one, two, val%address)
      case default
        code = newel_setup_bsr(self%c_handle(), block_rows, int(block_size, c_int), bits, one, two, val%address)
      end select
    end associate
    call self%explain(outcome)
    self%n = merge(0_int64, block_rows*block_size, outcome%failed())
    self%value_count = merge(0_int64, val%rows, outcome%failed())
    self%value_bits = merge(0, val%bits, outcome%failed())
  end subroutine

  subroutine update_by(self, row_ptr, col, val, keep, again, outcome)
    class(newel_matrix), intent(inout) :: self
    type(array_view), intent(in) :: row_ptr, col, val
    logical, intent(in) :: keep
    logical, intent(out) :: again
    type(call_outcome), intent(out) :: outcome
    integer(c_int) :: set_up_again
    again = .false.
    call check_sizes(self%index_base(), csr, 1, row_ptr, col, val, outcome)
    if (.not. outcome%failed()) call choose_precision(self, val%bits, outcome)
    if (outcome%failed()) return
    outcome%code = newel_update_csr(self%c_handle(), row_ptr%rows - 1, row_ptr%bits, row_ptr%address, col%address, &
                                    val%address, merge(1_c_int, 0_c_int, keep), set_up_again)
    call self%explain(outcome)
    if (outcome%failed()) return
    again = set_up_again /= 0
    self%n = row_ptr%rows - 1
    self%value_count = val%rows
    self%value_bits = val%bits
  end subroutine

  !> Checks that the sizes of the arrays fit each other, which the library cannot check.
  subroutine check_sizes(base, form, block_size, first, second, val, outcome)
    integer, intent(in) :: base, form, block_size
    type(array_view), intent(in) :: first, second, val
    type(call_outcome), intent(inout) :: outcome
    integer(int64) :: expected, per_index
    if (form /= coo .and. first%rows == 0) then
      call outcome%refuse(trim(pointers(form))//': expected at least one element')
      return
    end if
    expected = max(0_int64, first%last - base)
    if (form == coo) expected = first%rows
    per_index = int(block_size, int64)**2
    if (second%rows == expected .and. val%rows == expected*per_index) return
    call outcome%refuse(others(form)//' and val: expected '//decimal(expected)//' and '// &
                        decimal(expected*per_index)//' elements as '//trim(pointers(form))//' has them, found '// &
                        decimal(second%rows)//' and '//decimal(val%rows))
  end subroutine

  !> The kind of the values decides the precision and whether they are complex; a precision that contradicts it is
  !> refused.
  subroutine choose_precision(self, bits, outcome)
    class(newel_matrix), intent(inout) :: self
    integer, intent(in) :: bits
    type(call_outcome), intent(inout) :: outcome
    character(:), allocatable :: asked
    asked = self%precision_set()
    call self%use_option('values', trim(merge('complex', 'real   ', bits < 0)))
    if (asked == '') then
      call self%use_option('precision', merge('single', 'double', abs(bits) == 32))
    else if ((asked == 'single') .neqv. (abs(bits) == 32)) then
      call outcome%refuse('the option precision is '//asked//', and val is '//value_name(bits))
    end if
  end subroutine
end module
