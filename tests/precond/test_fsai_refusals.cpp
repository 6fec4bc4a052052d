// SPDX-License-Identifier: Apache-2.0
// What FSAI refuses, and how it names it.
#include "tests/catch.hpp"
#include "tests/precond/fsai_support.hpp"

TEST_BOTH("FSAI refuses a matrix that is not symmetric and names the first pair in the caller's numbering",
          "[precond][fsai]") {
  HostCsr a = tridiagonal_matrix(200);
  const auto entry = [&](Index i, Index j) -> double& {
    return a.val[std::find(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1], j) - a.col.begin()];
  };
  entry(71, 70) = -0.5;
  entry(150, 151) = -3;
  const auto there = upload_matrix<double>(ctx, a);
  for (const bool renumbered : {false, true}) {
    const RowOrder<S> order = renumbered ? make_row_order(ctx, random_order(200, 9)) : RowOrder<S>{};
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = there.wide();
    if (renumbered) {
      permuted = permute(ctx, view, order);
      view = permuted.view();
    }
    try {
      fsai(ctx, view, fsai_options(), order);
      FAIL("not refused");
    } catch (const NotSymmetric& error) {
      CHECK(error.row() == 70);
      CHECK(error.col() == 71);
      CHECK(error.entry() == -1);
      CHECK(error.opposite() == -0.5);
      CHECK(contains(error.what(), "(70, 71)"));
      CHECK(contains(error.what(), "spai or jacobi"));
    }
  }
  // An entry without its opposite is one too.
  const auto triangle = upload_matrix<double>(ctx, from_rows(2, {{{0, 1.0}, {1, 0.5}}, {{1, 1.0}}}));
  CHECK(contains(message_of<NotSymmetric>([&] { fsai(ctx, triangle.wide()); }), "0.5 and 0"));
  CHECK(message_of<InputError>([&] { fsai(ctx, triangle.wide()); }) != "");
}

TEST_BOTH("FSAI names the first row with a pivot that is not positive, at setup and at a refresh",
          "[precond][fsai]") {
  const HostCsr a = bordered_matrix(140, 2);
  const auto good = upload_matrix<double>(ctx, a);
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const auto x = random_vector<double>(a.rows);
  for (const double value : {0.0, -1.0, nan, inf, -inf}) {
    for (const bool renumbered : {false, true}) {
      INFO("value " << value << (renumbered ? ", renumbered" : ""));
      HostCsr b = a;
      for (const Index row : {17, 90}) {
        for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
          if (a.col[k] == row) b.val[k] = value;
        }
      }
      const auto bad = upload_matrix<double>(ctx, b);
      const RowOrder<S> order = renumbered ? make_row_order(ctx, random_order(a.rows, 9)) : RowOrder<S>{};
      PermutedCsr<double, S> permuted, permuted_bad;
      CsrView<double, S> view = good.wide(), bad_view = bad.wide();
      if (renumbered) {
        permuted = permute(ctx, view, order);
        permuted_bad = permute(ctx, bad_view, order);
        view = permuted.view();
        bad_view = permuted_bad.view();
      }
      // The rows that reach a bad one: itself and those behind it in solver order that have it in their pattern.
      const std::vector<Index> old = renumbered ? random_order(a.rows, 9) : std::vector<Index>();
      std::vector<Index> place(a.rows);
      for (Index i = 0; i < a.rows; ++i) place[renumbered ? old[i] : i] = i;
      std::set<Index> reached;
      for (Index i = 0; i < a.rows; ++i) {
        for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
          const bool bad_column = a.col[k] == 17 || a.col[k] == 90;
          if (bad_column && place[a.col[k]] <= place[i]) reached.insert(i);
        }
      }
      const auto check = [&](auto&& f) {
        try {
          f();
          FAIL("not refused");
        } catch (const NotPositiveDefinite& error) {
          CHECK(error.row() == *reached.begin());
          CHECK(error.count() == static_cast<std::int64_t>(reached.size()));
          CHECK(contains(error.what(), "row " + std::to_string(*reached.begin()) + " (0-based)"));
          CHECK(contains(error.what(), "spai or jacobi"));
        }
      };
      check([&] { fsai(ctx, bad_view, fsai_options(), order); });
      auto m = fsai(ctx, view, fsai_options(1, 0, "bce"), order);
      const auto before = applied(ctx, m, x);
      check([&] { m.refresh(ctx, bad.matrix.val.cspan()); });
      CHECK(same_bits(applied(ctx, m, x), before));  // what is not finite never reaches an apply
      m.refresh(ctx, good.matrix.val.cspan());
      CHECK(same_bits(applied(ctx, m, x), before));
    }
  }
}

TEST_BOTH("FSAI refuses a singular matrix and a missing diagonal entry", "[precond][fsai]") {
  const auto singular = upload_matrix<double>(ctx, from_rows(2, {{{0, 1.0}, {1, -1.0}}, {{0, -1.0}, {1, 1.0}}}));
  CHECK(contains(message_of<NotPositiveDefinite>([&] { fsai(ctx, singular.wide()); }), "row 1 "));
  const auto missing = upload_matrix<double>(ctx, from_rows(3, {{{0, 1.0}}, {{2, 0.5}}, {{1, 0.5}, {2, 1.0}}}));
  const std::string message = message_of<NotPositiveDefinite>([&] { fsai(ctx, missing.wide()); });
  CHECK(contains(message, "row 1 "));
  CHECK(contains(message, "1 more"));
}

TEST_BOTH("FSAI refuses rows with too large a local problem, rectangles and options out of range",
          "[precond][fsai]") {
  HostCsr arrow = arrow_matrix(5000);
  const auto there = upload_matrix<double>(ctx, arrow);
  CHECK(fsai(ctx, there.wide()).info().figures[1].second == 2);
  // The other way round the full row comes last.
  std::vector<Index> backwards(5000);
  for (Index i = 0; i < 5000; ++i) backwards[i] = 4999 - i;
  const RowOrder<S> order = make_row_order(ctx, backwards);
  const auto permuted = permute(ctx, there.wide(), order);
  CHECK(fsai(ctx, permuted.view(), fsai_options(), order).info().figures[1].second == 1024);  // shortened
  // A pattern that is given is taken as it is.
  PrecondOptions given = fsai_options();
  given.of<PatternOptions>().pattern =
      std::make_shared<GivenPattern>(GivenPattern{arrow.rows, arrow.row_ptr, arrow.col});
  const std::string message = message_of<InputError>([&] { fsai(ctx, permuted.view(), given, order); });
  CHECK(contains(message, "row 0 (0-based)"));
  CHECK(contains(message, "5000 entries"));

  const auto rectangle = upload_matrix<double>(ctx, ragged_matrix(40, 50));
  CHECK(contains(message_of<InputError>([&] { fsai(ctx, rectangle.wide()); }), "square"));
  const auto sound = upload_matrix<double>(ctx, tridiagonal_matrix(9));
  const auto refused = [&](const PrecondOptions& options) {
    return message_of<InputError>([&] { make_precond<double, S>(ctx, sound.wide(), {}, options, SpmvOptions{}); });
  };
  CHECK(contains(refused(fsai_options(0)), "at least 1"));
  CHECK(contains(refused(fsai_options(1, -1)), "drop"));
  CHECK(contains(refused(fsai_options(1, std::nan(""))), "drop"));
}
