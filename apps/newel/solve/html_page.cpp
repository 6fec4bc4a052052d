// SPDX-License-Identifier: Apache-2.0
// Putting texts into the page, where a browser reads them as text.
#include "html_page.hpp"

#include <string_view>

namespace newel::cli {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

std::string html_page(const std::string& json, const std::string& printed) {
  // In JSON a < stands only in strings: no </script> and no <!-- is left.
  const std::string script = replaced(json, "<", "\\u003c");
  const std::string text = replaced(replaced(printed, "&", "&amp;"), "<", "&lt;");
  const std::string page = html_template;
  const std::string_view script_mark = "@REPORT@", text_mark = "@TEXT@";
  const std::size_t script_at = page.find(script_mark), text_at = page.find(text_mark);
  const std::size_t between = script_at + script_mark.size();
  return page.substr(0, script_at) + script + page.substr(between, text_at - between) + text +
         page.substr(text_at + text_mark.size());
}

}  // namespace newel::cli
