#ifndef CONTROLLER_VIEW_PAGE_H
#define CONTROLLER_VIEW_PAGE_H

#include "base/data/json.h"
#include "base/httpd/httpd.h"

/*
 * page: one page of a list that the view serves.
 *
 * Query parameters: limit (rows of a page, 1 to PAGE_ROWS_MAX; default PAGE_ROWS) and continue (the
 * member `continue` of the page before). The position in `continue` is the key of the last row, so
 * a row that is added or removed between two pages neither repeats nor hides another row.
 *
 * The ETag header is the version of the whole list. A request with If-None-Match of that version
 * gets 304 without a body (RFC 9110, section 13.1.2).
 * Tests: tests/unit/controller/view/test_view.c
 */
#define PAGE_ROWS 500
#define PAGE_ROWS_MAX 1000

struct page {
	struct httpd_req *q;
	size_t limit;
	/* Key after which the page begins; "": from the beginning */
	const char *after;
};

/* Reads the query of q into *p, whose texts are valid as long as q. version: text that changes
 * whenever the list changes, without quotes and at most 100 bytes. False: page_begin() has replied
 * (400 for a bad parameter, 304 for an unchanged list). known: the query parameters that the list
 * understands besides limit and continue, NULL-terminated. */
bool page_begin(struct page *p, struct httpd_req *q, const char *version, const char *const *known);
/* True if each query parameter of q is in the NULL-terminated list known. Otherwise replies with
 * 400 and returns false. */
bool page_is_known(struct httpd_req *q, const char *const *known);
/* Replies with 400: the value of query parameter `name` is invalid because of `problem`. Returns
 * false. */
bool page_refuse(struct httpd_req *q, const char *name, const char *problem);
/* Replies with the list object. Takes ownership of list. last: key of the last row on this page if
 * more rows follow, for member `continue`; NULL: this page is the last. */
void page_reply(struct page *p, json_t *list, const char *last);

#endif
