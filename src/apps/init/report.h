// Talking to the supervisor over the control socket.
#pragma once

#include <string_view>

#include "confinement/init_protocol.h"

namespace cofferdam::init {

namespace protocol = cofferdam::confinement::init;

// Sends one packet, with the descriptor `fd` unless it is negative. False when nobody takes it.
bool send_packet(int socket, const void* bytes, std::size_t size, int fd);

// Sends one packet to the supervisor, with a descriptor if `fd` is not negative. A supervisor that is gone is not an
// error here: the main loop notices.
void report(protocol::Event event, int value, bool signalled = false, std::string_view text = {}, int fd = -1);

// Reports that the set-up failed and ends this process, and with it the sandbox.
[[noreturn]] void fail_setup(int error_number, std::string_view what);

}  // namespace cofferdam::init
