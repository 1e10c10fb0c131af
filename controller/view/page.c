#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "controller/view/page.h"
#include "base/str.h"

#define TAG_SIZE 128

static bool is_in(const char *name, const char *const *known)
{
	for (; *known; known++)
		if (str_eq(name, *known))
			return true;
	return false;
}

bool page_refuse(struct httpd_req *q, const char *name, const char *problem)
{
	struct err e;

	err_note(&e, ERR_INVALID, 400, "query parameter %.40s: %s", name, problem);
	str_clean(e.text);
	httpd_reply_err(q, &e);
	return false;
}

bool page_is_known(struct httpd_req *q, const char *const *known)
{
	const char *name;

	for (size_t i = 0; (name = httpd_query_name(q, i)); i++)
		if (!is_in(name, known))
			return page_refuse(q, name, "unknown");
	return true;
}

/* True if If-None-Match contains the tag or is "*". Tags contain no comma. */
static bool is_unchanged(const struct httpd_req *q, const char *tag)
{
	const char *sent = httpd_header(q, "If-None-Match");

	return sent && (str_eq(sent, "*") || strstr(sent, tag));
}

bool page_begin(struct page *p, struct httpd_req *q, const char *version, const char *const *known)
{
	static const char *const own[] = {"limit", "continue", NULL};
	const char *limit = httpd_query(q, "limit"), *name;
	char tag[TAG_SIZE], *end;
	long n;

	*p = (struct page){
		.q = q, .limit = PAGE_ROWS, .after = str_or(httpd_query(q, "continue"), "")};
	for (size_t i = 0; (name = httpd_query_name(q, i)); i++)
		if (!is_in(name, known) && !is_in(name, own))
			return page_refuse(q, name, "unknown");
	if (limit) {
		errno = 0;
		n = strtol(limit, &end, 10);
		if (errno || end == limit || *end || n < 1 || n > PAGE_ROWS_MAX)
			return page_refuse(q, "limit", "a number from 1 to 1000 is required");
		p->limit = (size_t)n;
	}
	str_format(tag, sizeof(tag), "\"%s\"", version);
	httpd_reply_header(q, "ETag", tag);
	httpd_reply_header(q, "Cache-Control", "private, no-cache");
	if (is_unchanged(q, tag)) {
		httpd_reply(q, 304, NULL, "", 0);
		return false;
	}
	return true;
}

void page_reply(struct page *p, json_t *list, const char *last)
{
	char *text;

	if (last)
		json_object_set_new(list, "continue", json_string(last));
	text = json_text(list);
	httpd_reply_json(p->q, 200, text);
	free(text);
	json_decref(list);
}
