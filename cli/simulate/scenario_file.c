/*
 * scenario_file: documents and their lines.  A line that begins with "---" ends a document wherever it stands (YAML 1.2,
 * 9.1.2), so the text is cut there and each piece is parsed by itself.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/data/yaml.h"
#include "base/mem.h"
#include "cli/simulate/scenario.h"

#define DOCS_MAX 1000000

/* Nothing but space and comments. */
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

static int add(struct scenario_file *f, const char *text, size_t len, size_t line, struct err *e)
{
	json_t *j;

	if (is_blank(text, len))
		return 0;
	if (f->n == DOCS_MAX)
		return err_set(e, ERR_INVALID, 0, "%s: more than %d documents", f->path, DOCS_MAX);
	j = yaml_parse(text, len, e);
	if (!j)
		return err_wrap(e, "%s: document at line %zu", f->path, line);
	mem_grow(f->v, f->n, f->cap);
	f->v[f->n++] = (struct scenario_doc){j, text, len, line};
	if (!json_is_object(j))
		return err_set(e, ERR_INVALID, 0, "%s:%zu: want an object", f->path, line);
	return 0;
}

int scenario_parse(struct scenario_file *f, const char *path, const char *text, size_t len,
		   struct err *e)
{
	size_t begin = 0, line = 1, first = 1;

	*f = (struct scenario_file){.path = path};
	if (len > SCENARIO_BYTES)
		return err_set(e, ERR_INVALID, 0, "%s: more than %zu MiB", path,
			       SCENARIO_BYTES >> 20);
	for (size_t at = 0; at < len; line++) {
		const size_t end = line_end(text, len, at);

		if (is_cut(text, len, at)) {
			if (add(f, text + begin, at - begin, first, e) < 0)
				return -1;
			begin = at + 3; /* an object may begin behind the marker */
			first = line;
		}
		at = end;
	}
	return add(f, text + begin, len - begin, first, e);
}

void scenario_file_done(struct scenario_file *f)
{
	for (size_t i = 0; i < f->n; i++)
		json_decref(f->v[i].j);
	free(f->v);
	*f = (struct scenario_file){0};
}
