// SPDX-License-Identifier: Apache-2.0
// Slots of a format and loads of nodes from one number per element.
#include "apps/heart/slot_assembly.hpp"

#include <utility>

#include <newel/config.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>

namespace newel::heart {

// The elements around a node are those that meet in its diagonal entry. What a preconditioner reads of the matrix
// stands in the matrix's slots.
template <Space S>
SlotAssembly<S>::SlotAssembly(const Context<S>& ctx, const fem::HostCsr& conduction, EntryElements lists,
                              const std::vector<Index>& old_of_new, LinearSystem<double, S>& system)
    : lists_(std::move(lists)) {
  const Pattern<Space::host> pattern = CsrView<double, Space::host>(conduction);
  const Index nodes = pattern.rows;
  std::vector<Offset> diagonal(static_cast<std::size_t>(nodes));
  parallel_for(host_context(ctx), nodes, [&](Index i) {
    const Index node = old_of_new.empty() ? i : old_of_new[i];
    diagonal[i] = find_entry(pattern, node, node);
  });
  loads_ = SlotSums<S>(ctx, diagonal, lists_, nullptr);

  const Slots<double, S> matrix = system.in_place().matrix(), preconditioner = system.in_place().preconditioner();
  matrix_slot_ = matrix.values;
  if constexpr (S == Space::device) {
    const Context<Space::host> host = host_context(ctx);
    Array<Index, Space::host> node(host, pattern.nnz());
    parallel_for(host, nodes, [&](Index i) {
      const Index row = old_of_new.empty() ? i : old_of_new[i];
      for (Offset k = pattern.row_begin(row); k < pattern.row_begin(row + 1); ++k)
        node[k] = k == diagonal[i] ? i : -1;
    });
    matrix_ = SlotSums<S>(ctx, matrix.entry, lists_, conduction.val.data(), node);
  } else {
    matrix_ = SlotSums<S>(ctx, matrix.entry, lists_, conduction.val.data());
  }
  preconditioner_slot_ = preconditioner.values;
  preconditioner_is_diagonal_ = preconditioner.entry == diagonal;
  if (S == Space::host || !preconditioner_is_diagonal_) {
    std::vector<Offset> slot_of(static_cast<std::size_t>(pattern.nnz()), -1), source = preconditioner.entry;
    parallel_for(host_context(ctx), matrix.entry.size(), [&](std::size_t k) {
      // All slots of an entry hold the same value.
      if (matrix.entry[k] >= 0) atomic_write(slot_of[matrix.entry[k]], static_cast<Offset>(k));
    });
    parallel_for(host_context(ctx), source.size(),
                 [&](std::size_t k) { source[k] = source[k] < 0 ? -1 : slot_of[source[k]]; });
    preconditioner_source_ = make_value_map(ctx, make_array(ctx, source).cspan(), matrix_slot_.size);
  }

  lists_.begin = {};
  lists_.list = {};
  lists_.count = {};
  if (S == Space::device) lists_.element = {};
}

// On the device one kernel writes the matrix, the right-hand side, and a preconditioner's diagonal.
template <Space S>
void SlotAssembly<S>::fill(const Context<S>& ctx, bool with_preconditioner, const double* tangent, const double* load,
                           Span<double, S> rhs) {
  const bool preconditioner = with_preconditioner && preconditioner_slot_.size > 0;
  bool left = preconditioner;
  if constexpr (S == Space::device) {
    left = preconditioner && !preconditioner_is_diagonal_;
    double* const diagonal = preconditioner && !left ? preconditioner_slot_.data : nullptr;
    matrix_.add_up_with_nodes(ctx, tangent, matrix_slot_.data, {load, rhs.data, diagonal});
  } else {
    matrix_.add_up(ctx, tangent, matrix_slot_.data);
    loads_.add_up(ctx, load, rhs.data);
  }
  if (left) gather(ctx, Span<const double, S>(matrix_slot_), preconditioner_source_, preconditioner_slot_);
}

template <Space S>
std::uint64_t SlotAssembly<S>::bytes() const {
  return matrix_.bytes() + loads_.bytes() + preconditioner_source_.bytes() +
         (S == Space::host ? lists_.element.size() * sizeof(Index) : 0);
}

#define X(S) template class SlotAssembly<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
