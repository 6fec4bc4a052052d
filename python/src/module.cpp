// SPDX-License-Identifier: Apache-2.0
// The module newel._core: what it holds, and the library's errors as Python's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#include "arrays.hpp"
#include "batch.hpp"
#include "diagonal.hpp"
#include "forcing_terms.hpp"
#include "gil.hpp"
#include "interrupts.hpp"
#include "matrix_arrays.hpp"
#include "matrix_facts.hpp"
#include "matrix_files.hpp"
#include "options.hpp"
#include "python_ranks.hpp"
#include "system.hpp"

namespace newel::python {
namespace {

// A caller's mistake is ValueError, what the machine lacks MemoryError or RuntimeError.
void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const PythonFailure& e) {
    e.restore();
  } catch (const RankFailed& e) {
    PyErr_SetString(rank_failed().ptr(), e.what());
  } catch (const InputError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const OutOfMemory& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

}  // namespace
}  // namespace newel::python

NB_MODULE(_core, module) {
  using namespace newel::python;
  module.doc() = "The compiled part of newel. Its names may change; use those of newel.";
  module.attr("version") = NEWEL_VERSION;
  module.attr("has_cuda") = NEWEL_HAS_CUDA == 1;
  module.attr("has_zlib") = NEWEL_HAS_ZLIB == 1;
  nb::set_leak_warnings(false);  // a Solver that lives until the end is no mistake
  nb::register_exception_translator(translate);
  module.def(
      "import_numpy", [] { as_numpy(std::vector<double>()); },
      "Make an array, so that nanobind imports NumPy now and not with the first result.");
  bind_end(module);
  bind_progress(module);
  bind_matrix_arrays(module);
  bind_diagonal(module);
  bind_forcing_terms(module);
  bind_tables(module);
  bind_system(module);
  bind_batch(module);
  bind_rank_system(module);
  bind_matrix_files(module);
  bind_matrix_facts(module);
#if NEWEL_HAS_CUDA
  bind_device(module);
  bind_device_batch(module);
  bind_team_system(module);
#endif
}
