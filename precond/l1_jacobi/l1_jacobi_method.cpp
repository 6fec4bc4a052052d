// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of l1-Jacobi.
#include "precond/l1_jacobi/l1_jacobi.hpp"

namespace newel {
namespace {

// Its row pointers; a value map is not counted.
std::uint64_t estimate_bytes(const PrecondOptions&, const SpmvFormat&, Index rows, Offset, std::size_t value_bytes) {
  return static_cast<std::uint64_t>(rows) * (value_bytes + sizeof(Offset));
}

}  // namespace

PrecondMethod l1_jacobi_method() {
  PrecondMethod l1;
  l1.name = "l1-jacobi";
  l1.summary = "the inverse of the rows' absolute sums, positive definite for any matrix";
  l1.diagonal = true;
  l1.automatic = AutoPrecond::symmetric;
  l1.positive = true;
  l1.estimate_bytes = &estimate_bytes;
  l1.make = precond_columns<L1JacobiOperator>();
  return l1;
}

}  // namespace newel
