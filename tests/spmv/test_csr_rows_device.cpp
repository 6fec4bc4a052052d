// SPDX-License-Identifier: Apache-2.0
// csr's own product on the device: chunks that end between rows, rows that they cut, and the bits of both.
#include "tests/capture_device.hpp"
#include "tests/spmv/spmv_support.hpp"

#include <newel/spmv/cost_model.hpp>
#include "spmv/csr/csr_rows.hpp"

namespace {

constexpr Space D = Space::device;

// Of exactly the lengths that are asked for: columns i, i + 1, ..., modulo `cols`.
template <class Length>
HostCsr exact_matrix(Index rows, Index cols, Length&& length) {
  Random random(71);
  MapRows result(rows);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < length(i); ++k) result[i][(i + k) % cols] = random.value();
  }
  return from_rows(cols, result);
}

// Square, and so large that chunks have their full size where a device has few multiprocessors.
std::vector<NamedMatrix> square_matrices() {
  std::vector<NamedMatrix> all;
  for (const Index n : {1, 31, 32, 33}) {
    all.push_back({"n = " + std::to_string(n), exact_matrix(n, n, [](Index i) { return i % 5; })});
  }
  all.push_back({"no entries", empty_matrix(3000, 3000)});
  all.push_back({"rows of 256", exact_matrix(400, 400, [](Index) { return 256; })});
  all.push_back({"rows of 257", exact_matrix(400, 400, [](Index) { return 257; })});
  all.push_back(
      {"one of 240 after 30 of 3", exact_matrix(6000, 6000, [](Index i) { return i % 31 == 30 ? 240 : 3; })});
  all.push_back({"one row in five empty", exact_matrix(9000, 9000, [](Index i) { return i % 5 == 0 ? 0 : 7; })});
  all.push_back({"runs of empty rows", ragged_matrix(20000, 20000)});
  all.push_back({"power law", power_law_matrix(12000)});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:9")});
  return wanted_of(std::move(all));
}

std::vector<NamedMatrix> matrices() {
  std::vector<NamedMatrix> all = square_matrices();
  all.push_back({"a row of 100000 between others",
                 exact_matrix(300, 100000, [](Index i) { return i == 170 ? 100000 : i % 9; })});
  all.push_back({"long rows side by side", exact_matrix(40, 9000, [](Index i) {
                   return i % 4 == 0 ? 0 : i % 4 == 1 ? 9000 : i % 4 == 2 ? 5 : 3001;
                 })});
  all.push_back({"the last row long", exact_matrix(33, 70000, [](Index i) { return i == 32 ? 69999 : 1; })});
  return wanted_of(std::move(all));
}

// The arrays of a matrix, with 64-bit row pointers, which the operator keeps only beyond 2^31 entries.
template <class T>
struct WideMatrix {
  WideMatrix(const Context<D>& ctx, const HostCsr& a)
      : row_ptr(make_array(ctx, a.row_ptr)),
        col(make_array(ctx, a.col)),
        val(make_array(ctx, converted<T>(a.val))),
        rows(ctx, CsrView<T, D>(a.rows, a.cols, row_ptr.cspan(), col.cspan(), val.cspan())) {}
  Array<Offset, D> row_ptr;
  Array<Index, D> col;
  Array<T, D> val;
  detail::CsrRows<T> rows;
};

template <class F>
void for_both_types(const std::vector<NamedMatrix>& all, F&& f) {
  for (const auto& [name, a] : all) {
    INFO(name);
    f(double{}, a);
    f(float{}, a);
  }
}

}  // namespace

TEST_ON_DEVICE("csr on the device multiplies rows of any length, scaled and with x.y", "[spmv][csr][device]") {
  for_both_types(matrices(), [&](auto zero, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.cols, 1), y0 = random_vector<T>(a.rows, 2);
    const Product<T, D> product(ctx, there.narrow(), "csr");
    CHECK(first_outside(product.apply(T(1), x).y, expected_product(a, T(1), x)) == "");
    CHECK(first_outside(product.apply(T(-0.3), x, T(0.7), y0).y, expected_product(a, T(-0.3), x, T(0.7), y0)) == "");
    if (a.rows != a.cols) return;
    const auto found = product.apply_dot(x);
    CHECK(first_outside(found.y, expected_product(a, T(1), x)) == "");
    long double bound = 0;
    const DotOracle expected = expected_dot(a, x, 64, &bound);
    CHECK(std::fabs(found.xy - expected.value) <= bound);
  });
}

TEST_ON_DEVICE("csr on the device takes 64-bit row pointers, with the bits of 32-bit ones", "[spmv][csr][device]") {
  for_both_types(matrices(), [&](auto zero, const HostCsr& a) {
    using T = decltype(zero);
    const WideMatrix<T> wide(ctx, a);
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.cols, 3);
    const auto at_x = upload(ctx, x);
    auto y = poisoned<T>(ctx, a.rows);
    wide.rows.product(ctx, {T(1), at_x.data(), T(0), y.data(), nullptr});
    const std::vector<T> found = download(ctx, y);
    CHECK(first_outside(found, expected_product(a, T(1), x)) == "");
    if (a.nnz() > 0) CHECK(same_bits(found, Product<T, D>(ctx, there.narrow(), "csr").apply(T(1), x).y));
  });
}

TEST_CASE("csr on the device has the same bits in every run, context and graph", "[spmv][csr][device]") {
  const Context<D> ctx, other;
  for_both_types(square_matrices(), [&](auto zero, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a), elsewhere = upload_matrix<T>(other, a);
    const auto x = random_vector<T>(a.cols, 4);
    Product<T, D> product(ctx, there.wide(), "csr"), twin(other, elsewhere.narrow(), "csr");
    const Result<T> first = product.apply_dot(x);
    for (const Result<T>& again : {product.apply_dot(x), twin.apply_dot(x)}) {
      CHECK(same_bits(again.y, first.y));
      CHECK(again.xy == first.xy);
    }
    CHECK(same_bits(product.apply(T(1), x).y, first.y));

    const auto at_x = upload(ctx, x);
    auto y = poisoned<T>(ctx, a.rows), z = poisoned<T>(ctx, a.rows);
    auto xy = poisoned<double>(ctx, 1);
    const CapturedGraph graph(ctx, [&] {
      product.op().apply(ctx, T(1), at_x.cspan(), T(0), y.span());
      product.op().apply_dot(ctx, at_x.cspan(), z.span(), xy.data());
    });
    graph.launch();
    CHECK(same_bits(download(ctx, y), first.y));
    CHECK(same_bits(download(ctx, z), first.y));
    CHECK(fetch(ctx, xy.data()) == first.xy);
  });
}

TEST_ON_DEVICE("csr on the device cuts only rows of more than 256 entries", "[spmv][csr][device]") {
  const auto cut_rows = [&](const HostCsr& a) {
    const auto there = upload_matrix<double>(ctx, a);
    return make_spmv<double, D>(ctx, there.wide(), {}, {"csr"})->info().figure("cut rows").value();
  };
  CHECK(cut_rows(fem_matrix("generate:elasticity:9")) == 0);
  CHECK(cut_rows(exact_matrix(400, 400, [](Index) { return 256; })) == 0);
  CHECK(cut_rows(exact_matrix(400, 400, [](Index) { return 300; })) > 0);
  CHECK(cut_rows(exact_matrix(300, 100000, [](Index i) { return i == 170 ? 100000 : i % 9; })) == 1);
  CHECK(cut_rows(exact_matrix(3, 50000, [](Index i) { return i == 1 ? 3 : 50000; })) == 2);
}

TEST_ON_DEVICE("csr on the device takes the longest row from facts, with the same bits", "[spmv][csr][device]") {
  for_both_types(matrices(), [&](auto zero, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const PatternFacts facts = pattern_facts(ctx, Pattern<D>(there.narrow()));
    const auto made = make_spmv<T, D>(ctx, there.narrow(), {}, {"csr"}, &facts);
    const auto at_x = upload(ctx, random_vector<T>(a.cols, 6));
    auto y = poisoned<T>(ctx, a.rows);
    made->apply(ctx, T(1), at_x.cspan(), T(0), y.span());
    Product<T, D> product(ctx, there.narrow(), "csr");
    CHECK(same_bits(download(ctx, y), product.apply(T(1), random_vector<T>(a.cols, 6)).y));
    CHECK(made->info().figure("cut rows") == product.op().info().figure("cut rows"));
  });
}

TEST_ON_DEVICE("Row lengths are counted on the device as on the host", "[spmv][csr][device]") {
  const auto check = [&](const std::string& name, const HostCsr& a) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    std::map<Index, Index> expected;
    for (std::size_t i = 1; i < a.row_ptr.size(); ++i)
      ++expected[static_cast<Index>(a.row_ptr[i] - a.row_ptr[i - 1])];
    const RowLengths lengths(expected.begin(), expected.end());
    CHECK(row_lengths(ctx, Pattern<D>(there.narrow())) == lengths);
    CHECK(row_lengths(ctx, Pattern<D>(there.wide())) == lengths);
  };
  for (const auto& [name, a] : matrices()) check(name, a);
  // 4096 is the first length that is listed, not counted in place.
  check("4095 to 4097", exact_matrix(70, 5000, [](Index i) { return i < 9 ? 4095 + i % 3 : i; }));
}
