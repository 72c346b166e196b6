#include "server/jobs/database.h"

#include <array>
#include <charconv>

namespace belljar::server::jobs {

int64_t SqlRow::Int(size_t column) const {
  const Value& value = values_.at(column);
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  int64_t number = 0;
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::from_chars(text->data(), text->data() + text->size(), number);
  }
  return number;
}

std::string SqlRow::Text(size_t column) const {
  const Value& value = values_.at(column);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return {};
}

std::string InDialect(std::string_view sql, const SqlDialect& dialect) {
  const std::array<std::pair<std::string_view, std::string_view>, 8> names = {{
      {"?", dialect.parameter},
      {"@now", dialect.now},
      {"@lease_now", dialect.lease_now},
      {"@claim", dialect.claim},
      {"@share", dialect.share},
      {"@greatest", dialect.greatest},
      {"@identity", dialect.identity},
      {"@clustered", dialect.clustered},
  }};
  std::string result;
  while (!sql.empty()) {
    bool found = false;
    for (const auto& [name, text] : names) {
      if (!sql.starts_with(name)) continue;
      result += text;
      sql.remove_prefix(name.size());
      found = true;
      break;
    }
    if (found) continue;
    result += sql.front();
    sql.remove_prefix(1);
  }
  return result;
}

}  // namespace belljar::server::jobs
