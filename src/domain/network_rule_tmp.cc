#include "domain/network_rule.h"
namespace cofferdam::domain {
std::optional<IpAddress> IpAddress::parse(std::string_view) { return std::nullopt; }
std::string IpAddress::to_string() const { return ""; }
}
