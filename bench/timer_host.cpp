// SPDX-License-Identifier: Apache-2.0
// The host's clock around calls.
#include "measure.hpp"
#include "timer.hpp"

namespace newel::bench {

double Timer<Space::host>::back_to_back(int count, const Work& work) const {
  return seconds_of([&] {
           for (int k = 0; k < count; ++k) work();
         }) /
         count;
}

double Timer<Space::host>::one_by_one(int count, const Work& before, const Work& work) const {
  double seconds = 0;
  for (int k = 0; k < count; ++k) {
    before();
    seconds += seconds_of(work);
  }
  return seconds / count;
}

}  // namespace newel::bench
