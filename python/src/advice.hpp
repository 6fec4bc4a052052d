// SPDX-License-Identifier: Apache-2.0
/// The library's advice in the words of Python, for the reports of solves.
#pragma once

#include <purlin/solver/advice.hpp>

namespace purlin::python {

/// `solver="gmres", restart=100`, rows counted from 0.
const AdviceWords& advice_words();

}  // namespace purlin::python
