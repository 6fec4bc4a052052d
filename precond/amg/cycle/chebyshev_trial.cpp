// SPDX-License-Identifier: Apache-2.0
// A few iterations of CG on the errors of tied nodes.
#include "precond/amg/cycle/chebyshev_trial.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "precond/amg/setup/strength.hpp"
#include "precond/amg/setup/tied_nodes.hpp"

namespace newel::detail {
namespace {

constexpr double most_energy = 1.0 / 16, most_left = 0.3;
constexpr int most_iterations = 6;
constexpr std::uint64_t signs_seed = 22;

// The norms of A's diagonal blocks, in which the nodes have the hierarchy's numbering and vectors that of the cycle.
template <class T>
class TiedErrors {
 public:
  TiedErrors(const HostContext& ctx, const SmootherTrial<T>& of)
      : ctx_(ctx),
        level_(of.level),
        old_of_new_(of.old_of_new),
        diagonal_(of.diagonal),
        weighted_(ctx, of.level.scalar_rows()) {}

  // Random signs on the rows of tied nodes, 0 elsewhere; on all rows where none are tied.
  Array<T, Space::host> start() const {
    const std::vector<unsigned char> tied = tied_nodes(ctx_, level_, diagonal_, tied_couplings(level_.row_block)[0]);
    double some = std::find(tied.begin(), tied.end(), 1) == tied.end() ? 0 : 1;
    max_over_ranks(ctx_, &some, 1);
    const bool everywhere = some == 0;
    Array<T, Space::host> e(ctx_, weighted_.size()), signs(ctx_, weighted_.size());
    fill_random<T, Space::host>(ctx_, RandomKind::sign, signs_seed, 0, signs.span());
    parallel_for(ctx_, e.size(), [&](std::int64_t i) {
      const std::int64_t row = row_of(i);
      e.data()[i] = everywhere || tied[row / level_.row_block] != 0 ? signs.data()[row] : T(0);
    });
    return e;
  }

  // Of D^(1/2) e, D those norms.
  double norm(const Array<T, Space::host>& e) {
    parallel_for(ctx_, e.size(), [&](std::int64_t i) {
      weighted_.data()[i] = static_cast<T>(diagonal_[row_of(i) / level_.row_block]) * e.data()[i];
    });
    double square = 0;
    dot(ctx_, e.cspan(), weighted_.cspan(), &square);
    return std::sqrt(square);
  }

 private:
  std::int64_t row_of(std::int64_t i) const { return old_of_new_.size > 0 ? old_of_new_[i] : i; }

  const HostContext& ctx_;
  const HostBlockCsr& level_;
  Span<const Index, Space::host> old_of_new_;
  const std::vector<double>& diagonal_;
  Array<T, Space::host> weighted_;
};

}  // namespace

template <class T>
bool chebyshev_suffices(const HostContext& ctx, const AmgCycle<T, Space::host>& cycle, const HostBlockCsr& level) {
  using Vector = Array<T, Space::host>;
  return chebyshev_suffices<T>(
      ctx,
      {[&](const Vector& x, Vector& y) { cycle.finest()->apply(ctx, T(1), x.cspan(), T(0), y.span()); },
       [&](Span<const T, Space::host> b, Span<T, Space::host> x) { cycle.template apply<T>(ctx, b, x, nullptr); },
       level, diagonal_norms(ctx, level), cycle.old_of_new()});
}

template <class T>
bool chebyshev_suffices(const HostContext& ctx, const SmootherTrial<T>& of) {
  TiedErrors<T> errors(ctx, of);
  CycleTrial<T, Space::host> trial(ctx, of.a, of.m, errors.start());
  const double norm = errors.norm(trial.error());
  for (int i = 1; i <= most_iterations; ++i) {
    trial.iterate();
    const double left = trial.left();
    if (left <= most_energy && errors.norm(trial.error()) <= most_left * norm) return true;
    if (!(left <= std::pow(most_energy, static_cast<double>(i) / most_iterations))) return false;
  }
  return false;
}

#define X(T, S)                                                                                     \
  template bool chebyshev_suffices(const HostContext&, const AmgCycle<T, S>&, const HostBlockCsr&); \
  template bool chebyshev_suffices(const HostContext&, const SmootherTrial<T>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
