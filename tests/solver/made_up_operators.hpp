// SPDX-License-Identifier: Apache-2.0
/// A system whose operators have costs that the test makes up.
#pragma once

#include "tests/catch.hpp"
#include "tests/solver/problem.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <newel/precond/registry.hpp>
#include "solver/system/system_state.hpp"

namespace newel::testing {

// The second differences of a line: as many iterations as rows.
inline HostCsr line_matrix(Index n) {
  Rows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row[i] = 2;
    if (i > 0) row[i - 1] = -1;
    if (i + 1 < n) row[i + 1] = -1;
  }
  return from_rows(n, rows);
}

// The same mesh twice, without a connection.
inline HostCsr two_bodies() {
  const HostCsr one = fem_matrix("generate:diffusion:10");
  HostCsr both = one;
  both.rows = both.cols = 2 * one.rows;
  for (Index i = 1; i <= one.rows; ++i) both.row_ptr.push_back(one.row_ptr[i] + one.nnz());
  for (const Index j : one.col) both.col.push_back(one.rows + j);
  both.val.insert(both.val.end(), one.val.begin(), one.val.end());
  return both;
}

// With costs that the test makes up. CSR and Jacobi; the stronger one is another of the table, or "bad", a diagonal
// matrix that is far from any inverse, or "stalls", FSAI of two bodies of which it knows only one, or "same", which
// is Jacobi once more.
template <Space S>
class MadeUpOperators final : public detail::SystemOperators<double, S> {
 public:
  MadeUpOperators(const Context<S>& ctx, const CsrView<double, S>& a, const std::string& stronger, double price)
      : ctx_(ctx), a_(a), A_(make_spmv(ctx, a, order_, SpmvOptions{"csr"})), M_(made("jacobi")) {
    detail::PrecondOutlook costs;
    costs.name = stronger;
    costs.iteration_seconds = costs.now_seconds = 1e-3;
    outlooks_.present = costs;
    costs.build_seconds = price;
    costs.iterations = [](double simple) { return simple / 2; };
    outlooks_.stronger = {costs};
  }

  const RowOrder<S>& order() const override { return order_; }
  const LinearOperator<double, S>& matrix() const override { return *A_; }
  const LinearOperator<double, S>* preconditioner() const override { return M_.get(); }
  const std::string& preconditioner_name() const override { return name_; }
  detail::SolverChain<double, S> make_chain() override {
    return {ctx_, detail::chain_steps<double, S>(ctx_, A_->rows(), {"cg"}, {}), *A_, M_.get(), false};
  }
  void refresh(Span<const double, S>, RefreshScope) override {}
  Slots<double, S> matrix_slots() override { return {}; }
  Slots<double, S> preconditioner_slots() override { return {}; }
  void slots_written(RefreshScope) override {}
  void move_nodes(std::shared_ptr<const NodeCoordinates>) override { FAIL("nothing has moved"); }
  bool sound() const override { return true; }
  SystemInfo info() override { return {}; }
  detail::PhaseSeconds setup_seconds() const override { return {}; }

  const detail::PrecondOutlooks* stronger_preconditioners(double) override { return taken ? nullptr : &outlooks_; }
  bool take_stronger_preconditioner(const std::string& name) override {
    taken = true;
    if (name == "refused") return false;
    weaker_ = std::move(M_);
    M_ = made(name);
    name_ = name;
    return true;
  }
  void restore_preconditioner() override {
    M_ = std::move(weaker_);
    name_ = "jacobi";
    ++restored;
  }
  void settle_preconditioner() override { weaker_.reset(); }
  std::optional<detail::FollowedPrecond> followed_preconditioner() const override {
    if (name_ == "jacobi") return std::nullopt;
    return detail::FollowedPrecond{outlooks_.stronger[0], outlooks_.present};
  }
  bool leave_preconditioner(int) override {
    M_ = made("jacobi");
    name_ = "jacobi";
    ++left;
    return true;
  }
  double estimate_scale() const override { return estimates_times_; }
  void scale_estimates(double times) { estimates_times_ = times; }
  const FormatChoice* format_choice() override { return other_format_ ? &formats_ : nullptr; }
  std::unique_ptr<detail::SystemOperators<double, S>> in_format(const std::string&) override {
    return std::move(other_format_);
  }
  // An iteration of the present one takes `seconds` here, and as long as it did in another format.
  void be_slower_than_another_format(double seconds, double price) {
    other_format_ = std::make_unique<MadeUpOperators>(ctx_, a_, outlooks_.stronger[0].name, price);
    outlooks_.present.iteration_seconds = outlooks_.present.now_seconds = seconds;
  }
  void set_refresh_seconds(double seconds) { outlooks_.stronger[0].refresh_seconds = seconds; }
  // The stronger one was passed over for the present one, which takes a tenth of the simple one's iterations.
  void pass_over_stronger() {
    outlooks_.present.iterations = [](double simple) { return 0.1 * simple; };
    outlooks_.stronger[0].passed_over = true;
  }
  void set_iteration_seconds(double seconds) {
    outlooks_.stronger[0].iteration_seconds = outlooks_.stronger[0].now_seconds = seconds;
  }

  bool taken = false;
  int restored = 0, left = 0;

 private:
  OperatorPtr<double, S> made(const std::string& name) {
    PrecondOptions options;
    options.name = name == "bad" || name == "same" ? "jacobi" : name == "stalls" ? "fsai" : name;
    OperatorPtr<double, S> M = make_precond(ctx_, a_, order_, options, SpmvOptions{"csr"});
    if (name == options.name || name == "same") return M;
    M->refresh(ctx_, upload(ctx_, name == "bad" ? noise() : wrong_half()).cspan());
    ctx_.synchronize();
    return M;
  }
  std::vector<double> noise() const {
    std::vector<double> values;
    for (const double value : random_vector<double>(a_.nnz(), 7)) values.push_back(std::exp(12 * value));
    return values;
  }
  // The matrix, with diagonal entries in the second half of the rows that are far too large.
  std::vector<double> wrong_half() const {
    HostCsr a = two_bodies();
    const std::vector<double> noise = random_vector<double>(a.rows, 7);
    for (Index i = a.rows / 2; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (a.col[k] == i) a.val[k] *= std::exp(6 + 6 * noise[static_cast<std::size_t>(i)]);
      }
    }
    return a.val;
  }

  Context<S> ctx_;
  CsrView<double, S> a_;
  RowOrder<S> order_;
  OperatorPtr<double, S> A_, M_, weaker_;
  std::string name_ = "jacobi";
  double estimates_times_ = 1;
  FormatChoice formats_;
  std::unique_ptr<MadeUpOperators> other_format_;
  detail::PrecondOutlooks outlooks_;
};

template <Space S>
struct Moving {
  Context<S> ctx = make_context<S>();
  HostCsr a;
  std::vector<double> b_host;
  Uploaded<double, S> there = upload_matrix<double>(ctx, a);
  Array<double, S> b = upload(ctx, b_host), x = upload(ctx, std::vector<double>(b_host.size(), 0.0));
  detail::SystemState<double, S> state{ctx, SystemOptions{}};
  MadeUpOperators<S>* operators;

  explicit Moving(const std::string& stronger, double price = 5e-3)  // ten iterations' gain
      : a(stronger == "stalls" ? two_bodies() : fem_matrix("generate:diffusion:10")), b_host(rhs(stronger)) {
    auto made = std::make_unique<MadeUpOperators<S>>(ctx, there.wide(), stronger, price);
    operators = made.get();
    state.rows = a.rows;
    if (S == Space::device) state.stop.check_every = 16;  // as often as separate kernels are asked
    state.operators = std::move(made);
    state.finish_setup();
  }
  // The first of two bodies has by far the larger residual.
  std::vector<double> rhs(const std::string& stronger) const {
    std::vector<double> values = product_oracle(a, random_vector<double>(a.rows, 3));
    if (stronger != "stalls") return values;
    for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] *= 1e4;
    return values;
  }
  SolveReport solve() {
    SolveReport report = state.solve(b.cspan(), x.span(), {});
    CHECK(report.converged());
    CHECK(residual_norm(a, download(ctx, x), b_host) <= 1.01e-8 * norm_oracle(b_host));
    return report;
  }
};

}  // namespace newel::testing
