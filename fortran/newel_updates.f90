! SPDX-License-Identifier: Apache-2.0
!> Updates by matrices whose patterns differ.
module newel_updates
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use newel_arrays, only: array_view, indices, values
  use newel_batches, only: newel_batch_forms
  use newel_errors, only: call_outcome
  implicit none
  private
  public :: newel_update_forms

  !> A system that follows a matrix whose pattern may change. Extended by newel_system.
  type, extends(newel_batch_forms) :: newel_update_forms
  contains
    !> call s%update(row_ptr, col, val [, keep_preconditioner] [, set_up_again] [, stat] [, errmsg]): takes a matrix of
    !> any pattern, as setup_csr does. The values are refreshed if it has entries only where that of the last setup has
    !> some; missing ones are zeros. Otherwise everything is set up again, which set_up_again says.
    generic :: update => update_32_32, update_32_64, update_64_32, update_64_64, &
                         update_32_c32, update_32_c64, update_64_c32, update_64_c64
    procedure, private :: update_32_32, update_32_64, update_64_32, update_64_64
    procedure, private :: update_32_c32, update_32_c64, update_64_c32, update_64_c64
    procedure, private :: update_any
  end type

contains

  subroutine update_any(self, row_ptr, col, val, keep_preconditioner, set_up_again, outcome)
    class(newel_update_forms), intent(inout) :: self
    type(array_view), intent(in) :: row_ptr, col, val
    logical, intent(in), optional :: keep_preconditioner
    logical, intent(out), optional :: set_up_again
    type(call_outcome), intent(out) :: outcome
    logical :: keep, again
    keep = .false.
    if (present(keep_preconditioner)) keep = keep_preconditioner
    call self%update_by(row_ptr, col, val, keep, again, outcome)
    if (present(set_up_again)) set_up_again = again
  end subroutine

  subroutine update_32_32(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_32_64(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_64_32(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_64_64(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_32_c32(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_32_c64(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_64_c32(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine

  subroutine update_64_c64(self, row_ptr, col, val, keep_preconditioner, set_up_again, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'update.inc'
  end subroutine
end module
