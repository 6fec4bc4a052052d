// SPDX-License-Identifier: Apache-2.0
// Coefficients of smoothers, SPAI and FSAI as smoothers, and the largest eigenvalue of what they make of A.
#include "precond/amg/smooth/amg_smoother.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "precond/amg/blocks/opposite_blocks.hpp"
#include "precond/amg/blocks/symmetry_sum.hpp"
#include "precond/amg/setup/tied_nodes.hpp"
#include "precond/fsai/fsai.hpp"
#include "reorder/permute_pattern.hpp"

namespace newel::detail {
namespace {

constexpr int power_steps = 12;
constexpr std::uint64_t seed = 21;

constexpr double rounding = 1e-10;
// Coarse levels have a few such nodes for other reasons, where FSAI saves no iteration.
constexpr double most_entangled_below = 0.25;
// For an entry, of the local problems of SPAI. Quadratic elements in three dimensions take 6e3; the coarse levels of
// networks with hubs, which are nearly full, 1e6.
constexpr double most_spai_operations = 3e4;

// Whether each block is the transpose of its opposite, bit for bit.
bool is_symmetric(const HostContext& ctx, const HostBlockCsr& a) {
  const int b = a.row_block;
  return parallel_count<std::uint64_t>(ctx, a.pattern.rows, [&](Index i) {
           std::uint64_t sum = 0;
           for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
             const Index j = a.pattern.col[k];
             if (j >= a.pattern.rows) break;  // those of other ranks
             const double* const block = a.block(k);
             std::uint64_t content = 0;
             for (int r = 0; r < b; ++r) {
               for (int c = 0; c < b; ++c) {
                 std::uint64_t bits = 0;
                 std::memcpy(&bits, block + (i < j ? r * b + c : c * b + r), sizeof bits);
                 content = (content ^ content >> 32) * 0xbf58476d1ce4e5b9u + bits;
               }
             }
             sum += symmetry_term(i, j, content);
           }
           return sum;
         }) == 0;
}

// A row of SPAI is a least-squares problem with a column for each entry of the row, and a row for each of those that
// these reach, which are counted as if none was reached twice.
double spai_operations_of_entry(const HostContext& ctx, const HostBlockPattern& pattern, int block) {
  const auto length = [&](Index i) {
    return static_cast<std::uint64_t>(pattern.row_ptr[i + 1] - pattern.row_ptr[i]);
  };
  const auto operations = parallel_count<std::uint64_t>(ctx, pattern.rows, [&](Index i) {
    std::uint64_t reached = 0;
    for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
      if (pattern.col[k] < pattern.rows) reached += length(pattern.col[k]);  // the others are those of other ranks
    }
    return length(i) * length(i) * std::min<std::uint64_t>(reached, static_cast<std::uint64_t>(pattern.rows));
  });
  double sums[] = {static_cast<double>(operations), static_cast<double>(pattern.row_ptr[pattern.rows])};
  sum_over_ranks(ctx, sums, 2);
  return sums[1] == 0 ? 0 : static_cast<double>(block) * block * sums[0] / sums[1];
}

// Those of a device are not read.
template <Space S>
bool is_spai_slow(const Context<S>& ctx, const BlockCsr<S>& a) {
  if constexpr (S == Space::host) {
    return spai_operations_of_entry(ctx, a.pattern, a.row_block) > most_spai_operations;
  } else {
    static_cast<void>(ctx), static_cast<void>(a);
    return false;
  }
}

}  // namespace

SmootherSteps smoother_steps(AmgSmoother smoother, int degree, bool of_groups) {
  const bool chebyshev = smoother == AmgSmoother::chebyshev || smoother == AmgSmoother::fsai;
  if (is_sparse(smoother) && !of_groups) degree = (degree + 1) / 2;
  SmootherSteps steps;
  steps.first = smoother == AmgSmoother::ilut ? 1.0 : 4.0 / 3.0;
  for (int i = 1; i < degree; ++i) {
    if (chebyshev) {
      steps.next.emplace_back((2.0 * i - 1) / (2.0 * i + 3), (8.0 * i + 4) / (2.0 * i + 3));
    } else {
      steps.next.emplace_back(0.0, steps.first);
    }
  }
  return steps;
}

const char* name_of(AmgSmoother smoother) {
  constexpr const char* names[] = {"auto", "chebyshev", "jacobi", "spai", "fsai", "ilut"};
  return names[static_cast<std::size_t>(smoother)];
}

double antisymmetric_share(const HostContext& ctx, const HostBlockCsr& a) {
  double unsymmetric = is_symmetric(ctx, a) ? 0 : 1;  // assembled matrices are, but not Galerkin products
  max_over_ranks(ctx, &unsymmetric, 1);
  if (unsymmetric == 0) return 0;
  const HostBlockPattern& pattern = a.pattern;
  const int b = a.row_block;
  std::vector<double> all(static_cast<std::size_t>(pattern.rows)), skew(all.size());
  parallel_ranges(ctx, pattern.rows, [&](Index begin, Index end) {
    OppositeBlocks opposites(pattern, begin);
    for (Index i = begin; i < end; ++i) {
      double own_all = 0, own_skew = 0;
      for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
        const Index j = pattern.col[k];
        if (j >= pattern.rows) break;
        opposites.prefetch(k);
        if (j == i) continue;
        const Offset at = opposites.of(i, j);
        if (b == 1 && at >= 0) {
          const double here = a.val[k], difference = here - a.val[at];
          own_all += here * here;
          own_skew += difference * difference;
          continue;
        }
        const double* const opposite = at >= 0 ? a.block(at) : nullptr;
        for (int r = 0; r < b; ++r) {
          for (int c = 0; c < b; ++c) {
            const double here = a.block(k)[r * b + c], there = opposite == nullptr ? 0 : opposite[c * b + r];
            own_all += here * here;
            // What has no opposite is met once, where a pair is met twice.
            own_skew += (opposite == nullptr ? 2 : 1) * (here - there) * (here - there);
          }
        }
      }
      all[i] = own_all;
      skew[i] = own_skew;
    }
  });
  double sums[] = {std::accumulate(all.begin(), all.end(), 0.0), std::accumulate(skew.begin(), skew.end(), 0.0)};
  sum_over_ranks(ctx, sums, 2);
  return sums[0] == 0 ? 0 : std::sqrt(sums[1] / sums[0]) / 2;
}

double entangled_share(const HostContext& ctx, const HostBlockCsr& a) {
  const HostBlockPattern& pattern = a.pattern;
  const int b = a.row_block;
  const auto trace = [&](Offset k) {
    if (b == 1) return a.val[k];
    double sum = 0;
    for (int r = 0; r < b; ++r) sum += a.block(k)[r * (b + 1)];
    return sum;
  };
  // Signs are not guessable: twice what is positive is added up, without a branch.
  const Index own = parallel_count<Index>(ctx, pattern.rows, [&](Index i) {
    const Offset diagonal = diagonal_at(pattern, i);
    double twice = 0;
    const auto add = [&](Offset begin, Offset end) {
      for (Offset k = begin; k < end; ++k) {
        const double value = trace(k);
        twice += value + std::fabs(value);
      }
    };
    add(pattern.row_ptr[i], diagonal < 0 ? pattern.row_ptr[i + 1] : diagonal);
    if (diagonal >= 0) add(diagonal + 1, pattern.row_ptr[i + 1]);
    return twice > 2 * most_positive * (diagonal < 0 ? 0 : trace(diagonal));
  });
  double counts[] = {static_cast<double>(own), static_cast<double>(pattern.rows)};
  sum_over_ranks(ctx, counts, 2);
  return counts[1] == 0 ? 0 : counts[0] / counts[1];
}

template <Space S>
AmgSmoother choose_smoother(const Context<S>& ctx, const BlockCsr<S>& a, AmgSmoother asked, bool first) {
  if (asked != AmgSmoother::automatic) return asked;
  const double share = antisymmetric_share(ctx, a);
  if (share > most_antisymmetric) return is_spai_slow(ctx, a) ? AmgSmoother::jacobi : AmgSmoother::spai;
  const bool fsai = share <= rounding && entangled_share(ctx, a) >= (first ? most_entangled : most_entangled_below);
  return fsai ? AmgSmoother::fsai : AmgSmoother::chebyshev;
}

template <class T, Space S>
SparseSmoother<T, S> make_sparse_smoother(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                          const BlockCsr<S>& level, const RowOrder<S>& from_level,
                                          AmgSmoother smoother, bool symmetric, const SpmvOptions& spmv_options,
                                          bool product) {
  if (!is_sparse(smoother)) return {};
  PrecondOptions options;
  options.name = name_of(smoother);
  options.symmetric = symmetric;
  options.of<FsaiOptions>().symmetric_product = product;
  BlockCsr<S> groups;  // without values
  if (smoother == AmgSmoother::fsai) {
    if (auto pattern = tied_pattern(ctx, level)) groups.pattern = std::move(*pattern);
  }
  if (groups.pattern.rows == 0) return {make_precond(ctx, a, order, options, spmv_options), false};
  groups.row_block = groups.col_block = level.row_block;
  const ScalarPattern<S> entries = scalar_rows(ctx, groups);
  Pattern<S> whole;
  whole.rows = whole.cols = entries.rows;
  whole.row_ptr64 = entries.row_ptr.cspan();
  whole.col = entries.col.cspan();
  PermutedPattern<S> permuted;
  if (!from_level.natural()) {
    permuted = permute_pattern(ctx, whole, from_level.old_of_new.cspan(), from_level.new_of_old.cspan());
    whole.row_ptr64 = permuted.row_ptr.cspan();
    whole.col = permuted.col.cspan();
  }
  return {std::make_unique<FsaiOperator<T, S>>(ctx, a, order, options, spmv_options, &whole), groups_alone<S>};
}

template <class T, Space S>
double largest_eigenvalue(const Context<S>& ctx, const LinearOperator<T, S>& a, const LinearOperator<T, S>& s,
                          bool symmetric, Span<const Index, S> old_of_new) {
  Array<T, S> x(ctx, a.rows()), y(ctx, a.rows());
  Array<double, S> squares(ctx, power_steps + 1);
  fill_random<T, S>(ctx, RandomKind::sign, seed, 0, x.span());
  if (old_of_new.size > 0) {
    gather(ctx, x.cspan(), old_of_new, y.span());
    std::swap(x, y);
    ctx.synchronize();
  }
  // x^T A x, in which S A is symmetric where both are; else x^T x.
  for (int step = 0; step <= power_steps; ++step) {
    a.apply(ctx, T(1), x.cspan(), T(0), y.span());
    dot(ctx, x.cspan(), symmetric ? y.cspan() : x.cspan(), squares.data() + step);
    s.apply(ctx, T(1), y.cspan(), T(0), x.span());
  }
  const std::vector<double> found = to_vector(ctx, squares.cspan());
  double lambda = 1;
  for (std::size_t step = 1; step < found.size(); ++step) {
    const double now = std::sqrt(found[step] / found[step - 1]);
    if (std::isfinite(now) && now > 0) lambda = now;
  }
  return lambda;
}

#define X(T, S)                                                                                                   \
  template SparseSmoother<T, S> make_sparse_smoother(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                                     const BlockCsr<S>&, const RowOrder<S>&, AmgSmoother, bool,   \
                                                     const SpmvOptions&, bool);                                   \
  template double largest_eigenvalue(const Context<S>&, const LinearOperator<T, S>&, const LinearOperator<T, S>&, \
                                     bool, Span<const Index, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S) template AmgSmoother choose_smoother(const Context<S>&, const BlockCsr<S>&, AmgSmoother, bool);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
