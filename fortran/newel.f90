! SPDX-License-Identifier: Apache-2.0
!> Newel from Fortran: sparse linear systems A x = b, set up once per sparsity pattern, refreshed and solved often.
!>
!>     use newel
!>     type(newel_system) :: s
!>     call s%set('rtol', 1d-10)
!>     call s%setup_csr(row_ptr, col, val)
!>     call s%solve(b, x)
!>
!> Every procedure that can fail has optional arguments stat= and errmsg=, like allocate. stat is newel_ok,
!> newel_not_converged, newel_invalid, newel_out_of_memory or newel_internal; errmsg is a text if stat is not newel_ok.
!> Without stat, an error, or a solve that does not converge, stops the program with that text. Arrays are read only
!> during the call that they are passed to; non-contiguous array sections are copied. Use a system from one thread at a
!> time.
module newel
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_funloc, c_int, c_int64_t, c_loc, c_null_funptr, &
                                         c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use newel_arrays, only: array_view, value_name, values
  use newel_eigen, only: newel_eigen_forms
  use newel_bindings, only: newel_internal, newel_invalid, newel_move_nodes, newel_multiply, &
                             newel_not_converged, newel_ok, newel_out_of_memory, newel_refresh, newel_set_progress, &
                             newel_solve, newel_version
  use newel_errors, only: call_outcome, decimal, from_c
  use newel_reports, only: newel_report, read_number, read_report, read_text, why_not_converged
  implicit none
  private
  public :: newel_library_version, newel_progress, newel_report, newel_system
  public :: newel_internal, newel_invalid, newel_not_converged, newel_ok, newel_out_of_memory

  abstract interface
    !> Called after each iteration of a solve, on the calling thread. Arguments: the right-hand side (counted from 1),
    !> the iterations so far, and |b - A x| / |b|. If it returns .false., the solve ends.
    function newel_progress(column, iteration, relative_residual) result(go_on)
      import :: real64
      integer, intent(in) :: column, iteration
      real(real64), intent(in) :: relative_residual
      logical :: go_on
    end function
  end interface

  !> A linear system. Its options and setups come from newel_options and newel_forms: set, set_coordinates,
  !> set_near_null_space, setup_csr, setup_csc, setup_coo, setup_bsr, setup_batch, solve_batch, update, eigenpairs, rows,
  !> destroy.
  !> Freed when the variable ceases to exist; variables of a main program exist until the program ends.
  type, extends(newel_eigen_forms) :: newel_system
  contains
    !> call s%refresh(val [, keep_preconditioner] [, stat] [, errmsg]): replaces the values; the pattern stays the same.
    !> val has the order and length of the setup's values. With keep_preconditioner=.true. the preconditioner keeps its
    !> values.
    generic :: refresh => refresh_32, refresh_64, refresh_c32, refresh_c64
    !> call s%move_nodes(xyz [, stat] [, errmsg]): replaces the coordinates of the nodes, as many as set_coordinates
    !> gave to the setup. The next refresh of the preconditioner uses them.
    procedure :: move_nodes
    !> call s%solve(b, x [, progress] [, stat] [, errmsg]): solves A x = b from the guess in x and overwrites x with the
    !> solution. b and x are vectors, or have one column per right-hand side.
    generic :: solve => solve_32, solve_64, solve_columns_32, solve_columns_64, &
                        solve_c32, solve_c64, solve_columns_c32, solve_columns_c64
    !> call s%multiply(x, y [, stat] [, errmsg]): y = A x.
    generic :: multiply => multiply_32, multiply_64, multiply_c32, multiply_c64
    !> r = s%report([column] [, stat] [, errmsg]): the report of the last solve for a column, counted from 1.
    procedure :: report
    !> Single fields of the report by their names in newel.h, including those that newel_report lacks:
    !> s%number(name [, column] [, stat] [, errmsg]) returns real(real64), s%text(...) a text.
    procedure :: number, text
    procedure, private :: refresh_32, refresh_64, solve_32, solve_64, solve_columns_32, solve_columns_64
    procedure, private :: refresh_c32, refresh_c64, solve_c32, solve_c64, solve_columns_c32, solve_columns_c64
    procedure, private :: multiply_c32, multiply_c64
    procedure, private :: multiply_32, multiply_64, refresh_any, solve_any, multiply_any
  end type

  !> The user pointer that the C interface passes back to call_progress.
  type :: progress_holder
    procedure(newel_progress), pointer, nopass :: watch => null()
  end type

contains

  !> The version of the library: three numbers with dots between them.
  function newel_library_version() result(version)
    character(:), allocatable :: version
    version = from_c(newel_version())
  end function

  function report(self, column, stat, errmsg) result(fields)
    class(newel_system), intent(inout) :: self
    integer, intent(in), optional :: column
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(newel_report) :: fields
    type(call_outcome) :: outcome
    outcome%code = read_report(self%c_handle(), column_or_first(column), fields)
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end function

  function number(self, name, column, stat, errmsg) result(value)
    class(newel_system), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in), optional :: column
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    real(real64) :: value
    type(call_outcome) :: outcome
    outcome%code = read_number(self%c_handle(), column_or_first(column), name, value)
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end function

  function text(self, name, column, stat, errmsg) result(value)
    class(newel_system), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in), optional :: column
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    character(:), allocatable :: value
    type(call_outcome) :: outcome
    outcome%code = read_text(self%c_handle(), column_or_first(column), name, value)
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end function

  pure function column_or_first(column) result(number)
    integer, intent(in), optional :: column
    integer :: number
    number = 1
    if (present(column)) number = column
  end function

  !> Checks that b and x, or x and y, fit the matrix and each other. Without a matrix the library reports the error.
  subroutine check_vectors(self, names, one, two, outcome)
    class(newel_system), intent(in) :: self
    character(*), intent(in) :: names
    type(array_view), intent(in) :: one, two
    type(call_outcome), intent(inout) :: outcome
    if (self%precision_bits() == 0) return
    if (one%bits /= self%precision_bits()) then
      call outcome%refuse(names//': expected '//value_name(self%precision_bits())//', as the matrix has, found '// &
                          value_name(one%bits))
    else if (one%rows /= self%rows() .or. two%rows /= self%rows()) then
      call outcome%refuse(names//': expected '//decimal(int(self%rows(), int64))//' elements, one for each row '// &
                          'of the matrix, found '//decimal(one%rows)//' and '//decimal(two%rows))
    else if (one%columns /= two%columns) then
      call outcome%refuse(names//': expected as many columns in both, found '//decimal(one%columns)//' and '// &
                          decimal(two%columns))
    end if
  end subroutine

  subroutine refresh_any(self, val, keep_preconditioner, outcome)
    class(newel_system), intent(inout) :: self
    type(array_view), intent(in) :: val
    logical, intent(in), optional :: keep_preconditioner
    type(call_outcome), intent(out) :: outcome
    integer(c_int) :: keep
    if (self%precision_bits() /= 0 .and. (val%bits /= self%precision_bits() .or. val%rows /= self%entries())) then
      call outcome%refuse('val: expected '//decimal(self%entries())//' elements of '// &
                          value_name(self%precision_bits())//', as in the setup, found '// &
                          decimal(val%rows)//' of '//value_name(val%bits))
      return
    end if
    keep = 0
    if (present(keep_preconditioner)) keep = merge(1, 0, keep_preconditioner)
    outcome%code = newel_refresh(self%c_handle(), val%address, keep)
    call self%explain(outcome)
  end subroutine

  subroutine move_nodes(self, xyz, stat, errmsg)
    class(newel_system), intent(inout) :: self
    real(real64), intent(in), contiguous, target :: xyz(:, :)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    outcome%code = newel_move_nodes(self%c_handle(), size(xyz, 2, c_int64_t), size(xyz, 1, c_int), c_loc(xyz))
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine multiply_any(self, x, y, outcome)
    class(newel_system), intent(inout) :: self
    type(array_view), intent(in) :: x, y
    type(call_outcome), intent(out) :: outcome
    call check_vectors(self, 'x and y', x, y, outcome)
    if (outcome%failed()) return
    outcome%code = newel_multiply(self%c_handle(), x%address, y%address)
    call self%explain(outcome)
  end subroutine

  subroutine solve_any(self, b, x, progress, outcome)
    class(newel_system), intent(inout) :: self
    type(array_view), intent(in) :: b, x
    procedure(newel_progress), optional :: progress
    type(call_outcome), intent(out) :: outcome
    type(progress_holder), target :: holder
    call check_vectors(self, 'b and x', b, x, outcome)
    if (outcome%failed()) return
    if (present(progress)) then
      holder%watch => progress
      outcome%code = newel_set_progress(self%c_handle(), c_funloc(call_progress), c_loc(holder))
    end if
    if (.not. outcome%failed()) outcome%code = newel_solve(self%c_handle(), b%columns, b%address, x%address)
    call self%explain(outcome)
    if (outcome%code == newel_not_converged) outcome%text = why_not_converged(self%c_handle(), b%columns)
    if (present(progress)) then
      outcome%code = max(outcome%code, newel_set_progress(self%c_handle(), c_null_funptr, c_null_ptr))
    end if
  end subroutine

  function call_progress(user, column, iteration, relative_residual) bind(c, name="") result(go_on)
    type(c_ptr), value :: user
    integer(c_int), value :: column, iteration
    real(c_double), value :: relative_residual
    integer(c_int) :: go_on
    type(progress_holder), pointer :: holder
    call c_f_pointer(user, holder)
    go_on = merge(1, 0, holder%watch(int(column) + 1, int(iteration), real(relative_residual, real64)))
  end function

  subroutine refresh_32(self, val, keep_preconditioner, stat, errmsg)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'refresh.inc'
  end subroutine

  subroutine refresh_64(self, val, keep_preconditioner, stat, errmsg)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'refresh.inc'
  end subroutine

  subroutine solve_32(self, b, x, progress, stat, errmsg)
    real(real32), intent(in), contiguous, target :: b(:)
    real(real32), intent(inout), contiguous, target :: x(:)
    include 'solve.inc'
  end subroutine

  subroutine solve_columns_32(self, b, x, progress, stat, errmsg)
    real(real32), intent(in), contiguous, target :: b(:, :)
    real(real32), intent(inout), contiguous, target :: x(:, :)
    include 'solve.inc'
  end subroutine

  subroutine solve_64(self, b, x, progress, stat, errmsg)
    real(real64), intent(in), contiguous, target :: b(:)
    real(real64), intent(inout), contiguous, target :: x(:)
    include 'solve.inc'
  end subroutine

  subroutine solve_columns_64(self, b, x, progress, stat, errmsg)
    real(real64), intent(in), contiguous, target :: b(:, :)
    real(real64), intent(inout), contiguous, target :: x(:, :)
    include 'solve.inc'
  end subroutine

  subroutine multiply_32(self, x, y, stat, errmsg)
    real(real32), intent(in), contiguous, target :: x(:)
    real(real32), intent(inout), contiguous, target :: y(:)
    include 'multiply.inc'
  end subroutine

  subroutine multiply_64(self, x, y, stat, errmsg)
    real(real64), intent(in), contiguous, target :: x(:)
    real(real64), intent(inout), contiguous, target :: y(:)
    include 'multiply.inc'
  end subroutine

  subroutine refresh_c32(self, val, keep_preconditioner, stat, errmsg)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'refresh.inc'
  end subroutine

  subroutine refresh_c64(self, val, keep_preconditioner, stat, errmsg)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'refresh.inc'
  end subroutine

  subroutine solve_c32(self, b, x, progress, stat, errmsg)
    complex(real32), intent(in), contiguous, target :: b(:)
    complex(real32), intent(inout), contiguous, target :: x(:)
    include 'solve.inc'
  end subroutine

  subroutine solve_columns_c32(self, b, x, progress, stat, errmsg)
    complex(real32), intent(in), contiguous, target :: b(:, :)
    complex(real32), intent(inout), contiguous, target :: x(:, :)
    include 'solve.inc'
  end subroutine

  subroutine solve_c64(self, b, x, progress, stat, errmsg)
    complex(real64), intent(in), contiguous, target :: b(:)
    complex(real64), intent(inout), contiguous, target :: x(:)
    include 'solve.inc'
  end subroutine

  subroutine solve_columns_c64(self, b, x, progress, stat, errmsg)
    complex(real64), intent(in), contiguous, target :: b(:, :)
    complex(real64), intent(inout), contiguous, target :: x(:, :)
    include 'solve.inc'
  end subroutine

  subroutine multiply_c32(self, x, y, stat, errmsg)
    complex(real32), intent(in), contiguous, target :: x(:)
    complex(real32), intent(inout), contiguous, target :: y(:)
    include 'multiply.inc'
  end subroutine

  subroutine multiply_c64(self, x, y, stat, errmsg)
    complex(real64), intent(in), contiguous, target :: x(:)
    complex(real64), intent(inout), contiguous, target :: y(:)
    include 'multiply.inc'
  end subroutine
end module
