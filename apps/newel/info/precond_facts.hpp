// SPDX-License-Identifier: Apache-2.0
/// A preconditioner that `newel info` builds to assess it.
#pragma once

#include <optional>
#include <string>

#include <newel/solver/linear_system.hpp>

#include "apps/common/json_file.hpp"
#include "apps/common/precond_files.hpp"

namespace newel::cli {

/// Built on the host, in double, with its matrices as csr by default.
struct PrecondFacts {
  PrecondOptions options;
  PrecondFiles files;
  OperatorInfo info;
  double seconds = 0;
  std::optional<InverseResidual> residual;
  std::string refusal;  ///< why the matrix does not support it; empty where it does
};

PrecondFacts precond_facts(const Context<Space::host>& ctx, const CsrView<double, Space::host>& a,
                           const PrecondOptions& options,
                           std::shared_ptr<const NodeCoordinates> coordinates = nullptr);
std::string precond_facts_text(const PrecondFacts& facts);
Json precond_facts_json(const PrecondFacts& facts);

}  // namespace newel::cli
