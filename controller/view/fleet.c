#include <stdlib.h>
#include <string.h>

#include "controller/view/fleet.h"
#include "base/arena.h"
#include "base/str.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"

#define RACK "topology.drover.dev/rack"

const char *const view_fleet_parameters[] = {"state", "tenant", "brief", NULL};

/* Machines that the query selects. */
struct chosen {
	const char *state, *tenant;
	struct arena *a;
	const struct machine **v;
	size_t n;
	/* Number of all Machines by state; the last element counts unknown states */
	size_t totals[MACHINE_STATES + 1];
};

static bool choose(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct chosen *x = arg;
	const char *state = str_or(m->status.state, "known");
	const enum machine_state s = machine_state_find(state);

	x->totals[s == MACHINE_STATE_NONE ? MACHINE_STATES : s]++;
	if ((!x->state || str_eq(state, x->state)) &&
	    (!x->tenant || str_eq(m->status.tenant.name, x->tenant)))
		x->v[x->n++] = m;
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct machine *const *)a)->meta.name,
		      (*(const struct machine *const *)b)->meta.name);
}

json_t *view_fleet_row(const struct context *c, const struct machine *m, int64_t now)
{
	const struct drain *d = m->status.leave && m->status.leave->drain
					? CTX_GET(c, OBJECT_DRAIN, drain, m->status.leave->drain)
					: NULL;
	json_t *o = explain_machine(m, d, now);

	json_object_del(o, "kind");
	answer_put(o, "provider", m->spec.provider_ref.name);
	answer_put(o, "instanceType", m->spec.instance_type);
	answer_put(o, "pool", m->status.claim_ref ? m->status.pool : NULL);
	answer_put(o, "rack", labels_get(&m->meta.labels, RACK));
	if (m->status.inventory)
		json_object_set_new(o, "gpus", json_integer(m->status.inventory->gpus));
	return o;
}

json_t *view_fleet_brief(const json_t *row)
{
	static const char *const texts[] = {"name", "state", "since",	  "tenant",
					    "rack", "pool",  "waitingFor"};
	const char *reason = json_str_at(row, "quarantine", "reason");
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		answer_put(o, texts[i], json_str_at(row, texts[i]));
	answer_put(o, "reason", reason ? reason : json_str_at(row, "lastError", "reason"));
	if (json_true_at(row, "slow"))
		json_object_set_new(o, "slow", json_true());
	return o;
}

bool view_fleet_is_brief(struct httpd_req *q, bool *brief)
{
	const char *asked = httpd_query(q, "brief");

	*brief = str_eq(asked, "true");
	if (!asked || *brief || str_eq(asked, "false"))
		return true;
	return page_refuse(q, "brief", "true or false is required");
}

static json_t *totals_json(const struct chosen *x)
{
	json_t *o = json_object();

	for (size_t s = 0; s <= MACHINE_STATES; s++)
		if (x->totals[s])
			json_object_set_new(
				o, s < MACHINE_STATES ? machine_state_info[s].name : "unknown",
				json_integer((json_int_t)x->totals[s]));
	return o;
}

void view_fleet_reply(const struct context *c, struct page *p, bool brief)
{
	const struct kube_cache *cache = c->cache[OBJECT_MACHINE];
	OWN(arena) a = arena_new();
	struct chosen x = {.state = httpd_query(p->q, "state"),
			   .tenant = httpd_query(p->q, "tenant"),
			   .v = arena_calloc(a, kube_cache_size(cache) + 1, sizeof(*x.v))};
	const int64_t now = loop_wall(c->loop);
	json_t *machines = json_array(), *list;
	const char *last = NULL;
	size_t i = 0;

	kube_cache_each(cache, choose, &x);
	qsort(x.v, x.n, sizeof(*x.v), by_name);
	list = json_pack("{s:I, s:o, s:o}", "total", (json_int_t)x.n, "byState", totals_json(&x),
			 "machines", machines);
	while (i < x.n && strcmp(x.v[i]->meta.name, p->after) <= 0)
		i++;
	for (; i < x.n && json_array_size(machines) < p->limit; i++) {
		OWN_JSON row = view_fleet_row(c, x.v[i], now);

		if (brief)
			json_array_append_new(machines, view_fleet_brief(row));
		else
			json_array_append(machines, row);
		last = x.v[i]->meta.name;
	}
	page_reply(p, list, i < x.n ? last : NULL);
}
