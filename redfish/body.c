#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * body: parses the JSON object in a reply of a BMC, and limits its depth and width.
 *
 * DSP0266 requires UTF-8.  A reply whose Content-Type names ISO-8859-1 is converted; any other
 * invalid UTF-8 is an error.
 *
 * Tests: tests/unit/redfish/test_body.c
 */
/* Maximum number of JSON values in one reply. The limit is low because a thousand BMCs may answer
 * at the same time. */
#define MAX_VALUES 50000
#define MAX_DEPTH 32
#define MAX_MEMBERS 8192

/* True if the depth and the width of j are within their limits. */
static bool bounded(const json_t *j, unsigned depth)
{
	const char *key;
	json_t *v;
	size_t i;

	if (depth > MAX_DEPTH)
		return false;
	if (json_is_object(j)) {
		if (json_object_size(j) > MAX_MEMBERS)
			return false;
		json_object_foreach ((json_t *)j, key, v)
			if (!bounded(v, depth + 1))
				return false;
	} else if (json_is_array(j)) {
		if (json_array_size(j) > MAX_MEMBERS)
			return false;
		json_array_foreach (j, i, v)
			if (!bounded(v, depth + 1))
				return false;
	}
	return true;
}

/* Returns true if the Content-Type names ISO-8859-1, whose bytes are the first 256 code points of
 * Unicode. */
static bool is_latin(const struct http_reply *http)
{
	static const char *const names[] = {"iso-8859-1", "iso8859-1", "latin1"};
	const char *type = http_reply_header(http, "Content-Type");
	const char *at = type ? strcasestr(type, "charset=") : NULL;

	if (!at)
		return false;
	at += strlen("charset=");
	at += *at == '"';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncasecmp(at, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static char *utf8_of_latin(const char *s, size_t len, size_t *out_len)
{
	char *out = mem_alloc(2 * len + 1), *at = out;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x80)
			*at++ = (char)(0xc0 | c >> 6);
		*at++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	*out_len = (size_t)(at - out);
	return out;
}

static json_t *parse(const struct http_reply *http, struct err *e)
{
	size_t len;
	char *text;
	json_t *j;

	if (!is_latin(http))
		return json_parse_most(http->body, http->body_len, MAX_VALUES, e);
	text = utf8_of_latin(http->body, http->body_len, &len);
	j = json_parse_most(text, len, MAX_VALUES, e);
	free(text);
	return j;
}

/* Describes the body for the error text if the body cannot be JSON; NULL: it may be JSON. */
static const char *nature(const struct http_reply *http)
{
	size_t blank = strspn(http->body, " \t\r\n");

	if (blank == http->body_len)
		return "an empty reply";
	if (http->body[blank] == '<')
		return "a page of HTML or XML, where JSON was asked for";
	if (str_starts(http->body, "\x1f\x8b"))
		return "a compressed reply, which was not asked for";
	return NULL;
}

json_t *rf_body(const struct http_reply *http, struct err *e)
{
	const char *wrong = nature(http);
	json_t *j;

	if (wrong) {
		err_note(e, ERR_PROTOCOL, 0, "%s", wrong);
		return NULL;
	}
	j = parse(http, e);
	if (!j || (json_is_object(j) && bounded(j, 1)))
		return j;
	json_decref(j);
	err_note(e, ERR_PROTOCOL, 0,
		 "the reply is not a JSON object, is nested too deeply, or has an object or "
		 "array with too many members");
	return NULL;
}
