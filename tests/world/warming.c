#include "tests/world/warming.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/world/bootagent.h"

void warming_want(struct sim_world *w, const char *pool, int nodes)
{
	char path[128];

	str_format(path, sizeof(path), WARMING_POOLS "/%s", pool);
	world_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:{s:i}}}", "spec", "warm", "nodes", nodes));
}

bool warming_is_warm(const struct server *b)
{
	return str_eq(b->state, "free") && world_at(b, "status.warmFor.name")[0] &&
	       world_at(b, "status.agent.publicKey")[0] && b->doing == SERVER_AGENT &&
	       str_eq(b->segment, "provisioning");
}

unsigned warming_count(const struct sim_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += warming_is_warm(&w->servers[i]);
	return n;
}

struct number {
	struct sim_world *w;
	unsigned n;
};

static bool as_many_are_warm(void *arg)
{
	const struct number *x = arg;

	return warming_count(x->w) == x->n;
}

void warming_wait(struct sim_world *w, unsigned n, int64_t limit_s)
{
	struct number x = {w, n};

	world_wait(w, as_many_are_warm, &x, limit_s, "so many are warm");
}

struct server *warming_one(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		if (warming_is_warm(&w->servers[i]))
			return &w->servers[i];
	fail_msg("no machine is warm");
	return NULL;
}

static bool as_many_are_off(void *arg)
{
	const struct number *x = arg;
	unsigned n = 0;

	for (unsigned i = 0; i < x->w->nboxes; i++) {
		const struct server *b = &x->w->servers[i];

		n += str_eq(b->state, "free") && !world_at(b, "status.warmFor.name")[0] &&
		     !world_at(b, "status.agent.bootID")[0] && b->doing == SERVER_OFF &&
		     !b->bmc.image;
	}
	return n == x->n;
}

void warming_wait_off(struct sim_world *w, unsigned n, int64_t limit_s)
{
	struct number x = {w, n};

	world_wait(w, as_many_are_off, &x, limit_s, "so many are off");
}

bool warming_boots(void *arg)
{
	const struct server *b = arg;

	return str_eq(b->state, "free") && b->doing == SERVER_FIRMWARE &&
	       world_at(b, "status.warmFor.name")[0];
}

struct picked {
	struct sim_world *w;
	struct server *server;
	const char *state;
};

static bool one_is_in_state(void *arg)
{
	struct picked *p = arg;

	for (unsigned i = 0; i < p->w->nboxes && !p->server; i++)
		if (str_eq(p->w->servers[i].state, p->state))
			p->server = &p->w->servers[i];
	return p->server;
}

int64_t warming_to_imaging(struct sim_world *w, struct server **of)
{
	int64_t from = loop_now(w->loop);
	struct picked p = {w, NULL, "imaging"};

	world_pod(w, &w->tenants[0], "train");
	world_wait(w, one_is_in_state, &p, 900, "a machine in imaging");
	*of = p.server;
	return loop_now(w->loop) - from;
}

void warming_kill_agent(struct server *b)
{
	bootagent_free(b->agent);
	b->agent = NULL;
	b->doing = SERVER_NOTHING;
}
