// SPDX-License-Identifier: Apache-2.0
/// AmgTransfer: between a level and the next, by the prolongator and its transpose. Internal.
#pragma once

#include <memory>

#include "precond/amg/blocks/block_rows.hpp"
#include "precond/amg/blocks/block_rows_host.hpp"
#include "precond/amg/cycle/hierarchy.hpp"

namespace newel::detail {

/// Where the rows of the first level stand in solver order; both empty where that is the hierarchy's.
template <Space S>
struct LevelOrder {
  Array<Index, S> old_of_new, new_of_old;
};

template <class T, Space S>
class AmgTransfer;

/// P and its transpose in blocks and in the hierarchy's numbering, into which vectors in solver order are gathered.
template <class T>
class AmgTransfer<T, Space::host> {
 public:
  AmgTransfer() = default;
  /// Keeps pointers to the arrays of the level's patterns and of `order`.
  AmgTransfer(const HostContext& ctx, const AmgLevel<Space::host>& level, const LevelOrder<Space::host>& order);
  void refresh(const HostContext& ctx, const AmgLevel<Space::host>& level);

  /// b = P^T r
  void restrict_to(const HostContext& ctx, const T* r, T* b) const;
  /// x = P e
  void prolong(const HostContext& ctx, const T* e, T* x) const;

  /// The same for 2, 4 or 8 interleaved vectors; those of the next level are interleaved too.
  void restrict_columns(const HostContext& ctx, int columns, const T* r, T* b, ColumnLayout of_b,
                        Span<char, Space::host> work) const;
  void prolong_columns(const HostContext& ctx, int columns, const T* e, ColumnLayout of_e, T* x,
                       Span<char, Space::host> work) const;
  /// Bytes that their `work` needs.
  std::uint64_t column_work_bytes(int columns) const;

  bool exists() const { return p_ != nullptr; }
  Offset entries() const;
  std::uint64_t bytes() const, bytes_read() const;

 private:
  std::unique_ptr<HostBlockRows<T>> p_, transposed_;
  Span<const Index, Space::host> old_of_new_, new_of_old_;
  mutable Array<T, Space::host> natural_;  ///< a vector of the level in the hierarchy's numbering
};

/// P and its transpose in blocks, each stored for itself, in solver order; rows of blocks find their places in it.
template <class T>
class AmgTransfer<T, Space::device> {
 public:
  AmgTransfer() = default;
  /// Keeps pointers to the arrays of the level's patterns and of `order`.
  AmgTransfer(const DeviceContext& ctx, const AmgLevel<Space::device>& level, const LevelOrder<Space::device>& order);
  void refresh(const DeviceContext& ctx, const AmgLevel<Space::device>& level);
  void restrict_to(const DeviceContext& ctx, const T* r, T* b) const {
    multiply(ctx, transposed_, r, place_, b, nullptr);
  }
  void prolong(const DeviceContext& ctx, const T* e, T* x) const { multiply(ctx, p_, e, nullptr, x, place_); }
  /// The same for 2, 4 or 8 interleaved vectors; those of the next level have a layout of their own.
  void restrict_columns(const DeviceContext& ctx, int columns, const T* r, T* b, ColumnLayout of_b,
                        Span<char, Space::device>) const {
    multiply_columns(ctx, transposed_, columns, r, interleaved(columns), place_, b, of_b, nullptr);
  }
  void prolong_columns(const DeviceContext& ctx, int columns, const T* e, ColumnLayout of_e, T* x,
                       Span<char, Space::device>) const {
    multiply_columns(ctx, p_, columns, e, of_e, nullptr, x, interleaved(columns), place_);
  }
  std::uint64_t column_work_bytes(int) const { return 0; }

  bool exists() const { return p_.rows() > 0; }
  const BlockRows<T>& prolongator() const { return p_; }
  const BlockRows<T>& transposed() const { return transposed_; }
  Offset entries() const { return 2 * p_.entries(); }
  std::uint64_t bytes() const { return p_.bytes() + transposed_.bytes(); }
  std::uint64_t bytes_read() const { return p_.bytes_read() + transposed_.bytes_read(); }

 private:
  BlockRows<T> p_, transposed_;
  const Index* place_ = nullptr;  // of the rows of blocks in solver order
};

}  // namespace newel::detail
