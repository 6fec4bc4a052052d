// SPDX-License-Identifier: Apache-2.0
// The options of ranks as texts that are compared.
#include "distributed/same_options.hpp"

#include <limits>
#include <sstream>
#include <variant>
#include <vector>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>

namespace newel::detail {

std::string text_of(const StopCriterion& stop) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << "max_iterations " << stop.max_iterations << ", rel_tol " << stop.rel_tol << ", abs_tol " << stop.abs_tol
       << ", time_limit_seconds " << stop.time_limit_seconds << ", check_every " << stop.check_every;
  return text.str();
}

std::string text_of(const SystemOptions& options) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << "solver " << options.solver.name << ", preconditioner " << options.precond.name << ", format "
       << options.spmv.format << ", " << text_of(options.stop) << ", null_space "
       << static_cast<int>(options.null_space) << ", mixed " << options.mixed;
  text << ", preconditioner's format " << options.precond.format << ", symmetric " << options.precond.symmetric
       << ", expected_products " << options.expected_products;
  const auto add = [&](const MethodOption& option, const OptionBag& methods) {
    text << ", " << option.key << " ";
    std::visit([&](const auto& value) { text << value; }, option.get(methods));
  };
  for (const MethodOption& option : solver_option_list()) add(option, options.solver.methods);
  for (const MethodOption& option : precond_option_list()) add(option, options.precond.methods);
  return text.str();
}

void require_same_options(Communicator& communicator, const std::string& options) {
  const std::vector<std::string> all = communicator.texts(options);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw InputError("the options of rank " + std::to_string(r) + " (" + all[r] + ") are not those of rank 0 (" +
                     all[0] + ")");
  }
}

}  // namespace newel::detail
