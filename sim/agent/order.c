#include "sim/agent/agent_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * agent_order: steps and results of the order in progress, for the files that carry orders out.
 * Tests: tests/unit/sim/agent/test_agent.c
 */
void agent_post(struct sim_agent *a, const char *text)
{
	struct agent_letter *l = mem_new(struct agent_letter);

	l->text = mem_strdup(text);
	list_push_back(&a->outbox, &l->link);
	if (!a->report_req)
		loop_timer_start(&a->report_timer, 0);
}

void agent_finish(struct sim_agent *a, struct proto_report *r)
{
	char *text;

	loop_timer_stop(&a->step_timer);
	r->id = a->order->id;
	r->seq = a->order->seq;
	r->fence = a->order->fence;
	text = proto_encode(proto_report_fields, r);
	map_put(a->results, r->id, text);
	sim_machine_say(a->machine, "agent: %s %s", r->id,
			r->reason ? r->reason : proto_report_state_names[r->state]);
	a->order = NULL;
	agent_post(a, text);
	if (a->write)
		a->write_free(a->write);
	a->write = NULL;
	/* Begins the queued order later, by a timer, because the caller may still use memory of the
	 * finished order. */
	loop_timer_start(&a->session_timer, 0);
}

void agent_fail(struct sim_agent *a, const char *reason, const char *fmt, ...)
{
	struct proto_report r = {.state = PROTO_FAILED, .reason = reason};
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	str_clean(text);
	r.message = text;
	agent_finish(a, &r);
}

void agent_step(struct sim_agent *a, int64_t ms, void (*step)(struct sim_agent *a))
{
	a->step = step;
	loop_timer_start(&a->step_timer, ms);
}

struct drive *agent_drive(struct sim_agent *a, const char *wwn)
{
	for (unsigned i = 0; i < a->machine->ndrives; i++)
		if (str_eq(a->machine->wwns[i], wwn) && !drive_failed(a->machine->drives[i]))
			return a->machine->drives[i];
	return NULL;
}
