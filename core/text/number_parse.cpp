// SPDX-License-Identifier: Apache-2.0
// Decimal text to a double: the exact 128-bit way for middling exponents, and the slow way for all others.
#include "core/text/number_parse.hpp"

#include <charconv>
#include <cmath>
#include <string>

namespace newel::detail {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int largest_exact_power = 27;

struct PowersOfFive {
  std::uint64_t value[largest_exact_power + 1] = {};
  constexpr PowersOfFive() {
    value[0] = 1;
    for (int i = 1; i <= largest_exact_power; ++i) value[i] = value[i - 1] * 5;
  }
};
constexpr PowersOfFive five_to;

// bits * 2^exponent rounded to nearest even, where the lowest bit of `bits` also stands for anything non-zero below
// it. `bits` has at least 63 significant bits; the result must be a normal number.
double round_to_double(std::uint64_t bits, int exponent) {
  const int shift = __builtin_clzll(bits);
  bits <<= shift;
  exponent -= shift;
  std::uint64_t kept = bits >> 11;
  const std::uint64_t rest = bits & 0x7ff;
  if (rest > 0x400 || (rest == 0x400 && (kept & 1) != 0)) ++kept;
  const std::uint64_t power_bits = static_cast<std::uint64_t>(exponent + 11 + 1023) << 52;
  double power_of_two;
  std::memcpy(&power_of_two, &power_bits, sizeof power_of_two);
  return static_cast<double>(kept) * power_of_two;
}

}  // namespace

double scale_by_power_of_ten(std::uint64_t mantissa, int exponent) {
  const int lead = __builtin_clzll(mantissa);
  mantissa <<= lead;
  if (exponent >= 0) {
    const std::uint64_t five = five_to.value[exponent];
    const int five_lead = __builtin_clzll(five);
    const Wide product = static_cast<Wide>(mantissa) * (five << five_lead);
    const auto high = static_cast<std::uint64_t>(product >> 64);
    const std::uint64_t below = static_cast<std::uint64_t>(product) != 0 ? 1 : 0;
    return round_to_double(high | below, 64 - lead - five_lead + exponent);
  }
  const std::uint64_t five = five_to.value[-exponent];
  const int five_lead = __builtin_clzll(five);
  const std::uint64_t divisor = five << five_lead;
  const Wide dividend = static_cast<Wide>(mantissa) << 63;
  const auto quotient = static_cast<std::uint64_t>(dividend / divisor);
  const std::uint64_t below = dividend != static_cast<Wide>(quotient) * divisor ? 1 : 0;
  return round_to_double(quotient | below, -63 - lead + five_lead + exponent);
}

ParsedNumber read_number_slowly(const DecimalText& text) {
  const auto signed_value = [&](double value) { return text.negative ? -value : value; };
  if (text.significant == 0) return {signed_value(0.0), text.end, NumberStatus::ok};
  const char* first = text.begin;
  const char* last = text.end;
  std::string with_e;
  if (text.fortran != nullptr) {
    const bool letter = *text.fortran == 'd' || *text.fortran == 'D';
    with_e.assign(first, text.fortran).append(1, 'e').append(text.fortran + (letter ? 1 : 0), last);
    first = with_e.data();
    last = first + with_e.size();
  }
  double value = 0;
  const std::from_chars_result result = std::from_chars(first, last, value);
  if (result.ec == std::errc::invalid_argument) return {0, text.begin, NumberStatus::not_a_number};
  // Both ends of the range are reported alike: the position of the first digit shows which one it was.
  const bool large = text.exponent + text.significant > 0;
  if (result.ec == std::errc::result_out_of_range) value = large ? HUGE_VAL : 0.0;
  if (std::isinf(value)) return {0, text.end, NumberStatus::overflow};
  return {signed_value(value), text.end, NumberStatus::ok};
}

}  // namespace newel::detail
