// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"

#include <newel/core/table.hpp>

using newel::InputError;
using newel::Registration;
using newel::Table;

namespace {

struct Line {
  std::string name;
  int value = 0;
};

}  // namespace

TEST_CASE("lines of a table are found whatever their case, dashes and underscores", "[table]") {
  const Table<Line> table("colour", {}, {{"dark-red", 1}, {"blue", 2}});
  REQUIRE(table.find("Dark_Red") != nullptr);
  CHECK(table.find("DARKRED")->value == 1);
  CHECK(table.find("blue")->value == 2);
  CHECK(table.find("dark") == nullptr);
  CHECK(table.find("") == nullptr);
}

TEST_CASE("a table takes no second line of a name, nor a reserved one", "[table]") {
  Table<Line> table("colour", {"none"}, {{"blue", 2}});
  CHECK_THROWS_WITH(table.add({"B-lue", 3}), "a colour named 'B-lue' is already registered");
  CHECK_THROWS_AS(table.add({"None", 3}), InputError);
  CHECK(table.lines().size() == 1);
}

TEST_CASE("a registered line leaves its table with the registration", "[table]") {
  Table<Line> table("colour", {}, {{"blue", 2}});
  {
    const Registration registration = table.add({"green", 5});
    REQUIRE(table.find("green") != nullptr);
    CHECK(table.find("green") == &table.lines().back());
  }
  CHECK(table.find("green") == nullptr);
  const Registration again = table.add({"green", 6});
  CHECK(table.find("green")->value == 6);
}
