// SPDX-License-Identifier: Apache-2.0
// The table of preconditioners: one line each. No other file includes them all.
#include <purlin/precond/amg/amg.hpp>
#include <purlin/precond/fsai/fsai.hpp>
#include <purlin/precond/jacobi/jacobi.hpp>
#include <purlin/precond/registry.hpp>
#include <purlin/precond/spai/spai.hpp>

namespace purlin::detail {

Table<PrecondMethod>& precond_table() {
  static Table<PrecondMethod> methods = {
      "preconditioner",
      {"auto", "none"},
      {jacobi_method(), spai0_method(), spai_method(), fsai_method(), amg_method()}};
  return methods;
}

}  // namespace purlin::detail
