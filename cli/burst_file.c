/*
 * burst_file: decodes the documents of `drover burst plan` with field tables.
 */
#include <string.h>

#include "api/kinds.h"
#include "base/market.h"
#include "base/data/fields.h"
#include "base/money.h"
#include "base/str.h"
#include "cli/burst_file.h"
#include "controller/burst/policy_objects.h"

#define MOST 1000000
#define COUNT .min = 0, .max = MOST
#define YEAR_MS INT64_C(31622400000)

struct state {
	struct object_meta meta;
	struct {
		int64_t now, gpus_owned, gpus_used;
		struct {
			struct burst_work *v;
			size_t n;
		} work;
		struct {
			struct burst_offer *v;
			size_t n;
		} offers;
		struct {
			struct burst_failure *v;
			size_t n;
		} failures;
		struct {
			struct burst_launch *v;
			size_t n;
		} launches;
		struct {
			struct burst_rate *v;
			size_t n;
		} rates;
	} spec;
};

static const struct field work_fields[] = {
	FIELD(burst_work, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_work, name, "name", FIELD_STR, .required = true, .max_len = 600),
	FIELD(burst_work, traits.ns, "namespace", FIELD_STR, .max_len = 63),
	FIELD(burst_work, traits.labels, "labels", FIELD_MAP, .max_len = 63),
	FIELD(burst_work, traits.queue, "queue", FIELD_STR, .max_len = 63),
	FIELD(burst_work, pods, "pods", FIELD_I64, .min = 1, .max = MOST, .def = "1"),
	FIELD(burst_work, gpus, "gpusPerPod", FIELD_I64, .required = true, .min = 0, .max = 1024),
	FIELD(burst_work, product, "gpuProduct", FIELD_STR, .max_len = 63),
	FIELD(burst_work, priority, "priority", FIELD_I64, .min = INT32_MIN, .max = INT32_MAX),
	FIELD(burst_work, since, "since", FIELD_TIME, .required = true),
	FIELD(burst_work, p50, "expectedP50", FIELD_TIME),
	FIELD(burst_work, p90, "expectedP90", FIELD_TIME),
	FIELD(burst_work, impossible, "onPremImpossible", FIELD_BOOL),
	FIELD(burst_work, saves, "checkpointable", FIELD_BOOL),
	FIELD(burst_work, approved, "approved", FIELD_BOOL),
	FIELD(burst_work, runs_ms, "expectedRuntime", FIELD_DURATION, .max = YEAR_MS),
	FIELD(burst_work, start_by, "latestStart", FIELD_TIME),
	FIELD(burst_work, data_class, "dataClass", FIELD_STR, .max_len = 63),
	FIELD(burst_work, restarts, "restarts", FIELD_I64, COUNT),
	FIELDS_END,
};
#define AS_AMOUNT .want = "an amount such as \"6.50\""
static const struct field offer_fields[] = {
	FIELD(burst_offer, provider, "provider", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_offer, kind.region, "region", FIELD_STR, .required = true, .max_len = 63),
	FIELD(burst_offer, kind.zone, "zone", FIELD_STR, .max_len = 63),
	FIELD(burst_offer, kind.type, "instanceType", FIELD_STR, .required = true, .max_len = 63),
	FIELD(burst_offer, kind.reservation, "reservation", FIELD_STR, .max_len = 253),
	FIELD(burst_offer, kind.market, "market", FIELD_ENUM, .required = true,
	      .enums = market_names),
	FIELD(burst_offer, kind.micros_per_hour, "perHour", FIELD_DECIMAL, AS_AMOUNT),
	FIELD(burst_offer, kind.currency, "currency", FIELD_STR, .max_len = 3),
	FIELD(burst_offer, priced_at, "pricedAt", FIELD_TIME),
	FIELD(burst_offer, kind.available, "available", FIELD_I64, .min = -1, .max = MOST,
	      .def = "-1"),
	FIELD(burst_offer, kind.ends_at, "endsAt", FIELD_TIME),
	FIELD(burst_offer, gpus, "gpus", FIELD_I64, .required = true, .min = 1, .max = 1024),
	FIELD(burst_offer, product, "gpuProduct", FIELD_STR, .required = true, .max_len = 63),
	FIELD(burst_offer, link, "interconnect", FIELD_ENUM, .enums = object_interconnect_names,
	      .def = "\"None\""),
	FIELDS_END,
};
static const struct field failure_fields[] = {
	FIELD(burst_failure, provider, "provider", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_failure, region, "region", FIELD_STR, .max_len = 63),
	FIELD(burst_failure, zone, "zone", FIELD_STR, .max_len = 63),
	FIELD(burst_failure, type, "instanceType", FIELD_STR, .max_len = 63),
	FIELD(burst_failure, quota, "quota", FIELD_BOOL),
	FIELD(burst_failure, at, "at", FIELD_TIME, .required = true),
	FIELDS_END,
};
static const struct field launch_fields[] = {
	FIELD(burst_launch, policy, "policy", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_launch, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_launch, workload, "work", FIELD_STR, .required = true, .max_len = 600),
	FIELD(burst_launch, provider, "provider", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_launch, currency, "currency", FIELD_STR, .required = true, .max_len = 3),
	FIELD(burst_launch, at, "at", FIELD_TIME, .required = true),
	FIELD(burst_launch, spent, "spent", FIELD_DECIMAL, AS_AMOUNT, .def = "\"0\""),
	FIELD(burst_launch, committed, "committed", FIELD_DECIMAL, AS_AMOUNT, .def = "\"0\""),
	FIELD(burst_launch, nodes, "nodes", FIELD_I64, COUNT),
	FIELD(burst_launch, gpus, "gpus", FIELD_I64, COUNT),
	FIELD(burst_launch, starting, "starting", FIELD_BOOL),
	FIELDS_END,
};
static const struct field rate_fields[] = {
	FIELD(burst_rate, product, "gpuProduct", FIELD_STR, .required = true, .max_len = 63),
	FIELD(burst_rate, gpu_hour, "perGPUHour", FIELD_DECIMAL, AS_AMOUNT, .required = true),
	FIELD(burst_rate, currency, "currency", FIELD_STR, .required = true, .max_len = 3),
	FIELDS_END,
};
#define ROWS(member_, name_, sub_)                                                                 \
	FIELD_IN(state, spec, member_, name_, FIELD_LIST, .sub = (sub_),                           \
		 .size = sizeof(*((struct state *)0)->spec.member_.v), .max_items = MOST)
static const struct field spec_fields[] = {
	FIELD_IN(state, spec, now, "now", FIELD_TIME, .required = true),
	FIELD_IN(state, spec, gpus_owned, "onPremGPUs", FIELD_I64, COUNT),
	FIELD_IN(state, spec, gpus_used, "onPremGPUsUsed", FIELD_I64, COUNT),
	ROWS(work, "work", work_fields),
	ROWS(offers, "offers", offer_fields),
	ROWS(failures, "failures", failure_fields),
	ROWS(launches, "launches", launch_fields),
	ROWS(rates, "onPremRates", rate_fields),
	FIELDS_END,
};
static const struct field state_fields[] = {
	FIELD_OBJ(state, meta, "metadata", object_meta_fields, .required = true),
	FIELD_OBJ(state, spec, "spec", spec_fields, .required = true),
	FIELDS_END,
};

struct reading {
	struct burst_policy_in *policies;
	size_t npolicies;
	struct state *state;
	struct zones *zones;
	struct arena *a;
	struct err *e;
};

static int read_policy(struct reading *r, const json_t *j, json_t *body)
{
	const struct object_kind *k = &object_kinds[OBJECT_BURST_POLICY];
	void *o = arena_alloc(r->a, k->size);
	const char *name = str_or(json_str_at(j, "metadata", "name"), "");

	if (fields_decode_strict(k->fields, body, NULL, o, r->a, r->e) < 0 ||
	    object_decode(k, j, r->a, &o, r->e) < 0 || object_check(k, o, NULL, r->e) < 0)
		return err_wrap(r->e, "BurstPolicy %s", name);
	for (size_t i = 0; i < r->npolicies; i++)
		if (str_eq(r->policies[i].name, name))
			return err_set(r->e, ERR_INVALID, 0,
				       "BurstPolicy %s: the files contain a second policy of this "
				       "name",
				       name);
	r->policies[r->npolicies++] = burst_object_policy(o, r->zones, r->a);
	return 0;
}

static int read_state(struct reading *r, const json_t *body)
{
	if (r->state)
		return err_set(r->e, ERR_INVALID, 0, "the files contain more than one BurstState");
	r->state = arena_new_obj(r->a, struct state);
	if (fields_decode_strict(state_fields, body, NULL, r->state, r->a, r->e) < 0)
		return err_wrap(r->e, "BurstState");
	return 0;
}

static int read_one(struct reading *r, const json_t *j)
{
	const char *kind = str_or(json_str_at(j, "kind"), "");
	OWN_JSON body = scenario_body(j);

	if (!str_eq(json_str_at(j, "apiVersion"), OBJECT_API_VERSION))
		return err_set(r->e, ERR_INVALID, 0, "apiVersion: want " OBJECT_API_VERSION);
	if (str_eq(kind, "BurstPolicy"))
		return read_policy(r, j, body);
	if (str_eq(kind, "BurstState"))
		return read_state(r, body);
	return err_set(r->e, ERR_INVALID, 0, "kind: want BurstPolicy or BurstState, got '%.63s'",
		       kind);
}

static void take_state(struct reading *r, struct burst_input *out)
{
	struct state *s = r->state;

	for (size_t i = 0; i < s->spec.work.n; i++)
		s->spec.work.v[i].rank = s->spec.work.v[i].priority;
	*out = (struct burst_input){.now = s->spec.now,
				    .policies = r->policies,
				    .npolicies = r->npolicies,
				    .offers = s->spec.offers.v,
				    .noffers = s->spec.offers.n,
				    .work = s->spec.work.v,
				    .nwork = s->spec.work.n,
				    .failures = s->spec.failures.v,
				    .nfailures = s->spec.failures.n,
				    .launches = s->spec.launches.v,
				    .nlaunches = s->spec.launches.n,
				    .gpus_used = s->spec.gpus_used,
				    .gpus_owned = s->spec.gpus_owned,
				    .rates = s->spec.rates.v,
				    .nrates = s->spec.rates.n};
}

int burst_file_read(const struct scenario_file *files, size_t n, struct zones *zones,
		    struct burst_input *out, struct arena *a, struct err *e)
{
	struct reading r = {.zones = zones, .a = a, .e = e};
	size_t docs = 0;

	for (size_t i = 0; i < n; i++)
		docs += files[i].n;
	r.policies = arena_calloc(a, docs + 1, sizeof(*r.policies));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < files[i].n; k++)
			if (read_one(&r, files[i].v[k].j) < 0)
				return err_wrap(e, "%s:%zu", files[i].path, files[i].v[k].line);
	if (!r.npolicies || !r.state)
		return err_set(e, ERR_INVALID, 0,
			       "want at least one BurstPolicy and exactly one BurstState");
	take_state(&r, out);
	return 0;
}
