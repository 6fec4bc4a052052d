// SPDX-License-Identifier: Apache-2.0
/// Arrays in the memory of a device or of the host, as a system on a device takes them; and whose turn its stream is.
/// Internal.
#pragma once

#include <deque>

#include <newel/core/cuda_interop.hpp>

#include "matrix_pointers.hpp"

namespace newel::c {

constexpr Space host = Space::host;
constexpr Space device = Space::device;

/// Whether the memory is that of the context's device; throws where it is that of another.
inline bool is_here(const Context<device>& ctx, const void* pointer, const char* what) {
  const std::optional<int> where = device_of(pointer);
  if (where && *where != ctx.device()) {
    throw InputError(std::string(what) + " is in the memory of device " + std::to_string(*where) +
                     ", and the system on device " + std::to_string(ctx.device()));
  }
  return where.has_value();
}

/// The arrays of a setup: those on the device as they are, of the others copies that live as long as this object.
class DeviceArrays {
 public:
  explicit DeviceArrays(const Context<device>& ctx) : ctx_(ctx) {}

  const void* here(const void* data, std::int64_t bytes, const char* what) {
    if (bytes == 0 || is_here(ctx_, data, what)) return data;
    copies_.push_back(make_array(ctx_, Span<const char, host>(static_cast<const char*>(data), bytes)));
    return copies_.back().data();
  }
  std::int64_t index_at(const void* data, std::int64_t i, int bits) const {
    if (bits == 32) return fetch(ctx_, static_cast<const std::int32_t*>(data) + i);
    return fetch(ctx_, static_cast<const std::int64_t*>(data) + i);
  }

 private:
  template <class I>
  static I fetch(const Context<device>& ctx, const I* value) {
    I result{};
    copy<I>(ctx, Span<const I, device>(value, 1), Span<I, host>(&result, 1));
    return result;
  }

  const Context<device>& ctx_;
  std::deque<Array<char, device>> copies_;
};

/// Between a call's begin and its end the context's device is current, and the stream of the context and the legacy
/// default stream take turns, unless the context works on a stream of the caller's.
class Turn {
 public:
  Turn(const Context<device>& ctx, StreamOrder* order) : order_(order) {
    ctx.make_current();
    if (order_ != nullptr) order_->wait_for(nullptr);
  }
  ~Turn() {
    try {
      if (order_ != nullptr) order_->let_wait(nullptr);
    } catch (const DeviceError&) {  // which the next call reports
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  KeptDevice kept_;
  StreamOrder* order_;
};

inline Context<device> context_of(const Settings& settings) {
  if (settings.stream != nullptr) return Context<device>(*settings.device, settings.stream);
  return Context<device>(*settings.device);
}

}  // namespace newel::c
