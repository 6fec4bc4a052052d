// SPDX-License-Identifier: Apache-2.0
// The System whose rows are distributed over processes.
#include <nanobind/stl/unique_ptr.h>

#include <limits>
#include <optional>

#include <newel/config.hpp>
#include <newel/distributed/rank_device.hpp>

#include "python_ranks.hpp"
#include "shared_system.hpp"

namespace newel::python {
namespace {

// With the rows of all ranks, by which iterations are estimated.
SystemOptions options_of(const nb::dict& choices, std::int64_t rows, Communicator& ranks) {
  auto all_rows = static_cast<double>(rows);
  ranks.sum(&all_rows, 1);
  return system_options(choices, static_cast<Index>(std::min<double>(all_rows, std::numeric_limits<Index>::max())));
}

template <class T>
std::unique_ptr<System> make(const Flat& row_ptr, const Flat& col, const Flat& val, const nb::dict& choices,
                             int threads, const std::shared_ptr<Communicator>& ranks,
                             [[maybe_unused]] const std::optional<RankDevice>& gpu) {
  const RankRows<T> rows{values_of<std::int64_t>(row_ptr), values_of<std::int64_t>(col), values_of<T>(val)};
  SystemOptions options = options_of(choices, rows.row_ptr.size - 1, *ranks);
#if NEWEL_HAS_CUDA
  if (gpu) {
    using Held = OffloadedSystem<T, Space::device>;
    return std::make_unique<SharedSystem<T, Held>>(std::move(options), [&](const SystemOptions& of_system) {
      std::optional<Context<Space::device>> own;
      if (!gpu->shares) own.emplace(gpu->device);
      return std::make_unique<Held>(own, ranks, rows, of_system);
    });
  }
#endif
  using Held = DistributedSystem<T>;
  return std::make_unique<SharedSystem<T, Held>>(std::move(options), [&](const SystemOptions& of_system) {
    return std::make_unique<Held>(Context<host>(threads), ranks, rows, of_system);
  });
}

// The system, and the number of this rank's GPU if `on_gpus`.
nb::tuple system_of_rows(const Flat& row_ptr, const Flat& col, const Flat& val, bool single, const nb::dict& choices,
                         int threads, nb::object ranks, bool on_gpus) {
  const std::shared_ptr<Communicator> communicator = python_ranks(std::move(ranks));
  std::optional<RankDevice> gpu;
  if (on_gpus) {
    gpu = device_of_rank(*communicator);
    if (!gpu->all_have) throw DeviceError("device: a rank sees no CUDA device");
  }
  auto system = (single ? make<float> : make<double>)(row_ptr, col, val, choices, threads, communicator, gpu);
  return nb::make_tuple(std::move(system), gpu ? nb::cast(gpu->device) : nb::none());
}

}  // namespace

void bind_rank_system(nb::module_& module) {
  module.def("system_of_rows", &system_of_rows, nb::arg("row_ptr"), nb::arg("col"), nb::arg("val"), nb::arg("single"),
             nb::arg("choices"), nb::arg("threads"), nb::arg("ranks"), nb::arg("on_gpus"));
}

}  // namespace newel::python
