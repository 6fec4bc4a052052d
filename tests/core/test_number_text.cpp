// SPDX-License-Identifier: Apache-2.0
// Counts written out.
#include "tests/catch.hpp"

#include "core/text/number_text.hpp"

using newel::detail::plain_number;

TEST_CASE("Counts are written out, with as many digits as they are known to", "[core]") {
  CHECK(plain_number(0) == "0");
  CHECK(plain_number(999) == "999");
  CHECK(plain_number(1000) == "1,000");
  CHECK(plain_number(1234567.8) == "1,234,568");
  CHECK(plain_number(-1234) == "-1,234");
  CHECK(plain_number(967, 2) == "970");
  CHECK(plain_number(2094, 3) == "2,090");
  CHECK(plain_number(996, 2) == "1,000");
  CHECK(plain_number(12.3, 3) == "12");
  CHECK(plain_number(1e15) == "1e+15");
  CHECK(plain_number(std::numeric_limits<double>::infinity()) == "inf");
}
