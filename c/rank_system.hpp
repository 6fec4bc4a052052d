// SPDX-License-Identifier: Apache-2.0
/// A DistributedSystem of either precision behind the interface of a System. Internal.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>

#include "system.hpp"

namespace newel::c {

/// The rows of a rank: see newel_setup_rows.
struct RowPointers {
  std::int64_t rows;
  int index_bits;
  const void *row_ptr, *col, *val;
};

/// Throws InputError for options that need the whole matrix in one place, with the words for such a system.
void refuse_of_whole(const Settings& settings, const char* of_which);

/// Throws what a DistributedSystem throws. The other ranks learn of all failures.
std::unique_ptr<System> make_rank_system(const Settings& settings, const std::shared_ptr<Communicator>& ranks,
                                         const RowPointers& own);

}  // namespace newel::c
