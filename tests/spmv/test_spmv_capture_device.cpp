// SPDX-License-Identifier: Apache-2.0
// Products and preconditioners captured in a CUDA graph do what they do when called.
#include "tests/capture_device.hpp"
#include "tests/spmv/spmv_support.hpp"

#include <newel/precond/registry.hpp>

namespace {

constexpr Space D = Space::device;

template <class T>
std::vector<T> with(std::vector<T> y, double xy) {
  y.push_back(static_cast<T>(xy));
  return y;
}

// apply, apply_dot and refresh of one operator, captured and direct, on whole numbers: the results have one value.
template <class T>
void check_captured(const Context<D>& ctx, MatrixOperator<T, D>& op, const std::vector<T>& values,
                    const std::vector<T>& fresh, const std::vector<T>& x) {
  const auto at_values = upload(ctx, values), at_fresh = upload(ctx, fresh), at_x = upload(ctx, x);
  auto y = poisoned<T>(ctx, op.rows()), z = poisoned<T>(ctx, op.rows());
  auto xy = poisoned<double>(ctx, 1);
  const auto work = [&] {
    op.apply(ctx, T(2), at_x.cspan(), T(0), y.span());
    op.apply(ctx, T(-1), at_x.cspan(), T(3), y.span());
    op.apply_dot(ctx, at_x.cspan(), z.span(), xy.data());
  };
  const auto results = [&] {
    std::vector<T> all = download(ctx, y);
    for (const T value : download(ctx, z)) all.push_back(value);
    return with(all, fetch(ctx, xy.data()));
  };
  op.refresh(ctx, at_fresh.cspan());
  work();
  const std::vector<T> of_fresh = results();
  op.refresh(ctx, at_values.cspan());
  work();
  const std::vector<T> of_values = results();

  const CapturedGraph graph(ctx, work);
  for (int launch = 0; launch < 2; ++launch) {
    graph.launch();
    CHECK(results() == of_values);
  }
  // The graph holds addresses: a refresh reaches it.
  op.refresh(ctx, at_fresh.cspan());
  graph.launch();
  CHECK(results() == of_fresh);
}

}  // namespace

TEST_ON_DEVICE("A product captured in a graph equals the direct call, and sees a refresh", "[spmv][device]") {
  for (const auto& [name, matrix] : awkward_square_matrices()) {
    INFO(name);
    const HostCsr a = integer_values(matrix, 61), b = integer_values(matrix, 62);
    const auto there = upload_matrix<double>(ctx, a);
    for (const std::string& format : format_names<double, D>()) {
      INFO(format);
      Product<double, D> product(ctx, there.wide(), format);
      check_captured<double>(ctx, product.op(), a.val, b.val, whole_vector<double>(a.cols));
    }
    const auto single = upload_matrix<float>(ctx, a);
    for (const std::string& format : format_names<float, D>()) {
      INFO(format);
      Product<float, D> product(ctx, single.wide(), format);
      check_captured<float>(ctx, product.op(), converted<float>(a.val), converted<float>(b.val),
                            whole_vector<float>(a.cols));
    }
  }
}

TEST_ON_DEVICE("A refresh of csr may be captured too", "[spmv][device]") {
  const HostCsr a = integer_values(dominant_matrix(1000), 63), b = integer_values(dominant_matrix(1000), 64);
  const auto x = whole_vector<double>(1000);
  const auto there = upload_matrix<double>(ctx, a);
  const auto at_b = upload(ctx, b.val), at_x = upload(ctx, x);
  auto y = poisoned<double>(ctx, 1000);
  Product<double, D> product(ctx, there.wide(), "csr");
  const CapturedGraph graph(ctx, [&] {
    product.op().refresh(ctx, at_b.cspan());
    product.op().apply(ctx, 1.0, at_x.cspan(), 0.0, y.span());
  });
  CHECK(product.apply(1.0, x).y == product_oracle(a, x));
  graph.launch();
  CHECK(download(ctx, y) == product_oracle(b, x));
}

TEST_ON_DEVICE("FSAI captured in a graph equals the direct call, and sees a refresh", "[precond][device]") {
  const HostCsr a = tridiagonal_matrix(5001);
  HostCsr b = a;
  for (double& value : b.val) value *= 2;
  const auto there = upload_matrix<double>(ctx, a);
  for (const std::string& format : format_names<double, D>()) {
    if (!repeats_its_bits<D>(format)) continue;
    INFO(format);
    PrecondOptions options;
    options.name = "fsai";
    options.format = format;
    const auto m = make_precond<double, D>(ctx, there.wide(), {}, options, SpmvOptions{});
    check_captured<double>(ctx, *m, a.val, b.val, random_vector<double>(a.cols));
  }
}

TEST_ON_DEVICE("Jacobi captured in a graph equals the direct call, and sees a refresh", "[precond][device]") {
  const HostCsr a = dominant_matrix(5001, 1);
  HostCsr b = a;
  for (double& value : b.val) value *= 2;
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = make_precond<double, D>(ctx, there.wide(), {}, PrecondOptions{"jacobi"}, SpmvOptions{});
  check_captured<double>(ctx, *m, a.val, b.val, random_vector<double>(a.cols));
}

TEST_ON_DEVICE("SPAI captured in a graph equals the direct call, and sees a refresh", "[precond][spai][device]") {
  const HostCsr a = dominant_matrix(501, 1);
  HostCsr b = a;
  for (double& value : b.val) value *= 2;
  const auto there = upload_matrix<double>(ctx, a);
  for (const std::string name : {"spai0", "spai"}) {
    for (const bool symmetric : {false, true}) {
      PrecondOptions options{name};
      options.symmetric = symmetric;
      const auto m = make_precond<double, D>(ctx, there.wide(), {}, options, SpmvOptions{"ell-warp"});
      check_captured<double>(ctx, *m, a.val, b.val, random_vector<double>(a.cols));
    }
  }
}
