#include "providers/ec2/sigv4.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

#define CANONICAL_MAX (1u << 20)
#define HEX_SHA256 (2 * CRYPTO_SHA256 + 1)

/* A header or query parameter in canonical form. */
struct pair {
	char *name, *value;
	/* Original position: several values of one header keep their order */
	size_t at;
};

static void encode(struct buf *out, const char *s, const char *kept)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c) || strchr(kept, c))
			buf_put(out, s, 1);
		else
			buf_printf(out, "%%%02X", c);
	}
}

static char *encoded(const char *s)
{
	struct buf b;

	buf_init(&b, CANONICAL_MAX);
	encode(&b, s, "");
	return buf_steal(&b);
}

static char *lower(const char *s)
{
	char *t = mem_strdup(s);

	for (char *c = t; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return t;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns a copy without surrounding spaces, with each inner run of spaces reduced to one space. */
static char *trimmed(const char *s)
{
	char *t = mem_strdup(s), *to = t;

	for (const char *from = s; *from; from++) {
		if (!is_space(*from))
			*to++ = *from;
		else if (to > t && from[1] && !is_space(from[1]))
			*to++ = ' ';
	}
	*to = '\0';
	return t;
}

static int by_name_and_value(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->value, y->value);
}

static int by_name_and_place(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void pairs_free(struct pair *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		secret_wipe(v[i].value, strlen(v[i].value));
		free(v[i].name);
		free(v[i].value);
	}
	free(v);
}

static void put_query(const struct sigv4_request *r, struct buf *out)
{
	struct pair *v = mem_calloc(r->nquery + 1, sizeof(*v));

	for (size_t i = 0; i < r->nquery; i++) {
		v[i].name = encoded(r->query[i].name);
		v[i].value = encoded(r->query[i].value);
	}
	qsort(v, r->nquery, sizeof(*v), by_name_and_value);
	for (size_t i = 0; i < r->nquery; i++)
		buf_printf(out, "%s%s=%s", i ? "&" : "", v[i].name, v[i].value);
	pairs_free(v, r->nquery);
}

static struct pair *headers_of(const struct sigv4_request *r, const struct sigv4_credentials *c,
			       size_t *n)
{
	struct pair *v = mem_calloc(r->nheaders + 2, sizeof(*v));
	char date[SIGV4_DATE];
	size_t at = 0;

	for (; at < r->nheaders; at++)
		v[at] = (struct pair){lower(r->headers[at].name), trimmed(r->headers[at].value),
				      at};
	v[at] = (struct pair){mem_strdup("x-amz-date"), mem_strdup(sigv4_date(date, r->at)), at};
	at++;
	if (c->session_token) {
		v[at] = (struct pair){mem_strdup("x-amz-security-token"),
				      trimmed(secret_expose(c->session_token)), at};
		at++;
	}
	qsort(v, at, sizeof(*v), by_name_and_place);
	*n = at;
	return v;
}

static void put_headers(const struct pair *v, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i && str_eq(v[i].name, v[i - 1].name))
			buf_puts(out, ",");
		else
			buf_printf(out, "%s%s:", i ? "\n" : "", v[i].name);
		buf_puts(out, v[i].value);
	}
	buf_puts(out, "\n");
}

static void put_names(const struct pair *v, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		if (!i || !str_eq(v[i].name, v[i - 1].name))
			buf_printf(out, "%s%s", i ? ";" : "", v[i].name);
}

static void put_digest(const void *data, size_t len, struct buf *out)
{
	uint8_t digest[CRYPTO_SHA256];
	char hex[HEX_SHA256];

	crypto_sha256(len ? data : "", len, digest);
	str_hex(hex, digest, sizeof(digest));
	buf_puts(out, hex);
}

void sigv4_canonical(const struct sigv4_request *r, const struct sigv4_credentials *c,
		     struct buf *out)
{
	size_t n;
	struct pair *v = headers_of(r, c, &n);

	buf_printf(out, "%s\n", r->method);
	encode(out, r->path, "/");
	buf_puts(out, "\n");
	put_query(r, out);
	buf_puts(out, "\n");
	put_headers(v, n, out);
	buf_puts(out, "\n");
	put_names(v, n, out);
	buf_puts(out, "\n");
	put_digest(r->body, r->body_len, out);
	pairs_free(v, n);
}

const char *sigv4_date(char out[static SIGV4_DATE], int64_t unix_ms)
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm t;

	gmtime_r(&seconds, &t);
	(void)strftime(out, SIGV4_DATE, "%Y%m%dT%H%M%SZ", &t);
	return out;
}

static struct secret *step(struct secret *key, const char *text)
{
	uint8_t mac[CRYPTO_SHA256];
	struct secret *next;

	crypto_hmac_sha256(key, text, strlen(text), mac);
	secret_free(key);
	next = secret_new(mac, sizeof(mac));
	secret_wipe(mac, sizeof(mac));
	return next;
}

static struct secret *signing_key(const struct sigv4_request *r, const struct secret *secret_key,
				  const char *day)
{
	char *first = mem_printf("AWS4%s", secret_expose(secret_key));
	struct secret *key = secret_from_str(first);

	secret_wipe(first, strlen(first));
	free(first);
	key = step(key, day);
	key = step(key, r->region);
	key = step(key, r->service);
	return step(key, "aws4_request");
}

static void sign(const struct secret *key, const char *text, char hex[static HEX_SHA256])
{
	uint8_t mac[CRYPTO_SHA256];

	crypto_hmac_sha256(key, text, strlen(text), mac);
	str_hex(hex, mac, sizeof(mac));
}

char *sigv4_authorization(const struct sigv4_request *r, const struct sigv4_credentials *c)
{
	char date[SIGV4_DATE], day[9], signature[HEX_SHA256];
	struct buf canonical, text, names;
	OWN(secret) key = NULL;
	size_t n;
	struct pair *v = headers_of(r, c, &n);
	char *out;

	str_copy(day, sizeof(day), sigv4_date(date, r->at));
	buf_init(&canonical, CANONICAL_MAX);
	buf_init(&text, CANONICAL_MAX);
	buf_init(&names, CANONICAL_MAX);
	sigv4_canonical(r, c, &canonical);
	buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%s/%s/%s/aws4_request\n", date, day, r->region,
		   r->service);
	put_digest(canonical.data, canonical.len, &text);
	key = signing_key(r, c->secret_key, day);
	sign(key, text.data, signature);
	put_names(v, n, &names);
	out = mem_printf("AWS4-HMAC-SHA256 Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=%s, "
			 "Signature=%s",
			 c->access_key_id, day, r->region, r->service, names.data, signature);
	secret_wipe(canonical.data, canonical.len);
	buf_done(&canonical);
	buf_done(&text);
	buf_done(&names);
	pairs_free(v, n);
	return out;
}
