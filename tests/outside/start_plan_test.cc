// How a run gets its worker: what is planned, and what that means.
#include "engine/outside/start_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace belljar::outside::start_plan_test {
namespace {

using StringList = std::vector<std::string>;

TEST(NamedModules, AreTheWordsOfTheTextThatAProfileHas) {
  core::Profile profile;
  for (const char* name : {"inspect", "math", "os.path", "profile", "xml.etree.ElementTree"}) {
    profile.modules.push_back({name, {}});
  }
  profile.packages.push_back({"set", {"pandas"}});
  const auto named = [&](std::string_view source) { return NamedModules(profile, source); };
  EXPECT_EQ(named(""), StringList());
  EXPECT_EQ(named("import math"), StringList({"math"}));
  EXPECT_EQ(named("math"), StringList({"math"}));
  EXPECT_EQ(named("# pandas or 'os'"), StringList({"os", "pandas"}));
  EXPECT_EQ(named("from xml.etree import ElementTree as xml"), StringList({"xml"}));
  EXPECT_EQ(named("mathe, aftermath, math_, os2, path = socket"), StringList());
  EXPECT_EQ(named("\xc3\xa9math\xff\0os"), StringList({"math"})) << "the rest is not text";
  EXPECT_EQ(named(std::string_view("math\0os", 7)), StringList({"math", "os"}));
  EXPECT_EQ(named("help(len); helper"), StringList({"inspect"})) << "which help() needs";
  EXPECT_EQ(named("profile = {}  # of math"), StringList({"math"})) << "a word of everyday use";
  EXPECT_EQ(named("import profile"), StringList({"profile"}));
  EXPECT_EQ(named("from profile import run"), StringList({"profile"}));
}

host::Request Program(std::string source = "pass") {
  host::Request request;
  request.source = std::move(source);
  return request;
}

const Names kLacks = {"scipy", "PIL"};
constexpr StartPlan kFromSpare{};
const StartPlan kFromLight{WorkerSource::kLightSpare, WorkerSource::kSpare, true};

TEST(PlanStart, TakesASpareIfThereIsNothingElse) {
  EXPECT_EQ(PlanStart(Program(), {}), kFromSpare);
  EXPECT_EQ(PlanStart(Program("import scipy"), {}), kFromSpare);
}

TEST(PlanStart, TakesALightSpareForWhatNamesNothingElseAsAWord) {
  const Ways ways{.light_lacks = &kLacks};
  for (const char* source : {"scipy", "import scipy.stats", "'PIL'", "(scipy)"}) {
    EXPECT_EQ(PlanStart(Program(source), ways), kFromSpare) << source;
  }
  for (const char* source : {"", "scipy2", "_scipy", "pil", "SPIL"}) {
    EXPECT_EQ(PlanStart(Program(source), ways), kFromLight) << source;
  }
}

TEST(PlanStart, TakesItsOwnZygoteWhereThatIsReadySooner) {
  EXPECT_EQ(PlanStart(Program(), {.own_named = true, .light_lacks = &kLacks}),
            (StartPlan{WorkerSource::kOwnNamed, WorkerSource::kSpare}));
  EXPECT_EQ(PlanStart(Program(), {.whole = WorkerSource::kOwn, .own_named = true}),
            (StartPlan{WorkerSource::kOwnNamed, WorkerSource::kOwn}));
  EXPECT_EQ(PlanStart(Program(), {.whole = WorkerSource::kOwn}),
            (StartPlan{WorkerSource::kOwn, {}}));
}

TEST(PlanStart, HasAllModulesForWhatCannotStartOver) {
  Ways ways{.own_named = true, .light_lacks = &kLacks};
  host::Request calls = Program();
  calls.functions = {"ask"};
  host::Request validates = Program();
  validates.mode = host::Request::Mode::kValidate;
  for (const host::Request& request : {calls, validates}) {
    EXPECT_EQ(PlanStart(request, ways), kFromSpare);
  }
  ways.has_network = true;
  EXPECT_EQ(PlanStart(Program(), ways), kFromSpare);
  ways.whole = WorkerSource::kOwn;
  EXPECT_EQ(PlanStart(calls, ways), (StartPlan{WorkerSource::kOwn, {}}));
}

TEST(PlanStart, MayStartOverWhatOnlyAsksForInput) {
  const Ways ways{.own_named = true};
  host::Request asks = Program("input()");
  asks.functions = {std::string(host::kAsksInput)};
  EXPECT_EQ(PlanStart(asks, ways), (StartPlan{WorkerSource::kOwnNamed, WorkerSource::kSpare}));
  asks.functions.emplace_back("ask");
  EXPECT_EQ(PlanStart(asks, ways), kFromSpare);
}

TEST(ZygoteFor, HasWhatItsSourceSays) {
  SandboxOptions options;
  options.profile.modules.push_back({"math", {}});
  options.profile.packages.push_back({"set", {"numpy", "scipy"}});
  options.profile.light_packages = {"numpy"};
  const auto kind = [&](WorkerSource source) { return ZygoteFor(source, options, "math, scipy"); };
  EXPECT_FALSE(kind(WorkerSource::kSpare).single_run);
  EXPECT_FALSE(kind(WorkerSource::kSpare).modules);
  EXPECT_FALSE(kind(WorkerSource::kLightSpare).single_run);
  EXPECT_EQ(kind(WorkerSource::kLightSpare).modules, StringList({"numpy"}));
  EXPECT_TRUE(kind(WorkerSource::kOwn).single_run);
  EXPECT_FALSE(kind(WorkerSource::kOwn).modules);
  EXPECT_TRUE(kind(WorkerSource::kOwnNamed).single_run);
  EXPECT_EQ(kind(WorkerSource::kOwnNamed).modules, StringList({"math", "scipy"}));
  options.policy = Policy::kOff;
  EXPECT_EQ(kind(WorkerSource::kLightSpare).modules, StringList({"numpy", "*"}));
  EXPECT_EQ(kind(WorkerSource::kOwnNamed).modules, StringList({"math", "scipy", "*"}));
  options.single_run = true;
  EXPECT_TRUE(kind(WorkerSource::kSpare).single_run);
}

// What the runs of a plan give, in order; what they were, is noted.
class Runs {
 public:
  explicit Runs(std::vector<core::Result<host::Outcome>> outcomes)
      : outcomes_(std::move(outcomes)) {}

  core::Result<host::Outcome> CarryOut(const StartPlan& plan) {
    return outside::CarryOut(plan, {}, [this](WorkerSource source, const run::RunOptions&) {
      sources.push_back(source);
      return outcomes_.at(sources.size() - 1);
    });
  }
  std::vector<WorkerSource> sources;

 private:
  const std::vector<core::Result<host::Outcome>> outcomes_;
};

TEST(CarryOut, StartsOverWhereThePlanSaysSo) {
  const core::Error failure = core::MakeError("run", "it was killed");
  const core::Error needs_more = core::WithCause(core::Cause::kStartOver, failure);
  const StartPlan early{WorkerSource::kOwnNamed, WorkerSource::kSpare};
  using Sources = std::vector<WorkerSource>;
  Runs done({host::Outcome()});
  EXPECT_TRUE(done.CarryOut(early));
  EXPECT_EQ(done.sources, Sources({WorkerSource::kOwnNamed}));
  Runs more({needs_more, host::Outcome()});
  EXPECT_TRUE(more.CarryOut(early));
  EXPECT_EQ(more.sources, Sources({WorkerSource::kOwnNamed, WorkerSource::kSpare}));
  Runs fails({failure, host::Outcome()});
  EXPECT_FALSE(fails.CarryOut(early));
  EXPECT_EQ(fails.sources, Sources({WorkerSource::kOwnNamed}));
  Runs light({failure, host::Outcome()});
  EXPECT_TRUE(light.CarryOut(kFromLight));
  EXPECT_EQ(light.sources, Sources({WorkerSource::kLightSpare, WorkerSource::kSpare}));
  Runs only({needs_more, host::Outcome()});
  EXPECT_FALSE(only.CarryOut(kFromSpare)) << "once only";
  EXPECT_EQ(only.sources, Sources({WorkerSource::kSpare}));
}

}  // namespace
}  // namespace belljar::outside::start_plan_test
