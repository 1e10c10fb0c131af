/* state: the field tables of a BurstState, and how its lists become those of struct burst_input. */
#include "controller/burst/state.h"

#include <string.h>

#include "api/kinds.h"
#include "base/data/fields.h"
#include "base/market.h"
#include "base/str.h"

#define MOST 1000000
#define COUNT .min = 0, .max = MOST
#define YEAR_MS INT64_C(31622400000)
/* Value of `rank` for work in which it is absent; then it equals `priority`. */
#define NO_RANK ((int64_t)INT32_MIN - 1)
#define NO_RANK_TEXT "-2147483649"

struct state {
	struct object_meta meta;
	struct {
		int64_t now, gpus_owned, gpus_used;
		struct {
			const struct burst_work *v;
			size_t n;
		} work;
		struct {
			const struct burst_offer *v;
			size_t n;
		} offers;
		struct {
			const struct burst_failure *v;
			size_t n;
		} failures;
		struct {
			const struct burst_launch *v;
			size_t n;
		} launches;
		struct {
			const struct burst_rate *v;
			size_t n;
		} rates;
	} spec;
};

static const struct field pod_fields[] = {
	FIELD(burst_traits, ns, "namespace", FIELD_STR, .max_len = 63),
	FIELD(burst_traits, labels, "labels", FIELD_MAP, .max_len = 63),
	FIELD(burst_traits, queue, "queue", FIELD_STR, .max_len = 63),
	FIELDS_END,
};
static const struct field work_fields[] = {
	FIELD(burst_work, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_work, name, "name", FIELD_STR, .required = true, .max_len = 600),
	FIELD(burst_work, owner, "workload", FIELD_STR, .max_len = 600),
	FIELD(burst_work, traits.ns, "namespace", FIELD_STR, .max_len = 63),
	FIELD(burst_work, traits.labels, "labels", FIELD_MAP, .max_len = 63),
	FIELD(burst_work, traits.queue, "queue", FIELD_STR, .max_len = 63),
	FIELD_ITEMS(burst_work, others, "otherPods", pod_fields, .max_items = MOST),
	FIELD(burst_work, pods, "pods", FIELD_I64, .min = 1, .max = MOST, .def = "1"),
	FIELD(burst_work, gpus, "gpusPerPod", FIELD_I64, .required = true, .min = 0, .max = 1024),
	FIELD(burst_work, product, "gpuProduct", FIELD_STR, .max_len = 63),
	FIELD(burst_work, priority, "priority", FIELD_I64, .min = INT32_MIN, .max = INT32_MAX),
	FIELD(burst_work, rank, "rank", FIELD_I64, .min = NO_RANK, .max = INT32_MAX,
	      .def = NO_RANK_TEXT),
	FIELD(burst_work, since, "since", FIELD_TIME, .required = true),
	FIELD(burst_work, p50, "expectedP50", FIELD_TIME),
	FIELD(burst_work, p90, "expectedP90", FIELD_TIME),
	FIELD(burst_work, impossible, "onPremImpossible", FIELD_BOOL),
	FIELD(burst_work, saves, "checkpointable", FIELD_BOOL),
	FIELD(burst_work, interval_ms, "checkpointInterval", FIELD_DURATION, .max = YEAR_MS),
	FIELD(burst_work, approved, "approved", FIELD_BOOL),
	FIELD(burst_work, approved_by, "approvedFor", FIELD_STRINGS, .max_items = MOST,
	      .max_len = 253),
	FIELD(burst_work, approval, "approval", FIELD_STR),
	FIELD(burst_work, runs_ms, "expectedRuntime", FIELD_DURATION, .max = YEAR_MS),
	FIELD(burst_work, start_by, "latestStart", FIELD_TIME),
	FIELD(burst_work, data_class, "dataClass", FIELD_STR, .max_len = 63),
	FIELD(burst_work, said, "declared", FIELD_BOOL),
	FIELD(burst_work, wrong, "declarationError", FIELD_STR),
	FIELD(burst_work, restarts, "restarts", FIELD_I64, COUNT),
	FIELD(burst_work, data, "data", FIELD_STRINGS, .max_items = MOST, .max_len = 63),
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
	FIELD(burst_offer, product, "gpuProduct", FIELD_STR, .max_len = 63),
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
static const struct field over_fields[] = {
	FIELD_IN(burst_launch, over, from, "from", FIELD_TIME),
	FIELD_IN(burst_launch, over, until, "until", FIELD_TIME),
	FIELD_IN(burst_launch, over, per_hour, "perHour", FIELD_DECIMAL, AS_AMOUNT, .def = "\"0\""),
	FIELDS_END,
};
static const struct field launch_fields[] = {
	FIELD(burst_launch, policy, "policy", FIELD_STR, .max_len = 253),
	FIELD(burst_launch, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_launch, workload, "work", FIELD_STR, .max_len = 600),
	FIELD(burst_launch, owner, "workload", FIELD_STR, .max_len = 600),
	FIELD(burst_launch, provider, "provider", FIELD_STR, .required = true, .max_len = 253),
	FIELD(burst_launch, currency, "currency", FIELD_STR, .required = true, .max_len = 3),
	FIELD(burst_launch, at, "at", FIELD_TIME, .required = true),
	FIELD(burst_launch, spent, "spent", FIELD_DECIMAL, AS_AMOUNT, .def = "\"0\""),
	FIELD(burst_launch, committed, "committed", FIELD_DECIMAL, AS_AMOUNT, .def = "\"0\""),
	FIELD(burst_launch, nodes, "nodes", FIELD_I64, COUNT),
	FIELD(burst_launch, gpus, "gpus", FIELD_I64, COUNT),
	FIELD_OBJ(burst_launch, over, "overrun", over_fields),
	FIELD(burst_launch, starting, "starting", FIELD_BOOL),
	FIELD(burst_launch, part, "sameGang", FIELD_BOOL),
	FIELD(burst_launch, of_month, "wholeMonth", FIELD_BOOL),
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

int burst_state_decode(const json_t *body, struct burst_input *out, struct arena *a, struct err *e)
{
	struct state *s = arena_new_obj(a, struct state);
	struct burst_work *work;
	struct burst_launch *launches;

	if (fields_decode_strict(state_fields, body, NULL, s, a, e) < 0)
		return -1;
	work = arena_calloc(a, s->spec.work.n + 1, sizeof(*work));
	for (size_t i = 0; i < s->spec.work.n; i++) {
		work[i] = s->spec.work.v[i];
		if (work[i].rank == NO_RANK)
			work[i].rank = work[i].priority;
	}
	launches = arena_calloc(a, s->spec.launches.n + 1, sizeof(*launches));
	for (size_t i = 0; i < s->spec.launches.n; i++) {
		launches[i] = s->spec.launches.v[i];
		launches[i].policy = str_or(launches[i].policy, "");
		launches[i].workload = str_or(launches[i].workload, "");
	}
	*out = (struct burst_input){.now = s->spec.now,
				    .offers = s->spec.offers.v,
				    .noffers = s->spec.offers.n,
				    .work = work,
				    .nwork = s->spec.work.n,
				    .failures = s->spec.failures.v,
				    .nfailures = s->spec.failures.n,
				    .launches = launches,
				    .nlaunches = s->spec.launches.n,
				    .gpus_used = s->spec.gpus_used,
				    .gpus_owned = s->spec.gpus_owned,
				    .rates = s->spec.rates.v,
				    .nrates = s->spec.rates.n};
	return 0;
}

json_t *burst_state_spec(const struct burst_input *in)
{
	struct state s = {.spec = {.now = in->now,
				   .gpus_owned = in->gpus_owned,
				   .gpus_used = in->gpus_used,
				   .offers = {in->offers, in->noffers},
				   .failures = {in->failures, in->nfailures},
				   .launches = {in->launches, in->nlaunches},
				   .rates = {in->rates, in->nrates}}};

	return fields_encode(spec_fields, &s.spec);
}

json_t *burst_state_work(const struct burst_work *w)
{
	return fields_encode(work_fields, w);
}
