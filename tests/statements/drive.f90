! SPDX-License-Identifier: Apache-2.0
!> Solves the cases of scripts/statements/drivers.py through the Fortran module.
program drive
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use newel
  implicit none
  character(*), parameter :: newline = achar(10)
  integer :: in, out, status
  integer(int32) :: size_of_options, head(7)
  character(:), allocatable :: options, text
  integer(int32), allocatable :: first(:), second(:)

  open (newunit=in, file='/dev/stdin', access='stream', form='unformatted', action='read')
  open (newunit=out, file='/dev/stdout', access='stream', form='unformatted', action='write')
  do
    read (in, iostat=status) size_of_options
    if (status /= 0) exit
    allocate (character(size_of_options) :: options)
    read (in) options, head
    allocate (first(merge(head(2), head(1) + 1, head(6) == 2)), second(head(2)))
    read (in) first, second
    call solve_case(head(1), head(2), head(3), head(4), head(5) == 1)
    flush (out)
    deallocate (options, first, second)
  end do

contains

  subroutine solve_case(n, entries, columns, rounds, single)
    integer(int32), intent(in) :: n, entries, columns, rounds
    logical, intent(in) :: single
    type(newel_system) :: s
    real(real64) :: values(entries), b(n, columns), x(n, columns)
    real(real32) :: values32(entries), b32(n, columns), x32(n, columns)
    character(:), allocatable :: error
    integer :: k, code
    logical :: answered
    call set_options(s, columns, code, error)
    answered = .false.
    do k = 1, rounds
      read (in) values, b, x
      if (code > newel_not_converged .and. answered) cycle
      if (code <= newel_not_converged) then
        if (single) then
          values32 = real(values, real32)
          b32 = real(b, real32)
          x32 = real(x, real32)
          if (k == 1) then
            call set_up_32(s, n, values32, code, error)
          else
            call s%refresh(values32, stat=code, errmsg=error)
          end if
          if (code == newel_ok) call s%solve(b32, x32, stat=code, errmsg=error)
          x = x32
        else
          if (k == 1) then
            call set_up_64(s, n, values, code, error)
          else
            call s%refresh(values, stat=code, errmsg=error)
          end if
          if (code == newel_ok) call s%solve(b, x, stat=code, errmsg=error)
        end if
      end if
      answered = .true.
      if (code > newel_not_converged) then
        text = 'error='//error//newline
        write (out) int(code, int32), int(len(text), int32), text
      else
        call write_reports(s, columns, code)
        write (out) x
      end if
    end do
  end subroutine

  subroutine set_options(s, columns, code, error)
    type(newel_system), intent(inout) :: s
    integer(int32), intent(in) :: columns
    integer, intent(out) :: code
    character(:), allocatable, intent(inout) :: error
    integer :: at, equals, ends
    call s%set('columns', columns)
    call s%set('threads', 1)
    call s%set('guess', trim(merge('x   ', 'zero', head(7) == 1)))
    call s%set('index_base', 0)
    code = newel_ok
    at = 1
    do while (at <= len(options))
      equals = at + index(options(at:), '=') - 1
      ends = at + index(options(at:), newline) - 1
      if (options(at:equals - 1) /= 'way') then
        call s%set(options(at:equals - 1), options(equals + 1:ends - 1), stat=code, errmsg=error)
        if (code /= newel_ok) return
      end if
      at = ends + 1
    end do
  end subroutine

  subroutine set_up_64(s, n, values, code, error)
    type(newel_system), intent(inout) :: s
    integer(int32), intent(in) :: n
    real(real64), intent(in) :: values(:)
    integer, intent(out) :: code
    character(:), allocatable, intent(inout) :: error
    if (head(6) == 0) call s%setup_csr(first, second, values, stat=code, errmsg=error)
    if (head(6) == 1) call s%setup_csc(first, second, values, stat=code, errmsg=error)
    if (head(6) == 2) call s%setup_coo(n, first, second, values, stat=code, errmsg=error)
  end subroutine

  subroutine set_up_32(s, n, values, code, error)
    type(newel_system), intent(inout) :: s
    integer(int32), intent(in) :: n
    real(real32), intent(in) :: values(:)
    integer, intent(out) :: code
    character(:), allocatable, intent(inout) :: error
    if (head(6) == 0) call s%setup_csr(first, second, values, stat=code, errmsg=error)
    if (head(6) == 1) call s%setup_csc(first, second, values, stat=code, errmsg=error)
    if (head(6) == 2) call s%setup_coo(n, first, second, values, stat=code, errmsg=error)
  end subroutine

  subroutine write_reports(s, columns, code)
    type(newel_system), intent(inout) :: s
    integer(int32), intent(in) :: columns
    integer, intent(in) :: code
    type(newel_report) :: r
    integer :: c
    text = ''
    do c = 1, columns
      r = s%report(c)
      call add_number(c, 'converged', merge(1.0_real64, 0.0_real64, r%converged))
      call add_number(c, 'iterations', real(r%iterations, real64))
      call add_number(c, 'true_residual', r%true_residual)
      call add_number(c, 'rhs_norm', r%rhs_norm)
      call add_number(c, 'tolerance', r%tolerance)
      call add_number(c, 'initial_residual', r%initial_residual)
      call add_number(c, 'attainable_residual', r%attainable_residual)
      call add_number(c, 'history_length', real(size(r%history), real64))
      call add_text(c, 'status', r%status)
      call add_text(c, 'cause', r%cause)
      call add_text(c, 'reason', r%reason)
      call add_text(c, 'solver', r%solver)
    end do
    write (out) int(code, int32), int(len(text), int32), text
  end subroutine

  subroutine add_number(column, name, value)
    integer, intent(in) :: column
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    character(32) :: digits
    write (digits, '(es26.17e4)') value
    call add_text(column, name, trim(adjustl(digits)))
  end subroutine

  subroutine add_text(column, name, value)
    integer, intent(in) :: column
    character(*), intent(in) :: name, value
    character(12) :: digits
    write (digits, '(i0)') column - 1
    text = text//trim(digits)//'.'//name//'='//value//newline
  end subroutine
end program
