// SPDX-License-Identifier: Apache-2.0
// Parallel parse of data lines: the text is cut at line ends, each cut is parsed alone, and a mistake is located
// afterwards, so that good files never pay for line numbers.
#include "io/matrix_market/matrix_market_entries.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/text/number_parse.hpp"

namespace newel::detail {
namespace {

using Layout = MatrixMarketHeader::Layout;
using Field = MatrixMarketHeader::Field;
using Symmetry = MatrixMarketHeader::Symmetry;

// Lines to parse. They end with a line feed, so that scanning needs no other bound: a last line without one is
// parsed from a copy, and `origin` is where that stood in the file.
struct TextCut {
  const char* begin = nullptr;
  const char* end = nullptr;
  const char* origin = nullptr;
};

struct Mistake {
  const char* at = nullptr;  // null: none
  std::string expected;
};

const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

bool ends_word(char c) { return c == '\n' || is_blank(c); }

// Parses the lines of one cut. `fail` is the way out of every parse function: it returns null.
class CutParser {
 public:
  CutParser(const MatrixMarketHeader& header, const TextCut& cut) : header_(header), cut_(cut) {}

  template <Field F>
  void parse_coordinate(Piece* piece) {
    const bool general = header_.symmetry == Symmetry::general;
    const bool skew = header_.symmetry == Symmetry::skew_symmetric;
    for (const char* p = first_line(cut_.begin); p != nullptr && p < cut_.end; p = first_line(p)) {
      Entry entry{0, 0, 1.0};
      const char* row = p;
      if ((p = read_index(p, header_.rows, "row", &entry.row)) == nullptr) return;
      if ((p = read_index(skip_blanks(p), header_.cols, "column", &entry.col)) == nullptr) return;
      double imaginary = 0;
      if constexpr (F != Field::pattern) {
        if ((p = read_value<F>(skip_blanks(p), &entry.value)) == nullptr) return;
      }
      if constexpr (F == Field::complex) {
        if ((p = read_value<F>(skip_blanks(p), &imaginary)) == nullptr) return;
        piece->imaginary.push_back(imaginary);
      }
      if ((p = finish_line(p)) == nullptr) return;
      if (!general) {
        if (skew && entry.row == entry.col && (entry.value != 0 || imaginary != 0)) {
          fail_value(row, "only zeros on the diagonal of a skew-symmetric matrix");
          return;
        }
        if (header_.symmetry == Symmetry::hermitian && entry.row == entry.col && imaginary != 0) {
          fail_value(row, "only real values on the diagonal of a Hermitian matrix");
          return;
        }
        piece->below |= entry.row > entry.col;
        piece->above |= entry.row < entry.col;
      }
      piece->entries.push_back(entry);
    }
  }

  template <Field F>
  void parse_array(Piece* piece) {
    for (const char* p = first_line(cut_.begin); p != nullptr && p < cut_.end; p = first_line(p)) {
      double value = 0;
      if ((p = read_value<F>(p, &value)) == nullptr) return;
      if constexpr (F == Field::complex) {
        double imaginary = 0;
        if ((p = read_value<F>(skip_blanks(p), &imaginary)) == nullptr) return;
        piece->imaginary.push_back(imaginary);
      }
      if ((p = finish_line(p)) == nullptr) return;
      piece->values.push_back(value);
    }
  }

  const Mistake& mistake() const { return mistake_; }

 private:
  // The first word from the line begin `p` on that is data: skips blank lines and comments.
  const char* first_line(const char* p) const {
    while (p < cut_.end) {
      p = skip_blanks(p);
      if (*p == '\n') {
        ++p;
      } else if (*p == '%') {
        p = next_line(p, cut_.end);
      } else {
        break;
      }
    }
    return p;
  }

  const char* read_index(const char* word, Index size, const char* what, Index* index) {
    const char* p = word;
    if (*p == '+') ++p;
    const char* digits = p;
    std::uint64_t value = 0;
    while (is_digit(*p)) {
      value = value * 10 + static_cast<std::uint64_t>(*p - '0');
      ++p;
    }
    // 18 digits fit; a longer run is out of range unless it begins with zeros, which nobody writes.
    if (p == digits || !ends_word(*p) || p - digits > 18 || value - 1 >= static_cast<std::uint64_t>(size)) {
      return fail_index(word, size, what);
    }
    *index = static_cast<Index>(value - 1);
    return p;
  }

  template <Field F>
  const char* read_value(const char* word, double* value) {
    constexpr const char* expected = F == Field::integer ? "an integer" : "a number";
    const ParsedNumber number = read_number(word, cut_.end);
    if (number.status != NumberStatus::ok || !ends_word(*number.end) ||
        (F == Field::integer && !only_digits(word, number.end))) {
      const bool overflow = number.status == NumberStatus::overflow;
      return fail_value(word, overflow ? "a number that a double can hold" : expected);
    }
    *value = number.value;
    return number.end;
  }

  static bool only_digits(const char* p, const char* end) {
    if (*p == '+' || *p == '-') ++p;
    return std::all_of(p, end, is_digit);
  }

  const char* finish_line(const char* p) {
    p = skip_blanks(p);
    return *p == '\n' ? p + 1 : fail_value(p, "the end of the line");
  }

  // Out of line, so that what never happens in a good file does not weigh on the loop.
  [[gnu::noinline, gnu::cold]] const char* fail_index(const char* word, Index size, const char* what) {
    return fail(word, std::string("a ") + what + " number from 1 to " + std::to_string(size));
  }

  [[gnu::noinline, gnu::cold]] const char* fail_value(const char* word, const char* expected) {
    return fail(word, expected);
  }

  [[gnu::noinline, gnu::cold]] const char* fail(const char* at, std::string expected) {
    mistake_.at = cut_.origin + (at - cut_.begin);
    mistake_.expected = std::move(expected);
    return nullptr;
  }

  const MatrixMarketHeader& header_;
  const TextCut& cut_;
  Mistake mistake_;
};

Mistake parse_cut(const MatrixMarketHeader& header, const TextCut& cut, Piece* piece) {
  CutParser parser(header, cut);
  const bool coordinate = header.layout == Layout::coordinate;
  switch (header.field) {
    case Field::real:
      coordinate ? parser.parse_coordinate<Field::real>(piece) : parser.parse_array<Field::real>(piece);
      break;
    case Field::integer:
      coordinate ? parser.parse_coordinate<Field::integer>(piece) : parser.parse_array<Field::integer>(piece);
      break;
    case Field::complex:
      coordinate ? parser.parse_coordinate<Field::complex>(piece) : parser.parse_array<Field::complex>(piece);
      break;
    case Field::pattern:
      parser.parse_coordinate<Field::pattern>(piece);
      break;
  }
  return parser.mistake();
}

// Cuts [data, end of text) at line ends; `last_line` receives a copy of a last line that lacks its line feed.
std::vector<TextCut> cut_text(const NamedText& text, const char* data, std::size_t piece_bytes,
                              std::string* last_line) {
  std::vector<TextCut> cuts;
  const char* end = text.end();
  while (end > data && end[-1] != '\n') --end;
  const auto bytes = static_cast<std::size_t>(end - data);
  // A few hundred pieces keep the threads busy; more would only cost bookkeeping.
  piece_bytes = std::max(piece_bytes, bytes / 512);
  for (const char* begin = data; begin < end;) {
    const char* aim = static_cast<std::size_t>(end - begin) > piece_bytes ? begin + piece_bytes : end;
    const char* stop = aim == end ? end : next_line(aim, end);
    cuts.push_back({begin, stop, begin});
    begin = stop;
  }
  if (end < text.end()) {
    last_line->assign(end, text.end());
    last_line->push_back('\n');
    cuts.push_back({last_line->data(), last_line->data() + last_line->size(), end});
  }
  return cuts;
}

// The shortest data lines: "1 1\n", "1 1 1\n" and "1\n"; " 1" more for complex values.
Offset shortest_line(const MatrixMarketHeader& header) {
  if (header.field == Field::complex) return header.layout == Layout::array ? 4 : 8;
  if (header.layout == Layout::array) return 2;
  return header.field == Field::pattern ? 4 : 6;
}

// Lines that `bytes` of text may hold, going by the header as far as the text can bear it out.
std::size_t likely_lines(const MatrixMarketHeader& header, Offset all_bytes, Offset bytes) {
  const Offset most = bytes / shortest_line(header) + 1;
  const double share = static_cast<double>(bytes) / static_cast<double>(std::max<Offset>(all_bytes, 1));
  const double likely = static_cast<double>(header.entries) * share * 1.05 + 16;
  return static_cast<std::size_t>(likely < static_cast<double>(most) ? static_cast<Offset>(likely) : most);
}

// The entries and then the matrix must fit: asked before anything is allocated.
void check_memory(const Context<Space::host>& ctx, const NamedText& text, const Preamble& preamble) {
  const MatrixMarketHeader& header = preamble.header;
  const auto lines =
      static_cast<Offset>(likely_lines(header, text.end() - preamble.data, text.end() - preamble.data));
  const Offset stored = header.symmetry == Symmetry::general ? lines : 2 * lines;
  const Offset value_bytes = header.field == Field::complex ? sizeof(double) : 0;  // of imaginary parts
  const Offset line_bytes = (header.layout == Layout::array ? sizeof(double) : sizeof(Entry)) + value_bytes;
  const auto wanted =
      static_cast<std::uint64_t>(lines * line_bytes + stored * (Offset{sizeof(Entry)} + 2 * value_bytes));
  constexpr std::uint64_t worth_asking = std::uint64_t{256} << 20;
  if (wanted < worth_asking) return;
  const auto available = ctx.memory()->available_bytes();
  if (available && wanted > *available) throw OutOfMemory("host", "the entries of " + text.name, wanted, available);
}

// Where entry number `index` of the cut stands.
const char* find_entry(const TextCut& cut, Offset index) {
  for (const char* p = cut.begin;; p = next_line(p, cut.end)) {
    const char* word = skip_blanks(p);
    if (*word == '\n' || *word == '%') continue;
    if (index-- == 0) return cut.origin + (word - cut.begin);
  }
}

// `at` lies in the first line that is too many.
[[noreturn]] void throw_too_many(const NamedText& text, const Preamble& preamble, const char* at) {
  while (at[-1] != '\n') --at;
  throw_expected(text, at, "the end of the file after " + std::to_string(preamble.header.entries) + " entries");
}

// Says what the first wrong line is, in the order of the file: a mistake, or a line that is too many.
void check_pieces(const NamedText& text, const Preamble& preamble, const std::vector<TextCut>& cuts,
                  const std::vector<Piece>& pieces, const std::vector<Mistake>& mistakes) {
  const Offset promised = preamble.header.entries;
  Offset found = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Offset count = pieces[i].count();
    if (found + count > promised) throw_too_many(text, preamble, find_entry(cuts[i], promised - found));
    found += count;
    if (mistakes[i].at == nullptr) continue;
    if (found == promised) throw_too_many(text, preamble, mistakes[i].at);
    throw_expected(text, mistakes[i].at, mistakes[i].expected);
  }
  if (found == promised) return;
  const bool ends_with_feed = !text.text.empty() && text.text.back() == '\n';
  throw_at(text, ends_with_feed ? text.end() - 1 : text.end(), std::to_string(promised) + " entries",
           "the end of the file after " + std::to_string(found));
}

// A symmetric file may store either triangle, even parts of both, but no entry in both: whether that means one
// value or a sum differs between programs. Names the first line whose mirror image came before.
void check_triangles(const NamedText& text, const std::vector<TextCut>& cuts, const std::vector<Piece>& pieces) {
  const auto any = [&](bool Piece::*side) {
    return std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) { return piece.*side; });
  };
  if (!any(&Piece::below) || !any(&Piece::above)) return;
  struct OffDiagonal {
    std::uint64_t place;  // the same for an entry and its mirror image
    std::size_t number;
    bool above;
    bool operator<(const OffDiagonal& b) const { return place != b.place ? place < b.place : number < b.number; }
  };
  std::vector<OffDiagonal> all;
  std::size_t number = 0;
  for (const Piece& piece : pieces) {
    for (const Entry& e : piece.entries) {
      const auto [low, high] = std::minmax(e.row, e.col);
      if (low != high) {
        all.push_back(
            {(static_cast<std::uint64_t>(low) << 32) | static_cast<std::uint64_t>(high), number, e.row < e.col});
      }
      ++number;
    }
  }
  std::sort(all.begin(), all.end());
  std::size_t first = number;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].place == all[i - 1].place && all[i].above != all[i - 1].above) first = std::min(first, all[i].number);
  }
  if (first == number) return;
  std::size_t piece = 0;
  for (; first >= pieces[piece].entries.size(); ++piece) first -= pieces[piece].entries.size();
  const Entry& entry = pieces[piece].entries[first];
  throw_at(text, find_entry(cuts[piece], static_cast<Offset>(first)),
           "each entry of a symmetric matrix in one triangle only",
           "(" + std::to_string(entry.row + 1) + ", " + std::to_string(entry.col + 1) + ") in both");
}

}  // namespace

std::vector<Piece> parse_pieces(const Context<Space::host>& ctx, const NamedText& text, const Preamble& preamble,
                                std::size_t piece_bytes) {
  check_memory(ctx, text, preamble);
  std::string last_line;
  const std::vector<TextCut> cuts = cut_text(text, preamble.data, piece_bytes, &last_line);
  const auto count = static_cast<std::int64_t>(cuts.size());
  std::vector<Piece> pieces(cuts.size());
  std::vector<Mistake> mistakes(cuts.size());
  std::atomic<std::int64_t> first_mistake{count};
  std::atomic<bool> exhausted{false};
  const MatrixMarketHeader header = preamble.header;
  parallel_tasks(ctx, count, [&](std::int64_t i) {
    if (i > first_mistake || exhausted) return;  // what follows the first mistake is never reported
    try {
      const std::size_t lines = likely_lines(header, text.end() - preamble.data, cuts[i].end - cuts[i].begin);
      header.layout == Layout::coordinate ? pieces[i].entries.reserve(lines) : pieces[i].values.reserve(lines);
      mistakes[i] = parse_cut(header, cuts[i], &pieces[i]);
    } catch (const std::bad_alloc&) {
      exhausted = true;
    }
    if (mistakes[i].at == nullptr) return;
    std::int64_t known = first_mistake;
    while (i < known && !first_mistake.compare_exchange_weak(known, i)) {
    }
  });
  if (exhausted) {
    throw OutOfMemory("host", "the entries of " + text.name, text.text.size(), ctx.memory()->available_bytes());
  }
  check_pieces(text, preamble, cuts, pieces, mistakes);
  if (preamble.header.symmetry != Symmetry::general) check_triangles(text, cuts, pieces);
  return pieces;
}

}  // namespace newel::detail
