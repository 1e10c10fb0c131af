/*
 * scenario_file: splits a file into documents and determines the line number of each document. A
 * line that begins with "---" ends a document wherever the line occurs (YAML 1.2, 9.1.2). Therefore
 * the text is split at these lines, and each part is parsed by itself.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate/scenario.h"

#define DOCS_MAX 1000000

/* True if the text has only blanks, line ends and comments. */
static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '#')
			while (i < len && text[i] != '\n')
				i++;
		else if (!strchr(" \t\r\n", text[i]))
			return false;
	}
	return true;
}

static size_t line_end(const char *text, size_t len, size_t from)
{
	const char *nl = memchr(text + from, '\n', len - from);

	return nl ? (size_t)(nl - text) + 1 : len;
}

static bool is_cut(const char *text, size_t len, size_t at)
{
	return len - at >= 3 && memcmp(text + at, "---", 3) == 0 &&
	       (len - at == 3 || strchr(" \t\r\n", text[at + 3]));
}

/* Appends a document to f; takes ownership of j. at: text and line of the document. -1: j is not an
 * object, or there are too many documents. */
static int put(struct scenario_file *f, json_t *j, const struct scenario_doc *at, struct err *e)
{
	if (f->n == DOCS_MAX || !json_is_object(j)) {
		json_decref(j);
		return f->n == DOCS_MAX ? err_set(e, ERR_INVALID, 0, "%s: more than %d objects",
						  at->path, DOCS_MAX)
					: err_set(e, ERR_INVALID, 0, "%s:%zu: want an object",
						  at->path, at->line);
	}
	mem_grow(f->v, f->n, f->cap);
	f->v[f->n] = *at;
	f->v[f->n++].j = j;
	return 0;
}

static bool is_list(const json_t *j)
{
	const char *kind = json_str_at(j, "kind");

	return kind && str_ends(kind, "List") && json_is_array(json_object_get(j, "items"));
}

static size_t spaces(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && p[n] == ' ')
		n++;
	return n;
}

/* Returns the start of the first line from p on that consists of indent spaces, a dash and a list
 * item; NULL: none. */
static const char *next_item(const char *p, const char *end, size_t indent)
{
	while (p && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if ((size_t)(end - p) > indent + 1 && spaces(p, end) == indent &&
		    p[indent] == '-' && strchr(" \r\n", p[indent + 1]))
			return p;
		p = nl ? nl + 1 : NULL;
	}
	return NULL;
}

/* Returns the start of the first element of `items:`, and sets *indent to its number of leading
 * spaces. NULL: items is not in block style. */
static const char *first_item(const char *text, const char *end, size_t *indent)
{
	for (const char *p = text; p && p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			return NULL;
		if (str_starts(p, "items:")) {
			*indent = spaces(nl + 1, end);
			return next_item(nl + 1, end, *indent);
		}
		p = nl + 1;
	}
	return NULL;
}

static size_t lines_between(const char *from, const char *to)
{
	size_t n = 0;

	for (; from < to; from++)
		n += *from == '\n';
	return n;
}

/* Adds each item of a List to f as a document. An item without member tenant gets that of the
 * List. */
static int add_items(struct scenario_file *f, const json_t *list, const struct scenario_doc *all,
		     struct err *e)
{
	const char *end = all->text + all->len, *tenant = json_str_at(list, "tenant"), *p, *next,
		   *seen = all->text;
	size_t indent = 0, i, line = all->line;
	json_t *one;
	int rc = 0;

	p = first_item(all->text, end, &indent);
	json_array_foreach (json_object_get(list, "items"), i, one) {
		struct scenario_doc at = *all;

		next = p ? next_item(p + indent + 1, end, indent) : NULL;
		line += p ? lines_between(seen, p) : 0;
		seen = p ? p : seen;
		at.line = line;
		at.len = p ? (size_t)((next ? next : end) - p) : 0;
		at.text = p ? p : all->text;
		if (tenant && json_is_object(one) && !json_object_get(one, "tenant"))
			json_object_set_new(one, "tenant", json_string(tenant));
		if (is_list(one))
			rc = err_set(e, ERR_INVALID, 0,
				     "%s:%zu: a List inside a List is not supported", at.path,
				     at.line);
		if (rc < 0 || put(f, json_incref(one), &at, e) < 0)
			return -1;
		p = next;
	}
	return 0;
}

static int add(struct scenario_file *f, const struct scenario_doc *at, struct err *e)
{
	json_t *j;
	int rc;

	if (is_blank(at->text, at->len))
		return 0;
	j = yaml_parse(at->text, at->len, e);
	if (!j)
		return err_wrap(e, "%s: document at line %zu", at->path, at->line);
	if (!is_list(j))
		return put(f, j, at, e);
	rc = add_items(f, j, at, e);
	json_decref(j);
	return rc;
}

json_t *scenario_body(const json_t *doc)
{
	static const char *const servers[] = {"managedFields", "selfLink", "generateName",
					      "deletionGracePeriodSeconds"};
	json_t *j = json_copy((json_t *)doc), *meta = json_copy(json_object_get(j, "metadata"));

	json_object_del(j, "apiVersion");
	json_object_del(j, "kind");
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		json_object_del(meta, servers[i]);
	if (meta)
		json_object_set_new(j, "metadata", meta);
	return j;
}

int scenario_add(struct scenario_file *f, const char *path, const char *text, size_t len,
		 struct err *e)
{
	/* byte order mark, which Windows editors write */
	static const char mark[] = "\xef\xbb\xbf";
	struct scenario_doc d = {.path = path, .line = 1};
	size_t begin = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0, line = 1;

	if (len > SCENARIO_BYTES)
		return err_set(e, ERR_INVALID, 0, "%s: more than %zu MiB", path,
			       SCENARIO_BYTES >> 20);
	for (size_t at = begin; at < len; line++) {
		const size_t end = line_end(text, len, at);

		if (is_cut(text, len, at)) {
			d.text = text + begin;
			d.len = at - begin;
			if (add(f, &d, e) < 0)
				return -1;
			/* continue on the same line, because an object may follow the marker */
			begin = at + 3;
			d.line = line;
		}
		at = end;
	}
	d.text = text + begin;
	d.len = len - begin;
	return add(f, &d, e);
}

int scenario_parse(struct scenario_file *f, const char *path, const char *text, size_t len,
		   struct err *e)
{
	*f = (struct scenario_file){.path = path};
	return scenario_add(f, path, text, len, e);
}

void scenario_file_done(struct scenario_file *f)
{
	for (size_t i = 0; i < f->n; i++)
		json_decref(f->v[i].j);
	free(f->v);
	*f = (struct scenario_file){0};
}
