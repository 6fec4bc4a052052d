// SPDX-License-Identifier: Apache-2.0
// CG's own steps, captured twice.
#include "cg_loops_device.hpp"

#include <limits>

#include <newel/core/vector_ops.hpp>

namespace newel::bench {

using namespace detail;

CgLoops::CgLoops(const Context<Space::device>& ctx, const LinearOperator<double, Space::device>& A,
                 const LinearOperator<double, Space::device>& D, Span<const double, Space::device> b)
    : ctx_(ctx),
      A_(A),
      D_(D),
      b_(b),
      x_(ctx, A.rows()),
      r_(ctx, A.rows()),
      p_(ctx, A.rows()),
      q_(ctx, A.rows()),
      state_(ctx, 1) {
  start(1);
  iterate();
  poll();
  pieces_.capture(ctx_.stream(), [&] {
    for (int k = 0; k < piece; ++k) iterate();
  });
  while_ = std::make_unique<WhileGraph>(ctx_, &state_.data()->monitor, [&] { iterate(); });
}

// x = p = 0, r = b, rho = r.D r
void CgLoops::start(int iterations) {
  CgState first{};
  first.rho_old = std::numeric_limits<double>::infinity();
  first.preconditioned = true;
  first.monitor.max_iterations = iterations;
  CgState* const s = state_.data();
  fill<double>(ctx_, 0.0, x_.span());
  fill<double>(ctx_, 0.0, p_.span());
  copy<double>(ctx_, b_, r_.span());
  sweep(ctx_, r_.size(), CgStart<double>{first, s, r_.data()});
  D_.apply_dot(ctx_, r_.cspan(), q_.span(), &s->rz);
}

void CgLoops::iterate() {
  CgState* const s = state_.data();
  const std::int64_t n = r_.size();
  const double* const d = D_.diagonal().data;
  sweep(ctx_, n, CgDirection<double, true>{s, d, r_.data(), p_.data(), x_.data()});  // x += alpha p, p = D r + beta p
  A_.apply_dot(ctx_, p_.cspan(), q_.span(), &s->pq);                                 // q = A p, p.q
  sweep(ctx_, n, CgUpdate<double, true>{s, nullptr, d, q_.data(), r_.data()});       // r -= alpha q, |r|, r.D r
}

const MonitorState& CgLoops::poll() {
  copy<CgState>(ctx_, state_.cspan(), Span<CgState, Space::host>(seen_.get(), 1));
  ctx_.synchronize();
  return seen_.get()->monitor;
}

double CgLoops::run_pieces(int iterations) {
  start(iterations);
  do {
    pieces_.launch(ctx_.stream());
  } while (poll().running());
  return seen_.get()->monitor.residual;
}

double CgLoops::run_while(int iterations) {
  start(iterations);
  while_->launch();
  return poll().residual;
}

}  // namespace newel::bench
