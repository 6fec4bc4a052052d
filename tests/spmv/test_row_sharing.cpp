// SPDX-License-Identifier: Apache-2.0
// From what length on several threads share a row: the model on plain cases, and what bce and evchyb make of it.
#include "tests/spmv/spmv_support.hpp"

#include "spmv/bce/bce_layout.hpp"
#include "spmv/evc_hyb/evc_hyb_layout.hpp"
#include "spmv/cost/row_sharing.hpp"

namespace {

// Four slots in flight, all 2048 threads; rows of up to 100 to a thread each.
detail::SharingChoices plain_choices() {
  detail::SharingChoices choices;
  choices.longest_alone = 100;
  choices.workers = {{4, 2048}};
  choices.thread_slots = {8};
  choices.piece_slots = {1024};
  return choices;
}

}  // namespace

TEST_CASE("a product of one long row per thread waits for its batches and one for the start", "[spmv][sharing]") {
  // 100 rows of 40 entries: the launch of 2 us, 11 batches of 1 us; 52 KB of bytes are nothing beside them.
  detail::SharingChoices choices = plain_choices();
  choices.thread_slots = {40};
  choices.most_lanes = 1;  // sharing gains nothing
  const detail::RowSharing sharing = detail::share_rows({{40, 100}}, large_gpu(), 8, choices);
  CHECK(sharing.longest_alone == 100);
  CHECK(sharing.seconds == Approx(13e-6).epsilon(0.01));
}

TEST_CASE("few rows are shared from a length on that a thread is quickly done with", "[spmv][sharing]") {
  // 5,000 rows of 8 entries wait for 3 batches; 100 of 96 would wait for 25 alone, for 3 with 16 lanes each.
  const detail::RowSharing sharing = detail::share_rows({{8, 5000}, {96, 100}}, large_gpu(), 8, plain_choices());
  CHECK(sharing.longest_alone == 8);
  CHECK(sharing.seconds == Approx(5e-6).epsilon(0.1));
}

TEST_CASE("a full machine keeps the format's own figures", "[spmv][sharing]") {
  // 4 million rows of 27 entries take 340 us of bandwidth; the longest thread 26.
  const RowLengths lengths = {{27, 4000000}, {100, 10000}};
  CHECK(detail::share_rows(lengths, large_gpu(), 8, plain_choices()).longest_alone == 100);
  const BceShape own = bce_shape(large_gpu()), bce = bce_shape(large_gpu(), lengths, 8);
  CHECK(bce.widest == own.widest);
  CHECK(bce.block_rows == own.block_rows);
  CHECK(bce.batch == 4);
  CHECK(bce.piece_slots == own.piece_slots);
  const EvcHybShape evc = evc_hyb_shape(large_gpu(), lengths, 8);
  CHECK(evc.longest_ell == 128);
  CHECK(evc.thread_entries == 8);
  CHECK(evc.most_rows == 4);
}

TEST_CASE("long rows are cut where their pieces gain more than the launch that adds them", "[spmv][sharing]") {
  detail::SharingChoices choices = plain_choices();
  choices.piece_slots = {8192, 256};
  // 32 lanes have 256 slots each of a row of 8,192, which is 64 batches; of one of 300 they have 10, in 3 batches.
  CHECK(detail::share_rows({{4, 1000}, {8192, 2}}, large_gpu(), 8, choices).piece_slots == 256);
  CHECK(detail::share_rows({{4, 1000}, {300, 2}}, large_gpu(), 8, choices).piece_slots == 8192);
}

TEST_CASE("a piece has the fewest lanes that leave each its share", "[spmv][sharing]") {
  CHECK(detail::lanes_of_piece(1, 8, 4, 32) == 4);
  CHECK(detail::lanes_of_piece(32, 8, 4, 32) == 4);
  CHECK(detail::lanes_of_piece(33, 8, 4, 32) == 8);
  CHECK(detail::lanes_of_piece(65, 8, 4, 32) == 16);
  CHECK(detail::lanes_of_piece(5000, 8, 4, 32) == 32);
}

TEST_CASE("bce and evchyb share the long rows of a matrix that does not fill a device", "[spmv][sharing]") {
  // As bcsstk33: 8,738 rows of 68 on average, up to 140.
  const RowLengths lengths = {{30, 2000}, {60, 4000}, {100, 2000}, {140, 738}};
  const BceShape bce = bce_shape(large_gpu(), lengths, 8);
  CHECK(bce.widest <= 30);
  CHECK(bce.least_rows == 192);
  CHECK(bce.block_rows == 32);
  CHECK(bce.batch == 8);
  const EvcHybShape evc = evc_hyb_shape(large_gpu(), lengths, 8);
  CHECK(evc.longest_ell < 60);
  CHECK(evc.most_rows == 1);
}

TEST_CASE("the host takes rows as it did, whatever their lengths", "[spmv][sharing]") {
  const RowLengths lengths = {{2, 100}, {140, 700}};
  const BceShape own = bce_shape(Machine{}), bce = bce_shape(Machine{}, lengths, 8);
  CHECK(bce.widest == own.widest);
  CHECK(bce.block_rows == own.block_rows);
  CHECK(bce.piece_slots == own.piece_slots);
  CHECK(evc_hyb_shape(Machine{}, lengths, 8).longest_ell == evc_hyb_shape(Machine{}).longest_ell);
  CHECK(evc_hyb_shape(Machine{}, lengths, 8).thread_entries == evc_hyb_shape(Machine{}).thread_entries);
}

TEST_CASE("bce's grid counts each piece in the class of its lanes", "[spmv][bce][sharing]") {
  // Rows of 20 stay in blocks; 30 and 33 take 4 and 8 lanes of 8 slots, 300 is cut in two pieces of 32 lanes.
  MapRows rows(100);
  for (Index i = 0; i < 100; ++i) {
    const Index length = i < 90 ? 20 : i < 95 ? 30 : i < 99 ? 33 : 300;
    for (Index j = 0; j < length; ++j) rows[i][j] = 1;
  }
  const HostCsr a = from_rows(300, rows);
  BceShape shape = bce_shape(large_gpu());
  shape.widest = 20;
  shape.block_rows = 64;
  shape.thread_slots = 8;
  shape.piece_slots = 256;
  const Context<Space::host> ctx(1);
  const auto there = upload_matrix<double>(ctx, a);
  const BceLayout layout = make_bce_layout(ctx, Pattern<Space::host>(there.wide()), shape, {20});
  const BceGrid grid = bce_grid(layout, shape, large_gpu());
  CHECK(std::vector<Index>(grid.piece, grid.piece + 5) == std::vector<Index>{0, 5, 9, 9, 11});
  CHECK(grid.class_warps(0) == 1);
  CHECK(grid.class_warps(1) == 1);
  CHECK(grid.class_warps(2) == 0);
  CHECK(grid.class_warps(3) == 2);
  CHECK(grid.threads() == 64);
  CHECK(grid.piece_blocks == 2);
  CHECK(grid.blocks == 4);
}
