// What the tools answer with, as JSON Schema 2020-12: every key with its meaning and unit. Lenient
// where a value may be missing, and about keys that later versions add.
#ifndef BELLJAR_SERVER_TOOLS_OUTPUT_SCHEMAS_H_
#define BELLJAR_SERVER_TOOLS_OUTPUT_SCHEMAS_H_

#include <nlohmann/json.hpp>

namespace belljar {

nlohmann::ordered_json OutcomeSchema();      // of OutcomeToJson (engine/core/outcome.h)
nlohmann::ordered_json ValidationSchema();   // of validate_code
nlohmann::ordered_json SandboxInfoSchema();  // of get_sandbox_info

}  // namespace belljar

#endif  // BELLJAR_SERVER_TOOLS_OUTPUT_SCHEMAS_H_
