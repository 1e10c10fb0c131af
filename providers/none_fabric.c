#include <stdlib.h>
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "providers/registry.h"

/* none_fabric: stores the last place() of each machine and returns it.
 * Tests: tests/contract/test_fabric.c */

/* State of the fabric type none: there is no isolation, and nothing is proved. */
struct none {
	struct loop_group *group;
	/* Requested segments. Key: name of a machine; value: name of the segment */
	struct map *segments;
	struct list answers;
};

struct answer {
	struct list link;
	struct loop_defer defer;
	struct fabric_call call;
	bool observed;
	char *segment;
	int64_t read_at;
};

static void answer_free(struct answer *a)
{
	list_remove(&a->link);
	loop_defer_cancel(&a->defer);
	free(a->segment);
	free(a);
}

static void on_answer(void *arg)
{
	struct answer *a = arg;
	struct fabric_place place = {
		.segment = a->segment, .proof = FABRIC_PROOF_NONE, .read_at = a->read_at};

	list_remove(&a->link);
	a->call.done(a->observed ? &place : NULL, NULL, a->call.arg);
	answer_free(a);
}

static struct answer *later(struct none *n, const struct fabric_call *c)
{
	struct answer *a = mem_new(struct answer);

	a->call = *c;
	loop_defer_init(&a->defer, n->group, on_answer, a);
	loop_defer(&a->defer);
	list_push_back(&n->answers, &a->link);
	return a;
}

static int none_open(struct fabric *f, const struct fabric_spec *s, struct err *e)
{
	struct none *n = mem_new(struct none);

	(void)e;
	n->group = s->group;
	n->segments = map_new(free);
	list_init(&n->answers);
	f->state = n;
	return 0;
}

static void none_close(struct fabric *f)
{
	struct none *n = f->state;

	list_for_each (a, &n->answers, struct answer, link)
		answer_free(a);
	map_free(n->segments);
	free(n);
}

static void none_place(struct fabric *f, const struct fabric_port *p, const char *segment,
		       const struct fabric_call *c)
{
	struct none *n = f->state;

	map_put(n->segments, p->machine, mem_strdup(segment));
	later(n, c);
}

static void none_observe(struct fabric *f, const struct fabric_port *p, const struct fabric_call *c)
{
	struct none *n = f->state;
	struct answer *a = later(n, c);

	a->observed = true;
	a->segment = mem_strdup(map_get(n->segments, p->machine));
	a->read_at = loop_now(loop_of(n->group));
}

const struct fabric_ops none_fabric_ops = {
	.type = "none",
	.open = none_open,
	.close = none_close,
	.place = none_place,
	.observe = none_observe,
};
