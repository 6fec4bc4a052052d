# SPDX-License-Identifier: Apache-2.0
# Which kernels are compiled: NEWEL_COMMON_KERNELS (0 or 1), see has_ehyb_kernels in solver/krylov/resident/resident_system.hpp.
if(NOT NEWEL_KERNELS MATCHES "^(ALL|COMMON)$")
  message(FATAL_ERROR "NEWEL_KERNELS is ALL or COMMON, not '${NEWEL_KERNELS}'")
endif()
set(NEWEL_COMMON_KERNELS 0)
if(NEWEL_KERNELS STREQUAL "COMMON")
  set(NEWEL_COMMON_KERNELS 1)
endif()

# Which sources of kernels are compiled together. nvcc reads its headers three times, which takes eight seconds a source and
# is most of the time of all but a few; CMake itself unites CUDA sources from 3.31 on only. The sources are dealt out like
# cards: neighbours, whose helpers may have the same names, come into different files. Those of multigrid and of ranks
# have names of their own, and files of their own. What takes longest comes first, and alone, so that all processors are
# busy to the end.
set(newel_kernels_alone resident_bicgstab_device resident_cg_device resident_cg_across_device coarse_cycle_device
  batched_blocks_device batched_factors_device)
set(newel_kernel_files_amg 2)
set(newel_kernel_files_distributed 1)
set(newel_kernel_files_other 8)

# newel_unite_kernels(RESULT SOURCE...): the sources, or what is compiled in their place.
function(newel_unite_kernels result)
  set(alone "")
  set(united "")
  set(count_amg 0)
  set(count_distributed 0)
  set(count_other 0)
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    if(name IN_LIST newel_kernels_alone OR NOT NEWEL_UNITY)
      list(APPEND alone ${source})
      continue()
    endif()
    set(group other)
    if(source MATCHES "/precond/amg/")
      set(group amg)
    elseif(source MATCHES "/distributed/")
      set(group distributed)
    endif()
    math(EXPR number "${count_${group}} % ${newel_kernel_files_${group}}")
    math(EXPR count_${group} "${count_${group}} + 1")
    set(file ${PROJECT_BINARY_DIR}/kernels/${group}_${number}.cu)
    list(APPEND united ${file})
    string(APPEND includes_${group}_${number} "#include \"${source}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES united)
  foreach(file IN LISTS united)
    get_filename_component(name ${file} NAME_WE)
    file(CONFIGURE OUTPUT ${file} CONTENT "${includes_${name}}" @ONLY)
  endforeach()
  if(ARGN)
    set_source_files_properties(${alone} ${united} TARGET_DIRECTORY newel PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set(${result} ${alone} ${united} PARENT_SCOPE)
endfunction()
