// SPDX-License-Identifier: Apache-2.0
// The table of formats: names and variants, what info() accounts for, and the refusals.
#include "tests/spmv/spmv_support.hpp"

#include "spmv/csr/csr.hpp"

namespace {

// A whole number of entries is cached: none by formats without a cache of their own, all where everything lies in one
// part and no row is so long or so wide that it has a path beside the cache.
void check_cached_share(const std::string& format, const OperatorInfo& info) {
  const double cached = info.cached_share * static_cast<double>(info.nonzeros);
  CHECK(std::fabs(cached - std::round(cached)) <= 1e-15 * static_cast<double>(info.nonzeros));
  CHECK(info.cached_share <= 1);
  const SpmvFormat& line = find_spmv_format(format);
  if (line.name != "ehyb" && line.fallback != "ehyb") {
    CHECK(info.cached_share == 0);
    return;
  }
  const bool all = info.figure("parts").value() == 1 && info.figure("extra rows").value() == 0 &&
                   info.figure("long rows").value() == 0;
  if (all && info.nonzeros > 0) CHECK(info.cached_share == 1);
}

}  // namespace

TEST_CASE("Names are compared without case, '-' and '_'", "[spmv]") {
  CHECK(canonical_name("CSR") == "csr");
  CHECK(canonical_name("Ell-Warp_2") == "ellwarp2");
  CHECK(canonical_name("") == "");
  for (const char* const one : {"", "-", "CSR", "csr", "cs", "Ell-Warp_2", "ellwarp2", "_ell_warp2-", "ehyb"}) {
    for (const char* const other : {"", "__", "c-s-r", "EllWarp2", "ellwarp", "EHYB"}) {
      CHECK(same_name(one, other) == (canonical_name(one) == canonical_name(other)));
    }
  }
  CHECK(find_spmv_format("C-S_r").name == "csr");
  CHECK(find_spmv_format("csr:anything").name == "csr");
}

TEST_CASE("Every line of the table is complete on the host and told apart by its name", "[spmv]") {
  std::vector<std::string> seen;
  for (const SpmvFormat& format : spmv_formats()) {
    const std::string name = canonical_name(format.name);
    CHECK(std::find(seen.begin(), seen.end(), name) == seen.end());
    seen.push_back(name);
    CHECK_FALSE(format.summary.empty());
    CHECK(format.estimate_bytes != nullptr);
    CHECK(&find_spmv_format(format.name) == &format);
    CHECK((format.make.get<double, Space::host>() == nullptr) == (format.make.get<float, Space::host>() == nullptr));
    CHECK((format.make.get<double, Space::device>() == nullptr) ==
          (format.make.get<float, Space::device>() == nullptr));
    if (NEWEL_HAS_CUDA == 0) CHECK(format.make.get<double, Space::device>() == nullptr);
  }
  CHECK(seen.front() == "csr");
}

TEST_BOTH("An unknown format is refused with the names there are", "[spmv]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(5));
  const auto make = [&] { make_spmv<double, S>(ctx, there.wide(), {}, SpmvOptions{"skyline"}); };
  const auto plan = [&] { plan_order<double>(ctx, Pattern<S>(there.wide()), SpmvOptions{"skyline"}); };
  for (const std::string& message : {message_of<InputError>(make), message_of<InputError>(plan)}) {
    CHECK(contains(message, "'skyline'"));
    for (const SpmvFormat& format : spmv_formats()) CHECK(contains(message, format.name));
  }
  CHECK_THROWS_AS(find_spmv_format(""), InputError);
}

TEST_BOTH("An unknown variant is refused with the variants there are", "[spmv]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(5));
  const std::string message =
      message_of<InputError>([&] { make_spmv<double, S>(ctx, there.wide(), {}, SpmvOptions{"csr:alg7"}); });
  CHECK(contains(message, "'csr'"));
  CHECK(contains(message, "'alg7'"));
  CHECK(contains(message, "csr:alg1, csr:alg2"));
  const auto loose = make_spmv<double, S>(ctx, there.wide(), {}, SpmvOptions{"Csr:Alg-2"});
  CHECK(loose->rows() == 5);
  if (S == Space::device) CHECK(loose->info().name == "csr:alg2");
}

TEST_BOTH("csr keeps the natural order", "[spmv]") {
  const auto there = upload_matrix<double>(ctx, arrow_matrix(50));
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.narrow()), SpmvOptions{});
  CHECK(order.natural());
  CHECK(order.part_begin.empty());
}

TEST_BOTH("info accounts for every byte that an operator holds, and for its entries", "[spmv]") {
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    for (const std::string& format : format_names<double, S>()) {
      INFO(format);
      if (a.rows != a.cols && takes_square_only(format)) continue;
      const std::uint64_t before = ctx.memory()->use().bytes;
      const auto product = make_spmv<double, S>(
          ctx, there.wide(), plan_order<double>(ctx, Pattern<S>(there.wide()), {format}), SpmvOptions{format});
      const std::uint64_t held = ctx.memory()->use().bytes - before;
      const OperatorInfo info = product->info();
      CHECK(info.total_bytes() == held);
      CHECK(info.rows == a.rows);
      CHECK(info.cols == a.cols);
      CHECK(info.nonzeros == a.nnz());
      CHECK(info.stored_slots >= a.nnz());
      const double slots = static_cast<double>(info.stored_slots), entries = static_cast<double>(a.nnz());
      CHECK(info.padding_ratio() == Approx(entries == 0 ? 0.0 : (slots - entries) / entries).margin(1e-15));
      if (find_spmv_format(format).name == "csr") CHECK(info.stored_slots == a.nnz());
      CHECK(info.total_bytes() >= static_cast<std::uint64_t>(a.nnz()) * sizeof(double));
      CHECK(contains(info.name, format.substr(0, format.find(':'))));
      // One number of a symmetric pair is read for both.
      const std::uint64_t least = format == "ehyb-symmetric" ? sizeof(double) / 2 : sizeof(double);
      CHECK(info.bytes_per_product >= static_cast<std::uint64_t>(info.stored_slots) * least);
      check_cached_share(format, info);
      std::set<std::string> phases;
      for (const auto& [phase, seconds] : info.setup_seconds) {
        CHECK_FALSE(phase.empty());
        CHECK(phases.insert(phase).second);
        CHECK(std::isfinite(seconds));
      }
      CHECK_FALSE(phases.empty());
    }
  }
}

TEST_BOTH("csr holds what was estimated, and its value map where it has one", "[spmv]") {
  const HostCsr a = dominant_matrix(700);
  const auto there = upload_matrix<float>(ctx, a);
  // What depends on the device, and entries up to a multiple of four there.
  const auto beyond_arrays = [&](const OperatorInfo& info) {
    std::uint64_t bytes = 0;
    for (const auto& [part, size] : info.bytes) bytes += part == "chunks" ? size : 0;
    return bytes;
  };
  const std::uint64_t estimate = find_spmv_format("csr").estimate_bytes(a.rows, a.cols, a.nnz(), sizeof(float));
  CHECK(estimate == 4u * 701 + 8u * static_cast<std::uint64_t>(a.nnz()));
  const OperatorInfo info = make_spmv<float, S>(ctx, there.wide(), {})->info();
  CHECK(info.total_bytes() - beyond_arrays(info) == estimate);
  CHECK(info.padding_ratio() == 0);
  const auto permuted = permute(ctx, there.wide(), make_row_order(ctx, random_order(a.rows)));
  const OperatorInfo mapped = make_spmv<float, S>(ctx, permuted.view(), {})->info();
  CHECK(mapped.total_bytes() - beyond_arrays(mapped) == estimate + 4u * static_cast<std::uint64_t>(a.nnz()));
}

TEST_CASE("csr is estimated with 64-bit row pointers where 32 bits do not count the entries", "[spmv]") {
  const Offset most = std::numeric_limits<std::int32_t>::max();
  CHECK(csr_bytes(9, 9, most, 8) == 4u * 10 + 12u * static_cast<std::uint64_t>(most));
  CHECK(csr_bytes(9, 9, most + 1, 8) == 8u * 10 + 12u * static_cast<std::uint64_t>(most + 1));
}
