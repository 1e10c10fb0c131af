#include "providers/provider.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/registry.h"

static const struct provider_ops *const providers[] = {
	&redfish_provider_ops, &ipmi_provider_ops, &libvirt_provider_ops,
	&bcm_provider_ops,     &exec_provider_ops, &ec2_provider_ops,
};

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
		timed_calls_init(&p->timed, s->group, &s->watch);
		if (p->ops->open(p, s, e) == 0)
			return p;
		free(p->name);
		free(p);
		return NULL;
	}
	err_note(e, ERR_UNSUPPORTED, 0, "there is no provider type %s", str_or(s->type, "(none)"));
	return NULL;
}

void provider_free(struct provider *p)
{
	if (!p)
		return;
	provider_refusals_drop(p);
	p->ops->close(p);
	timed_calls_drop(&p->timed, NULL);
	free(p->name);
	free(p);
}

struct provider_machine *provider_attach(struct provider *p, const struct provider_machine_spec *s,
					 struct err *e)
{
	if (p->ops->attach)
		return p->ops->attach(p, s, e);
	err_note(e, ERR_UNSUPPORTED, 0, "provider type %s does not support Machines with a BMC",
		 p->ops->type);
	return NULL;
}

void provider_detach(struct provider *p, struct provider_machine *m)
{
	if (!m)
		return;
	timed_calls_drop(&p->timed, m);
	p->ops->detach(p, m);
}

void provider_observe(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->observe) {
		provider_refuse(p, c, "observation");
		return;
	}
	timed_machine_call(&p->timed, "observe", m, &timed);
	p->ops->observe(p, m, &timed);
}

void provider_power(struct provider *p, struct provider_machine *m, bool on,
		    const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->power) {
		provider_refuse(p, c, "power control");
		return;
	}
	timed_machine_call(&p->timed, on ? "power_on" : "power_off", m, &timed);
	p->ops->power(p, m, on, &timed);
}

void provider_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		   const char *url, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->boot) {
		provider_refuse(p, c, "boot control");
		return;
	}
	timed_machine_call(&p->timed, "boot", m, &timed);
	p->ops->boot(p, m, how, url, &timed);
}

void provider_media(struct provider *p, struct provider_machine *m, const char *url,
		    const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->media) {
		provider_refuse(p, c, "virtual media");
		return;
	}
	timed_machine_call(&p->timed, url ? "insert_media" : "eject_media", m, &timed);
	p->ops->media(p, m, url, &timed);
}

void provider_define(struct provider *p, struct provider_machine *m,
		     const struct provider_template *t, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->define) {
		provider_refuse(p, c, "machines from a template");
		return;
	}
	timed_machine_call(&p->timed, "define", m, &timed);
	p->ops->define(p, m, t, &timed);
}

void provider_undefine(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->undefine) {
		provider_refuse(p, c, "machines from a template");
		return;
	}
	timed_machine_call(&p->timed, "undefine", m, &timed);
	p->ops->undefine(p, m, t, &timed);
}

void provider_acquire(struct provider *p, struct provider_machine *m,
		      const struct provider_target *t, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->acquire) {
		provider_refuse(p, c, "installs by a manager");
		return;
	}
	timed_machine_call(&p->timed, "acquire", m, &timed);
	p->ops->acquire(p, m, t, &timed);
}

void provider_release(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->release) {
		provider_refuse(p, c, "installs by a manager");
		return;
	}
	timed_machine_call(&p->timed, "release", m, &timed);
	p->ops->release(p, m, &timed);
}

bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg)
{
	if (!p->ops->discover)
		return false;
	timed_discovery(&p->timed, &done, &arg);
	p->ops->discover(p, done, arg);
	return true;
}

bool provider_is_managed(const struct provider *p)
{
	return p->ops->acquire;
}

void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->drives) {
		provider_refuse(p, c, "a list of drives");
		return;
	}
	timed_machine_call(&p->timed, "drives", m, &timed);
	p->ops->drives(p, m, &timed);
}

const char *provider_session(const struct provider *p, const struct provider_machine *m, bool *only)
{
	*only = true;
	return p->ops->session ? p->ops->session(m, only) : NULL;
}

bool provider_bmc(const struct provider *p, const struct provider_machine *m,
		  struct provider_bmc *out)
{
	*out = (struct provider_bmc){.latency_ms = -1};
	return p->ops->bmc && p->ops->bmc(m, out);
}

void provider_inherit(const struct provider *p, struct provider_machine *m, const char *session)
{
	if (p->ops->inherit)
		p->ops->inherit(m, session);
}

void provider_log_out(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->log_out) {
		provider_refuse(p, c, "logins");
		return;
	}
	timed_machine_call(&p->timed, "log_out", m, &timed);
	p->ops->log_out(p, m, &timed);
}

bool provider_offers(struct provider *p, elastic_offers_done *done, void *arg)
{
	if (!p->ops->elastic)
		return false;
	timed_offers(&p->timed, &done, &arg);
	p->ops->elastic->offers(p, done, arg);
	return true;
}

bool provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg)
{
	struct elastic_launch timed = *l;

	if (!p->ops->elastic)
		return false;
	timed_instances(&p->timed, "launch", &done, &arg, &timed.may_act, &timed.may_act_arg);
	p->ops->elastic->launch(p, &timed, done, arg);
	return true;
}

bool provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg)
{
	bool (*may_act)(void *) = NULL;

	if (!p->ops->elastic)
		return false;
	timed_instances(&p->timed, "list_owned", &done, &arg, &may_act, NULL);
	p->ops->elastic->list_owned(p, cluster, done, arg);
	return true;
}

bool provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg)
{
	void *may_act_arg = arg;

	if (!p->ops->elastic)
		return false;
	/* The implementation calls may_act() with the argument of done(). */
	timed_instances(&p->timed, "terminate", &done, &arg, &may_act, &may_act_arg);
	p->ops->elastic->terminate(p, region, id, may_act, done, arg);
	return true;
}
