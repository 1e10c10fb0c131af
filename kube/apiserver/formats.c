#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Checks strings against the formats (member format of a schema) in CustomResourceDefinitions. An
 * unknown format accepts every string.
 * Tests: tests/unit/kube/apiserver/test_schema.c
 */

static bool is_time(const char *s)
{
	int64_t ms;

	return str_to_time(s, &ms);
}

static bool is_date(const char *s)
{
	char time[32];
	int64_t ms;

	return str_format(time, sizeof(time), "%sT00:00:00Z", s) && str_to_time(time, &ms);
}

static bool is_duration(const char *s)
{
	int64_t ms;

	return str_to_duration(s, &ms);
}

static bool is_ipv4(const char *s)
{
	struct in_addr a;

	return inet_pton(AF_INET, s, &a) == 1;
}

static bool is_ipv6(const char *s)
{
	struct in6_addr a;

	return inet_pton(AF_INET6, s, &a) == 1;
}

static bool is_cidr(const char *s)
{
	const char *slash = strchr(s, '/');
	char address[64];
	int64_t bits;

	if (!slash || !str_format(address, sizeof(address), "%.*s", (int)(slash - s), s))
		return false;
	return str_to_i64(slash + 1, 0, strchr(address, ':') ? 128 : 32, &bits) &&
	       (is_ipv4(address) || is_ipv6(address));
}

static bool is_uuid(const char *s)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (strlen(s) != strlen(form))
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '-' ? s[i] != '-' : !strchr("0123456789abcdefABCDEF", s[i]))
			return false;
	return true;
}

static bool is_base64(const char *s)
{
	struct err e;
	size_t len;
	char *plain = crypto_base64_decode(s, strlen(s), &len, &e);

	bool whole = plain;

	free(plain);
	return whole;
}

static bool is_email(const char *s)
{
	const char *sign = strchr(s, '@');

	return sign && sign > s && sign[1] && !strpbrk(s, " \t\r\n");
}

static const struct {
	const char *name;
	bool (*holds)(const char *s);
} formats[] = {
	{"date-time", is_time}, {"datetime", is_time},
	{"date", is_date},	{"duration", is_duration},
	{"ipv4", is_ipv4},	{"ipv6", is_ipv6},
	{"cidr", is_cidr},	{"uuid", is_uuid},
	{"byte", is_base64},	{"hostname", str_is_dns_subdomain},
	{"email", is_email},
};

bool format_holds(const char *format, const char *s)
{
	for (size_t i = 0; format && i < sizeof(formats) / sizeof(*formats); i++)
		if (str_eq(formats[i].name, format))
			return formats[i].holds(s);
	return true;
}
