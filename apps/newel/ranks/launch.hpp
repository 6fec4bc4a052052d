// SPDX-License-Identifier: Apache-2.0
/// Whether a launcher of MPI, such as mpirun, has started this process, as the environment shows it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace newel::cli {

/// As many processes as were started together, and which of them this is. One: no launcher.
struct Launch {
  int size = 1;
  int rank = 0;  ///< from 0
};

/// What a process other than the first returns when all find the same mistake before they begin, or do nothing: a
/// launcher may end the first, which is about to print, as soon as another returns a failure.
inline constexpr int exit_left_to_first = 0;

/// `variable`: the value of a variable of the environment, if it is set. Open MPI, launchers with PMI (MPICH, Intel
/// MPI, Slurm) and Slurm with PMIx are known.
Launch launch_from(const std::function<std::optional<std::string>(const char*)>& variable);

/// By the environment of this process.
Launch launch_of_process();

}  // namespace newel::cli
