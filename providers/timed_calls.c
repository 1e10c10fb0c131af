#include "providers/timed_calls.h"

#include <stdlib.h>
#include "base/mem.h"
#include "providers/fabric.h"
#include "providers/provider.h"

struct timed {
	struct list link;
	struct timed_calls *of;
	const char *operation;
	/* NULL: the call is not about one machine */
	const struct provider_machine *machine;
	/* loop_now() when the backend began to be asked; -1: not yet */
	int64_t began;
	/* True: the caller's may_act() or fits() returned that nothing may be sent */
	bool withdrawn;
	bool (*may_act)(void *arg);
	void *may_act_arg;
	/* The caller's callbacks */
	union {
		struct provider_call machine_call;
		struct fabric_call fabric_call;
		struct fabric_api_path_call api_path_call;
		struct {
			timed_discovered *done;
			void *arg;
		} discovery;
		struct {
			elastic_offers_done *done;
			void *arg;
		} offers;
		struct {
			elastic_instances_done *done;
			void *arg;
		} instances;
	};
};

void timed_calls_init(struct timed_calls *t, struct loop_group *g, const struct call_watch *w)
{
	t->watch = w ? *w : (struct call_watch){0};
	t->group = g;
	list_init(&t->calls);
}

static int64_t now(const struct timed_calls *t)
{
	return loop_now(loop_of(t->group));
}

static void forget(struct timed *x)
{
	list_remove(&x->link);
	free(x);
}

void timed_calls_drop(struct timed_calls *t, const struct provider_machine *m)
{
	list_for_each (x, &t->calls, struct timed, link)
		if (!m || x->machine == m)
			forget(x);
}

static struct timed *begin(struct timed_calls *t, const char *operation,
			   const struct provider_machine *m)
{
	struct timed *x = mem_new(struct timed);

	x->of = t;
	x->operation = operation;
	x->machine = m;
	x->began = now(t);
	list_push_back(&t->calls, &x->link);
	return x;
}

/* Reports the end of the call and frees x. The caller has copied its callbacks. */
static void end(struct timed *x, const struct err *e)
{
	const struct timed_calls *t = x->of;

	if (x->began >= 0 && !x->withdrawn)
		t->watch.ended(x->operation, now(t) - x->began, e, t->watch.arg);
	forget(x);
}

static bool on_may_act(void *arg)
{
	struct timed *x = arg;

	if (x->may_act(x->may_act_arg))
		return true;
	x->withdrawn = true;
	return false;
}

/* --- calls about a machine -------------------------------------------------------------------- */

static int on_fits(const struct provider_observation *seen, void *arg, struct err *e)
{
	struct timed *x = arg;

	if (x->machine_call.fits(seen, x->machine_call.arg, e) == 0)
		return 0;
	x->withdrawn = true;
	return -1;
}

static void on_begun(int64_t waited_ms, void *arg)
{
	struct timed *x = arg;

	x->began = now(x->of);
	if (x->machine_call.begun)
		x->machine_call.begun(waited_ms, x->machine_call.arg);
}

static void on_machine_call(const struct provider_observation *o, const char *handle,
			    const struct err *e, void *arg)
{
	struct timed *x = arg;
	const struct provider_call c = x->machine_call;

	end(x, e);
	c.done(o, handle, e, c.arg);
}

void timed_machine_call(struct timed_calls *t, const char *operation,
			const struct provider_machine *m, struct provider_call *c)
{
	struct timed *x;

	if (!t->watch.ended)
		return;
	x = begin(t, operation, m);
	x->began = -1;
	x->machine_call = *c;
	x->may_act = c->may_act;
	x->may_act_arg = c->arg;
	c->may_act = c->may_act ? on_may_act : NULL;
	c->fits = c->fits ? on_fits : NULL;
	c->begun = on_begun;
	c->done = on_machine_call;
	c->arg = x;
}

/* --- calls of a fabric ------------------------------------------------------------------------ */

static void on_fabric_call(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct timed *x = arg;
	const struct fabric_call c = x->fabric_call;

	end(x, e);
	c.done(p, e, c.arg);
}

void timed_fabric_call(struct timed_calls *t, const char *operation, struct fabric_call *c)
{
	struct timed *x;

	if (!t->watch.ended)
		return;
	x = begin(t, operation, NULL);
	x->fabric_call = *c;
	x->may_act = c->may_act;
	x->may_act_arg = c->arg;
	c->may_act = c->may_act ? on_may_act : NULL;
	c->done = on_fabric_call;
	c->arg = x;
}

static void on_api_path_call(const struct fabric_api_path_state *s, const struct err *e, void *arg)
{
	struct timed *x = arg;
	const struct fabric_api_path_call c = x->api_path_call;

	end(x, e);
	c.done(s, e, c.arg);
}

void timed_api_path_call(struct timed_calls *t, const char *operation,
			 struct fabric_api_path_call *c)
{
	struct timed *x;

	if (!t->watch.ended)
		return;
	x = begin(t, operation, NULL);
	x->api_path_call = *c;
	x->may_act = c->may_act;
	x->may_act_arg = c->arg;
	c->may_act = c->may_act ? on_may_act : NULL;
	c->done = on_api_path_call;
	c->arg = x;
}

/* --- calls of a provider about no machine ----------------------------------------------------- */

static void on_discovery(const struct provider_inventory *i, const struct err *e, void *arg)
{
	struct timed *x = arg;
	timed_discovered *done = x->discovery.done;
	void *to = x->discovery.arg;

	end(x, e);
	done(i, e, to);
}

void timed_discovery(struct timed_calls *t, timed_discovered **done, void **arg)
{
	struct timed *x;

	if (!t->watch.ended)
		return;
	x = begin(t, "discover", NULL);
	x->discovery.done = *done;
	x->discovery.arg = *arg;
	*done = on_discovery;
	*arg = x;
}

static void on_offers(const struct offer *o, size_t n, const struct err *e, void *arg)
{
	struct timed *x = arg;
	elastic_offers_done *done = x->offers.done;
	void *to = x->offers.arg;

	end(x, e);
	done(o, n, e, to);
}

void timed_offers(struct timed_calls *t, elastic_offers_done **done, void **arg)
{
	struct timed *x;

	if (!t->watch.ended)
		return;
	x = begin(t, "offers", NULL);
	x->offers.done = *done;
	x->offers.arg = *arg;
	*done = on_offers;
	*arg = x;
}

static void on_instances(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct timed *x = arg;
	elastic_instances_done *done = x->instances.done;
	void *to = x->instances.arg;

	end(x, e);
	done(v, n, e, to);
}

void timed_instances(struct timed_calls *t, const char *operation, elastic_instances_done **done,
		     void **arg, bool (**may_act)(void *arg), void **may_act_arg)
{
	struct timed *x;

	if (!t->watch.ended)
		return;
	x = begin(t, operation, NULL);
	x->instances.done = *done;
	x->instances.arg = *arg;
	if (*may_act) {
		x->may_act = *may_act;
		x->may_act_arg = *may_act_arg;
		*may_act = on_may_act;
		*may_act_arg = x;
	}
	*done = on_instances;
	*arg = x;
}
