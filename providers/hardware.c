/*
 * hardware: makes the calls about one machine, and measures them.
 * Tests: tests/unit/providers/test_provider.c, tests/contract/test_provider.c
 */
#include "providers/hardware.h"

#include "providers/provider.h"

const char *const provider_power_names[] = {"Unknown", "Off", "On", "Changing"};
const char *const provider_bus_names[] = {"sata", "nvme"};

#define HAS(p, call) ((p)->ops->hardware && (p)->ops->hardware->call)

void provider_observe(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, observe)) {
		provider_refuse(p, c, "observation");
		return;
	}
	timed_machine_call(&p->timed, "observe", m, &timed);
	p->ops->hardware->observe(p, m, &timed);
}

void provider_power(struct provider *p, struct provider_machine *m, bool on,
		    const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, power)) {
		provider_refuse(p, c, "power control");
		return;
	}
	timed_machine_call(&p->timed, on ? "power_on" : "power_off", m, &timed);
	p->ops->hardware->power(p, m, on, &timed);
}

void provider_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		   const char *url, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, boot)) {
		provider_refuse(p, c, "boot control");
		return;
	}
	timed_machine_call(&p->timed, "boot", m, &timed);
	p->ops->hardware->boot(p, m, how, url, &timed);
}

void provider_media(struct provider *p, struct provider_machine *m, const char *url,
		    const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, media)) {
		provider_refuse(p, c, "virtual media");
		return;
	}
	timed_machine_call(&p->timed, url ? "insert_media" : "eject_media", m, &timed);
	p->ops->hardware->media(p, m, url, &timed);
}

void provider_define(struct provider *p, struct provider_machine *m,
		     const struct provider_template *t, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, define)) {
		provider_refuse(p, c, "machines from a template");
		return;
	}
	timed_machine_call(&p->timed, "define", m, &timed);
	p->ops->hardware->define(p, m, t, &timed);
}

void provider_undefine(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, undefine)) {
		provider_refuse(p, c, "machines from a template");
		return;
	}
	timed_machine_call(&p->timed, "undefine", m, &timed);
	p->ops->hardware->undefine(p, m, t, &timed);
}

void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, drives)) {
		provider_refuse(p, c, "a list of drives");
		return;
	}
	timed_machine_call(&p->timed, "drives", m, &timed);
	p->ops->hardware->drives(p, m, &timed);
}

const char *provider_session(const struct provider *p, const struct provider_machine *m, bool *only)
{
	*only = true;
	return HAS(p, session) ? p->ops->hardware->session(m, only) : NULL;
}

bool provider_bmc(const struct provider *p, const struct provider_machine *m,
		  struct provider_bmc *out)
{
	*out = (struct provider_bmc){.latency_ms = -1};
	return HAS(p, bmc) && p->ops->hardware->bmc(m, out);
}

void provider_inherit(const struct provider *p, struct provider_machine *m, const char *session)
{
	if (HAS(p, inherit))
		p->ops->hardware->inherit(m, session);
}

void provider_log_out(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!HAS(p, log_out)) {
		provider_refuse(p, c, "logins");
		return;
	}
	timed_machine_call(&p->timed, "log_out", m, &timed);
	p->ops->hardware->log_out(p, m, &timed);
}
