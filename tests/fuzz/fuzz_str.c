#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/str.h"

/* Parses the input as a time, duration, name, UTF-8 and base64. Asserts that a parsed value which
 * is printed parses to the same value. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check_time(const char *s)
{
	/* Years 0 to 9999, which can be printed. */
	const int64_t first = -62167219200000, last = 253402300799999;
	char text[STR_TIME_SIZE];
	int64_t ms, back;

	if (!str_to_time(s, &ms) || ms < first || ms > last)
		return; /* An offset from UTC may lead to a year that cannot be printed. */
	must(str_to_time(str_time_micro(text, ms), &back) && back == ms);
	must(str_to_time(str_time(text, ms), &back) && back <= ms && ms - back < 1000);
}

static void check_duration(const char *s)
{
	char text[STR_TIME_SIZE];
	int64_t ms, back;

	if (!str_to_duration(s, &ms))
		return;
	must(ms >= -9223372036855 && ms <= 9223372036855);
	/* At the limits, the last digit was rounded up, so the text does not parse. */
	if (ms > -9223372036855 && ms < 9223372036855)
		must(str_to_duration(str_duration(text, ms), &back) && back == ms);
}

static void check_names(const char *s)
{
	if (str_is_dns_label(s))
		must(str_is_dns_subdomain(s) && str_is_label_value(s) && str_is_qualified_name(s));
	if (str_is_label_value(s) && *s)
		must(str_is_qualified_name(s) && strlen(s) <= 63);
}

static void check_utf8(const char *s, size_t n)
{
	for (size_t used; n > 0; s += used, n -= used) {
		int32_t c = str_utf8(s, n, &used);

		must(used >= 1 && used <= n && c <= 0x10ffff && (c >= 0 || used == 1));
	}
}

static void check_base64(const char *s, size_t n)
{
	struct err e;
	size_t len;
	char *bytes = crypto_base64_decode(s, n, &len, &e), *again;

	if (!bytes)
		return;
	again = crypto_base64(bytes, len);
	must(strlen(again) == n && memcmp(again, s, n) == 0);
	free(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	OWN(arena) a = arena_new();
	char *text = arena_strndup(a, size ? (const char *)data : "", size);

	check_time(text);
	check_duration(text);
	check_names(text);
	check_utf8((const char *)data, size);
	check_base64((const char *)data, size);
	return 0;
}
