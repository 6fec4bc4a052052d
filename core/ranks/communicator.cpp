// SPDX-License-Identifier: Apache-2.0
// Sums and largest values over ranks.
#include <newel/core/communicator.hpp>

#include <cmath>

namespace newel {

void Communicator::sum(double* values, int count) {
  all_.resize(static_cast<std::size_t>(size()) * static_cast<std::size_t>(count));
  all_gather(values, count, all_.data());
  for (int k = 0; k < count; ++k) {
    double total = all_[static_cast<std::size_t>(k)];
    for (int r = 1; r < size(); ++r) total += all_[static_cast<std::size_t>(r * count + k)];
    values[k] = total;
  }
}

void Communicator::max(double* values, int count) {
  all_.resize(static_cast<std::size_t>(size()) * static_cast<std::size_t>(count));
  all_gather(values, count, all_.data());
  for (int k = 0; k < count; ++k) {
    double most = all_[static_cast<std::size_t>(k)];
    for (int r = 1; r < size(); ++r) {
      const double value = all_[static_cast<std::size_t>(r * count + k)];
      if (!(value <= most) && !std::isnan(most)) most = value;
    }
    values[k] = most;
  }
}

std::vector<std::string> Communicator::texts(const std::string& mine) {
  return all_to_all(std::vector<std::string>(static_cast<std::size_t>(size()), mine));
}

}  // namespace newel
