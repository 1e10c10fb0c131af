/*
 * reserved: a map from owner to host, and a map from host to the number of its owners, since
 * several BMCs may have the same address.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "controller/core/reserved.h"
#include "base/address.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define HOST 256

struct reserved {
	const char *const *networks;
	/* owner -> host, or "HOST PORT" if only one port of the host is reserved */
	struct map *host_of;
	/* host or "HOST PORT" -> struct reserved_host */
	struct map *hosts;
};

struct reserved_host {
	unsigned owners;
	/* name of the owner that was added first */
	char *first;
};

static void host_free(void *p)
{
	struct reserved_host *h = p;

	free(h->first);
	free(h);
}

struct reserved *reserved_new(const char *const *networks)
{
	struct reserved *r = mem_new(struct reserved);

	r->networks = networks;
	r->host_of = map_new(free);
	r->hosts = map_new(host_free);
	return r;
}

void reserved_free(struct reserved *r)
{
	if (!r)
		return;
	map_free(r->host_of);
	map_free(r->hosts);
	free(r);
}

/* Writes the host of a URL or "host:port" to out, in one canonical notation: an address, or a name
 * in lower case without port and trailing dot. Returns out; "" if there is no host. */
static const char *spelling(const char *url, char out[static HOST + 8])
{
	const char *host = url ? strstr(url, "://") : NULL;
	char ip[ADDRESS_TEXT];
	size_t n;

	out[0] = '\0';
	host = host ? host + 3 : url;
	if (!host)
		return out;
	n = strcspn(host, "/?#");
	if (n >= HOST)
		return out;
	memcpy(out, host, n);
	out[n] = '\0';
	if (address_host(out, ip)) {
		str_copy(out, HOST, ip);
		return out;
	}
	out[strcspn(out, ":")] = '\0';
	n = strlen(out);
	if (n && out[n - 1] == '.')
		out[n - 1] = '\0';
	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

/* Returns the port in the URL. If the URL contains no port, returns 80 for http, and 443
 * otherwise. */
static int port_of(const char *url)
{
	const char *host = strstr(url, "://"), *at;
	int64_t port;
	char text[8];

	host = host ? host + 3 : url;
	at = strchr(host, ']');
	at = strchr(at ? at : host, ':');
	if (at && at < host + strcspn(host, "/?#")) {
		str_format(text, sizeof(text), "%.*s", (int)strcspn(at + 1, "/?#"), at + 1);
		if (str_to_i64(text, 1, 65535, &port))
			return (int)port;
	}
	return str_starts(url, "http://") ? 80 : 443;
}

static void let_go(struct reserved *r, const char *host)
{
	struct reserved_host *h = map_get(r->hosts, host);

	if (h && --h->owners == 0)
		map_del(r->hosts, host);
}

void reserved_put(struct reserved *r, const char *owner, const char *place, bool port_alone)
{
	char text[HOST + 8];
	char *was = map_get(r->host_of, owner);
	struct reserved_host *h;

	(void)spelling(place, text);
	if (*text && port_alone)
		str_format(text + strlen(text), 8, " %d", port_of(place));
	if (str_eq(str_or(was, ""), text))
		return;
	was = map_take(r->host_of, owner);
	if (was)
		let_go(r, was);
	free(was);
	if (!*text)
		return;
	map_put(r->host_of, owner, mem_strdup(text));
	h = map_get(r->hosts, text);
	if (!h) {
		h = mem_new(struct reserved_host);
		h->first = mem_strdup(owner);
		map_put(r->hosts, text, h);
	}
	h->owners++;
}

const char *reserved_owner(const struct reserved *r, const char *host, int port)
{
	char text[HOST + 8];
	const struct reserved_host *h = map_get(r->hosts, spelling(host, text));

	if (h)
		return h->first;
	for (size_t i = 0; r->networks && r->networks[i]; i++)
		if (address_in(text, &r->networks[i], 1))
			return "an address of --management-network";
	str_format(text + strlen(text), 8, " %d", port);
	h = map_get(r->hosts, text);
	return h ? h->first : NULL;
}

const char *reserved_owner_of(const struct reserved *r, const char *url)
{
	return reserved_owner(r, url, port_of(url));
}
