#include "server/pages/html.h"

#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/digest.h"

namespace belljar::server::pages {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font:0.9em ui-monospace,monospace;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0}"
    "th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;"
    "border-bottom:1px solid #8884}"
    "details{border-bottom:1px solid #8884;padding:.4rem 0}"
    "details>:not(summary){margin-left:1rem}"
    "summary{cursor:pointer}";

std::string DigestOf(std::string_view text) {
  return host::EncodeBase64(core::DecodeHex(host::Sha256(text)).value());
}

}  // namespace

Html::Html(std::string_view title) {
  source_ =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n";
  Put("title", title);
  source_.append("<style>").append(kStyle).append("</style>\n<body>\n");
}

Html& Html::Open(const char* name) {
  Begin(name, nullptr, {}, {});
  return *this;
}

Html& Html::OpenWithId(const char* name, std::string_view prefix, std::string_view id) {
  Begin(name, "id", prefix, id);
  return *this;
}

void Html::Begin(const char* name, const char* attribute, std::string_view prefix,
                 std::string_view value) {
  source_.append("<").append(name);
  if (attribute) {
    source_.append(" ").append(attribute).append("=\"");
    Text(prefix).Text(value);
    source_ += '"';
  }
  source_ += '>';
  open_.push_back(name);
}

Html& Html::Close() {
  source_.append("</").append(open_.back()).append(">");
  open_.pop_back();
  return *this;
}

Html& Html::Text(std::string_view text) {
  for (const char c : core::ValidUtf8(text)) {
    switch (c) {
      case '&': source_ += "&amp;"; break;
      case '<': source_ += "&lt;"; break;
      case '>': source_ += "&gt;"; break;
      case '"': source_ += "&quot;"; break;
      case '\'': source_ += "&#39;"; break;
      default: source_ += c;
    }
  }
  return *this;
}

Html& Html::Prose(std::string_view text) {
  while (true) {
    const size_t begin = text.find('`');
    const size_t end = begin == text.npos ? begin : text.find('`', begin + 1);
    if (end == text.npos) return Text(text);
    Text(text.substr(0, begin)).Put("code", text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

Html& Html::Put(const char* name, std::string_view text) { return Open(name).Text(text).Close(); }

Html& Html::Link(std::string_view to, std::string_view text) {
  const bool is_here = to.starts_with('#') || (to.starts_with('/') && !to.starts_with("//"));
  if (!is_here) return Text(text);
  Begin("a", "href", to, {});
  return Text(text).Close();
}

Html& Html::OpenTable(std::initializer_list<const char*> head) {
  Open("table").Open("tr");
  for (const char* each : head) Put("th", each);
  return Close();
}

std::string Html::Finish() && { return std::move(source_) + "</body>\n</html>\n"; }

const std::string& PageHeaders() {
  static const std::string kHeaders =
      "Content-Security-Policy: default-src 'none'; style-src 'sha256-" + DigestOf(kStyle) +
      "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
      "Referrer-Policy: no-referrer\r\n";
  return kHeaders;
}

}  // namespace belljar::server::pages
