// SPDX-License-Identifier: Apache-2.0
/// MpiLibrary: libnewel_mpi_c, which is loaded when a launcher of MPI has started several processes.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>

#include "launch.hpp"

struct newel_comm;

namespace newel::cli {

/// The processes that were launched together. MPI is initialised as long as this lives.
class MpiLibrary {
 public:
  /// Loads the library from the folder of libraries next to the program's, or as the system finds libraries, and
  /// initialises MPI. Throws InputError if it is missing, or if it was built with another MPI than the launcher's: it
  /// then sees one process alone.
  explicit MpiLibrary(const Launch& launch);
  /// Finalises MPI.
  ~MpiLibrary();
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;

  /// All processes as ranks: messages of their own for each call. All processes call it together.
  std::shared_ptr<Communicator> ranks() const;

  /// Ends all processes.
  [[noreturn]] void abort(int status) const;

 private:
  int (*world_)(newel_comm**) = nullptr;
  void (*end_)(int) = nullptr;
  void (*destroy_)(newel_comm*) = nullptr;
};

}  // namespace newel::cli
