#include "controller/gauge_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct gauge_count {
	double n;
};

struct metric *gauge_of_fleet(struct metrics *m, const char *name, const char *help,
			      const char *const *labels)
{
	struct metric *f = metrics_gauge(m, name, help, labels);

	metric_transient(f);
	return f;
}

struct map *gauge_counts_new(void)
{
	return map_new(free);
}

void gauge_counts_add(struct map *counts, const char *what, double n)
{
	struct gauge_count *c = map_get(counts, what);

	if (!c) {
		c = mem_new(struct gauge_count);
		map_put(counts, what, c);
	}
	c->n += n;
}

void gauge_counts_reset(struct map *counts)
{
	struct map_iter it;

	map_for_each (it, counts)
		((struct gauge_count *)it.value)->n = 0;
}

void gauge_counts_show(struct metric *gauge, const struct map *counts)
{
	struct map_iter it;

	metric_zero(gauge);
	map_for_each (it, counts)
		metric_add(gauge, LABELS(it.key), ((struct gauge_count *)it.value)->n);
}

void gauge_counts_show_pairs(struct metric *gauge, const struct map *counts)
{
	struct map_iter it;
	char first[256];

	metric_zero(gauge);
	map_for_each (it, counts) {
		const char *slash = strrchr(it.key, '/');

		str_format(first, sizeof(first), "%.*s", (int)(slash - it.key), it.key);
		metric_add(gauge, LABELS(first, slash + 1), ((struct gauge_count *)it.value)->n);
	}
}
