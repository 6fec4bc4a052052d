! SPDX-License-Identifier: Apache-2.0
! 10  Newel from Fortran: steady heat in a plate of two materials,
!
!         -div(k grad u) = f  on (0, 1)^2,      u = 0 on the boundary,      k = 1 for x < 1/2, else k = kappa
!
! Finite volumes on m x m points with the spacing h = 1 / (m + 1). Between neighbours P and Q flows K_PQ (u_P - u_Q),
! with the harmonic mean K_PQ = 2 k_P k_Q / (k_P + k_Q), and every point keeps the balance
!
!         sum over its four neighbours of K_PQ (u_P - u_Q) = h^2 f_P
!
! The program takes two temperatures u that it knows, forms their loads b from the fluxes, and solves A x = b for both
! at once; then for another kappa, on the same pattern, with new values. With the smallest eigenvalue of A,
! at least lambda = 8 sin(pi h / 2)^2, the error is bounded: |x - u| <= |A^-1| |b - A x| <= rtol |b| / lambda.
!
! An argument names a file for the temperatures of the last solve, for a plot: a line for each point, both columns.
!
! Shows: newel_system: options, setup from 1-based CSR arrays, refresh, right-hand sides in columns, report, errors.
! Compile: in your CMakeLists.txt find_package(newel), target_link_libraries(program PRIVATE newel::newel_fortran);
! here the target 10_fortran.
program fortran_example
  use, intrinsic :: iso_fortran_env, only: real64
  use newel
  implicit none
  integer, parameter :: m = 120, n = m*m, dp = real64
  real(dp), parameter :: pi = acos(-1.0_dp), h = 1.0_dp/(m + 1), rtol = 1e-10_dp, kappas(2) = [10.0_dp, 1000.0_dp]
  integer :: row_ptr(n + 1), col(5*n), entries, iterations, material, column
  real(dp) :: val(5*n), u(n, 2), b(n, 2), x(n, 2), k(0:m + 1, 0:m + 1), bound, worst
  type(newel_system) :: s
  type(newel_report) :: report

  call choose_temperatures()
  worst = 0
  iterations = 0
  call s%set('rtol', rtol)
  call s%set('columns', 2)
  do material = 1, size(kappas)
    call assemble(kappas(material))
    if (material == 1) then
      call s%setup_csr(row_ptr, col(:entries), val(:entries))
    else
      call s%refresh(val(:entries))
    end if
    x = 0
    call s%solve(b, x)  ! without stat= a solve that does not converge stops the program
    do column = 1, 2
      report = s%report(column)
      iterations = iterations + report%iterations
      bound = rtol*norm2(b(:, column))/(8*sin(pi*h/2)**2)
      worst = max(worst, norm2(x(:, column) - u(:, column))/norm2(u(:, column)))
      if (norm2(x(:, column) - u(:, column)) > bound) error stop 'the error is above its bound'
    end do
  end do

  if (command_argument_count() > 0) call write_temperatures()

  block  ! a mistake, caught: b is too short
    integer :: stat
    character(:), allocatable :: text
    call s%solve(b(2:, 1), x(:, 1), stat=stat, errmsg=text)
    if (stat /= newel_invalid) error stop 'a right-hand side that is too short was taken'
    print '(a)', text
  end block
  print '(i0, 5a, i0, a, es7.1)', size(kappas), ' materials by ', report%solver, ' in ', report%format, ': ', &
    iterations, ' iterations, error ', worst

contains

  subroutine write_temperatures()
    character(1000) :: file
    integer :: unit, i
    call get_command_argument(1, file)
    open(newunit=unit, file=trim(file), action='write')
    write(unit, '(2es16.8)') (x(i, :), i = 1, n)
    close(unit)
  end subroutine

  subroutine choose_temperatures()
    integer :: i, j
    do j = 1, m
      do i = 1, m
        u(i + (j - 1)*m, 1) = sin(pi*i*h)*sin(pi*j*h)
        u(i + (j - 1)*m, 2) = i*h*(1 - i*h)**2*j*h*(1 - j*h)
      end do
    end do
  end subroutine

  !> The rows of A in CSR, and b = A u from the fluxes.
  subroutine assemble(kappa)
    real(dp), intent(in) :: kappa  ! of the right half
    integer :: i, j
    do i = 1, m
      k(i, :) = merge(1.0_dp, kappa, i*h < 0.5_dp)
    end do
    k(0, :) = k(1, :)
    k(m + 1, :) = k(m, :)
    entries = 0
    b = 0
    do j = 1, m
      do i = 1, m
        row_ptr(i + (j - 1)*m) = entries + 1
        call add_point(i, j)
      end do
    end do
    row_ptr(n + 1) = entries + 1
  end subroutine

  subroutine add_point(i, j)
    integer, intent(in) :: i, j
    integer, parameter :: di(4) = [0, -1, 1, 0], dj(4) = [-1, 0, 0, 1]
    integer :: row, side, neighbour
    real(dp) :: conductance, diagonal
    row = i + (j - 1)*m
    diagonal = 0
    do side = 1, 4
      associate (p => i + di(side), q => j + dj(side))
        conductance = 2*k(i, j)*k(p, q)/(k(i, j) + k(p, q))
        diagonal = diagonal + conductance
        b(row, :) = b(row, :) + conductance*u(row, :)
        if (p < 1 .or. p > m .or. q < 1 .or. q > m) cycle  ! u = 0 there
        neighbour = p + (q - 1)*m
        b(row, :) = b(row, :) - conductance*u(neighbour, :)
        call add_entry(neighbour, -conductance)
      end associate
    end do
    call add_entry(row, diagonal)  ! entries of a row may come in any order
  end subroutine

  subroutine add_entry(column, value)
    integer, intent(in) :: column
    real(dp), intent(in) :: value
    entries = entries + 1
    col(entries) = column
    val(entries) = value
  end subroutine
end program
