#include "controller/core/sweep.h"

static bool note(const struct kube_entry *e, void *arg)
{
	struct sweep *s = arg;

	s->v[s->n++] = (struct sweep_name){e->ns, e->name};
	return true;
}

void sweep_begin(struct sweep *s, const struct kube_cache *c, struct arena *a)
{
	*s = (struct sweep){.cache = c,
			    .v = arena_calloc(a, kube_cache_size(c) + 1, sizeof(*s->v))};
	kube_cache_each(c, note, s);
	for (size_t i = 0; i < s->n; i++)
		s->v[i] = (struct sweep_name){arena_strdup(a, s->v[i].ns),
					      arena_strdup(a, s->v[i].name)};
}

bool sweep_go_on(struct sweep *s, size_t most, bool (*fn)(const struct kube_entry *e, void *arg),
		 void *arg)
{
	for (size_t i = 0; s->at < s->n && i < most; i++) {
		const struct sweep_name *x = &s->v[s->at++];
		const struct kube_entry *e = kube_cache_get(s->cache, x->ns, x->name);

		if (e && !fn(e, arg))
			s->at = s->n;
	}
	return s->at < s->n;
}
