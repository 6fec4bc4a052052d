// SPDX-License-Identifier: Apache-2.0
/// The right-hand side: where `--rhs` says that b comes from, and the solution where that makes it known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <newel/io/matrix_market.hpp>

#include "input_matrix.hpp"

namespace newel::cli {

/// `--rhs` taken apart.
struct RhsSpec {
  enum class Kind { file, ones, random } kind = Kind::random;
  bool times_matrix = false;  ///< b = A x*, and x* is the ones or the random vector
  std::uint64_t seed = 1;
  std::string file;
};

/// b.mtx | ones | random[:seed] | A*ones | A*random[:seed]. Throws UsageError for a seed that is no number.
RhsSpec parse_rhs(const std::string& text);

/// b, and x* where b was made from it.
struct RightHandSide {
  HostVector b;  ///< of several columns, one after the other
  Index columns = 1;
  std::optional<HostVector> solution;
  bool complex = false;  ///< real and imaginary parts of a value lie next to each other in `b` and `solution`
};

/// b for the matrix `a`. Throws InputError when the length of a file's columns is not the number of rows, and for a
/// file without columns.
RightHandSide make_rhs(const Context<Space::host>& ctx, const RhsSpec& spec, const Csr<double, Space::host>& a);

/// The same for a matrix that may be complex. b is complex if the matrix is, or the file of b. "ones" are real, and
/// random values have random real and imaginary parts.
RightHandSide make_rhs(const Context<Space::host>& ctx, const RhsSpec& spec, const InputMatrix& matrix);

/// Real and imaginary parts of the values next to each other; imaginary parts that are missing are zero.
HostVector interleaved(const Context<Space::host>& ctx, const DenseColumns& columns);

/// A number in [-1, 1), the same on every machine: 2 u - 1, where u is the upper 53 bits, over 2^53, of the i-th
/// output of splitmix64 started from `seed` (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
double random_entry(std::uint64_t seed, std::uint64_t i);

/// The first n of them.
HostVector random_vector(const Context<Space::host>& ctx, std::uint64_t seed, Index n);

/// n times the same number.
HostVector constant_vector(const Context<Space::host>& ctx, std::int64_t n, double value);

/// A x, row by row in the order of the entries, in double.
HostVector multiply(const Context<Space::host>& ctx, const Csr<double, Space::host>& a,
                    Span<const double, Space::host> x);

/// A vector from a file, or the columns of an array, which may be complex, for `what` ("--rhs", "--guess"). Throws
/// InputError when their length is not `n`, and where there are none.
DenseColumns read_columns_of(const Context<Space::host>& ctx, const std::string& what, const std::string& file,
                             Index n);

/// |x - x*| / |x*|; not a number where x* is zero or empty. The same bits with any number of threads.
double relative_error(const Context<Space::host>& ctx, Span<const double, Space::host> x,
                      Span<const double, Space::host> solution);

}  // namespace newel::cli
