// SPDX-License-Identifier: Apache-2.0
// Any bytes at all through the Matrix Market reader: they give a well-formed matrix, the same one however the text is
// cut into pieces, or an error that the reader means to give.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <newel/core/error.hpp>
#include "core/text/text_source.hpp"
#include "io/matrix_market/matrix_market_read.hpp"

#include "well_formed.hpp"

namespace {

using namespace newel;
using namespace newel::fuzz;

template <class F>
auto unless_refused(F&& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const InputError&) {
  } catch (const OutOfMemory&) {
  }
  return std::nullopt;
}

template <class T>
bool same(const Array<T, Space::host>& a, const Array<T, Space::host>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // One thread: the pieces are what could go wrong, and a team would only slow the search down.
  static const Context<Space::host> ctx(1);
  static const std::string name = "fuzz";
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = unless_refused([&] {
    return detail::TextSource::from_memory(ctx.memory()->resource(), bytes, name, detail::matrix_market_lines);
  });
  if (!source) return 0;
  // As parse_matrix and parse_vector, but a few bytes may not ask for a million rows again and again.
  const detail::NamedText text{source->text(), name, source->left_out()};
  detail::ReadLimits limits;
  limits.empty_rows = limits.empty_values = 5000;
  const auto matrix = [&] { return detail::parse_plain_file(ctx, text, detail::ValueKinds::complex_too, limits); };
  const auto a = unless_refused(matrix);
  const auto x = unless_refused([&] { return detail::parse_plain_vector(ctx, text, limits); });
  limits.piece_bytes = 1 + size % 61;
  const auto b = unless_refused(matrix);
  const auto y = unless_refused([&] { return detail::parse_plain_vector(ctx, text, limits); });
  if (a) {
    check_well_formed(a->a);
    insist(a->imaginary.empty() || a->imaginary.size() == a->a.nnz());
    for (const double part : a->imaginary) insist(std::isfinite(part));
  }
  insist(a.has_value() == b.has_value() && x.has_value() == y.has_value());
  if (a) {
    insist(same(a->a.row_ptr, b->a.row_ptr) && same(a->a.col, b->a.col) && same(a->a.val, b->a.val));
    insist(same(a->imaginary, b->imaginary));
  }
  if (x) insist(same(*x, *y));
  return 0;
}
