// Which profile a call gets, and what operators and callers' ceilings make of it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/profiles/unnamed_profile.h"
#include "engine/profiles/wanted_profiles.h"
#include "server/tools/tiers.h"
#include "tests/server/tools_support.h"

namespace belljar::server::tools::tool_profiles_test {
namespace {

using nlohmann::json;

TEST(ToolProfiles, WhatIsNotEnabledIsNamedWithWhatIs) {
  for (const char* name : {"data-science", "data_science", "basic+data_science"}) {
    const tests::Answered answer = tests::Execute({{"code", "1"}, {"profile", name}});
    EXPECT_HOLDS(answer.message, "profile \"data-science\" is not enabled on this server");
    EXPECT_HOLDS(answer.message, "(enabled: basic)");
  }
  EXPECT_HOLDS(tests::Execute({{"code", "1"}, {"profile", "filesystem"}}).message,
               "A call cannot enable it; an operator can, with SANDBOX_ENABLE_FILESYSTEM=true.");
  for (const char* name : {"", "+", "basic+", "+basic", "basic+filesystem+", "basic++basic"}) {
    EXPECT_HOLDS(tests::Execute({{"code", "1"}, {"profile", name}}).message,
                 "there is no profile \"\"");
  }
  EXPECT_HOLDS(tests::Execute({{"code", "1"}, {"profile", "filesystem, network"}}).message,
               "several are joined with +");
  const tests::Answered answer = tests::Validate({{"code", "1"}, {"profile", "basik"}});
  EXPECT_HOLDS(answer.message, "there is no profile \"basik\" (enabled: basic); did you mean");
}

TEST(ToolProfiles, ACallersCeilingHolds) {
  EXPECT_FALSE(tests::Execute({{"code", "1"}}, tests::CallerOf({"basic"})).is_error);
  tests::Answered answer =
      tests::Execute({{"code", "1"}, {"profile", "basic"}}, tests::CallerOf({"network"}));
  EXPECT_HOLDS(answer.message, "the caller \"team-a\" may not use profile \"basic\"");
  answer = tests::Validate({{"code", "1"}}, tests::CallerOf({}));
  EXPECT_HOLDS(answer.message, "may not use any profile of this server");
  const tests::Answered info = tests::Info(nullptr, tests::CallerOf({}));
  EXPECT_EQ(info.object["security_profiles"]["basic"]["enabled"], false);
  EXPECT_TRUE(info.object["default_profile"].is_null());
}

// --- several in one call
// ---------------------------------------------------------------------------

ExecutionConfig WithTiers(size_t combinations = 2) {
  ExecutionConfig config;
  config.spares = 1;
  config.profiles = {"basic", "filesystem", "network"};
  config.combinations = combinations;
  return config;
}

TEST(Combinations, HaveOneNameHoweverTheyAreWritten) {
  EXPECT_EQ(ProfileName("data_science"), "data-science");
  EXPECT_EQ(ProfileName("network+data_science+network+basic"), "data-science+network");
  EXPECT_EQ(ProfileName("basic+basic"), "basic");
  EXPECT_EQ(ProfileName("filesystem+basic"), "filesystem");
}

TEST(Combinations, ACallMayNameWhatIsEnabled) {
  tests::Tools tools(WithTiers());
  for (const char* name :
       {"filesystem+network", "network+filesystem", "basic+network+filesystem"}) {
    const tests::Answered answer = tools.Call("validate_code", {{"code", "1"}, {"profile", name}});
    EXPECT_EQ(answer.object["profile"], "filesystem+network") << answer.message;
  }
  EXPECT_EQ(tools.Call("execute_code", {{"code", "6 * 7"}, {"profile", "network+filesystem"}})
                .object["result"],
            42);
  const tests::Answered answer =
      tools.Call("execute_code", {{"code", "1"}, {"profile", "filesystem+data-science"}});
  EXPECT_HOLDS(answer.message, "profile \"data-science\" is not enabled");
  const json choices =
      tools.Get("execute_code").description().input_schema["properties"]["profile"]["enum"];
  EXPECT_EQ(choices, json::array({"basic", "filesystem", "network", "filesystem+network"}));
  const ToolDescription& description = tools.Get("execute_code").description();
  EXPECT_HOLDS(description.description, "\n- network (only if named): Network: ");
  EXPECT_FALSE(description.read_only) << "what is sent to others is theirs";
  EXPECT_TRUE(description.destructive);
  EXPECT_TRUE(description.open_world);
  ASSERT_EQ(tools.sandboxes().counters().size(), 2u) << "basic, and the one that was named";
  EXPECT_EQ(tools.sandboxes().counters()[1].profile, "filesystem+network");
  const std::vector<tests::Books::Entry> entries = tools.books().Take();
  EXPECT_EQ(entries.back().profile, "filesystem+network");
}

TEST(Combinations, WhatThereIsIsListedForEachCaller) {
  tests::Tools tools(WithTiers());
  json info = tools.Call("get_sandbox_info", {{"detail", "full"}}).object;
  EXPECT_EQ(info["combinations"], json::array({"filesystem+network"}));
  const json& profiles = info["security_profiles"];
  EXPECT_EQ(profiles["basic"]["tiers"], json::array());
  EXPECT_TRUE(profiles["basic"]["workspace"].is_null());
  EXPECT_EQ(profiles["filesystem"]["tiers"], json::array({"filesystem"}));
  EXPECT_FALSE(profiles["filesystem"]["attack_surface"].empty());
  EXPECT_EQ(profiles["filesystem"]["workspace"]["path"], "/workspace");
  EXPECT_GT(profiles["filesystem"]["workspace"]["size_bytes"], 1 << 20);
  EXPECT_TRUE(profiles["filesystem"]["network"].is_null());
  EXPECT_TRUE(profiles["network"]["network"].is_object());
  EXPECT_TRUE(profiles["basic"]["names"].contains("math"));
  EXPECT_FALSE(profiles["filesystem"]["names"].contains("math")) << "it stands at basic";
  EXPECT_GT(profiles["filesystem"]["modules"].size(), 50u);
  info =
      tools.Call("get_sandbox_info", {{"detail", "full"}}, tests::CallerOf({"basic", "filesystem"}))
          .object;
  EXPECT_EQ(info["combinations"], json::array());
}

TEST(Combinations, ACallersCeilingHoldsForEachOfThem) {
  tests::Tools tools(WithTiers());
  const auto message = [&](const char* profile, std::vector<std::string> permitted) {
    return tools
        .Call("validate_code", {{"code", "1"}, {"profile", profile}},
              tests::CallerOf(std::move(permitted)))
        .message;
  };
  EXPECT_EQ(message("filesystem+network", {"filesystem", "network"}), "");
  EXPECT_EQ(message("filesystem+network", {"network+filesystem"}), "");
  EXPECT_HOLDS(message("filesystem+network", {"basic", "filesystem"}),
               "may not use profile \"filesystem+network\"; it may use: basic, filesystem");
  EXPECT_HOLDS(message("network", {"network+filesystem"}), "may not use profile \"network\"");
}

// --- a call that names none
// --------------------------------------------------------------------------

TEST(WantedProfiles, ImportsAreFoundInTheText) {
  const profiles::ImportedNames found = profiles::FindImports(
      "import os, sys as s,json.decoder\nfrom a.b import (c,\n  d as e,\n)\n"
      "try: import f\nexcept ImportError: pass\nx = 1; import g\n  import h as i, j\n"
      "important = 1\n# import k\nfrom . import l\nimport\nfrom m imp");
  EXPECT_EQ(found.modules, (std::vector<std::string>{".", "a.b", "f", "g", "h", "j", "json.decoder",
                                                     "os", "sys"}));
  EXPECT_EQ(found.names, (std::vector<std::string>{"..l", "a.b.c", "a.b.d"}));
  using Alias = std::pair<std::string, std::string>;
  EXPECT_EQ(found.aliases, (std::vector<Alias>{{"e", "a.b.d"}, {"i", "h"}, {"s", "sys"}}));
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "import a" + std::to_string(i) + "\n";
  EXPECT_LE(profiles::FindImports(many).modules.size(), 501u);
  many.clear();
  for (int i = 0; i < 100'000; ++i) many += "import os as a" + std::to_string(i) + "\n";
  EXPECT_EQ(profiles::FindImports(many).aliases.size(), 500u);
}

// The server searches while others wait. If each line end led to a search of all that follow, one
// of these texts would take hours.
TEST(WantedProfiles, NoTextIsSearchedForLong) {
  const auto repeated = [](std::string_view unit) {
    std::string text = "import os\n";
    while (text.size() < 2'000'000) text += unit;
    return text;
  };
  core::Profile base, other;
  base.modules = {{"os", {"getenv"}}};
  other.modules = {{"os", {"getenv", "listdir"}}};
  for (const std::string_view unit :
       {"\n", " ", "\r\n\t ", ";", ":", ",", "(", ".", "a", "os.", "os.list", "import\n", "from\n",
        "from a import (\n", "import a as ", "open(", "open(0", "open( "}) {
    const std::string text = repeated(unit);
    const profiles::ImportedNames imports = profiles::FindImports(text);
    EXPECT_FALSE(imports.modules.empty()) << unit;
    EXPECT_FALSE(profiles::IsWanted(other, base, text, imports)) << unit;
    EXPECT_TRUE(profiles::IsWanted(other, base, text + "\nos.listdir()", imports)) << unit;
  }
}

TEST(WantedProfiles, OthersAreWantedOnlyByWhatImportsOrOpens) {
  for (const char* code : {"", "print(1)", "reopen('x')", "open(0).read()", "x.open('a')"})
    EXPECT_FALSE(profiles::MayWantOthers(code)) << code;
  for (const char* code :
       {"import math", "__import__('numpy')", "# important", "open('a')", "importlib"})
    EXPECT_TRUE(profiles::MayWantOthers(code)) << code;
}

TEST(WantedProfiles, NamesInCallsAreImports) {
  const profiles::ImportedNames found = profiles::FindImports(
      "__import__('a')\nimportlib.import_module( \"b.c\" )\nimport_module(name)\n__import__(f'd')");
  EXPECT_EQ(found.modules, (std::vector<std::string>{"a", "b.c"}));
}

// Profiles as a catalogue has them.
struct Tier : core::Profile {
  explicit Tier(const char* tier) {
    name = tier;
    if (name != "basic") tiers = {name};
  }
};

class UnnamedProfile : public testing::Test {
 protected:
  UnnamedProfile() {
    basic_.modules = {{"math", {"pi"}}};
    science_.modules = {{"numpy", {"array"}}};
    science_.packages = {{"data-science", {"numpy"}}};
    files_.modules = {{"pathlib", {"Path"}}};
    files_.workspace.emplace();
    network_.modules = {{"socket", {"socket"}}};
    network_.egress.emplace();
    full_.without_policy = true;
    full_.modules = {{"ctypes", {"CDLL"}}};
  }
  std::string For(const profiles::ProgramNeeds& needs) {
    return profiles::ProfileFor(needs,
                                {basic_, {&science_, &files_, &network_, &full_}, may_have_});
  }

  Tier basic_{"basic"}, science_{"data-science"}, files_{"filesystem"}, network_{"network"},
      full_{"full"};
  std::function<bool(const std::string&)> may_have_;
};

TEST_F(UnnamedProfile, IsWhatAProgramMayNeed) {
  EXPECT_EQ(For({.source = "print(1)"}), "basic");
  EXPECT_EQ(For({.source = "import math"}), "basic");
  EXPECT_EQ(For({.source = "import pathlib"}), "filesystem");
  EXPECT_EQ(For({.source = "import numpy"}), "data-science+filesystem") << "it may take a path";
  EXPECT_EQ(For({.source = "1", .modules = {"numpy"}}), "data-science+filesystem");
  EXPECT_EQ(For({.source = "1", .files = true}), "filesystem");
  EXPECT_EQ(For({.source = "1", .hosts = true}), "network");
  EXPECT_EQ(For({.source = "x = 1", .continues = true}), "data-science+filesystem");
  EXPECT_EQ(For({.source = "x = 1", .hosts = true, .continues = true}),
            "data-science+filesystem+network");
}

TEST_F(UnnamedProfile, GetsNoNetworkAndNoFreedomByItsText) {
  for (const bool continues : {false, true}) {
    const std::string name =
        For({.source = "import socket, ctypes\nsocket.socket()", .continues = continues});
    EXPECT_EQ(name.find("network"), std::string::npos) << name;
    EXPECT_EQ(name.find("full"), std::string::npos) << name;
  }
}

TEST_F(UnnamedProfile, IsNoMoreThanItsCallerMayHave) {
  may_have_ = [](const std::string& name) { return name.find('+') == std::string::npos; };
  EXPECT_EQ(For({.source = "import pathlib, numpy"}), "data-science") << "the first first";
  may_have_ = [](const std::string& name) { return name == "data-science+filesystem"; };
  EXPECT_EQ(For({.source = "import numpy"}), "data-science+filesystem") << "only together";
  EXPECT_EQ(For({.source = "open('a')"}), "basic");
  may_have_ = [](const std::string&) { return false; };
  for (const bool some : {false, true}) {
    EXPECT_EQ(
        For({.source = "import numpy, pathlib", .files = some, .hosts = some, .continues = some}),
        "basic");
  }
}

TEST(WantedProfiles, ASessionHasAllThatItsCellsMayUse) {
  tests::Tools tools(WithTiers());
  const auto opened = [&](const Caller& caller) {
    return tools.Call("open_session", json::object(), caller).object["profile"];
  };
  EXPECT_EQ(opened({}), "filesystem");
  EXPECT_EQ(opened(tests::CallerOf({"basic"})), "basic");
  EXPECT_EQ(opened(tests::CallerOf({"network+filesystem"})), "filesystem+network");
  const json cell = tools.Call("execute_code", {{"code", "x = 1"}, {"session", "new"}}).object;
  EXPECT_EQ(tools.books().Take().back().profile, "filesystem");
  EXPECT_EQ(tools
                .Call("execute_code", {{"code", "open('a', 'w').write('b') + x"},
                                       {"session", cell["session"]["id"]}})
                .object["result"],
            2);
}

TEST(WantedProfiles, ATokenWithACombinationAloneHasIt) {
  tests::Tools tools(WithTiers());
  (void)tools.Call("execute_code", {{"code", "1"}}, tests::CallerOf({"network+filesystem"}));
  EXPECT_EQ(tools.books().Take().back().profile, "filesystem+network");
}

TEST(WantedProfiles, ModulesThatAreGivenAreOfTheProgram) {
  tests::Tools tools(WithTiers());
  const json files = {
      {{"path", "helper.py"}, {"text", "import pathlib\nhere = pathlib.Path('.')"}}};
  EXPECT_EQ(
      tools
          .Call("execute_code", {{"code", "import helper\nhelper.here.exists()"}, {"files", files}})
          .object["result"],
      true);
}

TEST(WantedProfiles, TheOperatorsListIsNamedAsTheirs) {
  ExecutionConfig config = WithTiers();
  config.allowed_imports = {"math"};
  tests::Tools tools(config);
  const auto hint = [&](json arguments) {
    return tools.Call("execute_code", std::move(arguments))
        .object["error"]["hint"]
        .get<std::string>();
  };
  EXPECT_EQ(hint({{"code", "import json"}}),
            "The operator's execution.allowed_imports leaves it out.");
  EXPECT_HOLDS(hint({{"code", "import json"}, {"allowed_imports", {"math"}}}), "allowed_imports,");
}

TEST(WantedProfiles, WhoCannotNameOneIsNotToldTo) {
  tests::Tools tools(WithTiers());
  ToolCall call;
  call.arguments = {{"code", "import tempfile"}, {"profile", "basic"}};
  call.profile_setting = "fronts.piston";
  const tests::Answered answer = tools.CallWith("execute_code", call);
  const std::string hint = answer.object["error"]["hint"];
  EXPECT_HOLDS(hint, "An operator allows it with fronts.piston = \"filesystem\".");
  EXPECT_EQ(hint.find("Send"), std::string::npos);
}

TEST(WantedProfiles, ACallThatNamesNoneGetsWhatItsCodeUses) {
  tests::Tools tools(WithTiers());
  const auto profile_of = [&](const char* code) {
    return tools.Call("validate_code", {{"code", code}}).object["profile"].get<std::string>();
  };
  for (const char* code :
       {"1", "import math, os\nos.getenv('A')", "open(0).read()", "reopen('x')", "import numpy",
        "from os.path import join", "import pathlib\npathlib.PurePath('a')",
        "import pathlib as p\nq.Path"}) {
    EXPECT_EQ(profile_of(code), "basic") << code;
  }
  for (const char* code :
       {"import tempfile", "from zipfile import ZipFile", "import pathlib\npathlib.Path('a')",
        "from pathlib import Path", "from pathlib import PurePath, Path as P",
        "from pathlib import *", "import pathlib as p\np.Path('a')",
        "from os import path as p\np.exists('a')", "try:\n  import shutil\nfinally: pass",
        "import os\nos.listdir()", "from os import getenv, makedirs",
        "import os.path as p, tempfile", "import os\nos.path.exists('a')",
        "with open('a') as f: pass"}) {
    EXPECT_EQ(profile_of(code), "filesystem") << code;
  }
}

TEST(WantedProfiles, TheTextGivesNoNetworkAndTheArgumentsDo) {
  ExecutionConfig config = WithTiers();
  config.network.allowed_domains = {"example.org"};
  tests::Tools tools(config);
  const auto profile_of = [&](const json& arguments) {
    (void)tools.Call("execute_code", arguments);
    return tools.books().Take().back().profile;
  };
  EXPECT_EQ(profile_of({{"code", "import urllib.request"}}), "basic");
  EXPECT_EQ(profile_of({{"code", "1"}, {"allowed_domains", {"example.org"}}}), "network");
  EXPECT_EQ(profile_of({{"code", "1"}, {"files", {{{"path", "a"}, {"text", "b"}}}}}), "filesystem");
  EXPECT_EQ(profile_of({{"code", "open('a')"}, {"allowed_domains", {"example.org"}}}),
            "filesystem+network");
}

TEST(WantedProfiles, NoCallGetsMoreThanItMayName) {
  tests::Tools tools(WithTiers());
  const json code = {{"code", "import pathlib\npathlib.Path('a').write_text('b')"}};
  EXPECT_EQ(tools.Call("execute_code", code).object["result"], 1);
  const tests::Answered answer = tools.Call("execute_code", code, tests::CallerOf({"basic"}));
  EXPECT_EQ(answer.object["status"], "refused");
  EXPECT_HOLDS(answer.object["error"]["hint"].get<std::string>(), "This caller may not use it");
  EXPECT_HOLDS(tests::Execute(code).object["error"]["hint"].get<std::string>(),
               "It is not enabled on this server");
}

TEST(WantedProfiles, ARefusalNamesTheArgument) {
  tests::Tools tools(WithTiers());
  const auto hint = [&](const char* code, const char* profile) {
    return tools.Call("execute_code", {{"code", code}, {"profile", profile}})
        .object["error"]["hint"]
        .get<std::string>();
  };
  EXPECT_HOLDS(hint("import tempfile", "basic"), "Send \"profile\": \"filesystem\".");
  EXPECT_HOLDS(hint("open('a')", "network"), "Send \"profile\": \"filesystem+network\".");
}

TEST(WantedProfiles, WithoutCombinationsTheDefaultIsCombinedWithNothing) {
  ExecutionConfig config = WithTiers(0);
  config.profile = "network";
  tests::Tools tools(config);
  EXPECT_EQ(tools.Call("validate_code", {{"code", "import tempfile"}}).object["profile"],
            "network");
}

TEST(ToolProfiles, DomainsOnlyNarrowWhatTheOperatorAllows) {
  ExecutionConfig config = WithTiers();
  config.network.allowed_domains = {"*.example.org", "example.com:8443"};
  tests::Tools tools(config);
  const json info = tools.Call("get_sandbox_info", {{"detail", "full"}}).object;
  EXPECT_EQ(info["security_profiles"]["network"]["network"]["allowed_domains"],
            json::array({"*.example.org", "example.com:8443"}));
  const auto answer = [&](json domains) {
    return tools.Call("execute_code",
                      {{"code", "1"}, {"profile", "network"}, {"allowed_domains", domains}});
  };
  EXPECT_FALSE(answer(json::array({"api.example.org"})).is_error);
  EXPECT_FALSE(answer(json::array()).is_error);
  for (const char* wrong : {"elsewhere.net", "*", "*.org", "example.com", ""}) {
    EXPECT_HOLDS(answer(json::array({wrong})).message, "execute_code: allowed_domains: ");
  }
  EXPECT_HOLDS(answer(json::array({"https://api.example.org/"})).message,
               "write the host alone: no https://, no path");
}

TEST(ToolProfiles, FilesWithoutAWorkspaceNameAProfileThatHasOne) {
  tests::Tools tools(WithTiers());
  const auto message = [&](const char* profile, const Caller& caller) {
    const json files = json::array({{{"path", "a"}, {"text", "x"}}});
    return tools
        .Call("execute_code", {{"code", "1"}, {"profile", profile}, {"files", files}}, caller)
        .message;
  };
  EXPECT_HOLDS(message("basic", {}),
               "profile basic has no workspace; use one that has: filesystem");
  EXPECT_HOLDS(message("network", {}), "use one that has: filesystem+network.");
  EXPECT_HOLDS(message("network", tests::CallerOf({"network"})),
               "no profile that this caller may use");
}

TEST(Combinations, AnOperatorMayForbidThem) {
  tests::Tools tools(WithTiers(0));
  const tests::Answered answer =
      tools.Call("execute_code", {{"code", "1"}, {"profile", "filesystem+network"}});
  EXPECT_HOLDS(answer.message, "allows one profile per call");
  EXPECT_HOLDS(answer.message, "BELLJAR_EXECUTION_COMBINATIONS");
}

TEST(Combinations, OnlySoManyAreKept) {
  ExecutionConfig config = WithTiers(1);
  config.profiles.push_back("data-science");
  tests::Tools tools(config);
  EXPECT_EQ(tools.sandboxes().combinations().size(), 4u);
  const auto started = [&] {
    std::vector<std::string> names;
    for (const Sandboxes::Counted& each : tools.sandboxes().counters()) {
      if (each.profile != "basic") names.push_back(each.profile);
    }
    return names;
  };
  const auto use = [&](const std::string& name) {
    const core::Result<const EnabledProfile*> chosen = tools.sandboxes().Choose(&name, {});
    if (!chosen) throw std::runtime_error(chosen.error().ToString());
    return *tools.sandboxes().Get(**chosen);
  };
  const std::shared_ptr<outside::Sandbox> first = use("network+filesystem");
  EXPECT_EQ(use("filesystem+network"), first) << "started once";
  EXPECT_EQ(started(), std::vector<std::string>{"filesystem+network"});
  use("data-science+network");
  EXPECT_EQ(started(), std::vector<std::string>{"data-science+network"});
  host::Request request;
  request.source = "6 * 7";
  request.limits = first->profile().default_limits;
  const core::Result<host::Outcome> outcome = first->Run(request);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "42") << "who still holds it can finish";
  EXPECT_NE(use("filesystem+network"), first) << "a new one";
}

TEST(Sandboxes, AnOperatorsMistakesAreNamedAtTheStart) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  ASSERT_TRUE(catalogue.ok());
  const auto error_of = [&](const std::function<void(ExecutionConfig&)>& change) {
    ExecutionConfig config;
    change(config);
    const auto opened = Sandboxes::Open(config, *catalogue);
    return opened ? std::string("it opened") : opened.error().ToString();
  };
  EXPECT_HOLDS(error_of([](auto& c) { c.allowed_imports = {"maths"}; }),
               "no enabled profile has a module \"maths\"; did you mean \"math\"?");
  EXPECT_HOLDS(error_of([](auto& c) { c.profile = "basik"; }), "did you mean \"basic\"?");
  EXPECT_HOLDS(error_of([](auto& c) { c.timeout = std::chrono::hours(1); }),
               "exceeds the profile's maximum of 300s");
  EXPECT_HOLDS(error_of([](auto& c) { c.profiles = {"basic", "basic"}; }), "already");
  EXPECT_HOLDS(error_of([](auto& c) {
                 c.policy = "off";
                 c.allowed_imports = {"math"};
               }),
               "remove one of the two");
}

TEST(Sandboxes, AnOperatorsSettingsHoldForEveryCall) {
  ExecutionConfig config;
  config.spares = 1;
  config.timeout = std::chrono::seconds(7);
  config.memory = core::Bytes::Mebi(96);
  config.output = core::Bytes::Kibi(4);
  config.allowed_imports = {"math", "html.parser"};
  tests::Tools tools(config);
  const json limits =
      tools.Call("execute_code", {{"code", "1"}, {"detail", "full"}}).object["limits"];
  EXPECT_EQ(limits["timeout"], 7.0);
  EXPECT_EQ(limits["memory_bytes"], 96 << 20);
  EXPECT_EQ(limits["output_bytes"], 4096);
  const auto status_of = [&](const char* code, json imports) {
    json arguments = {{"code", code}};
    if (!imports.is_null()) arguments["allowed_imports"] = imports;
    const tests::Answered answer = tools.Call("execute_code", arguments);
    return answer.object.is_null() ? answer.message : answer.object["status"].get<std::string>();
  };
  EXPECT_EQ(status_of("import math, html.parser", nullptr), "ok");
  EXPECT_EQ(status_of("import json", nullptr), "refused");
  EXPECT_EQ(status_of("import html.entities", nullptr), "refused");
  EXPECT_HOLDS(status_of("1", json::array({"json"})), "has no module \"json\"");
  // A caller's wider name brings in no more than the operator's list.
  EXPECT_EQ(status_of("import html.entities", json::array({"html"})), "refused");
  EXPECT_EQ(status_of("import html.parser", json::array({"html"})), "ok");
  EXPECT_EQ(tools.Call("validate_code", {{"code", "import json"}}).object["validation"]["valid"],
            false);
  const json info = tools.Call("get_sandbox_info", {{"detail", "full"}}).object;
  EXPECT_EQ(info["security_profiles"]["basic"]["modules"],
            json::array({"html", "html.parser", "math"}));
  EXPECT_EQ(info["resource_limits"]["timeout"], 7);
  EXPECT_EQ(info["resource_limits"]["memory_limit"], "96m");
  ASSERT_EQ(tools.sandboxes().counters().size(), 1u);
  EXPECT_EQ(tools.sandboxes().counters()[0].profile, "basic");
  EXPECT_GE(tools.sandboxes().counters()[0].counters.workers_spawned, 1u);
}

// An operator's own file: basic under another name, with less of everything.
std::string WriteOwnProfile(const std::string& folder) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  std::ifstream shipped(catalogue->installation().profiles + "/basic.toml");
  std::string text((std::istreambuf_iterator<char>(shipped)), std::istreambuf_iterator<char>());
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("name = \"basic\"", "name = \"own\"");
  replace("default = \"30s\"\nmax = \"300s\"", "default = \"2s\"\nmax = \"5s\"");
  replace("max = \"4g\"", "max = \"256m\"");
  const std::string path = folder + "/own.toml";
  std::ofstream(path) << text;
  return path;
}

TEST(Sandboxes, AnotherProfileStartsWhenItIsFirstUsed) {
  ExecutionConfig config;
  config.spares = 1;
  config.profiles = {"basic", WriteOwnProfile(testing::TempDir())};
  tests::Tools tools(config);
  EXPECT_EQ(tools.sandboxes().counters().size(), 1u);
  const json info = tools.Call("get_sandbox_info", {{"detail", "full"}}).object;
  EXPECT_EQ(info["security_profiles"]["own"]["enabled"], true);
  EXPECT_EQ(info["security_profiles"]["own"]["limits"]["maximum"]["timeout"], 5.0);

  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      ToolCall call;
      call.arguments = {{"code", "6 * 7"}, {"profile", "own"}};
      const core::Result<ToolResult> result = tools.Get("execute_code").Call(call);
      if (result && json::parse(result->structured)["result"] == 42) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  ASSERT_EQ(tools.sandboxes().counters().size(), 2u);
  EXPECT_EQ(tools.sandboxes().counters()[1].counters.zygotes_started, 1u) << "once for all";

  const auto message = [&](json arguments) {
    arguments["code"] = "1";
    arguments["profile"] = "own";
    return tools.Call("execute_code", arguments).message;
  };
  EXPECT_HOLDS(message({{"timeout", 6}}), "timeout is 6s; the maximum of profile own is 5s");
  EXPECT_HOLDS(message({{"memory_limit", "1g"}}), "memory_limit is 1g; the maximum of profile own");
  EXPECT_EQ(tools.Call("execute_code", {{"code", "1"}, {"timeout", 6}}).message, "");
  // A caller who may not use the default profile gets the first that is theirs.
  const tests::Answered theirs =
      tools.Call("execute_code", {{"code", "1"}, {"detail", "full"}}, tests::CallerOf({"own"}));
  EXPECT_EQ(theirs.object["limits"]["timeout"], 2.0);
  (void)tools.books().Take();
  const json basic = {{"code", "1"}, {"profile", "basic"}};
  EXPECT_HOLDS(tools.Call("execute_code", basic, tests::CallerOf({"own"})).message,
               "it may use: own");
  EXPECT_TRUE(tools.books().Take().empty());
}

// A profile that brings two sets of packages, of which one cannot be there.
std::string WriteProfileWithoutItsPackages(const std::string& folder) {
  const std::string path = folder + "/lacking.toml";
  std::ofstream(path) << R"(
schema = 1
name = "lacking"
extends = "basic"
summary = "For a test."

[packages.not-installed]
why = "for a test"
modules = ["no_such_package"]

[modules."no_such_package.part"]
why = "for a test"
exports = ["x"]
)";
  return path;
}

TEST(SandboxInfoOfProfiles, WhatIsEnabledIsTheOperatorsAndWhatIsAvailableTheInstallations) {
  ExecutionConfig config;
  config.spares = 1;
  config.profiles = {"basic", "filesystem", WriteProfileWithoutItsPackages(testing::TempDir())};
  tests::Tools tools(config);
  const json profiles = tools
                            .Call("get_sandbox_info", {{"detail", "full"}},
                                  tests::CallerOf({"filesystem", "lacking"}))
                            .object["security_profiles"];
  EXPECT_EQ(profiles["filesystem"]["enabled"], true);
  EXPECT_EQ(profiles["filesystem"]["available"], true) << "it needs no packages";
  EXPECT_EQ(profiles["basic"]["enabled"], false) << "not for this caller";
  EXPECT_EQ(profiles["basic"]["available"], true);
  const json& lacking = profiles["lacking"];
  EXPECT_EQ(lacking["enabled"], true) << "it starts none the less";
  EXPECT_EQ(lacking["available"], false);
  EXPECT_EQ(lacking["missing"][0]["modules"], json::array({"no_such_package"}));
  EXPECT_HOLDS(lacking["missing"][0]["command"].get<std::string>(), "not-installed.txt");
  const auto lists = [](const json& profile, const char* module) {
    const json& modules = profile["modules"];
    return std::find(modules.begin(), modules.end(), module) != modules.end();
  };
  EXPECT_TRUE(lists(lacking, "math"));
  EXPECT_FALSE(lists(lacking, "no_such_package.part")) << "it cannot be imported";
  EXPECT_EQ(
      tools.Call("execute_code", {{"code", "6 * 7"}, {"profile", "lacking"}}).object["result"], 42);
}

TEST(ToolProfiles, ARefusedModuleIsNamedWithWhoCanChangeThat) {
  const auto hints_of = [](tests::Tools& tools, const Caller& caller) {
    const json outcome =
        tools
            .Call("execute_code",
                  {{"code", "import shutil"}, {"profile", "basic"}, {"detail", "full"}}, caller)
            .object;
    EXPECT_EQ(outcome["findings"][0]["profile"], "filesystem");
    EXPECT_EQ(outcome["error"]["hint"], outcome["findings"][0]["hint"]);
    const json judged =
        tools.Call("validate_code", {{"code", "import shutil"}, {"profile", "basic"}}, caller)
            .object;
    EXPECT_EQ(judged["findings"][0]["hint"], outcome["findings"][0]["hint"]);
    return outcome["findings"][0]["hint"].get<std::string>();
  };
  EXPECT_HOLDS(hints_of(tests::Shared(), {}),
               "It is not enabled on this server: an operator enables it with "
               "SANDBOX_ENABLE_FILESYSTEM=true");
  tests::Tools tools(WithTiers());
  EXPECT_HOLDS(hints_of(tools, tests::CallerOf({"basic"})), "This caller may not use it");
  const std::string theirs = hints_of(tools, {});
  EXPECT_EQ(theirs.find("an operator"), std::string::npos) << theirs;
}

TEST(Sandboxes, ThePolicyIsTheOperators) {
  ExecutionConfig config;
  config.spares = 1;
  config.policy = "off";
  tests::Tools tools(config);
  const tests::Answered answer = tools.Call("execute_code", {{"code", "eval('6 * 7')"}});
  EXPECT_EQ(answer.object["result"], 42);
  EXPECT_EQ(answer.object["isolation"]["policy"], "off");
  EXPECT_HOLDS(tools.Call("execute_code", {{"code", "1"}, {"allowed_imports", {"math"}}}).message,
               "which is disabled on this server");
}

}  // namespace
}  // namespace belljar::server::tools::tool_profiles_test
