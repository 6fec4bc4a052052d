// SPDX-License-Identifier: Apache-2.0
/// ReferenceAssembly: the tangent as Section 4 of Wong, Kuhl and Darve assembles it, to measure the other against.
#pragma once

#include <functional>
#include <vector>

#include <newel/core/array.hpp>

#include "apps/fem/assembly.hpp"
#include "apps/fem/mesh.hpp"

namespace newel::heart {

/// K_elem and R_elem are written out and summed by rows into values of the CSR matrix.
template <Space S>
class ReferenceAssembly {
 public:
  ReferenceAssembly() = default;
  /// `tensor`: the conduction of a tetrahedron of the mesh.
  ReferenceAssembly(const Context<S>& ctx, const fem::TetMesh& mesh, const fem::HostCsr& conduction,
                    const std::function<fem::Tensor(Index tet)>& tensor, const std::vector<Index>& element_order,
                    const std::vector<Index>& new_of_old);

  /// The values, and the right-hand side, of the present tangents and loads.
  void fill(const Context<S>& ctx, const double* tangent, const double* load, Span<double, S> rhs);
  Span<const double, S> values() const { return values_.cspan(); }
  std::uint64_t bytes() const;

 private:
  std::int64_t elements_ = 0;
  Index nodes_ = 0;
  Array<double, S> stiffness_;
  Array<Offset, S> matrix_place_, load_place_, matrix_first_, load_first_;
  Array<double, S> k_elem_, r_elem_, values_;
};

}  // namespace newel::heart
