/*
 * provider_finalizer: one scan of all Machines finds the Providers in use; then the finalizer is
 * added or removed, one write at a time.
 * Tests: tests/world/test_rest.c
 */
#include "controller/hardware/provider_finalizer.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/status_writer.h"

#define SOON_MS 1000 /* delay that batches changes, which may come in hundreds */

struct provider_finalizer {
	struct context *c;
	struct loop_timer timer;
	struct status_writer write;
};

struct finalizer_scan {
	struct provider_finalizer *h;
	/* name of a Provider -> name of a Machine that refers to it, borrowed from the cache */
	struct map *named;
};

static bool note_name(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct finalizer_scan *k = arg;

	if (m->spec.provider_ref.name)
		map_put(k->named, m->spec.provider_ref.name, (void *)m->meta.name);
	return true;
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct provider_finalizer *h = arg;

	(void)o;
	(void)e;
	loop_timer_start(&h->timer, SOON_MS);
}

/* Adds or removes the finalizer of one Provider. Returns false to end the scan if that started a
 * write; the scan runs again after the write. */
static bool hold(const struct kube_entry *en, void *arg)
{
	const struct provider_object *p = en->object;
	struct finalizer_scan *k = arg;
	struct context *c = k->h->c;
	const char *machine = map_get(k->named, p->meta.name);
	char note[600];

	if (machine && p->meta.deletion_timestamp) {
		str_format(note, sizeof(note),
			   "the Provider is deleted once no Machine refers to it; Machine %s "
			   "still refers to it",
			   machine);
		ctx_event(c, OBJECT_PROVIDER, &p->meta, "Warning", "ProviderInUse", note);
		/* no write: Kubernetes adds no finalizer to an object that is being deleted */
		return true;
	}
	return !writer_finalizer(&k->h->write, OBJECT_PROVIDER, &p->meta, FINALIZER_PROVIDER,
				 /* mutant: provider-not-held */ machine != NULL, on_written);
}

static void look(void *arg)
{
	struct provider_finalizer *h = arg;
	struct context *c = h->c;
	struct finalizer_scan k = {.h = h};

	if (!c->leading || !c->ready || writer_busy(&h->write))
		return;
	k.named = map_new(NULL);
	kube_cache_each(c->cache[OBJECT_MACHINE], note_name, &k);
	kube_cache_each(c->cache[OBJECT_PROVIDER], hold, &k);
	map_free(k.named);
}

void provider_finalizer_kick(struct provider_finalizer *h)
{
	if (!loop_timer_active(&h->timer))
		loop_timer_start(&h->timer, SOON_MS);
}

struct provider_finalizer *provider_finalizer_new(struct context *c)
{
	struct provider_finalizer *h = mem_new(struct provider_finalizer);

	h->c = c;
	writer_init(&h->write, c, h);
	loop_timer_init(&h->timer, c->group, look, h);
	return h;
}

void provider_finalizer_free(struct provider_finalizer *h)
{
	if (!h)
		return;
	writer_stop(&h->write);
	loop_timer_stop(&h->timer);
	free(h);
}
