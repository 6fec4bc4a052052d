// SPDX-License-Identifier: Apache-2.0
/// A LinearSystem of either precision behind one interface that takes untyped pointers. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "settings.hpp"

namespace purlin::c {

/// The arrays of a matrix as they are passed; see purlin.h.
struct MatrixPointers {
  enum class Form { csr, csc, coo, bsr };
  Form form;
  std::int64_t rows;  ///< of blocks for bsr
  int block_size;
  std::int64_t entries;  ///< of coo
  int index_bits;
  const void *first, *second, *values;
};

class System {
 public:
  virtual ~System() = default;
  virtual Index rows() const = 0;
  virtual void refresh(const void* values, RefreshScope scope) = 0;
  virtual std::vector<SolveReport> solve(const StopCriterion& stop, Index columns, const void* b, void* x,
                                         const ProgressFn& progress) = 0;
  virtual void multiply(const void* x, void* y) = 0;
  virtual SystemInfo info() const = 0;
};

/// Throws what a LinearSystem throws.
std::unique_ptr<System> make_system(const Settings& settings, const MatrixPointers& matrix);

}  // namespace purlin::c
