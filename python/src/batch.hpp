// SPDX-License-Identifier: Apache-2.0
/// Batch: a BatchedSystem of either space and precision behind one interface, as `newel.BatchedSystem` holds it.
#pragma once

#include "system.hpp"

namespace newel::python {

/// Arrays are what the space takes, as in System.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual Index rows() const = 0;
  virtual Offset nonzeros() const = 0;
  virtual bool fits() const = 0;
  virtual void set_limits(double rtol, double atol, int max_iterations) = 0;
  /// From now on entry e of the pattern has the value at position `positions[e]` of those of its system.
  virtual void set_order(const FlatOf<Index>& positions) = 0;
  /// The results as a dict of arrays, one entry for each system. System s has the vector `vectors[s]` of b; with null
  /// the vector s.
  virtual nb::dict solve(Index systems, nb::handle values, nb::handle b, nb::handle x, bool zero,
                         const FlatOf<Index>* vectors) = 0;
};

void bind_batch(nb::module_& module);
/// Batches on a device. Defined only with CUDA on.
void bind_device_batch(nb::module_& module);

}  // namespace newel::python
