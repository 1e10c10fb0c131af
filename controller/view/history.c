/*
 * history: writes the reply as text, because a tree of JSON values with 200,000 numbers would block
 * the loop too long.
 */
#include "controller/view/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "controller/view/page.h"

/* Maximum number of values of tenant columns in one reply */
#define NUMBERS_MAX 200000
/* Maximum size of a reply in bytes: at most 16 for each value (such as "4294967295.25,"), and the
 * names */
#define REPLY_MAX (16 * (NUMBERS_MAX + 8 * GPU_HISTORY_STEPS) + 300 * GPU_HISTORY_TENANTS + 4096)
#define HOUR_STEPS 12

static const char *const parameters[] = {"from", "step", "tenant", NULL},
			 *const tenant_parameters[] = {"from", "step", NULL};

struct history_request {
	struct gpu_history *h;
	const char *tenant;
	/* Steps of 5 minutes in one point */
	unsigned steps;
	/* First step of the first point */
	int64_t first;
	/* Number of points */
	size_t n;
};

/* Reads the query parameters from and step into *r. False: page_refuse() replied with
 * 400. */
static bool read_query(struct history_request *r, struct httpd_req *q)
{
	const char *from = httpd_query(q, "from"), *step = str_or(httpd_query(q, "step"), "1h");
	const int64_t newest = gpu_history_newest(r->h);
	int64_t first = newest - GPU_HISTORY_STEPS + 1, asked = 0;

	if (!str_eq(step, "5m") && !str_eq(step, "1h"))
		return page_refuse(q, "step", "5m or 1h is required");
	if (from && (!str_to_time(from, &asked) || asked < 0))
		return page_refuse(q, "from", "a time such as 2026-01-02T15:00:00Z is required");
	r->steps = str_eq(step, "1h") ? HOUR_STEPS : 1;
	asked /= GPU_HISTORY_STEP_MS;
	first = asked > first ? asked : first;
	/* before the first sample in the window there is nothing to show */
	while (first <= newest && !gpu_history_has(r->h, first))
		first++;
	r->first = first - first % r->steps;
	r->n = first <= newest ? (size_t)((newest - r->first) / r->steps) + 1 : 0;
	return true;
}

static void put_number(struct buf *b, int64_t hundredths)
{
	char text[24], *p = text + sizeof(text);
	int64_t part = hundredths % 100, whole = hundredths / 100;

	if (part) {
		if (part % 10)
			*--p = (char)('0' + part % 10);
		*--p = (char)('0' + part / 10);
		*--p = '.';
	}
	do {
		*--p = (char)('0' + whole % 10);
		whole /= 10;
	} while (whole);
	buf_put(b, p, (size_t)(text + sizeof(text) - p));
}

static void put_column(struct buf *b, const struct history_request *r, const struct gpu_column *x)
{
	for (size_t i = 0; i < r->n; i++) {
		int64_t hundredths;

		buf_puts(b, i ? "," : "[");
		if (gpu_history_mean(r->h, x, r->first + (int64_t)(i * r->steps), r->steps,
				     &hundredths))
			put_number(b, hundredths);
		else
			buf_puts(b, "null");
	}
	buf_puts(b, r->n ? "]" : "[]");
}

/* Writes the tenants of one page. Returns the last name if more tenants follow, else NULL. */
static const char *put_tenants(struct buf *b, const struct history_request *r, const struct page *p)
{
	const size_t fit = NUMBERS_MAX / (r->n ? r->n : 1), limit = p->limit < fit ? p->limit : fit;
	const char *last = NULL;
	struct gpu_column *const *v;
	size_t n, rows = 0;

	v = gpu_history_tenants(r->h, &n);
	for (size_t i = 0; i < n; i++) {
		/* a DNS subdomain: no character needs an escape in JSON */
		const char *name = gpu_column_name(v[i]);

		if ((r->tenant && !str_eq(name, r->tenant)) || strcmp(name, p->after) <= 0)
			continue;
		if (rows == limit)
			return last;
		buf_printf(b, "%s\"%s\":", rows++ ? "," : "", name);
		put_column(b, r, v[i]);
		last = name;
	}
	return NULL;
}

static void put_fleet(struct buf *b, const struct history_request *r)
{
	buf_puts(b, "\"states\":{");
	for (int g = 0; g < GPU_GROUPS; g++) {
		buf_printf(b, "%s\"%s\":", g ? "," : "", gpu_group_names[g]);
		put_column(b, r, gpu_history_group(r->h, (enum gpu_group)g));
	}
	buf_puts(b, "},\"otherTenants\":");
	put_column(b, r, gpu_history_others(r->h));
	buf_puts(b, ",");
}

/* own: the reply is for the users of r->tenant, and so contains nothing about the fleet. */
static void reply(struct history_request *r, struct httpd_req *q, const char *version, bool own)
{
	char time[STR_TIME_SIZE];
	const char *more;
	struct buf b;
	struct page p;

	if (!read_query(r, q) || !page_begin(&p, q, version, own ? tenant_parameters : parameters))
		return;
	buf_init(&b, REPLY_MAX);
	buf_puts(&b, "{");
	if (r->n)
		buf_printf(&b, "\"from\":\"%s\",", str_time(time, r->first * GPU_HISTORY_STEP_MS));
	buf_printf(&b, "\"stepSeconds\":%" PRId64 ",\"points\":%zu,",
		   r->steps * GPU_HISTORY_STEP_MS / 1000, r->n);
	if (!own)
		put_fleet(&b, r);
	buf_puts(&b, "\"tenants\":{");
	more = put_tenants(&b, r, &p);
	buf_puts(&b, "}");
	if (more)
		buf_printf(&b, ",\"continue\":\"%s\"", more);
	buf_puts(&b, "}");
	httpd_reply_json(q, 200, b.data);
	buf_done(&b);
}

void view_history_reply(struct gpu_history *h, struct httpd_req *q, const char *version)
{
	struct history_request r = {.h = h, .tenant = httpd_query(q, "tenant")};

	reply(&r, q, version, false);
}

void view_history_reply_tenant(struct gpu_history *h, struct httpd_req *q, const char *version,
			       const char *tenant)
{
	struct history_request r = {.h = h, .tenant = tenant};

	reply(&r, q, version, true);
}
