! SPDX-License-Identifier: Apache-2.0
!> The data of a system that has no matrix yet: its handle for the C interface, and its options.
module newel_settings
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  use newel_bindings, only: newel_create, newel_destroy, newel_error, newel_ok, newel_out_of_memory, &
                             newel_set, newel_set_coordinates, newel_set_devices, newel_set_near_null_space
  use newel_errors, only: call_outcome, decimal, from_c, to_c
  implicit none
  private
  public :: newel_options

  !> Options; they are used from the next setup or solve on. The handle is created at first use. Indices count from 1
  !> unless the option index_base says otherwise. Extended by newel_system, the type that programs declare.
  type :: newel_options
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: base = 1
    character(:), allocatable :: precision
  contains
    !> call s%set(name, value [, stat] [, errmsg]): sets an option of newel.h, by name. The value is a text, a whole or
    !> real number, or a logical for yes and no.
    generic :: set => set_text, set_integer, set_real32, set_real64, set_logical
    !> call s%set_coordinates(xyz [, stat] [, errmsg]): coordinates of the nodes for algebraic multigrid; xyz(:, i) is
    !> node i, in 1, 2 or 3 dimensions. An empty array removes them.
    procedure :: set_coordinates
    !> call s%set_near_null_space(vectors [, stat] [, errmsg]): vectors that the matrix maps to almost zero, for
    !> algebraic multigrid. vectors(:, k) has one element per row of the matrix. An empty array removes them.
    procedure :: set_near_null_space
    !> call s%set_devices(numbers [, stat] [, errmsg]): GPUs that share the rows of a system, counted from 0. One
    !> number is a system on that GPU; an empty array, one on the host.
    procedure :: set_devices
    !> The index base: 1 or 0.
    procedure :: index_base
    !> The handle for functions of newel_bindings; created if there is none yet. It belongs to this object.
    procedure :: c_handle
    !> The option "precision" if it was set, else "".
    procedure :: precision_set
    !> Sets an option of the next setup that its arrays decide.
    procedure :: use_option
    !> Adds the library's error text of the last call, if that call failed.
    procedure :: explain
    !> Frees everything. The object can then be used again, like a new one. Called when a variable ceases to exist.
    procedure :: destroy
    !> Systems cannot be copied: an assignment stops the program.
    generic :: assignment(=) => refuse_copy
    procedure, private :: set_text, set_integer, set_real32, set_real64, set_logical, set_option, refuse_copy
    final :: finalize
  end type

contains

  function c_handle(self) result(handle)
    class(newel_options), intent(inout) :: self
    type(c_ptr) :: handle
    if (.not. c_associated(self%handle)) then
      if (newel_create(self%handle) == newel_ok) then
        if (newel_set(self%handle, to_c('index_base'), to_c('1')) /= newel_ok) self%base = 0
      end if
    end if
    handle = self%handle
  end function

  subroutine explain(self, outcome)
    class(newel_options), intent(in) :: self
    type(call_outcome), intent(inout) :: outcome
    if (.not. outcome%failed()) return
    outcome%text = from_c(newel_error(self%handle))
    if (len(outcome%text) > 0) return
    outcome%text = 'the system is in use'
    if (outcome%code == newel_out_of_memory) outcome%text = 'out of memory'
  end subroutine

  impure elemental subroutine destroy(self)
    class(newel_options), intent(inout) :: self
    call newel_destroy(self%handle)
    self%handle = c_null_ptr
    self%base = 1
    if (allocated(self%precision)) deallocate (self%precision)
  end subroutine

  impure elemental subroutine finalize(self)
    type(newel_options), intent(inout) :: self
    call newel_destroy(self%handle)
    self%handle = c_null_ptr
  end subroutine

  subroutine refuse_copy(self, other)
    class(newel_options), intent(inout) :: self
    class(newel_options), intent(in) :: other
    if (.not. c_associated(self%handle) .and. .not. c_associated(other%handle)) return
    write (error_unit, '(a)') 'newel: a system cannot be copied; move_alloc moves one that is allocatable'
    error stop 1
  end subroutine

  pure function index_base(self) result(base)
    class(newel_options), intent(in) :: self
    integer :: base
    base = self%base
  end function

  pure function precision_set(self) result(name)
    class(newel_options), intent(in) :: self
    character(:), allocatable :: name
    name = ''
    if (allocated(self%precision)) name = self%precision
  end function

  subroutine use_option(self, name, value)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name, value
    if (newel_set(self%c_handle(), to_c(name), to_c(value)) /= newel_ok) return  ! which the setup then says
  end subroutine

  subroutine set_option(self, name, value, outcome)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name, value
    type(call_outcome), intent(out) :: outcome
    outcome%code = newel_set(self%c_handle(), to_c(name), to_c(value))
    call self%explain(outcome)
    if (outcome%failed()) return
    if (name == 'index_base') read (value, *) self%base
    if (name == 'precision') self%precision = trim(value)
  end subroutine

  subroutine set_text(self, name, value, stat, errmsg)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%set_option(name, value, outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine set_integer(self, name, value, stat, errmsg)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%set_option(name, decimal(int(value, int64)), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine set_real64(self, name, value, stat, errmsg)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    character(24) :: digits
    write (digits, '(es24.16e3)') value
    call self%set_option(name, adjustl(digits), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  !> Uses the nine digits of a single-precision number, so that 1e-10 is read as written.
  subroutine set_real32(self, name, value, stat, errmsg)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name
    real(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    character(16) :: digits
    write (digits, '(es16.8e3)') value
    call self%set_option(name, adjustl(digits), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine set_logical(self, name, value, stat, errmsg)
    class(newel_options), intent(inout) :: self
    character(*), intent(in) :: name
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    call self%set_option(name, merge('yes', 'no ', value), outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine set_coordinates(self, xyz, stat, errmsg)
    class(newel_options), intent(inout) :: self
    real(real64), intent(in), contiguous, target :: xyz(:, :)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    type(call_outcome) :: outcome
    if (size(xyz) > 0) then
      outcome%code = newel_set_coordinates(self%c_handle(), size(xyz, 2, c_int64_t), size(xyz, 1, c_int), &
                                            c_loc(xyz))
    else
      outcome%code = newel_set_coordinates(self%c_handle(), 0_c_int64_t, 1_c_int, c_null_ptr)
    end if
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine set_near_null_space(self, vectors, stat, errmsg)
    class(newel_options), intent(inout) :: self
    real(real64), intent(in) :: vectors(:, :)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    real(real64), allocatable, target :: by_rows(:, :)  ! the values of a row next to each other
    type(call_outcome) :: outcome
    if (size(vectors) > 0) then
      by_rows = transpose(vectors)
      outcome%code = newel_set_near_null_space(self%c_handle(), size(vectors, 1, c_int64_t), &
                                                size(vectors, 2, c_int), c_loc(by_rows))
    else
      outcome%code = newel_set_near_null_space(self%c_handle(), 0_c_int64_t, 1_c_int, c_null_ptr)
    end if
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine

  subroutine set_devices(self, numbers, stat, errmsg)
    class(newel_options), intent(inout) :: self
    integer, intent(in) :: numbers(:)
    integer, intent(out), optional :: stat
    character(:), allocatable, intent(inout), optional :: errmsg
    integer(c_int), allocatable, target :: devices(:)
    type(call_outcome) :: outcome
    devices = int(numbers, c_int)
    if (size(devices) > 0) then
      outcome%code = newel_set_devices(self%c_handle(), size(devices, kind=c_int), c_loc(devices))
    else
      outcome%code = newel_set_devices(self%c_handle(), 0_c_int, c_null_ptr)
    end if
    call self%explain(outcome)
    if (present(errmsg)) call outcome%explain(errmsg)
    call outcome%conclude(stat)
  end subroutine
end module
