// Which destinations a run may reach: the rules of one run, asked first with the name and then with each address
// that the name has. Pure: whoever asks does the resolving.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "domain/network_rule.h"

namespace cofferdam::domain {

// How the client asked.
enum class Traffic : std::uint8_t {
  kTunnel,     // CONNECT, or a listener on a loopback port: any bytes may follow
  kPlainHttp,  // an absolute-form http:// request
};

// What the bytes of an admitted tunnel must be.
enum class ContentCheck : std::uint8_t {
  kNone,       // an address rule, or one marked raw
  kTlsIfTls,   // anything; a TLS hello must name the host
  kHttpOrTls,  // port 80 named by the rule: plain HTTP to that host, or TLS to it
  kHttp,       // port 80 of a rule without a port: plain HTTP to that host
  kTls,        // port 443: TLS to that host
};

// The answer about a name and a port.
struct Admission {
  bool allowed = false;
  bool trusted = false;  // private addresses of the name are fine
  ContentCheck check = ContentCheck::kTls;
  const NetworkRule* rule = nullptr;  // what decided; null: no rule speaks about it. Lives as long as the rules
  std::string_view reason;            // for a refusal, stable: "no_rule", "denied_by_rule", "plain_http_on_443"
};

// The answer about one address of an admitted name.
struct AddressVerdict {
  bool allowed = false;
  const NetworkRule* rule = nullptr;  // a deny rule, or the address rule that covers it
  std::string reason;                 // for a refusal: "denied_by_rule", "address_private", "address_own" …
};

// Immutable after construction; safe to ask from any thread.
class EgressRules {
 public:
  EgressRules(std::vector<NetworkRule> allow, std::vector<NetworkRule> deny)
      : allow_(std::move(allow)), deny_(std::move(deny)) {}

  // `host` in canonical form. For a literal address the answer is about that address as a name; vet() must
  // still be asked.
  Admission admit(const std::string& host, std::uint16_t port, Traffic traffic) const;

  // `own` are the addresses of this machine's interfaces.
  AddressVerdict vet(const Admission& admission, const IpAddress& address, std::uint16_t port,
                     std::span<const IpAddress> own) const;

 private:
  const NetworkRule* denying_name(const std::string& host, std::uint16_t port) const;
  const NetworkRule* denying_address(const IpAddress& address, std::uint16_t port) const;
  const NetworkRule* covering_address(const IpAddress& address, std::uint16_t port) const;

  std::vector<NetworkRule> allow_;
  std::vector<NetworkRule> deny_;
};

// Whether an address rule covers `address`, ports aside.
bool covers(const NetworkRule& rule, const IpAddress& address);

struct LoopbackForward {
  std::string host;  // 127.x.y.z or ::1
  std::uint16_t port = 0;
  bool operator==(const LoopbackForward&) const = default;
};

// The loopback ports that the rules name one by one: each gets a listener in the sandbox, for clients that do not
// ask a proxy for loopback. In the order of the rules, without repetition, at most kMaxLoopbackForwards.
inline constexpr std::size_t kMaxLoopbackForwards = 64;
std::vector<LoopbackForward> loopback_forwards(std::span<const NetworkRule> allow);

}  // namespace cofferdam::domain
