// SPDX-License-Identifier: Apache-2.0
// The two choices of Eisenstat and Walker, with their safeguards.
#include <newel/solver/forcing_terms.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <newel/core/error.hpp>

namespace newel {
namespace {

// The safeguard of both choices: eta does not fall faster than at the order of convergence that it leads to, as long
// as the value that this gives is above 0.1.
constexpr double safeguard_from = 0.1;

void require(bool sound, const char* what, double found) {
  if (sound) return;
  throw InputError(std::string("forcing terms: expected ") + what + ", found " + std::to_string(found));
}

}  // namespace

ForcingTerms::ForcingTerms(const ForcingOptions& options) : options_(options) {
  require(options.choice == 1 || options.choice == 2, "choice 1 or 2", options.choice);
  require(options.most > 0 && options.most < 1, "most between 0 and 1", options.most);
  require(options.first > 0 && options.first < 1, "first between 0 and 1", options.first);
  require(options.gamma >= 0 && options.gamma <= 1, "gamma from 0 to 1", options.gamma);
  require(options.alpha > 1 && options.alpha <= 2, "alpha above 1, at most 2", options.alpha);
  require(options.outer_tolerance >= 0, "an outer tolerance that is not negative", options.outer_tolerance);
}

double ForcingTerms::next(double residual, double linear_residual) {
  require(std::isfinite(residual) && residual >= 0, "a finite residual that is not negative", residual);
  require(std::isfinite(linear_residual) && linear_residual >= 0, "a finite linear residual that is not negative",
          linear_residual);
  double eta = options_.first;
  if (last_residual_ > 0) {
    double least = 0;
    if (options_.choice == 1) {
      const double golden = (1 + std::sqrt(5.0)) / 2;
      eta = std::abs(residual - linear_residual) / last_residual_;
      least = std::pow(last_, golden);
    } else {
      eta = options_.gamma * std::pow(residual / last_residual_, options_.alpha);
      least = options_.gamma * std::pow(last_, options_.alpha);
    }
    if (least > safeguard_from) eta = std::max(eta, least);
  }
  last_residual_ = residual;
  last_ = std::min(eta, options_.most);
  if (residual > 0) eta = std::max(eta, 0.5 * options_.outer_tolerance / residual);
  return std::min(eta, options_.most);
}

}  // namespace newel
