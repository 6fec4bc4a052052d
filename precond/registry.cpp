// SPDX-License-Identifier: Apache-2.0
// The table of preconditioners: one line each.
#include <purlin/precond/registry.hpp>

#include <cmath>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/precond/fsai/fsai.hpp>
#include <purlin/precond/jacobi/jacobi.hpp>
#include <purlin/precond/spai/spai.hpp>

namespace purlin {
namespace {

template <class Operator, class T, Space S>
OperatorPtr<T, S> make(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                       const PrecondOptions& options, const SpmvOptions& spmv_options) {
  return std::make_unique<Operator>(ctx, a, order, options, spmv_options);
}

// A line of the table. The device column is there with CUDA on.
template <template <class, Space> class Operator>
PrecondEntry line(std::string name, std::string summary, EstimatePrecond estimate_bytes) {
  PrecondEntry entry;
  entry.name = std::move(name);
  entry.summary = std::move(summary);
  entry.estimate_bytes = estimate_bytes;
  entry.make.host_double = &make<Operator<double, Space::host>, double, Space::host>;
  entry.make.host_float = &make<Operator<float, Space::host>, float, Space::host>;
  if constexpr (PURLIN_HAS_CUDA == 1) {
    entry.make.device_double = &make<Operator<double, Space::device>, double, Space::device>;
    entry.make.device_float = &make<Operator<float, Space::device>, float, Space::device>;
  }
  return entry;
}

void require(bool sound, const std::string& what) {
  if (!sound) throw InputError("preconditioner options: " + what);
}

void check_options(const PrecondOptions& o) {
  require(o.spai_power >= 1 && o.fsai_power >= 1, "the power of a pattern is at least 1");
  require(std::isfinite(o.drop) && o.drop >= 0, "drop is a finite number that is not negative");
  require(std::isfinite(o.adaptive) && o.adaptive >= 0, "adaptive is a finite number that is not negative");
  const bool plain = o.spai_power == 1 && o.fsai_power == 1 && o.drop == 0 && o.adaptive == 0;
  require(o.pattern == nullptr || plain, "a pattern that is given takes no power, drop or adaptive growth");
}

}  // namespace

const std::vector<PrecondEntry>& preconditioners() {
  static const std::vector<PrecondEntry> table = {
      line<JacobiOperator>("jacobi", "the inverse of the diagonal", &detail::estimate_jacobi_bytes),
      line<Spai0Operator>("spai0", "the diagonal matrix closest to the inverse", &detail::estimate_spai0_bytes),
      line<SpaiOperator>("spai", "the sparse matrix closest to the inverse, for any matrix",
                         &detail::estimate_spai_bytes),
      line<FsaiOperator>("fsai", "G^T G with a sparse lower triangle G, for symmetric positive definite matrices",
                         &detail::estimate_fsai_bytes),
  };
  return table;
}

const PrecondEntry& find_preconditioner(std::string_view name) {
  const std::string wanted = canonical_name(name);
  std::string known = "none";
  for (const PrecondEntry& entry : preconditioners()) {
    if (canonical_name(entry.name) == wanted) return entry;
    known += ", " + entry.name;
  }
  throw InputError("there is no preconditioner '" + std::string(name) + "'; there are: " + known);
}

std::uint64_t estimate_precond_bytes(const PrecondOptions& options, const SpmvOptions& spmv_options, Index rows,
                                     Offset nonzeros, std::size_t value_bytes) {
  const std::string name = canonical_name(options.name);
  if (name == "none") return 0;
  const SpmvFormat& format = find_spmv_format(precond_spmv(options, spmv_options).format);
  const PrecondEntry& entry = find_preconditioner(name == "auto" ? "jacobi" : name);
  return entry.estimate_bytes(options, format, rows, nonzeros, value_bytes);
}

template <class T, Space S>
OperatorPtr<T, S> make_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options) {
  if (canonical_name(options.name) == "none") return nullptr;
  check_options(options);
  const PrecondEntry& entry = find_preconditioner(options.name);
  const auto make_entry = entry.make.get<T, S>();
  if (make_entry == nullptr) {
    throw InputError("preconditioner '" + entry.name + "' does not exist on the " + std::string(name_of(S)));
  }
  return make_entry(ctx, a, order, options, spmv_options);
}

SpmvOptions precond_spmv(const PrecondOptions& options, const SpmvOptions& spmv_options) {
  SpmvOptions result = spmv_options;
  if (!options.format.empty()) {
    result.format = options.format;
  } else if (const std::string& beside = find_spmv_format(spmv_options.format).beside; !beside.empty()) {
    result.format = beside;
  }
  return result;
}

#define X(T, S)                                                                                        \
  template OperatorPtr<T, S> make_precond(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                          const PrecondOptions&, const SpmvOptions&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
