#include "controller/hardware/segments.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/hardware/leftovers.h"

#define AGAIN_MS 30000
/* Timeout of a call. A driver that is freed never answers its calls in progress; any other driver
 * answers within 60 s. */
#define LOST_MS 90000

struct segments {
	struct context *c;
	const struct drivers *drivers;
	void (*changed)(const char *tenant, void *arg);
	void *arg;
	/* entries (struct segment_entry) of VirtualClusters that are being deleted */
	struct leftovers *entries;
};

struct segment_entry {
	struct leftover of;
	struct segments *all;
	char segment[TENANT_SEGMENT];
	/* names of the Providers that have nothing left to remove */
	struct map *done;
	/* name of the Provider whose answer is pending; "": none */
	char asked[254];
	struct loop_timer again;
};

void segment_of_tenant(const struct virtual_cluster *vc, char out[static TENANT_SEGMENT])
{
	str_format(out, TENANT_SEGMENT, SEGMENT_TENANTS "%s",
		   str_or(vc->spec.network.segment, vc->meta.name));
}

static void entry_free(void *p)
{
	struct segment_entry *en = p;

	loop_timer_stop(&en->again);
	map_free(en->done);
	free(en);
}

/* True if the Provider's network driver creates objects for a tenant. */
static bool makes(const struct provider_object *p)
{
	return p->spec.network.type == FABRIC_NETRIS;
}

struct segment_twin {
	const struct virtual_cluster *vc;
	bool found;
};

static bool find_twin(const struct kube_entry *e, void *arg)
{
	const struct virtual_cluster *other = e->object;
	struct segment_twin *t = arg;
	char a[TENANT_SEGMENT], b[TENANT_SEGMENT];

	segment_of_tenant(t->vc, a);
	segment_of_tenant(other, b);
	t->found = !str_eq(other->meta.name, t->vc->meta.name) && str_eq(a, b);
	return !t->found;
}

/* True if another tenant uses the same segment. Then the segment must not be removed. */
static bool is_shared(const struct segments *s, const struct virtual_cluster *vc)
{
	struct segment_twin t = {vc, false};

	kube_cache_each(s->c->cache[OBJECT_VIRTUAL_CLUSTER], find_twin, &t);
	return t.found;
}

struct next {
	const struct segment_entry *en;
	const struct provider_object *p;
};

static bool find_next(const struct kube_entry *e, void *arg)
{
	struct next *n = arg;
	const struct provider_object *p = e->object;

	if (makes(p) && !(n->en && map_has(n->en->done, p->meta.name)))
		n->p = p;
	return !n->p;
}

static const struct provider_object *next_of(const struct segments *s,
					     const struct segment_entry *en)
{
	struct next n = {en, NULL};

	kube_cache_each(s->c->cache[OBJECT_PROVIDER], find_next, &n);
	return n.p;
}

static void on_again(void *arg)
{
	struct segment_entry *en = arg;

	en->asked[0] = '\0';
	en->all->changed(en->of.tenant, en->all->arg);
}

static void on_dropped(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct segment_entry *en = arg;

	(void)p;
	if (e) {
		log_warn("cannot remove a segment", LOG_S("tenant", en->of.tenant),
			 LOG_S("provider", en->asked), LOG_E(e));
		loop_timer_start(&en->again, AGAIN_MS);
		return;
	}
	map_put(en->done, en->asked, en);
	loop_timer_start(&en->again, 0);
}

static bool may_act(void *arg)
{
	const struct segment_entry *en = arg;

	return ctx_may_act(en->all->c);
}

static void ask(struct segment_entry *en, const struct provider_object *p)
{
	const struct driver *d = driver_get(en->all->drivers, p->meta.name);
	const struct fabric_call call = {.done = on_dropped, .may_act = may_act, .arg = en};

	if (!d || !d->fabric || !fabric_makes(d->fabric)) {
		/* retry later: a Secret is still being read, or the Provider is not usable */
		loop_timer_start(&en->again, AGAIN_MS);
		return;
	}
	str_copy(en->asked, sizeof(en->asked), p->meta.name);
	loop_timer_start(&en->again, LOST_MS);
	fabric_drop(d->fabric, en->segment, &call);
}

static bool give_up(struct segment_entry *en, const struct virtual_cluster *vc)
{
	char note[400];

	str_format(note, sizeof(note),
		   "objects that the network driver created for segment %.100s may be left over: "
		   "they could not be removed in 10 min",
		   en->segment);
	return leftover_given_up(&en->of, vc, "SegmentLeft", note);
}

static struct leftover *make_entry(const struct virtual_cluster *vc, void *arg)
{
	struct segment_entry *en = mem_new(struct segment_entry);

	en->all = arg;
	segment_of_tenant(vc, en->segment);
	en->done = map_new(NULL);
	loop_timer_init(&en->again, en->all->c->group, on_again, en);
	return &en->of;
}

static bool in_progress(const struct leftover *l)
{
	return ((const struct segment_entry *)l)->asked[0] != '\0';
}

bool segments_block_deletion(struct segments *s, const struct virtual_cluster *vc, bool gone)
{
	const struct provider_object *p = next_of(s, NULL);
	struct segment_entry *en;

	if (!gone)
		return p != NULL;
	leftovers_sweep(s->entries);
	en = (struct segment_entry *)leftovers_of(s->entries, vc);
	/* wait: on_again() calls changed() when the call of the earlier VirtualCluster has ended */
	if (!en)
		return true;
	p = next_of(s, en);
	if (!p || is_shared(s, vc) || give_up(en, vc))
		return false;
	if (!en->asked[0] && !loop_timer_active(&en->again) && !vc->spec.paused &&
	    ctx_may_act(s->c))
		ask(en, p);
	else if (!loop_timer_active(&en->again))
		loop_timer_start(&en->again, AGAIN_MS);
	return true;
}

struct segments *segments_new(struct context *c, const struct drivers *ds,
			      void (*changed)(const char *tenant, void *arg), void *arg)
{
	struct segments *s = mem_new(struct segments);

	*s = (struct segments){.c = c, .drivers = ds, .changed = changed, .arg = arg};
	s->entries = leftovers_new(&(struct leftovers_spec){.c = c,
							    .make = make_entry,
							    .in_progress = in_progress,
							    .free = entry_free,
							    .arg = s});
	return s;
}

void segments_free(struct segments *s)
{
	if (!s)
		return;
	leftovers_free(s->entries);
	free(s);
}
