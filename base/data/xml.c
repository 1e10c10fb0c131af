/* xml: counts '<' and '=' before parsing. Their number is an upper bound for the number of elements
 * and attributes. Between two tags there is at most one text, so the number of texts has the same
 * bound. */
#include "base/data/xml.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "base/buf.h"
#include "base/mem.h"

struct xml_doc {
	struct arena *arena;
	struct xml_node *root;
};

struct parsing {
	struct xml_doc *doc;
	XML_Parser parser;
	/* elements that are open, the outermost first */
	struct xml_node *open[XML_DEPTH_MAX];
	size_t depth;
	/* text since the last tag */
	struct buf text;
	bool refused;
};

static bool too_many(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n <= XML_NODES_MAX; i++)
		n += text[i] == '<' || text[i] == '=';
	/* mutant: xml-nodes */
	return n > XML_NODES_MAX;
}

static void refuse(struct parsing *p)
{
	p->refused = true;
	XML_StopParser(p->parser, XML_FALSE);
}

/* Adds an empty node to the innermost open element, or as the root. */
static struct xml_node *add_node(struct parsing *p)
{
	struct xml_node *n = arena_new_obj(p->doc->arena, struct xml_node),
			*above = p->depth ? p->open[p->depth - 1] : NULL;

	if (!above)
		p->doc->root = n;
	else if (above->last)
		above->last->next = n;
	else
		above->children = n;
	if (above)
		above->last = n;
	return n;
}

static void end_text(struct parsing *p)
{
	if (strspn(p->text.data, " \t\r\n") < p->text.len)
		add_node(p)->text = arena_strndup(p->doc->arena, p->text.data, p->text.len);
	buf_clear(&p->text);
}

static void on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	const char *colon = strrchr(name, ':');
	struct parsing *p = arg;
	struct xml_node *n;

	(void)attributes;
	if (p->refused)
		return;
	if (/* mutant: xml-depth */ p->depth == XML_DEPTH_MAX) {
		refuse(p);
		return;
	}
	end_text(p);
	n = add_node(p);
	n->name = arena_strdup(p->doc->arena, colon ? colon + 1 : name);
	p->open[p->depth++] = n;
}

static void on_end(void *arg, const XML_Char *name)
{
	struct parsing *p = arg;

	(void)name;
	if (p->refused)
		return;
	end_text(p);
	p->depth--;
}

static void on_text(void *arg, const XML_Char *text, int len)
{
	struct parsing *p = arg;

	if (!p->refused)
		buf_put(&p->text, text, (size_t)len);
}

static void on_doctype(void *arg, const XML_Char *name, const XML_Char *system,
		       const XML_Char *public, int internal)
{
	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	/* mutant: xml-doctype */
	refuse(arg);
}

static bool parse(struct parsing *p, const char *text, size_t len)
{
	XML_SetUserData(p->parser, p);
	XML_SetElementHandler(p->parser, on_start, on_end);
	XML_SetCharacterDataHandler(p->parser, on_text);
	XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
	return XML_Parse(p->parser, text, (int)len, XML_TRUE) == XML_STATUS_OK && !p->refused &&
	       !p->text.over;
}

struct xml_doc *xml_parse(const char *text, size_t len, size_t len_max)
{
	struct parsing p = {0};
	bool ok;

	/* Expat reads UTF-16 where it finds its mark; UTF-16 has zero bytes, and UTF-8 has none. */
	if (len > len_max || len > INT_MAX || memchr(text, '\0', len) || too_many(text, len))
		return NULL;
	p.parser = XML_ParserCreate("UTF-8");
	if (!p.parser)
		abort(); /* out of memory, as in base/mem.h */
	p.doc = mem_new(struct xml_doc);
	p.doc->arena = arena_new();
	buf_init(&p.text, len);
	ok = parse(&p, text, len);
	buf_done(&p.text);
	XML_ParserFree(p.parser);
	if (ok)
		return p.doc;
	xml_doc_free(p.doc);
	return NULL;
}

void xml_doc_free(struct xml_doc *d)
{
	if (!d)
		return;
	arena_free(d->arena);
	free(d);
}

const struct xml_node *xml_root(const struct xml_doc *d)
{
	return d->root;
}

bool xml_is(const struct xml_node *n, const char *name, size_t len)
{
	return n->name && strlen(n->name) == len && !memcmp(n->name, name, len);
}

static void put_text(const struct xml_node *n, struct buf *b)
{
	if (n->text)
		buf_puts(b, n->text);
	for (const struct xml_node *c = n->children; c; c = c->next)
		put_text(c, b);
}

char *xml_text(const struct xml_node *n, struct arena *a)
{
	struct buf b;
	char *out;

	buf_init(&b, SIZE_MAX);
	put_text(n, &b);
	out = arena_strndup(a, b.data, b.len);
	buf_done(&b);
	return out;
}
