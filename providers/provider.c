#include "providers/provider.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/registry.h"

const char *const provider_power_names[] = {"Unknown", "Off", "On", "Changing"};

static const struct provider_ops *const providers[] = {
	&redfish_provider_ops,
	&bcm_provider_ops,
};

/* An answer that the wrapper gives itself: later, as every answer. */
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

static void unsupported(struct provider *p, const struct provider_call *c, const char *what)
{
	struct refusal *f = mem_new(struct refusal);

	f->call = *c;
	(void)!err_set(&f->err, ERR_UNSUPPORTED, 0, "provider type %s: no %s", p->ops->type, what);
	f->err.scope = ERR_PROVIDER;
	loop_defer_init(&f->defer, p->group, on_refusal, f);
	loop_defer(&f->defer);
	list_push_back(&p->refusals, &f->link);
}

struct provider *provider_new(const struct provider_spec *s, struct err *e)
{
	for (size_t i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
		struct provider *p;

		if (!str_eq(providers[i]->type, s->type))
			continue;
		p = mem_new(struct provider);
		p->ops = providers[i];
		p->name = mem_strdup(s->name);
		p->group = s->group;
		list_init(&p->refusals);
		if (p->ops->open(p, s, e) == 0)
			return p;
		free(p->name);
		free(p);
		return NULL;
	}
	(void)!err_set(e, ERR_UNSUPPORTED, 0, "there is no provider type %s",
		       str_or(s->type, "(none)"));
	return NULL;
}

void provider_free(struct provider *p)
{
	if (!p)
		return;
	list_for_each (f, &p->refusals, struct refusal, link) {
		loop_defer_cancel(&f->defer);
		free(f);
	}
	p->ops->close(p);
	free(p->name);
	free(p);
}

struct provider_machine *provider_attach(struct provider *p, const struct provider_machine_spec *s,
					 struct err *e)
{
	if (p->ops->attach)
		return p->ops->attach(p, s, e);
	(void)!err_set(e, ERR_UNSUPPORTED, 0, "provider type %s: no machines of its own",
		       p->ops->type);
	return NULL;
}

void provider_detach(struct provider *p, struct provider_machine *m)
{
	if (m)
		p->ops->detach(p, m);
}

void provider_observe(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	if (p->ops->observe)
		p->ops->observe(p, m, c);
	else
		unsupported(p, c, "observation");
}

void provider_power(struct provider *p, struct provider_machine *m, bool on,
		    const struct provider_call *c)
{
	if (p->ops->power)
		p->ops->power(p, m, on, c);
	else
		unsupported(p, c, "power control");
}

void provider_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		   const char *url, const struct provider_call *c)
{
	if (p->ops->boot)
		p->ops->boot(p, m, how, url, c);
	else
		unsupported(p, c, "boot control");
}

void provider_media(struct provider *p, struct provider_machine *m, const char *url,
		    const struct provider_call *c)
{
	if (p->ops->media)
		p->ops->media(p, m, url, c);
	else
		unsupported(p, c, "virtual media");
}

void provider_acquire(struct provider *p, struct provider_machine *m,
		      const struct provider_target *t, const struct provider_call *c)
{
	if (p->ops->acquire)
		p->ops->acquire(p, m, t, c);
	else
		unsupported(p, c, "installs by a manager");
}

void provider_release(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	if (p->ops->release)
		p->ops->release(p, m, c);
	else
		unsupported(p, c, "installs by a manager");
}

bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg)
{
	if (p->ops->discover)
		p->ops->discover(p, done, arg);
	return p->ops->discover;
}

bool provider_is_managed(const struct provider *p)
{
	return p->ops->acquire;
}

void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	if (p->ops->drives)
		p->ops->drives(p, m, c);
	else
		unsupported(p, c, "a list of drives");
}

void provider_log_out(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	if (p->ops->log_out)
		p->ops->log_out(p, m, c);
	else
		unsupported(p, c, "logins");
}
