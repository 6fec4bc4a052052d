// SPDX-License-Identifier: Apache-2.0
/// When a dearer setup has paid for itself.
#pragma once

#include <optional>

namespace newel::cli {

/// After how many products `setup + n product` is less than `other_setup + n other_product`; none where the product
/// is not faster. 0: the setup alone is less already.
std::optional<double> break_even(double setup, double product, double other_setup, double other_product);

}  // namespace newel::cli
