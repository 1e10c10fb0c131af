/*
 * finalizer: computes an object's list of finalizers with one of drover's added or removed. Pure;
 * the caller writes the list.
 */
#include "controller/core/finalizer.h"

#include "base/str.h"

bool finalizer_is_on(const struct strings *have, const char *name)
{
	for (size_t i = 0; i < have->n; i++)
		if (str_eq(have->v[i], name))
			return true;
	return false;
}

static json_t *all_but(const struct strings *have, const char *name)
{
	json_t *list = json_array();

	for (size_t i = 0; i < have->n; i++)
		if (!str_eq(have->v[i], name))
			json_array_append_new(list, json_string(have->v[i]));
	return list;
}

json_t *finalizer_with(const struct strings *have, const char *name)
{
	json_t *list = finalizer_is_on(have, name) ? NULL : all_but(have, name);

	if (list)
		json_array_append_new(list, json_string(name));
	return list;
}

json_t *finalizer_without(const struct strings *have, const char *name)
{
	return finalizer_is_on(have, name) ? all_but(have, name) : NULL;
}
