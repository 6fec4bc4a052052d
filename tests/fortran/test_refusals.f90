! SPDX-License-Identifier: Apache-2.0
! The Fortran module: reports, mistakes, and the life of a system.
program test_refusals
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use checks
  use newel
  implicit none
  character(*), parameter :: number_fields = ' converged, iterations, true_residual, initial_residual, rhs_norm, '// &
    'tolerance, residual_error_bound, row_residual, scaled_residual, attainable_residual, '// &
    'guess_vectors, given_residual, iterations_saved, seconds, restarts, history_length, rows, setup_seconds, bytes,'
  character(*), parameter :: text_fields = ' status, cause, reason, warning, solver, preconditioner, format, changed, '// &
    'guess_from, link, decision,'

  call make_matrix(0.4_real64)
  call reports_are_complete()
  call mistakes_are_named()
  call systems_are_moved_and_made_again()
  call a_device_is_chosen_by_name()
  call report_checks()

contains

  subroutine reports_are_complete()
    type(newel_system) :: s
    type(newel_report) :: r
    real(real64) :: number
    character(:), allocatable :: text, word
    integer :: stat
    call s%set('preconditioner', 'jacobi')
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    r = s%report(stat=stat)
    call check(stat == newel_invalid, 'no report before a solve')
    call solved(s, 'jacobi')
    r = s%report()
    call check(r%converged .and. r%status == 'converged' .and. r%cause == 'none' .and. r%reason == '', 'the end')
    call check(abs(r%true_residual/r%rhs_norm - residual(b(:, 1), x(:, 1), 1.0_real64)) < 1e-14_real64, 'residual')
    call check(abs(r%initial_residual - norm2(b(:, 1))) < 1e-12_real64*r%rhs_norm, 'initial residual')
    call check(abs(r%tolerance - 1e-8_real64*r%rhs_norm) < 1e-20_real64*r%rhs_norm, 'tolerance')
    call check(r%iterations > 2 .and. size(r%history) == r%iterations + 1, 'history')
    call check(r%history(size(r%history)) <= r%tolerance .and. r%history(1) >= r%initial_residual*0.999, 'residuals')
    call check(r%rows == n .and. r%bytes > 8*entries .and. r%seconds >= 0 .and. r%setup_seconds > 0, 'the system')
    call check(r%preconditioner == 'jacobi' .and. r%format == 'csr' .and. r%solver == s%text('solver'), 'the parts')
    call check(r%attainable_residual <= 0 .and. r%restarts == 0 .and. r%changed == '' .and. r%link == '', &
      'the rest')
    call check(index(s%text('decision'), '"newel_decision"') > 0, 'the decision')
    ! The library lists its fields: newel_report has all of them but the last text.
    number = s%number('colour', stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. fields_of(text) == number_fields, 'numbers: '//fields_of(text))
    word = s%text('colour', stat=stat, errmsg=text)
    call check(word == '' .and. fields_of(text) == text_fields, 'texts: '//fields_of(text))
    call s%set('max_iterations', 2)
    x = 0
    call s%solve(b(:, 1), x(:, 1), stat=stat, errmsg=text)
    r = s%report()
    call check(stat == newel_not_converged .and. .not. r%converged .and. r%iterations == 2, 'not converged')
    call check(r%cause == 'iteration_limit' .and. says(text, r%reason) .and. len(r%reason) > 0, 'why')
  end subroutine

  !> What follows "expected one of:" in an error, with a comma at the end.
  function fields_of(text) result(names)
    character(*), intent(in) :: text
    character(:), allocatable :: names
    names = text(index(text, 'expected one of:') + 16:)//','
  end function

  subroutine mistakes_are_named()
    type(newel_system) :: s
    real(real32) :: single(n)
    integer :: stat
    character(:), allocatable :: text
    call s%set('solver', 'magic', stat, text)
    call check(stat == newel_invalid .and. says(text, 'bicgstab'), 'solver')
    call s%set('rtol', -1, stat)
    call check(stat == newel_invalid, 'rtol')
    call s%set('rtol', 1e-10, stat)
    call check(stat == newel_ok .and. says(text, 'bicgstab'), 'success leaves errmsg alone')
    call s%set('deterministic', .true.)
    call s%set('threads', 1.5_real64, stat)
    call check(stat == newel_invalid, 'threads')
    call s%setup_csr(row_ptr, col(:entries - 1), val(:entries), stat, text)
    call check(stat == newel_invalid .and. says(text, 'expected 118 and 118 elements as row_ptr has them'), 'col')
    call s%setup_csr(row_ptr(:0), col(:0), val(:0), stat, text)
    call check(stat == newel_invalid .and. says(text, 'row_ptr: expected at least one'), 'row_ptr')
    call s%setup_coo(n, row(:2), col(:3), val(:2), stat)
    call check(stat == newel_invalid, 'coo')
    call s%setup_bsr(0, row_ptr, col(:entries), val(:0), stat)
    call check(stat == newel_invalid, 'blocks of nothing')
    call s%setup_coo(-1, row(:0), col(:0), val(:0), stat)
    call check(stat == newel_invalid, 'a negative size')
    call s%set('precision', 'mixed')
    call s%setup_csr(row_ptr, col(:entries), real(val(:entries), real32), stat, text)
    call check(stat == newel_invalid .and. says(text, 'the option precision is mixed, and val is real32'), 'kinds')
    call s%set('format', 'csr')  ! else the precision is chosen
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call solved(s, 'mixed')
    call check(index(s%text('solver'), 'mixed') == 1, 'mixed precision is kept')
    call s%multiply(real(b(:, 1), real32), single, stat, text)
    call check(stat == newel_invalid .and. says(text, 'expected real64'), 'a vector of another kind')
    call s%solve(b(:, 1), x(:n - 1, 1), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. says(text, 'found 40 and 39'), 'x')
  end subroutine

  subroutine systems_are_moved_and_made_again()
    type(newel_system), allocatable :: s, moved, many(:)
    integer :: stat, i
    allocate (s)
    call s%set('index_base', 0)
    call s%setup_csr(row_ptr - 1, col(:entries) - 1, val(:entries))
    call move_alloc(s, moved)
    call solved(moved, 'moved')
    call moved%destroy()
    call check(moved%rows() == 0 .and. moved%index_base() == 1, 'destroyed')
    call moved%solve(b(:, 1), x(:, 1), stat=stat)
    call check(stat == newel_invalid, 'destroyed systems have no matrix')
    call moved%setup_csr(row_ptr, col(:entries), val(:entries))
    call solved(moved, 'made again')
    allocate (many(3))
    do i = 1, 3
      call many(i)%setup_csr(row_ptr, col(:entries), val(:entries))
      call solved(many(i), 'one of several')
    end do
    call many%destroy()
  end subroutine
  !> With arrays of the host. Without CUDA the option is refused, without a GPU the setup.
  subroutine a_device_is_chosen_by_name()
    type(newel_system) :: s
    character(:), allocatable :: text
    integer :: stat
    call s%set('device', 'gpu', stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'host') > 0, 'no such device')
    call s%set('device', 'cuda', stat=stat, errmsg=text)
    if (stat == newel_invalid) then
      call check(index(text, 'without CUDA') > 0, 'without CUDA: '//text)
      return
    end if
    call s%set_devices([0, -1], stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'found -1') > 0, 'a negative number: '//text)
    call s%set_devices([integer ::])
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call solved(s, 'on the host, after all')
    call s%set_devices([0, 0])
    call s%setup_csr(row_ptr, col(:entries), val(:entries), stat=stat, errmsg=text)
    if (stat /= newel_ok) then
      call check(stat == newel_internal .and. index(text, 'no CUDA device') > 0, 'without a GPU: '//text)
      print '(2a)', 'no device: ', text
      return
    end if
    call solved(s, 'on a device that two ranks share')
    call check(s%text('link') /= '' .and. s%text('format') == 'csr', 'the link')
    call s%set_devices([0])
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
    call solved(s, 'on a device')
    call check(s%text('link') == '', 'no link')
  end subroutine

end program
