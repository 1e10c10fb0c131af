/*
 * refusal: answers calls that a provider does not support. It is a separate file because
 * implementations use it too: they cannot use provider.c, which depends on all implementations.
 * Tests: tests/unit/providers/test_provider.c
 */
#include <stdlib.h>
#include "base/mem.h"
#include "providers/provider.h"

/* One pending answer. It is given in a later loop turn, because done() must not be called inside
 * the starting function. */
struct refusal {
	struct list link;
	struct loop_defer defer;
	struct provider_call call;
	struct err err;
};

static void on_refusal(void *arg)
{
	struct refusal *f = arg;

	list_remove(&f->link);
	f->call.done(NULL, NULL, &f->err, f->call.arg);
	free(f);
}

void provider_refuse(struct provider *p, const struct provider_call *c, const char *what)
{
	struct refusal *f = mem_new(struct refusal);

	f->call = *c;
	err_note(&f->err, ERR_UNSUPPORTED, 0, "provider type %s: no %s", p->ops->type, what);
	f->err.scope = ERR_PROVIDER;
	loop_defer_init(&f->defer, p->group, on_refusal, f);
	loop_defer(&f->defer);
	list_push_back(&p->refusals, &f->link);
}

void provider_refusals_drop(struct provider *p)
{
	list_for_each (f, &p->refusals, struct refusal, link) {
		loop_defer_cancel(&f->defer);
		free(f);
	}
}
