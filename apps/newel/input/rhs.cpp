// SPDX-License-Identifier: Apache-2.0
// Right-hand sides from a file, from ones, from a documented random generator, or from a known solution.
#include "rhs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include <newel/core/parallel.hpp>
#include <newel/io/matrix_file.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

std::uint64_t parse_seed(std::string_view digits, const std::string& whole) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw UsageError("--rhs " + whole + ": expected a seed from 0 to 2^64 - 1 after the colon, found '" +
                     std::string(digits) + '\'');
  }
  return seed;
}

}  // namespace

double random_entry(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

RhsSpec parse_rhs(const std::string& whole) {
  RhsSpec spec;
  std::string_view rest = whole;
  spec.times_matrix = starts_with(rest, "A*");
  if (spec.times_matrix) rest.remove_prefix(2);
  if (rest == "ones") {
    spec.kind = RhsSpec::Kind::ones;
  } else if (rest == "random" || starts_with(rest, "random:")) {
    spec.kind = RhsSpec::Kind::random;
    if (rest != "random") spec.seed = parse_seed(rest.substr(7), whole);
  } else if (spec.times_matrix) {
    throw UsageError("--rhs " + whole + ": expected A*ones or A*random[:seed]");
  } else {
    spec.kind = RhsSpec::Kind::file;
    spec.file = whole;
  }
  return spec;
}

HostVector random_vector(const Context<Space::host>& ctx, std::uint64_t seed, Index n) {
  HostVector x(ctx, n);
  parallel_for(ctx, n, [&](Index i) { x[i] = random_entry(seed, static_cast<std::uint64_t>(i)); });
  return x;
}

HostVector constant_vector(const Context<Space::host>& ctx, std::int64_t n, double value) {
  HostVector x(ctx, n);
  parallel_for(ctx, n, [&](std::int64_t i) { x[i] = value; });
  return x;
}

HostVector multiply(const Context<Space::host>& ctx, const Csr<double, Space::host>& a,
                    Span<const double, Space::host> x) {
  HostVector y(ctx, a.rows);
  parallel_for(ctx, a.rows, [&](Index i) {
    double sum = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += a.val[k] * x[a.col[k]];
    y[i] = sum;
  });
  return y;
}

DenseColumns read_columns_of(const Context<Space::host>& ctx, const std::string& what, const std::string& file,
                             Index n) {
  DenseColumns columns = read_complex_columns_file(ctx, input_file(file));
  if (n == 1 && columns.from_row) std::swap(columns.rows, columns.cols);
  if (columns.cols < 1) throw InputError(what + ' ' + file + ": expected at least one column, found none");
  if (columns.rows != n) {
    throw InputError(what + ' ' + file + ": expected " + (columns.cols > 1 ? "columns of " : "") +
                     count_of(n, "value", "values") + ", one for each row of the matrix, found " +
                     thousands(columns.rows));
  }
  return columns;
}

RightHandSide make_rhs(const Context<Space::host>& ctx, const RhsSpec& spec, const Csr<double, Space::host>& a) {
  RightHandSide result;
  if (spec.kind == RhsSpec::Kind::file) {
    DenseColumns columns = read_columns_of(ctx, "--rhs", spec.file, a.rows);
    if (!columns.imaginary.empty()) {
      result.complex = true;
      result.b = interleaved(ctx, columns);
      result.columns = columns.cols;
      return result;
    }
    result.b = std::move(columns.values);
    result.columns = columns.cols;
    return result;
  }
  HostVector values =
      spec.kind == RhsSpec::Kind::ones ? constant_vector(ctx, a.rows, 1) : random_vector(ctx, spec.seed, a.rows);
  if (!spec.times_matrix) {
    result.b = std::move(values);
    return result;
  }
  result.b = multiply(ctx, a, values.cspan());
  result.solution = std::move(values);
  return result;
}

HostVector interleaved(const Context<Space::host>& ctx, const DenseColumns& columns) {
  HostVector z(ctx, 2 * columns.values.size());
  parallel_for(ctx, columns.values.size(), [&](std::int64_t i) {
    z[2 * i] = columns.values[i];
    z[2 * i + 1] = columns.imaginary.empty() ? 0.0 : columns.imaginary[i];
  });
  return z;
}

namespace {

// A x of complex vectors, row by row.
HostVector multiply_complex(const Context<Space::host>& ctx, const InputMatrix& matrix,
                            Span<const double, Space::host> x) {
  const Csr<double, Space::host>& a = matrix.a;
  HostVector y(ctx, 2 * std::int64_t{a.rows});
  parallel_for(ctx, a.rows, [&](Index i) {
    std::complex<double> sum = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int64_t j = 2 * std::int64_t{a.col[k]};
      sum += std::complex<double>(a.val[k], matrix.imaginary[k]) * std::complex<double>(x[j], x[j + 1]);
    }
    y[2 * std::int64_t{i}] = sum.real();
    y[2 * std::int64_t{i} + 1] = sum.imag();
  });
  return y;
}

}  // namespace

RightHandSide make_rhs(const Context<Space::host>& ctx, const RhsSpec& spec, const InputMatrix& matrix) {
  if (matrix.imaginary.empty()) return make_rhs(ctx, spec, matrix.a);
  const Index n = matrix.a.rows;
  RightHandSide result;
  result.complex = true;
  if (spec.kind == RhsSpec::Kind::file) {
    const DenseColumns columns = read_columns_of(ctx, "--rhs", spec.file, n);
    result.b = interleaved(ctx, columns);
    result.columns = columns.cols;
    return result;
  }
  DenseColumns ones;
  if (spec.kind == RhsSpec::Kind::ones) ones.values = constant_vector(ctx, n, 1);
  HostVector values =
      spec.kind == RhsSpec::Kind::ones ? interleaved(ctx, ones) : random_vector(ctx, spec.seed, 2 * n);
  if (!spec.times_matrix) {
    result.b = std::move(values);
    return result;
  }
  result.b = multiply_complex(ctx, matrix, values.cspan());
  result.solution = std::move(values);
  return result;
}

double relative_error(const Context<Space::host>& ctx, Span<const double, Space::host> x,
                      Span<const double, Space::host> solution) {
  const std::int64_t n = solution.size;
  // Scaled by the largest number, so that squares neither overflow nor vanish.
  const double largest = parallel_max(ctx, n, 0.0, [&](std::int64_t i) { return std::abs(solution[i]); });
  if (largest == 0) return std::numeric_limits<double>::quiet_NaN();
  struct Squares {
    double error = 0, length = 0;
  };
  constexpr std::int64_t chunk = 1 << 16;
  std::vector<Squares> of_chunk(static_cast<std::size_t>((n + chunk - 1) / chunk));
  parallel_tasks(ctx, static_cast<std::int64_t>(of_chunk.size()), [&](std::int64_t c) {
    Squares sum;
    for (std::int64_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) {
      const double difference = (x[i] - solution[i]) / largest;
      const double value = solution[i] / largest;
      sum.error += difference * difference;
      sum.length += value * value;
    }
    of_chunk[static_cast<std::size_t>(c)] = sum;
  });
  Squares total;
  for (const Squares& sum : of_chunk) {
    total.error += sum.error;
    total.length += sum.length;
  }
  return std::sqrt(total.error / total.length);
}

}  // namespace newel::cli
