/*
 * provider: lookups in a Provider object.
 */
#include "controller/rules/provider.h"

#include "base/str.h"

#define GPU "nvidia.com/gpu"

const struct provider_object_instance_type *provider_instance_type(const struct provider_object *p,
								   const char *name)
{
	for (size_t i = 0; i < p->spec.instance_types.n; i++)
		if (str_eq(p->spec.instance_types.v[i].name, name))
			return &p->spec.instance_types.v[i];
	return NULL;
}

int64_t provider_type_gpus(const struct provider_object_instance_type *t)
{
	const struct quantity *q = t ? resources_get(&t->capacity, GPU) : NULL;

	return q ? quantity_floor(*q) : 0;
}

enum object_interconnect provider_type_interconnect(const struct provider_object_instance_type *t)
{
	if (t->interconnect >= 0)
		return (enum object_interconnect)t->interconnect;
	return t->efa_interfaces ? INTERCONNECT_EFA : INTERCONNECT_NONE;
}

bool provider_is_elastic(const struct provider_object *p)
{
	return p && (p->spec.type == PROVIDER_TYPE_EC2 || (p->spec.exec && p->spec.exec->elastic));
}
