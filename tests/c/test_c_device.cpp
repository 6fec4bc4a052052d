// SPDX-License-Identifier: Apache-2.0
// The C interface on a device: arrays there, on the host and in both places, and the order of streams.
#include "tests/solver/systems.hpp"

#include "tests/distributed/device_counts.hpp"

#include <cuda_runtime.h>
#include <newel.h>

#include <numeric>

namespace {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& from) : size_(from.size()) {
    REQUIRE(cudaMalloc(&data_, (size_ + 1) * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // streams that do not wait for the default stream follow
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() { return data_; }
  std::vector<T> values() const {
    std::vector<T> to(size_);
    REQUIRE(cudaMemcpy(to.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return to;
  }

 private:
  std::size_t size_;
  T* data_ = nullptr;
};

// CSR arrays that count from `base`, and the rows of the entries.
template <class T, class I>
struct Parts {
  std::vector<I> row_ptr, row, col;
  std::vector<T> val;

  explicit Parts(const Rows& a, I base = 0) {
    row_ptr.push_back(base);
    for (Index i = 0; i < a.size(); ++i) {
      for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
        row.push_back(static_cast<I>(i) + base);
        col.push_back(static_cast<I>(j) + base);
        val.push_back(static_cast<T>(value));
      }
      row_ptr.push_back(static_cast<I>(col.size()) + base);
    }
  }
};

struct System {
  newel_system* handle = nullptr;
  System() {
    REQUIRE(newel_create(&handle) == NEWEL_OK);
    REQUIRE(newel_set(handle, "device", "cuda") == NEWEL_OK);
  }
  ~System() { newel_destroy(handle); }
  operator newel_system*() const { return handle; }
};

template <class T>
void check_residual(const Rows& a, const std::vector<T>& b, const std::vector<T>& x, double tolerance) {
  CHECK(true_residual<T>(a, b, x) <= tolerance * norm({b.begin(), b.end()}) * (1 + 1e-6));
}

template <class T>
std::vector<T> rhs(const Rows& a) {
  const std::vector<double> b = a.rhs_for(noise(a.size()));
  return {b.begin(), b.end()};
}

template <class T, class I>
void solve_on_device(const char* precision, double tolerance) {
  const Rows a = laplacian(12);
  const I base = sizeof(I) == 4 ? 1 : 0;
  const Parts<T, I> parts(a, base);
  OnDevice<I> row_ptr(parts.row_ptr), row(parts.row), col(parts.col);
  OnDevice<T> val(parts.val);
  const std::vector<T> b = rhs<T>(a);
  constexpr int bits = 8 * sizeof(I);
  for (const bool triplets : {false, true}) {
    const System system;
    CHECK(newel_set(system, "precision", precision) == NEWEL_OK);
    CHECK(newel_set(system, "rtol", std::to_string(tolerance).c_str()) == NEWEL_OK);
    CHECK(newel_set(system, "index_base", base == 1 ? "1" : "0") == NEWEL_OK);
    const auto entries = static_cast<std::int64_t>(parts.col.size());
    const int status = triplets ? newel_setup_coo(system, a.size(), entries, bits, row.data(), col.data(), val.data())
                                : newel_setup_csr(system, a.size(), bits, row_ptr.data(), col.data(), val.data());
    INFO(newel_error(system));
    REQUIRE(status == NEWEL_OK);
    OnDevice<T> bs(b), xs(std::vector<T>(b.size(), 0));
    CHECK(newel_solve(system, 1, bs.data(), xs.data()) == NEWEL_OK);
    check_residual(a, b, xs.values(), tolerance);
    CHECK(bs.values() == b);
  }
}

}  // namespace

TEST_CASE("device arrays are solved from C in both precisions and with both widths of indices", "[c][device]") {
  solve_on_device<double, std::int32_t>("double", 1e-6);
  solve_on_device<double, std::int64_t>("mixed", 1e-6);
  solve_on_device<float, std::int64_t>("single", 1e-4);
}

TEST_CASE("each array of a system on a device may lie there or on the host", "[c][device]") {
  const Rows a = laplacian(12);
  const Parts<double, std::int32_t> parts(a);
  const std::vector<double> b = rhs<double>(a);
  OnDevice<std::int32_t> col(parts.col);
  OnDevice<double> bs(b);
  const System system;
  REQUIRE(newel_setup_csr(system, a.size(), 32, parts.row_ptr.data(), col.data(), parts.val.data()) == NEWEL_OK);
  std::vector<double> x(b.size(), 0);
  CHECK(newel_solve(system, 1, bs.data(), x.data()) == NEWEL_OK);
  check_residual(a, b, x, 1e-8);
  OnDevice<double> xs(x);  // the solution is the guess: nothing is left to do
  CHECK(newel_solve(system, 1, b.data(), xs.data()) == NEWEL_OK);
  double iterations = -1;
  CHECK(newel_report_number(system, 0, "iterations", &iterations) == NEWEL_OK);
  CHECK(iterations == 0);
  CHECK(xs.values() == x);
  CHECK(newel_solve(system, 1, bs.data(), bs.data()) == NEWEL_INVALID);
}

TEST_CASE("products and new values follow each other on a device as they were called from C", "[c][device]") {
  const Rows a = laplacian(12);
  const Parts<double, std::int32_t> parts(a);
  std::vector<double> doubled = parts.val;
  for (double& value : doubled) value *= 2;
  const std::vector<double> x = noise(a.size()), ax = a.rhs_for(x);
  OnDevice<double> val(doubled), xs(x), ys(std::vector<double>(x.size(), -7));
  const System system;
  REQUIRE(newel_setup_csr(system, a.size(), 32, parts.row_ptr.data(), parts.col.data(), parts.val.data()) ==
          NEWEL_OK);
  CHECK(newel_refresh(system, val.data(), 0) == NEWEL_OK);
  CHECK(newel_multiply(system, xs.data(), ys.data()) == NEWEL_OK);
  std::vector<double> y(x.size()), twice = ys.values();  // in the order of the default stream
  CHECK(newel_multiply(system, x.data(), y.data()) == NEWEL_OK);
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Five products and their sum: |A| |x| <= 8.
    CHECK(std::abs(twice[i] - 2 * ax[i]) <= 8 * 2 * 8 * 2.3e-16);
    CHECK(y[i] == twice[i]);
  }
  CHECK(newel_refresh(system, parts.val.data(), 1) == NEWEL_OK);
  CHECK(newel_multiply(system, xs.data(), y.data()) == NEWEL_OK);
  CHECK(std::abs(y[0] - ax[0]) <= 8 * 8 * 2.3e-16);
}

namespace {

// b is written and x is read by copies that are only queued, on `stream` or, for null, on the legacy default stream.
void solve_between_queued_copies(cudaStream_t stream) {
  const Rows a = laplacian(20);
  const Parts<double, std::int32_t> parts(a);
  const std::vector<double> b = rhs<double>(a);
  const std::size_t bytes = b.size() * sizeof(double);
  double *locked_b = nullptr, *locked_x = nullptr;
  REQUIRE(cudaMallocHost(&locked_b, bytes) == cudaSuccess);
  REQUIRE(cudaMallocHost(&locked_x, bytes) == cudaSuccess);
  std::copy(b.begin(), b.end(), locked_b);
  {
    const System system;
    CHECK(newel_set_stream(system, stream) == NEWEL_OK);
    REQUIRE(newel_setup_csr(system, a.size(), 32, parts.row_ptr.data(), parts.col.data(), parts.val.data()) ==
            NEWEL_OK);
    OnDevice<double> bs(std::vector<double>(b.size(), 0)), xs(std::vector<double>(b.size(), 7));
    REQUIRE(cudaMemcpyAsync(bs.data(), locked_b, bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(xs.data(), 0, bytes, stream) == cudaSuccess);
    CHECK(newel_solve(system, 1, bs.data(), xs.data()) == NEWEL_OK);
    OnDevice<double> ys(std::vector<double>(b.size(), 0));
    CHECK(newel_multiply(system, xs.data(), ys.data()) == NEWEL_OK);
    REQUIRE(cudaMemcpyAsync(locked_x, xs.data(), bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(locked_b, ys.data(), bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  }
  check_residual(a, b, std::vector<double>(locked_x, locked_x + b.size()), 1e-8);
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(locked_b[i] == Approx(b[i]).margin(1e-6));
  cudaFreeHost(locked_b);
  cudaFreeHost(locked_x);
}

}  // namespace

TEST_CASE("a system of the C interface takes turns with the default stream and works on the caller's",
          "[c][device]") {
  solve_between_queued_copies(nullptr);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  solve_between_queued_copies(stream);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

namespace {

// The same system in all forms of C, with new values and two right-hand sides.
template <class T>
void solve_on_devices(const std::vector<int>& devices, const char* precision, double tolerance) {
  const Rows a = laplacian(12);
  const Parts<T, std::int32_t> parts(a, 1);
  const std::vector<T> b = rhs<T>(a);
  const auto n = static_cast<std::int64_t>(a.size());
  for (const bool triplets : {false, true}) {
    for (const std::string preconditioner : {"auto", "fsai", "spai", "jacobi"}) {
      INFO(preconditioner);
      const System system;
      CHECK(newel_set_devices(system, static_cast<int>(devices.size()), devices.data()) == NEWEL_OK);
      CHECK(newel_set(system, "precision", precision) == NEWEL_OK);
      CHECK(newel_set(system, "rtol", std::to_string(tolerance).c_str()) == NEWEL_OK);
      CHECK(newel_set(system, "preconditioner", preconditioner.c_str()) == NEWEL_OK);
      CHECK(newel_set(system, "index_base", "1") == NEWEL_OK);
      const auto entries = static_cast<std::int64_t>(parts.col.size());
      const int status =
          triplets ? newel_setup_coo(system, n, entries, 32, parts.row.data(), parts.col.data(), parts.val.data())
                   : newel_setup_csr(system, n, 32, parts.row_ptr.data(), parts.col.data(), parts.val.data());
      INFO(newel_error(system));
      REQUIRE(status == NEWEL_OK);
      std::vector<T> both = b, x(2 * b.size(), 0);
      for (const T value : b) both.push_back(1 - value);
      CHECK(newel_solve(system, 2, both.data(), x.data()) == NEWEL_OK);
      check_residual<T>(a, b, {x.begin(), x.begin() + n}, tolerance);
      check_residual<T>(a, {both.begin() + n, both.end()}, {x.begin() + n, x.end()}, tolerance);
      const char* text = "";
      CHECK(newel_report_text(system, 0, "link", &text) == NEWEL_OK);
      CHECK(std::string(text) != "");
      std::vector<T> values = parts.val, half(b.size(), 0);
      for (T& value : values) value *= 2;
      CHECK(newel_refresh(system, values.data(), 0) == NEWEL_OK);
      CHECK(newel_refresh(system, values.data(), 1) == NEWEL_INVALID);
      CHECK(newel_solve(system, 1, b.data(), half.data()) == NEWEL_OK);
      for (T& value : half) value *= 2;
      check_residual<T>(a, b, half, tolerance);
    }
  }
}

}  // namespace

TEST_CASE("eigenpairs of a device are written to either memory from C", "[c][eigen][device]") {
  constexpr Index n = 300;
  constexpr int pairs = 4;
  Rows chain(n), mass(n);  // free at both ends: stiffness 2 - 2 cos t, mass 4 + 2 cos t, t = k pi / (n - 1)
  for (Index i = 0; i < n; ++i) {
    const bool end = i == 0 || i == n - 1;
    chain.at(i, i) = end ? 1 : 2;
    mass.at(i, i) = end ? 2 : 4;
    if (i > 0) chain.at(i, i - 1) = chain.at(i - 1, i) = -1, mass.at(i, i - 1) = mass.at(i - 1, i) = 1;
  }
  Rows shifted = chain;
  for (std::size_t i = 0; i < shifted.row.size(); ++i) {
    for (auto& [j, value] : shifted.row[i]) value += 1e-5 * mass.at(static_cast<Index>(i), j);
  }
  const auto set_up = [](const System& system, const Rows& a, const char* preconditioner) {
    const Parts<double, std::int32_t> parts(a);
    CHECK(newel_set(system, "solver", "cg") == NEWEL_OK);
    CHECK(newel_set(system, "format", "csr") == NEWEL_OK);
    CHECK(newel_set(system, "preconditioner", preconditioner) == NEWEL_OK);
    CHECK(newel_set(system, "rtol", "1e-7") == NEWEL_OK);
    REQUIRE(newel_setup_csr(system, a.size(), 32, parts.row_ptr.data(), parts.col.data(), parts.val.data()) ==
            NEWEL_OK);
  };
  const System of_a, of_m, near;
  set_up(of_a, chain, "none");
  set_up(of_m, mass, "jacobi");
  set_up(near, shifted, "amg");
  std::vector<double> values(pairs), on_host(std::size_t{n} * pairs, -7), ones(n, 1);
  OnDevice<double> vectors(on_host), left_out(ones);
  int status = newel_eigenpairs(of_a, of_m, near, pairs, 1, left_out.data(), values.data(), vectors.data());
  INFO(newel_error(of_a));
  REQUIRE(status == NEWEL_OK);
  for (int k = 0; k < pairs; ++k) {
    const double c = std::cos((k + 1) * 3.14159265358979323846 / (n - 1));
    CHECK(std::abs(values[static_cast<std::size_t>(k)] - (2 - 2 * c) / (4 + 2 * c)) <= 1e-7 * values.back());
  }
  status = newel_eigenpairs(of_a, of_m, near, pairs, 1, ones.data(), values.data(), on_host.data());
  REQUIRE(status == NEWEL_OK);
  CHECK(vectors.values() == on_host);
  const std::vector<double> x(on_host.begin(), on_host.begin() + n), ax = chain.rhs_for(x), mx = mass.rhs_for(x);
  double sum = 0, length = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double r = ax[i] - values[0] * mx[i];
    sum += r * r / mass.at(static_cast<Index>(i), static_cast<Index>(i));
    length += x[i] * mx[i];
  }
  CHECK(std::sqrt(sum) <= 1.01e-7 * values.back());
  CHECK(std::abs(length - 1) <= 1e-10);
  const System here;  // on the host
  CHECK(newel_set(here, "device", "host") == NEWEL_OK);
  set_up(here, mass, "jacobi");
  CHECK(newel_eigenpairs(of_a, here, near, pairs, 0, nullptr, values.data(), on_host.data()) == NEWEL_INVALID);
}

TEST_CASE("ranks that share a device solve a whole matrix from C", "[c][distributed][device]") {
  solve_on_devices<double>({0, 0}, "double", 1e-6);
  solve_on_devices<float>({0, 0, 0}, "single", 1e-4);
}

TEST_CASE("several devices solve a whole matrix from C", "[c][distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int size : numbers_of_devices()) {
    std::vector<int> devices(static_cast<std::size_t>(size));
    std::iota(devices.begin(), devices.end(), 0);
    solve_on_devices<double>(devices, "double", 1e-6);
  }
}

TEST_CASE("what several devices do not have is refused from C", "[c][distributed][device]") {
  const Rows a = laplacian(5);
  const Parts<double, std::int32_t> parts(a);
  const auto n = static_cast<std::int64_t>(a.size());
  const int devices[] = {0, 0};
  const auto refused = [&](const System& system) {
    CHECK(newel_set_devices(system, 2, devices) == NEWEL_OK);
    CHECK(newel_setup_csr(system, n, 32, parts.row_ptr.data(), parts.col.data(), parts.val.data()) == NEWEL_INVALID);
    return std::string(newel_error(system));
  };
  for (const auto& [option, value] : {std::pair("preconditioner", "ilu"), std::pair("format", "ehyb"),
                                      std::pair("precision", "mixed"), std::pair("plan_cache", "somewhere")}) {
    const System system;
    CHECK(newel_set(system, option, value) == NEWEL_OK);
    CHECK(refused(system) != "");
  }
  const System system;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(newel_set_stream(system, stream) == NEWEL_OK);
  CHECK(refused(system).find("stream") == 0);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(newel_set_stream(system, nullptr) == NEWEL_OK);
  REQUIRE(newel_setup_csr(system, n, 32, parts.row_ptr.data(), parts.col.data(), parts.val.data()) == NEWEL_OK);
  OnDevice<double> there(rhs<double>(a));
  std::vector<double> x(a.size(), 0);
  CHECK(newel_solve(system, 1, there.data(), x.data()) == NEWEL_INVALID);
  CHECK(std::string(newel_error(system)).find("b is in the memory of device") == 0);
  CHECK(newel_solve(system, 1, rhs<double>(a).data(), x.data()) == NEWEL_OK);  // nothing was changed
}
