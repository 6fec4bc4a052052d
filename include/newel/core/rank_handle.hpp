// SPDX-License-Identifier: Apache-2.0
/// newel_comm: ranks as a handle, as C functions of different libraries pass them on.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>

/// What a `newel_comm*` of newel.h and newel_mpi.h points to.
struct newel_comm {
  std::shared_ptr<newel::Communicator> ranks;  ///< not null
};
