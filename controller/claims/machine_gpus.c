#include "controller/claims/machine_gpus.h"

#include "controller/rules/provider.h"

int64_t machine_gpus(const struct context *c, const struct machine *m)
{
	const struct provider_object *p =
		CTX_GET(c, OBJECT_PROVIDER, provider_object, m->spec.provider_ref.name);
	const struct provider_object_instance_type *t =
		p && m->spec.instance_type ? provider_instance_type(p, m->spec.instance_type)
					   : NULL;

	if (m->status.inventory && m->status.inventory->gpus > 0)
		return m->status.inventory->gpus;
	return provider_type_gpus(t);
}
