// SPDX-License-Identifier: Apache-2.0
/// PythonRanks: a Communicator whose messages are sent by Python, which may have another MPI than this module knows.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>

#include "arrays.hpp"

namespace newel::python {

/// `ranks`: a newel._ranks.Ranks. It is called with the lock, which the thread must not hold. A RankFailed of Python
/// becomes that of the library; other errors of Python leave as PythonFailure. Made with the lock.
std::shared_ptr<Communicator> python_ranks(nb::object ranks);

/// The exception of Python that stands for RankFailed.
nb::object rank_failed();

}  // namespace newel::python
