// SPDX-License-Identifier: Apache-2.0
// Decimal text to double against the C library's strtod, bit for bit.
#include "tests/catch.hpp"

#include <charconv>

#include "core/text/number_parse.hpp"

using newel::NumberStatus;
using newel::detail::ParsedNumber;
using newel::detail::read_number;

namespace {

ParsedNumber read(const std::string& text, std::size_t* used = nullptr) {
  const std::string line = text + "\n";
  const ParsedNumber number = read_number(line.data(), line.data() + line.size());
  if (used != nullptr) *used = static_cast<std::size_t>(number.end - line.data());
  return number;
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Reads the whole text and gives strtod's bits; a message otherwise.
std::string compare(const std::string& text) {
  std::size_t used = 0;
  const ParsedNumber number = read(text, &used);
  const double expected = std::strtod(text.c_str(), nullptr);
  if (std::isinf(expected)) return number.status == NumberStatus::overflow ? "" : text + " is no overflow";
  if (number.status != NumberStatus::ok) return text + " is not read";
  if (used != text.size()) return text + " is not read to its end";
  return bits_of(number.value) == bits_of(expected) ? "" : text + " gives other bits";
}

std::string print(const char* format, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double random_double(std::mt19937_64& random) {
  for (;;) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) return value;
  }
}

}  // namespace

TEST_CASE("numbers at the edges of the format are read as strtod reads them", "[number_parse]") {
  for (const char* text : {"0",
                           "-0",
                           "+1",
                           "1.",
                           ".5",
                           "-.5e1",
                           "00012",
                           "0.1",
                           "1e0",
                           "1E+2",
                           "123456789012345678",
                           "1234567890123456789",
                           "12345678901234567890",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999",
                           "9007199254740993",
                           "9007199254740992.5",
                           "9007199254740993.0000000000000000000000000001",
                           "0.000000000000000000000000000000000000000001",
                           "0.00012345678901234567",
                           "2.2250738585072014e-308",
                           "2.2250738585072011e-308",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "1e-400",
                           "-1e-400",
                           "1e-99999999999999999999",
                           "0e99999999999999999999",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "1e308",
                           "1e309",
                           "1e99999999999999999999",
                           "8.5e27",
                           "1e27",
                           "1e28",
                           "1e-27",
                           "1e-28",
                           "18446744073709551615e27",
                           "18446744073709551615e-27",
                           "9223372036854775808e-27",
                           "7450580596923828125e-27",
                           "7450580596923828125e27",
                           "1e22",
                           "1e23",
                           "9007199254740991e22",
                           "9007199254740993e22",
                           "5e-324",
                           "3e-324",
                           "12345678.12345678",
                           "1.123456781234567812345678"}) {
    CHECK(compare(text) == "");
  }
  CHECK(std::signbit(read("-0").value));
  CHECK(std::signbit(read("-1e-400").value));
}

TEST_CASE("Fortran exponents mean what e means", "[number_parse]") {
  CHECK(read("1.5D+03").value == 1500);
  CHECK(read("-1.5d-1").value == -0.15);
  CHECK(read("1d-400").value == 0);
  CHECK(read("1.2345678901234567D-100").value == 1.2345678901234567e-100);
  CHECK(read("1D309").status == NumberStatus::overflow);
}

TEST_CASE("what is no number is not read", "[number_parse]") {
  for (const char* text : {"", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "1d-", "nan", "inf", "-inf", "infinity",
                           "x1", "--1", "+-1", "\xff"}) {
    CHECK(read(text).status == NumberStatus::not_a_number);
  }
  std::size_t used = 0;
  CHECK(read("0x10", &used).value == 0);
  CHECK(used == 1);
  CHECK(read("1.5.5", &used).value == 1.5);
  CHECK(used == 3);
}

TEST_CASE("random doubles in many notations are read to the bit", "[number_parse]") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> ordinary(-1000, 1000);
  std::string failed;
  for (int i = 0; i < 40000 && failed.empty(); ++i) {
    const double values[] = {random_double(random), ordinary(random), ordinary(random) * 1e-9,
                             ordinary(random) * 1e12};
    for (const double value : values) {
      char shortest[64];
      const auto end = std::to_chars(shortest, shortest + sizeof shortest, value).ptr;
      failed += compare(std::string(shortest, end));
      for (const char* format : {"%.17g", "%.16e", "%.18e", "%.5g", "%25.20e", "%.25g"}) {
        std::string text = print(format, value);
        text.erase(0, text.find_first_not_of(' '));
        failed += compare(text);
      }
    }
    failed += compare(print("%.30f", values[2]));
  }
  CHECK(failed == "");
}

TEST_CASE("mantissas of up to 19 digits with small exponents are rounded correctly", "[number_parse]") {
  std::mt19937_64 random(11);
  std::string failed;
  for (int i = 0; i < 200000 && failed.empty(); ++i) {
    const std::uint64_t mantissa = random() >> (random() % 64);
    const int exponent = static_cast<int>(random() % 61) - 30;
    failed += compare(std::to_string(mantissa) + "e" + std::to_string(exponent));
    // Halfway between two doubles, and next to it.
    const std::uint64_t half = ((std::uint64_t{1} << 53) + (random() >> 11)) * 2 + 1;
    failed += compare(std::to_string(half));
    failed += compare(std::to_string(half) + "e" + std::to_string(exponent));
    failed += compare(std::to_string(half) + "0e-1");
    failed += compare(std::to_string(half) + ".000000000000000000001");
  }
  CHECK(failed == "");
}

TEST_CASE("an exponent that Fortran writes without a letter is read as with one", "[number_parse]") {
  const char* const pairs[][2] = {{"0.57719640-104", "0.57719640e-104"},
                                  {"0.10000000+101", "0.10000000e+101"},
                                  {"-.5-300", "-.5e-300"},
                                  {"1.-104", "1.e-104"},
                                  {"+12.25+003", "+12.25e+003"},
                                  {"0.00000000-999", "0.0"},
                                  {"0.1234567890123456789012-105", "0.1234567890123456789012e-105"},
                                  {"0.17976931348623157+309", "0.17976931348623157e+309"},
                                  {"0.49406564584124654-323", "0.49406564584124654e-323"}};
  for (const auto& [bare, with_letter] : pairs) {
    INFO(bare);
    std::size_t used = 0;
    const ParsedNumber number = read(bare, &used);
    CHECK(number.status == NumberStatus::ok);
    CHECK(used == std::string(bare).size());
    CHECK(bits_of(number.value) == bits_of(std::strtod(with_letter, nullptr)));
  }
  CHECK(read("0.20000000+309").status == NumberStatus::overflow);
}

TEST_CASE("two numbers that have run together are not taken for one with an exponent", "[number_parse]") {
  for (const char* text : {"1.5-3", "1.5-12", "1.5-1234", "12-104", "1.5-", "1.5-12a", "1.5--104", "1.5+-104"}) {
    INFO(text);
    std::size_t used = 0;
    read(text, &used);
    CHECK(used < std::string(text).size());
  }
}
