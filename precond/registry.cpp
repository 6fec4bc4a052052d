// SPDX-License-Identifier: Apache-2.0
// Looks preconditioners up in their table and builds them.
#include <newel/precond/registry.hpp>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel {

const std::list<PrecondMethod>& preconditioners() { return detail::precond_table().lines(); }

Registration register_preconditioner(PrecondMethod method) { return detail::precond_table().add(std::move(method)); }

const PrecondMethod& find_preconditioner(std::string_view name) {
  if (const PrecondMethod* line = detail::precond_table().find(name)) return *line;
  std::vector<std::string> names = {"none"};
  for (const PrecondMethod& method : preconditioners()) names.push_back(method.name);
  refuse_unknown("preconditioner", name, names);
}

namespace {

bool serves(const PrecondMethod& method, AutoPrecond use) {
  return method.automatic == use || (use == AutoPrecond::definite && method.automatic == AutoPrecond::elliptic);
}

}  // namespace

const PrecondMethod* automatic_preconditioner(AutoPrecond use) {
  for (const PrecondMethod& method : preconditioners()) {
    if (serves(method, use)) return &method;
  }
  return nullptr;
}

std::vector<const PrecondMethod*> automatic_preconditioners(AutoPrecond use) {
  std::vector<const PrecondMethod*> found;
  for (const PrecondMethod& method : preconditioners()) {
    if (serves(method, use)) found.push_back(&method);
  }
  return found;
}

std::vector<MethodOption> precond_option_list() { return options_of(preconditioners()); }

std::uint64_t estimate_precond_bytes(const PrecondOptions& options, const SpmvOptions& spmv_options, Index rows,
                                     Offset nonzeros, std::size_t value_bytes) {
  const std::string name = canonical_name(options.name);
  const PrecondMethod* method = nullptr;
  if (name == "auto") {
    method = automatic_preconditioner(AutoPrecond::simple);
  } else if (name != "none") {
    method = &find_preconditioner(name);
  }
  if (method == nullptr || method->estimate_bytes == nullptr) return 0;
  const SpmvFormat& format = find_spmv_format(precond_spmv(options, spmv_options).format);
  return method->estimate_bytes(options, format, rows, nonzeros, value_bytes);
}

template <class T, Space S>
OperatorPtr<T, S> make_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options) {
  if (same_name(options.name, "none")) return nullptr;
  const PrecondMethod& method = find_preconditioner(options.name);
  if (method.check != nullptr) method.check(options);
  const auto make = method.make.get<T, S>();
  if (make == nullptr) {
    throw InputError("preconditioner '" + method.name + "' is not available on the " + std::string(name_of(S)));
  }
  return make(ctx, a, order, options, spmv_options);
}

PrecondSide precond_side(const PrecondOptions& options) {
  const PrecondMethod* method = detail::precond_table().find(options.name);
  return method != nullptr && method->side != nullptr ? method->side(options) : PrecondSide::right;
}

SpmvOptions precond_spmv(const PrecondOptions& options, const SpmvOptions& spmv_options) {
  SpmvOptions result = spmv_options;
  if (!options.format.empty()) {
    result.format = options.format;
  } else if (const std::string& fallback = find_spmv_format(spmv_options.format).fallback; !fallback.empty()) {
    result.format = fallback;
  }
  return result;
}

void require_precond_option(bool sound, const std::string& what) {
  if (!sound) throw InputError("preconditioner options: " + what);
}

#define X(T, S)                                                                                        \
  template OperatorPtr<T, S> make_precond(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                          const PrecondOptions&, const SpmvOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
