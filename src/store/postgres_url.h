// What may be said about a PostgreSQL URL, and what is added to it.
#pragma once

#include <string>

#include "base/result.h"

namespace cofferdam::store {

// "PostgreSQL database NAME on HOST", from the URL's own words; never its password or its other parameters.
// kInvalidArgument, without a word of the URL, when libpq cannot read it or when a password with unescaped characters
// would show up as a part of something else.
Result<std::string> describe_postgres_url(const std::string& url);

}  // namespace cofferdam::store
