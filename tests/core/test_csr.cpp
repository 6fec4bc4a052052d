// SPDX-License-Identifier: Apache-2.0
// Copies of CSR matrices between spaces, views of both widths.
#include "tests/catch.hpp"

namespace {}  // namespace

TEST_BOTH("make_csr copies views of either width, with 64-bit row pointers", "[csr]") {
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

TEST_ON_HOST("A view reads its row pointers at either width", "[csr]") {
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

#if NEWEL_HAS_CUDA

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
