// SPDX-License-Identifier: Apache-2.0
// Tentative prolongators, and their smoothing.
#include <purlin/precond/amg/prolongator.hpp>

#include <algorithm>
#include <cmath>

#include <purlin/core/parallel.hpp>
#include <purlin/precond/amg/pattern_rows.hpp>
#include <purlin/precond/amg/small_dense.hpp>
#include <purlin/reorder/exclusive_sum.hpp>

namespace purlin::detail {
namespace {

// The nodes of each aggregate, ascending.
struct Members {
  std::vector<Offset> begin;
  std::vector<Index> node;

  explicit Members(const Aggregates<Space::host>& aggregates)
      : begin(static_cast<std::size_t>(aggregates.count) + 1, 0) {
    for (const Index to : aggregates.of_node) {
      if (to >= 0) ++begin[to + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    node.resize(static_cast<std::size_t>(begin.back()));
    std::vector<Offset> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < aggregates.of_node.size(); ++i) {
      if (aggregates.of_node[i] >= 0) node[next[aggregates.of_node[i]]++] = static_cast<Index>(i);
    }
  }
};

// Q and R of an m x k matrix, row by row, which becomes Q. Returns the columns of zeros.
int orthonormalise(Index m, int k, std::vector<double>& q, double* r) {
  const auto dot = [&](int a, int b) {
    double sum = 0;
    for (Index i = 0; i < m; ++i) sum += q[i * k + a] * q[i * k + b];
    return sum;
  };
  std::fill(r, r + k * k, 0.0);
  int zeros = 0;
  for (int c = 0; c < k; ++c) {
    const double before = std::sqrt(dot(c, c));
    for (int pass = 0; pass < 2; ++pass) {
      for (int other = 0; other < c; ++other) {
        const double along = dot(other, c);
        r[other * k + c] += along;
        for (Index i = 0; i < m; ++i) q[i * k + c] -= along * q[i * k + other];
      }
    }
    const double length = std::sqrt(dot(c, c));
    const bool independent = length > dependent_length * before;
    zeros += independent ? 0 : 1;
    r[c * k + c] = independent ? length : 0;
    for (Index i = 0; i < m; ++i) q[i * k + c] = independent ? q[i * k + c] / length : 0;
  }
  return zeros;
}

// Where aggregate j stands in row i of the pattern; -1 where it does not.
Offset place_of(const HostBlockPattern& p, Index i, Index j) {
  for (Offset k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
    if (p.col[k] == j) return k;
  }
  return -1;
}

// A row of P while it is computed; what the pattern has no place for is collected as its product with R.
class SmoothedRow {
 public:
  SmoothedRow(int block, const Tentative<Space::host>& tentative, HostBlockCsr& p)
      : block_(block), k_(tentative.coarse.vectors), tentative_(tentative), p_(p), lost_(block * k_), part_(lost_) {}

  void begin(Index i) {
    node_ = i;
    std::fill(p_.block(p_.pattern.row_ptr[i]), p_.block(p_.pattern.row_ptr[i + 1]), 0.0);
    std::fill(lost_.begin(), lost_.end(), 0.0);
    any_lost_ = false;
  }
  // Adds a block x vectors matrix that belongs to `aggregate`.
  void add(Index aggregate, const std::vector<double>& values) {
    const Offset at = place_of(p_.pattern, node_, aggregate);
    if (at >= 0) {
      for (std::size_t e = 0; e < values.size(); ++e) p_.block(at)[e] += values[e];
    } else if (values.size() == 1) {
      any_lost_ = true;
      lost_[0] += values[0] * *coarse(aggregate);
    } else {
      any_lost_ = true;
      add_product(block_, k_, k_, values.data(), coarse(aggregate), lost_.data());
    }
  }
  // The smallest change (in the Frobenius norm) that gives P R what was lost: lost G^-1 R_j^T for each block, with
  // G = sum of R_j^T R_j.
  void end() {
    if (!any_lost_) return;
    std::vector<double> gram(static_cast<std::size_t>(k_) * k_, 0.0);
    for_blocks([&](Offset k) {
      const double* const r = coarse(p_.pattern.col[k]);
      add_transposed_product(k_, k_, k_, r, r, gram.data());
    });
    const std::vector<double> inverse = semidefinite_inverse(k_, gram);
    std::vector<double> weights(lost_.size(), 0.0);
    add_product(block_, k_, k_, lost_.data(), inverse.data(), weights.data());
    for_blocks([&](Offset k) {
      const double* const r = coarse(p_.pattern.col[k]);
      for (int row = 0; row < block_; ++row) {
        for (int c = 0; c < k_; ++c) {
          for (int l = 0; l < k_; ++l) p_.block(k)[row * k_ + c] += weights[row * k_ + l] * r[c * k_ + l];
        }
      }
    });
  }

 private:
  template <class F>
  void for_blocks(F&& f) {
    for (Offset k = p_.pattern.row_ptr[node_]; k < p_.pattern.row_ptr[node_ + 1]; ++k) f(k);
  }
  const double* coarse(Index aggregate) const {
    return tentative_.coarse.values.data() + Offset{aggregate} * k_ * k_;
  }

  int block_, k_;
  const Tentative<Space::host>& tentative_;
  HostBlockCsr& p_;
  Index node_ = 0;
  std::vector<double> lost_, part_;
  bool any_lost_ = false;
};

// f(aggregate, part) for the parts that a row of (I - omega D^-1 A) Q is the sum of, in order; a part is a block x
// vectors matrix, `part` room for one.
template <class F>
void for_parts(const HostBlockCsr& a, double omega, const Aggregates<Space::host>& aggregates,
               const Tentative<Space::host>& tentative, Index i, std::vector<double>& part, F&& f) {
  const int b = a.row_block, k = tentative.coarse.vectors;
  const auto node_values = static_cast<std::size_t>(b * k);
  const double* const q = tentative.q.data() + static_cast<std::size_t>(i) * node_values;
  part.assign(q, q + node_values);
  f(aggregates.of_node[i], part);
  const Offset diagonal = diagonal_at(a.pattern, i);
  if (diagonal < 0) return;
  for (Offset at = a.pattern.row_ptr[i]; at < a.pattern.row_ptr[i + 1]; ++at) {
    const Index j = a.pattern.col[at];
    if (aggregates.of_node[j] < 0) continue;
    if (node_values == 1) {
      const double d = a.val[diagonal];
      part[0] = d == 0 ? 0 : -omega / d * a.val[at] * tentative.q[j];
    } else {
      std::fill(part.begin(), part.end(), 0.0);
      add_product(b, b, k, a.block(at), tentative.q.data() + static_cast<std::size_t>(j) * node_values, part.data());
      for (int r = 0; r < b; ++r) {
        const double d = a.block(diagonal)[r * b + r];
        for (int c = 0; c < k; ++c) part[r * k + c] *= d == 0 ? 0 : -omega / d;
      }
    }
    f(aggregates.of_node[j], part);
  }
}

// A row of the smoothed prolongator with all of its blocks, in the order in which their aggregates are met.
class WholeRow {
 public:
  explicit WholeRow(std::size_t node_values) : node_values_(node_values) {}

  void begin() {
    aggregates_.clear();
    values_.clear();
  }
  void add(Index aggregate, const std::vector<double>& part) {
    const auto at = std::find(aggregates_.begin(), aggregates_.end(), aggregate) - aggregates_.begin();
    if (at == static_cast<std::ptrdiff_t>(aggregates_.size())) {
      aggregates_.push_back(aggregate);
      values_.insert(values_.end(), node_values_, 0.0);
    }
    for (std::size_t e = 0; e < node_values_; ++e)
      values_[static_cast<std::size_t>(at) * node_values_ + e] += part[e];
  }
  // The aggregates of `width` blocks at most, ascending, the first that was met among them.
  void append_largest(Index width, std::vector<Index>& columns) {
    const auto first = static_cast<std::ptrdiff_t>(columns.size());
    if (aggregates_.size() <= static_cast<std::size_t>(width)) {
      columns.insert(columns.end(), aggregates_.begin(), aggregates_.end());
    } else {
      order_.clear();
      for (std::size_t k = 0; k < aggregates_.size(); ++k) {
        double square = 0;
        for (std::size_t e = 0; e < node_values_; ++e) {
          square += values_[k * node_values_ + e] * values_[k * node_values_ + e];
        }
        order_.emplace_back(k == 0 ? -INFINITY : -static_cast<float>(square), aggregates_[k]);
      }
      std::sort(order_.begin(), order_.end());
      for (Index k = 0; k < width; ++k) columns.push_back(order_[static_cast<std::size_t>(k)].second);
    }
    std::sort(columns.begin() + first, columns.end());
  }

 private:
  std::size_t node_values_;
  std::vector<Index> aggregates_;
  std::vector<double> values_;
  std::vector<std::pair<float, Index>> order_;
};

}  // namespace

Tentative<Space::host> make_tentative(const HostContext& ctx, const Aggregates<Space::host>& aggregates, int block,
                                      const NearNull<Space::host>& near_null) {
  const int k = near_null.vectors;
  const Members members(aggregates);
  Tentative<Space::host> result;
  result.q.assign(near_null.values.size(), 0.0);
  result.coarse.vectors = k;
  result.coarse.values.resize(static_cast<std::size_t>(aggregates.count) * k * k);
  std::vector<int> zeros(static_cast<std::size_t>(aggregates.count));
  const std::int64_t node_values = std::int64_t{block} * k;
  parallel_blocks(ctx, aggregates.count, 64, [&](Index j) {
    const Offset first = members.begin[j], nodes = members.begin[j + 1] - first;
    std::vector<double> local(static_cast<std::size_t>(nodes * node_values));
    for (Offset n = 0; n < nodes; ++n) {
      const double* const from = near_null.values.data() + members.node[first + n] * node_values;
      std::copy(from, from + node_values, local.data() + n * node_values);
    }
    double* const r = result.coarse.values.data() + Offset{j} * k * k;
    zeros[j] = orthonormalise(static_cast<Index>(nodes * block), k, local, r);
    for (Offset n = 0; n < nodes; ++n) {
      const double* const from = local.data() + n * node_values;
      std::copy(from, from + node_values, result.q.data() + members.node[first + n] * node_values);
    }
  });
  for (const int count : zeros) result.missing += count;
  return result;
}

HostBlockCsr filter(const HostContext& ctx, const HostBlockCsr& a, const std::vector<unsigned char>& kept) {
  const HostBlockPattern& from = a.pattern;
  HostBlockCsr result;
  result.row_block = result.col_block = a.row_block;
  result.pattern.rows = result.pattern.cols = from.rows;
  result.pattern.row_ptr = Array<Offset, Space::host>(ctx, Offset{from.rows} + 1);
  result.pattern.row_ptr[from.rows] = 0;
  parallel_for(ctx, from.rows, [&](Index i) {
    Offset count = 0;
    for (Offset k = from.row_ptr[i]; k < from.row_ptr[i + 1]; ++k) count += kept[k];
    result.pattern.row_ptr[i] = count;
  });
  exclusive_sum(ctx, result.pattern.row_ptr);
  result.pattern.col = Array<Index, Space::host>(ctx, result.pattern.row_ptr[from.rows]);
  result.val = Array<double, Space::host>(ctx, result.pattern.blocks() * a.block_size());
  const int b = a.row_block, size = a.block_size();
  parallel_blocks(ctx, from.rows, 512, [&](Index i) {
    Offset at = result.pattern.row_ptr[i];
    std::vector<double> weak(static_cast<std::size_t>(size), 0.0);
    for (Offset k = from.row_ptr[i]; k < from.row_ptr[i + 1]; ++k) {
      if (kept[k]) {
        result.pattern.col[at] = from.col[k];
        std::copy(a.block(k), a.block(k) + size, result.block(at++));
      } else {
        for (int e = 0; e < size; ++e) weak[e] += a.block(k)[e];
      }
    }
    const Offset diagonal = diagonal_at(result.pattern, i);
    if (diagonal < 0) return;
    double* const own = result.block(diagonal);
    bool sound = true;
    for (int r = 0; r < b; ++r) {
      const double value = own[r * b + r];
      sound = sound && std::fabs(value + weak[r * b + r]) >= least_lumped_share * std::fabs(value);
    }
    for (int e = 0; e < size && sound; ++e) own[e] += weak[e];
  });
  return result;
}

void smooth_prolongator(const HostContext& ctx, const HostBlockCsr& a, double omega,
                        const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative,
                        HostBlockCsr& p) {
  parallel_ranges(ctx, a.pattern.rows, [&](Index begin, Index end) {
    SmoothedRow row(a.row_block, tentative, p);
    std::vector<double> part;
    for (Index i = begin; i < end; ++i) {
      if (aggregates.of_node[i] < 0) continue;
      row.begin(i);
      for_parts(a, omega, aggregates, tentative, i, part,
                [&](Index aggregate, const std::vector<double>& values) { row.add(aggregate, values); });
      row.end();
    }
  });
}

HostBlockPattern smoothed_pattern(const HostContext& ctx, const HostBlockCsr& a, double omega,
                                  const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative,
                                  Index width) {
  struct Scratch {
    WholeRow row;
    std::vector<double> part;
  };
  const auto node_values = static_cast<std::size_t>(a.row_block * tentative.coarse.vectors);
  std::vector<Scratch> scratch(static_cast<std::size_t>(ctx.threads()), Scratch{WholeRow(node_values), {}});
  const auto append = [&](Index i, int member, std::vector<Index>& columns) {
    if (aggregates.of_node[i] < 0) return;
    auto& [row, part] = scratch[static_cast<std::size_t>(member)];
    row.begin();
    for_parts(a, omega, aggregates, tentative, i, part,
              [&, &row = row](Index aggregate, const std::vector<double>& values) { row.add(aggregate, values); });
    row.append_largest(width, columns);
  };
  return pattern_by_rows(ctx, a.pattern.rows, aggregates.count, append);
}

}  // namespace purlin::detail
