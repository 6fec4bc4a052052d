// SPDX-License-Identifier: Apache-2.0
// Element matrices written out, and summed by rows.
#include "apps/heart/reference_assembly.hpp"

#include <numeric>

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/heart/element_lists.hpp"
#include "apps/heart/heart_loops.hpp"

namespace newel::heart {

template <Space S>
ReferenceAssembly<S>::ReferenceAssembly(const Context<S>& ctx, const fem::TetMesh& mesh,
                                        const fem::HostCsr& conduction,
                                        const std::function<fem::Tensor(Index tet)>& tensor,
                                        const std::vector<Index>& element_order, const std::vector<Index>& new_of_old)
    : elements_(static_cast<std::int64_t>(element_order.size())), nodes_(conduction.rows) {
  const Pattern<Space::host> pattern = CsrView<double, Space::host>(conduction);
  const std::size_t count = element_order.size();
  std::vector<double> stiffness(10 * count);
  std::vector<Offset> row_of(16 * count), matrix_place(16 * count), load_place(4 * count);
  std::vector<Offset> matrix_first(static_cast<std::size_t>(pattern.nnz()) + 1, 0),
      load_first(static_cast<std::size_t>(nodes_) + 1, 0);
  const auto solver_row = [&](Index node) { return new_of_old.empty() ? node : new_of_old[node]; };
  for (std::size_t e = 0; e < count; ++e) {
    const fem::Tet& tet = mesh.tets[element_order[e]];
    const fem::TetGeometry g = fem::tet_geometry(mesh, element_order[e]);
    const fem::Tensor d = tensor(element_order[e]);
    std::size_t m = 0;
    for (int a = 0; a < 4; ++a) {
      ++load_first[solver_row(tet[a]) + 1];
      for (int b = 0; b < 4; ++b) {
        const Offset row = find_entry(pattern, tet[a], tet[b]);
        if (row < 0) throw InputError("the matrix has no entry for two nodes of a tetrahedron");
        row_of[(4 * a + b) * count + e] = row;
        ++matrix_first[row + 1];
        if (b < a) continue;
        fem::Point flux{};
        for (int i = 0; i < 3; ++i) flux[i] = fem::detail::dot(d[i], g.gradient[b]);
        stiffness[m++ * count + e] = g.volume * fem::detail::dot(g.gradient[a], flux);
      }
    }
  }
  std::partial_sum(matrix_first.begin(), matrix_first.end(), matrix_first.begin());
  std::partial_sum(load_first.begin(), load_first.end(), load_first.begin());
  // Elements come in ascending order: a row's values stand in the order in which it is summed.
  std::vector<Offset> next(matrix_first.begin(), matrix_first.end() - 1),
      next_load(load_first.begin(), load_first.end() - 1);
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t place = 0; place < 16; ++place) {
      matrix_place[place * count + e] = next[row_of[place * count + e]]++;
    }
    for (std::size_t a = 0; a < 4; ++a) {
      load_place[a * count + e] = next_load[solver_row(mesh.tets[element_order[e]][a])]++;
    }
  }
  stiffness_ = make_array(ctx, stiffness);
  matrix_place_ = make_array(ctx, matrix_place);
  load_place_ = make_array(ctx, load_place);
  matrix_first_ = make_array(ctx, matrix_first);
  load_first_ = make_array(ctx, load_first);
  k_elem_ = Array<double, S>(ctx, static_cast<std::int64_t>(16 * count));
  r_elem_ = Array<double, S>(ctx, static_cast<std::int64_t>(4 * count));
  values_ = Array<double, S>(ctx, pattern.nnz());
}

// K_elem and R_elem of the present tangents and loads, and their sums by rows.
template <Space S>
void ReferenceAssembly<S>::fill(const Context<S>& ctx, const double* tangent, const double* load,
                                Span<double, S> rhs) {
  detail::for_elements(ctx, elements_,
                       detail::ScatterElement{{},
                                              elements_,
                                              stiffness_.data(),
                                              tangent,
                                              load,
                                              matrix_place_.data(),
                                              load_place_.data(),
                                              k_elem_.data(),
                                              r_elem_.data()});
  detail::for_elements(ctx, values_.size(),
                       detail::SumRows{{}, matrix_first_.data(), k_elem_.data(), values_.data()});
  detail::for_elements(ctx, nodes_, detail::SumRows{{}, load_first_.data(), r_elem_.data(), rhs.data});
}

template <Space S>
std::uint64_t ReferenceAssembly<S>::bytes() const {
  return stiffness_.bytes() + matrix_place_.bytes() + load_place_.bytes() + matrix_first_.bytes() +
         load_first_.bytes() + k_elem_.bytes() + r_elem_.bytes() + values_.bytes();
}

#define X(S) template class ReferenceAssembly<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
