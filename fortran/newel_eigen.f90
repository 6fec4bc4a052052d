! SPDX-License-Identifier: Apache-2.0
!> The smallest eigenvalues and eigenvectors of symmetric matrices and pencils.
module newel_eigen
  use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use newel_arrays, only: array_view, view_of => values
  use newel_bindings, only: newel_eigenpairs, newel_not_converged
  use newel_errors, only: call_outcome, decimal
  use newel_reports, only: why_not_converged
  use newel_updates, only: newel_update_forms
  implicit none
  private
  public :: newel_eigen_forms

  !> A system whose matrix A is symmetric also has eigenpairs. Report number k is that of pair k. Extended by
  !> newel_system.
  type, extends(newel_update_forms) :: newel_eigen_forms
  contains
    !> call s%eigenpairs(values, vectors [, mass] [, preconditioned] [, null_space] [, stat] [, errmsg]): the smallest
    !> lambda of A x = lambda M x, ascending, as many as values has elements, and in column k of vectors an eigenvector
    !> of values(k). The systems are set up with the option format 'csr': mass for M, with the preconditioner 'jacobi';
    !> preconditioned for a positive definite matrix close to A, whose preconditioner is used instead of that of s.
    !> Columns of null_space are left out. newel_eigenpairs in newel.h says more.
    procedure :: eigenpairs
  end type

contains

  subroutine eigenpairs(self, values, vectors, mass, preconditioned, null_space, stat, errmsg)
    class(newel_eigen_forms), intent(inout) :: self
    real(real64), intent(inout), contiguous, target :: values(:), vectors(:, :)
    class(newel_update_forms), intent(inout), optional :: mass, preconditioned
    real(real64), intent(in), contiguous, target, optional :: null_space(:, :)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    type(array_view) :: left_out
    type(c_ptr) :: of_mass, of_preconditioned
    of_mass = c_null_ptr
    of_preconditioned = c_null_ptr
    left_out%columns = 0
    if (present(mass)) of_mass = mass%c_handle()
    if (present(preconditioned)) of_preconditioned = preconditioned%c_handle()
    if (present(null_space)) then
      left_out = view_of(null_space)
      call check_columns(self, 'null_space', left_out, left_out%columns, outcome)
    end if
    if (.not. outcome%failed()) then
      call check_columns(self, 'vectors', view_of(vectors), size(values, kind=int64), outcome)
    end if
    if (.not. outcome%failed()) then
      call find(self, view_of(values), view_of(vectors), of_mass, of_preconditioned, left_out, outcome)
    end if
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine find(self, values, vectors, mass, preconditioned, left_out, outcome)
    class(newel_eigen_forms), intent(inout) :: self
    type(array_view), intent(in) :: values, vectors, left_out
    type(c_ptr), intent(in) :: mass, preconditioned
    type(call_outcome), intent(inout) :: outcome
    outcome%code = newel_eigenpairs(self%c_handle(), mass, preconditioned, int(values%rows, c_int), &
                                    int(left_out%columns, c_int), left_out%address, values%address, vectors%address)
    call self%explain(outcome)
    if (outcome%code == newel_not_converged) outcome%text = why_not_converged(self%c_handle(), values%rows)
  end subroutine

  !> Checks that there are so many columns, of as many elements as A has rows. Without a matrix the library reports
  !> the error.
  subroutine check_columns(self, name, found, columns, outcome)
    class(newel_eigen_forms), intent(in) :: self
    character(*), intent(in) :: name
    type(array_view), intent(in) :: found
    integer(int64), intent(in) :: columns
    type(call_outcome), intent(inout) :: outcome
    if (self%precision_bits() == 0) return
    if (found%rows /= self%rows() .or. found%columns /= columns) then
      call outcome%refuse(name//': expected '//decimal(int(self%rows(), int64))//' rows and '//decimal(columns)// &
                          ' columns, found '//decimal(found%rows)//' and '//decimal(found%columns))
    end if
  end subroutine
end module
