#include "engine/seal/furnishings.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace belljar {
namespace {

bool MountPrivate(const char* path, const WorkspaceRule& rule) {
  char options[96];
  snprintf(options, sizeof options, "size=%llu,nr_inodes=%u,mode=0700",
           static_cast<unsigned long long>(rule.size.count), rule.inodes);
  return mount("belljar", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0;
}

bool BringLoopbackUp(int socket) {
  ifreq request{};
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

// As many connections as wait for the host to accept them; more are refused.
constexpr int kBacklog = 64;

}  // namespace

UniqueFd MountWorkspace(const WorkspaceRule& rule) {
  if (!MountPrivate(kWorkspacePath, rule) || !MountPrivate(kTemporaryPath, rule)) return {};
  if (chdir(kWorkspacePath) != 0) return {};
  return UniqueFd(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd OpenDoor(const DoorRule& rule) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener || !BringLoopbackUp(listener.get())) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(rule.port);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), kBacklog) != 0) {
    return {};
  }
  return listener;
}

}  // namespace belljar
