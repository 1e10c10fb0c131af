#include "providers/ec2/known.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/instances.h"

struct known_instance {
	struct arena *a;
	struct elastic_instance instance;
	int64_t seen_at;
};
struct ec2_known {
	/* Instance id -> struct known_instance */
	struct map *entries;
};

static void entry_free(void *p)
{
	struct known_instance *n = p;

	arena_free(n->a);
	free(n);
}

struct ec2_known *ec2_known_new(void)
{
	struct ec2_known *k = mem_new(struct ec2_known);

	k->entries = map_new(entry_free);
	return k;
}

void ec2_known_free(struct ec2_known *k)
{
	if (!k)
		return;
	map_free(k->entries);
	free(k);
}

void ec2_known_see(struct ec2_known *k, const struct elastic_instance *i, int64_t now)
{
	struct known_instance *n;

	if (i->state == ELASTIC_TERMINATED) {
		map_del(k->entries, i->id);
		return;
	}
	n = mem_new(struct known_instance);
	n->a = arena_new();
	n->instance = ec2_instance_copy(i, n->a);
	n->seen_at = now;
	map_put(k->entries, i->id, n);
}

void ec2_known_missing(struct ec2_known *k, const char *cluster, const struct map *listed,
		       int64_t now, void (*add)(const struct elastic_instance *i, void *arg),
		       void *arg)
{
	struct map_iter it;

	map_for_each (it, k->entries) {
		struct known_instance *n = it.value;
		bool gone = /* mutant: ec2-unlisted */ now - n->seen_at >= ELASTIC_UNLISTED_MS;

		if (map_has(listed, it.key) ||
		    !str_eq(ec2_instance_tag(&n->instance, ELASTIC_TAG_CLUSTER), cluster))
			continue;
		n->instance.state = gone ? ELASTIC_TERMINATED : ELASTIC_UNKNOWN;
		n->instance.reason = "the cloud does not list this instance";
		add(&n->instance, arg);
		if (gone)
			map_del(k->entries, it.key);
	}
}
