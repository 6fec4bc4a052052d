// SPDX-License-Identifier: Apache-2.0
// Copies of CSR matrices between spaces, views of both widths, and the canonical form.
#include "tests/catch.hpp"
#include "tests/support.hpp"

#include <purlin/core/error.hpp>

using namespace purlin;
using namespace purlin::testing;

namespace {

bool same_matrix(const HostCsr& a, const HostCsr& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && same_bits(a.val, b.val);
}

// A host matrix that may be out of order, with repeated entries.
struct Loose {
  Index rows, cols;
  std::vector<Offset> row_ptr;
  std::vector<Index> col;
  std::vector<float> val;

  CsrView<float, Space::host> view() const {
    return {rows, cols, Span<const Offset, Space::host>(row_ptr.data(), static_cast<std::int64_t>(row_ptr.size())),
            Span<const Index, Space::host>(col.data(), static_cast<std::int64_t>(col.size())),
            Span<const float, Space::host>(val.data(), static_cast<std::int64_t>(val.size()))};
  }
};

Loose random_loose(Index rows, Index cols) {
  Random random(21);
  Loose a{rows, cols, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (Index k = random.index(i % 50 == 0 ? 200 : 9); k > 0; --k) {
      a.col.push_back(random.index(cols));
      a.val.push_back(static_cast<float>(random.value() / 3));
    }
    a.row_ptr.push_back(static_cast<Offset>(a.col.size()));
  }
  return a;
}

}  // namespace

TEST_BOTH("make_csr copies views of either width, with 64-bit row pointers", "[csr]") {
  const auto ctx = make_context<S>();
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    CHECK(there.wide().wide());
    CHECK_FALSE(there.narrow().wide());
    CHECK(there.narrow().nnz() == a.nnz());
    const Csr<double, S> from_wide = make_csr<double>(ctx, there.wide());
    const Csr<double, S> from_narrow = make_csr<double>(ctx, there.narrow());
    CHECK(same_matrix(download_matrix(ctx, from_wide), a));
    CHECK(same_matrix(download_matrix(ctx, from_narrow), a));
    CHECK((from_wide.val.data() != there.matrix.val.data() || a.nnz() == 0));
  }
}

TEST_CASE("A view reads its row pointers at either width", "[csr]") {
  const Context<Space::host> ctx;
  const auto a = upload_matrix<double>(ctx, tridiagonal_matrix(5));
  for (Index i = 0; i <= 5; ++i) {
    CHECK(a.wide().row_begin(i) == a.matrix.row_ptr[i]);
    CHECK(a.narrow().row_begin(i) == a.matrix.row_ptr[i]);
    CHECK(Pattern<Space::host>(a.wide()).row_begin(i) == a.matrix.row_ptr[i]);
    CHECK(Pattern<Space::host>(a.narrow()).row_begin(i) == a.matrix.row_ptr[i]);
  }
  CHECK(with_row_ptr(a.wide(), [](auto p) { return sizeof(*p.data); }) == 8);
  CHECK(with_row_ptr(a.narrow(), [](auto p) { return sizeof(*p.data); }) == 4);
}

TEST_CASE("The canonical form of three small rows can be checked by hand", "[csr]") {
  // Row 0: columns 2 0 2; row 1: nothing; row 2: 1 1 1.
  const Loose a{3, 3, {0, 3, 3, 6}, {2, 0, 2, 1, 1, 1}, {1, 2, 4, 8, 16, 32}};
  const Context<Space::host> ctx(2);
  Array<Offset, Space::host> target;
  const auto canonical = download_matrix(ctx, make_canonical(ctx, a.view(), &target));
  CHECK(canonical.row_ptr == std::vector<Offset>{0, 2, 2, 3});
  CHECK(canonical.col == std::vector<Index>{0, 2, 1});
  CHECK(canonical.val == std::vector<double>{2, 5, 56});
  CHECK(download(ctx, target) == std::vector<Offset>{1, 0, 1, 2, 2, 2});
}

TEST_CASE("The canonical form sums repeated entries in the order in which they stood", "[csr]") {
  // (1 + 1e8) - 1e8 is 0 in single precision; from the other end it is 1.
  const Loose a{1, 2, {0, 4}, {1, 0, 1, 1}, {1, 3, 1e8f, -1e8f}};
  const Context<Space::host> ctx;
  CHECK(download_matrix(ctx, make_canonical(ctx, a.view())).val == std::vector<double>{3, 0});

  const Loose b = random_loose(2000, 60);
  Rows sums(2000);
  for (Index i = 0; i < b.rows; ++i) {
    for (Offset k = b.row_ptr[i]; k < b.row_ptr[i + 1]; ++k) {
      const auto [at, fresh] = sums[i].emplace(b.col[k], b.val[k]);
      if (!fresh) at->second = static_cast<float>(at->second) + b.val[k];
    }
  }
  const HostCsr expected = from_rows(60, sums);
  for (const int threads : {1, 2, 3}) {
    const Context<Space::host> some(threads);
    Array<Offset, Space::host> target;
    const auto canonical = make_canonical(some, b.view(), &target);
    check_csr<float>(some, canonical);
    CHECK(same_matrix(download_matrix(some, canonical), expected));
    bool targets_right = target.size() == static_cast<std::int64_t>(b.col.size());
    for (Index i = 0; targets_right && i < b.rows; ++i) {
      for (Offset k = b.row_ptr[i]; k < b.row_ptr[i + 1]; ++k) {
        targets_right &= target[k] >= expected.row_ptr[i] && target[k] < expected.row_ptr[i + 1] &&
                         expected.col[target[k]] == b.col[k];
      }
    }
    CHECK(targets_right);
  }
}

TEST_CASE("A canonical matrix is its own canonical form", "[csr]") {
  const Context<Space::host> ctx;
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    Array<Offset, Space::host> target;
    CHECK(same_matrix(download_matrix(ctx, make_canonical(ctx, there.narrow(), &target)), a));
    std::vector<Offset> identity;
    for (Offset k = 0; k < a.nnz(); ++k) identity.push_back(k);
    CHECK(download(ctx, target) == identity);
  }
}

TEST_CASE("make_canonical refuses what no matrix can be, without reading past the arrays", "[csr]") {
  const Context<Space::host> ctx;
  const auto message = [&](const Loose& a) { return message_of<InputError>([&] { make_canonical(ctx, a.view()); }); };
  CHECK(message({2, 2, {0, 1}, {0}, {1}}) != "");
  CHECK(message({1, 1, {0, 2}, {0}, {1}}) != "");
  CHECK(message({1, 1, {1, 1}, {0}, {1}}) != "");
  CHECK(message({1, 1, {0, 2}, {0, 0}, {1}}) != "");
  CHECK(message({-1, 1, {}, {}, {}}) != "");
  CHECK(contains(message({3, 2, {0, 2, 1, 2}, {0, 1}, {1, 1}}), "row 1"));
  CHECK(
      contains(message({3, 2, {0, 1000000, 1, 2}, {0, 1}, {1, 1}}), "row 0 (0-based): row_ptr descends or leaves"));
  CHECK(contains(message({2, 2, {0, 1, 2}, {0, 2}, {1, 1}}), "row 1"));
  CHECK(contains(message({2, 2, {0, 1, 2}, {-1, 1}, {1, 1}}), "row 0"));
}

#if PURLIN_HAS_CUDA

TEST_CASE("A device matrix comes back to the host as it was", "[csr][device]") {
  const Context<Space::host> host;
  const Context<Space::device> ctx;
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<float>(ctx, a);
    CHECK(same_matrix(download_matrix(host, make_host_csr(host, ctx, there.wide())), a));
    CHECK(same_matrix(download_matrix(host, make_host_csr(host, ctx, there.narrow())), a));
  }
}

TEST_CASE("make_csr with a device context uploads host views of either width", "[csr][device]") {
  const Context<Space::host> host;
  const Context<Space::device> ctx;
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto here = upload_matrix<double>(host, a);
    CHECK(same_matrix(download_matrix(ctx, make_csr<double>(ctx, here.wide())), a));
    CHECK(same_matrix(download_matrix(ctx, make_csr<double>(ctx, here.narrow())), a));
  }
}

#endif
