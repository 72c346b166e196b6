// Checks a value against the part of JSON Schema 2020-12 that our schemas use. A keyword that it
// does not know is a failure: it would not be checked.
#ifndef BELLJAR_TESTS_SERVER_SCHEMA_CHECK_H_
#define BELLJAR_TESTS_SERVER_SCHEMA_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace belljar::tests {

// One line for each place where `value` is not what `schema` says; empty: it conforms.
std::vector<std::string> SchemaErrors(const nlohmann::json& schema, const nlohmann::json& value,
                                      const std::string& where = "");

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_SCHEMA_CHECK_H_
