# SPDX-License-Identifier: Apache-2.0
# Stands for cmake/PurlinCuda.cmake in the copy that transform.py makes: the emulation in place of the toolkit.
# EMU_CUDA_INCLUDE names the toolkit's headers.
set(PURLIN_HAS_CUDA 1)
set(PURLIN_CUDA_TOOLKIT "emulated")
set(PURLIN_CUDA_ARCHITECTURES_TEXT "90")
set(emulation ${PROJECT_SOURCE_DIR}/tests/emulation)
set(emulation_sources cublas cusparse device launch memory operations streams threads)
list(TRANSFORM emulation_sources PREPEND ${emulation}/src/)
list(TRANSFORM emulation_sources APPEND .cpp)
add_library(purlin_emulation SHARED ${emulation_sources})
target_include_directories(purlin_emulation BEFORE PUBLIC ${emulation}/include)
target_compile_options(purlin_emulation PRIVATE -O2)
# What switches stacks is not instrumented; the loops that stand for the libraries are.
if(PURLIN_SANITIZE MATCHES "address")
  target_compile_definitions(purlin_emulation PRIVATE EMU_ASAN=1)
  set_source_files_properties(${emulation}/src/cublas.cpp ${emulation}/src/cusparse.cpp
                              PROPERTIES COMPILE_OPTIONS "-fsanitize=${PURLIN_SANITIZE};-g")
endif()
# A format that calls cuSPARSE loads it, and finds what the program has loaded.
set(PURLIN_CUSPARSE_NAME libpurlin_emulation.so)
set(PURLIN_CUSPARSE_FOLDER ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# The emulation's headers before everything, and the toolkit's as system headers behind them.
include_directories(BEFORE ${emulation}/include)
include_directories(SYSTEM ${EMU_CUDA_INCLUDE})
foreach(name IN ITEMS cudart_static cublas cusparse)
  add_library(CUDA::${name} INTERFACE IMPORTED GLOBAL)
  set_property(TARGET CUDA::${name} PROPERTY INTERFACE_LINK_LIBRARIES purlin_emulation)
endforeach()

# Kernels are compiled one by one, as nvcc does: their helpers have the same names in many files. With
# EMU_SANITIZE_KERNELS only they are instrumented, which halves the time to compile.
function(purlin_set_apart_kernels)
  get_target_property(sources purlin SOURCES)
  list(FILTER sources INCLUDE REGEX "_device\\.cu\\.cpp$")
  set_source_files_properties(${sources} TARGET_DIRECTORY purlin PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(EMU_SANITIZE_KERNELS)
    set_source_files_properties(${sources} TARGET_DIRECTORY purlin PROPERTIES COMPILE_OPTIONS -fsanitize=address)
  endif()
endfunction()
if(EMU_SANITIZE_KERNELS)
  add_link_options(-fsanitize=address)
  target_compile_definitions(purlin_emulation PRIVATE EMU_ASAN=1)
endif()
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL purlin_set_apart_kernels)
