#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Checks Signature Version 4: rebuilds the canonical request from the received one. It shares no
 * code with any signer.
 *
 * Tests: tests/unit/sim/ec2/test_sign.c, tests/real/ec2.py
 */
#define SERVICE "ec2"
#define ALGORITHM "AWS4-HMAC-SHA256"
#define SKEW_MS (15 * 60 * 1000)
#define CANON_MAX (1u << 20)
#define HEADERS_MAX 64
#define HOST_MAX 300

static void put_uri(struct buf *b, const char *s, bool slash)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c) || (slash && c == '/'))
			buf_put(b, s, 1);
		else
			buf_printf(b, "%%%c%c", hex[c >> 4], hex[c & 15]);
	}
}

/* Writes a header value, trimmed and with runs of blanks collapsed into one. */
static void put_value(struct buf *b, const char *s)
{
	size_t n = strlen(s);

	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	for (size_t i = 0, any = 0; i < n; i++) {
		bool blank = s[i] == ' ' || s[i] == '\t';

		if (blank && (!any || s[i - 1] == ' ' || s[i - 1] == '\t'))
			continue;
		buf_put(b, blank ? " " : s + i, 1);
		any = 1;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Removes the default port from the header Host, because the in-process transport of the tests
 * sends it and real clients do not. */
static void without_default_port(struct e2_pair *v, int n, char host[static HOST_MAX])
{
	for (int i = 0; i < n; i++) {
		size_t len = strlen(v[i].value);

		if (!str_eq(v[i].name, "host") || !str_ends(v[i].value, ":443"))
			continue;
		str_format(host, HOST_MAX, "%.*s", (int)len - 4, v[i].value);
		v[i].value = host;
	}
}

static void put_query(struct buf *b, const struct e2_pair *v, size_t n)
{
	char **rows = mem_calloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		struct buf row;

		buf_init(&row, CANON_MAX);
		put_uri(&row, v[i].name, false);
		/* Separates name and value by a byte that sorts below every other byte, so that "a"
		 * comes before "a-b". */
		buf_puts(&row, "\1");
		put_uri(&row, v[i].value, false);
		rows[i] = buf_steal(&row);
	}
	qsort(rows, n, sizeof(*rows), by_text);
	for (size_t i = 0; i < n; i++) {
		*strchr(rows[i], '\1') = '=';
		buf_printf(b, "%s%s", i ? "&" : "", rows[i]);
		free(rows[i]);
	}
	free(rows);
}

static void put_hash(struct buf *b, const void *data, size_t len)
{
	uint8_t hash[CRYPTO_SHA256];
	char hex[2 * CRYPTO_SHA256 + 1];

	crypto_sha256(data, len, hash);
	str_hex(hex, hash, sizeof(hash));
	buf_puts(b, hex);
}

static void sign_with(uint8_t key[static CRYPTO_SHA256], const char *text, size_t len)
{
	OWN(secret) k = secret_new(key, CRYPTO_SHA256);

	crypto_hmac_sha256(k, text, len, key);
}

void e2_signature(const struct e2_signed *r, const char *secret, char out[static 65])
{
	uint8_t key[CRYPTO_SHA256];
	char day[9];
	struct buf canon, text, first;

	buf_init(&canon, CANON_MAX);
	buf_printf(&canon, "%s\n", r->method);
	put_uri(&canon, r->path, true);
	buf_puts(&canon, "\n");
	put_query(&canon, r->query, r->nquery);
	buf_puts(&canon, "\n");
	for (size_t i = 0; i < r->nheaders; i++) {
		buf_printf(&canon, "%s:", r->headers[i].name);
		put_value(&canon, r->headers[i].value);
		buf_puts(&canon, "\n");
	}
	buf_puts(&canon, "\n");
	for (size_t i = 0; i < r->nheaders; i++)
		buf_printf(&canon, "%s%s", i ? ";" : "", r->headers[i].name);
	buf_puts(&canon, "\n");
	put_hash(&canon, r->body, r->len);

	str_format(day, sizeof(day), "%.8s", r->date);
	buf_init(&text, CANON_MAX);
	buf_printf(&text, ALGORITHM "\n%s\n%s/%s/%s/aws4_request\n", r->date, day, r->region,
		   r->service);
	put_hash(&text, canon.data, canon.len);

	buf_init(&first, CANON_MAX);
	buf_printf(&first, "AWS4%s", secret);
	{
		OWN(secret) k = secret_new(first.data, first.len);

		crypto_hmac_sha256(k, day, strlen(day), key);
	}
	sign_with(key, r->region, strlen(r->region));
	sign_with(key, r->service, strlen(r->service));
	sign_with(key, "aws4_request", strlen("aws4_request"));
	sign_with(key, text.data, text.len);
	str_hex(out, key, sizeof(key));
	secret_wipe(first.data, first.len);
	buf_done(&first);
	buf_done(&text);
	buf_done(&canon);
}

/* --- checking a request ----------------------------------------------------------------------- */

/* Parts of the Authorization header; the members point into a copy of the header. */
struct said {
	char *key, *day, *region, *service, *end, *headers, *signature;
};

/* Splits "AWS4-HMAC-SHA256 Credential=KEY/20150830/eu-west-1/ec2/aws4_request, SignedHeaders=a;b,
 * Signature=HEX" into *a. False: the text has a different form. */
static bool take_apart(char *text, struct said *a)
{
	char *save = NULL;

	if (!str_starts(text, ALGORITHM " "))
		return false;
	for (char *t = strtok_r(text + strlen(ALGORITHM), ", ", &save); t;
	     t = strtok_r(NULL, ", ", &save)) {
		if (str_starts(t, "Credential="))
			a->key = t + strlen("Credential=");
		else if (str_starts(t, "SignedHeaders="))
			a->headers = t + strlen("SignedHeaders=");
		else if (str_starts(t, "Signature="))
			a->signature = t + strlen("Signature=");
		else
			return false;
	}
	if (!a->key || !a->headers || !a->signature)
		return false;
	a->key = strtok_r(a->key, "/", &save);
	a->day = strtok_r(NULL, "/", &save);
	a->region = strtok_r(NULL, "/", &save);
	a->service = strtok_r(NULL, "/", &save);
	a->end = strtok_r(NULL, "/", &save);
	return a->key && a->end && !strtok_r(NULL, "/", &save) && str_eq(a->end, "aws4_request") &&
	       str_eq(a->service, SERVICE) && strlen(a->signature) == 64;
}

/* Sets *ms to the time in a text such as 20150830T123600Z, Unix ms. False: not valid. */
static bool time_of(const char *date, int64_t *ms)
{
	char text[STR_TIME_SIZE];

	if (!date || strlen(date) != 16)
		return false;
	str_format(text, sizeof(text),
		   "%.4s-%.2s-%.2s"
		   "T%.2s:%.2s:%.2sZ",
		   date, date + 4, date + 6, date + 9, date + 11, date + 13);
	return date[8] == 'T' && date[15] == 'Z' && str_to_time(text, ms);
}

/* Collects the signed headers in v and returns their number. -1: a signed header is absent from the
 * request or out of order, or a header that must be signed is not signed. */
static int headers_of(const struct httpd_req *q, char *names, struct e2_pair *v)
{
	static const char *const wanted[] = {"host", "x-amz-date", "x-amz-security-token",
					     "x-amz-content-sha256"};
	unsigned seen = 0;
	char *save = NULL;
	int n = 0;

	for (char *t = strtok_r(names, ";", &save); t; t = strtok_r(NULL, ";", &save)) {
		const char *value = httpd_header(q, t);

		if (!value || n == HEADERS_MAX || (n && strcmp(v[n - 1].name, t) >= 0))
			return -1;
		for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			seen |= str_eq(wanted[i], t) ? 1u << i : 0;
		v[n++] = (struct e2_pair){t, (char *)value};
	}
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!(seen & 1u << i) && (i < 2 || httpd_header(q, wanted[i])))
			return -1;
	return n;
}

static const struct sim_ec2_key *key_of(const struct sim_ec2 *s, const char *id)
{
	for (size_t i = 0; i < s->spec.nkeys; i++)
		if (str_eq(s->spec.keys[i].id, id))
			return &s->spec.keys[i];
	return NULL;
}

static bool is_region(const struct sim_ec2 *s, const char *region)
{
	for (size_t i = 0; s->zones[i]; i++)
		if (e2_in_region(s->zones[i], region))
			return true;
	return false;
}

static bool check(struct e2_call *c, const struct said *a, const struct sim_ec2_key *k)
{
	struct e2_pair headers[HEADERS_MAX], *query = NULL;
	size_t n = 0, cap = 0;
	struct e2_signed r = {.method = httpd_method(c->q),
			      .path = httpd_path(c->q),
			      .headers = headers,
			      .date = httpd_header(c->q, "x-amz-date"),
			      .region = a->region,
			      .service = a->service};
	int64_t at, now = e2_wall(c->s);
	int nheaders = headers_of(c->q, a->headers, headers);
	char want[65], host[HOST_MAX];

	if (!time_of(r.date, &at) || nheaders < 0 || strncmp(r.date, a->day, 8) != 0) {
		e2_fail(c, 400, "IncompleteSignature",
			"X-Amz-Date, the credential's day and SignedHeaders do not fit together.");
		return false;
	}
	if (at < now - SKEW_MS || at > now + SKEW_MS) {
		e2_fail(c, 400, "RequestExpired", "Request has expired.");
		return false;
	}
	for (const char *name; (name = httpd_query_name(c->q, n)); n++) {
		mem_grow(query, n, cap);
		query[n] = (struct e2_pair){(char *)name, (char *)httpd_query(c->q, name)};
	}
	without_default_port(headers, nheaders, host);
	r.query = query;
	r.nquery = n;
	r.nheaders = (size_t)nheaders;
	r.body = httpd_body(c->q, &r.len);
	e2_signature(&r, k->secret, want);
	free(query);
	if (str_eq(want, a->signature) &&
	    str_eq(httpd_header(c->q, "x-amz-security-token"), k->session))
		return true;
	e2_fail(c, 401, "AuthFailure",
		"AWS was not able to validate the provided access credentials");
	return false;
}

bool e2_is_signed(struct e2_call *c)
{
	const char *header = httpd_header(c->q, "Authorization");
	char *text;
	struct said a = {0};
	const struct sim_ec2_key *k;
	bool good = false;

	if (!c->s->spec.nkeys) {
		c->account = SIM_EC2_ACCOUNT;
		str_format(c->region, sizeof(c->region), "%.*s", (int)strlen(c->s->zones[0]) - 1,
			   c->s->zones[0]);
		return true;
	}
	if (!header) {
		e2_fail(c, 403, "MissingAuthenticationToken", "The request is not signed.");
		return false;
	}
	text = mem_strdup(header);
	if (!take_apart(text, &a)) {
		e2_fail(c, 400, "IncompleteSignature",
			"Authorization is not as %s for the service %s has it.", ALGORITHM,
			SERVICE);
	} else if (!(k = key_of(c->s, a.key)) || !is_region(c->s, a.region)) {
		e2_fail(c, 401, "AuthFailure",
			"AWS was not able to validate the provided access credentials");
	} else if (check(c, &a, k)) {
		c->account = str_or(k->account, SIM_EC2_ACCOUNT);
		good = str_copy(c->region, sizeof(c->region), a.region);
	}
	free(text);
	return good;
}
