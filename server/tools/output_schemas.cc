#include "server/tools/output_schemas.h"

#include "engine/host/outcome_fields.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;

Json ListOf(host::Words words) {
  Json list = Json::array();
  for (const std::string_view word : words) list.push_back(word);
  return list;
}

// Schema of a field, by its type.
template <typename T>
Json SchemaOf(const char* meaning, bool may_be_null, const host::FieldBounds& bounds);

// Adds "type", or "enum" if all values have names.
template <typename T>
void AddType(bool may_be_null, const host::FieldBounds& bounds, Json& schema) {
  const auto add = [&](const char* type) {
    schema["type"] = may_be_null ? Json({type, "null"}) : Json(type);
  };
  if constexpr (std::same_as<T, host::JsonText>) {
    return;  // any
  } else if constexpr (std::same_as<T, host::Truncations> || host::RecordField<T>) {
    add("object");
  } else if constexpr (host::ListField<T>) {
    add("array");
  } else if constexpr (host::EnumField<T>) {
    schema["enum"] = ListOf(host::kNames<T>);
  } else if constexpr (host::TextField<T>) {
    if (bounds.choices.empty()) return add("string");
    schema["enum"] = ListOf(bounds.choices);
  } else if constexpr (std::same_as<T, bool>) {
    add("boolean");
  } else if constexpr (host::NumberField<T> || std::same_as<T, core::Bytes>) {
    add("integer");
  } else {
    static_assert(host::DurationField<T>);
    add("number");
  }
}

template <host::RecordField T>
void AddProperties(Json& schema) {
  Json required = Json::array();
  Json& properties = schema["properties"] = Json::object();
  host::ForEachField<T>([&](auto row) {
    if constexpr (row.Is(host::kInJson)) {
      properties[row.name] = SchemaOf<host::FieldType<decltype(row), const T>>(
          row.meaning, row.Is(host::kNullable), row.bounds);
      if (row.Is(host::kRequired)) required.push_back(row.name);
    }
  });
  if (!required.empty()) schema["required"] = std::move(required);
}

template <typename T>
Json SchemaOf(const char* meaning, bool may_be_null, const host::FieldBounds& bounds) {
  if constexpr (host::OptionalField<T>) {
    return SchemaOf<typename host::ElementOf<T>::Type>(meaning, true, bounds);
  } else {
    Json schema = Json::object();
    const auto describe = [&] {
      if (*meaning != '\0') schema["description"] = meaning;
    };
    AddType<T>(may_be_null, bounds, schema);
    if constexpr (host::ListField<T>) {
      using Item = typename host::ElementOf<T>::Type;
      // The longer part comes last.
      if (host::RecordField<Item>) describe();
      schema["items"] = SchemaOf<Item>("", false, bounds);
      if (!host::RecordField<Item>) describe();
    } else {
      describe();
    }
    if constexpr (host::RecordField<T>) AddProperties<T>(schema);
    return schema;
  }
}

// For both forms of the answers. Clients of the Python SDK 1.x validate the schema itself with each
// answer, at about 0.4 ms for each property, so three required keys are left without a type.
// docs/mcp-tools.md describes all of them.
constexpr const char* kAnswer = R"({
  "type": "object",
  "properties": {
    "success": {"type": "boolean"},
    "status": {},
    "result": {"description": "Value as JSON; null: none, not plain data, or in cut.result"},
    "stdout": {"type": "string"},
    "stderr": {"type": "string"},
    "error": {"type": ["object", "null"]},
    "cut": {"type": "object", "description": "By key: left_out characters, end, uri of the whole"}
  },
  "required": ["success", "status", "execution_id", "result", "stdout", "stderr", "execution_time",
    "variables", "error"]
})";

constexpr const char* kValidation = R"({
  "type": "object",
  "properties": {
    "success": {"const": true},
    "validation": {
      "type": "object",
      "properties": {"valid": {"type": "boolean"}, "errors": {"type": "array"}},
      "required": ["valid", "errors", "message"]
    },
    "analysis": {"type": "object"},
    "findings": {"type": "array"}
  },
  "required": ["success", "validation", "analysis", "findings"]
})";

constexpr const char* kFullValidation = R"({
  "type": "object",
  "properties": {
    "success": {"const": true, "description": "The code was checked; validation has the verdict"},
    "validation": {
      "type": "object",
      "properties": {
        "valid": {"type": "boolean", "description": "Whether execute_code would run the code"},
        "errors": {
          "type": "array",
          "items": {"type": "string"},
          "description": "One text per finding, such as: Line 1: Import 'glob' is not allowed"
        },
        "message": {"type": "string"}
      },
      "required": ["valid", "errors", "message"]
    },
    "analysis": {
      "type": "object",
      "properties": {
        "line_count": {"type": "integer", "minimum": 0},
        "character_count": {"type": "integer", "minimum": 0},
        "estimated_complexity": {"enum": ["low", "medium", "high"]},
        "imports": {
          "type": "array",
          "items": {"type": "string"},
          "description": "Dotted names of the imported modules, sorted; empty if the code is not valid Python"
        },
        "branches": {"type": ["integer", "null"], "description": "Null if the code is not valid Python"},
        "nesting": {"type": ["integer", "null"], "description": "Null if the code is not valid Python"}
      },
      "required": ["line_count", "character_count", "estimated_complexity", "imports"]
    },
    "recommendations": {"type": "array", "items": {"type": "string"}},
    "profile": {"type": "string", "description": "The profile for which the code was checked"},
    "truncated": {"type": "boolean", "description": "Whether there are more findings than listed"}
  },
  "required": ["success", "validation", "analysis", "findings", "recommendations"]
})";

constexpr const char* kSandboxInfo = R"({
  "type": "object",
  "properties": {
    "success": {"const": true},
    "default_profile": {"type": ["string", "null"]},
    "security_profiles": {"type": "object", "additionalProperties": {"type": "object"}},
    "resource_limits": {"type": "object"}
  },
  "required": ["success"]
})";

constexpr const char* kFullSandboxInfo = R"({
  "type": "object",
  "properties": {
    "success": {"const": true},
    "version": {
      "type": "object",
      "properties": {
        "belljar": {"type": "string"},
        "python": {"type": "string", "description": "Version of the interpreter that runs the code"},
        "restricted_python": {"type": ["string", "null"]}
      },
      "required": ["belljar", "python"]
    },
    "default_profile": {
      "type": ["string", "null"],
      "description": "For calls that name none; null if this caller may use none"
    },
    "combinations": {
      "type": "array",
      "items": {"type": "string"},
      "description": "Combinations, joined with +, that calls of this caller may also name"
    },
    "security_profiles": {
      "type": "object",
      "description": "By name, with underscores",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "enabled": {"type": "boolean", "description": "Whether calls of this caller may name the profile"},
          "available": {
            "type": "boolean",
            "description": "Whether it is completely installed; missing lists what is not"
          },
          "summary": {"type": "string"},
          "tiers": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What it adds to basic; empty: nothing"
          },
          "attack_surface": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Attack surface that it adds"
          },
          "packages": {
            "type": "array",
            "description": "Installed packages of the profile and their dependencies",
            "items": {
              "type": "object",
              "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
              "required": ["name", "version"]
            }
          },
          "missing": {
            "type": "array",
            "description": "Packages of the profile that are not installed",
            "items": {
              "type": "object",
              "properties": {
                "set": {"type": "string"},
                "modules": {
                  "type": "array",
                  "items": {"type": "string"},
                  "description": "Modules that cannot be imported without it"
                },
                "command": {"type": "string", "description": "Command for an operator to install it"}
              },
              "required": ["set", "modules", "command"]
            }
          },
          "workspace": {
            "type": ["object", "null"],
            "description": "The private folder for files of each run; null: none",
            "properties": {
              "path": {"type": "string"},
              "size_bytes": {"type": "integer"},
              "inodes": {"type": "integer", "description": "Files, folders and links"}
            }
          },
          "network": {
            "type": ["object", "null"],
            "description": "The proxy through which code reaches the allowed hosts; null: no network",
            "properties": {
              "proxy_port": {"type": "integer", "description": "On 127.0.0.1, inside the sandbox"},
              "allowed_domains": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Hosts that the operator allows; empty: none"
              }
            }
          },
          "modules": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Modules that may be imported, without missing ones"
          },
          "names": {
            "type": "object",
            "description": "The accessible names of each module; no others can be used. For a tier only where they differ from basic; for modules of packages, the names that their documentation calls public",
            "additionalProperties": {"type": "array", "items": {"type": "string"}}
          },
          "limits": {"type": "object", "description": "Default and maximum"},
          "how_to_enable": {"type": "string"}
        },
        "required": ["enabled", "available", "modules"]
      }
    },
    "resource_limits": {
      "type": "object",
      "description": "For calls that request none",
      "properties": {
        "timeout": {"type": "number", "description": "Seconds"},
        "max_output_size": {"type": "integer", "description": "Bytes, for stdout and stderr each"},
        "memory_limit": {"type": "string"},
        "max": {"type": "object", "description": "The maximum that a call may request"}
      },
      "required": ["timeout", "max_output_size", "memory_limit"]
    },
    "container_mode": {
      "type": "object",
      "properties": {
        "available": {"type": "boolean", "description": "Whether the last requested container could be started; message says why not"},
        "enabled": {"type": "boolean", "description": "Whether calls may set use_container"},
        "engine": {"type": ["string", "null"]},
        "runtime": {"type": ["string", "null"], "description": "runsc is gVisor, a separate kernel"},
        "message": {"type": "string"}
      },
      "required": ["available", "enabled"]
    },
    "packages": {
      "type": "object",
      "properties": {
        "enabled": {"type": "boolean", "description": "Whether calls may set packages, together with use_container"},
        "allowed": {"type": "array", "items": {"type": "string"}, "description": "Names that calls may request: requests, google-*, or * for all"}
      },
      "required": ["enabled", "allowed"]
    },
    "isolation": {
      "type": "object",
      "properties": {
        "mode": {"enum": ["strict", "standard"]},
        "policy": {"enum": ["on", "off"], "description": "The language policy"},
        "language": {"enum": ["restricted", "full"], "description": "Deprecated: policy by its former name"},
        "layers": {
          "type": "array",
          "description": "Layers that this machine supports, as probed when the server started; the layers that contained a run are in isolation of its result",
          "items": {
            "type": "object",
            "properties": {
              "name": {"type": "string"},
              "available": {"type": "boolean"},
              "required": {"type": "boolean", "description": "Whether no code runs without it"},
              "detail": {"type": "string"}
            },
            "required": ["name", "available", "required"]
          }
        }
      },
      "required": ["mode", "policy", "layers"]
    },
    "language_notes": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["success", "version", "default_profile", "security_profiles", "resource_limits",
    "container_mode", "packages", "isolation"]
})";

constexpr const char* kSuccess = R"({
  "type": "object",
  "properties": {"success": {"const": true}},
  "required": ["success"]
})";

constexpr const char* kSessions = R"({
  "open_session": {
    "type": "object",
    "properties": {
      "success": {"const": true},
      "session": {"type": "string", "description": "Its id, for the argument session"},
      "profile": {"type": "string"},
      "memory_limit": {"type": "string"},
      "idle_timeout": {"type": "integer", "description": "Seconds without a call after which it is closed"},
      "lifetime": {"type": "integer", "description": "Seconds after which it is always closed"}
    },
    "required": ["success", "session", "profile", "memory_limit", "idle_timeout", "lifetime"]
  },
  "list_sessions": {
    "type": "object",
    "properties": {
      "success": {"const": true},
      "sessions": {
        "type": "array",
        "description": "This caller's, oldest first",
        "items": {
          "type": "object",
          "properties": {
            "session": {"type": "string"},
            "profile": {"type": "string"},
            "cells": {"type": "integer", "description": "So far"},
            "checkpoints": {"type": "integer", "description": "Number held"},
            "busy": {"type": "boolean", "description": "Whether a call uses it"},
            "idle": {"type": "integer", "description": "Seconds since the last call"},
            "closes_in": {"type": "integer", "description": "Seconds until it closes without a call"},
            "memory_bytes": {"type": "integer", "description": "As the kernel counts it"},
            "languages": {"type": "array", "items": {"type": "string"}, "description": "Of its cells so far, if there are several"},
            "branch_of": {"type": "string", "description": "The session that it branched from"},
            "commands": {"type": "integer", "description": "That run, in one of commands"}
          },
          "required": ["session", "profile", "cells", "checkpoints", "busy"]
        }
      }
    },
    "required": ["success", "sessions"]
  },
  "close_session": {
    "type": "object",
    "properties": {
      "success": {"const": true},
      "session": {"type": "string"},
      "closed": {"type": "boolean"},
      "interrupted": {"type": "boolean", "description": "With interrupt: whether a cell was running"}
    },
    "required": ["success", "session"]
  },
  "checkpoint": {
    "type": "object",
    "properties": {
      "success": {"const": true},
      "session": {"type": "string"},
      "checkpoint": {"type": ["string", "null"], "description": "keep: that of the current state; roll_back: the one whose state was restored"},
      "checkpoints": {
        "type": "array",
        "description": "list: those held, the next to be dropped first",
        "items": {
          "type": "object",
          "properties": {
            "checkpoint": {"type": "string"},
            "cell": {"type": "integer", "description": "After which it was created"},
            "made": {"type": "string", "description": "UTC"},
            "label": {"type": "string"},
            "parent": {"type": "string", "description": "The checkpoint that its cell started from"},
            "current": {"type": "boolean", "description": "The session is in this state"}
          },
          "required": ["checkpoint", "cell", "made"]
        }
      },
      "branches": {"type": "array", "items": {"type": "string"}, "description": "branch: ids of the new sessions"},
      "variables": {
        "type": "array",
        "description": "compare: those that differ. Untrusted: from the code",
        "items": {
          "type": "object",
          "properties": {
            "name": {"type": "string"},
            "change": {"enum": ["added", "changed", "removed", "unknown"]},
            "before": {"type": "object", "description": "type and repr"},
            "after": {"type": "object"}
          },
          "required": ["name", "change"]
        }
      },
      "files": {"type": "object", "description": "compare: paths that were added, changed, removed"},
      "cells": {"type": "array", "items": {"type": "integer"}, "description": "compare: number of cells run in each of the two"},
      "left_out": {"type": "integer", "description": "compare: number of differences not listed"}
    },
    "required": ["success", "session"]
  },
  "exchange": {
    "type": "object",
    "properties": {
      "success": {"const": true},
      "session": {"type": "string"},
      "name": {"type": "string"},
      "to": {"type": "array", "items": {"type": "string"}, "description": "Languages that have the value now"}
    },
    "required": ["success", "session", "name", "to"]
  },
  "run_command": {
    "type": "object",
    "description": "run: an outcome as of execute_code, and command. The others: what is said of them",
    "properties": {
      "success": {"type": "boolean"},
      "session": {"description": "run: as in an outcome, with the command's id as cell; else its id"},
      "execution_id": {"type": "string", "description": "run"},
      "command": {
        "type": "object",
        "properties": {
          "id": {"type": "integer", "description": "Counts from 1 in its session"},
          "state": {"enum": ["running", "exited", "not_started", "timeout", "cpu_limit", "memory_limit", "killed", "lost"]},
          "exit_code": {"type": "integer", "description": "128 + its number for a signal"},
          "signal": {"type": "string", "description": "That ended it"},
          "reason": {"type": "string"},
          "background": {"type": "boolean", "description": "It has ended, and something that it started runs"},
          "line": {"type": "string", "description": "Its beginning"},
          "terminal": {"type": "boolean"},
          "started": {"type": "string", "description": "UTC"},
          "duration": {"type": "number", "description": "Seconds, so far"},
          "cpu_time": {"type": "number", "description": "Seconds, of what has ended"},
          "max_rss_bytes": {"type": "integer"},
          "stdout": {"type": "object", "description": "Addresses of what can be read: begin and end"},
          "stderr": {"type": "object"}
        },
        "required": ["id", "state"]
      },
      "commands": {"type": "array", "items": {"type": "object"}, "description": "list: each as command"},
      "stream": {"type": "string", "description": "read: stdout or stderr"},
      "begin": {"type": "integer", "description": "read: the address of the first byte; later than asked for if some were dropped"},
      "end": {"type": "integer", "description": "read: where to read on"},
      "last": {"type": "boolean", "description": "read: it has ended, and this was all"},
      "text": {"type": "string", "description": "read: whole characters"},
      "base64": {"type": "string", "description": "read: in place of text, what is not UTF-8"},
      "sent": {"type": "boolean", "description": "signal: false if it has ended"}
    },
    "required": ["success"]
  },
  "session_files": {
    "type": "object",
    "properties": {
      "success": {"const": true},
      "session": {"type": "string"},
      "files": {
        "type": "array",
        "description": "list: all files; write, copy: those written",
        "items": {
          "type": "object",
          "properties": {"path": {"type": "string"}, "size": {"type": "integer", "description": "Bytes"}},
          "required": ["path", "size"]
        }
      },
      "left_out": {"type": "integer", "description": "Number of files not listed; export: of those whose names a tar file cannot hold"},
      "count": {"type": "integer", "description": "export: number of files in the archive"},
      "to": {"type": "string", "description": "copy: the other session"},
      "path": {"type": "string"},
      "size": {"type": "integer", "description": "read, export: bytes"},
      "media_type": {"type": "string"},
      "text": {"type": "string", "description": "read: the complete content, if it is text and not too long"},
      "uri": {"type": "string", "description": "read, export: resource with the content, for resources/read; kept for a limited time"},
      "deleted": {"type": "boolean"}
    },
    "required": ["success", "session"]
  }
})";

}  // namespace

Json OutcomeSchema() {
  Json schema = SchemaOf<host::Outcome>("", false, {});
  // In the same position as in 0.1.
  for (const char* last : {"findings", "limits"}) {
    Json& properties = schema["properties"];
    const Json moved = properties[last];
    properties.erase(last);
    properties[last] = moved;
  }
  return schema;
}

Json AnswerSchema() {
  Json schema = Json::parse(kAnswer);
  schema["properties"]["status"]["enum"] = ListOf(host::kNames<host::Status>);
  return schema;
}

Json ValidationSchema() { return Json::parse(kValidation); }

Json FullValidationSchema() {
  Json schema = Json::parse(kFullValidation);
  schema["properties"]["findings"] = OutcomeSchema()["properties"]["findings"];
  return schema;
}

Json SandboxInfoSchema() { return Json::parse(kSandboxInfo); }

Json SuccessSchema() { return Json::parse(kSuccess); }

Json CommandSchema() {
  Json schema = SuccessSchema();
  schema["properties"]["success"] = {{"type", "boolean"}};
  return schema;
}

Json SessionSchemas() { return Json::parse(kSessions); }

Json FullSandboxInfoSchema() { return Json::parse(kFullSandboxInfo); }

}  // namespace belljar::server::tools
