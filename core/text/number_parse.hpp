// SPDX-License-Identifier: Apache-2.0
/// Decimal text to a double, correctly rounded, without a locale: the inner loop of every reader.
#pragma once

#include <cstdint>
#include <cstring>

#include <newel/core/file_text.hpp>

namespace newel::detail {

/// One number at the front of a text: its value and the first character behind it.
struct ParsedNumber {
  double value = 0;
  const char* end = nullptr;
  NumberStatus status = NumberStatus::not_a_number;
};

constexpr bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// What separates words on a line; a line end is no blank.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// The decimal digits of a number, split up: (-1)^negative * mantissa * 10^exponent, where `significant` digits
/// make up the mantissa. The mantissa is meaningful for at most 19 of them.
struct DecimalText {
  const char* begin = nullptr;  ///< first digit or point, behind the sign
  const char* end = nullptr;
  std::uint64_t mantissa = 0;
  std::int64_t significant = 0;
  std::int64_t exponent = 0;
  bool negative = false;
  const char* fortran = nullptr;  ///< where an exponent begins that Fortran alone writes so: by D, or by its sign
};

/// Reads what `read_number` has no short way for: more than 19 digits, exponents far from zero. Never inlined.
ParsedNumber read_number_slowly(const DecimalText& text);

/// mantissa * 10^exponent rounded to nearest, ties to even; mantissa > 0, |exponent| <= 27: there 5^|exponent| fits
/// in 64 bits, so that one 128-bit product or quotient with its remainder decides the rounding.
double scale_by_power_of_ten(std::uint64_t mantissa, int exponent);

/// The value of eight digits that stand together, and whether they are digits.
inline bool read_eight_digits(const char* p, std::uint64_t* value) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  // A byte is a digit when its high half is 3 and stays 3 after adding 6.
  constexpr std::uint64_t high_halves = 0xf0f0f0f0f0f0f0f0u;
  constexpr std::uint64_t zeros = 0x3030303030303030u;
  if ((word & high_halves) != zeros || ((word + 0x0606060606060606u) & high_halves) != zeros) return false;
  // Neighbouring digits, then pairs, then fours are joined; the first character is the lowest byte.
  word -= zeros;
  word = word * 10 + (word >> 8);
  const std::uint64_t pairs = word & 0x000000ff000000ffu;
  const std::uint64_t other_pairs = (word >> 16) & 0x000000ff000000ffu;
  *value = (pairs * (100 + (std::uint64_t{1000000} << 32)) + other_pairs * (1 + (std::uint64_t{10000} << 32))) >> 32;
  return true;
#else
  *value = 0;
  for (int i = 0; i < 8; ++i) {
    if (!is_digit(p[i])) return false;
    *value = *value * 10 + static_cast<std::uint64_t>(p[i] - '0');
  }
  return true;
#endif
}

/// Whether at `p` stands an exponent without a letter. Fortran writes one where it has three digits, behind digits
/// with a point (0.57719640-104); fewer or more are no exponent, but two numbers that have run together.
inline bool begins_bare_exponent(const char* p) {
  return (*p == '-' || *p == '+') && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]) && !is_digit(p[4]);
}

/// Splits the number at `p`. `end` bounds what may be read, and a character that belongs to no number (a line end)
/// must stand before it. Returns false where no number stands.
inline bool split_number(const char* p, const char* end, DecimalText* text) {
  text->negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  text->begin = p;
  std::uint64_t mantissa = 0;
  while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
  std::int64_t digits = p - text->begin;
  std::int64_t exponent = 0;
  const bool point = *p == '.';
  if (point) {
    const char* fraction = ++p;
    std::uint64_t eight;
    while (end - p >= 8 && read_eight_digits(p, &eight)) {
      mantissa = mantissa * 100000000 + eight;
      p += 8;
    }
    while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    exponent = fraction - p;
    digits -= exponent;
  }
  if (digits == 0) return false;
  const bool letter = *p == 'e' || *p == 'E' || *p == 'd' || *p == 'D';
  text->fortran = nullptr;
  if (letter || (point && begins_bare_exponent(p))) {
    if (*p != 'e' && *p != 'E') text->fortran = p;
    if (letter) ++p;
    const bool down = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    if (!is_digit(*p)) return false;
    std::int64_t written = 0;
    while (is_digit(*p)) {
      if (written < 100000000) written = written * 10 + (*p - '0');
      ++p;
    }
    exponent += down ? -written : written;
  }
  if (digits > 19) {  // zeros in front do not count
    for (const char* q = text->begin; digits > 0 && (*q == '0' || *q == '.'); ++q) digits -= *q == '0' ? 1 : 0;
  }
  text->end = p;
  text->mantissa = mantissa;
  text->significant = digits;
  text->exponent = exponent;
  return true;
}

/// Reads the number at `p`: digits with an optional sign (also +), point and exponent (e, E, and Fortran's d, D, or
/// a sign alone before three digits).
/// Correctly rounded; what is too small becomes a subnormal number or zero; what is too large is `overflow`. Words
/// such as nan and inf are no numbers. Conditions on `p` and `end` as in `split_number`.
inline ParsedNumber read_number(const char* p, const char* end) {
  DecimalText text;
  if (!split_number(p, end, &text)) return {0, p, NumberStatus::not_a_number};
  if (text.significant > 19 || text.exponent < -27 || text.exponent > 27) return read_number_slowly(text);
  static constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  double value;
  // Both numbers are exact doubles, so that the one operation rounds correctly (Clinger, PLDI 1990).
  if (text.mantissa <= (std::uint64_t{1} << 53) && text.exponent >= -22 && text.exponent <= 22) {
    value = static_cast<double>(text.mantissa);
    value = text.exponent < 0 ? value / exact_powers[-text.exponent] : value * exact_powers[text.exponent];
  } else {
    value = text.mantissa == 0 ? 0 : scale_by_power_of_ten(text.mantissa, static_cast<int>(text.exponent));
  }
  return {text.negative ? -value : value, text.end, NumberStatus::ok};
}

}  // namespace newel::detail
