#include "base/http/http_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/http/http_address.h"
#include "base/mem.h"
#include "base/pem.h"
#include "base/str.h"

/* Tests: tests/unit/base/http/test_http.c, tests/unit/base/http/test_http_curl.c */

/* Parts of a URL. An IPv6 address like "[::1]" has its brackets in authority, but not in host. */
struct url {
	bool tls;
	/* malloc'd; authority always has a port. */
	char *host, *authority;
	const char *prefix;
};

static void url_done(struct url *u)
{
	free(u->host);
	free(u->authority);
}

static bool host_is_sane(const char *s, size_t n, bool bracketed)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		bool alnum =
			(c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!alnum && c != '.' && (bracketed ? c != ':' : c != '-' && c != '_'))
			return false;
	}
	return n > 0 && n <= 253;
}

static bool path_is_sane(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f || *s == '#' || *s == '?')
			return false;
	return true;
}

static int url_parse(const char *text, struct url *u, struct err *e)
{
	struct url x = {0};
	const char *host, *end, *port;
	size_t host_len;
	int64_t number;

	if (str_starts(text, "https://"))
		x.tls = true;
	else if (!str_starts(text, "http://"))
		return err_set(e, ERR_INVALID, 0, "\"%s\": want a URL with http:// or https://",
			       text);
	host = strstr(text, "://") + 3;
	end = host + strcspn(host, "/?#");
	if (memchr(host, '@', (size_t)(end - host)))
		return err_set(e, ERR_INVALID, 0, "a URL may not carry a user name or password");

	if (*host == '[') {
		const char *close = memchr(host, ']', (size_t)(end - host));

		if (!close || !host_is_sane(host + 1, (size_t)(close - host - 1), true))
			return err_set(e, ERR_INVALID, 0, "\"%s\": bad address", text);
		host_len = (size_t)(close + 1 - host);
	} else {
		const char *colon = memchr(host, ':', (size_t)(end - host));

		host_len = (size_t)((colon ? colon : end) - host);
		if (!host_is_sane(host, host_len, false))
			return err_set(e, ERR_INVALID, 0, "\"%s\": bad host name", text);
	}
	port = host + host_len;
	number = x.tls ? 443 : 80;
	if (port < end) {
		char digits[8] = "";

		if (*port != ':' || end - port > 6)
			return err_set(e, ERR_INVALID, 0, "\"%s\": bad port", text);
		memcpy(digits, port + 1, (size_t)(end - port - 1));
		if (!str_to_i64(digits, 1, 65535, &number))
			return err_set(e, ERR_INVALID, 0, "\"%s\": bad port", text);
	}
	if (!path_is_sane(end))
		return err_set(e, ERR_INVALID, 0, "\"%s\": bad path", text);
	x.prefix = end;
	x.authority = mem_printf("%.*s:%d", (int)host_len, host, (int)number);
	x.host = *host == '[' ? mem_strndup(host + 1, host_len - 2) : mem_strndup(host, host_len);
	*u = x;
	return 0;
}

static char *origin_of(const struct url *u)
{
	return mem_printf("%s://%s", u->tls ? "https" : "http", u->authority);
}

static int check_pin(const char *pin, char out[static 65], struct err *e)
{
	unsigned char raw[32];

	if (!str_unhex(raw, pin, sizeof(raw)))
		return err_set(e, ERR_INVALID, 0, "a certificate pin is 64 hex digits");
	str_hex(out, raw, sizeof(raw));
	return 0;
}

/* The certificates and key for the TLS library, as written by pem.h. */
struct material {
	char *ca, *cert;
	struct secret *key;
};

static void material_done(struct material *m)
{
	free(m->ca);
	free(m->cert);
	secret_free(m->key);
}

static int material_read(struct material *m, const struct http_peer_spec *spec, struct err *e)
{
	const struct secret *key = spec->client_key_pem;

	*m = (struct material){0};
	if (!spec->client_cert_pem != !key)
		return err_set(e, ERR_INVALID, 0,
			       "want both a client certificate and its key, or neither");
	if (spec->pem_read) {
		m->ca = mem_strdup(spec->ca_pem);
		m->cert = mem_strdup(spec->client_cert_pem);
		m->key = secret_copy(key);
		return 0;
	}
	if (spec->ca_pem) {
		m->ca = pem_certs(spec->ca_pem, strlen(spec->ca_pem), PEM_CERTS_MAX, e);
		if (!m->ca)
			return err_wrap(e, "CA");
	}
	if (!key)
		return 0;
	m->cert = pem_certs(spec->client_cert_pem, strlen(spec->client_cert_pem), PEM_CERTS_MAX, e);
	if (!m->cert)
		return err_wrap(e, "client certificate");
	m->key = pem_key(secret_expose(key), secret_len(key), e);
	if (!m->key || pem_pair(m->cert, m->key, e) < 0)
		return err_wrap(e, "client key");
	return 0;
}

struct http_peer *http_peer_new(struct http *h, const struct http_peer_spec *spec, struct err *e)
{
	struct url u = {0};
	struct material m;
	struct http_peer *p;
	char pin[65] = "";

	if (spec->pin_sha256 && check_pin(spec->pin_sha256, pin, e) < 0)
		return NULL;
	if (spec->user_agent && !http_is_header_value(spec->user_agent)) {
		err_note(e, ERR_INVALID, 0, "bad characters in the user agent");
		return NULL;
	}
	if (spec->server_name && !http_is_server_name(spec->server_name)) {
		err_note(e, ERR_INVALID, 0, "\"%s\": bad server name", spec->server_name);
		return NULL;
	}
	if (url_parse(spec->base_url, &u, e) < 0)
		return NULL;
	if (!u.tls && !spec->plain_ok) {
		err_note(e, ERR_INVALID, 0, "\"%s\": plain HTTP is not allowed here",
			 spec->base_url);
		url_done(&u);
		return NULL;
	}
	if (material_read(&m, spec, e) < 0) {
		material_done(&m);
		url_done(&u);
		return NULL;
	}

	p = mem_new(struct http_peer);
	p->h = h;
	p->refs = 1;
	list_init(&p->ready_link);
	list_init(&p->waiting);
	list_init(&p->flying);
	list_push_back(&h->peers, &p->link);
	memcpy(p->pin, pin, sizeof(pin));
	p->client_key = m.key;
	p->spec = (struct http_peer_spec){
		.base_url = mem_strdup(spec->base_url),
		.ca_pem = m.ca,
		.server_name = mem_strdup(spec->server_name),
		.pin_sha256 = spec->pin_sha256 ? p->pin : NULL,
		.learn_pin = spec->learn_pin,
		.client_cert_pem = m.cert,
		.client_key_pem = p->client_key,
		.max_in_flight = spec->max_in_flight,
		.plain_ok = spec->plain_ok,
		.local_ok = spec->local_ok || http_host_is_local(u.host, strchr(u.host, ':')),
		.may_reach = spec->may_reach,
		.may_reach_arg = spec->may_reach_arg,
		.user_agent =
			mem_strdup(spec->user_agent ? spec->user_agent : "drover/" DROVER_VERSION),
	};
	p->origin = origin_of(&u);
	p->prefix = mem_strdup(u.prefix);
	if (str_ends(p->prefix, "/"))
		p->prefix[strlen(p->prefix) - 1] = '\0';
	p->host = mem_strdup(u.host);
	url_done(&u);
	return p;
}

void http_peer_free(struct http_peer *p)
{
	if (!p)
		return;
	if (p->h) {
		http_cancel_all(p);
		list_remove(&p->link);
		list_remove(&p->ready_link);
	}
	http_peer_unref(p);
}

const char *http_peer_reached(const struct http_peer *p)
{
	return p->reached[0] ? p->reached : NULL;
}

const char *http_peer_learned(const struct http_peer *p)
{
	return p->learned ? p->pin : NULL;
}

char *http_origin(const char *text)
{
	struct url u = {0};
	struct err e;
	char *origin;

	if (url_parse(text, &u, &e) < 0)
		return NULL;
	origin = origin_of(&u);
	url_done(&u);
	return origin;
}

const char *http_peer_origin(const struct http_peer *p)
{
	return p->origin;
}
