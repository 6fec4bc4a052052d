# SPDX-License-Identifier: Apache-2.0
# Installs the build, moves the installed tree, and builds and runs a consumer against it.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
run(${CMAKE_COMMAND} --install ${PURLIN_BUILD} --config ${CONFIG} --prefix ${SCRATCH}/installed)
file(RENAME ${SCRATCH}/installed ${SCRATCH}/moved)
check_consumer(${CMAKE_CURRENT_LIST_DIR}/consumer consumer -D CMAKE_PREFIX_PATH=${SCRATCH}/moved
               -D CUDAToolkit_ROOT=${CUDA_ROOT})

# The simulation code of the tutorial: where a device answers it has just run there; here it runs on the host.
check_consumer(${PURLIN_SOURCE}/apps/embed embed -D CMAKE_PREFIX_PATH=${SCRATCH}/moved -D CUDAToolkit_ROOT=${CUDA_ROOT})
run(${consumer} host)
message(STATUS "${output}")

# The moved command line, where it was built, finds what it needs without help.
find_program(program NAMES purlin PATHS ${SCRATCH}/moved/bin NO_DEFAULT_PATH)
if(program)
  run(${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${program} --version)
  message(STATUS "${output}")
endif()
