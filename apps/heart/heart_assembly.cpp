// SPDX-License-Identifier: Apache-2.0
// Assembly of the tangent in both spaces: lists on the host, once; sums in S, every Newton iteration.
#include "apps/heart/heart_assembly.hpp"

#include <numeric>
#include <utility>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/mesh.hpp"

namespace newel::heart {
namespace {

fem::Point fiber_of(const std::vector<fem::Point>& fibers, Index tet) {
  return fibers.empty() ? fem::Point{} : fibers[tet];
}

// An array of the host in S.
template <class T, Space S>
Array<T, S> placed(const Context<S>& ctx, Array<T, Space::host> array) {
  if constexpr (S == Space::host) {
    return array;
  } else {
    return make_array(ctx, array.cspan());
  }
}

}  // namespace

fem::Tensor conduction_tensor(const Conductivity& d, const fem::Point& n) {
  const bool directed = n[0] != 0 || n[1] != 0 || n[2] != 0;
  const double across = directed ? d.across : (d.along + 2 * d.across) / 3;
  fem::Tensor tensor{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) tensor[i][j] = (i == j ? across : 0.0) + (d.along - d.across) * n[i] * n[j];
  }
  return tensor;
}

fem::HostCsr assemble_conduction(const Context<Space::host>& host, const fem::TetMesh& mesh,
                                 const std::vector<fem::Point>& fibers, const Conductivity& conductivity) {
  return assemble_conduction(host, mesh, fem::node_tets(host, mesh), fibers, conductivity);
}

fem::HostCsr assemble_conduction(const Context<Space::host>& host, const fem::TetMesh& mesh,
                                 const fem::NodeTets& around, const std::vector<fem::Point>& fibers,
                                 const Conductivity& conductivity) {
  fem::DiffusionOptions options;
  options.conductivity = [&](Index tet, const fem::Point&) {
    return conduction_tensor(conductivity, fiber_of(fibers, tet));
  };
  return fem::assemble_diffusion(host, mesh, around, options);
}

fem::HostVector resting_tangent(const Context<Space::host>& host, const fem::TetMesh& mesh,
                                const fem::NodeTets& around, const fem::HostCsr& conduction, const Tissue& tissue,
                                double dt) {
  const Pattern<Space::host> pattern = CsrView<double, Space::host>(conduction);
  const double rate = 1 / dt + tissue.c * tissue.alpha / tissue.time_unit;
  fem::HostVector k(host, conduction.nnz());
  parallel_for(host, conduction.rows, [&](Index i) {
    const Offset begin = conduction.row_ptr[i], end = conduction.row_ptr[i + 1];
    for (Offset e = begin; e < end; ++e) k[e] = 0;
    // The consistent mass matrix has V/10 on the diagonal of an element and V/20 off it; one integration point gives
    // V/16 everywhere.
    for (Offset t = around.begin[i]; t < around.begin[i + 1]; ++t) {
      const double volume = fem::element_volume(mesh, around.tets[t]);
      for (const Index b : mesh.tets[around.tets[t]]) k[find_entry(pattern, i, b)] += volume * (b == i ? 0.1 : 0.05);
    }
    for (Offset e = begin; e < end; ++e) {
      k[e] = conduction.val[e] + rate * k[e] * (conduction.col[e] == i ? 10.0 / 16 : 20.0 / 16);
    }
  });
  return k;
}

template <Space S>
HeartAssembly<S>::HeartAssembly(const Context<S>& ctx, const fem::TetMesh& mesh, const fem::NodeTets& around,
                                const fem::HostCsr& conduction, const std::vector<fem::Point>& fibers,
                                const Conductivity& conductivity, const std::vector<std::uint32_t>& marks,
                                LinearSystem<double, S>& system, AssemblyKind kind)
    : system_(&system), kind_(kind), nodes_(mesh.node_count()) {
  const std::vector<Index> new_of_old = to_vector(ctx, system.order().new_of_old.cspan());
  const std::vector<Index> old_of_new = to_vector(ctx, system.order().old_of_new.cspan());
  element_order_ = order_elements(host_context(ctx), mesh, new_of_old);

  const auto count = static_cast<std::int64_t>(element_order_.size());
  const Context<Space::host> host = host_context(ctx);
  Array<detail::Corners, Space::host> corners(host, count);
  Array<double, Space::host> volume(host, count);
  Array<std::uint32_t, Space::host> ordered_marks(host, marks.empty() ? 0 : count);
  parallel_for(host, count, [&](std::int64_t e) {
    const Index tet = element_order_[e];
    for (int a = 0; a < 4; ++a) {
      const Index node = mesh.tets[tet][a];
      corners[e].node[a] = new_of_old.empty() ? node : new_of_old[node];
    }
    volume[e] = fem::element_volume(mesh, tet);
    if (!marks.empty()) ordered_marks[e] = marks[tet];
  });
  corners_ = placed(ctx, std::move(corners));
  volume_ = placed(ctx, std::move(volume));
  marks_ = placed(ctx, std::move(ordered_marks));
  for (Array<double, S>* array : {&old_mean_, &old_r_, &tangent_, &load_}) {
    *array = Array<double, S>(ctx, count);
  }
  verdict_ = make_array(ctx, std::vector<detail::StepVerdict>(1));

  if (kind == AssemblyKind::reference) {
    make_reference(ctx, mesh, conduction, fibers, conductivity, new_of_old);
    return;
  }
  make_sums(ctx, mesh, around, conduction, old_of_new);
}

// The elements around a node are those that meet in its diagonal entry. What a preconditioner reads of the matrix
// stands in the matrix's slots.
template <Space S>
void HeartAssembly<S>::make_sums(const Context<S>& ctx, const fem::TetMesh& mesh, const fem::NodeTets& around,
                                 const fem::HostCsr& conduction, const std::vector<Index>& old_of_new) {
  const Pattern<Space::host> pattern = CsrView<double, Space::host>(conduction);
  lists_ = entry_elements(host_context(ctx), mesh, around, pattern, element_order_, old_of_new);
  std::vector<Offset> diagonal(static_cast<std::size_t>(nodes_));
  parallel_for(host_context(ctx), nodes_, [&](Index i) {
    const Index node = old_of_new.empty() ? i : old_of_new[i];
    diagonal[i] = find_entry(pattern, node, node);
  });
  loads_ = SlotSums<S>(ctx, diagonal, lists_, nullptr);

  const Slots<double, S> matrix = system_->matrix_slots(), preconditioner = system_->preconditioner_slots();
  matrix_slot_ = matrix.values;
  if constexpr (S == Space::device) {
    const Context<Space::host> host = host_context(ctx);
    Array<Index, Space::host> node(host, pattern.nnz());
    parallel_for(host, nodes_, [&](Index i) {
      const Index row = old_of_new.empty() ? i : old_of_new[i];
      for (Offset k = pattern.row_begin(row); k < pattern.row_begin(row + 1); ++k)
        node[k] = k == diagonal[i] ? i : -1;
    });
    matrix_ = SlotSums<S>(ctx, matrix.entry, lists_, conduction.val.data(), node);
  } else {
    matrix_ = SlotSums<S>(ctx, matrix.entry, lists_, conduction.val.data());
  }
  preconditioner_slot_ = preconditioner.values;
  preconditioner_is_diagonal_ = preconditioner.entry == diagonal;
  if (S == Space::host || !preconditioner_is_diagonal_) {
    std::vector<Offset> slot_of(static_cast<std::size_t>(pattern.nnz()), -1), source = preconditioner.entry;
    parallel_for(host_context(ctx), matrix.entry.size(), [&](std::size_t k) {
      // All slots of an entry hold the same value.
      if (matrix.entry[k] >= 0) atomic_write(slot_of[matrix.entry[k]], static_cast<Offset>(k));
    });
    parallel_for(host_context(ctx), source.size(),
                 [&](std::size_t k) { source[k] = source[k] < 0 ? -1 : slot_of[source[k]]; });
    preconditioner_source_ = make_value_map(ctx, make_array(ctx, source).cspan(), matrix_slot_.size);
  }

  lists_.begin = {};
  lists_.list = {};
  lists_.count = {};
  if (S == Space::device) lists_.element = {};
}

template <Space S>
void HeartAssembly<S>::make_reference(const Context<S>& ctx, const fem::TetMesh& mesh, const fem::HostCsr& conduction,
                                      const std::vector<fem::Point>& fibers, const Conductivity& conductivity,
                                      const std::vector<Index>& new_of_old) {
  const Pattern<Space::host> pattern = CsrView<double, Space::host>(conduction);
  const std::size_t count = element_order_.size();
  std::vector<double> stiffness(10 * count);
  std::vector<Offset> row_of(16 * count), matrix_place(16 * count), load_place(4 * count);
  std::vector<Offset> matrix_first(static_cast<std::size_t>(pattern.nnz()) + 1, 0),
      load_first(static_cast<std::size_t>(nodes_) + 1, 0);
  const auto solver_row = [&](Index node) { return new_of_old.empty() ? node : new_of_old[node]; };
  for (std::size_t e = 0; e < count; ++e) {
    const fem::Tet& tet = mesh.tets[element_order_[e]];
    const fem::TetGeometry g = fem::tet_geometry(mesh, element_order_[e]);
    const fem::Tensor d = conduction_tensor(conductivity, fiber_of(fibers, element_order_[e]));
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
      load_place[a * count + e] = next_load[solver_row(mesh.tets[element_order_[e]][a])]++;
    }
  }
  Reference& r = reference_;
  r.stiffness = make_array(ctx, stiffness);
  r.matrix_place = make_array(ctx, matrix_place);
  r.load_place = make_array(ctx, load_place);
  r.matrix_first = make_array(ctx, matrix_first);
  r.load_first = make_array(ctx, load_first);
  r.k_elem = Array<double, S>(ctx, static_cast<std::int64_t>(16 * count));
  r.r_elem = Array<double, S>(ctx, static_cast<std::int64_t>(4 * count));
  r.values = Array<double, S>(ctx, pattern.nnz());
}

template <Space S>
void HeartAssembly<S>::begin_step(Span<const double, S> phi, Array<double, S>& r) {
  old_phi_ = phi;
  old_r_.swap(r);
}

template <Space S>
void HeartAssembly<S>::set_pass(detail::ElementPass& pass, const ElementForces& forces, Span<const double, S> phi,
                                Span<double, S> r) {
  pass.tissue = forces.tissue;
  pass.dt = forces.dt;
  pass.stimulus = forces.stimulus;
  pass.corners = corners_.data();
  pass.phi = phi.data;
  pass.volume = volume_.data();
  pass.marks = marks_.empty() || forces.stimulus.active == 0 ? nullptr : marks_.data();
  pass.old_mean = old_mean_.data();
  pass.old_r = old_r_.data();
  pass.r = r.data;
  pass.load = load_.data();
}

template <Space S>
void HeartAssembly<S>::linearize(const Context<S>& ctx, const ElementForces& forces, Span<const double, S> phi,
                                 Span<double, S> r) {
  detail::LinearizeElement pass;
  set_pass(pass, forces, phi, r);
  pass.old_phi = old_phi_.data;
  pass.tangent = tangent_.data();
  pass.verdict = &verdict_.data()->linearized;
  detail::for_elements(ctx, elements(), pass);
  old_phi_ = {};
}

template <Space S>
void HeartAssembly<S>::check(const Context<S>& ctx, const ElementForces& forces, Span<const double, S> phi,
                             Span<double, S> r, Span<double, S> rhs) {
  detail::CheckElement pass;
  set_pass(pass, forces, phi, r);
  pass.tangent = tangent_.data();
  pass.verdict = &verdict_.data()->checked;
  detail::for_elements(ctx, elements(), pass);
  loads_.add_up(ctx, load_.data(), rhs.data);
}

template <Space S>
void HeartAssembly<S>::fill(const Context<S>& ctx, RefreshScope scope, Span<double, S> rhs) {
  if (kind_ == AssemblyKind::reference) return fill_reference(ctx, scope, rhs);
  fill_slots(ctx, scope == RefreshScope::everything && preconditioner_slot_.size > 0, rhs);
  system_->slots_written(scope);
}

// On the device one kernel writes the matrix, the right-hand side, and a preconditioner's diagonal.
template <Space S>
void HeartAssembly<S>::fill_slots(const Context<S>& ctx, bool preconditioner, Span<double, S> rhs) {
  bool left = preconditioner;
  if constexpr (S == Space::device) {
    left = preconditioner && !preconditioner_is_diagonal_;
    double* const diagonal = preconditioner && !left ? preconditioner_slot_.data : nullptr;
    matrix_.add_up_with_nodes(ctx, tangent_.data(), matrix_slot_.data, {load_.data(), rhs.data, diagonal});
  } else {
    matrix_.add_up(ctx, tangent_.data(), matrix_slot_.data);
    loads_.add_up(ctx, load_.data(), rhs.data);
  }
  if (left) gather(ctx, Span<const double, S>(matrix_slot_), preconditioner_source_, preconditioner_slot_);
}

// K_elem and R_elem of the present tangents and loads, and their sums by rows.
template <Space S>
void HeartAssembly<S>::fill_reference(const Context<S>& ctx, RefreshScope scope, Span<double, S> rhs) {
  Reference& r = reference_;
  detail::for_elements(ctx, elements(),
                       detail::ScatterElement{{},
                                              elements(),
                                              r.stiffness.data(),
                                              tangent_.data(),
                                              load_.data(),
                                              r.matrix_place.data(),
                                              r.load_place.data(),
                                              r.k_elem.data(),
                                              r.r_elem.data()});
  detail::for_elements(ctx, r.values.size(),
                       detail::SumRows{{}, r.matrix_first.data(), r.k_elem.data(), r.values.data()});
  detail::for_elements(ctx, nodes_, detail::SumRows{{}, r.load_first.data(), r.r_elem.data(), rhs.data});
  system_->refresh(r.values.cspan(), scope);
}

template <Space S>
std::vector<double> HeartAssembly<S>::node_volumes(const Context<S>& ctx) const {
  std::vector<double> volume = to_vector(ctx, volume_.cspan());
  if (kind_ == AssemblyKind::in_place) {  // the sums of the loads, with another number per element
    for (double& v : volume) v /= 4;
    const Array<double, S> quarter = make_array(ctx, volume);
    Array<double, S> sum(ctx, nodes_);
    loads_.add_up(ctx, quarter.data(), sum.data());
    return to_vector(ctx, sum.cspan());
  }
  const std::vector<detail::Corners> corners = to_vector(ctx, corners_.cspan());
  std::vector<double> result(static_cast<std::size_t>(nodes_), 0.0);
  for (std::size_t e = 0; e < volume.size(); ++e) {
    for (const Index node : corners[e].node) result[node] += volume[e] / 4;
  }
  return result;
}

template <Space S>
std::uint64_t HeartAssembly<S>::Reference::bytes() const {
  return stiffness.bytes() + matrix_place.bytes() + load_place.bytes() + matrix_first.bytes() + load_first.bytes() +
         k_elem.bytes() + r_elem.bytes() + values.bytes();
}

template <Space S>
std::uint64_t HeartAssembly<S>::bytes() const {
  return corners_.bytes() + volume_.bytes() + old_mean_.bytes() + old_r_.bytes() + tangent_.bytes() + load_.bytes() +
         marks_.bytes() + matrix_.bytes() + loads_.bytes() + preconditioner_source_.bytes() +
         (S == Space::host ? lists_.element.size() * sizeof(Index) : 0) + reference_.bytes();
}

#define X(S) template class HeartAssembly<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
