// SPDX-License-Identifier: Apache-2.0
// Keeping a matrix beside its format, and reading it back.
#include "solver/operators/matrix_source.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
Pattern<S> MatrixSource<T, S>::Kept::view() const {
  Pattern<S> view;
  view.rows = view.cols = rows;
  view.row_ptr32 = row_ptr32.cspan();
  view.row_ptr64 = row_ptr64.cspan();
  view.col = col.cspan();
  return view;
}

template <class T, Space S>
bool MatrixSource<T, S>::keep_pattern(const CsrView<T, S>& a) {
  if (A_.as_csr() && order_.natural()) return true;
  try {
    Kept kept;
    kept.rows = a.rows;
    kept.row_ptr32 = make_array(ctx_, a.row_ptr32);
    kept.row_ptr64 = make_array(ctx_, a.row_ptr64);
    kept.col = make_array(ctx_, a.col);
    kept_ = std::move(kept);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

template <class T, Space S>
void MatrixSource<T, S>::keep_values(const CsrView<T, S>& a) {
  if (!kept_ || a.value_map != nullptr) return;
  try {
    kept_->val = make_array(ctx_, a.val);
  } catch (const OutOfMemory&) {
    kept_->val = {};
  }
}

template <class T, Space S>
void MatrixSource<T, S>::renew_values(Span<const T, S> values, bool wanted) {
  if (!kept_ || kept_->val.empty()) return;
  if (wanted && kept_->val.size() == values.size) {
    copy<T>(ctx_, values, kept_->val.span());
  } else {
    kept_->val = {};
  }
}

template <class T, Space S>
void MatrixSource<T, S>::forget_values() {
  if (kept_) kept_->val = {};
}

template <class T, Space S>
std::optional<Pattern<S>> MatrixSource<T, S>::pattern() const {
  if (kept_) return kept_->view();
  const std::optional<CsrView<T, S>> csr = A_.as_csr();
  return csr && order_.natural() ? std::optional<Pattern<S>>(*csr) : std::nullopt;
}

template <class T, Space S>
std::optional<CsrView<T, S>> MatrixSource<T, S>::at_hand() const {
  if (!kept_) return order_.natural() ? A_.as_csr() : std::nullopt;
  if (kept_->val.empty()) return std::nullopt;
  return CsrView<T, S>(kept_->view(), kept_->val.cspan());
}

template <class T, Space S>
CsrView<T, S> MatrixSource<T, S>::read_back(Array<T, S>& values) const {
  const Slots<T, S> slots = A_.slots(ctx_);
  const std::vector<T> stored = to_vector(ctx_, Span<const T, S>(slots.values));
  std::vector<T> of_entry(static_cast<std::size_t>(kept_->col.size()), T(0));
  std::vector<bool> found(of_entry.size(), false);
  for (std::size_t k = 0; k < stored.size(); ++k) {
    if (slots.entry[k] < 0) continue;
    const auto entry = static_cast<std::size_t>(slots.entry[k]);
    of_entry[entry] = stored[k];
    found[entry] = true;
  }
  if (std::find(found.begin(), found.end(), false) != found.end()) {
    throw InputError("the format stores only one of a_ij and a_ji, so the matrix cannot be read back");
  }
  values = make_array(ctx_, of_entry);
  return {kept_->view(), values.cspan()};
}

template <class T, Space S>
CsrView<T, S> MatrixSource<T, S>::in_order(Array<T, S>& values, PermutedCsr<T, S>& permuted) const {
  const std::optional<CsrView<T, S>> known = kept_ ? at_hand() : A_.as_csr();
  const CsrView<T, S> view = known ? *known : read_back(values);
  if (order_.natural()) return view;
  permuted = permute(ctx_, view, order_);
  return permuted.view();
}

#define X(T, S) template class MatrixSource<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
