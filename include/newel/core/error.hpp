// SPDX-License-Identifier: Apache-2.0
/// What Newel throws: a caller's mistake, exhausted memory, a failing device. A solve that does not
/// converge throws nothing; it returns a Status.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <newel/core/located_text.hpp>

namespace newel {

/// Base of every exception thrown by the library.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's input is wrong; the message says what was expected and what came.
class InputError : public Error {
 public:
  /// `message`: what was expected and what came.
  explicit InputError(const LocatedText& message)
      : Error(message.text()), message_(std::make_shared<const LocatedText>(message)) {}
  explicit InputError(const std::string& message) : InputError(LocatedText(message)) {}
  explicit InputError(const char* message) : InputError(LocatedText(message)) {}

  /// What `what` says with rows counted from 0.
  const LocatedText& message() const { return *message_; }

 private:
  std::shared_ptr<const LocatedText> message_;
};

/// A system was used whose context belongs to an asynchronous solve, the report of which has not been taken.
class InUse : public InputError {
 public:
  InUse();
};

/// A diagonal entry that a preconditioner divides by is missing, zero, or has no finite inverse.
class ZeroDiagonal : public InputError {
 public:
  /// `row`: the first such row, 0-based, in the caller's numbering; `count`: how many there are; `value`: its entry,
  /// 0 where it is missing.
  ZeroDiagonal(std::int64_t row, std::int64_t count, double value);

  /// What the constructor was given.
  std::int64_t row() const { return row_; }
  std::int64_t count() const { return count_; }
  double value() const { return value_; }

 private:
  std::int64_t row_;
  std::int64_t count_;
  double value_;
};

/// A preconditioner for symmetric matrices was requested one that is not.
class NotSymmetric : public InputError {
 public:
  /// a_ij and a_ji, i < j, the first such pair, 0-based, in the caller's numbering; 0 where an entry is not stored.
  NotSymmetric(std::int64_t row, std::int64_t col, double entry, double opposite);

  /// What the constructor was given.
  std::int64_t row() const { return row_; }
  std::int64_t col() const { return col_; }
  double entry() const { return entry_; }
  double opposite() const { return opposite_; }

 private:
  std::int64_t row_;
  std::int64_t col_;
  double entry_;
  double opposite_;
};

/// A preconditioner for positive definite matrices met a part of the matrix that is not.
class NotPositiveDefinite : public InputError {
 public:
  /// `row`: the first row, 0-based, in the caller's numbering, whose local problem has a pivot that is not positive,
  /// or overflows; `count`: how many there are.
  NotPositiveDefinite(std::int64_t row, std::int64_t count);

  /// What the constructor was given.
  std::int64_t row() const { return row_; }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t row_;
  std::int64_t count_;
};

/// Memory of one space does not suffice; the message says how many bytes were wanted and, where that is known, how
/// many were there.
class OutOfMemory : public Error {
 public:
  /// `space` is "host" or "device"; `purpose` completes "out of memory for ...".
  OutOfMemory(std::string_view space, std::string_view purpose, std::uint64_t wanted_bytes,
              std::optional<std::uint64_t> available_bytes);

  /// Bytes that were asked for.
  std::uint64_t wanted_bytes() const { return wanted_bytes_; }
  /// Empty where the memory resource does not know (`MemoryResource::available_bytes`).
  std::optional<std::uint64_t> available_bytes() const { return available_bytes_; }
  /// Whether the memory is that of the device.
  bool on_device() const { return on_device_; }

 private:
  std::uint64_t wanted_bytes_;
  std::optional<std::uint64_t> available_bytes_;
  bool on_device_;
};

/// A CUDA or cuSPARSE call failed, or cuSPARSE cannot be loaded; the message holds the call and the library's own
/// words.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// "1.50 GB", "312 kB": bytes for people, in powers of ten.
std::string human_bytes(std::uint64_t bytes);

}  // namespace newel
