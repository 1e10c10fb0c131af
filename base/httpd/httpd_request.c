/* httpd_request: what handlers read of a request (httpd.h).
 * Tests: tests/unit/base/httpd/test_httpd.c */
#include "base/httpd/httpd_impl.h"

#include <string.h>
#include <strings.h>
#include "base/str.h"

const char *httpd_method(const struct httpd_req *q)
{
	return q->method;
}

const char *httpd_path(const struct httpd_req *q)
{
	return q->target.path;
}

const char *httpd_segment(const struct httpd_req *q, size_t n)
{
	return n < q->nmatched ? q->matched[n] : NULL;
}

const char *httpd_query(const struct httpd_req *q, const char *name)
{
	for (size_t i = 0; i < q->target.nparams; i++)
		if (!strcmp(q->target.params[i].name, name))
			return q->target.params[i].value;
	return NULL;
}

const char *httpd_query_name(const struct httpd_req *q, size_t n)
{
	return n < q->target.nparams ? q->target.params[n].name : NULL;
}

const char *httpd_header(const struct httpd_req *q, const char *name)
{
	for (size_t i = 0; i < q->nheaders; i++)
		if (!strcasecmp(q->headers[i].name, name))
			return q->headers[i].value;
	return NULL;
}

const char *httpd_body(const struct httpd_req *q, size_t *len)
{
	if (len)
		*len = q->body.len;
	return q->body.data;
}

const struct httpd_identity *httpd_identity(const struct httpd_req *q)
{
	return &q->identity;
}

struct secret *httpd_bearer(const struct httpd_req *q)
{
	const char *value = httpd_header(q, "Authorization");

	if (!value || strncasecmp(value, "Bearer ", 7) != 0)
		return NULL;
	value += 7;
	value += strspn(value, " ");
	return *value ? secret_from_str(value) : NULL;
}

void httpd_on_gone(struct httpd_req *q, void (*fn)(void *arg), void *arg)
{
	q->gone = fn;
	q->gone_arg = arg;
}
