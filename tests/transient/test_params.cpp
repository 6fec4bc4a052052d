// SPDX-License-Identifier: Apache-2.0
// ParamTable: what it takes, what it refuses and in which words, and that it reads what it writes.
#include "tests/catch.hpp"

#include "apps/transient/params.hpp"

using namespace newel::transient;

namespace {

struct Example {
  double alpha = 0.01, gain = 2;
  std::int64_t count = 3;
  std::string shape = "round";
  std::array<double, 3> axis = {0, 0, 1};
  std::vector<std::int64_t> nodes;
};

ParamTable table_of(Example& e) {
  ParamTable table;
  table.number("tissue.alpha", e.alpha, "threshold", above(0))
      .number("tissue.gain", e.gain, "gain", between(0, 10))
      .integer("tissue.inner.count", e.count, "layers", at_least(1))
      .choice("shape", e.shape, "form", {"round", "flat"})
      .point("axis", e.axis, "direction")
      .integers("stimulus.nodes", e.nodes, "where", at_least(0));
  return table;
}

std::string refusal(const std::string& json) {
  Example e;
  return message_of<InputError>([&] { table_of(e).read_text("p.json", json); });
}

}  // namespace

TEST_CASE("parameters are read from JSON with comments, and the rest keep their defaults", "[transient]") {
  Example e;
  table_of(e).read_text("p.json", R"({
    // of the tissue
    "tissue": {"alpha": 0.15, "inner": {"count": 1e1}},
    /* coarse meshes */ "shape": "flat", "axis": [1, 2, 3.5],
    "stimulus": {"nodes": [5, 7]}
  })");
  CHECK(e.alpha == 0.15);
  CHECK(e.gain == 2);
  CHECK(e.count == 10);
  CHECK(e.shape == "flat");
  CHECK(e.axis == std::array<double, 3>{1, 2, 3.5});
  CHECK(e.nodes == std::vector<std::int64_t>{5, 7});
}

TEST_IN_FOLDER("what is written is read back, and has the fingerprint of its values", "[transient]") {
  Example e, again;
  e.alpha = 0.1 + 0.2;  // needs all digits
  e.nodes = {1, 2, 3};
  again.nodes = {4};
  const std::string before = table_of(again).fingerprint();
  table_of(again).read(folder.write("p.json", table_of(e).text()));
  CHECK(again.alpha == e.alpha);
  CHECK(again.nodes == e.nodes);
  CHECK(table_of(again).values() == table_of(e).values());
  CHECK(table_of(again).fingerprint() == table_of(e).fingerprint());
  CHECK(before != table_of(e).fingerprint());
  CHECK(contains(table_of(e).text(), "// threshold"));
  CHECK(table_of(e).values()["tissue"]["inner"]["count"] == 3);
}

TEST_CASE("a bad value is refused by name, with what was expected and what came", "[transient]") {
  CHECK(refusal(R"({"tissue": {"alpha": 0}})") == "p.json: 'tissue.alpha': expected a number > 0, found 0");
  CHECK(refusal(R"({"tissue": {"alpha": "0.1"}})") == "p.json: 'tissue.alpha': expected a number > 0, found \"0.1\"");
  CHECK(refusal(R"({"tissue": {"gain": 10.5}})") ==
        "p.json: 'tissue.gain': expected a number from 0 to 10, found 10.5");
  CHECK(refusal(R"({"tissue": {"inner": {"count": 1.5}}})") ==
        "p.json: 'tissue.inner.count': expected a whole number >= 1, found 1.5");
  CHECK(refusal(R"({"shape": "square"})") == "p.json: 'shape': expected one of round, flat, found \"square\"");
  CHECK(contains(refusal(R"({"axis": [1, 2]})"), "three numbers"));
  CHECK(
      contains(refusal(R"({"stimulus": {"nodes": [1, -2]}})"), "'stimulus.nodes' [1]: expected a whole number >= 0"));
  CHECK(contains(refusal(R"({"stimulus": {"nodes": 3}})"), "a list of whole numbers"));
  CHECK(refusal(R"({"tissue": 3})") == "p.json: 'tissue': expected an object { ... }, found 3");
  CHECK(contains(refusal(R"({"tissue": {"alpha": null}})"), "found null"));
  CHECK(refusal(R"({"tissue": {"alpha": 1e999}})").find("p.json: expected JSON") == 0);
}

TEST_CASE("unknown names, names given twice and broken JSON are told, with the place", "[transient]") {
  CHECK(refusal(R"({"tissue": {"alfa": 1}})") == "p.json: unknown name 'tissue.alfa' (did you mean 'tissue.alpha'?)");
  CHECK(contains(refusal(R"({"zzzzzzzzzzzz": 1})"), "expected one of: tissue.alpha, "));
  CHECK(refusal(R"({"shape": "flat", "shape": "round"})") == "p.json: 'shape' is given twice");
  CHECK(refusal(R"({"tissue": {"alpha": 1, "alpha": 2}})") == "p.json: 'alpha' is given twice");
  CHECK(refusal("{\n  \"axis\": [0, 0, 1],\n  \"shape\" \"flat\"\n}").find("p.json:3: expected JSON") == 0);
  CHECK(contains(refusal("[1]"), "expected an object"));
  CHECK(contains(refusal(""), "expected JSON"));
  CHECK(contains(refusal(R"({"tissue": {}, "stimulus": {"alpha": 1}})"), "unknown name 'stimulus.alpha'"));
  Example e;
  CHECK_THROWS_AS(table_of(e).read("/no/such/file.json"), InputError);
}
