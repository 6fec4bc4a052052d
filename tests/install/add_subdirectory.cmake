# SPDX-License-Identifier: Apache-2.0
# Builds and runs a consumer that takes the sources in, as users do: optimised, and without another option. Host only,
# since the device side links the same way.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CONFIG Release)
set(complete "")
if(NOT SANITIZE AND NOT CMAKE_HOST_APPLE)
  set(complete -D CMAKE_SHARED_LINKER_FLAGS=-Wl,--no-undefined)
endif()
check_consumer(${CMAKE_CURRENT_LIST_DIR}/subdirectory consumer -D NEWEL_SOURCE=${NEWEL_SOURCE} -D NEWEL_CUDA=OFF
               -D BUILD_SHARED_LIBS=${SHARED} -D NEWEL_SANITIZE=${SANITIZE} ${complete})

# A project that names no build type is told once what that means, and one that does is not.
if(NOT GENERATOR MATCHES "Multi-Config")
  foreach(type IN ITEMS "" Release)
    run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subdirectory -B ${SCRATCH}/build-type-${type} -G ${GENERATOR}
        -D CMAKE_BUILD_TYPE=${type} -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D NEWEL_SOURCE=${NEWEL_SOURCE}
        -D NEWEL_CUDA=OFF)
    string(REGEX MATCHALL "CMAKE_BUILD_TYPE is empty" warnings "${output}")
    list(LENGTH warnings times)
    if(type STREQUAL "")
      set(expected 1)
    else()
      set(expected 0)
    endif()
    if(NOT times EQUAL expected)
      message(FATAL_ERROR "with the build type '${type}' the empty one is told ${times} times:\n${output}")
    endif()
  endforeach()
endif()
