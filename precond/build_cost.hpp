// SPDX-License-Identifier: Apache-2.0
/// What building a preconditioner costs, from counts: the cost model of the choice "auto". Internal.
#pragma once

#include <string>

#include <purlin/core/csr.hpp>

namespace purlin::detail {

/// Seconds of a setup of `name` on the pattern of A, of which M has `nonzeros` entries (FSAI: both factors together).
/// From sizes of the local problems, not from a clock: the same on every run. Reads the pattern once; that of a
/// device matrix is downloaded.
///
/// Fitted to 170 setups of 86 real matrices on one thread of an EPYC (docs/results/preconditioners_host.json), of
/// which 9 in 10 lie within a factor of 3, and to five systems on an H200.
template <Space S>
double build_seconds(const Context<S>& ctx, const Pattern<S>& pattern, const std::string& name, Offset nonzeros);

}  // namespace purlin::detail
