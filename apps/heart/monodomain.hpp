// SPDX-License-Identifier: Apache-2.0
/// Monodomain: the voltage of a heart, step by step. Backward Euler in time, linear tetrahedra with one integration
/// point in space, Newton's method over the nodes with the recovery eliminated in every element (J. Wong, E. Kuhl,
/// E. Darve, Int. J. Numer. Meth. Engng 102, 2015, section 2 and Table I).
///
///     dphi/dt = div(D grad phi) + f(phi, r) + stimulus,   no flux through the surface
///     dr/dt   = g(phi, r)
///
/// Newton's equation K (phi_new - phi) = -R is solved for phi_new itself, K phi_new = K phi - R, whose right-hand
/// side is a sum of one number per element; the residual R is then the solver's first one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/common/run_clock.hpp"
#include "apps/heart/heart_assembly.hpp"
#include "apps/heart/newton_method.hpp"
#include "apps/transient/shares.hpp"

namespace newel::heart {

/// A heart before it is set up: mesh in mm, mesh numbering.
struct HeartModel {
  fem::TetMesh mesh;
  std::vector<fem::Point> fibers;    ///< per tetrahedron, of length 1 or zero; empty: none
  std::vector<std::uint32_t> marks;  ///< per tetrahedron, which stimuli reach it; empty: none
  Tissue tissue;
  Conductivity conductivity;
};

/// A heart to set up from parts that a caller keeps: nothing of it is read after setup.
struct HeartView {
  const fem::TetMesh& mesh;
  const std::vector<fem::Point>& fibers;
  std::vector<std::uint32_t> marks;
  Tissue tissue;
  Conductivity conductivity;
  std::shared_ptr<const fem::NodeTets> around;  ///< of the mesh; null: setup makes it

  HeartView(const fem::TetMesh& mesh_, const std::vector<fem::Point>& fibers_) : mesh(mesh_), fibers(fibers_) {}
  HeartView(const HeartModel& model)
      : mesh(model.mesh),
        fibers(model.fibers),
        marks(model.marks),
        tissue(model.tissue),
        conductivity(model.conductivity) {}
};

/// What runs, between two steps; in the mesh's numbering, whatever the order of the system.
struct HeartState {
  std::vector<double> phi;       ///< per node
  std::vector<double> previous;  ///< phi a step before; empty before the first step
  double previous_dt = 0;        ///< ms, from `previous` to `phi`; 0 before the first step
  std::vector<double> r;         ///< per tetrahedron
  /// By Newton iteration the residual that the last step began with: what the next one expects. May be empty.
  std::vector<double> expected_residual;
};

/// Seconds of the parts of one assembly: the pass over the elements with their local Newton's method, and the matrix
/// and the right-hand side from the elements' values, without what a preconditioner makes of the matrix.
struct AssemblySeconds {
  double elements = 0, sums = 0;
};

/// The voltage now and at the steps before, in solver order.
template <Space S>
class VoltageHistory {
 public:
  VoltageHistory(const Context<S>& ctx, Index nodes);

  Array<double, S>& phi() { return phi_; }
  Span<const double, S> phi() const { return phi_.cspan(); }
  /// Before the last step that was accepted, or that is being tried.
  Span<const double, S> before() const { return old_phi_.cspan(); }
  /// A step before phi, between two steps.
  Span<const double, S> previous() const { return moved_on_ ? old_phi_.cspan() : previous_.cspan(); }
  double previous_dt() const { return previous_dt_; }

  /// Leaves the guess of the step in phi: where it goes if it continues as it did.
  void begin_step(const Context<S>& ctx, double dt);
  void accept(double dt) {
    moved_on_ = true;
    previous_dt_ = dt;
  }
  void refuse(const Context<S>& ctx) { copy<double>(ctx, old_phi_.cspan(), phi_.span()); }
  /// Where phi of a step of `dt` before it is to be written.
  Span<double, S> set_previous(double dt) {
    accept(dt);
    return old_phi_.span();
  }

 private:
  Array<double, S> phi_, old_phi_, previous_;
  double previous_dt_ = 0;
  bool moved_on_ = false;  ///< old_phi_ is a step before phi_; else previous_ is
};

template <Space S>
class Monodomain {
 public:
  /// Sets up the system for steps of `dt` ms, at rest. `options.solver` "auto" becomes CG: the tangent is positive
  /// definite. With `options.old_of_new` the system is renumbered so. Of `clock`, where there is one, the phases
  /// "conduction", "linear system" and "element lists" end.
  /// Throws InputError, OutOfMemory.
  Monodomain(const Context<S>& ctx, const HeartView& heart, double dt, const SystemOptions& options,
             AssemblyKind kind, const NewtonOptions& newton, cli::RunClock* clock = nullptr);
  Monodomain(const Monodomain&) = delete;
  Monodomain& operator=(const Monodomain&) = delete;

  /// Tries a step; where it is not accepted the state is as before. Refusals: the reaction rises faster than 1/dt
  /// somewhere, so that the tangent may not be positive definite; Newton's method does not converge; the solver
  /// fails.
  StepOutcome step(double dt, const StimulusRates& stimulus, transient::Shares& shares,
                   transient::SolveTotals& totals);

  const Context<S>& context() const { return ctx_; }
  LinearSystem<double, S>& system() { return system_; }
  const LinearSystem<double, S>& system() const { return system_; }
  const HeartAssembly<S>& assembly() const { return assembly_; }

  /// Voltage now and before the last accepted step, in solver order.
  Span<const double, S> phi() const { return voltage_.phi(); }
  Span<const double, S> phi_before() const { return voltage_.before(); }

  using OtherSolver = typename NewtonMethod<S>::OtherSolver;
  /// From now on `solver` is called in the place of the system's own: the same model, assembly, guesses and
  /// tolerances with another code's solver. An empty one gives the place back.
  void solve_with(OtherSolver solver) { newton_.solve_with(std::move(solver)); }

  /// Each part by itself, for a step of `dt` from the present state, which stays; the matrix does not. Waits.
  AssemblySeconds measure_assembly(double dt, int repeats = 5);

  /// For a checkpoint: a preconditioner that is kept over many steps is made anew in the next one, here as in the run
  /// that continues from this state, so that both have the same bits.
  HeartState state();
  void set_state(const HeartState& state);

  /// `node_values` in solver order in S, as the mesh numbers nodes.
  std::vector<double> in_mesh_order(Span<const double, S> node_values) const;
  /// The recovery in the order of the mesh's tetrahedra.
  std::vector<double> recovery() const;

 private:
  Context<S> ctx_;
  Tissue tissue_;
  std::shared_ptr<const fem::NodeTets> around_;  ///< until the system is set up
  fem::HostCsr conduction_;
  LinearSystem<double, S> system_;
  HeartAssembly<S> assembly_;
  NewtonMethod<S> newton_;
  VoltageHistory<S> voltage_;
  Array<double, S> r_;
};

}  // namespace newel::heart
