# SPDX-License-Identifier: Apache-2.0
# install(EXPORT) so that find_package(newel) works from an install tree, wherever it is copied to.
include(CMakePackageConfigHelpers)

# What a user may include; tests/install compiles each of these alone from an install tree, which shows when one of them
# needs another that is not there.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/newel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/include/newel/build_config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/newel)

# While the major version is 0, each minor version may break its users.
set_target_properties(newel PROPERTIES VERSION ${PROJECT_VERSION}
                                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS newel EXPORT newelTargets)
if(TARGET newel_mpi)
  set_target_properties(newel_mpi PROPERTIES VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  install(TARGETS newel_mpi EXPORT newelMpiTargets)
  install(TARGETS newel_mpi_c EXPORT newelMpiTargets)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/mpi/include/newel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.hpp")
endif()
if(TARGET newel_petsc)
  install(TARGETS newel_petsc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(NEWEL_BUILD_C)
  install(TARGETS newel_c EXPORT newelTargets)
  install(FILES ${PROJECT_SOURCE_DIR}/c/newel.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  if(TARGET newel_mpi)
    install(FILES ${PROJECT_SOURCE_DIR}/mpi/include/newel_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
  # What does not move with the installed tree would be wrong after it has been moved.
  file(RELATIVE_PATH newel_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/newel.pc.in ${PROJECT_BINARY_DIR}/newel.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/newel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(TARGET newel_fortran)
    install(TARGETS newel_fortran EXPORT newelTargets)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/newel-fortran.pc.in ${PROJECT_BINARY_DIR}/newel-fortran.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/newel-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(NEWEL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/newel)
install(EXPORT newelTargets NAMESPACE newel:: DESTINATION ${NEWEL_PACKAGE_DIR})
if(TARGET newel_mpi)
  install(EXPORT newelMpiTargets NAMESPACE newel:: DESTINATION ${NEWEL_PACKAGE_DIR})
endif()
get_target_property(NEWEL_LIBRARY_TYPE newel TYPE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/newelConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/newelConfig.cmake INSTALL_DESTINATION ${NEWEL_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/newelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/newelConfig.cmake ${PROJECT_BINARY_DIR}/newelConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake
        DESTINATION ${NEWEL_PACKAGE_DIR})
