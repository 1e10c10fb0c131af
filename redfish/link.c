#include "redfish/link.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "redfish/redfish.h"

#define MAX_LINK 1024

struct origin {
	bool tls;
	const char *host;
	size_t host_len;
	const char *port;
	size_t port_len;
	const char *rest;
};

/* Splits url into scheme, authority and path (RFC 3986). Returns false unless the scheme is http or
 * https and there is no user part. */
static bool split(const char *url, struct origin *o)
{
	const char *end, *colon = NULL;

	if (strncasecmp(url, "https://", 8) == 0)
		o->tls = true, o->host = url + 8;
	else if (strncasecmp(url, "http://", 7) == 0)
		o->tls = false, o->host = url + 7;
	else
		return false;
	end = o->host + strcspn(o->host, "/?#");
	o->rest = end;
	if (memchr(o->host, '@', (size_t)(end - o->host)))
		return false;
	if (*o->host == '[') {
		const char *close = memchr(o->host, ']', (size_t)(end - o->host));

		if (!close || (close + 1 != end && close[1] != ':'))
			return false;
		colon = close + 1 != end ? close + 1 : NULL;
	} else {
		colon = memchr(o->host, ':', (size_t)(end - o->host));
	}
	o->host_len = (size_t)((colon ? colon : end) - o->host);
	o->port = colon ? colon + 1 : (o->tls ? "443" : "80");
	o->port_len = colon ? (size_t)(end - o->port) : strlen(o->port);
	return o->host_len > 0 && o->port_len > 0 && o->port_len <= 5 &&
	       strspn(o->port, "0123456789") >= o->port_len;
}

static bool same(const struct origin *a, const struct origin *b)
{
	return a->tls == b->tls && a->host_len == b->host_len &&
	       strncasecmp(a->host, b->host, a->host_len) == 0 && a->port_len == b->port_len &&
	       memcmp(a->port, b->port, a->port_len) == 0;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* True if all bytes are valid in a request line and no segment is "." or "..", not even
 * percent-encoded. */
static bool path_ok(const char *p)
{
	size_t dots = 0, others = 0;
	bool query = false;

	for (;; p++) {
		int c = (unsigned char)*p;

		if (c == '%') {
			int hi = hex(p[1]), lo = hi < 0 ? -1 : hex(p[2]);

			if (lo < 0)
				return false;
			c = hi * 16 + lo;
			p += 2;
			if (c < 0x20 || c == 0x7f)
				return false;
			if (!query && (c == '/' || c == '\\'))
				return false;
		} else if (c == '\0' || c == '/' || c == '?') {
			if (!query && dots > 0 && dots <= 2 && others == 0)
				return false;
			dots = others = 0;
			if (c == '\0')
				return true;
			if (c == '?')
				query = true;
			continue;
		} else if (c <= 0x20 || c >= 0x7f || strchr("\\\"<>^`{|}", c)) {
			return false;
		}
		if (c == '.')
			dots++;
		else
			others++;
	}
}

char *link_path(const char *origin, const char *link, struct err *e)
{
	struct origin ours, theirs;
	const char *rest = link;
	char *path;

	if (!link || !*link || strlen(link) > MAX_LINK)
		goto bad;
	if (*link != '/') {
		if (!split(link, &theirs) || !split(origin, &ours))
			goto bad;
		/* mutant: redirect-elsewhere */
		if (!same(&ours, &theirs)) {
			err_note(e, ERR_PROTOCOL, 0,
				 "the BMC returned a link to a different server: %.80s", link);
			return NULL;
		}
		rest = theirs.rest;
	}
	if (rest[0] != '/' || rest[1] == '/')
		goto bad;
	path = mem_strndup(rest, strcspn(rest, "#"));
	if (path_ok(path))
		return path;
	free(path);
bad:
	err_note(e, ERR_PROTOCOL, 0, "the BMC returned an invalid link: %.80s",
		 str_or(link, "(empty)"));
	return NULL;
}

/* Returns true for a reference without a scheme and without a leading slash. */
static bool is_relative(const char *s)
{
	return *s && *s != '/' && s[strcspn(s, ":/?#")] != ':';
}

static size_t folder_len(const char *path)
{
	size_t n = strcspn(path, "?");

	while (n > 0 && path[n - 1] != '/')
		n--;
	return n;
}

char *link_from(const char *origin, const char *path, const char *location, struct err *e)
{
	size_t keep;
	char *joined, *out;

	if (!location || !is_relative(location))
		return link_path(origin, location, e);
	keep = *location == '?' ? strcspn(path, "?") : folder_len(path);
	joined = mem_printf("%.*s%s", (int)keep, path, location + 2 * str_starts(location, "./"));
	out = link_path(origin, joined, e);
	free(joined);
	return out;
}

char *link_origin(const char *url, const char **path, struct err *e)
{
	struct origin o;

	if (!url || strlen(url) > MAX_LINK || !split(url, &o) || strpbrk(o.rest, "?#") ||
	    !path_ok(o.rest)) {
		err_note(e, ERR_INVALID, REDFISH_ADDRESS,
			 "want a BMC address like https://10.0.8.17 or "
			 "https://10.0.8.17/redfish/v1/Systems/1, got %.80s",
			 str_or(url, "nothing"));
		return NULL;
	}
	*path = o.rest;
	return mem_strndup(url, (size_t)(o.rest - url));
}
