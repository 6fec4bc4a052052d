// SPDX-License-Identifier: Apache-2.0
/// Contender: a product that takes part in a comparison, and how it is built.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/spmv/registry.hpp>

namespace newel::bench {

/// A product that was built, and what that took. Phases of the format's own are in its `info()`.
template <class T, Space S>
struct BuiltProduct {
  OperatorPtr<T, S> matrix;  ///< in `order`
  RowOrder<S> order;
  double plan_seconds = 0;
  double permute_seconds = 0;
  double format_seconds = 0;

  double setup_seconds() const { return plan_seconds + permute_seconds + format_seconds; }
};

template <class T, Space S>
struct Contender {
  using Build = std::function<BuiltProduct<T, S>(const Context<S>&, const CsrView<T, S>&)>;

  std::string name;
  Build build;              ///< throws Error where the contender does not take the matrix
  bool competitor = false;  ///< one of those that the others are compared with
  bool break_even = false;  ///< one of those whose setup and products the others have to undercut
};

/// A format of the table as LinearSystem sets it up: plan_order, permute where it renumbers, make_spmv. Throws
/// OutOfMemory before the work begins where the estimate exceeds what there is.
template <class T, Space S>
Contender<T, S> format_contender(const std::string& name);

/// Every format of the table by its name, then with each of its variants.
std::vector<std::string> all_format_names();

/// What the table's formats are compared with. Device: cuSPARSE's CSR (both algorithms), sliced ELL, BSR and COO.
/// Host: our own CSR, and Eigen's row-major product where Eigen was found at build time.
template <class T>
std::vector<Contender<T, Space::host>> competitors(const Context<Space::host>&);
template <class T>
std::vector<Contender<T, Space::device>> competitors(const Context<Space::device>&);

}  // namespace newel::bench
