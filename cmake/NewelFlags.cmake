# SPDX-License-Identifier: Apache-2.0
# How the project's own sources are compiled. Never handed on to users of the library.
#   newel_plain_flags   warnings, and what lets loops be vectorised
#   newel_flags         these, with the sanitizers of NEWEL_SANITIZE or NEWEL_FUZZ
add_library(newel_plain_flags INTERFACE)
add_library(newel_flags INTERFACE)
target_link_libraries(newel_flags INTERFACE newel_plain_flags)

# A contracted a*b+c, no errno from sqrt and `#pragma omp simd`: what lets the compiler vectorise. Sums keep their
# written order but in those loops. Threads are the library's own (core/threads/thread_team.hpp); nothing else of OpenMP is used.
target_compile_options(newel_plain_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wall -Wextra -fopenmp-simd -fno-math-errno -ffp-contract=fast>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${NEWEL_UNITY}>>:-Wno-subobject-linkage>  # takes sources for headers
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # instrumented loops are not vectorised, and need not be
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>)
if(NEWEL_WARNINGS_AS_ERRORS)
  target_compile_options(newel_plain_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

# Fuzzing covers the library's own branches and stops at the first address or undefined-behaviour error.
set(newel_sanitizers ${NEWEL_SANITIZE})
if(NEWEL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "NEWEL_FUZZ needs clang: set CMAKE_CXX_COMPILER to clang++ (the preset 'fuzz' does)")
  endif()
  if(NOT newel_sanitizers)
    set(newel_sanitizers address,undefined)
  endif()
  target_compile_options(newel_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
# Instrumented code takes long to optimise, and makes g++ warn of variables that it would otherwise see are set. Eigen
# allocates in another way there, in which tests that are not instrumented could not free.
if(newel_sanitizers)
  target_compile_options(newel_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${newel_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1>
    $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:$<TARGET_PROPERTY:NEWEL_LIGHT>>,-O0,-O1>>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  # Not for nvcc, whose objects then serve with sanitizers and without.
  target_compile_definitions(newel_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:EIGEN_MALLOC_ALREADY_ALIGNED=1>)
  target_link_options(newel_plain_flags INTERFACE -fsanitize=${newel_sanitizers})
endif()

# For targets whose time is not worth the optimiser's: option parsing, reports, tests.
function(newel_light_optimisation target)
  set_target_properties(${target} PROPERTIES NEWEL_LIGHT ON)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
endfunction()
