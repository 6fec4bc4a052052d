// SPDX-License-Identifier: Apache-2.0
// The choice between the caller's vectors, rigid body modes and constants.
#include "precond/amg/transfer/near_null_choice.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

// Whether there are coordinates with as many rows a node as dimensions, two or three.
bool fits(const NodeCoordinates* c, Index rows) {
  return c != nullptr && (c->dimension == 2 || c->dimension == 3) &&
         c->xyz.size() == static_cast<std::size_t>(rows) && rows % c->dimension == 0;
}

void require_finite_vectors(const NearNullVectors& own) {
  const auto is_bad = [](double value) { return !std::isfinite(value); };
  const auto bad = std::find_if(own.values.begin(), own.values.end(), is_bad);
  if (bad == own.values.end()) return;
  const auto position = bad - own.values.begin();
  throw InputError("AMG: near-null vector " + std::to_string(position % own.count) + " is not finite in row " +
                   std::to_string(position / own.count));
}

// Vectors of a caller who numbers component by component.
std::vector<double> node_by_node(const NearNullVectors& own, Index rows, const NodeNumbering& numbering) {
  std::vector<double> values(own.values.size());
  for (Index i = 0; i < rows; ++i) {
    const auto from = own.values.begin() + Offset{numbering.callers(i)} * own.count;
    std::copy(from, from + own.count, values.begin() + Offset{i} * own.count);
  }
  return values;
}

}  // namespace

NearNullChoice::NearNullChoice(const AmgOptions& options, const NodeCoordinates* coordinates, Index rows)
    : options_(options), coordinates_(coordinates) {
  if (options.node_rows < 0 || (options.node_rows > 0 && rows % options.node_rows != 0)) {
    throw InputError("AMG: " + std::to_string(rows) + " rows cannot be divided into nodes of " +
                     std::to_string(options.node_rows) + " rows");
  }
  if (options.vectors != nullptr) {
    const NearNullVectors& own = *options.vectors;
    const auto wanted = static_cast<std::size_t>(rows) * static_cast<std::size_t>(std::max(own.count, 0));
    if (own.count < 1 || own.values.size() != wanted) {
      throw InputError("AMG: expected near-null vectors of " + std::to_string(rows) + " rows, found " +
                       std::to_string(own.values.size()) + " values for " + std::to_string(own.count) + " vectors");
    }
    require_finite_vectors(own);
  }
  if (coordinates != nullptr) require_finite(*coordinates);  // also where they serve nothing here
  const bool fitting =
      fits(coordinates, rows) && (options.node_rows == 0 || options.node_rows == coordinates->dimension);
  if (options.near_null == AmgNearNull::rigid && options.vectors == nullptr && !fitting) {
    throw InputError(
        "AMG: rigid body modes need the coordinates of the nodes, 2 or 3 for each, and as many rows for each node");
  }
  if (!fitting || options.near_null == AmgNearNull::constant || options.vectors != nullptr) coordinates_ = nullptr;
  node_rows_ = options.node_rows > 0 ? options.node_rows : fitting ? coordinates->dimension : 0;
}

template <Space S>
NearNull<S> NearNullChoice::vectors(const Context<S>& ctx, Index rows, const NodeNumbering& numbering,
                                    std::string& name) const {
  const int block = numbering.node_rows;
  if (options_.vectors != nullptr) {
    name =
        std::to_string(options_.vectors->count) + (options_.vectors->count == 1 ? " given vector" : " given vectors");
    const NearNullVectors& own = *options_.vectors;
    return given_vectors(ctx, own.count, numbering.by_component() ? node_by_node(own, rows, numbering) : own.values);
  }
  if (rigid(numbering)) {
    NearNull<S> modes = rigid_body_modes(ctx, *coordinates_);
    name = std::to_string(modes.vectors) + " rigid body modes";
    return modes;
  }
  name = block == 1 ? "constants" : std::to_string(block) + " constants, one for each unknown of a node";
  return constant_components(ctx, rows, block);
}

#define X(S) \
  template NearNull<S> NearNullChoice::vectors(const Context<S>&, Index, const NodeNumbering&, std::string&) const;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
