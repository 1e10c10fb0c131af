#include "providers/ec2/ops.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/provider.h"

int64_t ec2_now(const struct ec2_provider *ep)
{
	return loop_now(loop_of(ep->group));
}

/* --- ops -------------------------------------------------------------------------------------- */

static void op_drop(struct op *o)
{
	free(o->asks);
	free(o->instances);
	free(o->offers);
	map_free(o->listed);
	arena_free(o->a);
	free(o);
}

void ec2_op_free(struct op *o)
{
	for (size_t i = 0; i < o->ep->nregions; i++)
		ec2_cancel(o->asks[i].request);
	list_remove(&o->link);
	loop_defer_cancel(&o->defer);
	op_drop(o);
}

/* Removes the op from its list, calls its done(), and frees the op. done() may free the
 * provider. */
static void op_end(void *arg)
{
	struct op *o = arg;
	const struct err *e = o->err.kind == ERR_NONE ? NULL : &o->err;

	list_remove(&o->link);
	if (o->offers_done)
		o->offers_done(o->offers, o->noffers, e, o->arg);
	else
		o->done(o->instances, o->ninstances, e, o->arg);
	op_drop(o);
}

struct op *ec2_op_new(struct provider *p, void *arg)
{
	struct ec2_provider *ep = p->state;
	struct op *o = mem_new(struct op);

	o->ep = ep;
	o->a = arena_new();
	o->arg = arg;
	o->listed = map_new(NULL);
	o->asks = mem_calloc(ep->nregions, sizeof(*o->asks));
	for (size_t i = 0; i < ep->nregions; i++)
		o->asks[i] = (struct ec2_ask){.op = o, .client = ep->regions[i]};
	loop_defer_init(&o->defer, ep->group, op_end, o);
	list_push_back(&ep->ops, &o->link);
	return o;
}

void ec2_op_keep_error(struct op *o, const struct err *e)
{
	if (o->err.kind == ERR_NONE)
		o->err = *e;
}

void ec2_op_refuse(struct op *o, enum err_kind kind, const char *text, const char *of)
{
	err_note(&o->err, kind, 0, "%s: %.150s", text, str_or(of, "(none)"));
	loop_defer(&o->defer);
}

void ec2_ask_over(struct ec2_ask *k)
{
	if (--k->op->pending == 0)
		op_end(k->op);
}

void ec2_op_add(const struct elastic_instance *i, void *arg)
{
	struct op *o = arg;

	mem_grow(o->instances, o->ninstances, o->instances_cap);
	o->instances[o->ninstances++] = *i;
}

struct ec2_ask *ec2_ask_of(struct op *o, const char *region)
{
	for (size_t i = 0; i < o->ep->nregions; i++)
		if (str_eq(ec2_client_region(o->asks[i].client), region))
			return &o->asks[i];
	return NULL;
}

void ec2_ask(struct ec2_ask *k, const char *action, struct buf *form, bool changes,
	     void (*done)(const struct ec2_reply *r, const struct err *e, void *arg))
{
	struct ec2_call c = {.action = action,
			     .body = form,
			     .changes = changes,
			     .may_act = changes ? k->op->may_act : NULL,
			     .may_act_arg = k->op->may_act_arg,
			     .done = done,
			     .arg = k};

	k->request = ec2_call(k->client, &c);
}
