#include "netris/release.h"

#include <string.h>
#include "base/str.h"

#define PARTS 3

static const int oldest[PARTS] = {4, 5, 3}, newest[PARTS] = {4, 15, 0};

/* Releases with known problems, from Netris' release notes (netrisai/docs). */
static const struct {
	int major, minor;
	const char *what;
} troubles[] = {
	{4, 12, "V-nets with many ports may time out"},
	{4, 13, "ports may conflict after an L3VPN"},
	{4, 15,
	 "default-deny ACLs are not applied on Arista: name addresses in spec.network.probe"},
};

/* Parses "v4.15.0.012" or "4.15.0-rc1" into out. At least two numbers are required; a missing third
 * one is 0. Returns false for any other text. */
static bool read_parts(const char *s, int out[static PARTS])
{
	int n = 0;

	memset(out, 0, PARTS * sizeof(*out));
	s += *s == 'v';
	while (n < PARTS) {
		size_t digits = strspn(s, "0123456789");

		if (!digits || digits > 6)
			break;
		for (size_t i = 0; i < digits; i++)
			out[n] = out[n] * 10 + (s[i] - '0');
		n++;
		s += digits;
		if (*s != '.')
			break;
		s++;
	}
	return n >= 2;
}

static int compare(const int a[static PARTS], const int b[static PARTS], int parts)
{
	for (int i = 0; i < parts; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

enum netris_release netris_release_of(const char *build, char text[static NETRIS_RELEASE_TEXT])
{
	int is[PARTS];

	if (str_empty(build) || !read_parts(build, is)) {
		str_format(text, NETRIS_RELEASE_TEXT,
			   "its release cannot be read%s%.40s: it is not confirmed to be "
			   "one of 4.5.3 to 4.15",
			   str_empty(build) ? "" : " from ", str_or(build, ""));
		return NETRIS_RELEASE_UNTOLD;
	}
	/* mutant: netris-old-release */
	if (compare(is, oldest, PARTS) < 0) {
		str_format(text, NETRIS_RELEASE_TEXT,
			   "release %.40s is older than 4.5.3 and may lose servers of clusters: "
			   "upgrade it; until then drover changes nothing there",
			   build);
		return NETRIS_RELEASE_OLD;
	}
	if (compare(is, newest, 2) > 0) {
		str_format(text, NETRIS_RELEASE_TEXT,
			   "release %.40s is not confirmed: it is newer than 4.15, "
			   "the newest confirmed release",
			   build);
		return NETRIS_RELEASE_NEW;
	}
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++)
		if (is[0] == troubles[i].major && is[1] == troubles[i].minor) {
			str_format(text, NETRIS_RELEASE_TEXT, "release %.40s: %s", build,
				   troubles[i].what);
			return NETRIS_RELEASE_TROUBLED;
		}
	str_format(text, NETRIS_RELEASE_TEXT, "release %.40s", build);
	return NETRIS_RELEASE_COVERED;
}
