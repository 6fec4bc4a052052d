! SPDX-License-Identifier: Apache-2.0
! The smallest eigenpairs by the Fortran module, against formulas of chains. Residuals are computed here.
program test_eigenpairs
  use, intrinsic :: iso_fortran_env, only: real64
  use checks, only: check, report_checks
  use newel
  implicit none
  integer, parameter :: n = 200, pairs = 3, most = 3*n
  real(real64), parameter :: pi = acos(-1.0_real64)
  integer :: row_ptr(n + 1), col(most), entries
  real(real64) :: stiffness(most), mass(most), values(pairs), vectors(n, pairs)

  call those_of_a_matrix_are_found()
  call those_of_a_free_pencil_are_found()
  call failures_are_reported()
  call shapes_are_checked()
  call report_checks()

contains

  !> A chain of springs whose ends are held, or free, and the mass of linear elements times 6.
  subroutine make_chain(is_free)
    logical, intent(in) :: is_free
    integer :: i, j
    logical :: at_end
    entries = 0
    do i = 1, n
      row_ptr(i) = entries + 1
      at_end = is_free .and. (i == 1 .or. i == n)
      do j = max(1, i - 1), min(n, i + 1)
        entries = entries + 1
        col(entries) = j
        stiffness(entries) = merge(merge(1, 2, at_end), -1, i == j)
        mass(entries) = merge(merge(2, 4, at_end), 1, i == j)
      end do
    end do
    row_ptr(n + 1) = entries + 1
  end subroutine

  subroutine set_up(s, val, preconditioner)
    type(newel_system), intent(inout) :: s
    real(real64), intent(in) :: val(:)
    character(*), intent(in) :: preconditioner
    call s%set('solver', 'cg')
    call s%set('format', 'csr')
    call s%set('preconditioner', preconditioner)
    call s%set('rtol', 1e-7_real64)
    call s%setup_csr(row_ptr, col(:entries), val(:entries))
  end subroutine

  function times_matrix(val, x) result(y)
    real(real64), intent(in) :: val(:), x(:)
    real(real64) :: y(n)
    integer :: i
    do i = 1, n
      y(i) = sum(val(row_ptr(i):row_ptr(i + 1) - 1)*x(col(row_ptr(i):row_ptr(i + 1) - 1)))
    end do
  end function

  subroutine check_pairs(s, expected)
    type(newel_system), intent(inout) :: s
    real(real64), intent(in) :: expected(:)
    type(newel_report) :: r
    integer :: k
    do k = 1, pairs
      r = s%report(k)
      call check(r%converged .and. r%iterations > 0 .and. r%true_residual <= r%tolerance, 'report')
      call check(abs(r%tolerance - 1e-7_real64*values(pairs)) < 1e-9_real64*values(pairs), 'tolerance')
      call check(abs(values(k) - expected(k)) <= r%tolerance, 'eigenvalue')
    end do
  end subroutine

  subroutine those_of_a_matrix_are_found()
    type(newel_system) :: s
    integer :: k
    call make_chain(.false.)
    call set_up(s, stiffness, 'amg')
    call s%eigenpairs(values, vectors)
    call check_pairs(s, [(4*sin(pi*k/(2*(n + 1)))**2, k=1, pairs)])
    do k = 1, pairs
      call check(norm2(times_matrix(stiffness, vectors(:, k)) - values(k)*vectors(:, k)) < 1.01e-7_real64*values(pairs), &
                 'residual')
      call check(abs(norm2(vectors(:, k)) - 1) < 1e-10_real64, 'length')
    end do
  end subroutine

  !> Stiffness 2 - 2 cos t and mass 4 + 2 cos t, t = k pi / (n - 1); t = 0 is left out.
  subroutine those_of_a_free_pencil_are_found()
    type(newel_system) :: s, of_mass, near
    real(real64) :: m(n), ones(n, 1)
    integer :: k
    call make_chain(.true.)
    call set_up(s, stiffness, 'none')
    call set_up(of_mass, mass, 'jacobi')
    call set_up(near, stiffness + 1e-5_real64*mass, 'amg')
    ones = 1
    call s%eigenpairs(values, vectors, mass=of_mass, preconditioned=near, null_space=ones)
    call check_pairs(s, [((2 - 2*cos(pi*k/(n - 1)))/(4 + 2*cos(pi*k/(n - 1))), k=1, pairs)])
    do k = 1, pairs
      m = times_matrix(mass, vectors(:, k))
      call check(norm2(times_matrix(stiffness, vectors(:, k)) - values(k)*m) < 1e-6_real64*values(pairs), 'residual of a pencil')
      call check(abs(dot_product(vectors(:, k), m) - 1) < 1e-10_real64 .and. abs(sum(m)) < 1e-8_real64, 'orthogonality')
    end do
  end subroutine

  subroutine failures_are_reported()
    type(newel_system) :: s
    integer :: stat
    character(:), allocatable :: text
    call make_chain(.false.)
    call set_up(s, stiffness, 'none')
    call s%set('max_iterations', 2)
    call s%eigenpairs(values, vectors, stat=stat, errmsg=text)
    call check(stat == newel_not_converged .and. index(text, 'max_iterations') > 0, 'too few iterations')
    call s%eigenpairs(values, vectors, mass=s, stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'mass') == 1, 'a system as its own mass')
  end subroutine

  subroutine shapes_are_checked()
    type(newel_system) :: s, empty
    integer :: stat
    character(:), allocatable :: text
    call set_up(s, stiffness, 'none')
    call s%eigenpairs(values, vectors(:, 2:), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'vectors: expected 200 rows and 3 columns') == 1, 'columns')
    call s%eigenpairs(values, vectors, null_space=vectors(2:, :), stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. index(text, 'null_space: expected 200 rows') == 1, 'rows')
    call empty%eigenpairs(values, vectors, stat=stat, errmsg=text)
    call check(stat == newel_invalid .and. len(text) > 0, 'without a matrix')
  end subroutine
end program
