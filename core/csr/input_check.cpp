// SPDX-License-Identifier: Apache-2.0
// Names the first wrong number of a caller's matrix, as the caller counts.
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/csr/input_entries.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

// Number i of the span as it stands there.
template <Space S>
std::string text_of(const Context<S>& ctx, const IndexSpan<S>& from, std::int64_t i) {
  switch (from.kind) {
    case IndexKind::int32:
      return std::to_string(fetch<std::int32_t, S>(ctx, static_cast<const std::int32_t*>(from.data) + i));
    case IndexKind::uint32:
      return std::to_string(fetch<std::uint32_t, S>(ctx, static_cast<const std::uint32_t*>(from.data) + i));
    case IndexKind::int64:
      return std::to_string(fetch<std::int64_t, S>(ctx, static_cast<const std::int64_t*>(from.data) + i));
    default:
      return std::to_string(fetch<std::uint64_t, S>(ctx, static_cast<const std::uint64_t*>(from.data) + i));
  }
}

// The numbers of the span from 0 on, on the host: for the few that a message needs.
template <Space S>
IndexReader read_on_host(const Context<S>& ctx, const IndexSpan<S>& from, int base, std::vector<char>& memory) {
  const bool wide = from.kind == IndexKind::int64 || from.kind == IndexKind::uint64;
  const std::int64_t bytes = from.size * (wide ? 8 : 4);
  memory.resize(static_cast<std::size_t>(bytes));
  copy<char>(ctx, Span<const char, S>(static_cast<const char*>(from.data), bytes),
             Span<char, Space::host>(memory.data(), bytes));
  return {memory.data(), from.kind, base};
}

std::string counted_from(int base) { return " (counted from " + std::to_string(base) + ")"; }

std::string outside(const std::string& what, std::int64_t count, int base) {
  if (count == 0) return ": the matrix has no " + what + "s";
  return ": the " + what + " is outside " + std::to_string(base) + " .. " + std::to_string(base + count - 1);
}

template <Space S>
[[noreturn]] void throw_bad_item(const Context<S>& ctx, const InputForm<S>& form, Offset k) {
  using Kind = typename InputForm<S>::Kind;
  const InputEntries e = entries_of(form);
  const bool blocks = form.kind == Kind::bsr;
  std::vector<char> memory;
  std::int64_t line, index;
  std::string line_text;
  if (e.compressed) {
    InputEntries here = e;
    here.lines = read_on_host(ctx, form.pointers(), form.base, memory);
    line = here.line_of(k);
    line_text = std::to_string(line + form.base);
  } else {
    line = read_on_host(ctx, form.row, form.base, memory)[k];
    line_text = text_of(ctx, form.row, k);
  }
  const std::string index_text = text_of(ctx, form.indices(), k);
  index = read_on_host(ctx, form.indices(), form.base, memory)[k];
  const std::string row = e.by_columns ? index_text : line_text, col = e.by_columns ? line_text : index_text;
  const std::string where = (blocks ? "block " : "entry ") + std::to_string(k + form.base) + " at row " + row +
                            ", column " + col + counted_from(form.base);
  switch (e.fault(line, index)) {
    case EntryFault::row:
      throw InputError(where + outside("row", form.rows, form.base));
    case EntryFault::column:
      throw InputError(where + outside("column", form.cols, form.base));
    default:
      throw InputError(where + " is " + (e.lower ? "above" : "below") + " the diagonal, but only the " +
                       (e.lower ? "lower" : "upper") + " half of this symmetric matrix may be passed");
  }
}

}  // namespace

template <Space S>
void check_pointers(const Context<S>& ctx, const InputForm<S>& form) {
  using Kind = typename InputForm<S>::Kind;
  if (form.kind == Kind::coo) return;
  const bool by_columns = form.kind == Kind::csc;
  const std::string name = by_columns ? "col_ptr" : "row_ptr";
  const IndexSpan<S>& pointers = form.pointers();
  const std::string first = text_of(ctx, pointers, 0), last = text_of(ctx, pointers, pointers.size - 1);
  const std::int64_t end = form.indices().size + form.base;
  if (first != std::to_string(form.base) || last != std::to_string(end)) {
    throw InputError(name + " runs from " + first + " to " + last + ", expected " + std::to_string(form.base) +
                     " to " + std::to_string(end) + ", since indices count from " + std::to_string(form.base) +
                     " and there are " + std::to_string(form.indices().size) +
                     (form.kind == Kind::bsr ? " blocks" : " entries"));
  }
  const std::int64_t line = first_bad_line(ctx, entries_of(form));
  if (line < 0) return;
  const std::string what = form.kind == Kind::bsr ? "block row " : by_columns ? "column " : "row ";
  throw InputError(what + std::to_string(line + form.base) + counted_from(form.base) + ": " + name +
                   " decreases or exceeds the number of entries, from " + text_of(ctx, pointers, line) + " to " +
                   text_of(ctx, pointers, line + 1));
}

template <Space S>
void check_items(const Context<S>& ctx, const InputForm<S>& form) {
  const Offset k = first_bad_item(ctx, entries_of(form));
  if (k >= 0) throw_bad_item(ctx, form, k);
}

#define X(S)                                                            \
  template void check_pointers(const Context<S>&, const InputForm<S>&); \
  template void check_items(const Context<S>&, const InputForm<S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
