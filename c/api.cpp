// SPDX-License-Identifier: Apache-2.0
// The functions of newel.h, but those for eigenpairs (api_eigenpairs.cpp).
#include "newel.h"

#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/rank_handle.hpp>
#include <newel/precond/amg/amg_options.hpp>

#include "batch_system.hpp"
#include "guarded.hpp"
#include "rank_system.hpp"
#include "settings.hpp"
#include "system.hpp"

using namespace newel;
using c::guarded;
using c::MatrixPointers;
using c::system_of;

namespace {

const SolveReport& report_of(newel_system* s, std::int64_t column) {
  if (column >= 0 && column < static_cast<std::int64_t>(s->reports.size())) {
    return s->reports[static_cast<std::size_t>(column)];
  }
  throw InputError("there is no report of column " + std::to_string(column) + ": the last solve had " +
                   std::to_string(s->reports.size()) + (s->reports.size() == 1 ? " column" : " columns"));
}

// A result of a batch, for the functions that report on columns.
SolveReport report_of(const BatchedResult& result) {
  SolveReport report;
  report.status = result.status;
  report.solver = report.method = result.solver;
  report.failure = result.failure();
  report.reason = text_of(report.failure);
  report.iterations = result.iterations;
  report.rhs_norm = result.rhs_norm;
  report.tolerance = result.tolerance;
  report.initial_residual = result.initial_residual;
  report.true_residual = result.true_residual;
  return report;
}

// `work` makes the system, or sets it up again.
template <class Work>
void set_up_within(newel_system* s, const Work& work) {
  s->reports.clear();
  const auto began = std::chrono::steady_clock::now();
  work();
  s->setup_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  s->info = s->system->info();
}

// `make` returns the new system.
template <class Make>
int set_up_by(newel_system* s, const Make& make) noexcept {
  return guarded(s, [&] {
    s->system.reset();
    set_up_within(s, [&] { s->system = make(); });
    return NEWEL_OK;
  });
}

int set_up(newel_system* s, const MatrixPointers& matrix) noexcept {
  return set_up_by(s, [&] { return c::make_system(s->settings, matrix); });
}

std::vector<double> copied(const double* from, std::int64_t rows, std::int64_t columns, const char* what) {
  if (rows < 0 || columns < 1 || rows > std::numeric_limits<Index>::max()) {
    throw InputError(std::string(what) + ": the sizes are out of range");
  }
  if (from == nullptr && rows > 0) throw InputError(std::string(what) + " is a null pointer");
  return {from, from + rows * columns};
}

std::shared_ptr<const NodeCoordinates> coordinates_of(std::int64_t points, int dimension, const double* xyz) {
  if (dimension > 3)
    throw InputError("coordinates: the dimension must be 1, 2 or 3, not " + std::to_string(dimension));
  auto nodes = std::make_shared<NodeCoordinates>();
  nodes->xyz = copied(xyz, points, dimension, "coordinates");
  nodes->dimension = dimension;
  return nodes;
}

template <class Value>
using Field = std::pair<const char*, Value (*)(const newel_system&, const SolveReport&)>;

using S = const newel_system&;
using R = const SolveReport&;

const Field<double> numbers[] = {
    {"converged", [](S, R r) { return r.converged() ? 1.0 : 0.0; }},
    {"iterations", [](S, R r) { return double(r.iterations); }},
    {"true_residual", [](S, R r) { return r.true_residual; }},
    {"initial_residual", [](S, R r) { return r.initial_residual; }},
    {"rhs_norm", [](S, R r) { return r.rhs_norm; }},
    {"tolerance", [](S, R r) { return r.tolerance; }},
    {"residual_error_bound", [](S, R r) { return r.residual_error_bound; }},
    {"row_residual", [](S, R r) { return r.row_residual; }},
    {"scaled_residual", [](S, R r) { return r.scaled_residual; }},
    {"attainable_residual", [](S, R r) { return r.attainable_residual; }},
    {"guess_vectors", [](S, R r) { return double(r.guess.vectors); }},
    {"given_residual", [](S, R r) { return r.guess.given_residual; }},
    {"iterations_saved", [](S, R r) { return r.guess.iterations_saved; }},
    {"recycled_vectors", [](S, R r) { return double(r.recycle.vectors); }},
    {"recycle_iterations_saved", [](S, R r) { return r.recycle.iterations_saved; }},
    {"seconds", [](S, R r) { return r.seconds; }},
    {"restarts", [](S, R r) { return double(r.restarts); }},
    {"history_length", [](S, R r) { return double(r.history.size()); }},
    {"rows", [](S s, R) { return double(s.system->rows()); }},
    {"setup_seconds", [](S s, R) { return s.setup_seconds; }},
    {"bytes", [](S s, R) { return double(s.info.bytes); }},
};

const Field<std::string> texts[] = {
    {"status", [](S, R r) { return std::string(name_of(r.status)); }},
    {"cause", [](S, R r) { return std::string(name_of(r.failure.cause)); }},
    {"reason", [](S, R r) { return r.reason; }},
    {"warning", [](S, R r) { return r.warning; }},
    {"solver", [](S, R r) { return r.solver; }},
    {"preconditioner", [](S s, R) { return s.info.preconditioner.name; }},
    {"format", [](S s, R) { return s.info.matrix.name; }},
    {"changed", [](S, R r) { return r.changed; }},
    {"guess_from", [](S, R r) { return r.guess.from; }},
    {"link", [](S s, R) { return s.system->link(); }},
    {"decision", [](S s, R) { return json_of(s.system->decision()); }},
};

template <class Value, std::size_t n>
Value field_of(newel_system* s, std::int64_t column, const char* name, const Field<Value> (&fields)[n]) {
  const SolveReport& report = report_of(s, column);
  std::string names;
  for (const auto& [known, get] : fields) {
    if (name != nullptr && std::strcmp(name, known) == 0) return get(*s, report);
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  throw InputError("unknown field \"" + std::string(name != nullptr ? name : "") + "\"; expected one of: " + names);
}

}  // namespace

int newel_c_version(void) { return 1; }
const char* newel_version(void) { return NEWEL_VERSION; }

int newel_create(newel_system** system) {
  if (system == nullptr) return NEWEL_INVALID;
  *system = new (std::nothrow) newel_system;
  return *system == nullptr ? NEWEL_OUT_OF_MEMORY : NEWEL_OK;
}

void newel_destroy(newel_system* system) { delete system; }

const char* newel_error(const newel_system* system) { return system == nullptr ? "" : system->error.c_str(); }

int newel_set(newel_system* system, const char* name, const char* value) {
  return guarded(system, [&] {
    if (name == nullptr || value == nullptr) throw InputError("the name or the value of an option is a null pointer");
    system->settings.set(name, value);
    return NEWEL_OK;
  });
}

int newel_set_coordinates(newel_system* system, int64_t points, int dimension, const double* xyz) {
  return guarded(system, [&] {
    auto nodes = coordinates_of(points, dimension, xyz);
    system->settings.options.spmv.coordinates = points > 0 ? std::move(nodes) : nullptr;
    return NEWEL_OK;
  });
}

int newel_move_nodes(newel_system* system, int64_t points, int dimension, const double* xyz) {
  return guarded(system, [&] {
    system_of(system).move_nodes(coordinates_of(points, dimension, xyz));
    return NEWEL_OK;
  });
}

int newel_set_near_null_space(newel_system* system, int64_t rows, int count, const double* values) {
  return guarded(system, [&] {
    auto vectors = std::make_shared<NearNullVectors>();
    vectors->values = copied(values, rows, count, "near_null_space");
    vectors->count = count;
    system->settings.options.precond.of<AmgOptions>().vectors = rows > 0 ? std::move(vectors) : nullptr;
    return NEWEL_OK;
  });
}

int newel_set_progress(newel_system* system, newel_progress function, void* user) {
  return guarded(system, [&] {
    system->progress = function;
    system->user = user;
    return NEWEL_OK;
  });
}

int newel_set_devices(newel_system* system, int count, const int* devices) {
  return guarded(system, [&] {
    if (NEWEL_HAS_CUDA == 0) throw InputError("devices: this library was built without CUDA");
    if (count < 0) throw InputError("devices: expected a count of at least 0, found " + std::to_string(count));
    if (count > 0) c::require(devices, "devices");
    for (int k = 0; k < count; ++k) {
      if (devices[k] < 0) throw InputError("devices: expected numbers from 0, found " + std::to_string(devices[k]));
    }
    system->settings.device.reset();
    if (count == 1) system->settings.device = devices[0];
    system->settings.devices.assign(devices, devices + count);
    return NEWEL_OK;
  });
}

int newel_set_stream(newel_system* system, void* stream) {
  return guarded(system, [&] {
    if (NEWEL_HAS_CUDA == 0) throw InputError("stream: this library was built without CUDA");
    system->settings.stream = static_cast<CUstream_st*>(stream);
    return NEWEL_OK;
  });
}

int newel_setup_csr(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col,
                    const void* val) {
  return set_up(system, {MatrixPointers::Form::csr, n, 1, 0, index_bits, row_ptr, col, val});
}
int newel_setup_csc(newel_system* system, int64_t n, int index_bits, const void* col_ptr, const void* row,
                    const void* val) {
  return set_up(system, {MatrixPointers::Form::csc, n, 1, 0, index_bits, col_ptr, row, val});
}
int newel_setup_coo(newel_system* system, int64_t n, int64_t entries, int index_bits, const void* row,
                    const void* col, const void* val) {
  return set_up(system, {MatrixPointers::Form::coo, n, 1, entries, index_bits, row, col, val});
}
int newel_setup_bsr(newel_system* system, int64_t block_rows, int block_size, int index_bits, const void* row_ptr,
                    const void* col, const void* val) {
  return set_up(system, {MatrixPointers::Form::bsr, block_rows, block_size, 0, index_bits, row_ptr, col, val});
}

int newel_setup_rows(newel_system* system, const newel_comm* ranks, int64_t rows, int index_bits, const void* row_ptr,
                     const void* col, const void* val) {
  return set_up_by(system, [&] {
    c::require(ranks, "ranks");
    return c::make_rank_system(system->settings, ranks->ranks, {rows, index_bits, row_ptr, col, val});
  });
}

int newel_setup_batch(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col) {
  return set_up_by(system, [&] {
    return c::make_batch_system(system->settings, {system->settings, n, index_bits, row_ptr, col});
  });
}

int newel_solve_batch(newel_system* system, int64_t systems, const void* values, const void* b, void* x) {
  return guarded(system, [&] {
    c::System& s = system_of(system);
    if (systems < 0 || systems > std::numeric_limits<Index>::max()) throw InputError("systems: expected at least 0");
    system->reports.clear();
    for (const BatchedResult& result : s.solve_batch(system->settings, static_cast<Index>(systems), values, b, x))
      system->reports.push_back(report_of(result));
    for (const SolveReport& report : system->reports) {
      if (!report.converged()) return static_cast<int>(NEWEL_NOT_CONVERGED);
    }
    return static_cast<int>(NEWEL_OK);
  });
}

int newel_refresh(newel_system* system, const void* val, int keep_preconditioner) {
  return guarded(system, [&] {
    const auto scope = keep_preconditioner != 0 ? RefreshScope::operator_only : RefreshScope::everything;
    system_of(system).refresh(val, scope);
    return NEWEL_OK;
  });
}

int newel_update_csr(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col,
                     const void* val, int keep_preconditioner, int* set_up_again) {
  return guarded(system, [&] {
    const MatrixPointers matrix{MatrixPointers::Form::csr, n, 1, 0, index_bits, row_ptr, col, val};
    const auto scope = keep_preconditioner != 0 ? RefreshScope::operator_only : RefreshScope::everything;
    bool again = system->system == nullptr || !system->system->updates();
    if (again) system->system.reset();
    set_up_within(system, [&] {
      if (again) {
        system->system = c::make_system(system->settings, matrix, true);
      } else {
        again = system->system->update(system->settings, matrix, scope);
      }
    });
    if (set_up_again != nullptr) *set_up_again = again ? 1 : 0;
    return NEWEL_OK;
  });
}

int newel_solve(newel_system* system, int64_t columns, const void* b, void* x) {
  return guarded(system, [&] {
    c::System& s = system_of(system);
    s.require_columns(columns);
    system->reports.clear();
    ProgressFn progress;
    if (system->progress != nullptr) {
      progress = [system](const Progress& p) {
        return system->progress(system->user, p.column, p.iteration, p.relative_residual) != 0;
      };
    }
    system->reports =
        s.solve(system->settings.options.stop, system->settings.guess, static_cast<Index>(columns), b, x, progress);
    system->info = s.info();
    for (const SolveReport& report : system->reports) {
      if (!report.converged()) return static_cast<int>(NEWEL_NOT_CONVERGED);
    }
    return static_cast<int>(NEWEL_OK);
  });
}

int newel_multiply(newel_system* system, const void* x, void* y) {
  return guarded(system, [&] {
    system_of(system).multiply(x, y);
    return NEWEL_OK;
  });
}

int newel_report_number(newel_system* system, int64_t column, const char* name, double* value) {
  return guarded(system, [&] {
    if (value == nullptr) throw InputError("value is a null pointer");
    *value = field_of(system, column, name, numbers);
    return NEWEL_OK;
  });
}

int newel_report_text(newel_system* system, int64_t column, const char* name, const char** text) {
  return guarded(system, [&] {
    if (text == nullptr) throw InputError("text is a null pointer");
    system->text = field_of(system, column, name, texts);
    *text = system->text.c_str();
    return NEWEL_OK;
  });
}

int newel_report_history(newel_system* system, int64_t column, double* residuals, int64_t capacity) {
  return guarded(system, [&] {
    const std::vector<double>& history = report_of(system, column).history;
    if (residuals == nullptr || capacity < 0)
      throw InputError("residuals: expected an array and a capacity of at least 0");
    const auto count = std::min(history.size(), static_cast<std::size_t>(capacity));
    std::copy_n(history.begin(), count, residuals);
    return NEWEL_OK;
  });
}
