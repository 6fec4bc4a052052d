# SPDX-License-Identifier: Apache-2.0
# What the scripts do: run a command or fail with its output, and configure, build and run a consumer.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message("${output}")
    message(FATAL_ERROR "this ended with ${status}: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# build_consumer(SOURCE_DIR PROGRAM [further choices for the configure step]); leaves the program's path in `consumer`.
function(build_consumer source program)
  set(build ${SCRATCH}/build-${program})
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG}
      -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
      -D "CMAKE_CXX_FLAGS=${CXX_FLAGS}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${build} --config ${CONFIG} --parallel 2)
  find_program(path_of_${program} NAMES ${program} PATHS ${build} ${build}/${CONFIG} ${build}/bin ${build}/bin/${CONFIG}
               NO_DEFAULT_PATH REQUIRED)
  set(consumer ${path_of_${program}} PARENT_SCOPE)
endfunction()

# The same, and runs the program.
function(check_consumer source program)
  build_consumer(${source} ${program} ${ARGN})
  run(${consumer})
  message(STATUS "${output}")
  set(consumer ${consumer} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
