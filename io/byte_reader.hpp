// SPDX-License-Identifier: Apache-2.0
/// ByteReader: walks through binary data and names the byte where something is wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <newel/core/error.hpp>

namespace newel::detail {

/// In which order the bytes of a number stand.
enum class ByteOrder { little, big };

/// The number of type T in the first bytes at `from`.
template <class T>
T load(const char* from, ByteOrder order) {
  constexpr ByteOrder here = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ByteOrder::little : ByteOrder::big;
  char bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = from[order == here ? i : sizeof(T) - 1 - i];
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// The bytes of a number in that order, appended to a text.
template <class T>
void append_bytes(std::string& to, T value, ByteOrder order) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  const T turned = load<T>(bytes, order);  // turning is its own inverse
  std::memcpy(bytes, &turned, sizeof(T));
  to.append(bytes, sizeof(T));
}

/// A place in bytes that are all in memory; `name` stands for the file in messages, and must outlive the reader.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& name, std::size_t at = 0)
      : bytes_(bytes), name_(name), at_(at) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  const std::string& name() const { return name_; }

  /// The next `count` bytes, which are `what`. Throws InputError where there are fewer.
  std::string_view take(std::uint64_t count, const char* what) {
    if (count > left()) {
      fail(std::to_string(count) + " bytes of " + what, std::to_string(left()) + " at the end of the file");
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }

  template <class T>
  T number(ByteOrder order, const char* what) {
    return load<T>(take(sizeof(T), what).data(), order);
  }

  /// Throws InputError "NAME: byte N: expected ..., found ...".
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw InputError(name_ + ": byte " + std::to_string(at_) + ": expected " + expected + ", found " + found);
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_;
};

}  // namespace newel::detail
