// SPDX-License-Identifier: Apache-2.0
// From words to a space and a precision.
#include "backend.hpp"

#include <charconv>

#include <purlin/config.hpp>

#include "exit_status.hpp"
#include "solve_in.hpp"
#include "text.hpp"

namespace purlin::cli {
namespace {

int devices_that_answer() {
#if PURLIN_HAS_CUDA
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
  if (PURLIN_HAS_CUDA == 0) {
    throw NoDevice("--device " + device + ": this purlin was built without CUDA (see purlin --version)");
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

SolveOutcome solve_at(const Place& place, const Context<Space::host>& host, bool single_precision, SolveTask& task,
                      const SolveObserver& observer) {
  const Stopwatch watch;
  return at_place(place, host, [&](const auto& ctx) {
    using Ctx = std::decay_t<decltype(ctx)>;
    SetupFacts facts;
    if constexpr (std::is_same_v<Ctx, Context<Space::device>>) {
      facts.device_name = ctx.device_name();
      facts.start_seconds = watch.seconds();
    }
    return single_precision ? solve_in<float>(host, ctx, task, facts, observer)
                            : solve_in<double>(host, ctx, task, facts, observer);
  });
}

}  // namespace purlin::cli
