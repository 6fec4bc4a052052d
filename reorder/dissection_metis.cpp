// SPDX-License-Identifier: Apache-2.0
// Nested dissection by METIS.
#include "reorder/dissection.hpp"

#include <new>

#include <newel/core/error.hpp>
#include "reorder/metis_turn.hpp"

namespace newel::detail {

std::vector<Index> dissection_order(const std::vector<Index>& begin, const std::vector<Index>& neighbour) {
  if (neighbour.empty()) {  // METIS takes no graph without edges
    std::vector<Index> as_they_are(begin.size() - 1);
    for (std::size_t i = 0; i < as_they_are.size(); ++i) as_they_are[i] = static_cast<Index>(i);
    return as_they_are;
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  idx_t vertices = static_cast<idx_t>(begin.size() - 1);
  std::vector<idx_t> from = metis_numbers(begin), to = metis_numbers(neighbour);
  std::vector<idx_t> old_of_new(begin.size() - 1), new_of_old(begin.size() - 1);
  const MetisTurn turn;
  const int code =
      METIS_NodeND(&vertices, from.data(), to.data(), nullptr, options, old_of_new.data(), new_of_old.data());
  if (code == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (code != METIS_OK) throw InputError(metis_error(code));
  return std::vector<Index>(new_of_old.begin(), new_of_old.end());
}

}  // namespace newel::detail
