/* Random events by seed: drains, operators, tenants, BMCs, ports, leaders. The invariants hold
 * throughout (invariants.h), and once the faults end, the machines serve again without an operator
 * (S9). */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/steps/requests.h"
#include "tests/world/invariants.h"
#include "tests/world/leaving.h"

#define GROUP "/apis/" OBJECT_API_VERSION
#define BOXES 3
#define PODS 4
#define DRAINS 4
#define STEPS 40

struct chaos {
	struct sim_world w;
	uint64_t random;
	unsigned npods, ndrains;
	/* Names of the pods and, below, of the Drains; "": none. */
	char pods[PODS][16];
	unsigned owner[PODS];
	char drains[DRAINS][16];
	bool bmc_dead[BOXES];
};

static unsigned chaos_below(struct chaos *c, unsigned n)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return (unsigned)(c->random >> 11) % n;
}

/* Sends a request; ignores refusals and objects that no longer exist. */
static void chaos_ask(struct cluster *p, const char *method, const char *path, json_t *body)
{
	if (getenv("WORLD_LOG"))
		fprintf(stderr, "chaos %s %s\n", method, path);
	cluster_ask(p, method, path, body, NULL, NULL);
}

static void chaos_annotate(struct chaos *c, unsigned server, const char *key, const char *value)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/machines/%s", c->w.servers[server].name);
	chaos_ask(&c->w.host, "PATCH", path,
		  json_pack("{s:{s:{s:s?}}}", "metadata", "annotations", key, value));
}

/* --- random events ---------------------------------------------------------------------------- */

static void chaos_pod(struct chaos *c)
{
	unsigned at = chaos_below(c, PODS), team = chaos_below(c, 2);

	if (c->pods[at][0] && !c->w.tenants[c->owner[at]].away) {
		char path[200];

		str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", c->pods[at]);
		chaos_ask(&c->w.tenants[c->owner[at]], "DELETE", path, NULL);
		c->pods[at][0] = '\0';
	} else if (!c->pods[at][0]) {
		c->owner[at] = team;
		str_format(c->pods[at], sizeof(c->pods[at]), "p-%u", c->npods++);
		world_pod(&c->w, &c->w.tenants[team], c->pods[at]);
	}
}

static void chaos_drain(struct chaos *c)
{
	static const char *const thens[] = {"Release", "Hold", "Quarantine"};
	unsigned at = chaos_below(c, DRAINS);
	char path[200], when[STR_TIME_SIZE];
	int64_t deadline = loop_wall(c->w.loop) + ((int64_t)chaos_below(c, 300) - 30) * 1000;

	str_format(path, sizeof(path), GROUP "/drains/%s", c->drains[at]);
	if (c->drains[at][0] && chaos_below(c, 2)) {
		chaos_ask(&c->w.host, "DELETE", path, NULL);
		c->drains[at][0] = '\0';
		return;
	}
	if (c->drains[at][0]) {
		chaos_ask(&c->w.host, "PATCH", path,
			  json_pack("{s:{s:b}}", "spec", "cancelled", 1));
		return;
	}
	str_format(c->drains[at], sizeof(c->drains[at]), "d-%u", c->ndrains++);
	chaos_ask(&c->w.host, "POST", GROUP "/drains",
		  json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:[s,s],s:s,s:s,s:s}}", "apiVersion",
			    OBJECT_API_VERSION, "kind", "Drain", "metadata", "name", c->drains[at],
			    "spec", "reason", "chaos", "machineNames",
			    c->w.servers[chaos_below(c, 2)].name, c->w.servers[2].name, "deadline",
			    str_time(when, deadline), "onDeadline",
			    chaos_below(c, 2) ? "Escalate" : "Stop", "then",
			    thens[chaos_below(c, 3)]));
}

static void chaos_cordon(struct chaos *c, unsigned server, bool on)
{
	struct server *b = &c->w.servers[server];
	char path[200];

	if (!b->claim[0])
		return;
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->claim);
	for (int i = 0; i < 2; i++)
		chaos_ask(&c->w.tenants[i], "PATCH", path,
			  json_pack("{s:{s:b}}", "spec", "unschedulable", on));
}

static void chaos_leader(struct chaos *c)
{
	if (c->w.nreplicas == WORLD_REPLICAS)
		return;
	world_kill(&c->w.replicas[c->w.nreplicas - 1]);
	world_replica(&c->w);
}

static void chaos_claim(struct chaos *c, unsigned server)
{
	char path[200];

	if (!c->w.servers[server].claim[0])
		return;
	str_format(path, sizeof(path), GROUP "/nodeclaims/%s", c->w.servers[server].claim);
	chaos_ask(&c->w.host, "DELETE", path, NULL);
}

static void chaos_bmc(struct chaos *c, unsigned server, bool dead)
{
	struct server *b = &c->w.servers[server];

	c->bmc_dead[server] = dead;
	http_mem_serve(c->w.net, b->origin, dead ? NULL : b->bmc.httpd);
}

static void chaos_person(struct chaos *c, unsigned server)
{
	static const char *const keys[] = {REQUEST_RETRY, REQUEST_RELEASE, REQUEST_QUARANTINE,
					   REQUEST_QUARANTINE, REQUEST_CONFIRM_OFF};
	unsigned k = chaos_below(c, 5);
	char value[40];

	str_format(value, sizeof(value), "nonsense %u", chaos_below(c, 1000));
	chaos_annotate(c, server, keys[k], k == 3 ? NULL : value);
}

static void chaos_pause(struct chaos *c, bool on)
{
	chaos_ask(&c->w.host, "PATCH", GROUP "/providers/rack",
		  json_pack("{s:{s:b}}", "spec", "paused", on));
}

static void chaos_step(struct chaos *c)
{
	unsigned server = chaos_below(c, BOXES), team = chaos_below(c, 2);
	struct server *b = &c->w.servers[server];

	switch (chaos_below(c, 20)) {
	case 0:
	case 1:
	case 2:
		chaos_pod(c);
		break;
	case 3:
	case 4:
		chaos_drain(c);
		break;
	case 5:
		chaos_claim(c, server);
		break;
	case 6:
	case 7:
		chaos_leader(c);
		break;
	case 8:
		cluster_away(&c->w.tenants[team], !c->w.tenants[team].away);
		break;
	case 9:
		chaos_bmc(c, server, !c->bmc_dead[server]);
		break;
	case 10:
		b->port_stuck = !b->port_stuck;
		break;
	case 11:
		b->port_unproved = !b->port_unproved;
		break;
	case 12:
		if (!c->w.tenants[0].away && !c->w.tenants[1].away)
			chaos_cordon(c, server, chaos_below(c, 2));
		break;
	case 13:
		chaos_person(c, server);
		break;
	case 14:
		chaos_pause(c, chaos_below(c, 2));
		break;
	case 15:
		c->w.fault_at = c->w.requests + 1 + chaos_below(c, 50);
		c->w.fault = chaos_below(c, 2) ? HTTP_MEM_REPLY_LOST : HTTP_MEM_SILENT;
		break;
	case 16:
		b->mute = !b->mute;
		break;
	case 17:
		b->reboots_at = chaos_below(c, 2) ? "wipe" : "verify";
		break;
	case 18:
		c->w.lease_fails = !c->w.lease_fails;
		break;
	case 19:
		b->bmc.power_lie = !b->bmc.power_lie;
		break;
	}
}

/* --- end of all faults ------------------------------------------------------------------------ */

static void chaos_stop(struct chaos *c)
{
	char path[200];

	c->w.fault_at = 0;
	c->w.lease_fails = false;
	for (int i = 0; i < 2; i++)
		cluster_away(&c->w.tenants[i], false);
	for (unsigned i = 0; i < BOXES; i++) {
		chaos_bmc(c, i, false);
		c->w.servers[i].port_stuck = c->w.servers[i].port_unproved = false;
		c->w.servers[i].mute = c->w.servers[i].bmc.power_lie = false;
		c->w.servers[i].reboots_at = NULL;
		chaos_cordon(c, i, false);
		chaos_annotate(c, i, REQUEST_QUARANTINE, NULL);
	}
	chaos_pause(c, false);
	for (unsigned i = 0; i < DRAINS; i++) {
		if (!c->drains[i][0])
			continue;
		str_format(path, sizeof(path), GROUP "/drains/%s", c->drains[i]);
		chaos_ask(&c->w.host, "DELETE", path, NULL);
	}
}

static void chaos_run(uint64_t seed)
{
	struct chaos c = {.random = seed * 0x9e3779b97f4a7c15 + 1};
	struct sim_world *w = &c.w;
	char path[200];

	world_start(w, seed, BOXES);
	for (unsigned i = 0; i < BOXES; i++)
		w->servers[i].beats = true;
	world_replica(w);
	world_wait_all(w, "free", 1800);
	w->tenants[0].owed = w->tenants[1].owed = true;
	for (unsigned i = 0; i < STEPS; i++) {
		chaos_step(&c);
		world_run(w, 1000 + chaos_below(&c, 120000));
	}
	chaos_stop(&c);
	world_run(w, 600 * 1000);
	chaos_stop(&c); /* again, because a lost request may have left a fault in place */
	for (unsigned i = 0; i < PODS; i++) {
		str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", c.pods[i]);
		if (c.pods[i][0])
			chaos_ask(&w->tenants[c.owner[i]], "DELETE", path, NULL);
	}
	world_settle(w);
	w->tenants[0].owed = w->tenants[1].owed = false; /* all cleanups are done */
	world_stop(w);
}

static void after_a_day_of_everything_the_machines_serve_again(void **state)
{
	const char *text = getenv("WORLD_SEEDS"), *from = getenv("WORLD_SEED");
	uint64_t first = from ? (uint64_t)atoi(from) : 1, n = text ? (uint64_t)atoi(text) : 3;

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		chaos_run(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_day_of_everything_the_machines_serve_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
