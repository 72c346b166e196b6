#include "server/events/http_post.h"

#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/core/socket.h"
#include "engine/core/text.h"
#include "server/events/libcurl.h"

namespace belljar::server::events {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::tcp;
using core::Deadline;

constexpr std::string_view kPlainScheme = "http://", kTlsScheme = "https://";
constexpr char kForm[] =
    "write https://HOST[:PORT]/PATH, or http://HOST[:PORT]/PATH of a receiver on this machine";
constexpr char kNoAddress[] =
    "it has no address of this machine; write https://, or name a private network in allow_private";
// Maximum size of a response's head; the status is in its first line.
constexpr size_t kMaxHead = 16 << 10;
constexpr std::chrono::milliseconds kStopPollInterval{100};
// Upper limit of a wait; libcurl's own timers may be due earlier.
constexpr int kMaxWait = 60'000;

bool IsGraphic(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

core::Error Wrong(std::string detail) { return core::MakeError("", std::move(detail)); }

}  // namespace

core::Result<HttpTarget> HttpTarget::Parse(std::string_view url,
                                           const std::vector<std::string>& allow_private) {
  HttpTarget target;
  target.is_tls = url.starts_with(kTlsScheme);
  const std::string_view scheme = target.is_tls ? kTlsScheme : kPlainScheme;
  if (!url.starts_with(scheme) || !IsGraphic(url) || url.find('#') != url.npos) return Wrong(kForm);
  if (const core::Result<const LibCurl*> library = OpenLibCurl(); !library) {
    return Wrong(library.error().detail);
  }
  if (target.is_tls) target.port = 443;
  const std::string_view rest = url.substr(scheme.size());
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::optional<egress::Authority> authority = egress::SplitAuthority(rest.substr(0, end));
  // A user name would be displayed with the URL.
  if (!authority || rest.substr(0, end).find('@') != rest.npos) return Wrong(kForm);
  std::optional<egress::HostName> host = egress::HostName::Parse(authority->host);
  if (!host) return Wrong(kForm);
  target.host = std::move(*host);
  target.authority = rest.substr(0, end);
  if (authority->port) {
    const std::optional<uint16_t> port = egress::ParsePort(*authority->port);
    if (!port) return Wrong(kForm);
    target.port = *port;
  }
  const std::string_view path = rest.substr(end);
  target.path = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
  for (const std::string& block : allow_private) {
    core::Result<egress::AddressBlock> parsed = egress::AddressBlock::Parse(block);
    if (!parsed)
      return Wrong("allow_private " + core::Quoted(block) + ": " + parsed.error().detail);
    target.allowed.push_back(*parsed);
  }
  if (target.host.address && !target.Permits(*target.host.address)) {
    return Wrong(target.host.text +
                 " is not an address of this machine: write https://, or name the private network "
                 "to which plain HTTP may go in allow_private");
  }
  return target;
}

bool HttpTarget::Permits(const address& where) const {
  if (is_tls) return true;
  const address plain = egress::Unmapped(where);
  return plain.is_loopback() ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const egress::AddressBlock& block) { return block.Contains(plain); });
}

namespace {

// One request and its result. Single-threaded.
class Transfer {
 public:
  Transfer(const LibCurl& curl, const HttpTarget& target) : curl_(curl), target_(target) {}

  // Null: rejected by libcurl. `body` must outlive the transfer.
  CURL* Prepare(const std::vector<address>& addresses, const HttpHeaders& headers,
                std::string_view body, Deadline deadline) {
    const std::string scheme(target_.is_tls ? kTlsScheme : kPlainScheme);
    const std::string host = egress::Bracketed(target_.host) + ":" + std::to_string(target_.port);
    Set(CURLOPT_URL, (scheme + host + target_.path).c_str());
    Set(CURLOPT_PATH_AS_IS, 1L);
    Set(CURLOPT_PROTOCOLS, long{target_.is_tls ? CURLPROTO_HTTPS : CURLPROTO_HTTP});
    Set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    Set(CURLOPT_FOLLOWLOCATION, 0L);
    Set(CURLOPT_PROXY, "");  // nor proxies named by the environment
    Set(CURLOPT_FORBID_REUSE, 1L);
    Set(CURLOPT_NOSIGNAL, 1L);
    const long time = std::max(core::PollTimeout(deadline), 1);  // 0 would be no limit
    Set(CURLOPT_TIMEOUT_MS, time);
    Set(CURLOPT_CONNECTTIMEOUT_MS, time);
    SetHeaders(headers);
    Set(CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    if (!target_.host.address) {
      std::string resolved;
      for (const address& each : addresses) {
        resolved += (resolved.empty() ? host + ":" : ",") + each.to_string();
      }
      Add(addresses_, resolved);
      Set(CURLOPT_RESOLVE, addresses_.get());
    }
    Set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
    Set(CURLOPT_OPENSOCKETDATA, this);
    Set(CURLOPT_HEADERFUNCTION, &TakeLine);
    Set(CURLOPT_HEADERDATA, this);
    Set(CURLOPT_WRITEFUNCTION, &RefuseBody);
    Set(CURLOPT_ERRORBUFFER, why_.data());
    if (target_.is_tls) SetTls();
    return is_refused_ ? nullptr : handle_.get();
  }

  // After the transfer has ended.
  core::Result<unsigned> Status(CURLcode result) const {
    if (is_whole_) return static_cast<unsigned>(status_);
    const std::string connect = "connect to " + target_.host.text;
    const std::string why =
        core::Printable(why_[0] != '\0' ? why_.data() : curl_.curl_easy_strerror(result));
    long number = 0;
    curl_.curl_easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &number);
    switch (result) {
      case CURLE_OPERATION_TIMEDOUT: return core::SystemErrorOf(ETIMEDOUT, "wait for the endpoint");
      case CURLE_COULDNT_CONNECT:
        if (!is_permitted_) return core::MakeError(connect, kNoAddress);
        return core::SystemErrorOf(number != 0 ? static_cast<int>(number) : ECONNREFUSED, connect);
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        return core::MakeError(connect + " with TLS",
                               "its certificate was rejected: " + why +
                                   " (the root certificates are those of Debian's package "
                                   "ca-certificates, or of the file that SSL_CERT_FILE names)");
      case CURLE_SSL_CONNECT_ERROR: return core::MakeError(connect + " with TLS", why);
      case CURLE_GOT_NOTHING: return core::SystemErrorOf(ECONNRESET, "read the response");
      // Not a valid head, or too long.
      case CURLE_OK:
      case CURLE_WRITE_ERROR:
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_WEIRD_SERVER_REPLY:
        return core::MakeError("read the response", "it is not one of HTTP/1.1");
      default: return core::MakeError("send to the endpoint", why);
    }
  }

 private:
  using List = std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)>;

  template <typename Value>
  void Set(CURLoption option, Value value) {
    if (!handle_ || curl_.curl_easy_setopt(handle_.get(), option, value) != CURLE_OK) {
      is_refused_ = true;
    }
  }

  void Add(List& list, const std::string& text) {
    curl_slist* const longer = curl_.curl_slist_append(list.get(), text.c_str());
    if (longer == nullptr) {
      is_refused_ = true;
      return;
    }
    (void)list.release();
    list.reset(longer);
  }

  void SetHeaders(const HttpHeaders& headers) {
    // Without a value, so that libcurl adds none.
    for (const char* each : {"Accept:", "Expect:", "Connection: close"}) Add(headers_, each);
    Add(headers_, "Host: " + target_.authority);
    for (const auto& [name, value] : headers) {
      std::string line = name;
      Add(headers_, line.append(": ").append(value));
    }
    Set(CURLOPT_HTTPHEADER, headers_.get());
  }

  // The system's roots, or those named by OpenSSL's variables, which libcurl does not read.
  void SetTls() {
    Set(CURLOPT_SSL_VERIFYPEER, 1L);
    Set(CURLOPT_SSL_VERIFYHOST, 2L);
    Set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
    // A resumed session would rely on an earlier verification.
    Set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
    const char* const file = getenv("SSL_CERT_FILE");
    const char* const folder = getenv("SSL_CERT_DIR");  // NOLINT(concurrency-mt-unsafe)
    if (file != nullptr || folder != nullptr) Set(CURLOPT_CAINFO, file);
    if (folder != nullptr || (file == nullptr && HasOneFileOfRoots())) Set(CURLOPT_CAPATH, folder);
  }

  // Then the system's folder, which has the same roots, can be omitted. Only then does libcurl keep
  // them in memory (7.87); reading them for a connection takes 17 ms. Versions before 7.84 do not
  // have this query.
  bool HasOneFileOfRoots() const {
    const char* file = nullptr;
    return curl_.curl_easy_getinfo(handle_.get(), CURLINFO_CAINFO, &file) == CURLE_OK &&
           file != nullptr;
  }

  // --- called by libcurl ---

  static curl_socket_t OpenSocket(void* data, curlsocktype, curl_sockaddr* where) {
    auto& self = *static_cast<Transfer*>(data);
    tcp::endpoint endpoint;
    if (where->addrlen > endpoint.capacity()) return CURL_SOCKET_BAD;
    memcpy(endpoint.data(), &where->addr, where->addrlen);
    endpoint.resize(where->addrlen);
    if (!self.target_.Permits(endpoint.address())) return CURL_SOCKET_BAD;
    self.is_permitted_ = true;
    return socket(where->family, where->socktype | SOCK_CLOEXEC, where->protocol);
  }

  // Ends the transfer after the head, which ends with an empty line: the body is not awaited. The
  // responses before the last one (103 and the like) have such a line, too.
  static size_t TakeLine(const char* line, size_t, size_t size, void* data) {
    auto& self = *static_cast<Transfer*>(data);
    self.head_ += size;
    if (self.head_ > kMaxHead) return 0;
    if (std::string_view(line, size) != "\r\n") return size;
    self.curl_.curl_easy_getinfo(self.handle_.get(), CURLINFO_RESPONSE_CODE, &self.status_);
    self.is_whole_ = self.status_ >= 200;
    return self.is_whole_ ? 0 : size;
  }

  // A response without a head (HTTP/0.9, accepted by libcurl before 7.66).
  static size_t RefuseBody(const char*, size_t, size_t, void*) { return 0; }

  const LibCurl& curl_;
  const HttpTarget& target_;
  std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> handle_{curl_.curl_easy_init(),
                                                                curl_.curl_easy_cleanup};
  List addresses_{nullptr, curl_.curl_slist_free_all};
  List headers_{nullptr, curl_.curl_slist_free_all};
  std::array<char, CURL_ERROR_SIZE> why_{};
  bool is_refused_ = false;
  bool is_permitted_ = false;  // one of the addresses
  size_t head_ = 0;            // bytes of the response
  long status_ = 0;
  bool is_whole_ = false;  // its head
};

}  // namespace

// Performs transfers, one at a time.
class HttpPost::Client {
 public:
  static core::Result<std::unique_ptr<Client>> Create() {
    const core::Result<const LibCurl*> library = OpenLibCurl();
    if (!library) return library.error();
    std::unique_ptr<Client> client(new Client(**library));
    if (!client->multi_) return core::SystemErrorOf(ENOMEM, "prepare libcurl");
    // libcurl opens descriptors of its own (since 7.68 a socket pair for waking it up) that are not
    // close-on-exec, and programs started by a server must not inherit any. Requires Linux 5.11.
    syscall(SYS_close_range, STDERR_FILENO + 1, std::numeric_limits<int>::max(),
            CLOSE_RANGE_CLOEXEC);
    return client;
  }

  const LibCurl& curl() const { return curl_; }

  // ECANCELED once `stop` is cancelled.
  core::Result<CURLcode> Perform(CURL* handle, const Cancellation& stop) {
    const core::Result<int> stop_fd = stop.fd();
    if (!stop_fd) return stop_fd.error();
    CURLMcode state = curl_.curl_multi_add_handle(multi_.get(), handle);
    const auto remove = [this](CURL* added) {
      curl_.curl_multi_remove_handle(multi_.get(), added);
    };
    const std::unique_ptr<CURL, decltype(remove)> added(handle, remove);
    for (int running = 1; state == CURLM_OK;) {
      if (stop.cancelled()) return core::SystemErrorOf(ECANCELED, "wait for the endpoint");
      state = curl_.curl_multi_perform(multi_.get(), &running);
      if (state != CURLM_OK || running == 0) break;
      curl_waitfd wait{*stop_fd, CURL_WAIT_POLLIN, 0};
      state = curl_.curl_multi_wait(multi_.get(), &wait, 1, kMaxWait, nullptr);
    }
    int left = 0;
    const CURLMsg* const message = curl_.curl_multi_info_read(multi_.get(), &left);
    if (message != nullptr) return message->data.result;
    return core::MakeError("wait for the endpoint", curl_.curl_multi_strerror(state));
  }

 private:
  explicit Client(const LibCurl& curl) : curl_(curl) {}

  const LibCurl& curl_;
  std::unique_ptr<CURLM, decltype(&::curl_multi_cleanup)> multi_{curl_.curl_multi_init(),
                                                                 curl_.curl_multi_cleanup};
};

HttpPost::HttpPost(HttpTarget target)
    : target_(std::move(target)),
      io_(std::make_shared<boost::asio::io_context>(1)),
      resolver_(io_, egress::LookUpByHost) {}

HttpPost::~HttpPost() = default;

// Not resolved by libcurl, which would wait for a hanging lookup when stopped.
core::Result<HttpPost::Addresses> HttpPost::Resolve(Deadline deadline, const Cancellation& stop) {
  if (target_.host.address) return Addresses{*target_.host.address};
  const std::string operation = "resolve " + target_.host.text;
  // The answer to an abandoned lookup may still arrive: its place must still exist.
  auto answer = std::make_shared<std::optional<egress::Addresses>>();
  resolver_.Resolve(target_.host.text,
                    [answer](egress::Addresses found) { *answer = std::move(found); });
  while (!*answer) {
    const Deadline now = std::chrono::steady_clock::now();
    if (stop.cancelled()) return core::SystemErrorOf(ECANCELED, operation);
    if (now >= deadline) return core::SystemErrorOf(ETIMEDOUT, operation);
    io_->restart();
    const auto work = boost::asio::make_work_guard(*io_);
    io_->run_one_until(std::min(deadline, now + kStopPollInterval));
  }
  if ((*answer)->found.empty()) return core::MakeError(operation, (*answer)->failure);
  return (*answer)->found;
}

core::Result<unsigned> HttpPost::Send(const HttpHeaders& headers, std::string_view body,
                                      Deadline deadline, const Cancellation& stop) {
  if (!client_) {
    core::Result<std::unique_ptr<Client>> client = Client::Create();
    if (!client) return client.error();
    client_ = std::move(*client);
  }
  const core::Result<Addresses> addresses = Resolve(deadline, stop);
  if (!addresses) return addresses.error();
  Transfer transfer(client_->curl(), target_);
  CURL* const handle = transfer.Prepare(*addresses, headers, body, deadline);
  if (handle == nullptr) return core::MakeError("prepare a request", "libcurl refuses it");
  const core::Result<CURLcode> result = client_->Perform(handle, stop);
  return result ? transfer.Status(*result) : result.error();
}

}  // namespace belljar::server::events
