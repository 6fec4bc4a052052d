// SPDX-License-Identifier: Apache-2.0
/// A system whose other operators have costs that the test makes up.
#pragma once

#include "tests/solver/problem.hpp"

#include <newel/precond/registry.hpp>
#include "solver/system/solve_session.hpp"

namespace newel::testing {

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

// CSR and Jacobi, solved by CG.
template <Space S>
std::unique_ptr<detail::Operators<double, S>> jacobi_operators(const Context<S>& ctx, const CsrView<double, S>& a) {
  SystemOptions options = system_options("auto", "jacobi", "csr");
  auto made = std::make_unique<detail::Operators<double, S>>(ctx, options, SystemParts<double, S>{});
  made->A = make_spmv(ctx, a, made->order, options.spmv);
  made->M = make_precond(ctx, a, made->order, options.precond, options.spmv);
  made->chosen.solvers.order = {"cg"};
  made->chosen.format.format = "csr";
  return made;
}

// With costs that the test makes up. The stronger one is another of the table, or "bad", a diagonal matrix that is
// far from any inverse, or "stalls", FSAI of two bodies of which it knows only one, or "same", which is Jacobi once
// more.
template <Space S>
class MadeUpAlternatives final : public detail::Alternatives, private detail::Forecasts {
 public:
  MadeUpAlternatives(detail::Operators<double, S>& of, const CsrView<double, S>& a, const std::string& stronger,
                     double price)
      : s_(of), a_(a) {
    detail::PrecondOutlook costs;
    costs.name = stronger;
    costs.iteration_seconds = costs.now_seconds = 1e-3;
    outlooks_.present = costs;
    costs.build_seconds = price;
    costs.iterations = [](double simple) { return simple / 2; };
    outlooks_.stronger = {costs};
  }

  detail::Forecasts& forecasts() override { return *this; }
  bool take_stronger(const std::string& name, bool) override {
    taken = true;
    if (name == "refused") return false;
    weaker_ = std::exchange(s_.M, made(name));
    s_.options.precond.name = name;
    return true;
  }
  void restore() override {
    s_.M = std::move(weaker_);
    s_.options.precond.name = "jacobi";
    ++restored;
  }
  void settle() override { weaker_.reset(); }
  bool leave_stronger(int) override {
    s_.M = made("jacobi");
    s_.options.precond.name = "jacobi";
    ++left;
    return true;
  }
  bool take_format(const std::string&) override {
    const double price = std::exchange(price_elsewhere_, 0);
    if (price == 0) return false;
    outlooks_.present.iteration_seconds = outlooks_.present.now_seconds = 1e-3;
    outlooks_.stronger[0].build_seconds = price;
    return true;
  }

  void scale_estimates(double times) { estimates_times_ = times; }
  // An iteration of the present one takes `seconds` here, and as long as it did in another format.
  void be_slower_than_another_format(double seconds, double price) {
    price_elsewhere_ = price;
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
  const detail::PrecondOutlooks* stronger_preconditioners(double) override { return taken ? nullptr : &outlooks_; }
  std::optional<detail::FollowedPrecond> followed_preconditioner() const override {
    if (s_.options.precond.name == "jacobi") return std::nullopt;
    return detail::FollowedPrecond{outlooks_.stronger[0], outlooks_.present};
  }
  double estimate_scale() const override { return estimates_times_; }
  const FormatChoice* format_choice() override { return price_elsewhere_ > 0 ? &formats_ : nullptr; }

  OperatorPtr<double, S> made(const std::string& name) {
    PrecondOptions options;
    options.name = name == "bad" || name == "same" ? "jacobi" : name == "stalls" ? "fsai" : name;
    OperatorPtr<double, S> M = make_precond(s_.ctx, a_, s_.order, options, SpmvOptions{"csr"});
    if (name == options.name || name == "same") return M;
    M->refresh(s_.ctx, upload(s_.ctx, name == "bad" ? noise() : wrong_half()).cspan());
    s_.ctx.synchronize();
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

  detail::Operators<double, S>& s_;
  CsrView<double, S> a_;
  OperatorPtr<double, S> weaker_;
  double estimates_times_ = 1, price_elsewhere_ = 0;
  FormatChoice formats_;
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
  MadeUpAlternatives<S>* alternatives;

  explicit Moving(const std::string& stronger, double price = 5e-3)  // ten iterations' gain
      : a(stronger == "stalls" ? two_bodies() : fem_matrix("generate:diffusion:10")), b_host(rhs(stronger)) {
    state.rows = a.rows;
    if (S == Space::device) state.stop.check_every = 16;  // as often as separate kernels are asked
    state.operators = jacobi_operators(ctx, there.wide());
    auto made = std::make_unique<MadeUpAlternatives<S>>(*state.operators, there.wide(), stronger, price);
    alternatives = made.get();
    state.alternatives = std::move(made);
    state.make_vectors();
  }
  // The first of two bodies has by far the larger residual.
  std::vector<double> rhs(const std::string& stronger) const {
    std::vector<double> values = product_oracle(a, random_vector<double>(a.rows, 3));
    if (stronger != "stalls") return values;
    for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] *= 1e4;
    return values;
  }
  detail::SystemMoves<double, S> moves() { return detail::SystemMoves<double, S>(state); }
  SolveReport solve() {
    SolveReport report = detail::solve<double, S>(state, b.cspan(), x.span(), {});
    CHECK(report.converged());
    CHECK(residual_norm(a, download(ctx, x), b_host) <= 1.01e-8 * norm_oracle(b_host));
    return report;
  }
};

/// The seven-point differences of a long bar, of 8 x 8 points across.
inline HostCsr bar_matrix(Index length) {
  constexpr Index across = 8, layer = across * across;
  MapRows rows(static_cast<std::size_t>(layer * length));
  for (Index i = 0; i < layer * length; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row[i] = 6;
    if (i % across > 0) row[i - 1] = -1;
    if (i % across + 1 < across) row[i + 1] = -1;
    if (i % layer >= across) row[i - across] = -1;
    if (i % layer + across < layer) row[i + across] = -1;
    if (i >= layer) row[i - layer] = -1;
    if (i + layer < layer * length) row[i + layer] = -1;
  }
  for (auto& row : rows) {  // held at both ends only
    double others = 0;
    for (const auto& [j, value] : row) others += value < 0 ? -value : 0;
    row[static_cast<Index>(&row - rows.data())] = others;
  }
  for (Index i = 0; i < layer; ++i) {
    rows[static_cast<std::size_t>(i)][i] += 1;
    rows[rows.size() - 1 - static_cast<std::size_t>(i)][layer * length - 1 - i] += 1;
  }
  return from_rows(layer * length, rows);
}

}  // namespace newel::testing
