// SPDX-License-Identifier: Apache-2.0
// The system on the host, in both precisions.
#include "system.hpp"

#include <algorithm>
#include <limits>

#include <purlin/core/error.hpp>

namespace purlin::c {
namespace {

constexpr Space host = Space::host;
using Form = MatrixPointers::Form;

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw InputError(std::string(what) + " is a null pointer");
}

IndexSpan<host> indices(const void* data, std::int64_t size, int bits) {
  if (bits == 32) return {static_cast<const std::int32_t*>(data), size};
  if (bits == 64) return {static_cast<const std::int64_t*>(data), size};
  throw InputError("index_bits: expected 32 or 64, found " + std::to_string(bits));
}

// Entry i of the pointers.
std::int64_t at(const MatrixPointers& m, std::int64_t i) {
  return m.index_bits == 32 ? static_cast<const std::int32_t*>(m.first)[i]
                            : static_cast<const std::int64_t*>(m.first)[i];
}

// Stored entries, or blocks: where the pointers end. A number that is not one of these is refused later.
std::int64_t stored(const MatrixPointers& m, int base) {
  if (m.form == Form::coo) return m.entries;
  return std::max<std::int64_t>(0, at(m, m.rows) - base);
}

template <class T>
MatrixInput<T, host> input_of(const Settings& settings, const MatrixPointers& m) {
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (m.rows < 0 || m.rows > most || m.entries < 0) throw InputError("the sizes of the matrix are out of range");
  indices(nullptr, 0, m.index_bits);  // which judges the bits
  require(m.first, "the first array of indices");
  const std::int64_t count = stored(m, settings.index_base);
  if (count > 0) require(m.second, "the second array of indices"), require(m.values, "the array of values");
  const std::int64_t per_entry = std::int64_t{m.block_size} * m.block_size;
  if (m.block_size < 1 || m.rows > most / m.block_size || count > std::numeric_limits<Offset>::max() / per_entry) {
    throw InputError("the sizes of the matrix are out of range");
  }
  const std::int64_t pointers = m.form == Form::coo ? count : m.rows + 1;
  const IndexSpan<host> one = indices(m.first, pointers, m.index_bits), two = indices(m.second, count, m.index_bits);
  const Span<const T, host> values(static_cast<const T*>(m.values), count * per_entry);
  using Input = MatrixInput<T, host>;
  Input input = m.form == Form::csr   ? Input::csr(m.rows, m.rows, one, two, values)
                : m.form == Form::csc ? Input::csc(m.rows, m.rows, one, two, values)
                : m.form == Form::coo ? Input::coo(m.rows, m.rows, one, two, values)
                                      : Input::bsr(m.rows, m.rows, m.block_size, one, two, values);
  input = input.index_base(settings.index_base);
  return settings.half ? input.stored_half(*settings.half) : input;
}

template <class T>
class HostSystem final : public System {
 public:
  HostSystem(const Settings& settings, const MatrixPointers& matrix, const MatrixInput<T, host>& input)
      : ctx_(settings.threads),
        values_(input.values().size),
        system_(ctx_, input, settings.options_for(static_cast<Index>(input.rows()), matrix.block_size)) {}

  Index rows() const override { return system_.rows(); }
  void refresh(const void* values, RefreshScope scope) override {
    if (values_ > 0) require(values, "the array of values");
    system_.refresh({static_cast<const T*>(values), values_}, scope);
  }
  std::vector<SolveReport> solve(const StopCriterion& stop, Index columns, const void* b, void* x,
                                 const ProgressFn& progress) override {
    const std::int64_t size = std::int64_t{rows()} * columns;
    if (size > 0) require(b, "b"), require(x, "x");
    system_.set_stop_criterion(stop);
    const Span<const T, host> from(static_cast<const T*>(b), size);
    const Span<T, host> to(static_cast<T*>(x), size);
    if (columns == 1) return {system_.solve(from, to, progress)};
    return system_.solve_columns(from, to, columns, progress);
  }
  void multiply(const void* x, void* y) override {
    if (rows() > 0) require(x, "x"), require(y, "y");
    system_.multiply({static_cast<const T*>(x), rows()}, {static_cast<T*>(y), rows()});
  }
  SystemInfo info() const override { return system_.info(); }

 private:
  Context<host> ctx_;
  std::int64_t values_;
  LinearSystem<T, host> system_;
};

template <class T>
std::unique_ptr<System> make(const Settings& settings, const MatrixPointers& matrix) {
  const MatrixInput<T, host> input = input_of<T>(settings, matrix);
  input.check_lengths();
  return std::make_unique<HostSystem<T>>(settings, matrix, input);
}

}  // namespace

std::unique_ptr<System> make_system(const Settings& settings, const MatrixPointers& matrix) {
  return settings.single ? make<float>(settings, matrix) : make<double>(settings, matrix);
}

}  // namespace purlin::c
