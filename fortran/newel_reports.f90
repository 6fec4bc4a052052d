! SPDX-License-Identifier: Apache-2.0
!> The report of a solve for one right-hand side: all fields of the library except the decision, which is created only
!> when a program calls text('decision').
module newel_reports
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use newel_bindings, only: newel_ok, newel_report_history, newel_report_number, newel_report_text
  use newel_errors, only: decimal, from_c, to_c
  implicit none
  private
  public :: newel_report, read_number, read_report, read_text, why_not_converged

  !> Residuals are 2-norms of b - A x, absolute.
  type :: newel_report
    logical :: converged = .false.         !< by a residual computed from the returned x
    integer :: iterations = 0
    integer :: restarts = 0
    real(real64) :: true_residual = 0      !< computed from the returned x
    real(real64) :: initial_residual = 0
    real(real64) :: rhs_norm = 0           !< |b|
    real(real64) :: tolerance = 0          !< max(rtol |b|, atol)
    real(real64) :: residual_error_bound = 0 !< bound on the rounding error of true_residual
    real(real64) :: row_residual = -1      !< near 1 if a row is hardly solved; negative: not known
    real(real64) :: scaled_residual = -1   !< with each row divided by its largest entry; negative: not scaled
    real(real64) :: attainable_residual = 0 !< what rounding allows, if rounding ended the solve; else 0
    real(real64) :: seconds = 0
    integer :: rows = 0
    real(real64) :: setup_seconds = 0      !< of the setup
    integer(int64) :: bytes = 0            !< memory that the system holds
    character(:), allocatable :: status    !< "converged", "max_iterations", ...
    character(:), allocatable :: cause     !< why it did not converge, as a name
    character(:), allocatable :: reason    !< the same as a sentence
    character(:), allocatable :: warning   !< warning of a converged solve, or empty
    character(:), allocatable :: solver
    character(:), allocatable :: preconditioner
    character(:), allocatable :: format
    character(:), allocatable :: changed   !< what the library replaced in this solve
    character(:), allocatable :: link      !< how values travel between GPUs that share the rows; empty: none do
    real(real64), allocatable :: history(:) !< history(1) before the first iteration, then after each
  end type

contains

  !> Columns are counted from 1, here and below. Returns the status of the call.
  function read_number(handle, column, name, value) result(code)
    type(c_ptr), intent(in) :: handle
    integer, intent(in) :: column
    character(*), intent(in) :: name
    real(real64), intent(out) :: value
    integer :: code
    real(c_double) :: number
    number = 0
    code = newel_report_number(handle, int(column, c_int64_t) - 1, to_c(name), number)
    value = number
  end function

  function read_text(handle, column, name, text) result(code)
    type(c_ptr), intent(in) :: handle
    integer, intent(in) :: column
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: text
    integer :: code
    type(c_ptr) :: address
    text = ''
    code = newel_report_text(handle, int(column, c_int64_t) - 1, to_c(name), address)
    if (code == newel_ok) text = from_c(address)
  end function

  function read_report(handle, column, report) result(code)
    type(c_ptr), intent(in) :: handle
    integer, intent(in) :: column
    type(newel_report), intent(out) :: report
    integer :: code
    integer(int64) :: length
    real(real64) :: first
    code = read_number(handle, column, 'converged', first)
    if (code /= newel_ok) return
    report%converged = first > 0
    report%iterations = int(number('iterations'))
    report%restarts = int(number('restarts'))
    report%true_residual = number('true_residual')
    report%initial_residual = number('initial_residual')
    report%rhs_norm = number('rhs_norm')
    report%tolerance = number('tolerance')
    report%residual_error_bound = number('residual_error_bound')
    report%row_residual = number('row_residual')
    report%scaled_residual = number('scaled_residual')
    report%attainable_residual = number('attainable_residual')
    report%seconds = number('seconds')
    report%rows = int(number('rows'))
    report%setup_seconds = number('setup_seconds')
    report%bytes = int(number('bytes'), int64)
    call get('status', report%status)
    call get('cause', report%cause)
    call get('reason', report%reason)
    call get('warning', report%warning)
    call get('solver', report%solver)
    call get('preconditioner', report%preconditioner)
    call get('format', report%format)
    call get('changed', report%changed)
    call get('link', report%link)
    length = int(number('history_length'), int64)
    call get_history()

  contains

    function number(name) result(value)
      character(*), intent(in) :: name
      real(real64) :: value
      integer :: ended
      ended = read_number(handle, column, name, value)
      if (code == newel_ok) code = ended
    end function

    subroutine get(name, text)
      character(*), intent(in) :: name
      character(:), allocatable, intent(out) :: text
      integer :: ended
      ended = read_text(handle, column, name, text)
      if (code == newel_ok) code = ended
    end subroutine

    subroutine get_history()
      real(real64), allocatable, target :: residuals(:)
      integer :: ended
      allocate (residuals(length))
      if (length > 0) then
        ended = newel_report_history(handle, int(column, c_int64_t) - 1, c_loc(residuals), length)
        if (code == newel_ok) code = ended
      end if
      call move_alloc(residuals, report%history)
    end subroutine
  end function

  !> Why the first column that did not converge failed.
  function why_not_converged(handle, columns) result(words)
    type(c_ptr), intent(in) :: handle
    integer(int64), intent(in) :: columns
    character(:), allocatable :: words, status, reason
    integer(int64) :: column
    integer :: code
    words = 'not converged'
    do column = 1, columns
      code = read_text(handle, int(column), 'status', status)
      if (code == newel_ok .and. status == 'converged') cycle
      code = read_text(handle, int(column), 'reason', reason)
      if (columns > 1) words = 'column '//decimal(column)//' of '//decimal(columns)//': not converged'
      words = words//' ('//status//')'
      if (reason /= '') words = words//': '//reason
      return
    end do
  end function
end module
