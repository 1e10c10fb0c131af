/*
 * report_table: prints the report as text.
 * Tests: tests/unit/cli/simulate/test_simulate.c
 */
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "cli/simulate/report.h"

#define ROWS 40 /* maximum number of rows of a list that are printed; the others are only counted */

static double real_at(const json_t *o, const char *a, const char *b)
{
	return json_number_value(b ? json_at(o, a, b) : json_object_get(o, a));
}

static const char *duration(char out[static STR_TIME_SIZE], double seconds)
{
	return str_duration(out, (int64_t)seconds / (seconds < 60 ? 1 : 60) *
					 (seconds < 60 ? 1 : 60) * 1000);
}

static void print_machines(const json_t *report, struct buf *out)
{
	json_t *m;
	size_t i;

	buf_printf(out, "%-24s %-24s %9s %9s %9s\n", "PROVIDER", "TYPE", "MACHINES", "FREE",
		   "CLAIMED");
	json_array_foreach (json_object_get(report, "machines"), i, m)
		buf_printf(out, "%-24s %-24s %9lld %9lld %9lld\n", json_str_at(m, "provider"),
			   json_str_at(m, "type"), (long long)json_int_at(m, "machines"),
			   (long long)json_int_at(m, "offered"), (long long)json_int_at(m, "held"));
}

static void more(struct buf *out, size_t n)
{
	if (n > ROWS)
		buf_printf(out, "... and %zu more (-o json has all)\n", n - ROWS);
}

static void print_claims(const json_t *plan, struct buf *out)
{
	const json_t *list = json_object_get(plan, "claims");
	json_t *c;
	size_t i;

	if (!json_array_size(list))
		return;
	buf_printf(out, "\n%-24s %-20s %-20s %-20s %5s\n", "NEW CLAIM ON MACHINE", "TYPE", "POOL",
		   "TENANT", "PODS");
	json_array_foreach (list, i, c)
		if (i < ROWS)
			buf_printf(out, "%-24s %-20s %-20s %-20s %5lld\n",
				   json_str_at(c, "machine"), json_str_at(c, "type"),
				   json_str_at(c, "pool"), json_str_at(c, "tenant"),
				   (long long)json_int_at(c, "pods"));
	more(out, json_array_size(list));
}

static bool same_reasons(const json_t *a, const json_t *b)
{
	return str_eq(json_str_at(a, "tenant"), json_str_at(b, "tenant")) &&
	       json_equal(json_object_get(a, "reasons"), json_object_get(b, "reasons"));
}

/* Prints the pods that the plan does not place, with the reasons. Consecutive pods of one tenant
 * with the same reasons share one entry. */
static void print_waiting(const json_t *plan, struct buf *out)
{
	const json_t *pods = json_object_get(plan, "pods");
	size_t rows = 0, n;
	json_t *r;

	for (size_t i = 0; i < json_array_size(pods); i += n) {
		const json_t *p = json_array_get(pods, i);
		size_t k;

		n = 1;
		if (!str_eq(json_str_at(p, "outcome"), "Nothing"))
			continue;
		while (i + n < json_array_size(pods) &&
		       same_reasons(p, json_array_get(pods, i + n)))
			n++;
		if (++rows > ROWS)
			continue;
		buf_printf(out, "%s\n%s/%s/%s", rows == 1 ? "\nNot placed:" : "",
			   json_str_at(p, "tenant"), json_str_at(p, "namespace"),
			   json_str_at(p, "name"));
		if (n > 1)
			buf_printf(out, " and %zu more like it", n - 1);
		buf_puts(out, "\n");
		json_array_foreach (json_object_get(p, "reasons"), k, r)
			buf_printf(out, "    %s: %s\n", json_str_at(r, "reason"),
				   json_str_at(r, "text"));
	}
	more(out, rows);
}

static void print_plan(const json_t *report, struct buf *out)
{
	const json_t *p = json_object_get(report, "plan");

	buf_printf(
		out,
		"\n"
		"The plan: %lld pods wait; %lld fit on Nodes, %lld on claims in progress, %lld on "
		"%zu new machines; not placed: %lld.\n",
		(long long)json_int_at(p, "waiting"), (long long)json_int_at(p, "onNodes"),
		(long long)json_int_at(p, "onClaims"), (long long)json_int_at(p, "onNew"),
		json_array_size(json_object_get(p, "claims")),
		(long long)json_int_at(p, "nothing"));
	if (json_object_get(p, "fewest"))
		buf_printf(out,
			   "Any plan needs at least %.0f new machines (lower bound by linear "
			   "programming); this plan takes %.0f %% more.\n",
			   real_at(p, "fewest", NULL), real_at(p, "gap", NULL) * 100);
	print_claims(p, out);
	print_waiting(p, out);
}

static void print_wait(const json_t *o, struct buf *out)
{
	static const char *const names[] = {"p50", "p90", "p99", "max"};
	char text[STR_TIME_SIZE];

	for (size_t i = 0; i < 4; i++)
		buf_printf(out, " %11s", duration(text, real_at(o, "wait", names[i])));
	buf_puts(out, "\n");
}

/* Prints for how many jobs a policy launched nothing, by the reason of its last decision. */
static void print_left(const json_t *left, struct buf *out)
{
	const char *reason;
	json_t *n;

	if (!json_object_size(left))
		return;
	buf_puts(out, "  not launched:");
	json_object_foreach ((json_t *)left, reason, n)
		buf_printf(out, " %s %lld", reason, (long long)json_integer_value(n));
	buf_puts(out, "\n");
}

static void print_bursts(const json_t *bursts, struct buf *out)
{
	json_t *b;
	size_t i;

	if (!json_array_size(bursts))
		return;
	buf_printf(out, "\n%-24s %-10s %9s %6s %10s %9s %20s\n", "BURSTPOLICY", "MODE", "LAUNCHES",
		   "PODS", "INSTANCES", "HOURS", "COST");
	json_array_foreach (bursts, i, b) {
		buf_printf(out, "%-24s %-10s %9lld %6lld %10lld %9.1f %16s %s\n",
			   json_str_at(b, "policy"), json_str_at(b, "mode"),
			   (long long)json_int_at(b, "launches"), (long long)json_int_at(b, "pods"),
			   (long long)json_int_at(b, "instances"),
			   real_at(b, "instanceHours", NULL), json_str_at(b, "cost"),
			   json_str_at(b, "currency"));
		print_left(json_object_get(b, "jobsLeft"), out);
	}
}

static void print_replay(const json_t *r, struct buf *out)
{
	char text[STR_TIME_SIZE];
	json_t *t;
	size_t i;

	if (!r)
		return;
	buf_printf(out,
		   "\n"
		   "Over %s: %lld jobs, %lld started, %lld ended; %lld plans, %lld boots, %lld "
		   "wipes.\n",
		   duration(text, real_at(r, "seconds", NULL)), (long long)json_int_at(r, "jobs"),
		   (long long)json_int_at(r, "started"), (long long)json_int_at(r, "ended"),
		   (long long)json_int_at(r, "plans"), (long long)json_int_at(r, "boots"),
		   (long long)json_int_at(r, "wipes"));
	buf_printf(out,
		   "GPUs in use: %.1f %% of %.0f; in tenants' Nodes: %.1f %%; upper bound "
		   "of use: %.1f %% (%.1f %% of the bound is unused).\n",
		   real_at(r, "usePercent", NULL), real_at(r, "gpus", NULL),
		   real_at(r, "nodesPercent", NULL), real_at(r, "boundPercent", NULL),
		   real_at(r, "gap", NULL) * 100);
	print_bursts(json_object_get(r, "bursts"), out);
	buf_printf(out, "\n%-24s %8s %8s %11s %11s %11s %11s\n", "TENANT", "JOBS", "STARTED",
		   "WAIT p50", "p90", "p99", "max");
	json_array_foreach (json_object_get(r, "tenants"), i, t) {
		if (i >= ROWS)
			continue;
		buf_printf(out, "%-24s %8lld %8lld", json_str_at(t, "name"),
			   (long long)json_int_at(t, "jobs"), (long long)json_int_at(t, "started"));
		print_wait(t, out);
	}
	more(out, json_array_size(json_object_get(r, "tenants")));
	buf_printf(out, "%-24s %8lld %8lld", "all", (long long)json_int_at(r, "jobs"),
		   (long long)json_int_at(r, "started"));
	print_wait(r, out);
}

/* Lines of the comparison: the number part.key (or part.key.sub) of both reports, and its name. */
static const struct compared {
	const char *part, *key, *sub, *name;
} compared[] = {
	{"plan", "onNew", NULL, "pods on new machines"},
	{"plan", "nothing", NULL, "pods not placed"},
	{"replay", "gpus", NULL, "GPUs"},
	{"replay", "usePercent", NULL, "GPUs in use, %"},
	{"replay", "started", NULL, "jobs started"},
	{"replay", "wait", "p50", "wait p50, s"},
	{"replay", "wait", "p90", "wait p90, s"},
	{"replay", "wait", "p99", "wait p99, s"},
	{"replay", "boots", NULL, "boots"},
};

static const json_t *number_of(const json_t *report, const struct compared *k)
{
	return k->sub ? json_at(report, k->part, k->key, k->sub) : json_at(report, k->part, k->key);
}

/* Leaves out the lines whose number a report lacks. */
static void print_comparison(const json_t *before, const json_t *after, struct buf *out)
{
	buf_printf(out, "\n%-36s %14s %14s\n", "", "BEFORE", "WHAT IF");
	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
		const json_t *a = number_of(before, &compared[i]);
		const json_t *b = number_of(after, &compared[i]);

		if (json_is_number(a) && json_is_number(b))
			buf_printf(out, "%-36s %14.1f %14.1f\n", compared[i].name,
				   json_number_value(a), json_number_value(b));
	}
}

void report_table(const json_t *report, const json_t *before, struct buf *out)
{
	print_machines(report, out);
	print_plan(report, out);
	print_replay(json_object_get(report, "replay"), out);
	if (before)
		print_comparison(before, report, out);
}
