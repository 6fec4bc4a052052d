// SPDX-License-Identifier: Apache-2.0
// Assembly of the tangent in both spaces: lists on the host, once; sums in S, every Newton iteration.
#include "apps/heart/heart_assembly.hpp"

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
  const std::vector<Index> new_of_old = to_vector(ctx, system.ordered().order().new_of_old.cspan());
  const std::vector<Index> old_of_new = to_vector(ctx, system.ordered().order().old_of_new.cspan());
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
  fields_.corners = placed(ctx, std::move(corners));
  fields_.volume = placed(ctx, std::move(volume));
  fields_.marks = placed(ctx, std::move(ordered_marks));
  for (Array<double, S>* array : {&fields_.old_mean, &fields_.old_r, &fields_.tangent, &fields_.load}) {
    *array = Array<double, S>(ctx, count);
  }
  verdict_ = make_array(ctx, std::vector<detail::StepVerdict>(1));

  if (kind == AssemblyKind::reference) {
    const auto tensor = [&](Index tet) { return conduction_tensor(conductivity, fiber_of(fibers, tet)); };
    reference_ = {ctx, mesh, conduction, tensor, element_order_, new_of_old};
    return;
  }
  const Pattern<Space::host> pattern = CsrView<double, Space::host>(conduction);
  slots_ = {ctx, conduction, entry_elements(host, mesh, around, pattern, element_order_, old_of_new), old_of_new,
            system};
}

template <Space S>
void HeartAssembly<S>::begin_step(Span<const double, S> phi, Array<double, S>& r) {
  old_phi_ = phi;
  fields_.old_r.swap(r);
}

template <Space S>
void ElementFields<S>::set_pass(detail::ElementPass& pass, const ElementForces& forces, Span<const double, S> phi,
                                Span<double, S> r) {
  pass.tissue = forces.tissue;
  pass.dt = forces.dt;
  pass.stimulus = forces.stimulus;
  pass.corners = corners.data();
  pass.phi = phi.data;
  pass.volume = volume.data();
  pass.marks = marks.empty() || forces.stimulus.active == 0 ? nullptr : marks.data();
  pass.old_mean = old_mean.data();
  pass.old_r = old_r.data();
  pass.r = r.data;
  pass.load = load.data();
}

template <Space S>
void HeartAssembly<S>::linearize(const Context<S>& ctx, const ElementForces& forces, Span<const double, S> phi,
                                 Span<double, S> r) {
  detail::LinearizeElement pass;
  fields_.set_pass(pass, forces, phi, r);
  pass.old_phi = old_phi_.data;
  pass.tangent = fields_.tangent.data();
  pass.verdict = &verdict_.data()->linearized;
  detail::for_elements(ctx, elements(), pass);
  old_phi_ = {};
}

template <Space S>
void HeartAssembly<S>::check(const Context<S>& ctx, const ElementForces& forces, Span<const double, S> phi,
                             Span<double, S> r, Span<double, S> rhs) {
  detail::CheckElement pass;
  fields_.set_pass(pass, forces, phi, r);
  pass.tangent = fields_.tangent.data();
  pass.verdict = &verdict_.data()->checked;
  detail::for_elements(ctx, elements(), pass);
  slots_.add_loads(ctx, fields_.load.data(), rhs.data);
}

template <Space S>
void HeartAssembly<S>::fill(const Context<S>& ctx, RefreshScope scope, Span<double, S> rhs) {
  const double *const tangent = fields_.tangent.data(), *const load = fields_.load.data();
  if (kind_ == AssemblyKind::reference) {
    reference_.fill(ctx, tangent, load, rhs);
    return system_->refresh(reference_.values(), scope);
  }
  slots_.fill(ctx, scope == RefreshScope::everything, tangent, load, rhs);
  system_->in_place().written(scope);
}

template <Space S>
std::vector<double> HeartAssembly<S>::node_volumes(const Context<S>& ctx) const {
  std::vector<double> volume = to_vector(ctx, fields_.volume.cspan());
  if (kind_ == AssemblyKind::in_place) {  // the sums of the loads, with another number per element
    for (double& v : volume) v /= 4;
    const Array<double, S> quarter = make_array(ctx, volume);
    Array<double, S> sum(ctx, nodes_);
    slots_.add_loads(ctx, quarter.data(), sum.data());
    return to_vector(ctx, sum.cspan());
  }
  const std::vector<detail::Corners> corners = to_vector(ctx, fields_.corners.cspan());
  std::vector<double> result(static_cast<std::size_t>(nodes_), 0.0);
  for (std::size_t e = 0; e < volume.size(); ++e) {
    for (const Index node : corners[e].node) result[node] += volume[e] / 4;
  }
  return result;
}

template <Space S>
std::uint64_t HeartAssembly<S>::bytes() const {
  return fields_.bytes() + slots_.bytes() + reference_.bytes();
}

#define X(S) template class HeartAssembly<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
