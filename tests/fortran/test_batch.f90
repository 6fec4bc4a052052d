! SPDX-License-Identifier: Apache-2.0
! Batches of small systems by the Fortran module. Residuals are computed here.
program test_batch
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use checks, only: check, report_checks
  use newel
  implicit none
  integer, parameter :: n = 25, systems = 10, most = 3*n
  integer :: row_ptr(n + 1), col(most), entries
  real(real64) :: val(most, systems), b(n, systems), x(n, systems)

  call make_systems()
  call systems_are_solved()
  call single_precision_is_solved()
  call failures_are_reported()
  call sizes_are_checked()
  call report_checks()

contains

  subroutine make_systems()
    integer :: i, j, s
    entries = 0
    do i = 1, n
      row_ptr(i) = entries + 1
      do j = max(1, i - 1), min(n, i + 1)
        entries = entries + 1
        col(entries) = j
        do s = 1, systems
          val(entries, s) = merge(2.05_real64 + 0.1_real64*s, -1.0_real64, i == j)
        end do
      end do
    end do
    row_ptr(n + 1) = entries + 1
    do s = 1, systems
      b(:, s) = [(1.0_real64 + mod(i*s, 5), i=1, n)]
    end do
  end subroutine

  !> |b - A found| / |b| of system s
  function residual(s, found) result(size_of)
    integer, intent(in) :: s
    real(real64), intent(in) :: found(:)
    real(real64) :: size_of, r(n)
    integer :: i
    do i = 1, n
      r(i) = b(i, s) - sum(val(row_ptr(i):row_ptr(i + 1) - 1, s)*found(col(row_ptr(i):row_ptr(i + 1) - 1)))
    end do
    size_of = norm2(r)/norm2(b(:, s))
  end function

  subroutine systems_are_solved()
    type(newel_system) :: s
    type(newel_report) :: r
    character(6), parameter :: precond(3) = ['jacobi', 'fsai  ', 'ilu   ']
    integer :: k, m
    call s%set('rtol', 1e-10_real64)
    call s%set('solver', 'cg')
    do m = 1, size(precond)
      call s%set('preconditioner', trim(precond(m)))
      call s%setup_batch(int(row_ptr, int64), int(col(:entries), int64))
      x = 0
      call s%solve_batch(val(:entries, :), b, x)
      do k = 1, systems
        call check(residual(k, x(:, k)) < 1.001e-10_real64, 'residual')
        r = s%report(k)
        call check(r%converged .and. r%iterations > 0, 'report')
      end do
    end do
  end subroutine

  subroutine single_precision_is_solved()
    type(newel_system) :: s
    real(real32) :: narrow(n, systems)
    integer :: k
    call s%set('rtol', 1e-4_real64)
    call s%set('precision', 'single')
    call s%setup_batch(row_ptr, col(:entries))
    narrow = 0
    call s%solve_batch(real(val(:entries, :), real32), real(b, real32), narrow)
    do k = 1, systems
      call check(residual(k, real(narrow(:, k), real64)) < 2e-4_real64, 'residual in single precision')
    end do
  end subroutine

  subroutine failures_are_reported()
    type(newel_system) :: s
    integer :: stat
    character(:), allocatable :: text
    call s%set('solver', 'cg')
    call s%setup_batch(row_ptr, col(:entries))
    val(:, 4) = -val(:, 4)
    x = 0
    call s%solve_batch(val(:entries, :), b, x, stat=stat, errmsg=text)
    call check(stat == newel_not_converged .and. len(text) > 0, 'a failed system')
    call check(s%text('status', 4) == 'not_positive_definite', 'status of the failed system')
    call check(s%text('status', 5) == 'converged', 'status of its neighbour')
    val(:, 4) = -val(:, 4)
  end subroutine

  subroutine sizes_are_checked()
    type(newel_system) :: s
    real(real32) :: narrow(n, systems)
    integer :: stat
    character(:), allocatable :: text
    call s%setup_batch(row_ptr, col(:entries - 1), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'col: expected') == 1, 'length of col')
    call s%setup_batch(row_ptr, col(:entries))
    call s%solve_batch(val(:entries - 1, :), b, x, stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'found') > 0, 'length of val')
    call s%solve_batch(val(:entries, :), b(:, 2:), x, stat=stat)
    call check(stat == newel_invalid, 'columns of b')
    narrow = real(x, real32)
    call s%solve_batch(real(val(:entries, :), real32), real(b, real32), narrow, stat=stat)
    call check(stat == newel_invalid, 'precision of val')
  end subroutine
end program
