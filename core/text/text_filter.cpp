// SPDX-License-Identifier: Apache-2.0
// Dropping comments while a text comes in.
#include "core/text/text_filter.hpp"

#include <cstring>

#include "core/text/number_parse.hpp"

namespace newel::detail {
namespace {

// A byte of that of UTF-8, which no banner begins with.
bool is_byte_order_mark(char c) { return c == '\xef' || c == '\xbb' || c == '\xbf'; }

}  // namespace

void TextFilter::note_left_out() {
  if (left_out_.empty() || left_out_.back().offset != kept_) left_out_.push_back({kept_, 0});
  ++left_out_.back().lines;
}

// The first line feed or carriage return decides. Whatever ends a piece is taken as an end: a line feed behind it
// counts as a blank.
void TextFilter::find_ends(const char* text, const char* end) {
  for (const char* p = text; p < end && ends_ == Ends::unknown; ++p) {
    if (*p == '\n') ends_ = Ends::line_feed;
    if (*p == '\r') ends_ = p + 1 < end && p[1] == '\n' ? Ends::line_feed : Ends::carriage_return;
  }
}

std::size_t TextFilter::keep(char* text, std::size_t size) {
  const char* const end = text + size;
  if (ends_ == Ends::unknown) find_ends(text, end);
  const char line_end = ends_ == Ends::carriage_return ? '\r' : '\n';
  const std::size_t kept_before = kept_;
  char* to = text;
  for (const char* p = text; p < end;) {
    if (at_start_ && (*p == line_end || *p == '\n' || is_blank(*p) || (!any_line_ && is_byte_order_mark(*p)))) {
      if (*p++ == line_end) note_left_out();
      continue;
    }
    if (at_start_) {
      dropping_ = any_line_ && *p == '%';
      at_start_ = false;
      any_line_ = true;
    }
    const void* found = std::memchr(p, line_end, static_cast<std::size_t>(end - p));
    const bool whole = found != nullptr;
    const char* const stop = whole ? static_cast<const char*>(found) : end;
    const auto length = static_cast<std::size_t>(stop - p);
    if (!dropping_) {
      std::memmove(to, p, length);
      to += length;
      kept_ += length;
    }
    p = stop;
    if (!whole) break;
    if (dropping_) {
      note_left_out();
    } else {
      *to++ = '\n';
      ++kept_;
    }
    at_start_ = true;
    dropping_ = false;
    ++p;
  }
  return kept_ - kept_before;
}

}  // namespace newel::detail
