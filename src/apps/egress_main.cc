// cofferdam-egress: the proxy of one run. Started by `cofferdam run`, never by a person.
#include "egress/proxy_main.h"

int main() {
  return cofferdam::egress::run_proxy_process();
}
