! SPDX-License-Identifier: Apache-2.0
!> Counting checks, and a small system with what is needed to judge its solution: a line of n points with a wind,
!> -1 - w, 3, -1 + w.
module checks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use newel, only: newel_system
  implicit none
  integer, parameter :: n = 40, most = 3*n
  integer :: failures = 0
  integer :: row_ptr(n + 1), row(most), col(most), entries
  real(real64) :: val(most), b(n, 3), x(n, 3)

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', 'failed: ', what
  end subroutine

  !> The end of a program.
  subroutine report_checks()
    print '(i0, a)', failures, ' failures'
    if (failures > 0) error stop 1
  end subroutine

  !> Solves for the first column of b, from zero.
  subroutine solved(s, what)
    type(newel_system), intent(inout) :: s
    character(*), intent(in) :: what
    x = 0
    call s%solve(b(:, 1), x(:, 1))
    call check(residual(b(:, 1), x(:, 1), 1.0_real64) < 2e-8_real64, what)
    call check(s%rows() == n, what//': rows')
  end subroutine

  subroutine make_matrix(wind)
    real(real64), intent(in) :: wind
    integer :: i, j
    entries = 0
    do i = 1, n
      row_ptr(i) = entries + 1
      do j = max(1, i - 1), min(n, i + 1)
        entries = entries + 1
        row(entries) = i
        col(entries) = j
        val(entries) = merge(3.0_real64, merge(-1 - wind, -1 + wind, j < i), i == j)
      end do
    end do
    row_ptr(n + 1) = entries + 1
    b = reshape([(1.0_real64 + mod(i, 7), i=1, 3*n)], [n, 3])
  end subroutine

  !> A v, or A^T v.
  function product_with(v, transposed) result(y)
    real(real64), intent(in) :: v(n)
    logical, intent(in) :: transposed
    real(real64) :: y(n)
    integer :: k
    y = 0
    do k = 1, entries
      if (transposed) then
        y(col(k)) = y(col(k)) + val(k)*v(row(k))
      else
        y(row(k)) = y(row(k)) + val(k)*v(col(k))
      end if
    end do
  end function

  !> |rhs - factor A v| / |rhs|
  function residual(rhs, v, factor) result(relative)
    real(real64), intent(in) :: rhs(n), v(n), factor
    real(real64) :: relative
    relative = norm2(rhs - factor*product_with(v, .false.))/norm2(rhs)
  end function

  !> Whether `text` was set and has `words` in it.
  function says(text, words) result(found)
    character(:), allocatable, intent(in) :: text
    character(*), intent(in) :: words
    logical :: found
    found = .false.
    if (allocated(text)) found = index(text, words) > 0
    if (.not. found .and. allocated(text)) print '(a)', text
  end function
end module
