// SPDX-License-Identifier: Apache-2.0
// CSR on the host: equal shares of the path through rows and entries.
#include <algorithm>
#include <chrono>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/csr/csr.hpp"
#include "spmv/csr/csr_walk.hpp"
#include "spmv/plan/slot_sum_host.hpp"
#include "spmv/residual_host.hpp"

namespace newel {
namespace {

// Entries and rows of a share, at least.
constexpr std::int64_t least_share = 4096;

using detail::prefetch_ahead;

}  // namespace

template <class T>
CsrOperator<T, Space::host>::CsrOperator(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                                         const RowOrder<Space::host>&, const FormatRequest&)
    : rows_(a.rows), cols_(a.cols) {
  const auto start = std::chrono::steady_clock::now();
  if (a.nnz() <= std::numeric_limits<std::int32_t>::max()) {
    row_ptr32_ = Array<std::int32_t, Space::host>(ctx, Offset{rows_} + 1);
    for (Index i = 0; i <= rows_; ++i) row_ptr32_[i] = static_cast<std::int32_t>(a.row_begin(i));
  } else {
    row_ptr64_ = Array<Offset, Space::host>(ctx, Offset{rows_} + 1);
    for (Index i = 0; i <= rows_; ++i) row_ptr64_[i] = a.row_begin(i);
  }
  prefetch_ = detail::prefetch_pays(cols_, sizeof(T));
  if (prefetch_) {
    col_ = Array<Index, Space::host>(ctx, a.nnz() + prefetch_ahead);
    std::fill(std::copy(a.col.begin(), a.col.end(), col_.begin()), col_.end(), Index{0});
  } else {
    col_ = make_array(ctx, a.col);
  }
  val_ = make_array(ctx, a.val);
  if (a.value_map != nullptr) value_map_ = copy_of(ctx, *a.value_map);

  // Row i takes places row_begin(i) + i .. row_begin(i + 1) + i of the path: its entries, then its end.
  const std::int64_t path = a.nnz() + rows_;
  const std::int64_t shares =
      std::clamp<std::int64_t>(path / least_share, 1, std::min(ctx.threads(), int{most_shares}));
  for (std::int64_t share = 0; share <= shares; ++share) {
    const std::int64_t place = path / shares * share + path % shares * share / shares;
    Index low = 0, high = rows_;  // the first row whose last place is at or behind `place`
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (a.row_begin(middle + 1) + middle < place)
        low = middle + 1;
      else
        high = middle;
    }
    cuts_.push_back({low, place - low});
  }
  look_at_lengths(shares);
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Some thousand rows a thread whose lengths change are guessed by what the last product has left, as long as no other
// matrix is multiplied in between.
template <class T>
void CsrOperator<T, Space::host>::look_at_lengths(std::int64_t shares) {
  constexpr std::int64_t guessed = 4000;
  const auto unlike = [&](const auto& row_ptr) {
    std::int64_t count = 0;
    for (Index i = 2; i <= rows_; ++i) {
      count += row_ptr[i] - row_ptr[i - 1] != row_ptr[i - 1] - row_ptr[i - 2] ? 1 : 0;
    }
    return count;
  };
  unlike_lengths_ = (row_ptr32_.empty() ? unlike(row_ptr64_) : unlike(row_ptr32_)) > guessed * shares;
}

template <class T>
void CsrOperator<T, Space::host>::refresh(const Context<Space::host>& ctx, Span<const T, Space::host> values) {
  gather(ctx, values, value_map_, val_.span());
}

template <class T>
Slots<T, Space::host> CsrOperator<T, Space::host>::slots(const Context<Space::host>& ctx) {
  return {val_.span(), positions_of(ctx, value_map_, val_.size())};
}

template <class T>
template <bool prefetch, bool unlike_lengths, class RowPtr>
void CsrOperator<T, Space::host>::apply_shares(const Context<Space::host>& ctx, const RowPtr* row_ptr, T alpha,
                                               const T* x, T beta, T* y, double* xy) const {
  struct alignas(64) Carry {
    T value;     // of the row that the share leaves unfinished
    double dot;  // x.y over the rows that it finishes
  };
  const auto shares = static_cast<std::int64_t>(cuts_.size()) - 1;
  Carry carry[most_shares];
  const T* const val = val_.data();
  const Index* const col = col_.data();
  const bool parallel = shares > 1 && val_.size() + rows_ >= least_parallel;
  constexpr auto run_end = unlike_lengths ? detail::RunEnd::step : detail::RunEnd::one_by_one;
  parallel_tasks(
      ctx, shares,
      [&](std::int64_t share) {
        detail::with_wide_vectors([&] {
          const Cut first = cuts_[share], last = cuts_[share + 1];
          Offset k = first.entry;
          double dot = 0;
          const T of_sum = alpha, of_before = beta;
          const T* const from = x;
          T* const to = y;
          const bool adds = beta != T(0), with_dot = xy != nullptr;
          const Index last_row = last.row;
          for (Index i = first.row; i < last_row; ++i) {
            const Offset end = row_ptr[i + 1];
            T product = of_sum * detail::sum_run<prefetch, run_end>(val, col, k, end, from);
            if (adds) product += of_before * to[i];
            to[i] = product;
            if (with_dot) dot += double(from[i]) * double(product);
            k = end;
          }
          carry[share] = {of_sum * detail::sum_run<prefetch, run_end>(val, col, k, last.entry, from), dot};
        });
      },
      threads_if(parallel));
  double total = 0;
  for (std::int64_t share = 0; share < shares; ++share) {
    total += carry[share].dot;
    const Index i = cuts_[share + 1].row;
    if (i >= rows_ || cuts_[share + 1].entry == row_ptr[i]) continue;  // nothing was left unfinished
    y[i] += carry[share].value;
    if (xy != nullptr) total += double(x[i]) * double(carry[share].value);
  }
  if (xy != nullptr) *xy = total;
}

template <class T>
void CsrOperator<T, Space::host>::apply_any(const Context<Space::host>& ctx, T alpha, const T* x, T beta, T* y,
                                            double* xy) const {
  const auto apply_with = [&](const auto* row_ptr) {
    if (prefetch_ && unlike_lengths_) {
      apply_shares<true, true>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else if (prefetch_) {
      apply_shares<true, false>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else if (unlike_lengths_) {
      apply_shares<false, true>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else {
      apply_shares<false, false>(ctx, row_ptr, alpha, x, beta, y, xy);
    }
  };
  if (!row_ptr32_.empty())
    apply_with(row_ptr32_.data());
  else
    apply_with(row_ptr64_.data());
}

template <class T>
void CsrOperator<T, Space::host>::apply(const Context<Space::host>& ctx, T alpha, Span<const T, Space::host> x,
                                        T beta, Span<T, Space::host> y) const {
  apply_any(ctx, alpha, x.data, beta, y.data, nullptr);
}

template <class T>
void CsrOperator<T, Space::host>::apply_dot(const Context<Space::host>& ctx, Span<const T, Space::host> x,
                                            Span<T, Space::host> y, double* xy) const {
  apply_any(ctx, T(1), x.data, T(0), y.data, xy);
}

template <class T>
std::optional<detail::ResidualSums> CsrOperator<T, Space::host>::residual(const Context<Space::host>& ctx,
                                                                          Span<const T, Space::host> b,
                                                                          Span<const T, Space::host> x,
                                                                          const detail::ResidualScale& scale,
                                                                          Span<T, Space::host> r) const {
  return detail::csr_residual(ctx, *as_csr(), detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T>
OperatorInfo CsrOperator<T, Space::host>::info() const {
  OperatorInfo info;
  info.name = "csr";
  const std::size_t shares = cuts_.size() - 1;
  info.detail = std::to_string(shares) + (shares == 1 ? " share of the work" : " shares of equal work");
  info.rows = rows_;
  info.cols = cols_;
  info.nonzeros = info.stored_slots = val_.size();
  info.bytes = {{"values", val_.bytes()},
                {"columns", col_.bytes()},
                {"row pointers", row_ptr32_.bytes() + row_ptr64_.bytes()},
                {"value map", value_map_.bytes()}};
  info.bytes_per_product = csr_product_bytes(rows_, cols_, val_.size(), sizeof(T));
  info.setup_seconds = {{"convert", setup_seconds_}};
  return info;
}

template <class T>
std::optional<CsrView<T, Space::host>> CsrOperator<T, Space::host>::as_csr() const {
  CsrView<T, Space::host> view;
  view.rows = rows_;
  view.cols = cols_;
  view.row_ptr32 = row_ptr32_.cspan();
  view.row_ptr64 = row_ptr64_.cspan();
  view.val = val_.cspan();
  view.col = col_.cspan().subspan(0, val_.size());
  if (!value_map_.identity()) view.value_map = &value_map_;
  return view;
}

std::vector<std::string> csr_variants() { return {"alg1", "alg2"}; }

std::uint64_t csr_bytes(Index rows, Index, Offset nonzeros, std::size_t value_bytes) {
  const std::uint64_t row_ptr_bytes = nonzeros <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
  return (static_cast<std::uint64_t>(rows) + 1) * row_ptr_bytes +
         static_cast<std::uint64_t>(nonzeros) * (value_bytes + sizeof(Index));
}

std::uint64_t csr_product_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes) {
  return csr_bytes(rows, cols, nonzeros, value_bytes) +
         (static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(cols)) * value_bytes;
}

CostEstimate csr_cost(const PatternFacts& facts, const FormatRequest& request) {
  const auto& on_device = detail::constants_of<detail::DeviceProductConstants>(request.machine);
  const auto& on_host = detail::constants_of<detail::HostProductConstants>(request.machine);
  const double uneven = facts.unevenness() * facts.unevenness();
  const double device_share = request.variant.empty() ? on_device.share.csr : on_device.share.cusparse;
  CostEstimate cost_estimate;
  cost_estimate.product_bytes =
      static_cast<double>(csr_product_bytes(facts.rows, facts.cols, facts.nonzeros, request.value_bytes));
  cost_estimate.bandwidth_share = request.machine.device() ? device_share : on_host.csr.bandwidth_share;
  cost_estimate.setup_seconds_per_entry = on_host.csr.setup_seconds_per_entry;
  if (request.machine.device() && !request.variant.empty()) cost_estimate.dot_launches = 1;
  if (request.machine.device() && request.variant.empty() && facts.longest_row <= csr_uncut_row) {
    cost_estimate.resident_parts = request.machine.processors;
    cost_estimate.resident_rows = true;
  }
  if (request.machine.device()) {
    cost_estimate.product_bytes *= 1 + on_device.csr_bytes_of_uneven_rows * uneven;
    return cost_estimate;
  }
  // Where lengths change, a row ends with a step (look_at_lengths), and how many there are is less and less guessed
  // the more rows a thread has (most neighbours are alike even where a few lengths are common, hence the powers, and
  // the rows of a node are). A triangle has many short rows in addition, which end one by one.
  const detail::HostRowConstants& rows = on_host.csr_rows;
  const double of_thread = static_cast<double>(facts.rows) / std::max(request.machine.processors, 1);
  const auto beyond = [&](double guessed_rows, double forgotten_rows) {
    return std::clamp((of_thread - guessed_rows) / (forgotten_rows - guessed_rows), 0.0, 1.0) * uneven;
  };
  const double many = beyond(rows.step_rows_from, rows.step_rows_to);
  cost_estimate.uneven_row_seconds = rows.triangle_seconds * many;
  const double ends =
      rows.step_seconds * many + rows.uneven_seconds * beyond(rows.uneven_rows_from, rows.uneven_rows_to);
  const double row = rows.row_seconds + ends * uneven / facts.block;
  cost_estimate.set_thread_seconds(
      facts, request.machine, request.value_bytes,
      on_host.csr.seconds(request.value_bytes) * static_cast<double>(facts.nonzeros) + row * facts.rows);
  return cost_estimate;
}

template <class T>
detail::ResidualSums detail::csr_residual(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                                          const ResidualArgs<T>& args) {
  return with_walk(a, [&](const auto& walk) { return residual_by(ctx, walk, args); });
}

template class CsrOperator<double, Space::host>;
template class CsrOperator<float, Space::host>;

}  // namespace newel
