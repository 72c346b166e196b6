// The published examples of the server that these tools take the place of: each works here, with at
// least the fields that its page shows.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/server/tools_support.h"

namespace belljar::server::tools::published_examples_test {
namespace {

using nlohmann::json;

TEST(PublishedExamples, BasicExecution) {
  const json object = tests::Execute({{"code", "result = 2 + 2\nprint(f'The answer is: {result}')"},
                                      {"timeout", 10},
                                      {"capture_output", true}})
                          .object;
  EXPECT_EQ(object["success"], true);
  EXPECT_FALSE(object["execution_id"].get<std::string>().empty());
  EXPECT_EQ(object["result"], 4);
  EXPECT_EQ(object["stdout"], "The answer is: 4\n");
  EXPECT_EQ(object["stderr"], "");
  EXPECT_GT(object["execution_time"], 0.0);
  EXPECT_EQ(object["variables"], json::array({"result"}));
}

TEST(PublishedExamples, DataAnalysis) {
  const json object = tests::Execute({{"code",
                                       "import math\ndata = [1, 2, 3, 4, 5]\nresult = sum(data) / "
                                       "len(data)\nprint(f'Average: {result}')"},
                                      {"allowed_imports", {"math"}},
                                      {"timeout", 15}})
                          .object;
  EXPECT_EQ(object["result"], 3.0);
  EXPECT_EQ(object["stdout"], "Average: 3.0\n");
}

TEST(PublishedExamples, Validation) {
  const json object = tests::Validate({{"code", "import os\nos.system('ls')"}}).object;
  EXPECT_EQ(object["validation"],
            (json{{"valid", false},
                  {"errors", {"Line 2: module 'os' has no 'system' in profile 'basic'"}},
                  {"message", "Code contains restricted operations"}}));
  EXPECT_EQ(object["analysis"]["line_count"], 2);
  EXPECT_EQ(object["analysis"]["character_count"], 25);
  EXPECT_EQ(object["analysis"]["estimated_complexity"], "low");
  EXPECT_EQ(object["recommendations"][0],
            "Some operations may be restricted in sandbox environment");
  EXPECT_EQ(tests::Validate({{"code", "import os; os.system('ls')"}}).object["validation"]["valid"],
            false);
}

TEST(PublishedExamples, Programs) {
  const struct {
    const char* code;
    json result;
    const char* printed;
  } kPrograms[] = {
      {"\ndef fibonacci(n):\n    if n <= 1:\n        return n\n    return fibonacci(n-1) + "
       "fibonacci(n-2)\nresult = [fibonacci(i) for i in range(10)]\nprint(\"Fibonacci sequence:\", "
       "result)\n",
       {0, 1, 1, 2, 3, 5, 8, 13, 21, 34},
       "Fibonacci sequence: [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]\n"},
      {"\nimport statistics\ndata = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nmean = statistics.mean(data)\n"
       "median = statistics.median(data)\nstdev = statistics.stdev(data)\nresult = {\n    'mean': "
       "mean,\n    'median': median,\n    'std_dev': stdev\n}\nprint(f\"Statistics: {result}\")\n",
       {{"mean", 5.5}, {"median", 5.5}, {"std_dev", 3.0276503540974917}},
       "Statistics: {'mean': 5.5, 'median': 5.5, 'std_dev': 3.0276503540974917}\n"},
      {"\ndef bubble_sort(arr):\n    n = len(arr)\n    for i in range(n):\n        for j in "
       "range(0, n-i-1):\n            if arr[j] > arr[j+1]:\n                arr[j], arr[j+1] = "
       "arr[j+1], arr[j]\n    return arr\ntest_data = [64, 34, 25, 12, 22, 11, 90]\nresult = "
       "bubble_sort(test_data.copy())\nprint(f\"Sorted: {result}\")\n",
       {11, 12, 22, 25, 34, 64, 90},
       "Sorted: [11, 12, 22, 25, 34, 64, 90]\n"},
      {"\nimport math\ndef calculate_pi_leibniz(terms):\n    pi_approx = 0\n    for i in "
       "range(terms):\n        pi_approx += ((-1) ** i) / (2 * i + 1)\n    return pi_approx * 4\n"
       "result = calculate_pi_leibniz(1000)\nprint(f\"Pi approximation: {result}\")\n"
       "print(f\"Difference from math.pi: {abs(result - math.pi)}\")\n",
       3.140592653839794,
       "Pi approximation: 3.140592653839794\nDifference from math.pi: 0.000999999749998981\n"},
      {"print('Hello, World!')", nullptr, "Hello, World!\n"},
      {"result = sum(range(10))", 45, ""},
      {"import math; print(math.pi)", nullptr, "3.141592653589793\n"},
  };
  for (const auto& program : kPrograms) {
    const tests::Answered answer = tests::Execute({{"code", program.code}, {"timeout", 5}});
    EXPECT_FALSE(answer.is_error) << program.code << answer.object["error"];
    EXPECT_EQ(answer.object["result"], program.result) << program.code;
    EXPECT_EQ(answer.object["stdout"], program.printed) << program.code;
  }
}

TEST(PublishedExamples, Capabilities) {
  const json info = tests::Info({{"detail", "full"}}).object;
  const auto has = [&](const char* profile, std::vector<std::string> wanted) {
    const json& modules = info["security_profiles"][profile]["modules"];
    for (const std::string& module : wanted) {
      const bool found = std::any_of(modules.begin(), modules.end(), [&](const json& name) {
        return name == module || name.get<std::string>().starts_with(module + ".");
      });
      EXPECT_TRUE(found) << profile << " " << module;
    }
  };
  has("basic", {"math", "random", "datetime", "json", "base64"});
  has("data_science", {"numpy", "pandas", "scipy", "matplotlib"});
  has("network", {"httpx", "requests", "urllib"});
  has("filesystem", {"pathlib", "tempfile", "shutil"});
  // Every module that the page promises without any switch.
  has("basic",
      {"math",         "random",    "statistics",  "decimal",  "fractions",   "collections",
       "itertools",    "functools", "heapq",       "bisect",   "string",      "textwrap",
       "re",           "difflib",   "unicodedata", "base64",   "binascii",    "hashlib",
       "hmac",         "secrets",   "json",        "csv",      "html.parser", "xml.etree",
       "urllib.parse", "datetime",  "uuid",        "calendar", "dataclasses", "enum",
       "typing"});
  EXPECT_EQ(info["container_mode"]["enabled"], false);
}

}  // namespace
}  // namespace belljar::server::tools::published_examples_test
