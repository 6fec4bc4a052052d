// SPDX-License-Identifier: Apache-2.0
// CSR on the host, its values and its cost.
#include <algorithm>
#include <chrono>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/csr/csr.hpp"
#include "spmv/csr/csr_walk.hpp"
#include "spmv/residual_host.hpp"

namespace newel {

template <class T>
CsrOperator<T, Space::host>::CsrOperator(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                                         const RowOrder<Space::host>&, const FormatRequest&) {
  const auto start = std::chrono::steady_clock::now();
  shares_ = {ctx, a};
  if (a.value_map != nullptr) value_map_ = copy_of(ctx, *a.value_map);
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
void CsrOperator<T, Space::host>::refresh(const Context<Space::host>& ctx, Span<const T, Space::host> values) {
  gather(ctx, values, value_map_, shares_.values());
}

template <class T>
Slots<T, Space::host> CsrOperator<T, Space::host>::slots(const Context<Space::host>& ctx) {
  return {shares_.values(), positions_of(ctx, value_map_, shares_.values().size)};
}

template <class T>
void CsrOperator<T, Space::host>::apply(const Context<Space::host>& ctx, T alpha, Span<const T, Space::host> x,
                                        T beta, Span<T, Space::host> y) const {
  shares_.product(ctx, alpha, x.data, beta, y.data, nullptr);
}

template <class T>
void CsrOperator<T, Space::host>::apply_dot(const Context<Space::host>& ctx, Span<const T, Space::host> x,
                                            Span<T, Space::host> y, double* xy) const {
  shares_.product(ctx, T(1), x.data, T(0), y.data, xy);
}

template <class T>
void CsrOperator<T, Space::host>::apply_columns(const Context<Space::host>& ctx, int columns, T alpha,
                                                Span<const T, Space::host> x, T beta, Span<T, Space::host> y,
                                                Span<char, Space::host>) const {
  switch (columns) {
    case 8:
      return shares_.template columns_product<8>(ctx, alpha, x.data, beta, y.data, nullptr);
    case 4:
      return shares_.template columns_product<4>(ctx, alpha, x.data, beta, y.data, nullptr);
    case 2:
      return shares_.template columns_product<2>(ctx, alpha, x.data, beta, y.data, nullptr);
    default:
      return apply(ctx, alpha, x, beta, y);
  }
}

template <class T>
void CsrOperator<T, Space::host>::apply_dot_columns(const Context<Space::host>& ctx, int columns,
                                                    Span<const T, Space::host> x, Span<T, Space::host> y, double* xy,
                                                    Span<char, Space::host>) const {
  switch (columns) {
    case 8:
      return shares_.template columns_product<8>(ctx, T(1), x.data, T(0), y.data, xy);
    case 4:
      return shares_.template columns_product<4>(ctx, T(1), x.data, T(0), y.data, xy);
    case 2:
      return shares_.template columns_product<2>(ctx, T(1), x.data, T(0), y.data, xy);
    default:
      return apply_dot(ctx, x, y, xy);
  }
}

template <class T>
std::optional<detail::ResidualSums> CsrOperator<T, Space::host>::residual(const Context<Space::host>& ctx,
                                                                          Span<const T, Space::host> b,
                                                                          Span<const T, Space::host> x,
                                                                          const detail::ResidualScale& scale,
                                                                          Span<T, Space::host> r) const {
  return detail::csr_residual(ctx, shares_.view(), detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T>
OperatorInfo CsrOperator<T, Space::host>::info() const {
  OperatorInfo info;
  info.name = "csr";
  const std::int64_t shares = shares_.count();
  const CsrView<T, Space::host> a = shares_.view();
  info.detail = std::to_string(shares) + (shares == 1 ? " share of the work" : " shares of equal work");
  info.rows = a.rows;
  info.cols = a.cols;
  info.nonzeros = info.stored_slots = a.nnz();
  info.bytes = shares_.bytes();
  info.bytes.push_back({"value map", value_map_.bytes()});
  info.bytes_per_product = csr_product_bytes(a.rows, a.cols, a.nnz(), sizeof(T));
  info.setup_seconds = {{"convert", setup_seconds_}};
  return info;
}

template <class T>
std::optional<CsrView<T, Space::host>> CsrOperator<T, Space::host>::as_csr() const {
  CsrView<T, Space::host> view = shares_.view();
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
