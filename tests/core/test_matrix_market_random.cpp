// SPDX-License-Identifier: Apache-2.0
// Random files of every kind against a slow reader that goes line by line with the C library.
#include "tests/core/matrix_market_support.hpp"

#include "io/matrix_market/matrix_market_read.hpp"

namespace {

std::vector<std::string> split(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

double to_number(std::string word) {
  for (char& c : word) c = c == 'D' || c == 'd' ? 'e' : c;
  return std::strtod(word.c_str(), nullptr);
}

// The oracle: istream lines, strtod, a map from place to value.
class SlowReader {
 public:
  explicit SlowReader(const std::string& text) {
    std::istringstream stream(text);
    std::string line;
    std::getline(stream, line);
    for (char& c : line) c = static_cast<char>(std::tolower(c));
    banner_ = split(line);
    while (std::getline(stream, line)) {
      const std::vector<std::string> words = split(line);
      if (words.empty() || words[0][0] == '%') continue;
      rows_ == -1 ? sizes(words) : data(words);
    }
  }
  HostCsr csr() const {
    HostCsr a{rows_, cols_, std::vector<Offset>(rows_ + 1, 0), {}, {}};
    for (const auto& [place, value] : values_) {
      ++a.row_ptr[place.first + 1];
      a.col.push_back(place.second);
      a.val.push_back(value);
    }
    for (Index i = 0; i < rows_; ++i) a.row_ptr[i + 1] += a.row_ptr[i];
    return a;
  }
  std::vector<double> vector() const {
    std::vector<double> x(rows_ * cols_, 0.0);
    for (const auto& [place, value] : values_) x[place.first + place.second] = value;
    return x;
  }

 private:
  void sizes(const std::vector<std::string>& words) {
    rows_ = std::stoi(words[0]);
    cols_ = std::stoi(words[1]);
    row_ = banner_[4] == "skew-symmetric" ? 1 : 0;
  }
  void data(const std::vector<std::string>& words) {
    if (banner_[2] == "coordinate") {
      add(std::stoi(words[0]) - 1, std::stoi(words[1]) - 1, banner_[3] == "pattern" ? 1.0 : to_number(words[2]));
      return;
    }
    add(row_, col_, to_number(words[0]));
    if (++row_ < rows_) return;
    ++col_;
    row_ = banner_[4] == "general" ? 0 : banner_[4] == "symmetric" ? col_ : col_ + 1;
  }
  void add(int row, int col, double value) {
    add_one(row, col, value);
    if (banner_[4] == "symmetric" && row != col) add_one(col, row, value);
    if (banner_[4] == "skew-symmetric" && row != col) add_one(col, row, -value);
  }
  void add_one(int row, int col, double value) {
    const auto [at, fresh] = values_.insert({{row, col}, value});
    if (!fresh) at->second += value;
  }

  std::vector<std::string> banner_;
  Index rows_ = -1;
  Index cols_ = 0;
  int row_ = 0;
  int col_ = 0;
  std::map<std::pair<int, int>, double> values_;
};

// Writes random files in all the ways that the format allows.
class FileMaker {
 public:
  explicit FileMaker(unsigned seed) : random_(seed) {}

  std::string matrix(const std::string& layout, const std::string& field, const std::string& symmetry) {
    field_ = field;
    const bool square = symmetry != "general";
    const int rows = pick(1, 30);
    const int cols = square ? rows : pick(1, 30);
    const bool upper = pick(0, 1) == 1;
    newline_ = pick(0, 1) == 0 ? "\n" : "\r\n";
    text_ = mixed_case("%%MatrixMarket matrix " + layout + " " + field + " " + symmetry) + newline_;
    noise();
    if (layout == "array") {
      const int stored = !square                   ? rows * cols
                         : symmetry == "symmetric" ? rows * (rows + 1) / 2
                                                   : rows * (rows - 1) / 2;
      line(std::to_string(rows) + " " + std::to_string(cols));
      for (int k = 0; k < stored; ++k) line(value());
    } else {
      const int entries = pick(0, 3 * rows);
      line(std::to_string(rows) + " " + std::to_string(cols) + "  " + std::to_string(entries));
      for (int k = 0; k < entries; ++k) coordinate_line(rows, cols, symmetry, upper);
    }
    if (pick(0, 3) == 0) text_.erase(text_.find_last_not_of("\r\n") + 1);
    return text_;
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  void coordinate_line(int rows, int cols, const std::string& symmetry, bool upper) {
    int row = pick(1, rows);
    int col = pick(1, cols);
    if (symmetry != "general" && (row < col) != upper) std::swap(row, col);
    const bool zero = symmetry == "skew-symmetric" && row == col;
    line(index(row) + blanks() + index(col) + (field_ == "pattern" ? "" : blanks() + (zero ? "0" : value())));
  }
  std::string index(int i) { return (pick(0, 9) == 0 ? "+" : pick(0, 9) == 0 ? "00" : "") + std::to_string(i); }
  std::string blanks() { return pick(0, 5) == 0 ? " \t " : " "; }
  std::string value() {
    const std::string plus = pick(0, 4) == 0 ? "+" : "";
    if (field_ == "integer") {
      const int number = pick(-1000, 1000);
      return number < 0 ? std::to_string(number) : plus + std::to_string(number);
    }
    static constexpr const char* formats[] = {"%.17g", "%g", "%.3f", "%.16e", "%25.18e", "%.22g"};
    const double number = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random_),
                                     pick(0, 9) == 0 ? pick(-1090, 900) : pick(-20, 20));
    char text[512];
    std::snprintf(text, sizeof text, formats[pick(0, 5)], number);
    std::string word = text;
    word.erase(0, word.find_first_not_of(' '));
    if (pick(0, 3) == 0 && word.find('e') != std::string::npos) word[word.find('e')] = pick(0, 1) == 0 ? 'D' : 'd';
    return word[0] == '-' ? word : plus + word;
  }
  void noise() {
    while (pick(0, 3) == 0) text_ += (pick(0, 1) == 0 ? "%" + std::string(pick(0, 40), 'c') : "") + newline_;
  }
  void line(const std::string& content) {
    noise();
    text_ += (pick(0, 5) == 0 ? " " : "") + content + (pick(0, 5) == 0 ? "\t" : "") + newline_;
  }
  std::string mixed_case(std::string text) {
    for (char& c : text) c = static_cast<char>(pick(0, 1) == 0 ? std::toupper(c) : std::tolower(c));
    return text;
  }

  std::mt19937 random_;
  std::string field_, newline_, text_;
};

}  // namespace

TEST_CASE("random files of every kind are read as a slow reader reads them", "[matrix_market]") {
  const std::string name = "random";
  const std::vector<std::array<const char*, 3>> kinds = {{"coordinate", "real", "general"},
                                                         {"coordinate", "real", "symmetric"},
                                                         {"coordinate", "real", "skew-symmetric"},
                                                         {"coordinate", "integer", "general"},
                                                         {"coordinate", "integer", "symmetric"},
                                                         {"coordinate", "integer", "skew-symmetric"},
                                                         {"coordinate", "pattern", "general"},
                                                         {"coordinate", "pattern", "symmetric"},
                                                         {"array", "real", "general"},
                                                         {"array", "real", "symmetric"},
                                                         {"array", "real", "skew-symmetric"},
                                                         {"array", "integer", "general"},
                                                         {"array", "integer", "symmetric"},
                                                         {"array", "integer", "skew-symmetric"}};
  for (const int threads : {1, 2, 3, 7}) {  // outermost: a change of the number costs OpenMP a new team
    for (unsigned seed = 0; seed < 25; ++seed) {
      for (const auto& [layout, field, symmetry] : kinds) {
        const std::string text = FileMaker(seed).matrix(layout, field, symmetry);
        const std::size_t piece_bytes = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 64 : detail::ReadLimits().piece_bytes;
        const auto a = detail::parse_plain_matrix(HostContext(threads), {text, name}, nullptr, {piece_bytes});
        INFO(text);
        REQUIRE(same_bits(plain(a), SlowReader(text).csr()));
      }
    }
  }
}

TEST_CASE("random vectors are read as a slow reader reads them", "[matrix_market]") {
  const std::string name = "random";
  int found = 0;
  for (unsigned seed = 0; found < 20; ++seed) {
    for (const char* layout : {"coordinate", "array"}) {
      const std::string text = FileMaker(seed).matrix(layout, "real", "general");
      const SlowReader slow(text);
      if (slow.csr().rows != 1 && slow.csr().cols != 1) continue;
      ++found;
      for (const int threads : {1, 2, 3, 7}) {
        for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{64}, detail::ReadLimits().piece_bytes}) {
          const auto x = detail::parse_plain_vector(HostContext(threads), {text, name}, {piece_bytes});
          REQUIRE(plain(x) == slow.vector());
        }
      }
    }
  }
}

TEST_CASE("a large unordered file gives the same bits for every number of threads", "[matrix_market]") {
  constexpr int n = 20000;
  constexpr int entries = 300000;
  std::mt19937 random(3);
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n20000 20000 300000\n";
  for (int k = 0; k < entries; ++k) {
    const int row = std::uniform_int_distribution<int>(1, n)(random);
    const int col = std::uniform_int_distribution<int>(std::max(1, row - 8), row)(random);
    text += std::to_string(row) + " " + std::to_string(col) + " " + std::to_string(random()) + "e-7\n";
  }
  const HostCsr expected = SlowReader(text).csr();
  for (const int threads : {1, 2, 3, 7}) CHECK(same_bits(parse(text, threads), expected));
}
