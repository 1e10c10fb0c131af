#include "controller/billing/held_gpus.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

/* Maximum number of spans (periods with a constant number of reserved GPUs) per tenant. If
 * status.usage is not written for a long time, the two oldest spans are merged. */
#define SPANS 32

struct held_span {
	int64_t from, to;
	/* Reserved amount in thousandths of a GPU, multiplied by the duration in ms */
	int64_t work;
};

struct held_spans {
	struct held_span v[SPANS];
	size_t n;
	/* The span that has not ended: its beginning (Unix ms), and thousandths of a GPU; milli 0:
	 * no such span */
	int64_t from, milli;
};

struct held_gpus {
	/* Key: name of a tenant; value: struct held_spans */
	struct map *rows;
};

struct held_gpus *held_gpus_new(void)
{
	struct held_gpus *h = mem_new(struct held_gpus);

	h->rows = map_new(free);
	return h;
}

void held_gpus_free(struct held_gpus *h)
{
	if (!h)
		return;
	map_free(h->rows);
	free(h);
}

static int64_t work_of(const struct held_span *s, int64_t since)
{
	const int64_t from = s->from > since ? s->from : since;

	if (s->to <= from)
		return 0;
	return (int64_t)((__int128)s->work * (s->to - from) / (s->to - s->from));
}

static struct held_span span_of(int64_t from, int64_t to, int64_t milli)
{
	return (struct held_span){from, to, (to - from) * milli};
}

/* Merges the two oldest spans of r into one. */
static void merge(struct held_spans *r)
{
	r->v[0].work += r->v[1].work;
	r->v[0].to = r->v[1].to;
	for (size_t i = 1; i + 1 < r->n; i++)
		r->v[i] = r->v[i + 1];
	r->n--;
}

void held_gpus_set(struct held_gpus *h, const char *tenant, int64_t milli, int64_t now)
{
	struct held_spans *r = map_get(h->rows, tenant);

	if (!r && !milli)
		return;
	if (!r) {
		r = mem_new(struct held_spans);
		map_put(h->rows, tenant, r);
	}
	if (r->milli == milli)
		return;
	if (r->n == SPANS)
		merge(r);
	if (r->milli > 0 && now > r->from)
		r->v[r->n++] = span_of(r->from, now, r->milli);
	r->from = now;
	r->milli = milli;
}

int64_t held_gpus_seconds(const struct held_gpus *h, const char *tenant, int64_t since, int64_t now)
{
	const struct held_spans *r = h ? map_get(h->rows, tenant) : NULL;
	struct held_span open;
	int64_t sum = 0;

	if (!r)
		return 0;
	for (size_t i = 0; i < r->n; i++)
		sum += work_of(&r->v[i], since);
	open = span_of(r->from, now, r->milli);
	return (sum + work_of(&open, since)) / 1000000;
}
