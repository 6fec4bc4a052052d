! SPDX-License-Identifier: Apache-2.0
! The Fortran module: every form of a matrix in every kind, refresh, columns, progress. Residuals are computed here.
module listening
  use, intrinsic :: iso_fortran_env, only: real64
  use checks, only: check
  use newel
  implicit none
  type(newel_system) :: watched
  integer :: heard = 0  !< iterations

contains

  function watch(column, iteration, relative_residual) result(go_on)
    integer, intent(in) :: column, iteration
    real(real64), intent(in) :: relative_residual
    logical :: go_on
    integer :: inner
    heard = iteration
    go_on = column == 1 .and. relative_residual > 0 .and. iteration < 2
    call watched%set('rtol', 1e-3, inner)  ! the system is in use
    call check(inner == newel_invalid, 'a system that is in use is refused')
  end function
end module

program test_fortran
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_loc
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use checks
  use listening
  use newel
  use newel_bindings, only: newel_set_near_null_space
  implicit none

  call make_matrix(0.4_real64)
  call check(index(newel_library_version(), '.') > 0, 'the library has a version')
  call every_form_is_solved()
  call single_precision_takes_real32()
  call blocks_are_read_by_rows()
  call indices_may_count_from_zero_and_halves_be_stored()
  call values_are_refreshed()
  call patterns_are_updated()
  call columns_are_solved()
  call progress_is_heard_and_may_end_a_solve()
  call what_multigrid_takes_is_passed_on()
  call vectors_are_passed_by_rows()
  call report_checks()

contains

  subroutine every_form_is_solved()
    type(newel_system) :: s
    real(real64) :: y(n)
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call solved(s, 'csr, 32 bits')
    call s%setup_csr(int(row_ptr, int64), int(col(:entries), int64), val(:entries))
    call solved(s, 'csr, 64 bits')
    call s%setup_coo(n, row(:entries), col(:entries), val(:entries))
    call solved(s, 'coo, 32 bits')
    call s%setup_coo(n, int(row(entries:1:-1), int64), int(col(entries:1:-1), int64), val(entries:1:-1))
    call solved(s, 'coo, 64 bits, backwards')
    call s%setup_bsr(1, row_ptr, col(:entries), val(:entries))
    call solved(s, 'bsr, 32 bits')
    call s%setup_bsr(1, int(row_ptr, int64), int(col(:entries), int64), val(:entries))
    call solved(s, 'bsr, 64 bits')
    ! The arrays of rows, read as columns, are the transpose: the wind blows the other way.
    call s%setup_csc(row_ptr, col(:entries), val(:entries))
    call s%multiply(b(:, 1), y)
    call check(maxval(abs(y - product_with(b(:, 1), .true.))) < 1e-13_real64, 'csc, 32 bits')
    call s%setup_csc(int(row_ptr, int64), int(col(:entries), int64), val(:entries))
    y = 0
    call s%multiply(b(:, 1), y)
    call check(maxval(abs(y - product_with(b(:, 1), .true.))) < 1e-13_real64, 'csc, 64 bits')
  end subroutine

  subroutine single_precision_takes_real32()
    type(newel_system) :: s
    real(real32) :: single(most), rhs(n), solution(n), two(n, 2)
    integer :: form
    single = real(val, real32)
    rhs = real(b(:, 1), real32)
    call s%set('rtol', 1e-4)
    do form = 1, 8
      select case (form)
      case (1); call s%setup_csr(row_ptr, col(:entries), single(:entries))
      case (2); call s%setup_csr(int(row_ptr, int64), int(col(:entries), int64), single(:entries))
      case (3); call s%setup_coo(n, row(:entries), col(:entries), single(:entries))
      case (4); call s%setup_coo(n, int(row(:entries), int64), int(col(:entries), int64), single(:entries))
      case (5); call s%setup_bsr(1, row_ptr, col(:entries), single(:entries))
      case (6); call s%setup_bsr(1, int(row_ptr, int64), int(col(:entries), int64), single(:entries))
      case (7); call s%setup_csc(row_ptr, col(:entries), single(:entries))
      case (8); call s%setup_csc(int(row_ptr, int64), int(col(:entries), int64), single(:entries))
      end select
      call s%multiply(rhs, solution)
      call check(maxval(abs(solution - product_with(b(:, 1), form > 6))) < 2e-5, 'a product in single precision')
      if (form > 6) cycle
      solution = 0
      call s%solve(rhs, solution)
      call check(residual(b(:, 1), real(solution, real64), 1.0_real64) < 2e-4_real64, 'single precision')
    end do
    call s%setup_csr(row_ptr, col(:entries), single(:entries))
    call s%refresh(2*single(:entries))
    two = 0
    call s%solve(real(b(:, 2:3), real32), two)
    call check(residual(b(:, 3), real(two(:, 2), real64), 2.0_real64) < 2e-4_real64, 'columns in single precision')
  end subroutine

  !> A block of two rows, [1 2; 3 4], is passed as 1 2 3 4.
  subroutine blocks_are_read_by_rows()
    type(newel_system) :: s
    real(real64) :: y(2)
    call s%setup_bsr(2, [1, 2], [1], [1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64])
    call s%multiply([1.0_real64, 10.0_real64], y)
    call check(all(abs(y - [21, 43]) < 1e-13_real64), 'a block lies by rows')
  end subroutine

  subroutine indices_may_count_from_zero_and_halves_be_stored()
    type(newel_system) :: s
    real(real64) :: y(n)
    integer :: lower(n + n), k, stat
    character(:), allocatable :: text
    call s%set('index_base', 0)
    call check(s%index_base() == 0, 'the base is known')
    call s%setup_csr(row_ptr - 1, col(:entries) - 1, val(:entries))
    call solved(s, 'indices from 0')
    call s%set('index_base', '1')
    lower = pack([(k, k=1, entries)], col(:entries) <= row(:entries), [(0, k=1, 2*n)])
    call s%set('stored_half', 'lower')
    call s%setup_coo(n, row(lower(:2*n - 1)), col(lower(:2*n - 1)), val(lower(:2*n - 1)))
    call s%multiply(b(:, 1), y)
    call check(abs(y(1) - (val(1)*b(1, 1) + val(3)*b(2, 1))) < 1e-13_real64, 'the lower half')
    call s%set('stored_half', 'none')
    call s%setup_csr(row_ptr, [col(:entries - 1), n + 1], val(:entries), stat, text)
    call check(stat == newel_invalid .and. says(text, 'column 41 (counted from 1)'), 'a column that is too large')
    call check(s%rows() == 0, 'nothing is set up then')
  end subroutine

  subroutine values_are_refreshed()
    type(newel_system) :: s
    integer :: stat
    character(:), allocatable :: text
    call s%refresh(val(:entries), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. says(text, 'has not been set up'), 'refresh before a setup')
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call s%refresh(2*val(:entries))
    x = 0
    call s%solve(b(:, 1), x(:, 1))
    call check(residual(b(:, 1), x(:, 1), 2.0_real64) < 2e-8_real64, 'new values')
    call s%refresh(val(:entries), keep_preconditioner=.true.)
    call s%solve(b(:, 1), x(:, 1))
    call check(residual(b(:, 1), x(:, 1), 1.0_real64) < 2e-8_real64, 'new values, kept preconditioner')
    call s%refresh(val(:entries - 1), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. says(text, 'expected 118 elements of real64'), 'too few values')
    call s%refresh(real(val(:entries), real32), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. says(text, 'found 118 of real32'), 'values of another kind')
  end subroutine

  !> The line without wind from behind has fewer entries; the line with one more entry has another pattern.
  subroutine patterns_are_updated()
    type(newel_system) :: s
    integer :: few_ptr(n + 1), few_col(most), i, count
    real(real64) :: few_val(most), y(n)
    logical :: again
    call s%update(row_ptr, col(:entries), val(:entries), set_up_again=again)
    call check(again .and. s%rows() == n, 'the first update sets up')
    call solved(s, 'the first update')
    count = 0
    do i = 1, n  ! the lower half of the line
      few_ptr(i) = count + 1
      if (i > 1) then
        count = count + 1
        few_col(count) = i - 1
        few_val(count) = -1
      end if
      count = count + 1
      few_col(count) = i
      few_val(count) = 4
    end do
    few_ptr(n + 1) = count + 1
    call s%update(few_ptr, few_col(:count), few_val(:count), set_up_again=again)
    call check(.not. again, 'fewer entries are a refresh')
    y = 0
    call s%solve(b(:, 1), y)
    call check(maxval(abs(4*y - [0.0_real64, y(:n - 1)] - b(:, 1))) < 1e-5, 'the lower half is solved')
    few_col(1) = n
    call s%update(few_ptr, few_col(:count), few_val(:count), set_up_again=again)
    call check(again, 'an entry in another place sets up again')
  end subroutine

  subroutine columns_are_solved()
    type(newel_system) :: s
    type(newel_report) :: report
    real(real64) :: wide(2*n, 3)
    integer :: c, stat
    character(:), allocatable :: text
    call s%set('columns', 3)
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    b(:, 2) = 0
    x = 0
    call s%solve(b, x)
    call check(maxval(abs(x(:, 2))) <= 0, 'a column of zeros')
    do c = 1, 3, 2
      report = s%report(c)
      call check(residual(b(:, c), x(:, c), 1.0_real64) < 2e-8_real64, 'columns')
      call check(abs(report%rhs_norm - norm2(b(:, c))) < 1e-12_real64*norm2(b(:, c)), 'the report of the column')
    end do
    wide = 0  ! with gaps between the columns' elements
    wide(1::2, :) = x
    x = 0
    call s%solve(b, wide(1::2, :))
    call check(s%number('iterations', 1) <= 0, 'a solution as the guess takes no iterations')
    call check(residual(b(:, 3), wide(1::2, 3), 1.0_real64) < 2e-8_real64, 'a solution with gaps')
    call s%set('max_iterations', 1)
    call s%solve(b, x, stat=stat, errmsg=text)
    call check(stat == newel_not_converged .and. says(text, 'column 1 of 3: not converged (max_iter'), 'which one')
    call s%solve(b(:, :2), x, stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. says(text, 'as many columns in both, found 2 and 3'), 'columns differ')
    call s%solve(b(:, :0), x(:, :0), stat=stat)
    call check(stat == newel_invalid, 'no columns')
    report = s%report(4, stat, text)
    call check(stat == newel_invalid .and. says(text, 'no report of column'), 'the report of no column')
    call make_matrix(0.4_real64)
  end subroutine

  subroutine progress_is_heard_and_may_end_a_solve()
    integer :: stat
    heard = 0
    call watched%set('solver', 'bicgstab')
    call watched%setup_csr(row_ptr, col(:entries), val(:entries))
    x = 0
    call watched%solve(b(:, 1), x(:, 1), watch, stat)
    call check(stat == newel_not_converged .and. heard == 2, 'progress')
    call check(watched%text('status') == 'stopped_by_caller', 'stopped')
    call watched%solve(b(:, 1), x(:, 1))
    call check(heard == 2, 'progress is of one solve')
  end subroutine

  subroutine what_multigrid_takes_is_passed_on()
    type(newel_system) :: s
    integer :: i, stat
    call make_matrix(0.0_real64)
    call s%set('preconditioner', 'amg')
    call s%set('expected_solves', 100)
    call s%set_coordinates(reshape([(real(i, real64), i=1, n)], [1, n]))
    call s%set_near_null_space(reshape([(1.0_real64, i=1, n), (real(i, real64), i=1, n)], [n, 2]))
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call solved(s, 'multigrid')
    call s%move_nodes(reshape([(2*real(i, real64), i=1, n)], [1, n]))
    call s%refresh(val(:entries))
    call solved(s, 'nodes that have moved')
    call s%move_nodes(reshape([(real(i, real64), i=1, 2*n)], [2, n]), stat)
    call check(stat == newel_invalid, 'nodes that have moved into another dimension')
    call s%set_near_null_space(reshape([(1.0_real64, i=1, n - 1)], [n - 1, 1]))
    call s%setup_csr(row_ptr, col(:entries), val(:entries), stat)
    call check(stat == newel_invalid, 'vectors of another length')
    call s%set_near_null_space(reshape([real(real64) ::], [n, 0]))
    call s%set_coordinates(reshape([real(real64) ::], [1, 0]))
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call s%set_coordinates(reshape([(1.0_real64, i=1, 8)], [4, 2]), stat)
    call check(stat == newel_invalid, 'four dimensions')
    call make_matrix(0.4_real64)
  end subroutine


  !> The same vectors by way of newel.h, which takes the values of a row next to each other: the same iterations.
  subroutine vectors_are_passed_by_rows()
    integer, parameter :: long = 4000
    type(newel_system) :: ours, bound, other
    real(real64), target :: vectors(long, 2), by_rows(2, long)
    real(real64), allocatable :: expected(:), history(:)
    integer :: i
    vectors(:, 1) = 1
    vectors(:, 2) = [(sin(0.01_real64*i), i=1, long)]
    by_rows = transpose(vectors)
    call ours%set_near_null_space(vectors)
    i = newel_set_near_null_space(bound%c_handle(), int(long, c_int64_t), 2, c_loc(by_rows))
    i = i + newel_set_near_null_space(other%c_handle(), int(long, c_int64_t), 2, c_loc(vectors))
    call check(i == newel_ok, 'a function of newel_bindings')
    call solve_line(bound, long, expected)
    call solve_line(ours, long, history)
    call check(same(history, expected), 'vectors by rows')
    call solve_line(other, long, history)
    call check(.not. same(history, expected), 'the order of the vectors matters')
  end subroutine

  !> The history of multigrid on a line of points.
  subroutine solve_line(s, points, history)
    type(newel_system), intent(inout) :: s
    integer, intent(in) :: points
    real(real64), allocatable, intent(out) :: history(:)
    type(newel_report) :: report
    real(real64) :: rhs(points), solution(points)
    integer :: i
    rhs = 1
    solution = 0
    call s%set('preconditioner', 'amg')
    call s%set('stored_half', 'lower')
    call s%setup_coo(points, [(i, i=1, points), (i + 1, i=1, points - 1)], &
                     [(i, i=1, points), (i, i=1, points - 1)], &
                     [(2.01_real64, i=1, points), (-1.0_real64, i=1, points - 1)])
    call s%solve(rhs, solution)
    report = s%report()
    history = report%history
  end subroutine

  function same(a, b) result(equal)
    real(real64), intent(in) :: a(:), b(:)
    logical :: equal
    equal = size(a) == size(b)
    if (equal) equal = all(abs(a - b) <= 0)
  end function
end program
