# SPDX-License-Identifier: Apache-2.0
# Builds and runs a consumer that takes the sources in; host only, since the device side links the same way.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
check_consumer(${CMAKE_CURRENT_LIST_DIR}/subdirectory consumer -D PURLIN_SOURCE=${PURLIN_SOURCE} -D PURLIN_CUDA=OFF
               -D BUILD_SHARED_LIBS=${SHARED} -D PURLIN_SANITIZE=${SANITIZE})
