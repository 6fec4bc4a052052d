# SPDX-License-Identifier: Apache-2.0
# purlin_flags: how the project's own sources are compiled. Never handed on to users of the library.
add_library(purlin_flags INTERFACE)

# A contracted a*b+c and no errno from sqrt: what lets the compiler vectorise. Sums keep their written order.
target_compile_options(purlin_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wall -Wextra -Wno-unknown-pragmas $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed> -fno-math-errno -ffp-contract=fast>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>)
if(PURLIN_WARNINGS_AS_ERRORS)
  target_compile_options(purlin_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

if(PURLIN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "Purlin: PURLIN_FUZZ needs clang, for example -DCMAKE_CXX_COMPILER=clang++")
  endif()
  if(NOT PURLIN_SANITIZE)
    set(PURLIN_SANITIZE address,undefined)
  endif()
  target_compile_options(purlin_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()

if(PURLIN_SANITIZE)
  target_compile_options(purlin_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${PURLIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g>)
  target_link_options(purlin_flags INTERFACE -fsanitize=${PURLIN_SANITIZE})
endif()

# Shared libraries are found beside the executable or in ../lib, so that an install tree can be copied.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_RPATH "$ORIGIN")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
