// SPDX-License-Identifier: Apache-2.0
// The heart's steps against the same model written with dense matrices; formats, preconditioners and both assemblies.
#include "tests/heart/heart_support.hpp"

using heart::AssemblyKind;
using heart::HeartModel;
using heart::Monodomain;
using heart::StepOutcome;

namespace {

constexpr double dt = 0.25;

double farthest(const std::vector<double>& a, const Eigen::VectorXd& b) {
  REQUIRE(static_cast<Eigen::Index>(a.size()) == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(std::isfinite(a[i]));
    most = std::max(most, std::fabs(a[i] - b[static_cast<Eigen::Index>(i)]));
  }
  return most;
}
double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  return farthest(a, Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size())));
}

double stimulus_at(int step) { return step < 8 ? 1.0 : 0.0; }

heart::StimulusRates rates(double rate) {
  heart::StimulusRates result;
  result.set(0, rate);
  return result;
}

template <Space S>
void run(Monodomain<S>& heart, int from, int to, double step_ms = dt) {
  transient::Shares shares;
  transient::SolveTotals totals;
  for (int k = from; k < to; ++k) {
    const StepOutcome outcome = heart.step(step_ms, rates(stimulus_at(k)), shares, totals);
    INFO("step " << k << ": " << outcome.refusal);
    REQUIRE(outcome.accepted);
  }
}

template <Space S>
void compare_with_dense(const std::string& format, const std::string& precond, AssemblyKind kind) {
  const Context<S> ctx;
  const HeartModel model = small_heart(5, 6);
  Monodomain<S> heart(ctx, model, dt, sharp_options(format, precond), kind, sharp_newton());
  DenseHeart dense(model);
  double most = 0;
  for (int k = 0; k < 50; ++k) {
    run(heart, k, k + 1);
    dense.step(dt, stimulus_at(k));
    most = std::max(most, farthest(heart.in_mesh_order(heart.phi()), dense.phi));
    most = std::max(most, farthest(heart.recovery(), dense.r));
  }
  CHECK(most <= 1e-8);
  CHECK(dense.phi.maxCoeff() > 0.9);  // it was excited
  CHECK(dense.r.maxCoeff() > 0.005);
}

}  // namespace

TEST_BOTH("fifty steps of a small heart agree with dense matrices to 1e-8", "[heart]") {
  compare_with_dense<S>("csr", "jacobi", AssemblyKind::in_place);
}

TEST_BOTH("so do they by the reference assembly", "[heart]") {
  compare_with_dense<S>("csr", "jacobi", AssemblyKind::reference);
}

TEST_BOTH("so do they in every format, written in place, and with every preconditioner", "[heart]") {
  for (const char* format : {"ehyb", "bce", "ellwarp:k1rs", "ellwarp:k2rs", "evchyb"}) {
    INFO(format);
    compare_with_dense<S>(format, "jacobi", AssemblyKind::in_place);
  }
  for (const char* precond : {"none", "spai0", "spai", "fsai"}) {
    INFO(precond);
    compare_with_dense<S>("ehyb", precond, AssemblyKind::in_place);
  }
}

TEST_BOTH("both assemblies are the element-by-element sum, to rounding, and the same bits on every run", "[heart]") {
  const HeartModel model = small_heart(6, 6);
  for (const AssemblyKind kind : {AssemblyKind::in_place, AssemblyKind::reference}) {
    for (const char* format : {"csr", "ehyb"}) {
      INFO(format << (kind == AssemblyKind::in_place ? " in place" : " reference"));
      Monodomain<S> heart(ctx, model, dt, sharp_options(format), kind, sharp_newton());
      run(heart, 0, 12);
      const heart::HeartState start = heart.state();
      const Index n = model.mesh.node_count();

      // The tangent at some voltage, by products with unit vectors, and the right-hand side.
      const auto assembled = [&] {
        Monodomain<S> fresh(ctx, model, dt, sharp_options(format), kind, sharp_newton());
        LinearSystem<double, S>& system = fresh.system();
        heart::HeartAssembly<S> assembly(
            ctx, model.mesh, fem::node_tets(Context<Space::host>(), model.mesh),
            heart::assemble_conduction(Context<Space::host>(), model.mesh, model.fibers, model.conductivity),
            model.fibers, model.conductivity, model.marks, system, kind);
        auto phi = make_array(ctx, start.phi), r = make_array(ctx, start.r), rhs = make_array(ctx, start.phi);
        Array<double, S> ordered(ctx, n);
        system.ordered().from_user_order(phi, ordered);
        std::vector<double> r_ordered;
        for (const Index tet : assembly.element_order()) r_ordered.push_back(start.r[static_cast<std::size_t>(tet)]);
        r = make_array(ctx, r_ordered);
        assembly.begin_step(ordered.cspan(), r);
        assembly.linearize(ctx, {model.tissue, dt, rates(0.5)}, ordered.cspan(), r.span());
        assembly.fill(ctx, RefreshScope::everything, ordered.span());
        system.ordered().to_user_order(ordered, rhs);
        Eigen::MatrixXd result(n, n + 1);
        result.col(n) = Eigen::Map<const Eigen::VectorXd>(to_vector(ctx, rhs.cspan()).data(), n);
        for (Index j = 0; j < n; ++j) {
          std::vector<double> unit(static_cast<std::size_t>(n), 0.0);
          unit[static_cast<std::size_t>(j)] = 1;
          const auto x = make_array(ctx, unit);
          system.multiply(x.cspan(), phi.span());
          result.col(j) = Eigen::Map<const Eigen::VectorXd>(to_vector(ctx, phi.cspan()).data(), n);
        }
        return result;
      };
      const Eigen::MatrixXd found = assembled();
      CHECK(found == assembled());

      DenseHeart dense(model);
      dense.phi = Eigen::Map<const Eigen::VectorXd>(start.phi.data(), n);
      const Eigen::VectorXd old_r = Eigen::Map<const Eigen::VectorXd>(start.r.data(), model.mesh.tet_count());
      const auto [residual, tangent] = dense.linearised(dt, 0.5, dense.phi, old_r);
      const double scale = tangent.cwiseAbs().maxCoeff();
      CHECK((found.leftCols(n) - tangent).cwiseAbs().maxCoeff() <= 1e-13 * scale);
      CHECK(found.leftCols(n) == Eigen::MatrixXd(found.leftCols(n).transpose()));
      const Eigen::VectorXd expected = tangent * dense.phi - residual;
      CHECK((found.col(n) - expected).cwiseAbs().maxCoeff() <= 1e-13 * scale);
    }
  }
}

TEST_BOTH("a step that the reaction is too fast for is refused, and leaves the heart as it was", "[heart]") {
  const HeartModel model = small_heart(4, 4);
  Monodomain<S> heart(ctx, model, dt, sharp_options(), AssemblyKind::in_place, sharp_newton());
  run(heart, 0, 6);
  const heart::HeartState before = heart.state();
  transient::Shares shares;
  transient::SolveTotals totals;
  const double limit = 1 / heart::steepest_slope(model.tissue);
  CHECK(limit == Approx(4.9).epsilon(0.01));
  const StepOutcome outcome = heart.step(3 * limit, rates(0.5), shares, totals);
  CHECK_FALSE(outcome.accepted);
  CHECK(outcome.refusal != "");
  const heart::HeartState after = heart.state();
  CHECK(after.phi == before.phi);
  CHECK(after.r == before.r);
  run(heart, 6, 8);
}

TEST_BOTH("a heart that goes on from a kept state has the bits of one that never stopped", "[heart]") {
  const HeartModel model = small_heart(5, 6);
  for (const char* precond : {"jacobi", "fsai"}) {
    INFO(precond);
    const SystemOptions options = sharp_options("ehyb", precond);
    Monodomain<S> whole(ctx, model, dt, options, AssemblyKind::in_place, {});
    run(whole, 0, 10);
    const heart::HeartState kept = whole.state();
    run(whole, 10, 20);
    Monodomain<S> resumed(ctx, model, dt, options, AssemblyKind::in_place, {});
    resumed.set_state(kept);
    run(resumed, 10, 20);
    const heart::HeartState a = whole.state(), b = resumed.state();
    CHECK(a.phi == b.phi);
    CHECK(a.r == b.r);
    CHECK(a.previous == b.previous);
  }
}

TEST_ON_HOST("another code's solver in the system's place takes the same steps, and its failures refuse them",
             "[heart]") {
  const HeartModel model = small_heart(5, 6);
  const fem::HostCsr pattern = heart::assemble_conduction(ctx, model.mesh, model.fibers, model.conductivity);
  Monodomain<Space::host> own(ctx, model, dt, sharp_options(), AssemblyKind::in_place, sharp_newton());
  Monodomain<Space::host> other(ctx, model, dt, sharp_options(), AssemblyKind::in_place, sharp_newton());
  const Slots<double, Space::host> slots = other.system().in_place().matrix();
  int calls = 0;
  Status ending = Status::converged;
  other.solve_with([&](Span<const double, Space::host> rhs, Span<double, Space::host> x, const StopCriterion& stop) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(pattern.rows, pattern.rows);
    for (Index i = 0; i < pattern.rows; ++i) {
      for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
        a(i, pattern.col[k]) = slots.values.data[k];  // csr keeps them in their order
      }
    }
    const Eigen::Map<const Eigen::VectorXd> b(rhs.data, rhs.size);
    Eigen::Map<Eigen::VectorXd> solution(x.data, x.size);
    SolveReport report;
    report.status = ending;
    report.initial_residual = (b - a * solution).norm();
    CHECK(stop.rel_tol == 0);
    CHECK(stop.abs_tol > 0);
    if (report.initial_residual <= stop.abs_tol) return report;
    solution = a.llt().solve(b);
    report.iterations = 1;
    ++calls;
    return report;
  });
  run(own, 0, 20);
  run(other, 0, 20);
  CHECK(calls >= 20);
  CHECK(farthest(other.in_mesh_order(other.phi()), own.in_mesh_order(own.phi())) <= 1e-9);

  transient::Shares shares;
  transient::SolveTotals totals;
  ending = Status::max_iterations;
  const heart::HeartState before = other.state();
  const StepOutcome outcome = other.step(dt, rates(1), shares, totals);
  CHECK_FALSE(outcome.accepted);
  CHECK(outcome.refusal.find("the solver ends with") == 0);
  CHECK(other.state().phi == before.phi);
  other.solve_with({});
  const int calls_so_far = calls;
  run(other, 20, 22);
  run(own, 20, 22);
  CHECK(calls == calls_so_far);
  CHECK(farthest(other.in_mesh_order(other.phi()), own.in_mesh_order(own.phi())) <= 1e-9);
}

TEST_BOTH("backward Euler is of first order in time", "[heart]") {
  const HeartModel model = small_heart(4, 4);
  // Without a stimulus that jumps: excited from the start, then left alone.
  const auto after = [&](int steps) {
    Monodomain<S> heart(ctx, model, 8.0 / steps, sharp_options(), AssemblyKind::in_place, sharp_newton());
    heart::HeartState state = heart.state();
    for (std::size_t i = 0; i < state.phi.size(); ++i) state.phi[i] = model.mesh.nodes[i][0] < 2 ? 0.9 : 0.2;
    heart.set_state(state);
    transient::Shares shares;
    transient::SolveTotals totals;
    for (int k = 0; k < steps; ++k) REQUIRE(heart.step(8.0 / steps, {}, shares, totals).accepted);
    return heart.in_mesh_order(heart.phi());
  };
  const auto fine = after(1280);
  const double coarse_error = farthest(after(20), fine), half_error = farthest(after(40), fine);
  const double order = std::log2(coarse_error / half_error);
  INFO("errors " << coarse_error << ", " << half_error);
  CHECK(order > 0.85);
  CHECK(order < 1.2);
}

TEST_BOTH("a step begins where the voltage goes if it goes on as it did", "[heart]") {
  const HeartModel model = small_heart(4, 4);
  const double step = 0.05;
  Monodomain<S> heart(ctx, model, step, sharp_options(), AssemblyKind::in_place, sharp_newton());
  heart::HeartState state = heart.state();
  for (std::size_t i = 0; i < state.phi.size(); ++i) state.phi[i] = model.mesh.nodes[i][0] < 2 ? 0.9 : 0.2;
  heart.set_state(state);
  transient::Shares shares;
  transient::SolveTotals totals;
  for (int k = 0; k < 40; ++k) REQUIRE(heart.step(step, {}, shares, totals).accepted);
  state = heart.state();
  // The residual that the next step begins with: from the line through the last two voltages, and from the last
  // alone.
  const auto first_residual = [&](bool with_previous) {
    heart::HeartState from = state;
    if (!with_previous) from.previous_dt = 0;
    from.expected_residual.clear();
    heart.set_state(from);
    REQUIRE(heart.step(step, {}, shares, totals).accepted);
    return heart.state().expected_residual.at(0);
  };
  const double line = first_residual(true), last = first_residual(false);
  INFO("residuals " << line << ", " << last);
  CHECK(line < 0.2 * last);
}

TEST_CASE("the tangent at rest is conduction and a lumped share of the mass, bit for bit", "[heart]") {
  const HeartModel model = small_heart(7, 6);
  const Context<Space::host> one(1), five(5);
  const fem::HostCsr conduction = heart::assemble_conduction(one, model.mesh, model.fibers, model.conductivity);
  const fem::HostCsr mass = fem::assemble_mass(one, model.mesh);
  const fem::HostVector tangent =
      heart::resting_tangent(five, model.mesh, fem::node_tets(five, model.mesh), conduction, model.tissue, 0.25);
  REQUIRE(tangent.size() == mass.nnz());
  const double rate = 1 / 0.25 + model.tissue.c * model.tissue.alpha / model.tissue.time_unit;
  for (Index i = 0; i < mass.rows; ++i) {
    for (Offset k = mass.row_ptr[i]; k < mass.row_ptr[i + 1]; ++k) {
      REQUIRE(tangent[k] == conduction.val[k] + rate * mass.val[k] * (mass.col[k] == i ? 10.0 / 16 : 20.0 / 16));
    }
  }
}
