// SPDX-License-Identifier: Apache-2.0
// Factors by cuDSS: by a library that the test makes up, which can be wrong, and by the real one where it is there.
#include "tests/skipped_library.hpp"
#include "tests/solver/systems.hpp"

#include <cuda_runtime.h>

#include "solver/direct/cudss_factors_device.hpp"
#include "solver/direct/direct_solver.hpp"

namespace {

using detail::Cudss;
constexpr Space device = Space::device;

template <class V>
std::vector<V> read(const void* from, std::int64_t count) {
  std::vector<V> values(static_cast<std::size_t>(count));
  cudaDeviceSynchronize();
  cudaMemcpy(values.data(), from, values.size() * sizeof(V), cudaMemcpyDeviceToHost);
  return values;
}

// Dense elimination with row pivoting behind the functions of cuDSS. One matrix at a time.
struct Made {
  bool wrong = false;  // answers
  int fails_in = 0;    // the phase whose call is refused
  int info = 0;        // after a factorisation of a symmetric kind
  std::vector<int> phases, kinds;
};
Made made;

struct Matrix {
  std::int64_t n, entries;
  const void *begin, *col, *values;
  int kind;
};
Matrix csr, dense[2];
std::vector<double> full;  // by rows

void read_matrix() {
  const auto begin = read<std::int64_t>(csr.begin, csr.n + 1);
  const auto col = read<int>(csr.col, csr.entries);
  const auto values = read<double>(csr.values, csr.entries);
  full.assign(static_cast<std::size_t>(csr.n * csr.n), 0.0);
  for (std::int64_t i = 0; i < csr.n; ++i) {
    for (auto e = begin[static_cast<std::size_t>(i)]; e < begin[static_cast<std::size_t>(i + 1)]; ++e) {
      const std::int64_t j = col[static_cast<std::size_t>(e)];
      const double value = values[static_cast<std::size_t>(e)];
      if (csr.kind != Cudss::general && j > i) continue;  // the lower triangle is all that is read
      full[static_cast<std::size_t>(i * csr.n + j)] = value;
      if (csr.kind != Cudss::general) full[static_cast<std::size_t>(j * csr.n + i)] = value;
    }
  }
}

std::vector<double> eliminate(std::vector<double> b) {
  std::vector<double> a = full;
  const auto n = static_cast<std::size_t>(csr.n);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    }
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return b;
}

int execute(detail::CudssHandle, int phase, detail::CudssConfig, detail::CudssData, detail::CudssMatrix,
            detail::CudssMatrix, detail::CudssMatrix) {
  made.phases.push_back(phase);
  if (phase == made.fails_in) return 6;
  if (phase == Cudss::factorisation || phase == Cudss::refactorisation) read_matrix();
  if (phase != Cudss::solve) return 0;
  std::vector<double> x = eliminate(read<double>(dense[0].values, csr.n));
  if (made.wrong) x[x.size() / 2] *= 1.5;
  cudaMemcpy(const_cast<void*>(dense[1].values), x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice);
  return 0;
}

// Handles that are never read.
template <class Handle>
int make_handle(Handle* handle) {
  *handle = reinterpret_cast<Handle>(&made);
  return 0;
}

Cudss made_up(const Made& how) {
  made = how;
  Cudss library{};
  library.cudssCreate = &make_handle<detail::CudssHandle>;
  library.cudssDestroy = [](detail::CudssHandle) { return 0; };
  library.cudssSetStream = [](detail::CudssHandle, cudaStream_t) { return 0; };
  library.cudssConfigCreate = &make_handle<detail::CudssConfig>;
  library.cudssConfigDestroy = [](detail::CudssConfig) { return 0; };
  library.cudssDataCreate = [](detail::CudssHandle, detail::CudssData* data) { return make_handle(data); };
  library.cudssDataDestroy = [](detail::CudssHandle, detail::CudssData) { return 0; };
  library.cudssDataGet = [](detail::CudssHandle, detail::CudssData, int parameter, void* value, std::size_t,
                            std::size_t*) {
    if (parameter == Cudss::info) *static_cast<int*>(value) = csr.kind == Cudss::general ? 0 : made.info;
    return 0;
  };
  library.cudssMatrixCreateCsr = [](detail::CudssMatrix* matrix, std::int64_t rows, std::int64_t,
                                    std::int64_t entries, const void* begin, const void*, const void* col,
                                    const void* values, cudaDataType_t, cudaDataType_t, cudaDataType_t, int kind, int,
                                    int) {
    csr = {rows, entries, begin, col, values, kind};
    made.kinds.push_back(kind);
    return make_handle(matrix);
  };
  library.cudssMatrixCreateDn = [](detail::CudssMatrix* matrix, std::int64_t rows, std::int64_t, std::int64_t,
                                   const void* values, cudaDataType_t, int) {
    static int next = 0;
    dense[next] = {rows, 0, nullptr, nullptr, values, 0};  // b, then x
    next = 1 - next;
    return make_handle(matrix);
  };
  library.cudssMatrixDestroy = [](detail::CudssMatrix) { return 0; };
  library.cudssExecute = &execute;
  return library;
}

template <class T>
SolveReport solve_by(const Context<device>& ctx, const Cudss& library, const Rows& a, const Rows& other,
                     const std::vector<double>& b, std::vector<T>& x) {
  const Arrays<T, device> arrays(ctx, a), later(ctx, other);
  const RowOrder<device> natural;
  const SolverMatrix<T, device> matrix{arrays.view(), natural};
  detail::DirectSolver<T, device> solver(ctx, matrix,
                                         std::make_unique<detail::CudssFactors<T>>(library, ctx, matrix));
  solver.refresh(ctx, later.val.cspan());
  const auto A = make_spmv<T, device>(ctx, later.view(), natural, SpmvOptions{"csr"});
  const std::vector<T> values(b.begin(), b.end());
  const auto on_device = make_array(ctx, Span<const T, Space::host>(values));
  Array<T, device> found(ctx, a.size());
  fill<T, device>(ctx, T(0), found.span());
  StopCriterion stop;
  stop.rel_tol = std::is_same_v<T, double> ? 1e-12 : 1e-6;
  SolveReport report = solver.solve(ctx, *A, nullptr, on_device.cspan(), found.span(), stop);
  x = to_vector(ctx, found.cspan());
  return report;
}

Rows scaled(Rows a, double by) {
  for (auto& row : a.row) {
    for (auto& [j, value] : row) value *= by;
  }
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) += 0.1 * (i % 3);
  return a;
}

}  // namespace

TEST_ON_DEVICE("cuDSS gets the kind of the matrix, and new values as a refactorisation", "[device][direct][cudss]") {
  const Rows spd = laplacian(6), indefinite = laplacian(6, 0, -4.5), general = laplacian(6, 0.6);
  for (const auto& [a, kind] : {std::pair(spd, Cudss::positive_definite), std::pair(indefinite, Cudss::symmetric),
                                std::pair(general, Cudss::general)}) {
    const Rows other = scaled(a, 1.25);
    const auto b = noise(a.size(), 7);
    const Cudss library = made_up({});
    std::vector<double> x;
    const SolveReport report = solve_by<double>(ctx, library, a, other, b, x);
    CAPTURE(kind, report.reason);
    CHECK(report.converged());
    CHECK(report.changed.empty());
    CHECK(made.kinds == std::vector<int>{kind});
    CHECK(std::vector<int>(made.phases.begin(), made.phases.begin() + 4) ==
          std::vector<int>{Cudss::analysis, Cudss::factorisation, Cudss::refactorisation, Cudss::solve});
    CHECK(true_residual(other, b, x) <= 1e-12 * norm(b));
    std::vector<float> y;
    const Cudss again = made_up({});
    CHECK(solve_by<float>(ctx, again, a, other, b, y).converged());
    CHECK(true_residual(other, b, std::vector<double>(y.begin(), y.end())) <= 1e-5 * norm(b));
  }
}

TEST_ON_DEVICE("Wrong answers of cuDSS, and calls that it refuses, lead to factors on the host",
               "[device][direct][cudss]") {
  Made wrong, refused[3];
  wrong.wrong = true;
  refused[0].fails_in = Cudss::analysis, refused[1].fails_in = Cudss::factorisation;
  refused[2].fails_in = Cudss::solve;
  for (const Made& how : {wrong, refused[0], refused[1], refused[2]}) {
    const Rows a = laplacian(6, 0.6);
    const auto b = noise(a.size(), 8);
    const Cudss library = made_up(how);
    std::vector<double> x;
    const SolveReport report = solve_by<double>(ctx, library, a, a, b, x);
    CAPTURE(how.fails_in, report.changed, report.reason);
    CHECK(report.converged());
    CHECK_THAT(report.changed, Catch::Contains("for L U by cuDSS"));
    CHECK(true_residual(a, b, x) <= 1e-12 * norm(b));
  }
}

TEST_ON_DEVICE("A matrix that cuDSS finds not positive definite gets L U", "[device][direct][cudss]") {
  Made how;
  how.info = 3;
  const Rows a = laplacian(6);
  const auto b = noise(a.size(), 9);
  const Cudss library = made_up(how);
  std::vector<double> x;
  const SolveReport report = solve_by<double>(ctx, library, a, a, b, x);
  CHECK(report.converged());
  CHECK(made.kinds == std::vector<int>{Cudss::positive_definite, Cudss::general});
  CHECK_THAT(report.changed, Catch::Contains("factors L U by cuDSS for L L^T by cuDSS"));
}

TEST_ON_DEVICE("The real cuDSS solves systems of each kind, also with new values", "[device][direct][cudss]") {
  if (skipped_without_library(detail::cudss_missing())) return;
  struct Kind {
    Rows a;
    bool keeps_factors;  // L L^T is tried for the second, which is symmetric and not definite
  };
  for (const auto& [a, keeps_factors] :
       {Kind{laplacian(40), true}, {laplacian(40, 0, -3.1), false}, {laplacian(40, 0.6), true}}) {
    const Rows other = scaled(a, 1.25);
    const auto b = noise(a.size(), 7);
    std::vector<double> x;
    const SolveReport report = solve_by<double>(ctx, *detail::cudss(), a, other, b, x);
    CAPTURE(report.reason, report.changed);
    CHECK(report.converged());
    CHECK(report.changed.empty() == keeps_factors);
    CHECK(true_residual(other, b, x) <= 1e-12 * norm(b));
    std::vector<float> y;
    CHECK(solve_by<float>(ctx, *detail::cudss(), a, other, b, y).converged());
  }
}

TEST_ON_DEVICE("A direct solver on a device is right whether cuDSS is there or not", "[device][direct][cudss]") {
  for (const Rows& a : {laplacian(12), laplacian(12, 0.6)}) {
    const auto b = noise(a.size(), 4);
    SystemOf<double, device> system(ctx, a, system_options("direct"));
    const auto found = run_system(ctx, system, b);
    CAPTURE(found.report.reason);
    CHECK(found.report.converged());
    CHECK(found.report.solver == "direct");
    CHECK(true_residual(a, b, found.x) <= 1e-10 * norm(b));
    const Rows other = scaled(a, 0.75);
    const Arrays<double, device> values(ctx, other);
    system.refresh(values.val.cspan());
    const auto again = run_system(ctx, system, b);
    CHECK(again.report.converged());
    CHECK(true_residual(other, b, again.x) <= 1e-10 * norm(b));
  }
}
