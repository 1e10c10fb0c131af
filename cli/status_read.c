#include <stdlib.h>
#include <string.h>

#include "cli/status_read.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/data/quantity.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/str.h"
#include "cli/stuck.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"

#define RACK "topology.drover.dev/rack"

/* Number of machines of one rack by state. out: quarantined. other: known, retired, gone or
 * unreadable. moving: all other states, between free and serving. */
struct rack {
	const char *name;
	size_t total, serving, free, moving, out, other;
};

struct status_reading {
	struct cli_client *c;
	struct arena *a;
	int64_t now;
	/* kind of the objects that the API server is listing now */
	enum object_kind_id kind;
	/* true: machines and pods come from the leader's view; false: they are counted from the
	 * objects of the API */
	bool from_leader;
	size_t states[MACHINE_STATES + 1], needs[NEEDS], machines;
	int64_t gpus;
	/* name of a rack -> struct rack */
	struct map *racks;
	/* etas: name of a claim -> its explanation, for claims with an expected time. Used only for
	 * pods that were read from objects. */
	json_t *pods, *tenants, *stopped, *etas;
};

/* --- machines --------------------------------------------------------------------------------- */

static void count_in_rack(struct status_reading *r, const char *name, enum machine_state s)
{
	struct rack **slot = (struct rack **)map_slot(r->racks, name), *k = *slot;

	if (!k) {
		*slot = k = arena_calloc(r->a, 1, sizeof(*k));
		k->name = arena_strdup(r->a, name);
	}
	k->total++;
	if (s == MACHINE_SERVING)
		k->serving++;
	else if (s == MACHINE_FREE)
		k->free++;
	else if (s == MACHINE_QUARANTINED)
		k->out++;
	else if (s == MACHINE_KNOWN || s == MACHINE_RETIRED || s == MACHINE_GONE ||
		 s == MACHINE_STATE_NONE)
		k->other++;
	else
		k->moving++;
}

/* Counts a machine. answer: its explanation; this function adds the member `kind`. */
static void count_machine(struct status_reading *r, json_t *answer)
{
	enum machine_state s = machine_state_find(str_or(json_str_at(answer, "state"), "known"));
	enum need need;

	json_object_set_new(answer, "kind", json_string("Machine"));
	need = need_of(answer, r->now);
	if (need < NEEDS)
		r->needs[need]++;
	r->machines++;
	r->gpus += json_int_at(answer, "gpus");
	r->states[s == MACHINE_STATE_NONE ? MACHINE_STATES : s]++;
	count_in_rack(r, str_or(json_str_at(answer, "rack"), ""), s);
}

static void on_machine(json_t *o, void *arg)
{
	struct status_reading *r = arg;
	OWN(arena) a = arena_new();
	const struct machine *m;
	struct err e;
	void *object;

	if (object_decode(&object_kinds[OBJECT_MACHINE], o, a, &object, &e) < 0) {
		r->needs[NEED_OPERATOR]++;
		r->machines++;
		r->states[MACHINE_STATES]++;
		count_in_rack(r, "", MACHINE_STATE_NONE);
		return;
	}
	m = object;
	OWN_JSON answer = explain_object(OBJECT_MACHINE, m, r->now);

	answer_put(answer, "rack", labels_get(&m->meta.labels, RACK));
	if (m->status.inventory)
		json_object_set_new(answer, "gpus", json_integer(m->status.inventory->gpus));
	count_machine(r, answer);
}

/* --- other objects ---------------------------------------------------------------------------- */

static json_t *resources_json(const struct resources *list)
{
	char text[QUANTITY_TEXT];
	json_t *o = json_object();

	for (size_t i = 0; i < list->n; i++)
		json_object_set_new(o, list->v[i].name,
				    json_string(quantity_format(list->v[i].q, text)));
	return o;
}

/* Adds the waiting pods that the tenant's status lists. Status contains at most
 * VIRTUAL_CLUSTER_WAITING_MAX pods; only the leader's view has the whole queue. */
static void add_pods(struct status_reading *r, const struct virtual_cluster *vc)
{
	for (size_t i = 0; i < vc->status.waiting.n; i++) {
		const struct virtual_cluster_waiting *w = &vc->status.waiting.v[i];
		json_t *o = json_object();

		answer_put(o, "tenant", vc->meta.name);
		answer_put(o, "pod", w->pod);
		if (w->place)
			json_object_set_new(o, "place", json_integer(w->place));
		answer_put(o, "reason", w->reason);
		answer_put(o, "message", w->message);
		answer_put(o, "claim", w->claim);
		answer_time(o, "since", w->since);
		json_array_append_new(r->pods, o);
	}
}

static void add_tenant(struct status_reading *r, json_t *o)
{
	OWN(arena) a = arena_new();
	const struct virtual_cluster *vc;
	struct err e;
	void *object;

	if (object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, a, &object, &e) < 0)
		return;
	vc = object;
	OWN_JSON answer = explain_virtual_cluster(vc);
	json_t *row = json_object();

	answer_put(row, "name", vc->meta.name);
	answer_put(row, "state", json_str_at(answer, "state"));
	json_object_set_new(row, "quota", resources_json(&vc->spec.quota));
	json_object_set_new(row, "allocated", resources_json(&vc->status.allocated));
	json_array_append_new(r->tenants, row);
	if (!r->from_leader)
		add_pods(r, vc);
}

static void note_eta(struct status_reading *r, json_t *o)
{
	json_t *eta = json_at(o, "status", "eta");

	if (eta && json_str_at(o, "metadata", "name"))
		json_object_set(r->etas, json_str_at(o, "metadata", "name"), eta);
}

static bool is_stop(const char *state)
{
	return str_eq(state, "Paused") || str_eq(state, "Stopped") || str_eq(state, "Asleep");
}

static void on_object(json_t *o, void *arg)
{
	struct status_reading *r = arg;
	enum need need;
	OWN_JSON row = stuck_row(r->kind, o, r->now, &need);

	if (row && need < NEEDS)
		r->needs[need]++;
	if (row && is_stop(json_str_at(row, "state")))
		json_array_append(r->stopped, row);
	if (r->kind == OBJECT_VIRTUAL_CLUSTER)
		add_tenant(r, o);
	if (r->kind == OBJECT_NODE_CLAIM && !r->from_leader)
		note_eta(r, o);
}

static int read_objects(struct status_reading *r)
{
	static const enum object_kind_id kinds[] = {OBJECT_PROVIDER,	    OBJECT_NODE_POOL,
						    OBJECT_VIRTUAL_CLUSTER, OBJECT_DRAIN,
						    OBJECT_NODE_CLAIM,	    OBJECT_BURST_POLICY};
	struct err e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		r->kind = kinds[i];
		if (cli_list(r->c, r->kind, on_object, r, &e) < 0)
			return cli_report_unreadable(r->c, r->kind, NULL, &e);
	}
	r->kind = OBJECT_MACHINE;
	if (!r->from_leader && cli_list(r->c, OBJECT_MACHINE, on_machine, r, &e) < 0)
		return cli_report_unreadable(r->c, OBJECT_MACHINE, NULL, &e);
	return 0;
}

/* --- the queue -------------------------------------------------------------------------------- */

/* Returns the sort key of a pod: pods for which a machine is being prepared, then the queue, then
 * pods that no machine could run. */
static int64_t order_of(const json_t *pod)
{
	int64_t place = json_int_at(pod, "place");

	return place ? place : json_str_at(pod, "claim") ? 0 : INT64_MAX;
}

static int by_place(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int64_t m = order_of(x), n = order_of(y);

	return m != n ? (m < n ? -1 : 1)
		      : strcmp(str_or(json_str_at(x, "since"), ""),
			       str_or(json_str_at(y, "since"), ""));
}

/* Returns how many pods the row describes: the leader's view has one row for a gang. */
static json_int_t pods_of(const json_t *row)
{
	return json_object_get(row, "gang") ? json_int_at(row, "gang", "waiting") : 1;
}

/* Adds to each pod the expected times of its claim. Not called for pods from the view, which
 * already have these times. */
static void expect(struct status_reading *r)
{
	json_t *pod;
	size_t i;

	json_array_foreach (r->pods, i, pod) {
		const json_t *eta = json_object_get(r->etas, str_or(json_str_at(pod, "claim"), ""));

		answer_put(pod, "expectedP50", json_str_at(eta, "p50"));
		answer_put(pod, "expectedP90", json_str_at(eta, "p90"));
	}
}

static json_t *queue_json(struct status_reading *r)
{
	json_int_t n = 0;
	size_t i;
	const char *since = NULL, *s;
	json_t *first = json_array(), *o, *pod;

	if (!r->from_leader) {
		expect(r);
		json_sort(&r->pods, by_place);
	}
	json_array_foreach (r->pods, i, pod) {
		n += pods_of(pod);
		s = json_str_at(pod, "since");
		if (s && (!since || strcmp(s, since) < 0))
			since = s;
		if (i < STATUS_PODS_MAX)
			json_array_append(first, pod);
	}
	o = json_pack("{s:I}", "total", n);
	answer_put(o, "since", since);
	json_object_set_new(o, "pods", first);
	return o;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int by_waiting(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	json_int_t m = json_int_at(x, "waiting"), n = json_int_at(y, "waiting");

	return m != n ? (m > n ? -1 : 1)
		      : strcmp(str_or(json_str_at(x, "name"), ""),
			       str_or(json_str_at(y, "name"), ""));
}

static void count_waiting(struct status_reading *r)
{
	OWN(map) numbers = map_new(NULL);
	json_t *o;
	size_t i;

	json_array_foreach (r->pods, i, o) {
		const char *tenant = str_or(json_str_at(o, "tenant"), "");

		map_put_number(numbers, tenant,
			       map_number(numbers, tenant) + (uintptr_t)pods_of(o));
	}
	json_array_foreach (r->tenants, i, o)
		json_object_set_new(o, "waiting",
				    json_integer((json_int_t)map_number(
					    numbers, str_or(json_str_at(o, "name"), ""))));
	json_sort(&r->tenants, by_waiting);
}

static int by_trouble(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	json_int_t m = json_int_at(x, "out"), n = json_int_at(y, "out");

	return m != n ? (m > n ? -1 : 1) : strcmp(json_str_at(x, "rack"), json_str_at(y, "rack"));
}

static json_t *rack_json(const struct rack *k)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "rack", k->name, "total",
			 (json_int_t)k->total, "serving", (json_int_t)k->serving, "free",
			 (json_int_t)k->free, "moving", (json_int_t)k->moving, "out",
			 (json_int_t)k->out, "other", (json_int_t)k->other);
}

static json_t *machines_json(const struct status_reading *r)
{
	json_t *states = json_object(), *racks = json_array();
	struct map_iter it;

	for (size_t s = 0; s <= MACHINE_STATES; s++)
		if (r->states[s])
			json_object_set_new(
				states, s < MACHINE_STATES ? machine_state_info[s].name : "unknown",
				json_integer((json_int_t)r->states[s]));
	map_for_each (it, r->racks)
		json_array_append_new(racks, rack_json(it.value));
	json_sort(&racks, by_trouble);
	return json_pack("{s:I, s:I, s:o, s:o}", "total", (json_int_t)r->machines, "gpus",
			 (json_int_t)r->gpus, "byState", states, "racks", racks);
}

static json_t *all_json(struct status_reading *r, const char *problem)
{
	json_t *o = json_object(), *needs = json_object();

	answer_time(o, "time", r->now);
	answer_put(o, "source", r->from_leader ? "leader" : "objects");
	answer_put(o, "problem", problem);
	for (int need = 0; need < NEEDS; need++)
		json_object_set_new(needs, need_name((enum need)need),
				    json_integer((json_int_t)r->needs[need]));
	json_object_set_new(o, "machines", machines_json(r));
	json_object_set_new(o, "queue", queue_json(r));
	count_waiting(r);
	json_object_set(o, "tenants", r->tenants);
	json_object_set(o, "stopped", r->stopped);
	json_object_set_new(o, "needs", needs);
	return o;
}

/* Reads machines and pods from the view. False: *e, and nothing was counted. */
static bool read_leader(struct status_reading *r, struct view_client *v, struct err *e)
{
	OWN_JSON queue = view_client_list(v, "/v1/queue", "pods", e);
	OWN_JSON fleet = queue ? view_client_list(v, "/v1/fleet", "machines", e) : NULL;
	json_t *m;
	size_t i;

	if (!fleet)
		return false;
	r->from_leader = true;
	json_array_extend(r->pods, json_object_get(queue, "pods"));
	json_array_foreach (json_object_get(fleet, "machines"), i, m)
		count_machine(r, m);
	return true;
}

json_t *status_read(struct cli_client *c, struct view_client *v)
{
	OWN(arena) a = arena_new();
	OWN(map) racks = map_new(NULL);
	struct status_reading r = {.c = c,
				   .a = a,
				   .now = loop_wall(c->loop),
				   .racks = racks,
				   .pods = json_array(),
				   .tenants = json_array(),
				   .stopped = json_array(),
				   .etas = json_object()};
	struct err e;
	json_t *o = NULL;

	err_clear(&e);
	if (v)
		(void)read_leader(&r, v, &e);
	if (read_objects(&r) == 0)
		o = all_json(&r, v && !r.from_leader ? e.text : NULL);
	json_decref(r.pods);
	json_decref(r.tenants);
	json_decref(r.stopped);
	json_decref(r.etas);
	return o;
}
