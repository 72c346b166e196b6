#include "server/tools/output_schemas.h"

namespace belljar {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFindings = R"({
  "type": "array",
  "description": "What the language policy refuses, with what to do instead",
  "items": {
    "type": "object",
    "properties": {
      "rule": {"type": "string", "description": "Number of the rule, such as BJ201"},
      "name": {"type": "string", "description": "Name of the rule, such as import-not-allowed"},
      "line": {"type": ["integer", "null"], "description": "From 1; null: the whole source"},
      "column": {"type": ["integer", "null"], "description": "From 1"},
      "end_line": {"type": ["integer", "null"]},
      "end_column": {"type": ["integer", "null"], "description": "One past the last character"},
      "reason": {"type": "string"},
      "hint": {"type": ["string", "null"], "description": "What to do instead"},
      "profile": {"type": ["string", "null"], "description": "The profile that would allow it"}
    },
    "required": ["rule", "name", "line", "reason"]
  }
})";

constexpr const char* kLimits = R"({
  "type": "object",
  "properties": {
    "timeout": {"type": "number", "description": "Seconds of wall clock"},
    "cpu": {"type": "number", "description": "Seconds of CPU time"},
    "memory_bytes": {"type": "integer"},
    "output_bytes": {"type": "integer", "description": "Of stdout and of stderr, each"},
    "result_bytes": {"type": "integer", "description": "Of the result as JSON"},
    "source_bytes": {"type": "integer"},
    "file_size_bytes": {"type": "integer"},
    "artifact_bytes": {"type": "integer", "description": "Content of one artifact within the result"},
    "artifacts_bytes": {"type": "integer", "description": "Of all of them"},
    "open_files": {"type": "integer"},
    "processes": {"type": "integer"}
  },
  "required": ["timeout", "cpu", "memory_bytes", "output_bytes"]
})";

constexpr const char* kOutcome = R"({
  "type": "object",
  "properties": {
    "success": {"type": "boolean", "description": "Whether status is ok"},
    "status": {
      "enum": ["ok", "exception", "refused", "timeout", "cpu_limit", "memory_limit", "killed"],
      "description": "How it ended. refused: by the language policy, and nothing was run"
    },
    "execution_id": {
      "type": "string",
      "description": "A UUID; empty if the call was cancelled before it was run"
    },
    "result": {
      "description": "Value of the last expression unless that is None, else of the variable named result, as JSON; null if there is none or it is not plain data. What JSON cannot say is an object with a $type"
    },
    "result_repr": {
      "type": ["string", "null"],
      "description": "The same as Python shows it, shortened; null if there is none"
    },
    "stdout": {"type": "string", "description": "What was printed; empty with capture_output false"},
    "stderr": {"type": "string", "description": "Likewise"},
    "exit_code": {"type": ["integer", "null"], "description": "Of sys.exit"},
    "execution_time": {"type": "number", "description": "Seconds of wall clock"},
    "variables": {
      "type": "array",
      "items": {"type": "string"},
      "description": "Names that the code bound at its top level"
    },
    "error": {
      "type": ["object", "null"],
      "description": "What went wrong; null when nothing did",
      "properties": {
        "type": {
          "type": "string",
          "description": "Class of the exception, or PolicyError, Timeout, CpuLimit, MemoryLimit, Killed, Cancelled"
        },
        "message": {"type": "string"},
        "line": {"type": ["integer", "null"], "description": "Of the code, from 1"},
        "column": {"type": ["integer", "null"], "description": "From 1"},
        "traceback": {"type": ["string", "null"]},
        "hint": {"type": ["string", "null"], "description": "What is likely to help"}
      },
      "required": ["type", "message"]
    },
    "usage": {
      "type": "object",
      "properties": {
        "wall_time": {"type": "number", "description": "Seconds"},
        "cpu_time": {"type": "number", "description": "Seconds, user and system"},
        "max_rss_bytes": {"type": "integer", "description": "Most resident memory"}
      }
    },
    "truncated": {
      "type": "object",
      "description": "Only what was cut: stdout and stderr with the number of bytes that were dropped, artifacts and network with how many were left out, other keys with true"
    },
    "isolation": {
      "type": "object",
      "description": "What held the code in, as seen on its own process from outside",
      "properties": {
        "mode": {"enum": ["strict", "standard"]},
        "language": {"enum": ["restricted", "full"]},
        "layers": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "name": {"type": "string"},
              "held": {"type": "boolean"},
              "detail": {"type": "string"}
            },
            "required": ["name", "held"]
          }
        }
      }
    },
    "security_events": {
      "type": "array",
      "description": "System calls that were denied, or for which the code was killed",
      "items": {
        "type": "object",
        "properties": {
          "layer": {"type": "string"},
          "action": {"enum": ["denied", "killed"]},
          "detail": {"type": "string", "description": "The system call"},
          "count": {"type": "integer"}
        }
      }
    },
    "artifacts": {
      "type": "array",
      "description": "Figures and tables that the code made, and new or changed files of its workspace. Made by the code: hostile where you open them",
      "items": {
        "type": "object",
        "properties": {
          "name": {"type": "string", "description": "Of a file its path in the workspace"},
          "origin": {"enum": ["file", "display"], "description": "display: a figure or table, made from a value of the code"},
          "media_type": {"type": "string"},
          "size": {"type": "integer", "description": "Bytes of the whole"},
          "sha256": {"type": ["string", "null"], "description": "Of the whole, in hexadecimal"},
          "encoding": {"type": ["string", "null"], "description": "Of content: utf-8 or base64"},
          "content": {"type": ["string", "null"], "description": "Short text alone stands here. Anything else is in a content block of the answer, or at uri"},
          "note": {"type": ["string", "null"], "description": "Why there is no content, or what else there is to say"},
          "uri": {"type": "string", "description": "Where resources/read gives the whole, for a while; left out where it was not kept"}
        },
        "required": ["name", "origin", "media_type", "size"]
      }
    },
    "artifacts_note": {
      "type": ["string", "null"],
      "description": "What was left of files that are not among the artifacts, and why"
    },
    "network": {
      "type": "array",
      "description": "Connections and refused tries at one, in profiles with network",
      "items": {
        "type": "object",
        "properties": {
          "host": {"type": "string", "description": "As the code named it"},
          "port": {"type": "integer"},
          "protocol": {"type": "string"},
          "allowed": {"type": "boolean"},
          "detail": {"type": ["string", "null"], "description": "Why not, or the address that it came to"},
          "bytes_sent": {"type": "integer"},
          "bytes_received": {"type": "integer"},
          "started": {"type": "number", "description": "Seconds after the beginning"},
          "lasted": {"type": "number", "description": "Seconds"}
        },
        "required": ["host", "port", "allowed"]
      }
    },
    "container": {
      "type": ["object", "null"],
      "description": "The container that the code ran in; null: none, as nobody asked for one",
      "properties": {
        "engine": {"type": "string"},
        "runtime": {"type": "string", "description": "runsc is gVisor, a kernel of its own; runc has the kernel of the machine"},
        "image_digest": {"type": "string"},
        "warm": {"type": "boolean", "description": "Whether it was waiting; else it was started for this call"},
        "started_in": {"type": "number", "description": "Seconds until code could run in it"},
        "not_limited": {"type": "array", "items": {"enum": ["memory", "processes", "cpu"]}, "description": "What the engine limits for no container: the limits of the worker in it are all there is"},
        "packages": {"type": "array", "items": {"type": "string"}, "description": "What was installed for this run, with what it needs: name==version"}
      },
      "required": ["engine", "runtime", "warm"]
    }
  },
  "required": ["success", "status", "execution_id", "result", "stdout", "stderr", "execution_time",
    "variables", "error", "findings", "usage", "truncated", "limits", "isolation",
    "artifacts", "network", "container"]
})";

constexpr const char* kValidation = R"({
  "type": "object",
  "properties": {
    "success": {"const": true, "description": "The code was looked at; validation says with what verdict"},
    "validation": {
      "type": "object",
      "properties": {
        "valid": {"type": "boolean", "description": "Whether execute_code would run it"},
        "errors": {
          "type": "array",
          "items": {"type": "string"},
          "description": "One text for each finding, such as: Line 1: Import 'os' is not allowed"
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
          "description": "Dotted names of the modules that it imports, sorted; empty if it is not Python"
        },
        "branches": {"type": ["integer", "null"], "description": "Null if it is not Python"},
        "nesting": {"type": ["integer", "null"], "description": "Null if it is not Python"}
      },
      "required": ["line_count", "character_count", "estimated_complexity", "imports"]
    },
    "recommendations": {"type": "array", "items": {"type": "string"}},
    "profile": {"type": "string", "description": "The profile that it was judged for"},
    "truncated": {"type": "boolean", "description": "Whether there is more to find than is listed"}
  },
  "required": ["success", "validation", "analysis", "findings", "recommendations"]
})";

constexpr const char* kSandboxInfo = R"({
  "type": "object",
  "properties": {
    "success": {"const": true},
    "version": {
      "type": "object",
      "properties": {
        "belljar": {"type": "string"},
        "python": {"type": "string", "description": "Of the interpreter that runs the code"},
        "restricted_python": {"type": ["string", "null"]}
      },
      "required": ["belljar", "python"]
    },
    "default_profile": {
      "type": ["string", "null"],
      "description": "Of calls that name none; null if this caller may use none"
    },
    "combinations": {
      "type": "array",
      "items": {"type": "string"},
      "description": "Profiles joined with + that calls of this caller may name too"
    },
    "security_profiles": {
      "type": "object",
      "description": "By name, with underscores",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "enabled": {"type": "boolean", "description": "Whether calls of this caller may name it"},
          "available": {
            "type": "boolean",
            "description": "Whether all of it is installed; missing says what is not"
          },
          "summary": {"type": "string"},
          "tiers": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What it adds to basic; empty: it extends nothing"
          },
          "attack_surface": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What it adds for an attacker"
          },
          "packages": {
            "type": "array",
            "description": "What is installed of the packages it brings, and of those that they need",
            "items": {
              "type": "object",
              "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
              "required": ["name", "version"]
            }
          },
          "missing": {
            "type": "array",
            "description": "Packages that it names and that are not installed",
            "items": {
              "type": "object",
              "properties": {
                "set": {"type": "string"},
                "modules": {
                  "type": "array",
                  "items": {"type": "string"},
                  "description": "What cannot be imported without it"
                },
                "command": {"type": "string", "description": "What an operator types to install it"}
              },
              "required": ["set", "modules", "command"]
            }
          },
          "workspace": {
            "type": ["object", "null"],
            "description": "The private place for files of each run; null: none",
            "properties": {
              "path": {"type": "string"},
              "size_bytes": {"type": "integer"},
              "inodes": {"type": "integer", "description": "Files, folders and links"}
            }
          },
          "network": {
            "type": ["object", "null"],
            "description": "The proxy through which code reaches the hosts that the operator allows; null: no network",
            "properties": {
              "proxy_port": {"type": "integer", "description": "On 127.0.0.1, inside"},
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
            "description": "What may be imported; not what is missing"
          },
          "names": {
            "type": "object",
            "description": "What each module gives; nothing else of it can be reached. Of a tier only where that differs from basic; modules of packages give what their documentation calls public",
            "additionalProperties": {"type": "array", "items": {"type": "string"}}
          },
          "limits": {"type": "object", "description": "default and maximum"},
          "how_to_enable": {"type": "string"}
        },
        "required": ["enabled", "available", "modules"]
      }
    },
    "resource_limits": {
      "type": "object",
      "description": "Of calls that ask for none",
      "properties": {
        "timeout": {"type": "number", "description": "Seconds"},
        "max_output_size": {"type": "integer", "description": "Bytes of stdout and of stderr, each"},
        "memory_limit": {"type": "string"},
        "max": {"type": "object", "description": "The most that a call may ask for"}
      },
      "required": ["timeout", "max_output_size", "memory_limit"]
    },
    "container_mode": {
      "type": "object",
      "properties": {
        "available": {"type": "boolean", "description": "Whether the last that was asked for could be had; message says why not"},
        "enabled": {"type": "boolean", "description": "Whether calls may set use_container"},
        "engine": {"type": ["string", "null"]},
        "runtime": {"type": ["string", "null"], "description": "runsc is gVisor, a kernel of its own"},
        "message": {"type": "string"}
      },
      "required": ["available", "enabled"]
    },
    "packages": {
      "type": "object",
      "properties": {
        "enabled": {"type": "boolean", "description": "Whether calls may set packages, together with use_container"},
        "allowed": {"type": "array", "items": {"type": "string"}, "description": "The names that they may ask for: requests, google-*, or * for all"}
      },
      "required": ["enabled", "allowed"]
    },
    "isolation": {
      "type": "object",
      "properties": {
        "mode": {"enum": ["strict", "standard"]},
        "language": {"enum": ["restricted", "full"]},
        "layers": {
          "type": "array",
          "description": "What this machine gives, as it was probed when the server started; what held a run is in isolation of its own result",
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
      "required": ["mode", "language", "layers"]
    },
    "language_notes": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["success", "version", "default_profile", "security_profiles", "resource_limits",
    "container_mode", "packages", "isolation"]
})";

}  // namespace

Json OutcomeSchema() {
  Json schema = Json::parse(kOutcome);
  schema["properties"]["findings"] = Json::parse(kFindings);
  schema["properties"]["limits"] = Json::parse(kLimits);
  return schema;
}

Json ValidationSchema() {
  Json schema = Json::parse(kValidation);
  schema["properties"]["findings"] = Json::parse(kFindings);
  return schema;
}

Json SandboxInfoSchema() { return Json::parse(kSandboxInfo); }

}  // namespace belljar
