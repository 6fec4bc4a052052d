// SPDX-License-Identifier: Apache-2.0
// Rows that fix an unknown each, and the parts of the matrix that remains without them.
#include "reorder/condense/condense.hpp"

#include <newel/core/vector_ops.hpp>

#include "tests/solver/systems.hpp"

namespace {

// Rows 1, 2 and 3 fix unknowns, the last two with a stored 0.
Rows five_rows() {
  Rows a(5);
  a.at(0, 0) = 2, a.at(0, 1) = 3, a.at(0, 4) = 5;
  a.at(1, 1) = 7;
  a.at(2, 2) = 11, a.at(2, 3) = 0;
  a.at(3, 0) = 0, a.at(3, 3) = -13;
  a.at(4, 0) = 17, a.at(4, 3) = 19, a.at(4, 4) = 23;
  return a;
}

template <Space S>
std::vector<char> marks(const Context<S>& ctx, const detail::FixingRows<S>& rows) {
  return to_vector(ctx, rows.is_one.cspan());
}

template <Space S>
std::vector<double> values(const Context<S>& ctx, const detail::PartOfMatrix<S>& part, Span<const double, S> all) {
  Array<double, S> found(ctx, part.col.size());
  gather<double, S>(ctx, all, part.source, found.span());
  return to_vector(ctx, found.cspan());
}

}  // namespace

TEST_BOTH("Rows with nothing but a finite diagonal are found by their values", "[reorder][fixing]") {
  Rows a = five_rows();
  const Arrays<double, S> arrays(ctx, a);
  const auto rows = detail::fixing_rows(ctx, arrays.view());
  CHECK(rows.count == 3);
  CHECK(marks(ctx, rows) == std::vector<char>{0, 1, 1, 1, 0});
  CHECK(detail::are_used(ctx, arrays.view(), rows));
  CHECK(detail::still_fix(ctx, arrays.view(), rows));
  for (const double value : {1e-300, double{NAN}, double{INFINITY}}) {
    Rows other = a;
    other.at(3, 0) = value;
    const Arrays<double, S> changed(ctx, other);
    CHECK_FALSE(detail::still_fix(ctx, changed.view(), rows));
    CHECK(detail::fixing_rows(ctx, changed.view()).count == 2);
  }
  for (const double value : {0.0, double{NAN}, double{INFINITY}}) {
    Rows other = a;
    other.at(3, 3) = value;
    CHECK_FALSE(detail::still_fix(ctx, Arrays<double, S>(ctx, other).view(), rows));
  }
  // Columns without another value, and no such rows at all.
  a.at(0, 1) = a.at(4, 3) = 0;
  CHECK_FALSE(detail::are_used(ctx, Arrays<double, S>(ctx, a).view(), rows));
  CHECK(detail::fixing_rows(ctx, Arrays<double, S>(ctx, laplacian(4)).view()).count == 0);
  for (const Index n : {31, 32, 33, 3000}) {
    const auto all = detail::fixing_rows(ctx, Arrays<float, S>(ctx, diagonal(noise(n, 2))).view());
    CHECK(all.count == n);
  }
}

TEST_CASE("A few rows show that what remains is not symmetric, by its own entries alone", "[reorder][fixing]") {
  const Context<Space::host> ctx;
  const auto shown = [&](const Rows& a) {
    const Arrays<double, Space::host> arrays(ctx, a);
    return detail::rest_is_not_symmetric(arrays.view(), detail::fixing_rows(ctx, arrays.view()));
  };
  Rows a = laplacian(6);
  for (const Index fixed : {0, 7, 20}) {
    a.row[static_cast<std::size_t>(fixed)].clear();
    a.at(fixed, fixed) = 1e6;
    CHECK_FALSE(shown(a));  // in columns of the fixed unknowns alone
  }
  a.at(1, 2) += 1e-15;  // rounding
  CHECK_FALSE(shown(a));
  a.at(1, 2) += 1e-11;
  CHECK(shown(a));
  a.at(1, 2) = -1;
  a.at(2, 30) = 1;  // without an opposite entry
  CHECK(shown(a));
}

TEST_BOTH("The other rows are split by columns, and keep their order", "[reorder][fixing]") {
  const Arrays<double, S> arrays(ctx, five_rows());
  const auto view = arrays.view();
  const auto rows = detail::fixing_rows(ctx, view);
  const auto parts = detail::condensed_pattern(ctx, Pattern<S>(view), rows);
  CHECK(to_vector(ctx, parts.old_of_new.cspan()) == std::vector<Index>{0, 4, 1, 2, 3});
  CHECK(to_vector(ctx, parts.new_of_old.cspan()) == std::vector<Index>{0, 2, 3, 4, 1});
  CHECK((parts.B.rows == 2 && parts.B.cols == 2 && parts.C.rows == 2 && parts.C.cols == 3 && parts.D.rows == 3));
  CHECK(to_vector(ctx, parts.B.row_ptr.cspan()) == std::vector<Offset>{0, 2, 4});
  CHECK(to_vector(ctx, parts.B.col.cspan()) == std::vector<Index>{0, 1, 0, 1});
  CHECK(values(ctx, parts.B, view.val) == std::vector<double>{2, 5, 17, 23});
  CHECK(to_vector(ctx, parts.C.row_ptr.cspan()) == std::vector<Offset>{0, 1, 2});
  CHECK(to_vector(ctx, parts.C.col.cspan()) == std::vector<Index>{0, 2});
  CHECK(values(ctx, parts.C, view.val) == std::vector<double>{3, 19});
  CHECK(values(ctx, parts.D, view.val) == std::vector<double>{7, 11, -13});
}
