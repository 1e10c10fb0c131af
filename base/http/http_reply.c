#include "base/http/http_impl.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "base/data/json.h"
#include "base/str.h"

#define RETRY_AFTER_MOST_MS 300000
#define COOKIE_MAX 4096

/* Tests: tests/unit/base/httpd/test_http_mem.c, tests/unit/base/http/test_http_curl.c,
 * tests/unit/base/http/test_session.c */

bool http_is_token(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f ||
		    strchr("\"(),/:;<=>?@[\\]{}", *s))
			return false;
	return true;
}

bool http_is_header_value(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return false;
	return true;
}

const char *http_reply_header(const struct http_reply *r, const char *name)
{
	for (size_t i = 0; i < r->nheaders; i++)
		if (!strcasecmp(r->headers[i].name, name))
			return r->headers[i].value;
	return NULL;
}

struct secret *http_reply_cookie(const struct http_reply *r, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < r->nheaders; i++) {
		const char *v = r->headers[i].value;
		size_t len = strcspn(v, "; \t\",\\");

		if (!strcasecmp(r->headers[i].name, "Set-Cookie") && !strncmp(v, name, n) &&
		    v[n] == '=' && len > n + 1 && len <= COOKIE_MAX && (!v[len] || v[len] == ';'))
			return secret_new(v, len);
	}
	return NULL;
}

/* Accepts only the format IMF-fixdate; the two obsolete date formats of RFC 9110 are no longer in
 * use. */
bool http_date(const char *s, int64_t *wall_ms)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm t = {0};
	char month[4] = "";
	const char *at;
	int end = 0;

	if (sscanf(s, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &t.tm_mday, month,
		   &t.tm_year, &t.tm_hour, &t.tm_min, &t.tm_sec, &end) != 6 ||
	    end == 0 || s[end] || strlen(month) != 3)
		return false;
	at = strstr(months, month);
	if (!at || (at - months) % 3 || t.tm_year < 1900)
		return false;
	t.tm_mon = (int)(at - months) / 3;
	t.tm_year -= 1900;
	*wall_ms = (int64_t)timegm(&t) * 1000;
	return true;
}

uint32_t http_retry_after_ms(const char *value, int64_t wall_ms)
{
	size_t digits = strspn(value, "0123456789");
	int64_t n;

	if (digits && !value[digits]) {
		if (!str_to_i64(value, 0, RETRY_AFTER_MOST_MS / 1000, &n))
			/* A number that is too large: use the maximum. */
			return RETRY_AFTER_MOST_MS;
		return (uint32_t)(n * 1000);
	}
	if (!http_date(value, &n))
		return 0;
	n -= wall_ms;
	if (n <= 0)
		return 0;
	return n > RETRY_AFTER_MOST_MS ? RETRY_AFTER_MOST_MS : (uint32_t)n;
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{410, "Gone"},
		{412, "Precondition Failed"},
		{413, "Content Too Large"},
		{415, "Unsupported Media Type"},
		{422, "Unprocessable Content"},
		{428, "Precondition Required"},
		{429, "Too Many Requests"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "";
}

/*
 * Returns the message of an error reply; NULL: none. Knows the forms that drover's peers use:
 * {"message"} (Kubernetes Status, AWS JSON), {"error": "..."} (httpd), and {"error": {"message"}}
 * with the better text in @Message.ExtendedInfo (Redfish, DSP0266 section 8.6).
 */
static const char *message_of(const json_t *j)
{
	const json_t *more = json_at(j, "error", "@Message.ExtendedInfo");
	const char *s = json_str_at(json_array_get(more, 0), "Message");

	if (!s)
		s = json_str_at(j, "error", "message");
	if (!s)
		s = json_str_at(j, "error");
	if (!s)
		s = json_str_at(j, "message");
	return s;
}

int http_err(const struct http_reply *r, struct err *e)
{
	enum err_kind kind = err_kind_of_http(r->status);
	const char *text = NULL, *to = http_reply_header(r, "Location");
	struct err ignored;
	OWN_JSON j = NULL;

	if (r->status >= 200 && r->status < 300)
		return 0;
	if (r->body_len)
		j = json_parse(r->body, r->body_len, &ignored);
	if (json_is_object(j))
		text = message_of(j);
	else if (r->body_len && r->body[strspn(r->body, " \t\r\n")] != '<')
		text = r->body;
	if (r->status >= 300 && r->status < 400 && to)
		/* Put the server's text last, so that truncation of the error affects only that
		 * text (base/quoted.h). */
		return err_set(e, ERR_PROTOCOL, r->status, "%d a redirect, not followed, to %s",
			       r->status, to);
	err_note(e, kind == ERR_NONE ? ERR_PROTOCOL : kind, r->status, "%d %s%s%.180s", r->status,
		 reason(r->status), str_empty(text) ? "" : ": ", str_or(text, ""));
	e->retry_after_ms = r->retry_after_ms;
	return -1;
}

void http_escape(struct buf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') || strchr("-._~", c);

		if (plain)
			buf_put(out, s, 1);
		else
			buf_printf(out, "%%%02X", c);
	}
}
