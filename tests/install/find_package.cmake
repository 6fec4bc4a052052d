# SPDX-License-Identifier: Apache-2.0
# Installs the build, moves the installed tree, and builds and runs a consumer against it.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
run(${CMAKE_COMMAND} --install ${NEWEL_BUILD} --config ${CONFIG} --prefix ${SCRATCH}/installed)
file(RENAME ${SCRATCH}/installed ${SCRATCH}/moved)
check_consumer(${CMAKE_CURRENT_LIST_DIR}/consumer consumer -D CMAKE_PREFIX_PATH=${SCRATCH}/moved
               -D CUDAToolkit_ROOT=${CUDA_ROOT})

# The examples, with their own tests. Where a device answers, that of the time loop has run there; here it runs on the
# host.
check_consumer(${NEWEL_SOURCE}/examples 04_time_loop -D CMAKE_PREFIX_PATH=${SCRATCH}/moved
               -D CUDAToolkit_ROOT=${CUDA_ROOT})
run(${consumer} host)
message(STATUS "${output}")
run(${CMAKE_CTEST_COMMAND} --test-dir ${SCRATCH}/build-04_time_loop -C ${CONFIG} --no-tests=error --output-on-failure)
message(STATUS "${output}")

# The moved command line, where it was built, finds what it needs without help.
find_program(program NAMES newel PATHS ${SCRATCH}/moved/bin NO_DEFAULT_PATH)
if(program)
  run(${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${program} --version)
  message(STATUS "${output}")
endif()

# The C interface, as a Makefile would find it.
find_program(pkg_config NAMES pkg-config)
find_program(cc NAMES cc gcc clang)
file(GLOB_RECURSE description ${SCRATCH}/moved/newel.pc)
if(pkg_config AND cc AND description AND NOT SANITIZE)
  get_filename_component(folder ${description} DIRECTORY)
  set(ask ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${pkg_config})
  run(${ask} --cflags --libs newel)
  string(STRIP "${output}" output)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${ask} --variable=libdir newel)
  string(STRIP "${output}" libraries)
  run(${cc} -std=c11 ${NEWEL_SOURCE}/examples/09_from_c.c -o ${SCRATCH}/09_from_c ${flags} -lm -Wl,-rpath,${libraries})
  run(${SCRATCH}/09_from_c)
  message(STATUS "${output}")

  # And the Fortran module, where it was built: its module files, then its sources by hand.
  find_program(gfortran NAMES gfortran)
  if(gfortran AND EXISTS ${folder}/newel-fortran.pc)
    run(${ask} --cflags --libs newel-fortran)
    string(STRIP "${output}" output)
    separate_arguments(flags UNIX_COMMAND "${output}")
    set(example ${NEWEL_SOURCE}/examples/10_fortran.f90)
    run(${gfortran} ${example} -o ${SCRATCH}/10_fortran ${flags} -Wl,-rpath,${libraries})
    run(${SCRATCH}/10_fortran)
    message(STATUS "${output}")
    set(order bindings errors arrays reports settings matrices setups batches updates eigen)
    list(TRANSFORM order REPLACE "(.+)" "${SCRATCH}/moved/share/newel/fortran/newel_\\1.f90")
    run(${gfortran} -J ${SCRATCH} ${order} ${SCRATCH}/moved/share/newel/fortran/newel.f90 ${example}
        -o ${SCRATCH}/by_hand -L${libraries} -lnewel_c -Wl,-rpath,${libraries})
    run(${SCRATCH}/by_hand)
  endif()
endif()
