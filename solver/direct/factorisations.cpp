// SPDX-License-Identifier: Apache-2.0
// The table of factorisations.
#include <newel/solver/factorisations.hpp>

#include <newel/config.hpp>
#include "solver/direct/libraries/cudss_row.hpp"
#include "solver/direct/factor_rows.hpp"

namespace newel {

const std::vector<detail::HostFactorisation>& detail::host_factorisations() {
  static const std::vector<HostFactorisation> rows = {
#if NEWEL_HAS_CHOLMOD
    cholmod_llt(),
#endif
#if NEWEL_HAS_EIGEN
    eigen_ldlt(),
#endif
    klu_lu(),
#if NEWEL_HAS_EIGEN
    eigen_lu(),
#endif
  };
  return rows;
}

std::vector<Factorisation> factorisations() {
  std::vector<Factorisation> found;
  for (const detail::HostFactorisation& row : detail::host_factorisations()) {
    found.push_back(row.about);
    found.back().missing = row.missing();
  }
#if NEWEL_HAS_CUDA
  found.push_back(detail::cudss_row());
#endif
  return found;
}

}  // namespace newel
