// SPDX-License-Identifier: Apache-2.0
// The plan cache: what is kept is found again, and nothing else is.
#include "tests/spmv/spmv_support.hpp"

#include <sys/stat.h>

#include <newel/spmv/format_choice.hpp>
#include "spmv/plan/plan_cache.hpp"

using detail::CachedPlan;
using detail::PlanCache;
using detail::PlanKey;

namespace {

std::vector<std::filesystem::path> files_in(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

void write(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

template <Space S>
RowOrder<S> plan_in(const Context<S>& ctx, const std::string& folder, const CsrView<double, S>& a,
                    const std::string& format = "ehyb", Index parts = 4) {
  SpmvOptions options;
  options.format = format;
  options.parts = parts;
  options.plan_cache = folder;
  return plan_order<double>(ctx, Pattern<S>(a), options);
}

PlanKey key_of(const Pattern<host>& pattern, int threads = 1) {
  PlanKey key;
  key.add(Context<host>(threads), pattern);
  return key;
}

}  // namespace

TEST_BOTH("A plan that was kept is found again", "[plan-cache]") {
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:9"));
  const std::string place = folder.file("deep/er");
  const RowOrder<S> first = plan_in(ctx, place, there.wide());
  CHECK(first.report.remark == "");
  CHECK_FALSE(contains(first.report.method, "cache"));
  CHECK(files_in(place).size() == 1);
  const RowOrder<S> second = plan_in(ctx, place, there.narrow());
  CHECK(contains(second.report.method, "from the plan cache"));
  CHECK(second.report.remark == "");
  CHECK(second.report.seconds.empty());
  CHECK(second.report.figures == first.report.figures);
  CHECK(second.part_begin == first.part_begin);
  CHECK(download(ctx, second.old_of_new) == download(ctx, first.old_of_new));
  CHECK(download(ctx, second.new_of_old) == download(ctx, first.new_of_old));
}

TEST_BOTH("Another format, another number of parts and another pattern have plans of their own", "[plan-cache]") {
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:7"));
  const auto other = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:8"));
  plan_in(ctx, folder.path().string(), there.wide());
  CHECK_FALSE(contains(plan_in(ctx, folder.path().string(), there.wide(), "ehyb:paper").report.method, "cache"));
  CHECK_FALSE(contains(plan_in(ctx, folder.path().string(), there.wide(), "ehyb", 5).report.method, "cache"));
  CHECK_FALSE(contains(plan_in(ctx, folder.path().string(), other.wide()).report.method, "cache"));
  CHECK(files_in(folder.path().string()).size() == 4);
  CHECK(contains(plan_in(ctx, folder.path().string(), there.wide()).report.method, "cache"));
}

TEST_BOTH("A damaged file is ignored with a line and replaced", "[plan-cache]") {
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:6"));
  const auto expected = download(ctx, plan_in(ctx, folder.path().string(), there.wide()).old_of_new);
  const auto file = files_in(folder.path().string()).at(0);
  const std::string sound = file_content(file.string());
  const auto with_byte = [&](std::size_t at) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
  };
  for (const std::string& bad :
       {std::string(), sound.substr(0, 20), sound.substr(0, sound.size() - 1), sound + "x", with_byte(0),
        with_byte(8), with_byte(sound.size() / 2), with_byte(sound.size() - 1)}) {
    write(file, bad);
    const RowOrder<S> order = plan_in(ctx, folder.path().string(), there.wide());
    CHECK(contains(order.report.remark, "ignored"));
    CHECK_FALSE(contains(order.report.method, "cache"));
    CHECK(download(ctx, order.old_of_new) == expected);
    CHECK(file_content(file.string()) == sound);
  }
}

TEST_CASE("A cache that cannot be written is a remark, not an error", "[plan-cache]") {
  const Context<host> ctx(1);
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(50));
  write(folder.file("file"), "in the way");
  const RowOrder<host> order = plan_in(ctx, folder.file("file/inside"), there.wide());
  CHECK(contains(order.report.remark, "could not be stored"));
  CHECK(order.part_begin.size() == 5);
}

TEST_CASE("A key tells patterns apart and does not feel threads or the width of row pointers", "[plan-cache]") {
  const Context<host> ctx(1);
  const HostCsr a = ragged_matrix(40000, 40000);
  HostCsr b = a;
  b.col.back() = b.col.back() == 39999 ? 39998 : b.col.back() + 1;
  const auto there = upload_matrix<double>(ctx, a), other = upload_matrix<double>(ctx, b);
  const std::string name = key_of(there.wide()).name();
  CHECK(name.size() == 32);
  CHECK(key_of(there.narrow()).name() == name);
  CHECK(key_of(there.wide(), 3).name() == name);
  CHECK(key_of(other.wide()).name() != name);
  PlanKey one, two;
  one.add(std::string_view("ab"));
  one.add(std::string_view("c"));
  two.add(std::string_view("a"));
  two.add(std::string_view("bc"));
  CHECK(one.name() != two.name());
}

TEST_IN_FOLDER("A choice is stored with an order", "[plan-cache]") {
  PlanKey key;
  key.add(std::uint64_t{7});
  PlanCache cache(folder.path().string());
  CHECK_FALSE(cache.find(key));
  cache.keep(key, {"ehyb:halo", "the fastest of five", {2, 0, 1}, {0, 3}, "by hand", {{"parts", 1.5}}});
  const auto found = cache.find(key);
  REQUIRE(found);
  CHECK(found->choice == "ehyb:halo");
  CHECK(found->reason == "the fastest of five");
  CHECK(found->old_of_new == std::vector<Index>{2, 0, 1});
  CHECK(found->part_begin == std::vector<Index>{0, 3});
  CHECK(found->figures == std::vector<std::pair<std::string, double>>{{"parts", 1.5}});
  CHECK(cache.remark() == "");
}

TEST_CASE("What is no file where a plan belongs is ignored with a line", "[plan-cache]") {
  const Context<host> ctx(1);
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:6"));
  const auto expected = download(ctx, plan_in(ctx, folder.path().string(), there.wide()).old_of_new);
  const auto file = files_in(folder.path().string()).at(0);
  const std::function<void()> in_its_place[] = {
      [&] { std::filesystem::create_directory(file); },
      [&] { REQUIRE(mkfifo(file.c_str(), 0600) == 0); },
      [&] { std::filesystem::create_symlink("/dev/zero", file); },
      [&] { std::filesystem::create_symlink(folder.path(), file); },
  };
  for (const auto& put : in_its_place) {
    std::filesystem::remove_all(file);
    put();
    const RowOrder<host> order = plan_in(ctx, folder.path().string(), there.wide());
    CHECK(contains(order.report.remark, "is not a regular file: it is ignored"));
    CHECK_FALSE(contains(order.report.method, "cache"));
    CHECK(download(ctx, order.old_of_new) == expected);
  }
}

TEST_CASE("A plan with a sound checksum and an order that is none is ignored", "[plan-cache]") {
  const Context<host> ctx(1);
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:6"));
  const std::string place = folder.path().string();
  const RowOrder<host> expected = plan_in(ctx, place, there.wide());
  SpmvOptions options;
  options.parts = 4;
  PlanKey key = detail::plan_key(ctx, Pattern<host>(there.wide()), {"", options, machine_of(ctx), sizeof(double)});
  key.add("ehyb");
  key.add("");
  REQUIRE(PlanCache(place).find(key));
  const Index n = there.wide().rows;
  const CachedPlan sound = *PlanCache(place).find(key);
  const auto with_order = [&](const std::function<void(std::vector<Index>&)>& change) {
    CachedPlan plan = sound;
    change(plan.old_of_new);
    return plan;
  };
  const auto with_parts = [&](std::vector<Index> parts) {
    CachedPlan plan = sound;
    plan.part_begin = std::move(parts);
    return plan;
  };
  for (const CachedPlan& plan :
       {with_order([](auto& order) { order[1] = order[0]; }), with_order([&](auto& order) { order[0] = n; }),
        with_order([](auto& order) { order[0] = -1; }), with_order([](auto& order) { order.pop_back(); }),
        with_parts({0, n + 1}), with_parts({1, n}), with_parts({0, 7, 3, n}), with_parts({-5, n}), with_parts({0})}) {
    PlanCache(place).keep(key, plan);
    const RowOrder<host> order = plan_in(ctx, place, there.wide());
    CHECK(contains(order.report.remark, "holds no plan for this matrix: it is ignored"));
    CHECK(download(ctx, order.old_of_new) == download(ctx, expected.old_of_new));
    CHECK(order.part_begin == expected.part_begin);
    CHECK(contains(plan_in(ctx, place, there.wide()).report.method, "cache"));  // it was replaced
  }
}

TEST_CASE("A kept choice that is no format is made anew", "[plan-cache]") {
  const Context<host> ctx(1);
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:6"));
  SpmvOptions options;
  options.plan_cache = folder.path().string();
  PlanKey key = detail::plan_key(ctx, Pattern<host>(there.wide()), {"", options, machine_of(ctx), sizeof(double)});
  key.add("measure");
  key.add(std::uint64_t{10});
  key.add(std::uint64_t{1});
  for (const std::string name : {"", "no format", "ehyb:no variant"}) {
    PlanCache(options.plan_cache).keep(key, {name, "", {}, {}, "", {}});
    const FormatChoice choice = measure_formats<double>(ctx, there.wide(), options, 10, true);
    CHECK(contains(choice.reason, "holds no format that is a candidate here: it is ignored"));
    CHECK(choice.format != name);
    CHECK(contains(measure_formats<double>(ctx, there.wide(), options, 10, true).reason, "from the plan cache"));
  }
}
