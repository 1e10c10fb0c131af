#include "controller/core/known_series.h"

#include "api/machine.h"
#include "base/str.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* In place of a list: the name of an object of this kind */
enum named { NOTHING, POOL, PROVIDER, TENANT };

static const enum named kinds[OBJECT_KINDS] = {
	[OBJECT_NODE_POOL] = POOL,
	[OBJECT_PROVIDER] = PROVIDER,
	[OBJECT_VIRTUAL_CLUSTER] = TENANT,
};

static const char *const verdicts[] = {"Fail", "Clear", "Purge", NULL};
static const char *const counted[] = {"Machine", "NodeClaim", "WipeRecord", NULL};
static const char *const agents[] = {"answered", "booted", NULL};
static const char *const outcomes[] = {"answered", "failed", NULL};
static const char *const transitions[] = {"serving", "free", NULL};
static const char *const bounds[] = {"p50", "p90", "later", NULL};
/* Names of PriorityClasses are those of tenants. */
static const char *const classes[] = {"none", NULL};
/* Further results begin with their first event, because they are rare. */
static const char *const pod_results[] = {"succeeded", "failed", NULL};
/* One family. Its first label has the name of an object, or a value of `first`; its second label,
 * if any, a value of `second`. */
static const struct row {
	const char *family;
	enum named named;
	const char *const *first, *const *second;
	/* True: no series begins before its first event, because the values are too many */
	bool unstarted;
} rows[] = {
	{"drover_wipes_total", .first = verdicts},
	{"drover_leaves_total", .first = machine_leave_reasons},
	{"drover_claims_warm_total", .first = agents},
	{"drover_tally_corrections_total", .first = counted},
	{"drover_eta_ways_total", .first = transitions, .second = bounds},
	{"drover_claims_created_total", .named = POOL},
	{"drover_claim_ready_seconds", .named = POOL},
	{"drover_machine_return_seconds", .named = POOL},
	{"drover_claims_failed_total", .named = POOL, .unstarted = true},
	{"drover_pod_wait_seconds", .named = TENANT, .second = classes},
	{"drover_gpu_pods_ended_total", .named = TENANT, .second = pod_results},
	{"drover_provider_call_seconds", .named = PROVIDER, .unstarted = true},
	{"drover_machine_looks_total", .named = PROVIDER, .second = outcomes},
};

static void start(struct metric *f, const char *first, const struct row *r)
{
	if (!r->second)
		metric_start(f, LIST(first));
	for (size_t i = 0; r->second && r->second[i]; i++)
		metric_start(f, LIST(first, r->second[i]));
}

/* Creates the series of all rows with objects of this kind. */
static void start_named(struct context *c, enum named named, const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct metric *f = metrics_find(c->metrics, rows[i].family);

		if (f && !rows[i].unstarted && named != NOTHING && rows[i].named == named)
			start(f, name, &rows[i]);
	}
}

static void start_lists(struct context *c)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct metric *f = metrics_find(c->metrics, rows[i].family);

		for (size_t j = 0; f && rows[i].first && rows[i].first[j]; j++)
			start(f, rows[i].first[j], &rows[i]);
	}
}

struct cached {
	struct context *c;
	enum object_kind_id kind;
};

static bool start_cached(const struct kube_entry *en, void *arg)
{
	const struct cached *y = arg;

	start_named(y->c, kinds[y->kind], en->name);
	return true;
}

void known_series_lead(struct context *c)
{
	struct cached y = {.c = c};

	start_lists(c);
	for (int i = 0; i < OBJECT_KINDS; i++) {
		y.kind = (enum object_kind_id)i;
		if (kinds[i] != NOTHING && c->cache[i])
			kube_cache_each(c->cache[i], start_cached, &y);
	}
}

void known_series_object(struct context *c, enum object_kind_id kind, const char *name)
{
	if (c->leading)
		start_named(c, kinds[kind], name);
}

void known_series_gone(struct context *c, enum object_kind_id kind, const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct metric *f = metrics_find(c->metrics, rows[i].family);

		if (f && kinds[kind] != NOTHING && rows[i].named == kinds[kind])
			metric_remove(f, name);
	}
}
