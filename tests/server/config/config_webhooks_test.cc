// [[webhooks]] and [tracing]: what they mean, what is refused, and that no secret is shown.
#include <gtest/gtest.h>

#include "engine/host/base64.h"
#include "tests/server/config_support.h"

namespace belljar::server::config::config_webhooks_test {
namespace {

using std::chrono::milliseconds;

constexpr char kKey[] = "a key of thirty-two random bytes";

std::string Secret() { return "whsec_" + host::EncodeBase64(kKey); }

class ConfigWebhooks : public tests::Config {
 protected:
  ConfigWebhooks() { TokenFile(Secret() + "\n", 0600, "s"); }
  // A webhook named "a", with these lines, is refused with these words.
  void ExpectWrong(const std::string& lines, const tests::Strings& parts) {
    ExpectTomlRefused("[[webhooks]]\nname = \"a\"\n" + lines, parts);
    EXPECT_EQ(Refusal().find(Secret()), std::string::npos);
  }
};

constexpr char kUrl[] = "url = \"http://127.0.0.1:8080/hook\"\n";
constexpr char kFile[] = "file = \"s\"\n";

TEST_F(ConfigWebhooks, AreRead) {
  Set("BELLJAR_HOOK", Secret());
  TokenFile(tests::kSecret, 0600, "t");
  Toml(std::string("[[tokens]]\nname = \"team\"\nfile = \"t\"\n[[webhooks]]\nname = \"a\"\n") +
       kUrl + kFile +
       "[[webhooks]]\nname = \"b\"\nurl = \"http://10.1.2.3/x?y=z\"\nenv = \"BELLJAR_HOOK\"\n"
       "events = [\"execution.*\", \"session.closed\", \"job.ended\"]\ntokens = [\"team\"]\n"
       "allow_private = [\"10.1.0.0/16\"]\nattempts = 3\ntimeout = 1.5\n");
  const LoadedConfig loaded = Load();
  EXPECT_TRUE(loaded.warnings.empty());
  ASSERT_EQ(loaded.config.webhooks.size(), 2u);
  const WebhookConfig& a = loaded.config.webhooks[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.url, "http://127.0.0.1:8080/hook");
  EXPECT_EQ(a.secret, kKey);
  EXPECT_TRUE(a.events.empty() && a.tokens.empty() && a.allow_private.empty());
  EXPECT_EQ(a.attempts, 8u);
  EXPECT_EQ(a.timeout, milliseconds(10'000));
  const WebhookConfig& b = loaded.config.webhooks[1];
  EXPECT_EQ(b.secret, kKey);
  EXPECT_EQ(b.events, (tests::Strings{"execution.*", "session.closed", "job.ended"}));
  EXPECT_EQ(b.tokens, tests::Strings{"team"});
  EXPECT_EQ(b.attempts, 3u);
  EXPECT_EQ(b.timeout, milliseconds(1500));
}

TEST_F(ConfigWebhooks, ThatAreWrittenOutAreTheSameAgain) {
  Toml(std::string("[[webhooks]]\nname = \"a\"\n") + kUrl + kFile +
       "events = [\"gap\"]\nattempts = 2\ntimeout = \"250ms\"\n");
  const LoadedConfig first = Load();
  const std::string text = ConfigAsToml(first);
  EXPECT_EQ(text.find(Secret()), std::string::npos);
  EXPECT_EQ(first.webhooks.at(0).webhook.secret, "");
  Toml(text);
  const LoadedConfig again = Load();
  ASSERT_EQ(again.config.webhooks.size(), 1u);
  const WebhookConfig& webhook = again.config.webhooks[0];
  EXPECT_EQ(webhook.url, "http://127.0.0.1:8080/hook");
  EXPECT_EQ(webhook.secret, kKey);
  EXPECT_EQ(webhook.events, tests::Strings{"gap"});
  EXPECT_EQ(webhook.attempts, 2u);
  EXPECT_EQ(webhook.timeout, milliseconds(250));
}

TEST_F(ConfigWebhooks, ThatAreWrongAreRefusedWithTheLine) {
  const std::string url = kUrl, file = kFile;
  ExpectWrong(url, {"belljar.toml:1", "either file = \"/path\" or env"});
  ExpectWrong(file, {"has no url"});
  ExpectWrong(url + file + "env = \"X\"\n", {"either file"});
  ExpectWrong(url + "file = \"none\"\n", {"[[webhooks]] \"a\"", "ENOENT"});
  ExpectWrong(url + file + "event = [\"gap\"]\n", {"webhooks.event", "did you mean \"events\""});
  ExpectWrong(url + file + "events = [\"execution.end\"]\n", {"no events match \"execution.end\""});
  ExpectWrong(url + file + "events = \"gap\"\n", {"write a list of strings"});
  ExpectWrong(url + file + "tokens = [\"team\"]\n", {"no token is named \"team\""});
  ExpectWrong(url + file + "attempts = 0\n", {"from 1 to 100", "for the default"});
  ExpectWrong(url + file + "attempts = 101\n", {"from 1 to 100"});
  ExpectWrong(url + file + "timeout = \"6m\"\n", {"up to five minutes"});
  ExpectWrong(url + file + "timeout = -1\n", {"up to five minutes"});
  ExpectWrong(url + file + "allow_private = [\"10.0.0.0/40\"]\n", {"allow_private"});
  ExpectWrong(file + "url = \"ftp://example.org/\"\n", {"write https://HOST"});
  ExpectWrong(file + "url = \"http://192.168.1.1/\"\n", {"is not an address of this machine"});
  ExpectWrong(url + file + "secret = \"" + Secret() + "\"\n", {"do not put a secret"});
  ExpectTomlRefused("[[webhooks]]\nname = \"a b\"\n" + url + file, {"a name is up to 64"});
  ExpectTomlRefused("[[webhooks]]\n" + url + file, {"has no name"});
  const std::string entry = "[[webhooks]]\nname = \"a\"\n" + url + file;
  ExpectTomlRefused(entry + entry, {"belljar.toml:5", "two webhooks have this name"});
  ExpectTomlRefused("webhooks = 1\n", {"write [[webhooks]]"});
}

TEST_F(ConfigWebhooks, SecretsAreKeysOfTheStandard) {
  for (const std::string& bad :
       {std::string(tests::kSecret), std::string("whsec_") + tests::kSecret + "!",
        "whsec_" + host::EncodeBase64(std::string(23, 'k')) + std::string(8, ' '),
        "whsec_" + host::EncodeBase64(std::string(65, 'k'))}) {
    TokenFile(bad, 0600, "bad");
    ExpectWrong(std::string(kUrl) + "file = \"bad\"\n", {"[[webhooks]] \"a\""});
    EXPECT_EQ(Refusal().find(bad), std::string::npos);
  }
  TokenFile(Secret(), 0644, "open");
  ExpectWrong(std::string(kUrl) + "file = \"open\"\n", {"everyone", "chmod 600"});
}

TEST_F(ConfigWebhooks, TracesGoWhereTheyMay) {
  Set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
  Set("OTEL_SERVICE_NAME", "grader");
  EXPECT_EQ(Load().config.tracing.endpoint, "http://127.0.0.1:4318");
  EXPECT_EQ(Load().config.tracing.service, "grader");
  Set("BELLJAR_TRACING_ENDPOINT", "http://10.0.0.1:4318");
  ExpectRefused({"BELLJAR_TRACING_ENDPOINT \"http://10.0.0.1:4318\"", "allow_private"});
  Set("BELLJAR_TRACING_ALLOW_PRIVATE", "10.0.0.0/8");
  EXPECT_EQ(Load().config.tracing.endpoint, "http://10.0.0.1:4318");
  Set("BELLJAR_TRACING_ENDPOINT", "https://collector.example.com:4318");
  EXPECT_EQ(Load().config.tracing.endpoint, "https://collector.example.com:4318");
}

}  // namespace
}  // namespace belljar::server::config::config_webhooks_test
