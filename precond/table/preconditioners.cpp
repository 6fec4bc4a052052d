// SPDX-License-Identifier: Apache-2.0
// The table of preconditioners: one line each. No other file includes them all.
#include <newel/precond/registry.hpp>
#include "precond/amg/amg.hpp"
#include "precond/block_jacobi/block_jacobi.hpp"
#include "precond/fsai/fsai.hpp"
#include "precond/incomplete/incomplete.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "precond/l1_jacobi/l1_jacobi.hpp"
#include "precond/spai/spai.hpp"

namespace newel::detail {

Table<PrecondMethod>& precond_table() {
  static Table<PrecondMethod> methods = {
      "preconditioner",
      {"auto", "none"},
      {jacobi_method(), l1_jacobi_method(), block_jacobi_method(), spai0_method(), spai_method(), fsai_method(),
       amg_method(), ilu_method(), ilut_method(), ic_method()}};
  return methods;
}

}  // namespace newel::detail
