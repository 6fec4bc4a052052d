// SPDX-License-Identifier: Apache-2.0
// Eigenpairs on a device. Vectors may lie in its memory or in that of the host.
#include "eigenpairs.hpp"

#include "device_arrays.hpp"

namespace newel::c {
namespace {

// What another system has queued on its own stream is done before its operators are used.
void require_on(const EigenSide<device>& a, const EigenSide<device>& other, const char* what) {
  require_fit(other, a.system->rows(), what);
  if (other.ctx->device() != a.ctx->device()) {
    throw InputError(std::string(what) + ": expected a system on device " + std::to_string(a.ctx->device()) +
                     ", where A is, found one on device " + std::to_string(other.ctx->device()));
  }
  other.ctx->synchronize();
}

}  // namespace

EigenReport eigenpairs_on_device(const System& a, const EigenQuestion& question) {
  const EigenSide<device> of_a = a.eigen_sides().on_device;
  const EigenSide<device> m = question.mass != nullptr ? question.mass->eigen_sides().on_device : EigenSide<device>();
  const EigenSide<device> preconditioned = question.preconditioned->eigen_sides().on_device;
  const Context<device>& ctx = *of_a.ctx;
  const Turn turn(ctx, of_a.order);
  require_fit(of_a, of_a.system->rows(), "eigenpairs");
  require_on(of_a, preconditioned, "preconditioned");
  require_symmetric(of_a, "eigenpairs");
  if (question.mass != nullptr) {
    require_on(of_a, m, "mass");
    require_symmetric(m, "mass");
    m.ctx->synchronize();
  }
  EigenProblem<device> problem = problem_of(of_a, m, preconditioned);
  const std::int64_t rows = of_a.system->rows(), size = rows * question.options.pairs;
  DeviceArrays arrays(ctx);
  const std::int64_t bytes = rows * question.left_out * std::int64_t{sizeof(double)};
  problem.deflated = {static_cast<const double*>(arrays.here(question.null_space, bytes, "null_space")),
                      rows * question.left_out};
  const bool stays = size > 0 && is_here(ctx, question.vectors, "vectors");
  Array<double, device> copied(ctx, stays ? 0 : size);
  const Span<double, device> vectors = stays ? Span<double, device>(question.vectors, size) : copied.span();
  EigenReport report = smallest_eigenpairs<device>(ctx, problem, question.options, vectors, {}, question.progress);
  if (!stays) copy<double>(ctx, Span<const double, device>(vectors), Span<double, host>(question.vectors, size));
  return report;
}

}  // namespace newel::c
