// The results of the tools as JSON Schema 2020-12. Optional values may be missing, and later
// versions may add keys.
#ifndef BELLJAR_SERVER_TOOLS_OUTPUT_SCHEMAS_H_
#define BELLJAR_SERVER_TOOLS_OUTPUT_SCHEMAS_H_

#include <nlohmann/json.hpp>

namespace belljar::server::tools {

// What the tools declare.
nlohmann::ordered_json AnswerSchema();       // of execute_code
nlohmann::ordered_json ValidationSchema();   // of validate_code
nlohmann::ordered_json SandboxInfoSchema();  // of get_sandbox_info
nlohmann::ordered_json SuccessSchema();      // of the tools for sessions
nlohmann::ordered_json CommandSchema();      // of run_command, whose command may fail

// Every key of the full objects with its meaning and unit.
nlohmann::ordered_json OutcomeSchema();  // of OutcomeToJson (engine/host/outcome.h)
nlohmann::ordered_json FullValidationSchema();
nlohmann::ordered_json FullSandboxInfoSchema();
// The schemas of the session tools, by tool.
nlohmann::ordered_json SessionSchemas();

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_OUTPUT_SCHEMAS_H_
