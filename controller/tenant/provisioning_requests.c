/*
 * provisioning_requests: finds out whether the API server serves ProvisioningRequests, and reads
 * them. For each request the module has the pod slots (request_slots.h) and a writer of conditions
 * (request_writer.h). Changed requests are marked, and marked requests are evaluated SLICE_SEATS
 * slots per loop turn.
 */
#include "controller/tenant/provisioning_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/request_nodes.h"
#include "controller/tenant/request_slots.h"
#include "controller/tenant/request_writer.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/devices.h"
#include "controller/tenant/volumes.h"

#define ASK_MS 300000
#define TICK_MS 10000
#define SETTLE_MS 100
#define SLICE_SEATS 250
/* time to wait for a missing PodTemplate, which may be created after the request */
#define TEMPLATE_MS 10000
/* A request fails only after no machine was suitable for this time, because pools and instance
 * types may be created soon */
#define NEVER_MS 60000
/* Shortest interval of messages with the same reason: a change of numbers alone is not worth a
 * write. */
#define TEXT_MS 300000

static const struct kube_resource templates = {"", "v1", "podtemplates", "PodTemplate", true};

struct watched_request {
	struct request_slots *seats;
	struct request_writer writer;
	/* phase in which the request's future pods were last passed to the planner */
	enum request_phase phase;
	/* True: the request's pods are included in `pods` of struct provisioning_requests */
	bool counted;
	/* True: the request's future pods may be passed to the planner */
	bool ready;
	/* next slot to evaluate; equal to seats->n when all slots are done */
	size_t next;
	struct request_result said;
	/* memory of the texts in `said` */
	char *reason, *text;
	/* said_at: loop_now() of the last message. never_since: loop_now() since when no machine
	 * has been suitable. 0: not set */
	int64_t said_at, never_since;
};

struct provisioning_requests {
	struct tenant *t;
	struct provisioning_requests_hooks hooks;
	struct kube_call *ask;
	/* asked: the API server has reported whether it serves ProvisioningRequests. served: it
	 * serves them. gone: it has stopped serving them. denied: drover may not read them. */
	bool asked, served, denied, gone;
	struct kube_cache *objects, *templates;
	/* "NS/NAME" -> struct watched_request */
	struct map *all;
	/* set of "NS/NAME": marked requests, to be evaluated. Value: the struct
	 * provisioning_requests if the evaluation must begin with the first slot, the struct
	 * request if it continues */
	struct map *late;
	/* "NS/REQUEST" -> "NS/POD" of each pod that consumes the request */
	struct index *users;
	/* total number of pods of the counted requests */
	size_t pods;
	struct request_nodes *nodes;
	struct loop_timer timer, tick, again;
};

static const char *key_of(const char *ns, const char *name, struct arena *a)
{
	return arena_printf(a, "%s/%s", ns, name);
}

static struct watched_request *find(const struct provisioning_requests *r, const char *ns,
				    const char *name)
{
	OWN(arena) a = arena_new();

	return map_size(r->all) ? map_get(r->all, key_of(ns, name, a)) : NULL;
}

static void mark(struct provisioning_requests *r, const char *key)
{
	/* The value r, which is not a struct watched_request, makes the evaluation begin with the
	 * first slot. */
	map_put(r->late, key, r);
	if (!loop_timer_active(&r->timer))
		loop_timer_start(&r->timer, SETTLE_MS);
}

void provisioning_requests_kick(struct provisioning_requests *r)
{
	struct map_iter it;

	map_for_each (it, r->all)
		mark(r, it.key);
}

/* --- future pods ------------------------------------------------------------------------------ */

/* Sets like[i] to the pod that the template of set i describes. Returns false if a template does
 * not exist; *missing is its name. */
static bool templates_of(const struct provisioning_requests *r, const struct request_slots *s,
			 const struct world_pod **like, const char **missing, struct arena *a)
{
	for (size_t i = 0; i < s->nsets; i++) {
		const struct tenant_pod *p = r->templates
						     ? KUBE_CACHE_GET(r->templates, tenant_pod,
								      s->ns, s->set[i].template_)
						     : NULL;

		*missing = s->set[i].template_;
		if (!p)
			return false;
		like[i] = devices_of_pod(r->t->devices, p, volumes_of_pod(r->t->volumes, p, a), a);
	}
	return true;
}

static const struct world_pod *pod_of(const struct watched_request *q,
				      const struct request_object *o, size_t seat,
				      const struct world_pod *const *like, struct arena *a)
{
	struct world_pod *p = arena_new_obj(a, struct world_pod);

	*p = request_slots_pod(q->seats, o, q->phase, seat, like[request_slots_set(q->seats, seat)],
			       a);
	return p;
}

const struct world_pod *provisioning_requests_to_come(const struct provisioning_requests *r,
						      const char *ns, const char *name,
						      struct arena *a)
{
	const char *request, *missing;
	const struct world_pod *like[REQUEST_SETS];
	const struct request_object *o;
	const struct watched_request *q;
	size_t seat;

	if (!request_of_pod(name, &request, a) || !(q = find(r, ns, request)))
		return NULL;
	o = r->objects ? KUBE_CACHE_GET(r->objects, request_object, ns, request) : NULL;
	seat = request_slots_find(q->seats, name);
	if (!o || seat == SIZE_MAX || !q->seats->put[seat] ||
	    !templates_of(r, q->seats, like, &missing, a))
		return NULL;
	return pod_of(q, o, seat, like, a);
}

/* Passes a slot's future pod to the planner; removes it from the planner if o is NULL or a real pod
 * has taken the slot. */
static void put_seat(const struct provisioning_requests *r, const struct watched_request *q,
		     const struct request_object *o, size_t seat,
		     const struct world_pod *const *like)
{
	OWN(arena) a = arena_new();
	const bool want = o && !q->seats->taken[seat];

	if (want) {
		q->seats->put[seat] = true;
		r->hooks.to_come(r->t, q->seats->ns, request_slots_pod_name(q->seats, seat, a),
				 pod_of(q, o, seat, like, a));
	} else if (q->seats->put[seat]) {
		q->seats->put[seat] = false;
		r->hooks.to_come(r->t, q->seats->ns, request_slots_pod_name(q->seats, seat, a),
				 NULL);
	}
}

void provisioning_requests_each(const struct provisioning_requests *r,
				void (*fn)(const char *ns, const char *name, void *arg), void *arg)
{
	struct map_iter it;

	map_for_each (it, r->all) {
		const struct request_slots *s = ((const struct watched_request *)it.value)->seats;
		OWN(arena) a = arena_new();

		for (size_t i = 0; i < s->n; i++)
			if (s->put[i])
				fn(s->ns, request_slots_pod_name(s, i, a), arg);
	}
}

static void drop_seats(const struct provisioning_requests *r, const struct watched_request *q)
{
	for (size_t i = 0; i < q->seats->n; i++)
		put_seat(r, q, NULL, i, NULL);
}

/* --- pods that consume a request -------------------------------------------------------------- */

static bool tell_user(const char *pod, void *arg)
{
	const struct provisioning_requests *r = arg;
	OWN(arena) a = arena_new();
	char *ns = arena_strdup(a, pod), *name = strchr(ns, '/');

	*name++ = '\0';
	r->hooks.pod(r->t, ns, name);
	return true;
}

static void tell_users(struct provisioning_requests *r, const char *key)
{
	index_each(r->users, 0, key, tell_user, r);
}

static bool takes(const struct watched_request *q, const struct tenant_pod *p)
{
	return p->world.node || (p->world.unschedulable && q->phase == REQUEST_BOOKED);
}

static void seat_pod(struct provisioning_requests *r, const char *key, struct watched_request *q,
		     const struct tenant_pod *p)
{
	OWN(arena) a = arena_new();
	const struct world_pod *like[REQUEST_SETS];
	const char *missing;
	size_t seat;

	if (q->phase == REQUEST_OVER || !takes(q, p))
		return;
	seat = request_slots_take(q->seats, p,
				  templates_of(r, q->seats, like, &missing, a) ? like : NULL);
	if (seat == SIZE_MAX)
		return;
	put_seat(r, q, NULL, seat, NULL);
	mark(r, key);
}

struct seating {
	struct provisioning_requests *r;
	const char *key;
	struct watched_request *q;
};

static bool seat_user(const char *pod, void *arg)
{
	const struct seating *s = arg;
	const char *slash = strchr(pod, '/');
	OWN(arena) a = arena_new();
	const struct tenant_pod *p =
		s->r->t->pods
			? KUBE_CACHE_GET(s->r->t->pods, tenant_pod,
					 arena_strndup(a, pod, (size_t)(slash - pod)), slash + 1)
			: NULL;

	if (p)
		seat_pod(s->r, s->key, s->q, p);
	return true;
}

static void seat_users(struct provisioning_requests *r, const char *key, struct watched_request *q)
{
	index_each(r->users, 0, key, seat_user, &(struct seating){r, key, q});
}

void provisioning_requests_pod(struct provisioning_requests *r, const struct tenant_pod *old,
			       const struct tenant_pod *new_)
{
	const struct tenant_pod *p = new_ ? new_ : old;
	OWN(arena) a = arena_new();
	struct index_text text = {.text = NULL};
	const char *key;
	struct watched_request *q;

	if (!p->request && !(old && old->request))
		return;
	if (new_ && new_->request)
		text.text = key_of(p->world.ns, new_->request, a);
	index_put(r->users, key_of(p->world.ns, p->world.name, a), &text, text.text != NULL);
	if (!p->request)
		return;
	key = key_of(p->world.ns, p->request, a);
	q = map_get(r->all, key);
	if (q && new_)
		seat_pod(r, key, q, new_);
	else if (q && request_slots_leave(q->seats, p) != SIZE_MAX)
		mark(r, key);
}

const struct world_pod *provisioning_requests_of_pod(const struct provisioning_requests *r,
						     const struct tenant_pod *p,
						     const struct world_pod *w, struct arena *a)
{
	const struct request_object *o;
	struct world_pod *c;

	if (!p->request || w->node || !w->unschedulable || r->denied || (r->asked && !r->served))
		return w;
	if (r->objects && kube_cache_synced(r->objects)) {
		o = KUBE_CACHE_GET(r->objects, request_object, w->ns, p->request);
		if (!o || request_phase(o, loop_wall(r->t->c->loop)) != REQUEST_WAITS)
			return w;
	}
	c = arena_new_obj(a, struct world_pod);
	*c = *w;
	/* The pod must not request a machine: the request's future pods already do. */
	c->unschedulable = false;
	return c;
}

/* --- conditions ------------------------------------------------------------------------------- */

static void write_now(struct provisioning_requests *r, struct watched_request *q)
{
	const struct kube_entry *en =
		r->objects ? kube_cache_get(r->objects, q->seats->ns, q->seats->name) : NULL;

	if (en && r->t->c->leading && str_eq(en->uid, q->seats->uid))
		request_writer_look(&q->writer, en, &q->said);
}

static void say(struct provisioning_requests *r, struct watched_request *q, const char *reason,
		const char *text)
{
	const int64_t now = loop_now(r->t->c->loop);

	if (str_eq(q->reason, reason) && q->said_at && now - q->said_at < TEXT_MS)
		return;
	q->said_at = now;
	free(q->reason);
	free(q->text);
	q->said.reason = q->reason = mem_strdup(reason);
	q->said.text = q->text = mem_strdup(text);
	str_clean(q->text);
	write_now(r, q);
}

void provisioning_requests_wait(struct provisioning_requests *r, const char *ns, const char *name,
				const char *reason, const char *text)
{
	struct watched_request *q = find(r, ns, name);

	if (!q || q->phase != REQUEST_WAITS)
		return;
	/* Forget the last message, so that this one is written at once: the caller limits the
	 * frequency itself. */
	q->said_at = 0;
	say(r, q, reason, text);
}

void provisioning_requests_plan(struct provisioning_requests *r, const char *ns, const char *name,
				const struct request_outcome *is)
{
	const struct request_object *o =
		r->objects ? KUBE_CACHE_GET(r->objects, request_object, ns, name) : NULL;
	struct watched_request *q = find(r, ns, name);
	const int64_t now = loop_now(r->t->c->loop);
	size_t room;

	if (!o || !q || q->phase != REQUEST_WAITS || is->pods != q->seats->n - q->seats->ntaken)
		return;
	room = is->on_node + (o->class_ == REQUEST_CHECK && o->machines ? is->coming : 0);
	q->said.served = room == is->pods;
	if (!is->never)
		q->never_since = 0;
	else if (!q->never_since)
		q->never_since = now;
	q->said.never = q->never_since && now - q->never_since >= NEVER_MS;
	if (o->class_ == REQUEST_CHECK && !q->said.served)
		say(r, q, "CapacityIsNotFound", str_or(is->missing, "no room on Nodes now"));
	write_now(r, q);
}

/* --- evaluating a request --------------------------------------------------------------------- */

static void request_free(void *arg)
{
	struct watched_request *q = arg;

	request_writer_stop(&q->writer);
	request_slots_free(q->seats);
	free(q->reason);
	free(q->text);
	free(q);
}

static void end_request(struct provisioning_requests *r, const char *key,
			const struct watched_request *q)
{
	drop_seats(r, q);
	if (q->counted)
		r->pods -= q->seats->n;
	map_del(r->all, key);
	tell_users(r, key);
}

static struct watched_request *begin_request(struct provisioning_requests *r, const char *key,
					     const struct kube_entry *en)
{
	struct watched_request *q = mem_new(struct watched_request);

	q->seats = request_slots_new(en->ns, en->name, en->object);
	q->phase = REQUEST_OVER;
	request_writer_init(&q->writer, r->t, r->objects);
	map_put(r->all, key, q);
	if (!loop_timer_active(&r->tick))
		loop_timer_start(&r->tick, TICK_MS);
	return q;
}

static bool has_room(struct provisioning_requests *r, struct watched_request *q)
{
	if (!q->counted && r->pods + q->seats->n > REQUESTS_PODS) {
		say(r, q, "OverBudget",
		    "the ProvisioningRequests of this cluster want more than "
		    "8192 pods in total");
		return false;
	}
	if (!q->counted)
		r->pods += q->seats->n;
	return q->counted = true;
}

/* True if the request's future pods may be passed to the planner. Sets like[i] to the pod that set
 * i describes. If false, the reason may be reported in the request's conditions. */
static bool is_ready(struct provisioning_requests *r, struct watched_request *q,
		     const struct request_object *o, const struct world_pod **like, struct arena *a)
{
	const char *missing;

	if (q->phase == REQUEST_OVER || !has_room(r, q))
		return false;
	if (templates_of(r, q->seats, like, &missing, a))
		return true;
	if (r->templates && kube_cache_synced(r->templates) &&
	    loop_wall(r->t->c->loop) - o->created >= TEMPLATE_MS)
		say(r, q, "PodTemplateNotFound",
		    arena_printf(a, "PodTemplate %s does not exist, or drover cannot read it",
				 missing));
	return false;
}

/* Evaluates a request, at most SLICE_SEATS slots. Returns true if more slots remain. */
static bool look(struct provisioning_requests *r, const char *key)
{
	OWN(arena) a = arena_new();
	const char *slash = strchr(key, '/');
	const struct kube_entry *en =
		r->objects ? kube_cache_get(r->objects,
					    arena_strndup(a, key, (size_t)(slash - key)), slash + 1)
			   : NULL;
	const struct request_object *o = en ? en->object : NULL;
	const struct world_pod *like[REQUEST_SETS];
	struct watched_request *q = map_get(r->all, key);
	enum request_phase phase;

	if (q && (!o || !request_slots_are_of(q->seats, o))) {
		end_request(r, key, q);
		q = NULL;
	}
	if (!o)
		return false;
	if (!q)
		q = begin_request(r, key, en);
	phase = request_phase(o, loop_wall(r->t->c->loop));
	if (phase != q->phase) {
		q->phase = phase;
		seat_users(r, key, q);
		tell_users(r, key);
	}
	if (phase == REQUEST_WAITS && q->seats->n && q->seats->ntaken == q->seats->n)
		/* All pods of the request exist already, so it needs no more room. */
		q->said.served = true;
	q->ready = is_ready(r, q, o, like, a);
	for (size_t i = 0; q->next < q->seats->n && i < SLICE_SEATS; i++)
		put_seat(r, q, q->ready ? o : NULL, q->next++, like);
	if (q->next < q->seats->n)
		return true;
	write_now(r, q);
	return false;
}

static void on_timer(void *arg)
{
	struct provisioning_requests *r = arg;
	struct map_iter it;
	size_t n = 0;

	map_for_each (it, r->late) {
		struct watched_request *q = map_get(r->all, it.key);

		if (n++ == 20) {
			loop_timer_start(&r->timer, 0);
			return;
		}
		if (q && map_get(r->late, it.key) == r)
			q->next = 0;
		if (look(r, it.key)) {
			*map_slot(r->late, it.key) = q;
			loop_timer_start(&r->timer, 0);
			return;
		}
		map_del(r->late, it.key);
	}
}

/* Marks requests whose phase has ended (such as an expired booking) or that were not ready, so that
 * they are evaluated again. Retries failed writes of the others. */
static void on_tick(void *arg)
{
	struct provisioning_requests *r = arg;
	struct map_iter it;

	map_for_each (it, r->all) {
		struct watched_request *q = it.value;
		const struct request_object *o =
			KUBE_CACHE_GET(r->objects, request_object, q->seats->ns, q->seats->name);

		if (!o || request_phase(o, loop_wall(r->t->c->loop)) != q->phase ||
		    (q->phase != REQUEST_OVER && !q->ready))
			mark(r, it.key);
		else
			write_now(r, q);
	}
	if (map_size(r->all))
		loop_timer_start(&r->tick, TICK_MS);
}

/* --- caches ----------------------------------------------------------------------------------- */

static void on_object(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct provisioning_requests *r = arg;
	const struct kube_entry *en = new_ ? new_ : old;
	OWN(arena) a = arena_new();

	mark(r, key_of(en->ns, en->name, a));
}

static void on_template(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct provisioning_requests *r = arg;

	volumes_pod(r->t->volumes, old ? old->object : NULL, new_ ? new_->object : NULL);
	devices_pod(r->t->devices, old ? old->object : NULL, new_ ? new_->object : NULL);
	provisioning_requests_kick(r);
}

static bool tell_any(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct provisioning_requests *r = arg;

	if (p->request)
		r->hooks.pod(r->t, en->ns, en->name);
	return true;
}

/* Passes all pods that consume a request to the planner again, because the pods themselves may now
 * need machines. */
static void tell_all_users(struct provisioning_requests *r)
{
	if (r->t->pods)
		kube_cache_each(r->t->pods, tell_any, r);
}

static void on_sync(void *arg)
{
	struct provisioning_requests *r = arg;

	tell_all_users(r);
	provisioning_requests_kick(r);
}

static void on_health(const struct err *e, void *arg)
{
	struct provisioning_requests *r = arg;
	const bool denied = e && e->kind == ERR_DENIED;

	if (denied && !r->denied && tenant_may_log(r->t))
		log_warn("drover may not read ProvisioningRequests and PodTemplates",
			 LOG_S("tenant", r->t->name), LOG_E(e));
	if (denied != r->denied) {
		r->denied = denied;
		tell_all_users(r);
	}
	if (e && e->kind == ERR_NOT_FOUND) {
		r->gone = true;
		loop_timer_start(&r->again, 0);
	}
}

static void *project_template(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	return tenant_project_template(o, a, ((const struct provisioning_requests *)arg)->t, e);
}

static void start_caches(struct provisioning_requests *r)
{
	struct kube_cache_spec s = {
		.client = r->t->client,
		.resource = &request_resource,
		.want = request_want,
		.project = request_project,
		.on_change = on_object,
		.on_sync = on_sync,
		.on_health = on_health,
		.max_objects = REQUESTS,
		.max_bytes = REQUESTS_BYTES,
		.arg = r,
	};

	r->objects = kube_cache_new(r->t->c->group, &s);
	s.resource = &templates;
	s.want = tenant_want_template;
	s.project = project_template;
	s.same_untold = true;
	s.on_change = on_template;
	r->templates = kube_cache_new(r->t->c->group, &s);
}

static void on_served(json_t *o, const struct err *e, void *arg)
{
	struct provisioning_requests *r = arg;
	json_t *one;
	size_t i;

	r->ask = NULL;
	r->asked = true;
	json_array_foreach (e ? NULL : json_object_get(o, "resources"), i, one)
		r->served |= str_eq(json_str_at(one, "name"), "provisioningrequests");
	if (r->served)
		start_caches(r);
	else
		loop_timer_start(&r->again, ASK_MS);
	tell_all_users(r);
}

static void close_caches(struct provisioning_requests *r)
{
	map_clear(r->all);
	map_clear(r->late);
	kube_cache_free(r->objects);
	kube_cache_free(r->templates);
	r->objects = r->templates = NULL;
	r->served = r->denied = r->gone = false;
	r->pods = 0;
}

static void on_again(void *arg)
{
	struct provisioning_requests *r = arg;
	struct map_iter it;

	if (r->gone) {
		map_for_each (it, r->all)
			drop_seats(r, it.value);
		close_caches(r);
		tell_all_users(r);
		loop_timer_start(&r->again, ASK_MS);
	} else if (!r->ask && !r->served && r->t->client) {
		r->ask = kube_get_path(r->t->client, "/apis/autoscaling.x-k8s.io/v1", on_served, r);
	}
}

void provisioning_requests_start(struct provisioning_requests *r)
{
	loop_timer_start(&r->again, 0);
}

/* --- Nodes with reserved slots ---------------------------------------------------------------- */

void provisioning_requests_reserve_begin(struct provisioning_requests *r)
{
	request_nodes_begin(r->nodes);
}

void provisioning_requests_reserve(struct provisioning_requests *r, const char *node)
{
	request_nodes_reserve(r->nodes, node);
}

void provisioning_requests_reserve_end(struct provisioning_requests *r)
{
	request_nodes_end(r->nodes);
}

bool provisioning_requests_is_reserved(const struct provisioning_requests *r, const char *node,
				       int64_t *since)
{
	return request_nodes_is_reserved(r->nodes, node, since);
}

/* --- lifecycle -------------------------------------------------------------------------------- */

void provisioning_requests_forget(struct provisioning_requests *r)
{
	loop_timer_stop(&r->timer);
	loop_timer_stop(&r->tick);
	loop_timer_stop(&r->again);
	kube_call_cancel(r->ask);
	r->ask = NULL;
	r->asked = false;
	close_caches(r);
	index_free(r->users);
	r->users = index_new(1);
	request_nodes_clear(r->nodes);
}

struct provisioning_requests *provisioning_requests_new(
	struct tenant *t, const struct provisioning_requests_hooks *hooks)
{
	struct provisioning_requests *r = mem_new(struct provisioning_requests);

	r->t = t;
	r->hooks = *hooks;
	r->all = map_new(request_free);
	r->late = map_new(NULL);
	r->nodes = request_nodes_new(t);
	loop_timer_init(&r->timer, t->c->group, on_timer, r);
	loop_timer_init(&r->tick, t->c->group, on_tick, r);
	loop_timer_init(&r->again, t->c->group, on_again, r);
	provisioning_requests_forget(r);
	return r;
}

void provisioning_requests_free(struct provisioning_requests *r)
{
	if (!r)
		return;
	provisioning_requests_forget(r);
	map_free(r->all);
	map_free(r->late);
	request_nodes_free(r->nodes);
	index_free(r->users);
	free(r);
}
