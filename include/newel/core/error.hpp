// SPDX-License-Identifier: Apache-2.0
/// Newel's exceptions: a caller's mistake, exhausted memory, a device failure. A solve that does not converge throws
/// nothing; it returns a Status.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <newel/core/located_text.hpp>

namespace newel {

/// Base of all exceptions of the library.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wrong input from the caller; the message says what was expected and what was found.
class InputError : public Error {
 public:
  /// `message`: what was expected and what was found.
  explicit InputError(const LocatedText& message)
      : Error(message.text()), message_(std::make_shared<const LocatedText>(message)) {}
  explicit InputError(const std::string& message) : InputError(LocatedText(message)) {}
  explicit InputError(const char* message) : InputError(LocatedText(message)) {}

  /// The text of `what`, to be printed with rows counted from 0 or 1.
  const LocatedText& message() const { return *message_; }

 private:
  std::shared_ptr<const LocatedText> message_;
};

/// A system was used while its context belongs to an asynchronous solve whose report has not been taken.
class InUse : public InputError {
 public:
  InUse();
};

/// A diagonal entry that a preconditioner divides by is missing, zero, or has no finite inverse.
class ZeroDiagonal : public InputError {
 public:
  /// `row`: the first such row, 0-based, in the caller's numbering. `count`: the number of such rows. `value`: the
  /// diagonal entry of `row`, 0 if it is missing.
  ZeroDiagonal(std::int64_t row, std::int64_t count, double value);

  /// The constructor's arguments.
  std::int64_t row() const { return row_; }
  std::int64_t count() const { return count_; }
  double value() const { return value_; }

 private:
  std::int64_t row_;
  std::int64_t count_;
  double value_;
};

/// A preconditioner for symmetric matrices was requested, but the matrix is not symmetric.
class NotSymmetric : public InputError {
 public:
  /// a_ij and a_ji with i < j: the first such pair, 0-based, in the caller's numbering; 0 for an entry that is not
  /// stored.
  NotSymmetric(std::int64_t row, std::int64_t col, double entry, double opposite);

  /// The constructor's arguments.
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

/// A preconditioner for positive definite matrices found a part of the matrix that is not positive definite.
class NotPositiveDefinite : public InputError {
 public:
  /// `row`: the first row, 0-based, in the caller's numbering, whose local problem has a non-positive pivot or
  /// overflows. `count`: the number of such rows.
  NotPositiveDefinite(std::int64_t row, std::int64_t count);

  /// The constructor's arguments.
  std::int64_t row() const { return row_; }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t row_;
  std::int64_t count_;
};

/// Not enough memory in one space; the message states the requested bytes and, if known, the available bytes.
class OutOfMemory : public Error {
 public:
  /// `space` is "host" or "device"; `purpose` completes "out of memory for ...".
  OutOfMemory(std::string_view space, std::string_view purpose, std::uint64_t wanted_bytes,
              std::optional<std::uint64_t> available_bytes);

  /// Requested bytes.
  std::uint64_t wanted_bytes() const { return wanted_bytes_; }
  /// Available bytes; empty if the memory resource does not know (`MemoryResource::available_bytes`).
  std::optional<std::uint64_t> available_bytes() const { return available_bytes_; }
  /// Whether the memory is on the device.
  bool on_device() const { return on_device_; }

 private:
  std::uint64_t wanted_bytes_;
  std::optional<std::uint64_t> available_bytes_;
  bool on_device_;
};

/// A CUDA or cuSPARSE call failed, or cuSPARSE cannot be loaded; the message contains the call and the library's
/// error text.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Bytes as readable text in powers of ten: "1.50 GB", "312 kB".
std::string human_bytes(std::uint64_t bytes);

}  // namespace newel
