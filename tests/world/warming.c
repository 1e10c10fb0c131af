#include "tests/world/warming.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/world/bootagent.h"

void warming_want(struct earth *w, const char *pool, int nodes)
{
	char path[128];

	str_format(path, sizeof(path), WARMING_POOLS "/%s", pool);
	earth_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:{s:i}}}", "spec", "warm", "nodes", nodes));
}

bool warming_is_warm(const struct box *b)
{
	return str_eq(b->state, "free") && earth_at(b, "status.warmFor.name")[0] &&
	       earth_at(b, "status.agent.publicKey")[0] && b->doing == BOX_AGENT &&
	       str_eq(b->segment, "provisioning");
}

unsigned warming_count(const struct earth *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += warming_is_warm(&w->boxes[i]);
	return n;
}

struct number {
	struct earth *w;
	unsigned n;
};

static bool as_many_are_warm(void *arg)
{
	const struct number *x = arg;

	return warming_count(x->w) == x->n;
}

void warming_wait(struct earth *w, unsigned n, int64_t limit_s)
{
	struct number x = {w, n};

	earth_wait(w, as_many_are_warm, &x, limit_s, "so many are warm");
}

struct box *warming_one(struct earth *w)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		if (warming_is_warm(&w->boxes[i]))
			return &w->boxes[i];
	fail_msg("no machine is warm");
	return NULL;
}

static bool as_many_are_off(void *arg)
{
	const struct number *x = arg;
	unsigned n = 0;

	for (unsigned i = 0; i < x->w->nboxes; i++) {
		const struct box *b = &x->w->boxes[i];

		n += str_eq(b->state, "free") && !earth_at(b, "status.warmFor.name")[0] &&
		     !earth_at(b, "status.agent.bootID")[0] && b->doing == BOX_OFF && !b->bmc.image;
	}
	return n == x->n;
}

void warming_wait_off(struct earth *w, unsigned n, int64_t limit_s)
{
	struct number x = {w, n};

	earth_wait(w, as_many_are_off, &x, limit_s, "so many are off");
}

bool warming_boots(void *arg)
{
	const struct box *b = arg;

	return str_eq(b->state, "free") && b->doing == BOX_FIRMWARE &&
	       earth_at(b, "status.warmFor.name")[0];
}

struct picked {
	struct earth *w;
	struct box *box;
	const char *state;
};

static bool one_is_in_state(void *arg)
{
	struct picked *p = arg;

	for (unsigned i = 0; i < p->w->nboxes && !p->box; i++)
		if (str_eq(p->w->boxes[i].state, p->state))
			p->box = &p->w->boxes[i];
	return p->box;
}

int64_t warming_to_imaging(struct earth *w, struct box **of)
{
	int64_t from = loop_now(w->loop);
	struct picked p = {w, NULL, "imaging"};

	earth_pod(w, &w->tenants[0], "train");
	earth_wait(w, one_is_in_state, &p, 900, "a machine in imaging");
	*of = p.box;
	return loop_now(w->loop) - from;
}

void warming_kill_agent(struct box *b)
{
	bootagent_free(b->agent);
	b->agent = NULL;
	b->doing = BOX_NOTHING;
}
