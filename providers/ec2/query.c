#include "providers/ec2/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libxml/tree.h>

#include "base/data/xml.h"
#include "base/http/http.h"
#include "base/mem.h"
#include "base/str.h"

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

/* Returns the libxml2 document behind r: struct ec2_reply is never defined, and a pointer to it is
 * the pointer to the document. */
static xmlDoc *doc_of(const struct ec2_reply *r)
{
	return (xmlDoc *)(uintptr_t)r;
}

struct ec2_reply *ec2_reply_parse(const char *xml, size_t len, struct err *e)
{
	xmlDoc *doc = xml_parse(xml, len, QUERY_MAX_REPLY);

	if (doc)
		return (struct ec2_reply *)doc;
	(void)!err_set(e, ERR_PROTOCOL, 0, "the reply is not XML in a supported form");
	return NULL;
}

void ec2_reply_free(struct ec2_reply *r)
{
	xmlFreeDoc(doc_of(r));
}

struct ec2_reply_node ec2_reply_root(const struct ec2_reply *r)
{
	return (struct ec2_reply_node){xmlDocGetRootElement(doc_of(r))};
}

static bool is_named(const xmlNode *n, const char *name, size_t len)
{
	return n->type == XML_ELEMENT_NODE && strlen((const char *)n->name) == len &&
	       !memcmp(n->name, name, len);
}

bool ec2_reply_is(struct ec2_reply_node n, const char *name)
{
	return n.at && is_named(n.at, name, strlen(name));
}

static const xmlNode *next_of(const xmlNode *n, const char *name, size_t len)
{
	while (n && !is_named(n, name, len))
		n = n->next;
	return n;
}

struct ec2_reply_node ec2_reply_at(struct ec2_reply_node n, const char *path)
{
	const xmlNode *at = n.at;

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
	const xmlNode *at = item.at;

	return (struct ec2_reply_node){next_of(at->next, "item", 4)};
}

const char *ec2_reply_text(struct ec2_reply_node n, const char *path, struct arena *a)
{
	const xmlNode *at = ec2_reply_at(n, path).at;
	xmlChar *text = at ? xmlNodeGetContent(at) : NULL;
	const char *out = NULL;

	if (text) {
		const char *from = (const char *)text + strspn((const char *)text, " \t\r\n");
		size_t len = strlen(from);

		while (len && strchr(" \t\r\n", from[len - 1]))
			len--;
		out = len ? arena_strndup(a, from, len) : NULL;
	}
	xmlFree(text);
	return out;
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
