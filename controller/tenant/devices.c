#include "controller/tenant/devices_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"

/* delay that batches changes after which all pods with claims are passed to the planner again */
#define ALL_MS 1000
#define OLDEST 32 /* minor version of the oldest Kubernetes whose resource claims drover can read */
#define VERSIONS 3

#define IN(version)                                                                                \
	{                                                                                          \
		{"resource.k8s.io", version, "resourceclaims", "ResourceClaim", true},             \
			{"resource.k8s.io", version, "resourceclaimtemplates",                     \
			 "ResourceClaimTemplate", true},                                           \
			{"resource.k8s.io", version, "deviceclasses", "DeviceClass", false},       \
			{"resource.k8s.io", version, "resourceslices", "ResourceSlice", false},    \
	}
static const struct kube_resource resources[VERSIONS][DEVICES_KINDS] = {IN("v1beta1"),
									IN("v1beta2"), IN("v1")};

static const struct device_source {
	const struct scan_want *want;
	void *(*project)(const json_t *o, struct arena *a, void *arg, struct err *e);
} kinds[DEVICES_KINDS] = {
	[DEVICES_CLAIMS] = {device_want_claim, device_project_claim},
	[DEVICES_TEMPLATES] = {device_want_template, device_project_template},
	[DEVICES_CLASSES] = {device_want_class, device_project_class},
	[DEVICES_SLICES] = {device_want_slice, device_project_slice},
};

/* Returns the resources in the newest version that this API server serves; NULL: the API server is
 * too old. */
static const struct kube_resource *resources_of_version(const struct devices *d)
{
	const char *dot = d->t->version ? strchr(d->t->version, '.') : NULL;
	const int minor = dot ? atoi(dot + 1) : 0;

	return minor < OLDEST		       ? NULL
	       : minor - OLDEST < VERSIONS - 1 ? resources[minor - OLDEST]
					       : resources[VERSIONS - 1];
}

/* --- passing pods to the planner again -------------------------------------------------------- */

static bool mark_pod(const char *name, void *arg)
{
	struct devices *d = arg;

	replan_queue_pod(d->replan_queue, name);
	return true;
}

const char *devices_text_of(enum devices_kind kind, const char *ns, const char *name,
			    struct arena *a)
{
	return arena_printf(a, "%d/%s/%s", kind, ns, name);
}

static void mark_users(struct devices *d, enum devices_kind kind, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();

	index_each(d->users, 0, devices_text_of(kind, ns, name, a), mark_pod, d);
}

static void mark_all(struct devices *d)
{
	if (!loop_timer_active(&d->all_timer))
		loop_timer_start(&d->all_timer, ALL_MS);
}

bool devices_asks_plainly(const struct world_pod *p)
{
	return !p->node && resources_get(&p->requests, DEVICES_GPU);
}

static bool mark_plain(const struct kube_entry *en, void *arg)
{
	struct devices *d = arg;
	OWN(arena) a = arena_new();

	if (devices_asks_plainly(en->object))
		replan_queue_pod(d->replan_queue, arena_printf(a, "%s/%s", en->ns, en->name));
	return true;
}

static bool mark_node(const struct kube_entry *en, void *arg)
{
	struct devices *d = arg;

	replan_queue_node(d->replan_queue, en->name);
	return true;
}

static void on_all(void *arg)
{
	struct devices *d = arg;
	struct map_iter it;

	map_for_each (it, d->pods)
		replan_queue_pod(d->replan_queue, it.key);
	if (d->plain && d->t->pods) {
		d->plain = false;
		kube_cache_each(d->t->pods, mark_plain, d);
		kube_cache_each(d->t->nodes, mark_node, d);
	}
}

/* --- caches ----------------------------------------------------------------------------------- */

static bool stands_for_gpus(const struct kube_entry *en)
{
	const struct device_class *k = en ? en->object : NULL;

	return k && str_eq(k->extended, DEVICES_GPU);
}

static void on_slice(struct devices *d, const struct kube_entry *old, const struct kube_entry *new_)
{
	const struct kube_entry *both[] = {old, new_};

	device_slices_put(d->slices, (new_ ? new_ : old)->name, new_ ? new_->object : NULL);
	for (int i = 0; i < 2; i++) {
		const struct device_slice *s = both[i] ? both[i]->object : NULL;

		if (s && s->node)
			replan_queue_node(d->replan_queue, s->node);
	}
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct devices_reading *r = arg;
	struct devices *d = r->d;
	const struct kube_entry *en = new_ ? new_ : old;

	switch (r->kind) {
	case DEVICES_CLAIMS:
	case DEVICES_TEMPLATES:
		mark_users(d, r->kind, en->ns, en->name);
		break;
	case DEVICES_CLASSES:
		d->mapped += stands_for_gpus(new_);
		d->mapped -= stands_for_gpus(old);
		d->plain |= stands_for_gpus(new_) != stands_for_gpus(old);
		mark_all(d);
		break;
	case DEVICES_SLICES:
		on_slice(d, old, new_);
		break;
	case DEVICES_KINDS:
		break;
	}
}

static void on_sync(void *arg)
{
	struct devices_reading *r = arg;

	r->d->plain |= r->kind == DEVICES_SLICES;
	mark_all(r->d);
}

static void on_health(const struct err *e, void *arg)
{
	struct devices_reading *r = arg;

	if (read_result_set(&r->read, e))
		mark_all(r->d);
}

static void on_over(const json_t *object, void *arg)
{
	(void)object;
	mark_all(((struct devices_reading *)arg)->d);
}

static void read_kinds(struct devices *d, const struct kube_resource *of)
{
	for (int i = 0; i < DEVICES_KINDS; i++) {
		const struct kube_cache_spec s = {
			.client = d->t->client,
			.resource = &of[i],
			.want = kinds[i].want,
			.same_untold = true,
			.project = kinds[i].project,
			.on_change = on_change,
			.on_sync = on_sync,
			.on_health = on_health,
			.on_over = on_over,
			.max_objects = TENANT_DEVICES,
			.max_bytes = TENANT_DEVICES_BYTES,
			.arg = &d->of[i],
		};

		d->of[i].cache = kube_cache_new(d->t->c->group, &s);
	}
}

/* Starts the caches if needed. Runs in a separate loop turn, because a cache must not be created in
 * another cache's callback. */
static void on_turn(void *arg)
{
	struct devices *d = arg;
	const struct kube_resource *of = resources_of_version(d);

	if (d->wanted && !d->of[0].cache && d->t->client && of && !d->t->on_host)
		read_kinds(d, of);
}

static void on_pod(const char *ns, const char *name, void *arg)
{
	const struct devices *d = arg;

	d->hooks.pod(d->t, ns, name);
}

static void on_node(const char *name, void *arg)
{
	const struct devices *d = arg;

	d->hooks.node(d->t, name);
}

/* --- pods ------------------------------------------------------------------------------------- */

/* Marks all pods that share a claim with p, because a change of p may change which of them gets a
 * machine first. */
static void mark_sharers(struct devices *d, const struct tenant_pod *p)
{
	for (size_t i = 0; i < p->ndevices; i++)
		if (p->devices[i].claim && !p->devices[i].template_)
			mark_users(d, DEVICES_CLAIMS, p->world.ns, p->devices[i].claim);
}

void devices_want(struct devices *d)
{
	if (d->wanted)
		return;
	d->wanted = true;
	replan_queue_soon(d->replan_queue);
}

void devices_pod(struct devices *d, const struct tenant_pod *old, const struct tenant_pod *new_)
{
	OWN(arena) a = arena_new();
	const struct tenant_pod *p = new_ ? new_ : old;
	const size_t n = new_ ? new_->ndevices : 0;
	struct index_text *texts;
	const char *key;

	if (!n && !(old && old->ndevices))
		return;
	key = arena_printf(a, "%s/%s", p->world.ns, p->world.name);
	texts = arena_calloc(a, 2 * n + 1, sizeof(*texts));
	for (size_t i = 0; i < n; i++) {
		const struct tenant_device *v = &p->devices[i];

		if (v->claim)
			texts[2 * i].text =
				devices_text_of(DEVICES_CLAIMS, p->world.ns, v->claim, a);
		if (v->template_)
			texts[2 * i + 1].text =
				devices_text_of(DEVICES_TEMPLATES, p->world.ns, v->template_, a);
	}
	index_put(d->users, key, texts, 2 * n);
	if (n)
		map_put(d->pods, key, d);
	else
		map_del(d->pods, key);
	if (!old || !new_ || !str_eq(old->world.node, new_->world.node))
		mark_sharers(d, p);
	if (n)
		devices_want(d);
}

const char *devices_unread(const struct devices *d, bool *soon, struct arena *a)
{
	const struct kube_resource *of = resources_of_version(d);

	*soon = false;
	if (!of)
		return arena_printf(
			a, "resource claims require Kubernetes 1.%d or later, this cluster is %s",
			OLDEST, str_or(d->t->version, "of an unknown version"));
	for (int i = 0; i < DEVICES_KINDS; i++) {
		const struct devices_reading *r = &d->of[i];

		if (r->read.denied)
			return arena_printf(
				a,
				"drover may not get, list and watch %s.resource.k8s.io in this "
				"cluster",
				of[i].plural);
		if (r->cache && kube_cache_synced(r->cache))
			continue;
		if (r->read.absent)
			return arena_printf(a,
					    "this cluster does not serve %s.resource.k8s.io in %s",
					    of[i].plural, of[i].version);
		if (r->read.error[0])
			return arena_printf(a, "%s cannot be read: %s", of[i].plural,
					    r->read.error);
		*soon = true;
	}
	return NULL;
}

const void *devices_look_up(const struct devices *d, enum devices_kind kind, const char *ns,
			    const char *name)
{
	const struct kube_entry *en = name ? kube_cache_get(d->of[kind].cache, ns, name) : NULL;

	return en ? en->object : NULL;
}

/* --- lifecycle -------------------------------------------------------------------------------- */

void devices_forget(struct devices *d)
{
	loop_timer_stop(&d->all_timer);
	for (int i = 0; i < DEVICES_KINDS; i++) {
		kube_cache_free(d->of[i].cache);
		d->of[i] = (struct devices_reading){.d = d, .kind = (enum devices_kind)i};
	}
	d->wanted = d->plain = false;
	d->mapped = 0;
	index_free(d->users);
	d->users = index_new(1);
	device_slices_free(d->slices);
	d->slices = device_slices_new();
	map_clear(d->pods);
	replan_queue_clear(d->replan_queue);
}

struct devices *devices_new(struct tenant *t, const struct devices_hooks *hooks)
{
	struct devices *d = mem_new(struct devices);

	d->t = t;
	d->hooks = *hooks;
	d->pods = map_new(NULL);
	d->replan_queue = replan_queue_new(
		t->c->group, &(struct replan_queue_hooks){on_turn, on_pod, on_node, d});
	loop_timer_init(&d->all_timer, t->c->group, on_all, d);
	devices_forget(d);
	return d;
}

void devices_free(struct devices *d)
{
	if (!d)
		return;
	devices_forget(d);
	index_free(d->users);
	device_slices_free(d->slices);
	map_free(d->pods);
	replan_queue_free(d->replan_queue);
	free(d);
}
