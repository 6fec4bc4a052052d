// SPDX-License-Identifier: Apache-2.0
// Checkpoints: bits survive, damage is refused by name, the last sound one is used.
#include "tests/catch.hpp"

#include "apps/transient/checkpoint.hpp"

using namespace newel::transient;

namespace {

Checkpoint example(double time) {
  Checkpoint c;
  c.header = {{"program", "newel-test"}, {"time", time}};
  c.doubles["u"] = {0.1, -0.0, std::numeric_limits<double>::denorm_min(), 1e308, time};
  c.doubles["none"] = {};
  c.integers["order"] = {3, 1, 2, std::numeric_limits<std::int64_t>::min()};
  c.bytes["text"] = std::string("odd\0length", 10);
  return c;
}

std::string refusal(const std::string& file) {
  return message_of<InputError>([&] { (void)read_checkpoint(file); });
}

std::set<std::string> names_of(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_IN_FOLDER("a checkpoint is read back bit for bit, and nothing else stays in the folder", "[transient]") {
  const Checkpoint written = example(2.5);
  write_checkpoint(folder.file("c.bin"), written);
  const Checkpoint read = read_checkpoint(folder.file("c.bin"));
  CHECK(read.header == written.header);
  CHECK(same_bits(read.doubles_of("u", 5), written.doubles.at("u")));
  CHECK(read.doubles_of("none", 0).empty());
  CHECK(read.integers_of("order") == written.integers.at("order"));
  CHECK(read.bytes.at("text") == written.bytes.at("text"));
  CHECK(read.file == folder.file("c.bin"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_IN_FOLDER("a file cut anywhere is refused by name", "[transient]") {
  write_checkpoint(folder.file("c.bin"), example(1));
  const std::string whole = file_content(folder.file("c.bin"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string torn = folder.write("torn.bin", whole.substr(0, size));
    CAPTURE(size);
    REQUIRE(refusal(torn).find(torn + ": no valid checkpoint") == 0);
  }
  CHECK(!refusal(folder.write("long.bin", whole + "x")).empty());
}

TEST_IN_FOLDER("a byte changed anywhere is noticed or lies in the padding", "[transient]") {
  write_checkpoint(folder.file("c.bin"), example(1));
  const std::string whole = file_content(folder.file("c.bin"));
  const Checkpoint sound = read_checkpoint(folder.file("c.bin"));
  int unnoticed = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    const std::string file = folder.write("damaged.bin", damaged);
    if (!refusal(file).empty()) continue;
    ++unnoticed;
    const Checkpoint read = read_checkpoint(file);
    CAPTURE(i);
    REQUIRE(read.header == sound.header);
    REQUIRE(same_bits(read.doubles.at("u"), sound.doubles.at("u")));
    REQUIRE(read.integers == sound.integers);
    REQUIRE(read.bytes == sound.bytes);
  }
  CHECK(unnoticed < 64);
}

TEST_IN_FOLDER("files that are no checkpoint and arrays that are not there are refused by name", "[transient]") {
  CHECK(contains(refusal(folder.file("absent.bin")), "cannot be read"));
  CHECK(contains(refusal(folder.path().string()), "cannot be read"));
  CHECK(contains(refusal(folder.write("foreign.bin", std::string(1000, 'x'))), "does not begin"));
  write_checkpoint(folder.file("c.bin"), example(1));
  std::string other = file_content(folder.file("c.bin"));
  other[8] = 9;
  CHECK(contains(refusal(folder.write("other.bin", other)), "version 9"));
  const Checkpoint c = read_checkpoint(folder.file("c.bin"));
  CHECK_THROWS_AS(c.doubles_of("v"), InputError);
  CHECK_THROWS_AS(c.doubles_of("u", 4), InputError);
  CHECK_THROWS_AS(c.integers_of("u"), InputError);
  CHECK_THROWS_AS(write_checkpoint(folder.file("no/such/folder.bin"), c), InputError);
}

TEST_IN_FOLDER("the last two checkpoints stay, and those behind a resumed one go", "[transient]") {
  const CheckpointFolder checkpoints(folder.file("run"), "newel-test");
  std::string remark;
  CHECK_THROWS_AS(checkpoints.latest(remark), InputError);
  for (const int steps : {0, 10, 20, 30}) checkpoints.write(steps, example(steps));
  CHECK(!std::filesystem::exists(folder.file("run/checkpoint-000000010.bin")));
  CHECK(std::filesystem::exists(folder.file("run/checkpoint-000000020.bin")));
  CHECK(checkpoints.latest(remark).header["time"] == 30.0);
  CHECK(remark.empty());

  // A run resumed from step 20 writes step 25: step 30 was of the run before.
  checkpoints.write(25, example(25));
  CHECK(checkpoints.latest(remark).header["time"] == 25.0);
  CHECK(std::filesystem::exists(folder.file("run/checkpoint-000000020.bin")));
}

TEST_IN_FOLDER("a torn last checkpoint is passed over, and said", "[transient]") {
  const CheckpointFolder checkpoints(folder.path().string(), "newel-test");
  checkpoints.write(1, example(1));
  checkpoints.write(2, example(2));
  const std::string last = folder.file("checkpoint-000000002.bin");
  folder.write("checkpoint-000000002.bin", file_content(last).substr(0, 100));
  folder.write("checkpoint-000000003.bin.part", "not yet one");
  std::string remark;
  CHECK(checkpoints.latest(remark).header["time"] == 1.0);
  CHECK(remark.find(last) == 0);

  const CheckpointFolder others(folder.path().string(), "newel-other");
  CHECK_THROWS_AS(others.latest(remark), InputError);
}

TEST_IN_FOLDER("a run that begins anew takes away the checkpoints of its own program, and nothing else",
               "[transient]") {
  const CheckpointFolder own(folder.path().string(), "newel-test"), other(folder.path().string(), "newel-other");
  std::string remark;
  other.write(5, example(5));
  own.write(10, example(10));
  own.write(20, example(20));
  own.write(30, example(30));
  own.write(1, example(1));  // takes those behind it away
  CHECK(other.latest(remark).header["time"] == 5.0);
  own.write(2, example(2));
  const std::string torn = folder.file("checkpoint-000000002.bin");
  std::filesystem::resize_file(torn, std::filesystem::file_size(torn) - 8);
  folder.write("checkpoint-000000003.bin", "of a program that is not Newel");
  folder.write("checkpoint-best.bin", file_content(folder.file("checkpoint-000000001.bin")));

  CHECK(own.other_program() == "newel-other");
  CHECK(other.other_program() == "newel-test");
  CHECK(own.remove_all() == 2);
  CHECK(own.remove_all() == 0);
  CHECK(names_of(folder) ==
        std::set<std::string>{"checkpoint-000000003.bin", "checkpoint-000000005.bin", "checkpoint-best.bin"});
  CHECK_THROWS_AS(own.latest(remark), InputError);
  CHECK(other.other_program().empty());
  CHECK(CheckpointFolder(folder.file("absent"), "newel-test").remove_all() == 0);
  CHECK(CheckpointFolder(folder.file("absent"), "newel-test").other_program().empty());
}

TEST_IN_FOLDER("a header is read without what stands behind it, and only where it is sound", "[transient]") {
  Checkpoint large = example(1);
  large.doubles["large"].resize(std::size_t{1} << 18);
  write_checkpoint(folder.file("c.bin"), large);
  const std::string whole = file_content(folder.file("c.bin"));
  CHECK(read_checkpoint_header(folder.file("c.bin")) == large.header);
  CHECK(read_checkpoint_header(folder.write("torn.bin", whole.substr(0, 200))) == large.header);
  CHECK(read_checkpoint_header(folder.write("short.bin", whole.substr(0, 60))).is_null());
  CHECK(read_checkpoint_header(folder.write("foreign.bin", "x" + whole)).is_null());
  CHECK(read_checkpoint_header(folder.write("empty.bin", "")).is_null());
  CHECK(read_checkpoint_header(folder.file("absent.bin")).is_null());
}
