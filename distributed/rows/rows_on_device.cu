// SPDX-License-Identifier: Apache-2.0
// The columns of a rank's rows, checked and numbered on the device.
#include "distributed/rows/rows_on_device.cuh"

#include <algorithm>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/memory/staged_copy_device.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/split_rows.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

constexpr int bits = 32;  // of a word of marks

// The caller's columns on the device.
template <class Column>
struct WholeColumns {
  const Offset* row_ptr;
  const Column* col;
  std::int64_t first, end, all;  // rows of this rank, and of all

  __device__ bool owns(std::int64_t j) const { return j >= first && j < end; }
};

// Some lanes have a row: they mark the columns of other ranks, and see whether columns ascend and exist.
template <class Column>
struct MarkOthers {
  WholeColumns<Column> a;
  unsigned* marks;
  unsigned char* reads_others;
  unsigned* refused;

  __device__ void operator()(const RowLanes& at) const {
    const Offset begin = a.row_ptr[at.row], end = a.row_ptr[at.row + 1];
    bool reads = false;
    for (Offset k = begin + at.lane; k < end; k += RowLanes::count) {
      const std::int64_t j = a.col[k];
      if (j < 0 || j >= a.all || (k > begin && j <= a.col[k - 1])) {
        *refused = 1;
      } else if (!a.owns(j)) {
        reads = true;
        const unsigned bit = 1u << (j % bits);
        if ((marks[j / bits] & bit) == 0) atomicOr(marks + j / bits, bit);
      }
    }
    const bool any = at.which(reads) != 0;
    if (at.lane == 0) reads_others[at.row] = any ? 1 : 0;
  }
};

struct CountMarks {
  const unsigned* marks;
  Offset* count;

  __device__ void operator()(std::int64_t word) const { count[word] = __popc(marks[word]); }
};

struct ListMarks {
  const unsigned* marks;
  const Offset* before;
  std::int64_t* list;

  __device__ void operator()(std::int64_t word) const {
    Offset at = before[word];
    for (unsigned left = marks[word]; left != 0; left &= left - 1) {
      list[at++] = word * bits + __ffs(static_cast<int>(left)) - 1;
    }
  }
};

template <class Column>
struct NumberColumns {
  WholeColumns<Column> a;
  const unsigned* marks;
  const Offset* before;  // of each word: how many marks stand in the words before it
  Index* to;

  __device__ void operator()(std::int64_t k) const {
    const std::int64_t j = a.col[k], word = j / bits;
    to[k] = a.owns(j)
                ? static_cast<Index>(j - a.first)
                : static_cast<Index>(a.end - a.first + before[word] + __popc(marks[word] & ((1u << (j % bits)) - 1)));
  }
};

struct CountOwn {
  NumberedView a;
  Offset* count;

  __device__ void operator()(const RowLanes& at) const {
    Offset own = 0;
    for (Offset k = a.begin(at.row) + at.lane; k < a.end(at.row); k += RowLanes::count) own += a.col[k] < a.rows;
    own = at.sum(own);
    if (at.lane == 0) count[at.row] = own;
  }
};

struct TakeOwn {
  NumberedView a;
  const Offset* own_ptr;
  Index* own;

  __device__ void operator()(const RowLanes& at) const {
    const Offset from = a.first_own(at.row), to = own_ptr[at.row];
    for (Offset k = at.lane; k < own_ptr[at.row + 1] - to; k += RowLanes::count) own[to + k] = a.col[from + k];
  }
};

struct DiagonalPositions {
  NumberedView a;
  const Index* old_of_new;
  Offset* position;

  __device__ void operator()(std::int64_t i) const {
    const Index row = old_of_new == nullptr ? static_cast<Index>(i) : old_of_new[i];
    position[i] = a.find_own(row, row);
  }
};

struct PlaceInNodes {
  const Index* col;
  Index rows;
  const Index* place;
  Index* to;

  __device__ void operator()(std::int64_t k) const { to[k] = col[k] < rows ? col[k] : place[col[k] - rows]; }
};

// Whether the row pointers may be followed.
bool are_sound(const HostContext& ctx, const ColumnsOfRank& a) {
  const auto ascends = [&](Index i) { return a.row_ptr[i] <= a.row_ptr[i + 1]; };
  return a.row_ptr.size > 0 && a.row_ptr[0] == 0 && a.row_ptr[a.rows()] == a.col.size &&
         parallel_all(ctx, a.rows(), ascends);
}

// to[k] = converted(from[k]), written by the threads of the host.
template <class To, class From, class Converted>
void upload_converted(const DeviceContext& ctx, Span<const From, Space::host> from, DeviceArray<To>& to,
                      const Converted& converted) {
  upload_written(ctx, to.data(), to.bytes(), [&](char* piece, std::size_t begin, std::size_t length) {
    const From* const source = from.data + begin / sizeof(To);
    auto* const values = reinterpret_cast<To*>(piece);
    parallel_for(host_context(ctx), static_cast<std::int64_t>(length / sizeof(To)),
                 [&](std::int64_t k) { values[k] = converted(source[k]); });
  });
}

}  // namespace

// Columns that Index cannot count are sent as they are. Of the others a column that is none becomes no column either.
NumberedColumns::NumberedColumns(const DeviceContext& ctx, const ColumnsOfRank& a) {
  const std::int64_t all = a.first_rows.back();
  if (!are_sound(host_context(ctx), a)) check_rank_rows(host_context(ctx), a.row_ptr, a.col, a.first(), all);
  row_ptr = make_array(ctx, a.row_ptr);
  if (all <= std::numeric_limits<Index>::max()) {
    number(ctx, a, [](std::int64_t j) { return static_cast<Index>(j) == j ? static_cast<Index>(j) : Index{-1}; });
  } else {
    number(ctx, a, [](std::int64_t j) { return j; });
  }
}

template <class Narrow>
void NumberedColumns::number(const DeviceContext& ctx, const ColumnsOfRank& a, const Narrow& narrow) {
  using Column = decltype(narrow(std::int64_t{}));
  const std::int64_t all = a.first_rows.back(), words = (all + bits - 1) / bits;
  DeviceArray<Column> whole(ctx, a.col.size);
  upload_converted(ctx, a.col, whole, narrow);
  const WholeColumns<Column> columns{row_ptr.data(), whole.data(), a.first(), a.first() + a.rows(), all};
  DeviceArray<unsigned> marks = zeros<unsigned>(ctx, words), refused = zeros<unsigned>(ctx, 1);
  reads_others = DeviceArray<unsigned char>(ctx, a.rows());
  for_rows_by_lanes(ctx, a.rows(), MarkOthers<Column>{columns, marks.data(), reads_others.data(), refused.data()});
  if (value_at(ctx, refused, 0) != 0) check_rank_rows(host_context(ctx), a.row_ptr, a.col, a.first(), all);
  DeviceArray<Offset> before = zeros<Offset>(ctx, words + 1);
  for_elements(ctx, words, CountMarks{marks.data(), before.data()});
  exclusive_sum(ctx, before);
  DeviceArray<std::int64_t> list(ctx, value_at(ctx, before, words));
  if (list.size() > std::numeric_limits<Index>::max() - a.rows()) {
    throw InputError("the rows of a rank read more than 2^31 - 1 values of vectors");
  }
  for_elements(ctx, words, ListMarks{marks.data(), before.data(), list.data()});
  col = DeviceArray<Index>(ctx, a.col.size);
  for_elements(ctx, col.size(), NumberColumns<Column>{columns, marks.data(), before.data(), col.data()});
  others = to_vector(ctx, list.cspan());
  lower = static_cast<Index>(std::lower_bound(others.begin(), others.end(), a.first()) - others.begin());
}

Pattern<Space::device> NumberedColumns::pattern(Span<const Index, Space::device> columns, Index cols) const {
  Pattern<Space::device> whole;
  whole.rows = rows();
  whole.cols = cols;
  whole.row_ptr64 = row_ptr.cspan();
  whole.col = columns;
  return whole;
}

std::vector<std::int64_t> nodes_of_rows(const std::vector<std::int64_t>& rows, int block) {
  std::vector<std::int64_t> nodes;
  for (const std::int64_t row : rows) {
    if (nodes.empty() || nodes.back() != row / block) nodes.push_back(row / block);
  }
  return nodes;
}

DeviceArray<Index> columns_in_nodes(const DeviceContext& ctx, const NumberedColumns& a,
                                    const std::vector<std::int64_t>& nodes, int block) {
  std::vector<Index> place;
  Index node = 0;
  for (const std::int64_t row : a.others) {
    while (nodes[static_cast<std::size_t>(node)] != row / block) ++node;
    place.push_back(a.rows() + node * block + static_cast<Index>(row % block));
  }
  const DeviceArray<Index> place_there = make_array(ctx, place);
  DeviceArray<Index> columns(ctx, a.col.size());
  for_elements(ctx, columns.size(), PlaceInNodes{a.col.data(), a.rows(), place_there.data(), columns.data()});
  return columns;
}

DeviceArray<Offset> diagonal_positions(const DeviceContext& ctx, const NumberedColumns& a,
                                       Span<const Index, Space::device> old_of_new) {
  DeviceArray<Offset> positions(ctx, a.rows());
  for_elements(ctx, a.rows(), DiagonalPositions{NumberedView(a), old_of_new.data, positions.data()});
  return positions;
}

OwnPattern::OwnPattern(const DeviceContext& ctx, const NumberedColumns& a)
    : row_ptr(zeros<Offset>(ctx, Offset{a.rows()} + 1)) {
  for_rows_by_lanes(ctx, a.rows(), CountOwn{NumberedView(a), row_ptr.data()});
  exclusive_sum(ctx, row_ptr);
  col = DeviceArray<Index>(ctx, value_at(ctx, row_ptr, a.rows()));
  for_rows_by_lanes(ctx, a.rows(), TakeOwn{NumberedView(a), row_ptr.data(), col.data()});
}

Pattern<Space::device> OwnPattern::view() const {
  Pattern<Space::device> pattern;
  pattern.rows = pattern.cols = static_cast<Index>(row_ptr.size()) - 1;
  pattern.row_ptr64 = row_ptr.cspan();
  pattern.col = col.cspan();
  return pattern;
}

template <class T>
RowsOnDevice<T>::RowsOnDevice(const DeviceContext& ctx, const ColumnsOfRank& a, Span<const T, Space::host> values)
    : columns(std::make_shared<const NumberedColumns>(ctx, a)), val(make_array(ctx, values)) {}

template struct RowsOnDevice<double>;
template struct RowsOnDevice<float>;

}  // namespace newel::detail
