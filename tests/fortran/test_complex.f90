! SPDX-License-Identifier: Apache-2.0
! Complex systems by the Fortran module: every form, both kinds, refresh, columns. Residuals are computed here.
program test_complex
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use checks, solved_in_reals => solved
  use newel
  implicit none
  complex(real64) :: cval(most), cb(n, 2), cx(n, 2)
  integer :: i

  call make_matrix(0.3_real64)
  do i = 1, entries
    cval(i) = cmplx(val(i), merge(0.5_real64, 0.1_real64*val(i), row(i) == col(i)), real64)
  end do
  cb = cmplx(b(:, 1:2), b(:, 2:3) - 3, real64)
  call every_form_is_solved()
  call values_are_refreshed()
  call single_precision_takes_complex32()
  call kinds_must_agree()
  call report_checks()

contains

  !> factor A v
  function times(v, factor) result(y)
    complex(real64), intent(in) :: v(:), factor
    complex(real64) :: y(n)
    integer :: k
    y = 0
    do k = 1, entries
      y(row(k)) = y(row(k)) + factor*cval(k)*v(col(k))
    end do
  end function

  function relative(right, found, factor) result(size_of)
    complex(real64), intent(in) :: right(:), found(:), factor
    real(real64) :: size_of
    complex(real64) :: r(n)
    r = right - times(found, factor)
    size_of = sqrt(sum(abs(r)**2)/sum(abs(right)**2))
  end function

  subroutine solved(s, what)
    type(newel_system), intent(inout) :: s
    character(*), intent(in) :: what
    complex(real64) :: y(n)
    cx = 0
    call s%solve(cb(:, 1), cx(:, 1))
    call check(relative(cb(:, 1), cx(:, 1), (1.0_real64, 0.0_real64)) < 1.001e-8_real64, what)
    cx = 0
    call s%solve(cb, cx)
    call check(relative(cb(:, 2), cx(:, 2), (1.0_real64, 0.0_real64)) < 1.001e-8_real64, what//': columns')
    call s%multiply(cx(:, 2), y)
    call check(maxval(abs(y - cb(:, 2))) < 1e-6_real64, what//': product')
    call check(s%rows() == n, what//': rows')
  end subroutine

  subroutine every_form_is_solved()
    type(newel_system) :: s
    call s%setup_csr(row_ptr, col(:entries), cval(:entries))
    call solved(s, 'csr')
    call s%setup_coo(n, row(:entries), col(:entries), cval(:entries))
    call solved(s, 'coo')
    call s%setup_bsr(1, row_ptr, col(:entries), cval(:entries))
    call solved(s, 'bsr')
    call s%setup_csr(int(row_ptr, int64), int(col(:entries), int64), cval(:entries))
    call solved(s, 'csr with wide indices')
  end subroutine

  subroutine values_are_refreshed()
    type(newel_system) :: s
    complex(real64), parameter :: factor = (0.5_real64, -2.0_real64)
    call s%setup_csr(row_ptr, col(:entries), cval(:entries))
    call s%refresh(factor*cval(:entries))
    cx = 0
    call s%solve(cb(:, 1), cx(:, 1))
    call check(relative(cb(:, 1), cx(:, 1), factor) < 1.001e-8_real64, 'refresh')
  end subroutine

  subroutine single_precision_takes_complex32()
    type(newel_system) :: s
    complex(real32) :: b32(n), x32(n)
    call s%set('rtol', 1e-5)
    call s%setup_csr(row_ptr, col(:entries), cmplx(cval(:entries), kind=real32))
    b32 = cmplx(cb(:, 1), kind=real32)
    x32 = 0
    call s%solve(b32, x32)
    cx(:, 1) = x32
    call check(relative(cb(:, 1), cx(:, 1), (1.0_real64, 0.0_real64)) < 2e-5_real64, 'complex(real32)')
  end subroutine

  !> A real vector for a complex matrix is refused, and a real setup after a complex one is real.
  subroutine kinds_must_agree()
    type(newel_system) :: s
    integer :: stat
    character(:), allocatable :: words
    call s%setup_csr(row_ptr, col(:entries), cval(:entries))
    call s%solve(b(:, 1), x(:, 1), stat=stat, errmsg=words)
    call check(stat == newel_invalid .and. index(words, 'complex64') > 0 .and. index(words, 'real64') > 0, 'kinds')
    call s%refresh(val(:entries), stat=stat)
    call check(stat == newel_invalid, 'a refresh with real values')
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    x = 0
    call s%solve(b(:, 1), x(:, 1))
    call check(residual(b(:, 1), x(:, 1), 1.0_real64) < 2e-8_real64, 'real after complex')
  end subroutine
end program
