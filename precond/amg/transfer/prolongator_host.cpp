// SPDX-License-Identifier: Apache-2.0
// Tentative prolongators, and their smoothing.
#include "precond/amg/transfer/prolongator.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "core/vectors/wide_host.hpp"
#include "precond/amg/blocks/block_products.hpp"
#include "precond/amg/blocks/pattern_rows.hpp"
#include "precond/amg/transfer/scalar_prolongator_host.hpp"
#include "precond/amg/blocks/small_dense.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
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

// The parts that a row of (I - omega D^-1 A) Q is the sum of, in order: block x vectors matrices that belong to
// aggregates. Blocks that are not kept are added to the diagonal one.
class RowParts {
 public:
  RowParts(const HostBlockCsr& a, const std::vector<unsigned char>& kept, double omega,
           const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative)
      : a_(a),
        kept_(kept.empty() ? nullptr : kept.data()),
        omega_(omega),
        of_node_(aggregates.of_node),
        q_(tentative.q.data()),
        k_(tentative.coarse.vectors),
        own_(aggregates.count),
        diagonal_(static_cast<std::size_t>(a.block_size())) {}

  int node_values() const { return a_.row_block * k_; }
  std::size_t count() const { return aggregate_.size(); }
  Index aggregate(std::size_t part) const { return aggregate_[part]; }
  bool is_own(Index aggregate) const { return aggregate < own_; }
  const double* values(std::size_t part) const {
    return values_.data() + part * static_cast<std::size_t>(node_values());
  }

  // In one place, so that a refresh rounds as the setup does.
  void find(Index i) {
    with_wide_vectors([&] { find_here(i); });
  }

 private:
  void find_here(Index i) {
    const auto size = static_cast<std::size_t>(node_values());
    const Offset begin = a_.pattern.row_ptr[i], end = a_.pattern.row_ptr[i + 1];
    aggregate_.assign(1, of_node_[i]);
    if (values_.size() < size * static_cast<std::size_t>(end - begin + 1)) {
      values_.resize(size * static_cast<std::size_t>(end - begin + 1));
    }
    std::copy_n(q_of(i), size, values_.data());
    const Offset diagonal = find_diagonal(i, begin, end);
    if (diagonal < 0) return;
    add_blocks(begin, end, diagonal);
  }
  bool is_kept(Offset at) const { return kept_ == nullptr || kept_[at] != 0; }
  const double* q_of(Index node) const {
    return q_ + static_cast<std::size_t>(node) * static_cast<std::size_t>(node_values());
  }
  double scale(double diagonal) const { return diagonal == 0 ? 0 : -omega_ / diagonal; }

  // Where the diagonal block stands, -1 where it lacks; `diagonal_` becomes what it is in the filtered matrix: with
  // all weak blocks of the row, so that its sum stays, but not where that would leave a diagonal entry less than a
  // fifth of its value.
  Offset find_diagonal(Index i, Offset begin, Offset end) {
    Offset diagonal = -1;
    bool any_weak = false;
    for (Offset at = begin; at < end; ++at) {
      diagonal = a_.pattern.col[at] == i ? at : diagonal;
      any_weak = any_weak || !is_kept(at);
    }
    if (diagonal < 0) return diagonal;
    const int b = a_.row_block, size = a_.block_size();
    const double* const own = a_.block(diagonal);
    std::copy_n(own, size, diagonal_.data());
    if (!any_weak) return diagonal;
    lumped_.assign(diagonal_.size(), 0.0);
    for (Offset at = begin; at < end; ++at) {
      for (int e = 0; e < size && !is_kept(at); ++e) lumped_[e] += a_.block(at)[e];
    }
    bool sound = true;
    for (int e = 0; e < size; ++e) lumped_[e] = own[e] + lumped_[e];
    for (int e = 0; e < size; e += b + 1) {
      sound = sound && std::fabs(lumped_[e]) >= least_lumped_share * std::fabs(own[e]);
    }
    if (sound) std::swap(diagonal_, lumped_);
    return diagonal;
  }

  void add_blocks(Offset begin, Offset end, Offset diagonal) {
    const int b = a_.row_block;
    for (Offset at = begin; at < end; ++at) {
      const Index j = a_.pattern.col[at];
      if (of_node_[j] < 0 || !is_kept(at)) continue;
      double* const part = values_.data() + aggregate_.size() * static_cast<std::size_t>(node_values());
      std::fill_n(part, node_values(), 0.0);
      add_block_product<false>(b, b, k_, at == diagonal ? diagonal_.data() : a_.block(at), q_of(j), part);
      for (int r = 0; r < b; ++r) {
        const double factor = scale(diagonal_[r * b + r]);
        for (int c = 0; c < k_; ++c) part[r * k_ + c] *= factor;
      }
      aggregate_.push_back(of_node_[j]);
    }
  }

  const HostBlockCsr& a_;
  const unsigned char* kept_;
  double omega_;
  const std::vector<Index>& of_node_;
  const double* q_;
  int k_;
  Index own_;  // aggregates from here on are of other ranks
  std::vector<double> diagonal_, lumped_;
  std::vector<Index> aggregate_;
  std::vector<double> values_;
};

// A row of P from its parts; what its pattern has no place for is collected as its product with R.
class SmoothedRow {
 public:
  SmoothedRow(int block, const Tentative<Space::host>& tentative)
      : block_(block), k_(tentative.coarse.vectors), r_(tentative.coarse.values.data()), lost_(block * k_) {}

  // The values of the blocks in `columns`, row by row of each.
  void compute(const RowParts& parts, Span<const Index, Space::host> columns, double* values) {
    with_wide_vectors([&] { compute_here(parts, columns, values); });
  }

 private:
  void compute_here(const RowParts& parts, Span<const Index, Space::host> columns, double* values) {
    const int size = block_ * k_;
    std::fill_n(values, columns.size * size, 0.0);
    std::fill(lost_.begin(), lost_.end(), 0.0);
    bool any_lost = false;
    for (std::size_t part = 0; part < parts.count(); ++part) {
      const double* const from = parts.values(part);
      const Index* const at = std::find(columns.begin(), columns.end(), parts.aggregate(part));
      if (at != columns.end()) {
        double* const to = values + (at - columns.begin()) * size;
        for (int e = 0; e < size; ++e) to[e] += from[e];
      } else {
        any_lost = true;
        add_block_product<false>(block_, k_, k_, from, coarse(parts.aggregate(part)), lost_.data());
      }
    }
    if (any_lost) compensate(columns, values);
  }
  // The smallest change (in the Frobenius norm) that gives P R what was lost: lost G^-1 R_j^T for each block, with
  // G = sum of R_j^T R_j.
  void compensate(Span<const Index, Space::host> columns, double* values) {
    gram_.assign(static_cast<std::size_t>(k_) * static_cast<std::size_t>(k_), 0.0);
    for (const Index j : columns) add_block_product<true>(k_, k_, k_, coarse(j), coarse(j), gram_.data());
    inverse_.assign(gram_.size(), 0.0);
    work_.assign(gram_.size(), 0.0);
    const auto in = [](std::vector<double>& values) { return SmallDense{values.data(), 1}; };
    if (!definite_inverse(k_, in(gram_), in(inverse_), in(work_))) inverse_ = semidefinite_inverse(k_, gram_);
    weights_.assign(lost_.size(), 0.0);
    add_block_product<false>(block_, k_, k_, lost_.data(), inverse_.data(), weights_.data());
    for (const Index j : columns) {
      const double* const r = coarse(j);
      for (int row = 0; row < block_; ++row) {
        for (int c = 0; c < k_; ++c) {
          for (int l = 0; l < k_; ++l) values[row * k_ + c] += weights_[row * k_ + l] * r[c * k_ + l];
        }
      }
      values += block_ * k_;
    }
  }
  const double* coarse(Index aggregate) const { return r_ + Offset{aggregate} * k_ * k_; }

  int block_, k_;
  const double* r_;
  std::vector<double> lost_, gram_, inverse_, work_, weights_;
};

// A row of the smoothed prolongator with all of its blocks, in the order in which their aggregates are met.
class WholeRow {
 public:
  // The own aggregates of `width` blocks at most, ascending, the first that was met among them.
  void append_largest(const RowParts& parts, Index width, std::vector<Index>& columns) {
    sum_up(parts);
    const auto first = static_cast<std::ptrdiff_t>(columns.size());
    const auto size = static_cast<std::size_t>(parts.node_values());
    const bool all_own =
        std::all_of(aggregates_.begin(), aggregates_.end(), [&](Index j) { return parts.is_own(j); });
    if (aggregates_.size() <= static_cast<std::size_t>(width) && all_own) {
      columns.insert(columns.end(), aggregates_.begin(), aggregates_.end());
    } else {
      order_.clear();
      for (std::size_t k = 0; k < aggregates_.size(); ++k) {
        if (!parts.is_own(aggregates_[k])) continue;
        double square = 0;
        for (std::size_t e = 0; e < size; ++e) square += values_[k * size + e] * values_[k * size + e];
        order_.emplace_back(k == 0 ? -INFINITY : -static_cast<float>(square), aggregates_[k]);
      }
      std::sort(order_.begin(), order_.end());
      const std::size_t taken = std::min(order_.size(), static_cast<std::size_t>(width));
      for (std::size_t k = 0; k < taken; ++k) columns.push_back(order_[k].second);
    }
    std::sort(columns.begin() + first, columns.end());
  }

 private:
  void sum_up(const RowParts& parts) {
    const auto size = static_cast<std::size_t>(parts.node_values());
    aggregates_.clear();
    values_.clear();
    for (std::size_t part = 0; part < parts.count(); ++part) {
      const Index aggregate = parts.aggregate(part);
      const auto at = static_cast<std::size_t>(std::find(aggregates_.begin(), aggregates_.end(), aggregate) -
                                               aggregates_.begin());
      if (at == aggregates_.size()) {
        aggregates_.push_back(aggregate);
        values_.insert(values_.end(), size, 0.0);
      }
      for (std::size_t e = 0; e < size; ++e) values_[at * size + e] += parts.values(part)[e];
    }
  }

  std::vector<Index> aggregates_;
  std::vector<double> values_;
  std::vector<std::pair<float, Index>> order_;
};

// A row of P whose blocks may have any size.
class ProlongatorRow {
 public:
  ProlongatorRow(const HostBlockCsr& a, const std::vector<unsigned char>& kept, double omega,
                 const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative)
      : parts_(a, kept, omega, aggregates, tentative), row_(a.row_block, tentative) {}

  void find(Index i) { parts_.find(i); }
  void append_largest(Index width, std::vector<Index>& columns) { whole_.append_largest(parts_, width, columns); }
  void place(Span<const Index, Space::host> columns, double* values) { row_.compute(parts_, columns, values); }

 private:
  RowParts parts_;
  WholeRow whole_;
  SmoothedRow row_;
};

bool has_single_entries(const HostBlockCsr& a, const Tentative<Space::host>& tentative) {
  return a.row_block == 1 && tentative.coarse.vectors == 1;
}

constexpr Index prolongator_rows_at_once = 256;

}  // namespace

std::vector<double> vectors_in_aggregates(const HostContext& ctx, const Aggregates<Space::host>& aggregates,
                                          int block, const NearNull<Space::host>& near_null) {
  std::vector<double> values = near_null.values;
  const std::int64_t node_values = std::int64_t{block} * near_null.vectors;
  parallel_for(ctx, static_cast<std::int64_t>(aggregates.of_node.size()), [&](std::int64_t i) {
    if (aggregates.of_node[i] < 0) std::fill_n(values.data() + i * node_values, node_values, 0.0);
  });
  return values;
}

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

void smooth_prolongator(const HostContext& ctx, const HostBlockCsr& a, const std::vector<unsigned char>& kept,
                        double omega, const Aggregates<Space::host>& aggregates,
                        const Tentative<Space::host>& tentative, HostBlockCsr& p) {
  const auto smooth_by = [&](auto make_row) {
    parallel_ranges(ctx, a.pattern.rows, [&](Index begin, Index end) {
      auto row = make_row();
      for (Index i = begin; i < end; ++i) {
        if (aggregates.of_node[i] < 0) continue;
        const Offset first = p.pattern.row_ptr[i];
        row.find(i);
        row.place(p.pattern.col.cspan().subspan(first, p.pattern.row_ptr[i + 1] - first), p.block(first));
      }
    });
  };
  if (has_single_entries(a, tentative)) {
    smooth_by([&] { return ScalarProlongatorRow(a, kept, omega, aggregates, tentative); });
  } else {
    smooth_by([&] { return ProlongatorRow(a, kept, omega, aggregates, tentative); });
  }
}

HostBlockPattern smoothed_pattern(const HostContext& ctx, const HostBlockCsr& a,
                                  const std::vector<unsigned char>& kept, double omega,
                                  const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative,
                                  Index width) {
  PerThread<ProlongatorRow> scratch(ctx);
  return pattern_by_rows(ctx, a.pattern.rows, aggregates.count,
                         [&](Index i, int member, std::vector<Index>& columns) {
                           if (aggregates.of_node[i] < 0) return;
                           ProlongatorRow& mine = scratch.of(member, a, kept, omega, aggregates, tentative);
                           mine.find(i);
                           mine.append_largest(width, columns);
                         });
}

void make_prolongator(const HostContext& ctx, const HostBlockCsr& a, const std::vector<unsigned char>& kept,
                      double omega, const Aggregates<Space::host>& aggregates,
                      const Tentative<Space::host>& tentative, Index width, HostBlockCsr& p) {
  const int node_values = a.row_block * tentative.coarse.vectors;
  const auto make_by = [&](auto scratch) {
    std::tie(p.pattern, p.val) =
        blocks_by_rows(ctx, a.pattern.rows, aggregates.count, prolongator_rows_at_once,
                       [&](Index i, int member, std::vector<Index>& columns, std::vector<double>& values) {
                         if (aggregates.of_node[i] < 0) return;
                         auto& row = scratch.of(member, a, kept, omega, aggregates, tentative);
                         const std::size_t first = columns.size(), first_value = values.size();
                         row.find(i);
                         row.append_largest(width, columns);
                         const auto count = static_cast<std::int64_t>(columns.size() - first);
                         values.resize(first_value + static_cast<std::size_t>(count * node_values));
                         row.place({columns.data() + first, count}, values.data() + first_value);
                       });
  };
  if (has_single_entries(a, tentative)) {
    make_by(PerThread<ScalarProlongatorRow>(ctx));
  } else {
    make_by(PerThread<ProlongatorRow>(ctx));
  }
}

}  // namespace newel::detail
