// SPDX-License-Identifier: Apache-2.0
/// The library's advice in the words of Python, for the reports of solves.
#pragma once

#include <newel/solver/advice.hpp>

namespace newel::python {

/// `solver="gmres", restart=100`, rows counted from 0.
const AdviceWords& advice_words();

}  // namespace newel::python
