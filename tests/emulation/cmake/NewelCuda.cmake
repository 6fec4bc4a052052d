# SPDX-License-Identifier: Apache-2.0
# Stands for cmake/NewelCuda.cmake in the copy that transform.py makes: the emulation in place of the toolkit.
# EMU_CUDA_INCLUDE names the toolkit's headers.
set(NEWEL_HAS_CUDA 1)
set(NEWEL_CUDA_TOOLKIT "emulated")
set(NEWEL_CUDA_ARCHITECTURES_TEXT "90")
set(emulation ${PROJECT_SOURCE_DIR}/tests/emulation)
set(emulation_sources cublas cusparse device launch memory operations streams threads)
list(TRANSFORM emulation_sources PREPEND ${emulation}/src/)
list(TRANSFORM emulation_sources APPEND .cpp)
add_library(newel_emulation SHARED ${emulation_sources})
target_include_directories(newel_emulation BEFORE PUBLIC ${emulation}/include)
target_compile_options(newel_emulation PRIVATE -O2)
# What switches stacks is not instrumented; the loops that stand for the libraries are.
if(NEWEL_SANITIZE MATCHES "address")
  target_compile_definitions(newel_emulation PRIVATE EMU_ASAN=1)
  set_source_files_properties(${emulation}/src/cublas.cpp ${emulation}/src/cusparse.cpp
                              PROPERTIES COMPILE_OPTIONS "-fsanitize=${NEWEL_SANITIZE};-g")
endif()
# A format that calls cuSPARSE loads it, and finds what the program has loaded.
set(NEWEL_CUSPARSE_NAME libnewel_emulation.so)
set(NEWEL_CUSPARSE_FOLDER ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# The emulation's headers before everything, and the toolkit's as system headers behind them.
include_directories(BEFORE ${emulation}/include)
include_directories(SYSTEM ${EMU_CUDA_INCLUDE})
foreach(name IN ITEMS cudart_static cublas cusparse)
  add_library(CUDA::${name} INTERFACE IMPORTED GLOBAL)
  set_property(TARGET CUDA::${name} PROPERTY INTERFACE_LINK_LIBRARIES newel_emulation)
endforeach()

# Kernels are compiled one by one, as nvcc does: their helpers have the same names in many files. With
# EMU_SANITIZE_KERNELS only they are instrumented, which halves the time to compile.
function(newel_set_apart_kernels)
  get_target_property(sources newel SOURCES)
  list(FILTER sources INCLUDE REGEX "_device\\.cu\\.cpp$")
  set_source_files_properties(${sources} TARGET_DIRECTORY newel PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(EMU_SANITIZE_KERNELS)
    set_source_files_properties(${sources} TARGET_DIRECTORY newel PROPERTIES COMPILE_OPTIONS -fsanitize=address)
  endif()
endfunction()
if(EMU_SANITIZE_KERNELS)
  add_link_options(-fsanitize=address)
  target_compile_definitions(newel_emulation PRIVATE EMU_ASAN=1)
endif()
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL newel_set_apart_kernels)
