// SPDX-License-Identifier: Apache-2.0
/// NearNullChoice: which near-null space a matrix gets: the caller's, rigid body modes or constants. Internal.
#pragma once

#include <string>

#include <newel/precond/amg/amg_options.hpp>
#include "precond/amg/setup/node_numbering.hpp"
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {

class NearNullChoice {
 public:
  /// Throws InputError where the options ask for what the coordinates (null: none) do not give, for coordinates and
  /// vectors that are not finite, and for vectors and nodes that do not fit so many rows.
  NearNullChoice(const AmgOptions& options, const NodeCoordinates* coordinates, Index rows);

  /// Unknowns of a node where the options or the coordinates say so, else 0.
  int node_rows() const { return node_rows_; }
  /// Whether they are rigid body modes.
  bool rigid(const NodeNumbering& numbering) const {
    return coordinates_ != nullptr && coordinates_->dimension == numbering.node_rows;
  }
  /// The vectors, node by node, and in `name` what they are: "6 rigid body modes".
  template <Space S>
  NearNull<S> vectors(const Context<S>& ctx, Index rows, const NodeNumbering& numbering, std::string& name) const;

 private:
  const AmgOptions& options_;
  const NodeCoordinates* coordinates_;  ///< null where they are not used
  int node_rows_ = 0;
};

}  // namespace newel::detail
