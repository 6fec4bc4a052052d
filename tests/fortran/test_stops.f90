! SPDX-License-Identifier: Apache-2.0
! Mistakes without stat=, each of which has to end the program.
program test_stops
  use, intrinsic :: iso_fortran_env, only: real64
  use newel
  implicit none
  real(real64), parameter :: val(7) = [2, -1, -1, 2, -1, -1, 2]
  real(real64) :: b(3), x(3)
  type(newel_system) :: s, other
  character(10) :: how
  b = [1, 0, 1]
  x = 0
  call get_command_argument(1, how)
  call s%setup_csr([1, 3, 6, 8], [1, 2, 1, 2, 3, 2, 3], val)
  print '(a)', 'before'
  select case (how)
  case ('option')
    call s%set('solvr', 'cg')
  case ('size')
    call s%solve(b(:2), x)
  case ('solve')
    call s%set('max_iterations', 0)
    call s%solve(b, x)
  case ('copy')
    other = s
  end select
  print '(a)', 'after'
end program
