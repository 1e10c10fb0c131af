#include "providers/ec2/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/xml.h"
#include "base/http/http.h"
#include "base/mem.h"
#include "base/str.h"

#define SPACE " \t\r\n"

/* --- the form --------------------------------------------------------------------------------- */

void query_begin(struct buf *b, const char *action, const char *version)
{
	buf_init(b, QUERY_MAX_BODY);
	buf_printf(b, "Action=%s&Version=%s", action, version);
}

/* Appends the encoded value. A space becomes a plus, as in HTML forms, because some servers decode
 * the form and encode it again to check the signature. */
static void put(struct buf *b, const char *value)
{
	size_t from = b->len;

	http_escape(b, value);
	for (char *at = b->data + from; (at = strstr(at, "%20"));) {
		*at = '+';
		memmove(at + 1, at + 3, strlen(at + 3) + 1);
		b->len -= 2;
	}
}

void query_add(struct buf *b, const char *value, const char *name, ...)
{
	char text[200];
	va_list ap;

	if (!value)
		return;
	va_start(ap, name);
	(void)vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	buf_puts(b, "&");
	http_escape(b, text);
	buf_puts(b, "=");
	put(b, value);
}

void query_add_i64(struct buf *b, int64_t value, const char *name)
{
	buf_printf(b, "&%s=%lld", name, (long long)value);
}

/* --- the reply -------------------------------------------------------------------------------- */

struct ec2_reply {
	struct xml_doc *doc;
};

struct ec2_reply *ec2_reply_parse(const char *xml, size_t len, struct err *e)
{
	struct xml_doc *doc = xml_parse(xml, len, QUERY_MAX_REPLY);
	struct ec2_reply *r;

	if (!doc) {
		err_note(e, ERR_PROTOCOL, 0, "the reply is not XML in a supported form");
		return NULL;
	}
	r = mem_new(struct ec2_reply);
	r->doc = doc;
	return r;
}

void ec2_reply_free(struct ec2_reply *r)
{
	if (r)
		xml_doc_free(r->doc);
	free(r);
}

struct ec2_reply_node ec2_reply_root(const struct ec2_reply *r)
{
	return (struct ec2_reply_node){xml_root(r->doc)};
}

bool ec2_reply_is(struct ec2_reply_node n, const char *name)
{
	return n.at && xml_is(n.at, name, strlen(name));
}

static const struct xml_node *next_of(const struct xml_node *n, const char *name, size_t len)
{
	while (n && !xml_is(n, name, len))
		n = n->next;
	return n;
}

struct ec2_reply_node ec2_reply_at(struct ec2_reply_node n, const char *path)
{
	const struct xml_node *at = n.at;

	while (at && *path) {
		size_t len = strcspn(path, "/");

		at = next_of(at->children, path, len);
		path += len + (path[len] == '/');
	}
	return (struct ec2_reply_node){at};
}

struct ec2_reply_node ec2_reply_first(struct ec2_reply_node n, const char *path)
{
	return ec2_reply_at(ec2_reply_at(n, path), "item");
}

struct ec2_reply_node ec2_reply_next(struct ec2_reply_node item)
{
	const struct xml_node *at = item.at;

	return (struct ec2_reply_node){next_of(at->next, "item", 4)};
}

const char *ec2_reply_text(struct ec2_reply_node n, const char *path, struct arena *a)
{
	const struct xml_node *at = ec2_reply_at(n, path).at;
	const char *text = at ? xml_text(at, a) : "";
	size_t len;

	text += strspn(text, SPACE);
	len = strlen(text);
	while (len && strchr(SPACE, text[len - 1]))
		len--;
	return len ? arena_strndup(a, text, len) : NULL;
}

bool ec2_reply_error(const struct ec2_reply *r, struct arena *a, const char **code,
		     const char **message)
{
	struct ec2_reply_node root = ec2_reply_root(r), error;

	if (!ec2_reply_is(root, "Response") && !ec2_reply_is(root, "ErrorResponse"))
		return false;
	error = ec2_reply_at(root, "Errors/Error");
	if (!error.at)
		error = ec2_reply_at(root, "Error");
	if (!error.at)
		return false;
	*code = str_or(ec2_reply_text(error, "Code", a), "(no code)");
	*message = str_or(ec2_reply_text(error, "Message", a), "");
	return true;
}
