// SPDX-License-Identifier: Apache-2.0
/// SideOf on a device: arrays there are used where they are, in the order of their streams; those of the host are
/// copied.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include <newel/core/cuda_interop.hpp>

#include "device_operator.hpp"
#include "device_span.hpp"
#include "system_in.hpp"

namespace newel::python {

inline Context<device> context_of(const SystemRequest& request) {
  const KeptDevice kept;
  if (request.stream) return Context<device>(request.device, reinterpret_cast<CUstream_st*>(*request.stream));
  return Context<device>(request.device);
}

// Throws InputError where an array is not in the memory of the context's device.
inline void check_place(const Context<device>& ctx, const DeviceSpan& array) {
  if (array.size == 0) return;
  const std::optional<int> where = device_of(reinterpret_cast<const void*>(array.address));
  if (where == ctx.device()) return;
  const std::string found = where ? "of device " + std::to_string(*where) : "of no device";
  throw InputError("expected an array in the memory of device " + std::to_string(ctx.device()) +
                   ", where the Solver is, found one in memory " + found);
}

template <class T>
class SideOf<T, device> {
 public:
  using Operator = DeviceOperator<T>;
  using Kept = KeptDevice;

  explicit SideOf(const SystemRequest& request)
      : stream_owner_(request.stream_owner), ctx_(context_of(request)), order_(ctx_) {}
  const Context<device>& ctx() const { return ctx_; }
  DeviceSums& sums() {
    if (sums_ == nullptr) sums_ = std::make_unique<DeviceSums>();
    return *sums_;
  }

  // The device is current meanwhile. The context's stream waits for those of the arrays when they come, and they for
  // it when the visit ends. Vectors of the host are copied.
  class Visit {
   public:
    explicit Visit(SideOf& side) : side_(side) { side_.ctx_.make_current(); }
    ~Visit() {
      for (CUstream_st* const stream : streams_) {
        try {
          side_.order_.let_wait(stream);
        } catch (const DeviceError&) {  // which the next call reports
        }
      }
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    Span<const T, device> input(nb::handle array) {
      if (nb::isinstance<DeviceSpan>(array)) return here(nb::cast<const DeviceSpan&>(array));
      const Span<const T, host> from = values_of<T>(nb::cast<Flat>(array));
      const WithoutGil released;
      return uploaded(from, side_.in_);
    }
    /// The values of matrices; those of the host have memory of their own.
    Span<const T, device> values(nb::handle array) {
      if (nb::isinstance<DeviceSpan>(array)) return here(nb::cast<const DeviceSpan&>(array));
      const Span<const T, host> from = values_of<T>(nb::cast<Flat>(array));
      const WithoutGil released;
      return uploaded(from, values_);
    }
    Span<T, device> output(nb::handle array, bool keeps) {
      if (nb::isinstance<DeviceSpan>(array)) return here(nb::cast<const DeviceSpan&>(array));
      give_back_to_ = span_of(nb::cast<WritableOf<T>>(array, false));
      const WithoutGil released;
      if (keeps) return uploaded({give_back_to_.data, give_back_to_.size}, side_.out_);
      return room(side_.out_, give_back_to_.size);
    }
    void finish() {
      if (give_back_to_.size == 0) return;
      copy<T>(side_.ctx_, Span<const T, device>(side_.out_.data(), give_back_to_.size), give_back_to_);
    }
    void solved() {
      streams_.clear();  // nothing is left for them to wait for
      finish();
    }

    MatrixInput<T, device> matrix(const DeviceMatrixArrays& arrays) {
      for (const DeviceSpan* array : {&arrays.first, &arrays.second, &arrays.values}) join(*array);
      const Span<T, device> values = arrays.values.values<T>();
      return arrays.input<T, device>(arrays.first.indices(), arrays.second.indices(), values);
    }
    MatrixInput<T, device> matrix(const MatrixArrays& arrays) {
      const IndexSpan<host> first = indices_of(arrays.first), second = indices_of(arrays.second);
      const Span<const T, host> values = values_of<T>(arrays.values);
      const WithoutGil released;
      return arrays.MatrixForm::input<T, device>(uploaded(first), uploaded(second), uploaded(values, values_));
    }
    Hash pattern_hash(nb::handle handle) {
      if (nb::isinstance<MatrixArrays>(handle)) return nb::cast<const MatrixArrays&>(handle).hash();
      const auto& arrays = nb::cast<const DeviceMatrixArrays&>(handle);
      for (const DeviceSpan* array : {&arrays.first, &arrays.second}) join(*array);
      const IndexSpan<device> first = arrays.first.indices(), second = arrays.second.indices();
      const WithoutGil released;
      const std::vector<Hash> sums = side_.sums().of(side_.ctx_.stream(), {first, second});
      return arrays.pattern_hash(sums[0], first.size, sums[1], second.size);
    }

   private:
    void join(const DeviceSpan& array) {
      check_place(side_.ctx_, array);
      CUstream_st* const stream = array.cuda_stream();
      if (std::find(streams_.begin(), streams_.end(), stream) != streams_.end()) return;
      if (!array.is_settled()) side_.order_.wait_for(stream);
      streams_.push_back(stream);
    }
    Span<T, device> here(const DeviceSpan& array) {
      join(array);
      return array.values<T>();
    }
    Span<T, device> room(Array<T, device>& buffer, std::int64_t size) {
      if (buffer.size() < size) buffer = Array<T, device>(side_.ctx_, size);
      return {buffer.data(), size};
    }
    Span<T, device> uploaded(Span<const T, host> from, Array<T, device>& buffer) {
      const Span<T, device> to = room(buffer, from.size);
      copy<T>(side_.ctx_, from, to);
      return to;
    }
    IndexSpan<device> uploaded(const IndexSpan<host>& from) {
      const bool wide = from.kind == IndexKind::int64 || from.kind == IndexKind::uint64;
      const Span<const char, host> bytes(static_cast<const char*>(from.data), from.size * (wide ? 8 : 4));
      copies_.push_back(make_array(side_.ctx_, bytes));
      IndexSpan<device> to;
      to.data = copies_.back().data();
      to.size = from.size;
      to.kind = from.kind;
      return to;
    }

    KeptDevice kept_;
    SideOf& side_;
    std::vector<CUstream_st*> streams_;
    Span<T, host> give_back_to_;
    Array<T, device> values_;  // of a matrix of the host, with its indices
    std::deque<Array<char, device>> copies_;
  };

 private:
  nb::object stream_owner_;  // goes last: memory is given back in the order of the stream
  Context<device> ctx_;
  StreamOrder order_;
  Array<T, device> in_, out_;  // of vectors of the host, made when there are some
  std::unique_ptr<DeviceSums> sums_;
};

}  // namespace newel::python
