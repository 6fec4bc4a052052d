# SPDX-License-Identifier: Apache-2.0
# Where built files lie and how programs find their shared libraries: the build tree has the shape of an install tree,
# bin/ beside lib/, and both carry $ORIGIN in the rpath, so that either can be copied to another machine and run.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endif()

# Libraries of a toolkit outside the system's folders (CUDA) are searched for in $ORIGIN first, then where they were when
# the program was linked.
file(RELATIVE_PATH newel_lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_RPATH "$ORIGIN")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${newel_lib_from_bin}")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NEWEL_CCACHE)
  find_program(NEWEL_CCACHE_PROGRAM ccache)
  mark_as_advanced(NEWEL_CCACHE_PROGRAM)
  # Paths below the build folder count from there, so that the next build finds its objects in whatever folder it is
  # made: pip takes a new one each time.
  set(newel_ccache_paths "")
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    set(newel_ccache_paths CCACHE_BASEDIR=${PROJECT_BINARY_DIR} CCACHE_NOHASHDIR=1)
  endif()
  foreach(language IN ITEMS CXX CUDA)
    if(NEWEL_CCACHE_PROGRAM AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
      # What ccache must overlook to keep objects that use the tests' precompiled header.
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                              ${newel_ccache_paths} ${NEWEL_CCACHE_PROGRAM})
    endif()
  endforeach()
endif()
