// The egress proxy of the network profile out of real containers, which have no network: Docker
// Engine with runc and with runsc, and runsc alone (real_backend_test.cc says which). The hosts are
// on this machine's loopback.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "container/backend/container_owner.h"
#include "container/backend/container_sandbox.h"
#include "container/engines/docker_engine.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/text.h"
#include "engine/host/random.h"
#include "engine/host/version.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/profile_image.h"
#include "tests/container/real_places.h"
#include "tests/egress/egress_hosts.h"
#include "tests/support/support.h"

namespace belljar::container::backend::real_egress_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// Starting one takes seconds where others keep the machine busy.
constexpr seconds kEngineTimeout{120};
constexpr size_t kMuch = 20 << 20;

core::Profile NetworkProfile() { return *profiles::ProfileCatalogue::Open()->Choose("network"); }

// Written once in each process. Without the packages of the profile, which may not be here: the
// library's own modules do.
const tests::ProfileImage& NetworkImage() {
  static const tests::TemporaryFolder folder;
  static const tests::ProfileImage built = [] {
    core::Profile profile = NetworkProfile();
    profile.packages.clear();
    return tests::WriteProfileImage(profiles::ProfileCatalogue::Open()->installation(), profile,
                                    "network", host::kBelljarVersion, folder.path() + "/image.tar");
  }();
  return built;
}

void Serve(tests::Peer& peer) {
  const std::string first = peer.Receive(1);
  if (first == "e") return tests::Echo(peer);
  if (first == "d") {
    (void)peer.Send(std::string(kMuch, 'd'));
  } else if (first == "u") {
    (void)peer.Send(std::to_string(peer.Receive(kMuch).size()));
  } else {
    (void)peer.ReceiveHead();
    (void)peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nanswer");
  }
}

class EgressOfContainer : public ::testing::TestWithParam<tests::Place> {
 protected:
  void SetUp() override {
    ContainerSelection& selection = options_.selection;
    selection.engine = GetParam().engine;
    selection.runtime = GetParam().runtime;
    if (tests::IsAlone(GetParam())) {
      selection.folder = BELLJAR_TEST_RUNSC_FOLDER;
    } else {
      selection.socket = tests::SocketOf(GetParam());
    }
    tests::FoundEngine found = tests::FindEngine(GetParam(), selection.folder, kEngineTimeout);
    if (!found.engine) BELLJAR_SKIP_OR_FAIL(found.missing);
    engine_ = std::move(found.engine);
    selection.image = NetworkImage().id;
    options_.spares = 0;
    options_.instance = "test-" + core::Hex(host::RandomBytes());
    LoadImage();
  }

  void LoadImage() {
    const core::Result<std::optional<engines::EngineImage>> there =
        engine_->FindImage(NetworkImage().id);
    ASSERT_TRUE(there) << there.error().ToString();
    if (*there) return;
    // That of an earlier build, which nobody else would remove.
    if (GetParam().engine == "runsc") {
      EXPECT_TRUE(
          engine_->RemoveImage("belljar:" + std::string(host::kBelljarVersion) + "-network"));
    }
    const core::UniqueFd tar(open(NetworkImage().path.c_str(), O_RDONLY | O_CLOEXEC));
    const core::Result<std::string> loaded = engine_->LoadImage(tar.get(), {});
    ASSERT_TRUE(loaded) << loaded.error().ToString();
  }

  void TearDown() override {
    if (!engine_) return;
    core::Result<std::vector<engines::ListedContainer>> left =
        std::vector<engines::ListedContainer>();
    // Docker lists one for a moment that it has removed.
    const bool none = tests::Eventually([&] {
      left = engine_->List(kInstanceLabel, options_.instance);
      return left && left->empty();
    });
    ASSERT_TRUE(left) << left.error().ToString();
    for (const engines::ListedContainer& each : *left) (void)engine_->Remove(each.id);
    EXPECT_TRUE(none);
  }

  host::Outcome Run(std::string source, seconds timeout = kEngineTimeout) {
    outside::SandboxOptions sandbox;
    sandbox.profile = NetworkProfile();
    sandbox.isolation = outside::IsolationMode::kStandard;
    sandbox.policy = outside::Policy::kOff;
    sandbox.network.allowed_domains = {"allowed.test:*"};
    sandbox.network.allow_private = {"127.0.0.1"};
    sandbox.network.resolve = {"allowed.test=127.0.0.1", "denied.test=127.0.0.1"};
    core::Result<std::unique_ptr<outside::Sandbox>> opened =
        OpenContainerSandbox(std::move(sandbox), options_);
    if (!opened) throw std::runtime_error(opened.error().ToString());
    const std::string port = std::to_string(host_.port());
    for (size_t at; (at = source.find("PORT")) != source.npos;) source.replace(at, 4, port);
    run::RunOptions options;
    options.queue_timeout = kEngineTimeout;
    host::Request request = tests::MakeRequest(source, timeout);
    request.limits.open_files = NetworkProfile().maximum_limits.open_files;
    core::Result<host::Outcome> outcome = (*opened)->Run(request, options);
    if (!outcome) throw std::runtime_error(outcome.error().ToString());
    return std::move(*outcome);
  }

  tests::Host host_{Serve};
  ContainerOptions options_;
  std::unique_ptr<engines::ContainerEngine> engine_;
};

INSTANTIATE_TEST_SUITE_P(Engines, EgressOfContainer,
                         ::testing::Values(tests::Place{"docker", "runc"},
                                           tests::Place{"docker", "runsc"},
                                           tests::Place{"runsc", "runsc"}),
                         ::testing::PrintToStringParamName());

TEST_P(EgressOfContainer, ItIsTheOnlyWayAndLeadsWhereItMay) {
  const host::Outcome outcome = Run(R"(
import _socket, http.client, socket, urllib.error, urllib.request
print(urllib.request.urlopen("http://allowed.test:PORT/x").read())
tunnel = http.client.HTTPConnection("127.0.0.1", 1080)
tunnel.set_tunnel("allowed.test", PORT)
tunnel.request("GET", "/")
print(tunnel.getresponse().read())
several = [socket.create_connection(("allowed.test", PORT)) for _ in range(8)]
for number, one in enumerate(several):
    one.sendall(b"e%d" % number)
print(b"".join(one.recv(1) for one in several))
down = socket.create_connection(("allowed.test", PORT))
down.sendall(b"d")
print(len(down.makefile("rb").read()))
up = socket.create_connection(("allowed.test", PORT))
up.sendall(b"u")
for _ in range(20):
    up.sendall(bytes(1 << 20))
print(up.makefile("rb").read())
try:
    urllib.request.urlopen("http://denied.test:PORT/")
except urllib.error.URLError as error:
    print(error.reason)
for address in (("127.0.0.1", PORT), ("192.0.2.1", 80)):
    try:
        _socket.socket().connect(address)
        print("reached")
    except OSError:
        print("not reached")
)");
  const std::string much = std::to_string(kMuch);
  const std::string host = "denied.test:" + std::to_string(host_.port());
  EXPECT_EQ(outcome.stdout_stream.text, "b'answer'\nb'answer'\nb'01234567'\n" + much + "\nb'" +
                                            much + "'\nTunnel connection failed: 403 " + host +
                                            " is not an allowed host\nnot reached\nnot reached\n")
      << host::OutcomeToJson(outcome, 1);
  ASSERT_EQ(outcome.network.size(), 13u);
  EXPECT_EQ(outcome.network[10].received, kMuch);
  EXPECT_EQ(outcome.network[11].sent, kMuch + 1);
  EXPECT_FALSE(outcome.network[12].allowed);
  EXPECT_THAT(outcome.network[12].detail, HasSubstr("is not an allowed host"));
  EXPECT_EQ(host_.accepted(), 12);
}

TEST_P(EgressOfContainer, ARunThatIsStoppedLeavesNoConnection) {
  const host::Outcome outcome = Run(R"(
import socket
one = socket.create_connection(("allowed.test", PORT))
one.sendall(b"e")
one.recv(1)
)",
                                    seconds(5));
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_EQ(outcome.network.size(), 1u);
  // The host's thread sees the end of it, or the destructor would not come back.
}

}  // namespace
}  // namespace belljar::container::backend::real_egress_test
