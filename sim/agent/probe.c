/*
 * agent_probe: reports which of an order's addresses the machine reaches. The simulated network
 * knows only the origins of the rack's routes and the agent endpoint; every other address is
 * reported as PROTO_NOT_ASKED.
 *
 * Tests: tests/unit/sim/agent/test_agent.c
 */
#include "sim/agent/agent_impl.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

/* Time in ms until the probe reports its answers; a real probe waits this long for an answer. */
#define ANSWERS_MS 3000

static bool is_known(const struct sim_agent *a, const char *origin)
{
	const struct sim_route *r = a->machine->site->routes;

	for (; r && r->segment; r++)
		if (str_eq(r->origin, origin))
			return true;
	return str_eq(a->boot.endpoint, origin);
}

static int ask(const struct sim_agent *a, const char *address)
{
	char origin[80];

	str_format(origin, sizeof(origin), "https://%s", address);
	return !is_known(a, origin)			 ? PROTO_NOT_ASKED
	       : sim_machine_reaches(a->machine, origin) ? PROTO_ANSWERED
							 : PROTO_SILENT;
}

static void probe(struct sim_agent *a)
{
	const struct strings *asked = &a->order->addresses;
	struct proto_report r = {.state = PROTO_DONE, .nonce = a->order->nonce};
	struct proto_probe *v = mem_calloc(asked->n, sizeof(*v));

	for (size_t i = 0; i < asked->n; i++)
		v[i] = (struct proto_probe){asked->v[i], ask(a, asked->v[i])};
	r.answers.v = v;
	r.answers.n = asked->n;
	agent_finish(a, &r);
	free(v);
}

void agent_begin_probe(struct sim_agent *a)
{
	agent_step(a, ANSWERS_MS, probe);
}
