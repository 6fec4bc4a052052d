# SPDX-License-Identifier: Apache-2.0
# install(EXPORT) so that find_package(purlin) works from an install tree, wherever it is copied to.
include(CMakePackageConfigHelpers)

# What a user may include. Headers that only the library's own sources include stay out; tests/install compiles each
# of these alone from an install tree, which shows when one of them needs another that is not listed.
set(PURLIN_PUBLIC_HEADERS
  adapt/eigen.hpp
  core/array.hpp
  core/assembled_matrix.hpp
  core/column_ops.hpp
  core/context.hpp
  core/csr.hpp
  core/error.hpp
  core/host_device.hpp
  core/index_span.hpp
  core/machine.hpp
  core/matrix_input.hpp
  core/matrix_market.hpp
  core/matrix_traits.hpp
  core/memory.hpp
  core/span.hpp
  core/types.hpp
  core/vector_ops.hpp
  reorder/blocks.hpp
  reorder/partition.hpp
  reorder/row_order.hpp
  spmv/forecast.hpp
  spmv/format_choice.hpp
  spmv/operator.hpp
  spmv/product.hpp
  spmv/registry.hpp
  spmv/row_pieces.hpp
  spmv/slot_gather.hpp
  spmv/slot_values.hpp
  spmv/csr/csr.hpp
  spmv/ehyb/ehyb.hpp
  spmv/ehyb/ehyb_layout.hpp
  spmv/ehyb/ehyb_product.hpp
  spmv/ehyb/ehyb_scratch.hpp
  spmv/bce/bce.hpp
  spmv/bce/bce_layout.hpp
  spmv/bce/bce_partition.hpp
  spmv/ell_warp/ell_warp.hpp
  spmv/evc_hyb/evc_hyb.hpp
  spmv/evc_hyb/evc_hyb_layout.hpp
  precond/choice.hpp
  precond/given_pattern.hpp
  precond/registry.hpp
  precond/inverse_residual.hpp
  precond/fsai/fsai.hpp
  precond/jacobi/jacobi.hpp
  solver/krylov.hpp
  solver/iteration_graph.hpp
  solver/choice.hpp
  solver/cg.hpp
  solver/bicgstab.hpp
  solver/gmres.hpp
  solver/memory_estimate.hpp
  solver/linear_system.hpp)
foreach(header IN LISTS PURLIN_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/purlin/${folder})
endforeach()
install(FILES ${PURLIN_INCLUDE_DIR}/purlin/config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/purlin)

# While the major version is 0, each minor version may break its users.
set_target_properties(purlin PROPERTIES VERSION ${PROJECT_VERSION}
                                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS purlin EXPORT purlinTargets)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(PURLIN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/purlin)
install(EXPORT purlinTargets NAMESPACE purlin:: DESTINATION ${PURLIN_PACKAGE_DIR})
get_target_property(PURLIN_LIBRARY_TYPE purlin TYPE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/purlinConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/purlinConfig.cmake INSTALL_DESTINATION ${PURLIN_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/purlinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/purlinConfig.cmake ${PROJECT_BINARY_DIR}/purlinConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake
        DESTINATION ${PURLIN_PACKAGE_DIR})
