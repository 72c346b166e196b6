// Html: an HTML document as it is written. Text gets into it only escaped, whatever it contains,
// and there are no scripts.
//
//   Html html("Title");
//   html.Open("tr").Put("td", name).Open("td").Link("#" + id, type).Close().Close();
//   std::string page = std::move(html).Finish();     // with the headers of PageHeaders()
#ifndef BELLJAR_SERVER_PAGES_HTML_H_
#define BELLJAR_SERVER_PAGES_HTML_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::server::pages {

// Names of elements are constants of this program.
class Html {
 public:
  explicit Html(std::string_view title);

  Html& Open(const char* name);
  Html& OpenWithId(const char* name, std::string_view prefix, std::string_view id);
  // The innermost element.
  Html& Close();
  Html& Text(std::string_view text);
  // Text between two backticks becomes a `code` element, as in Markdown.
  Html& Prose(std::string_view text);
  // An element with nothing but text.
  Html& Put(const char* name, std::string_view text);
  // `to` is a path of this server or a fragment. Anything else becomes mere text.
  Html& Link(std::string_view to, std::string_view text);
  // The first row of a table, which it opens.
  Html& OpenTable(std::initializer_list<const char*> head);

  // Precondition: whatever was opened is closed.
  std::string Finish() &&;

 private:
  void Begin(const char* name, const char* attribute, std::string_view prefix,
             std::string_view value);

  std::string source_;
  std::vector<const char*> open_;
};

// Complete header lines: such a page runs no script, loads nothing and is in no frame.
const std::string& PageHeaders();

}  // namespace belljar::server::pages

#endif  // BELLJAR_SERVER_PAGES_HTML_H_
