// SPDX-License-Identifier: Apache-2.0
// From the argument of --device to a space and a device of it.
#include "place.hpp"

#include <charconv>

#include "text.hpp"

namespace newel::cli {
namespace {

int devices_that_answer() {
#if NEWEL_HAS_CUDA
  return device_count();
#else
  return 0;
#endif
}

// The N of "cuda:N", 0 for "cuda".
int device_number(const std::string& device) {
  if (device == "cuda") return 0;
  int number = -1;
  const char* end = device.data() + device.size();
  const auto parsed = std::from_chars(device.data() + 5, end, number);
  if (device.rfind("cuda:", 0) != 0 || parsed.ec != std::errc() || parsed.ptr != end || number < 0) {
    throw UsageError(unknown_name("--device", device, {"auto", "host", "cuda", "cuda:N"}));
  }
  return number;
}

}  // namespace

Place choose_place(const std::string& device) {
  if (device == "host") return {};
  if (device == "auto") {
    return devices_that_answer() > 0 ? Place{Space::device, 0} : Place{};
  }
  const int number = device_number(device);
  if (NEWEL_HAS_CUDA == 0) {
    throw NoDevice("--device " + device + ": this newel was built without CUDA (see newel --version)");
  }
  const int count = devices_that_answer();
  if (count == 0) throw NoDevice("--device " + device + ": no CUDA device is available on this machine");
  if (number >= count) {
    throw NoDevice(
        "--device " + device + ": there is no such device, " +
        (count == 1 ? std::string("only cuda:0 is available") : text("cuda:0 to cuda:%d are available", count - 1)));
  }
  return {Space::device, number};
}

Place choose_gpus(int count) {
  const std::string asked = "--gpus " + std::to_string(count);
  if (NEWEL_HAS_CUDA == 0) throw NoDevice(asked + ": this newel was built without CUDA (see newel --version)");
  const int found = devices_that_answer();
  if (count > found) {
    throw NoDevice(asked + ": " +
                   (found == 0 ? std::string("no CUDA device is available on this machine")
                               : "this machine has " + count_of(found, "CUDA device", "CUDA devices")));
  }
  return {Space::device, 0, count};
}

}  // namespace newel::cli
