! SPDX-License-Identifier: Apache-2.0
!> The setup of a system from each matrix form, with all supported kinds of indices and values.
module newel_setups
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use newel_arrays, only: indices, values
  use newel_errors, only: call_outcome
  use newel_matrices, only: bsr, coo, csc, csr, newel_matrix
  implicit none
  private
  public :: newel_forms

  !> Indices are integer(int32) or integer(int64). Values are real or complex, of kind real64 or real32, and the system
  !> is solved in that precision. Entries may be in any order; repeated entries are summed. Extended by newel_system.
  type, extends(newel_matrix) :: newel_forms
  contains
    !> call s%setup_csr(row_ptr, col, val [, stat] [, errmsg]): row_ptr has length n + 1; the entries of row i are
    !> row_ptr(i) .. row_ptr(i + 1) - 1.
    generic :: setup_csr => csr_32_32, csr_32_64, csr_64_32, csr_64_64, csr_32_c32, csr_32_c64, csr_64_c32, csr_64_c64
    !> call s%setup_csc(col_ptr, row, val [, stat] [, errmsg])
    generic :: setup_csc => csc_32_32, csc_32_64, csc_64_32, csc_64_64, csc_32_c32, csc_32_c64, csc_64_c32, csc_64_c64
    !> call s%setup_coo(n, row, col, val [, stat] [, errmsg])
    generic :: setup_coo => coo_32_32, coo_32_64, coo_64_32, coo_64_64, coo_32_c32, coo_32_c64, coo_64_c32, coo_64_c64
    !> call s%setup_bsr(block_size, row_ptr, col, val [, stat] [, errmsg]): row_ptr and col count blocks. The entry in
    !> row i and column j of block k is val((k - 1)*block_size**2 + (i - 1)*block_size + j).
    generic :: setup_bsr => bsr_32_32, bsr_32_64, bsr_64_32, bsr_64_64, bsr_32_c32, bsr_32_c64, bsr_64_c32, bsr_64_c64
    procedure, private :: csr_32_32, csr_32_64, csr_64_32, csr_64_64
    procedure, private :: csr_32_c32, csr_32_c64, csr_64_c32, csr_64_c64
    procedure, private :: csc_32_32, csc_32_64, csc_64_32, csc_64_64
    procedure, private :: csc_32_c32, csc_32_c64, csc_64_c32, csc_64_c64
    procedure, private :: coo_32_32, coo_32_64, coo_64_32, coo_64_64
    procedure, private :: coo_32_c32, coo_32_c64, coo_64_c32, coo_64_c64
    procedure, private :: bsr_32_32, bsr_32_64, bsr_64_32, bsr_64_64
    procedure, private :: bsr_32_c32, bsr_32_c64, bsr_64_c32, bsr_64_c64
  end type

contains

  subroutine csr_32_32(self, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csr_32_64(self, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csr_64_32(self, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csr_64_64(self, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csc_32_32(self, col_ptr, row, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: col_ptr(:), row(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine csc_32_64(self, col_ptr, row, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: col_ptr(:), row(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine csc_64_32(self, col_ptr, row, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: col_ptr(:), row(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine csc_64_64(self, col_ptr, row, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: col_ptr(:), row(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine coo_32_32(self, n, row, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine coo_32_64(self, n, row, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine coo_64_32(self, n, row, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine coo_64_64(self, n, row, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine bsr_32_32(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine bsr_32_64(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine bsr_64_32(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real32), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine bsr_64_64(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine csr_32_c32(self, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csr_32_c64(self, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csr_64_c32(self, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csr_64_c64(self, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csr.inc'
  end subroutine

  subroutine csc_32_c32(self, col_ptr, row, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: col_ptr(:), row(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine csc_32_c64(self, col_ptr, row, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: col_ptr(:), row(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine csc_64_c32(self, col_ptr, row, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: col_ptr(:), row(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine csc_64_c64(self, col_ptr, row, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: col_ptr(:), row(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_csc.inc'
  end subroutine

  subroutine coo_32_c32(self, n, row, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine coo_32_c64(self, n, row, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine coo_64_c32(self, n, row, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine coo_64_c64(self, n, row, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_coo.inc'
  end subroutine

  subroutine bsr_32_c32(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine bsr_32_c64(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine bsr_64_c32(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real32), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine

  subroutine bsr_64_c64(self, block_size, row_ptr, col, val, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    complex(real64), intent(in), contiguous, target :: val(:)
    include 'setup_bsr.inc'
  end subroutine
end module
