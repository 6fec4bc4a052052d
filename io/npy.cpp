// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file, which is a dictionary in Python's own notation, and its numbers.
#include "io/npy.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/text/number_parse.hpp"

namespace newel::detail {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

// Walks through the dictionary of a header.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool skip(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) fail(std::string("'") + c + "'");
  }
  std::string string(const char* what) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail(what);
    const std::string found(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return found;
  }
  bool truth(const char* what) {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail(what);
  }
  std::int64_t length() {
    skip_blanks();
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) fail("a length that 64 bits can hold");
      value = value * 10 + (text_[at_] - '0');
    }
    if (at_ == begin) fail("a length");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // of Python 2
    return value;
  }
  void end() {
    skip_blanks();
    if (at_ != text_.size()) fail("the end of the header");
  }
  [[noreturn]] void fail(const std::string& expected) const {
    constexpr std::size_t longest = 30;
    std::string found;
    for (const char c : text_.substr(std::min(at_, text_.size()), longest)) found += c >= ' ' && c < 127 ? c : '?';
    throw InputError(name_ + ": expected " + expected + " in the header of a NumPy array, found '" + found + "'");
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse_type(const std::string& name, const std::string& descr, const char* words) {
  throw InputError(name + ": expected integers or floating-point numbers, found the type '" + descr + "'" + words);
}

// The type, such as "<f8".
void read_descr(const std::string& descr, NpyArray& array) {
  const bool marked = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string rest = descr.substr(marked ? 1 : 0);
  array.order = marked && descr[0] == '>' ? ByteOrder::big : ByteOrder::little;
  array.kind = rest.empty() ? '\0' : rest[0];
  const bool has_size =
      rest.size() >= 2 && rest.size() <= 6 && rest.find_first_not_of("0123456789", 1) == std::string::npos;
  array.item_bytes = has_size ? std::atoi(rest.c_str() + 1) : 0;
  const int size = array.item_bytes;
  switch (array.kind) {
    case 'b':
      if (size == 1) return;
      break;
    case 'i':
    case 'u':
      if (size == 1 || size == 2 || size == 4 || size == 8) return;
      break;
    case 'f':
      if (size == 2 || size == 4 || size == 8) return;
      if (size > 8) refuse_type(array.name, descr, " (long double: convert it by a.astype(float))");
      break;
    case 'S':
    case 'U':
      if (has_size) return;
      break;
    case 'c':
      if (size == 8 || size == 16) return;
      if (size > 16) refuse_type(array.name, descr, " (long double: convert it by a.astype(complex))");
      break;
    case 'O':
      refuse_type(array.name, descr, " (Python objects)");
    default:
      break;
  }
  refuse_type(array.name, descr, "");
}

void read_header(std::string_view text, NpyArray& array) {
  HeaderText header(text, array.name);
  bool descr = false, order = false, shape = false;
  header.expect('{');
  while (!header.next_is('}')) {
    const std::string key = header.string("a key");
    header.expect(':');
    if (key == "descr") {
      if (header.next_is('[')) refuse_type(array.name, "[...]", " (structured arrays are not supported)");
      read_descr(header.string("a type"), array);
      descr = true;
    } else if (key == "fortran_order") {
      array.by_columns = header.truth("True or False");
      order = true;
    } else if (key == "shape") {
      header.expect('(');
      array.shape.clear();
      while (!header.next_is(')')) {
        array.shape.push_back(header.length());
        if (!header.skip(',')) break;
      }
      header.expect(')');
      shape = true;
    } else {
      header.fail("only the keys descr, fortran_order and shape");
    }
    if (!header.skip(',')) break;
  }
  header.expect('}');
  header.end();
  if (!descr || !order || !shape) header.fail("the keys descr, fortran_order and shape");
}

// Of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return (bits >> 15) != 0 ? -size : size;
}

// Calls `take(i, value)` for each number with the type that it has.
template <class Take>
void for_each_number(const NpyArray& array, Take&& take) {
  const auto walk = [&](auto zero) {
    using T = decltype(zero);
    const char* from = array.data.data();
    const std::int64_t size = array.size();
    for (std::int64_t i = 0; i < size; ++i, from += sizeof(T)) take(i, load<T>(from, array.order));
  };
  const int size = array.item_bytes;
  switch (array.kind) {
    case 'b':
      return walk(std::uint8_t{});
    case 'i':
      return size == 1   ? walk(std::int8_t{})
             : size == 2 ? walk(std::int16_t{})
             : size == 4 ? walk(std::int32_t{})
                         : walk(std::int64_t{});
    case 'u':
      return size == 1   ? walk(std::uint8_t{})
             : size == 2 ? walk(std::uint16_t{})
             : size == 4 ? walk(std::uint32_t{})
                         : walk(std::uint64_t{});
    case 'f':
      if (size == 4) return walk(float{});
      if (size == 8) return walk(double{});
      for (std::int64_t i = 0; i < array.size(); ++i) {
        take(i, half_to_double(load<std::uint16_t>(array.data.data() + 2 * i, array.order)));
      }
      return;
    case 'c':
      throw InputError(array.name +
                       ": expected real values, found complex ones (complex values are not supported here)");
    default:
      throw InputError(array.name + ": expected numbers, found text");
  }
}

// The value of number i of the file.
double finite(const NpyArray& array, std::int64_t i, double value) {
  if (std::isfinite(value)) return value;
  throw InputError(array.name + ": value " + std::to_string(i + 1) + ": expected a finite number, found " +
                   (std::isnan(value) ? "nan"
                    : value > 0       ? "inf"
                                      : "-inf"));
}

}  // namespace

std::int64_t NpyArray::size() const {
  std::int64_t product = 1;
  for (const std::int64_t length : shape) product *= length;  // parse_npy has seen that it fits
  return product;
}

bool begins_as_npy(std::string_view bytes) { return bytes.substr(0, magic.size()) == magic; }

NpyArray parse_npy(std::string_view bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  NpyArray array;
  array.name = name;
  if (reader.take(magic.size(), "a NumPy array") != magic) {
    ByteReader(bytes, name).fail("a NumPy array", "other bytes");
  }
  const auto major = reader.number<std::uint8_t>(ByteOrder::little, "a version");
  reader.number<std::uint8_t>(ByteOrder::little, "a version");
  if (major < 1 || major > 3) reader.fail("version 1, 2 or 3 of the format", std::to_string(major));
  const std::uint32_t length = major == 1 ? reader.number<std::uint16_t>(ByteOrder::little, "a header's length")
                                          : reader.number<std::uint32_t>(ByteOrder::little, "a header's length");
  read_header(reader.take(length, "the header"), array);
  const auto most = static_cast<std::int64_t>(reader.left());
  std::int64_t size = 1;
  bool empty = false;
  for (const std::int64_t n : array.shape) {
    if (array.shape.size() > 1 && n > std::numeric_limits<Index>::max()) {
      throw InputError(name + ": expected lengths of at most " + std::to_string(std::numeric_limits<Index>::max()) +
                       ", found " + std::to_string(n));
    }
    empty = empty || n == 0;
  }
  for (const std::int64_t n : array.shape) {
    if (empty) size = 0;
    if (!empty && n > most / size) reader.fail("as many numbers as the header declares", "the end of the file");
    size *= n;
  }
  array.data =
      reader.take(static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(array.item_bytes), "numbers");
  if (reader.left() != 0) reader.fail("the end of the array", std::to_string(reader.left()) + " more bytes");
  return array;
}

Array<double, Space::host> npy_doubles(const Context<Space::host>& ctx, const NpyArray& array) {
  Array<double, Space::host> values(ctx, array.size());
  for_each_number(array,
                  [&](std::int64_t i, auto number) { values[i] = finite(array, i, static_cast<double>(number)); });
  return values;
}

// As an array of twice as many real numbers.
Array<double, Space::host> npy_part(const Context<Space::host>& ctx, const NpyArray& array, NumberPart part) {
  NpyArray pairs = array;
  pairs.kind = 'f';
  pairs.item_bytes /= 2;
  pairs.shape = {2 * array.size()};
  Array<double, Space::host> values(ctx, array.size());
  for_each_number(pairs, [&](std::int64_t k, auto number) {
    if ((k % 2 == 1) == (part == NumberPart::imaginary)) {
      values[k / 2] = finite(array, k / 2, static_cast<double>(number));
    }
  });
  return values;
}

Array<std::int64_t, Space::host> npy_integers(const Context<Space::host>& ctx, const NpyArray& array) {
  if (array.kind != 'i' && array.kind != 'u')
    throw InputError(array.name + ": expected integers, found other values");
  Array<std::int64_t, Space::host> values(ctx, array.size());
  for_each_number(array, [&](std::int64_t i, auto number) {
    values[i] = static_cast<std::int64_t>(number);
    if (array.kind == 'u' && values[i] < 0) {
      throw InputError(array.name + ": value " + std::to_string(i + 1) +
                       ": expected an index, found one beyond 2^63");
    }
  });
  return values;
}

std::string npy_text(const NpyArray& array) {
  if ((array.kind != 'S' && array.kind != 'U') || array.size() != 1) {
    throw InputError(array.name + ": expected one string, found other values");
  }
  std::string text;
  const std::size_t step = array.kind == 'U' ? 4 : 1;  // of a letter
  for (std::size_t i = 0; i + step <= array.data.size(); i += step) {
    const char letter = array.data[array.order == ByteOrder::big ? i + step - 1 : i];
    if (letter != '\0') text += letter;
  }
  return text;
}

std::string npy_header(const std::string& descr, bool by_columns, const std::vector<std::int64_t>& shape) {
  std::string dictionary =
      "{'descr': '" + descr + "', 'fortran_order': " + (by_columns ? "True" : "False") + ", 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    dictionary +=
        (i == 0 ? "" : " ") + std::to_string(shape[i]) + (i + 1 < shape.size() || shape.size() == 1 ? "," : "");
  }
  dictionary += "), }";
  constexpr std::size_t alignment = 64, before = 10;  // magic, version and length
  dictionary.append(alignment - (before + dictionary.size() + 1) % alignment, ' ').append(1, '\n');
  std::string header(magic);
  header.append("\x01\x00", 2);
  append_bytes(header, static_cast<std::uint16_t>(dictionary.size()), ByteOrder::little);
  return header + dictionary;
}

}  // namespace newel::detail
