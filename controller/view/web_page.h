#ifndef CONTROLLER_VIEW_WEB_PAGE_H
#define CONTROLLER_VIEW_WEB_PAGE_H

#include "base/httpd/httpd.h"

/*
 * web_page: the page that shows the view in a browser: GET / and the files that it loads. They
 * contain no data and need no token; the page asks its user for one, and sends it with each request
 * for data. Everything is part of the program: nothing is loaded from elsewhere, and the
 * Content-Security-Policy forbids it.
 * Tests: tests/unit/controller/view/test_web_page.c, tests/real/web_page.py
 */

/* Adds the paths of the page. */
void web_page_routes(struct httpd *d);

#endif
