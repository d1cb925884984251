// Guarding the three standard descriptors.
#pragma once

namespace cofferdam::system {

// Opens /dev/null on each of 0, 1 and 2 that the caller left closed. First thing in main: a descriptor of our own that
// took such a number would reach the confined command as its input or output.
void fill_standard_descriptors();

}  // namespace cofferdam::system
