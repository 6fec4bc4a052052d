// SPDX-License-Identifier: Apache-2.0
// The readers of the library, for other programs' files.
#include <newel/core/file_text.hpp>

#include "core/text/number_parse.hpp"
#include "core/text/text_source.hpp"

namespace newel {
namespace {

// Any beginning may be that of a program's file.
detail::TextLines accept_head(std::string_view, const std::string&) { return detail::TextLines::all; }

}  // namespace

FileText::FileText(const Context<Space::host>& ctx, const std::string& path) {
  auto source = std::make_shared<const detail::TextSource>(
      detail::TextSource::open(ctx.memory()->resource(), path, accept_head));
  text_ = source->text();
  owner_ = std::move(source);
}

FileText::FileText(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name) {
  auto source = std::make_shared<const detail::TextSource>(
      detail::TextSource::from_memory(ctx.memory()->resource(), bytes, name, accept_head));
  text_ = source->text();
  owner_ = std::move(source);
}

NumberStatus parse_number(std::string_view word, double& value) {
  const std::string ended = std::string(word) + '\n';  // the reader looks at what stands behind a number
  const char* const end = ended.data() + word.size();
  const detail::ParsedNumber number = detail::read_number(ended.data(), end);
  if (number.status == NumberStatus::ok && number.end != end) return NumberStatus::not_a_number;
  if (number.status == NumberStatus::ok) value = number.value;
  return number.status;
}

}  // namespace newel
