// Rows under headings, in columns two spaces apart.
#pragma once

#include <string>
#include <vector>

namespace cofferdam::cli {

// Every row has as many cells as the first one. Lengths are bytes: cells are ASCII or already printable().
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace cofferdam::cli
