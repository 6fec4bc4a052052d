// SPDX-License-Identifier: Apache-2.0
// A few iterations of CG on the errors of tied nodes.
#include <purlin/precond/amg/chebyshev_trial.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/core/random.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/strength.hpp>
#include <purlin/precond/amg/tied_nodes.hpp>

namespace purlin::detail {
namespace {

constexpr double most_energy = 1.0 / 16, most_left = 0.3;
constexpr int trial_iterations = 6;
constexpr std::uint64_t signs_seed = 22;

// An error e of the first level, and the norm of D^(1/2) e, D the norms of A's diagonal blocks.
template <class T>
class TrialError {
 public:
  // Random signs on the rows of tied nodes, 0 elsewhere; on all rows where none are tied.
  TrialError(const HostContext& ctx, const HostBlockCsr& level, Span<const Index, Space::host> old_of_new)
      : e(ctx, level.scalar_rows()), weight_(ctx, e.size()), weighted_(ctx, e.size()) {
    const std::vector<double> diagonal = diagonal_norms(ctx, level);
    const std::vector<unsigned char> tied = tied_nodes(ctx, level, diagonal, tied_couplings(level.row_block)[0]);
    const bool everywhere = std::find(tied.begin(), tied.end(), 1) == tied.end();
    fill_random<T, Space::host>(ctx, RandomKind::sign, signs_seed, 0, weighted_.span());
    parallel_for(ctx, e.size(), [&](std::int64_t i) {
      const std::int64_t row = old_of_new.size > 0 ? old_of_new[i] : i, node = row / level.row_block;
      weight_.data()[i] = static_cast<T>(diagonal[node]);
      e.data()[i] = everywhere || tied[node] != 0 ? weighted_.data()[row] : T(0);
    });
  }
  double norm(const HostContext& ctx) {
    parallel_for(ctx, e.size(), [&](std::int64_t i) { weighted_.data()[i] = weight_.data()[i] * e.data()[i]; });
    double square = 0;
    dot(ctx, e.cspan(), weighted_.cspan(), &square);
    return std::sqrt(square);
  }

  Array<T, Space::host> e;

 private:
  Array<T, Space::host> weight_, weighted_;
};

}  // namespace

template <class T>
bool chebyshev_suffices(const HostContext& ctx, const AmgCycle<T, Space::host>& cycle, const HostBlockCsr& level) {
  constexpr Space H = Space::host;
  const MatrixOperator<T, H>& a = *cycle.finest();
  TrialError<T> error(ctx, level, cycle.old_of_new());
  const std::int64_t n = a.rows();
  Array<T, H> r(ctx, n), z(ctx, n), p(ctx, n), q(ctx, n);
  const auto product = [&](const Array<T, H>& x, Array<T, H>& y, double* xy) {
    a.apply_dot(ctx, x.cspan(), y.span(), xy);
  };
  double start = 0, energy = 0, rz = 0, pq = 0;
  // One cycle takes what every smoother takes away.
  product(error.e, r, &energy);
  cycle.template apply<T>(ctx, r.cspan(), z.span(), nullptr);
  axpy(ctx, T(-1), z.cspan(), error.e.span());
  product(error.e, r, &start);
  if (!(start > 0)) return true;
  const double norm = error.norm(ctx);
  const auto reduced_to = [&](double factor) { return energy <= factor * factor * start; };
  for (int i = 1; i <= trial_iterations; ++i) {
    const double before = rz;
    cycle.template apply<T>(ctx, r.cspan(), z.span(), &rz);
    axpby(ctx, T(1), z.cspan(), static_cast<T>(i == 1 ? 0 : rz / before), p.span());
    product(p, q, &pq);
    const T step = static_cast<T>(rz / pq);
    axpy(ctx, -step, p.cspan(), error.e.span());
    axpy(ctx, -step, q.cspan(), r.span());
    dot(ctx, error.e.cspan(), r.cspan(), &energy);
    if (reduced_to(most_energy) && error.norm(ctx) <= most_left * norm) return true;
    if (!reduced_to(std::pow(most_energy, static_cast<double>(i) / trial_iterations))) return false;
  }
  return false;
}

#define X(T, S) template bool chebyshev_suffices(const HostContext&, const AmgCycle<T, S>&, const HostBlockCsr&);
PURLIN_FOR_TYPES(X, Space::host)
#undef X

}  // namespace purlin::detail
