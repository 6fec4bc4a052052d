! SPDX-License-Identifier: Apache-2.0
!> Batches: many small systems of one pattern and different values, solved together.
module newel_batches
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use newel_arrays, only: array_view, indices, value_name, values
  use newel_bindings, only: newel_not_converged, newel_setup_batch, newel_solve_batch
  use newel_errors, only: call_outcome, decimal
  use newel_reports, only: why_not_converged
  use newel_setups, only: newel_forms
  implicit none
  private
  public :: newel_batch_forms

  !> A system may also be a batch. Its report number k is that of system k. Extended by newel_system.
  type, extends(newel_forms) :: newel_batch_forms
    private
    integer(int64) :: batch_rows = 0, batch_entries = 0
  contains
    !> call s%setup_batch(row_ptr, col [, stat] [, errmsg]): the pattern of all systems in CSR, with ascending columns in
    !> each row. Values are real(real64), or real(real32) if the option precision is 'single'.
    generic :: setup_batch => setup_batch_32, setup_batch_64
    !> call s%solve_batch(val, b, x [, stat] [, errmsg]): column k of val has the values of system k, in the order of the
    !> pattern; column k of b its right-hand side, and of x its guess, which the solution overwrites.
    generic :: solve_batch => solve_batch_32, solve_batch_64
    procedure, private :: setup_batch_32, setup_batch_64, solve_batch_32, solve_batch_64, setup_any, solve_batch_any
  end type

contains

  subroutine setup_any(self, row_ptr, col, outcome)
    class(newel_batch_forms), intent(inout) :: self
    type(array_view), intent(in) :: row_ptr, col
    type(call_outcome), intent(out) :: outcome
    integer(int64) :: expected
    self%batch_rows = 0
    self%batch_entries = 0
    if (row_ptr%rows == 0) then
      call outcome%refuse('row_ptr: expected at least one element')
      return
    end if
    expected = max(0_int64, row_ptr%last - self%index_base())
    if (col%rows /= expected) then
      call outcome%refuse('col: expected '//decimal(expected)//' elements as row_ptr has them, found '// &
                          decimal(col%rows))
      return
    end if
    outcome%code = newel_setup_batch(self%c_handle(), row_ptr%rows - 1, row_ptr%bits, row_ptr%address, col%address)
    call self%explain(outcome)
    if (outcome%failed()) return
    self%batch_rows = row_ptr%rows - 1
    self%batch_entries = expected
  end subroutine

  subroutine solve_batch_any(self, val, b, x, outcome)
    class(newel_batch_forms), intent(inout) :: self
    type(array_view), intent(in) :: val, b, x
    type(call_outcome), intent(out) :: outcome
    integer :: bits
    bits = merge(32, 64, self%precision_set() == 'single')
    if (val%bits /= bits) then
      call outcome%refuse('val, b and x: expected '//value_name(bits)//', as the option precision says, found '// &
                          value_name(val%bits))
    else if (b%columns /= val%columns .or. x%columns /= val%columns) then
      call outcome%refuse('val, b and x: expected as many columns in all, found '//decimal(val%columns)//', '// &
                          decimal(b%columns)//' and '//decimal(x%columns))
    else if (self%batch_rows > 0 .and. (val%rows /= self%batch_entries .or. b%rows /= self%batch_rows .or. &
                                        x%rows /= self%batch_rows)) then
      call outcome%refuse('val, b and x: expected columns of '//decimal(self%batch_entries)//' and '// &
                          decimal(self%batch_rows)//' elements, found '//decimal(val%rows)//', '//decimal(b%rows)// &
                          ' and '//decimal(x%rows))
    end if
    if (outcome%failed()) return
    outcome%code = newel_solve_batch(self%c_handle(), val%columns, val%address, b%address, x%address)
    call self%explain(outcome)
    if (outcome%code == newel_not_converged) outcome%text = why_not_converged(self%c_handle(), val%columns)
  end subroutine

  subroutine setup_batch_32(self, row_ptr, col, stat, errmsg)
    class(newel_batch_forms), intent(inout) :: self
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%setup_any(indices(row_ptr), indices(col), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine setup_batch_64(self, row_ptr, col, stat, errmsg)
    class(newel_batch_forms), intent(inout) :: self
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%setup_any(indices(row_ptr), indices(col), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine solve_batch_32(self, val, b, x, stat, errmsg)
    class(newel_batch_forms), intent(inout) :: self
    real(real32), intent(in), contiguous, target :: val(:, :), b(:, :)
    real(real32), intent(inout), contiguous, target :: x(:, :)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%solve_batch_any(values(val), values(b), values(x), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine solve_batch_64(self, val, b, x, stat, errmsg)
    class(newel_batch_forms), intent(inout) :: self
    real(real64), intent(in), contiguous, target :: val(:, :), b(:, :)
    real(real64), intent(inout), contiguous, target :: x(:, :)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%solve_batch_any(values(val), values(b), values(x), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine
end module
