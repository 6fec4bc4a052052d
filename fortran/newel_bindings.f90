! SPDX-License-Identifier: Apache-2.0
!> Bindings of the functions of newel.h, with the same names; newel.h documents them. Texts must end with c_null_char,
!> and arrays are passed by address (c_loc). The module `newel` calls them for you.
module newel_bindings
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_ptr
  implicit none
  public

  integer, parameter :: newel_ok = 0             !< success; for a solve: every column has converged
  integer, parameter :: newel_not_converged = 1  !< a solve did not converge: the report says why
  integer, parameter :: newel_invalid = 2        !< an invalid argument, option or matrix
  integer, parameter :: newel_out_of_memory = 3
  integer, parameter :: newel_internal = 4       !< anything else

  interface
    function newel_c_version() bind(c, name="newel_c_version") result(version)
      import :: c_int
      integer(c_int) :: version
    end function

    function newel_version() bind(c, name="newel_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function newel_create(system) bind(c, name="newel_create") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: system
      integer(c_int) :: status
    end function

    subroutine newel_destroy(system) bind(c, name="newel_destroy")
      import :: c_ptr
      type(c_ptr), value :: system
    end subroutine

    function newel_error(system) bind(c, name="newel_error") result(text)
      import :: c_ptr
      type(c_ptr), value :: system
      type(c_ptr) :: text
    end function

    function newel_set(system, name, value) bind(c, name="newel_set") result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: system
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: status
    end function

    function newel_set_coordinates(system, points, dimension, xyz) bind(c, name="newel_set_coordinates") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: points
      integer(c_int), value :: dimension
      type(c_ptr), value :: xyz
      integer(c_int) :: status
    end function

    function newel_set_near_null_space(system, rows, count, values) bind(c, name="newel_set_near_null_space") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: rows
      integer(c_int), value :: count
      type(c_ptr), value :: values
      integer(c_int) :: status
    end function

    function newel_set_devices(system, count, devices) bind(c, name="newel_set_devices") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: system
      integer(c_int), value :: count
      type(c_ptr), value :: devices
      integer(c_int) :: status
    end function

    function newel_set_stream(system, stream) bind(c, name="newel_set_stream") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: system, stream
      integer(c_int) :: status
    end function

    function newel_set_progress(system, progress, user) bind(c, name="newel_set_progress") result(status)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: system
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      integer(c_int) :: status
    end function

    function newel_setup_csr(system, n, index_bits, row_ptr, col, val) &
        bind(c, name="newel_setup_csr") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: n
      integer(c_int), value :: index_bits
      type(c_ptr), value :: row_ptr, col, val
      integer(c_int) :: status
    end function

    function newel_setup_rows(system, ranks, rows, index_bits, row_ptr, col, val) &
        bind(c, name="newel_setup_rows") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system, ranks
      integer(c_int64_t), value :: rows
      integer(c_int), value :: index_bits
      type(c_ptr), value :: row_ptr, col, val
      integer(c_int) :: status
    end function

    function newel_setup_csc(system, n, index_bits, col_ptr, row, val) &
        bind(c, name="newel_setup_csc") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: n
      integer(c_int), value :: index_bits
      type(c_ptr), value :: col_ptr, row, val
      integer(c_int) :: status
    end function

    function newel_setup_coo(system, n, entries, index_bits, row, col, val) bind(c, name="newel_setup_coo") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: n, entries
      integer(c_int), value :: index_bits
      type(c_ptr), value :: row, col, val
      integer(c_int) :: status
    end function

    function newel_setup_bsr(system, block_rows, block_size, index_bits, row_ptr, col, val) &
        bind(c, name="newel_setup_bsr") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: block_rows
      integer(c_int), value :: block_size, index_bits
      type(c_ptr), value :: row_ptr, col, val
      integer(c_int) :: status
    end function

    function newel_refresh(system, val, keep_preconditioner) bind(c, name="newel_refresh") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: system, val
      integer(c_int), value :: keep_preconditioner
      integer(c_int) :: status
    end function

    function newel_update_csr(system, n, index_bits, row_ptr, col, val, keep_preconditioner, set_up_again) &
        bind(c, name="newel_update_csr") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: n
      integer(c_int), value :: index_bits
      type(c_ptr), value :: row_ptr, col, val
      integer(c_int), value :: keep_preconditioner
      integer(c_int), intent(out) :: set_up_again
      integer(c_int) :: status
    end function

    function newel_move_nodes(system, points, dimension, xyz) bind(c, name="newel_move_nodes") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: points
      integer(c_int), value :: dimension
      type(c_ptr), value :: xyz
      integer(c_int) :: status
    end function

    function newel_setup_batch(system, n, index_bits, row_ptr, col) bind(c, name="newel_setup_batch") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: n
      integer(c_int), value :: index_bits
      type(c_ptr), value :: row_ptr, col
      integer(c_int) :: status
    end function

    function newel_solve_batch(system, systems, values, b, x) bind(c, name="newel_solve_batch") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: systems
      type(c_ptr), value :: values, b, x
      integer(c_int) :: status
    end function

    function newel_eigenpairs(system, mass, preconditioned, pairs, null_vectors, null_space, values, vectors) &
        bind(c, name="newel_eigenpairs") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: system, mass, preconditioned
      integer(c_int), value :: pairs, null_vectors
      type(c_ptr), value :: null_space, values, vectors
      integer(c_int) :: status
    end function

    function newel_solve(system, columns, b, x) bind(c, name="newel_solve") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: columns
      type(c_ptr), value :: b, x
      integer(c_int) :: status
    end function

    function newel_multiply(system, x, y) bind(c, name="newel_multiply") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: system, x, y
      integer(c_int) :: status
    end function

    function newel_report_number(system, column, name, value) bind(c, name="newel_report_number") result(status)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: column
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
      integer(c_int) :: status
    end function

    function newel_report_text(system, column, name, text) bind(c, name="newel_report_text") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: column
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function

    function newel_report_history(system, column, residuals, capacity) bind(c, name="newel_report_history") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: system
      integer(c_int64_t), value :: column
      type(c_ptr), value :: residuals
      integer(c_int64_t), value :: capacity
      integer(c_int) :: status
    end function
  end interface
end module
