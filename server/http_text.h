// http_text.h — Fixed texts of HTTP answers: reason phrases, dates, the server's name.
// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <string>
#include <string_view>

namespace convoy {

inline constexpr std::string_view kServerName = "Convoy/0.1.0";

// "Not Found" for 404. Only statuses that this server sends.
std::string_view reason_phrase(int status);

// "Mon, 30 Nov 2026 11:44:40 GMT", whatever the locale (RFC 9110, 5.6.7).
std::string http_date(time_t seconds);

// The Date of an answer that is made now, remade once a second in each thread. Valid until the thread calls again.
std::string_view http_date_now();

}  // namespace convoy
