// SPDX-License-Identifier: Apache-2.0
// The choice between the caller's vectors, rigid body modes and constants.
#include <purlin/precond/amg/near_null_choice.hpp>

#include <algorithm>
#include <cmath>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>

namespace purlin::detail {
namespace {

// Whether there are coordinates with as many rows a node as dimensions, two or three.
bool fits(const NodeCoordinates* c, Index rows) {
  return c != nullptr && (c->dimension == 2 || c->dimension == 3) &&
         c->xyz.size() == static_cast<std::size_t>(rows) && rows % c->dimension == 0;
}

void require_finite(const NodeCoordinates& c) {
  for (std::size_t i = 0; i < c.xyz.size(); ++i) {
    if (std::isfinite(c.xyz[i])) continue;
    throw InputError("the coordinates of node " + std::to_string(i / static_cast<std::size_t>(c.dimension)) +
                     " are not finite");
  }
}

}  // namespace

NearNullChoice::NearNullChoice(const AmgOptions& options, const NodeCoordinates* coordinates, Index rows)
    : options_(options), coordinates_(coordinates) {
  if (options.node_rows < 0 || (options.node_rows > 0 && rows % options.node_rows != 0)) {
    throw InputError("AMG: " + std::to_string(rows) + " rows are no nodes of " + std::to_string(options.node_rows) +
                     " rows each");
  }
  if (options.vectors != nullptr) {
    const NearNullVectors& own = *options.vectors;
    const auto wanted = static_cast<std::size_t>(rows) * static_cast<std::size_t>(std::max(own.count, 0));
    if (own.count < 1 || own.values.size() != wanted) {
      throw InputError("AMG: expected near-null vectors of " + std::to_string(rows) + " rows, found " +
                       std::to_string(own.values.size()) + " values for " + std::to_string(own.count) + " vectors");
    }
  }
  const bool fitting =
      fits(coordinates, rows) && (options.node_rows == 0 || options.node_rows == coordinates->dimension);
  if (options.near_null == AmgNearNull::rigid && options.vectors == nullptr && !fitting) {
    throw InputError(
        "AMG: rigid body modes need coordinates in two or three dimensions, of nodes with as many rows each");
  }
  if (!fitting || options.near_null == AmgNearNull::constant || options.vectors != nullptr) coordinates_ = nullptr;
  if (coordinates_ != nullptr) require_finite(*coordinates_);
  node_rows_ = options.node_rows > 0 ? options.node_rows : fitting ? coordinates->dimension : 0;
}

template <Space S>
NearNull<S> NearNullChoice::vectors(const Context<S>& ctx, Index rows, int block, std::string& name) const {
  if (options_.vectors != nullptr) {
    name =
        std::to_string(options_.vectors->count) + (options_.vectors->count == 1 ? " given vector" : " given vectors");
    return given_vectors(ctx, options_.vectors->count, options_.vectors->values);
  }
  if (coordinates_ != nullptr && coordinates_->dimension == block) {
    NearNull<S> modes = rigid_body_modes(ctx, *coordinates_);
    name = std::to_string(modes.vectors) + " rigid body modes";
    return modes;
  }
  name = block == 1 ? "constants" : std::to_string(block) + " constants, one for each unknown of a node";
  return constant_components(ctx, rows, block);
}

#define X(S) template NearNull<S> NearNullChoice::vectors(const Context<S>&, Index, int, std::string&) const;
PURLIN_FOR_SPACES(X)
#undef X

}  // namespace purlin::detail
