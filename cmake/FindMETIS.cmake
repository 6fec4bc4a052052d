# SPDX-License-Identifier: Apache-2.0
# METIS::METIS, from METIS_ROOT, CMAKE_PREFIX_PATH or the system (package libmetis-dev). A METIS built from source
# may need GKlib beside it, where that is a library of its own.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
find_library(METIS_GKLIB_LIBRARY GKlib)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY METIS_GKLIB_LIBRARY)

if(METIS_INCLUDE_DIR)
  file(STRINGS ${METIS_INCLUDE_DIR}/metis.h metis_version REGEX "^#define[ \t]+METIS_VER_(MAJOR|MINOR|SUBMINOR)[ \t]")
  string(REGEX MATCHALL "[0-9]+" METIS_VERSION "${metis_version}")
  list(JOIN METIS_VERSION "." METIS_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR VERSION_VAR METIS_VERSION
                                  REASON_FAILURE_MESSAGE "install libmetis-dev (Debian, Ubuntu) or set METIS_ROOT")

if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
  if(METIS_GKLIB_LIBRARY)
    set_target_properties(METIS::METIS PROPERTIES INTERFACE_LINK_LIBRARIES ${METIS_GKLIB_LIBRARY})
  endif()
endif()
