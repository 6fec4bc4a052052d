// SPDX-License-Identifier: Apache-2.0
/// HeartAssembly: the tangent matrix and the right-hand side of Newton's equation, made in the space of the system.
#pragma once

#include <vector>

#include <newel/core/vector_ops.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/fem/assembly.hpp"
#include "apps/heart/heart_loops.hpp"
#include "apps/heart/reference_assembly.hpp"
#include "apps/heart/slot_assembly.hpp"

namespace newel::heart {

enum class AssemblyKind {
  /// Each slot of the format gathers one number per element that meets there, usually together with the slot that
  /// mirrors it, and adds its constant part.
  in_place,
  /// Section 4 of Wong, Kuhl and Darve: element matrices are written out, summed by rows into CSR values, and the
  /// system is refreshed with those. What the other kind is measured against.
  reference,
};

/// Conduction tensor of a tetrahedron, mm^2/ms: across I + (along - across) n n^T; without a direction n it is the
/// mean (along + 2 across) / 3 times I.
struct Conductivity {
  double along = 1.2;
  double across = 0.25;
};

/// D for the fibre direction n, of length 1 or zero.
fem::Tensor conduction_tensor(const Conductivity& conductivity, const fem::Point& n);

/// The integrals of (grad v) . D grad u for all tetrahedra, in the mesh's numbering. `fibers`: a unit vector or zero
/// for each, or empty.
fem::HostCsr assemble_conduction(const Context<Space::host>& host, const fem::TetMesh& mesh,
                                 const std::vector<fem::Point>& fibers, const Conductivity& conductivity);
/// The same with node_tets of the mesh at hand.
fem::HostCsr assemble_conduction(const Context<Space::host>& host, const fem::TetMesh& mesh,
                                 const fem::NodeTets& around, const std::vector<fem::Point>& fibers,
                                 const Conductivity& conductivity);

/// K of tissue at rest: conduction + (1/dt + c alpha) times the mass matrix of one integration point. What a system
/// is set up with: values on the pattern of `conduction`.
fem::HostVector resting_tangent(const Context<Space::host>& host, const fem::TetMesh& mesh,
                                const fem::NodeTets& around, const fem::HostCsr& conduction, const Tissue& tissue,
                                double dt);

/// The input of an element update in addition to the state.
struct ElementForces {
  Tissue tissue;
  double dt = 0;  ///< ms
  StimulusRates stimulus;
};

/// What elements have, in their order.
template <Space S>
struct ElementFields {
  Array<detail::Corners, S> corners;
  Array<double, S> volume;
  Array<std::uint32_t, S> marks;     ///< may be empty
  Array<double, S> old_mean, old_r;  ///< phi and the recovery when the step of time began
  Array<double, S> tangent, load;

  /// All of a pass but its tangents and its verdict.
  void set_pass(detail::ElementPass& pass, const ElementForces& forces, Span<const double, S> phi, Span<double, S> r);
  std::uint64_t bytes() const {
    return corners.bytes() + volume.bytes() + old_mean.bytes() + old_r.bytes() + tangent.bytes() + load.bytes() +
           marks.bytes();
  }
};

/// Elements in an order of their own (`element_order`), nodes in solver order. All arrays live in S.
template <Space S>
class HeartAssembly {
 public:
  /// `system` has the pattern of `conduction` and outlives the assembly. `marks`: a bit mask per tetrahedron, or
  /// empty.
  HeartAssembly(const Context<S>& ctx, const fem::TetMesh& mesh, const fem::NodeTets& around,
                const fem::HostCsr& conduction, const std::vector<fem::Point>& fibers,
                const Conductivity& conductivity, const std::vector<std::uint32_t>& marks,
                LinearSystem<double, S>& system, AssemblyKind kind);

  Index elements() const { return static_cast<Index>(fields_.volume.size()); }
  /// Element i is the mesh's tetrahedron element_order()[i].
  const std::vector<Index>& element_order() const { return element_order_; }

  /// Begins a step of time from phi (solver order), which stays until the step's first `linearize`, and r (element
  /// order), whose memory is taken for it: r has no values until then.
  void begin_step(Span<const double, S> phi, Array<double, S>& r);

  /// r as it was when the step began, which is then over.
  void restore(Array<double, S>& r) { r.swap(fields_.old_r); }

  /// Solves the recovery r in every element for the voltage phi, and linearises.
  void linearize(const Context<S>& ctx, const ElementForces& forces, Span<const double, S> phi, Span<double, S> r);

  /// Whether the residual can be computed before the matrix is assembled: not in the reference, which follows the
  /// paper.
  bool checks() const { return kind_ == AssemblyKind::in_place; }
  /// Solves the recovery r for phi, and makes rhs such that with the matrix K as it stands rhs - K phi is the
  /// residual of the step at phi. K must be that of the last `linearize`.
  void check(const Context<S>& ctx, const ElementForces& forces, Span<const double, S> phi, Span<double, S> r,
             Span<double, S> rhs);

  /// Where the caller's norm of a residual goes, which `verdict` brings along.
  double* residual() { return &verdict_.data()->residual; }
  /// What came of the last `linearize` and `check`. On the device waits for the stream.
  detail::StepVerdict verdict(const Context<S>& ctx) const {
    return fetch(ctx, static_cast<const detail::StepVerdict*>(verdict_.data()));
  }

  /// The tangent, written into the system, and the right-hand side, in solver order; what the preconditioner reads
  /// too unless `scope` is operator_only. Errors as LinearSystem::slots_written.
  void fill(const Context<S>& ctx, RefreshScope scope, Span<double, S> rhs);

  /// Volume of the tissue that belongs to each node, mm^3, in solver order: the mass matrix lumped.
  std::vector<double> node_volumes(const Context<S>& ctx) const;

  /// Bytes of the arrays above in S.
  std::uint64_t bytes() const;

 private:
  LinearSystem<double, S>* system_;
  AssemblyKind kind_;
  Index nodes_ = 0;
  std::vector<Index> element_order_;
  ElementFields<S> fields_;
  Span<const double, S> old_phi_{};  // null behind a step's first linearisation
  Array<detail::StepVerdict, S> verdict_;
  SlotAssembly<S> slots_;
  ReferenceAssembly<S> reference_;
};

}  // namespace newel::heart
