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
