#include "controller/view/plan.h"

#include "base/str.h"

const char *const view_plan_parameters[] = {NULL};

static json_t *claims_json(const struct last_plan_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->nclaims; i++) {
		const struct last_plan_claim *c = &v->claims[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s*, s:s*}",
						"tenant", c->tenant, "pool", c->pool, "provider",
						c->provider, "machine", c->machine, "instanceType",
						c->instance_type, "pods", (json_int_t)c->pods,
						"gang", c->gang, "claim", c->claim));
	}
	return list;
}

static json_t *holds_json(const struct last_plan_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->nholds; i++) {
		const struct last_plan_hold *h = &v->holds[i];
		json_t *machines = json_array();

		for (size_t k = 0; k < h->n; k++)
			json_array_append_new(machines, json_string(h->machines[k]));
		json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:f, s:b, s:o}", "tenant",
						      h->tenant, "gang", h->gang, "total",
						      (json_int_t)h->total, "gpus",
						      (double)h->gpus_milli / 1000, "rests",
						      h->rests, "machines", machines));
	}
	return list;
}

static json_t *reclaims_json(const struct last_plan_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->nreclaims; i++) {
		const struct last_plan_reclaim *r = &v->reclaims[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}",
						      "claim", r->claim, "machine", r->machine,
						      "tenant", r->tenant, "pool", r->pool,
						      "forTenant", r->for_tenant, "forPod",
						      r->for_pod, "borrowed", r->borrowed));
	}
	return list;
}

static json_t *reasons_json(const struct last_plan_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->nreasons; i++) {
		const struct last_plan_reason *r = &v->reasons[i];
		json_t *o =
			json_pack("{s:s, s:I}", "reason", r->reason, "pods", (json_int_t)r->pods);

		if (*r->pool)
			json_object_set_new(o, "pool", json_string(r->pool));
		json_array_append_new(list, o);
	}
	return list;
}

void view_plan_reply(const struct last_plan_view *v, struct page *p)
{
	char at[STR_TIME_SIZE];
	json_t *o = json_pack(
		"{s:{s:I, s:I, s:I, s:I}, s:{s:I, s:I, s:I, s:I}, s:o, s:o, s:o, s:o}", "pods",
		"onNode", (json_int_t)v->on_node, "onClaim", (json_int_t)v->on_claim, "onNewClaim",
		(json_int_t)v->on_new, "unplaced", (json_int_t)v->unplaced, "totals", "claims",
		(json_int_t)v->total_claims, "holds", (json_int_t)v->total_holds, "reclaims",
		(json_int_t)v->total_reclaims, "reasons", (json_int_t)v->total_reasons, "claims",
		claims_json(v), "holds", holds_json(v), "reclaims", reclaims_json(v), "reasons",
		reasons_json(v));

	if (v->number) {
		json_object_set_new(o, "time", json_string(str_time(at, v->at)));
		json_object_set_new(o, "tookMs", json_integer(v->took_ms));
	}
	page_reply(p, o, NULL);
}
