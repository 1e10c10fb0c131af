/* Tests that the resources which drover uses are those that a server lists. */
#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include "base/str.h"
#include "kube/client.h"

static const struct kube_resource *const all[] = {
	&KUBE_PODS,
	&KUBE_NODES,
	&KUBE_SECRETS,
	&KUBE_CONFIGMAPS,
	&KUBE_NAMESPACES,
	&KUBE_LEASES,
	&KUBE_EVENTS,
	&KUBE_DAEMONSETS,
	&KUBE_PVCS,
	&KUBE_CRDS,
	&KUBE_VOLUMEATTACHMENTS,
	&KUBE_PVS,
	&KUBE_STORAGECLASSES,
	&KUBE_CSINODES,
	&KUBE_PDBS,
};

static const json_t *find(const json_t *list, const char *plural)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_at(list, "resources"), i, v)
		if (str_eq(json_str_at(v, "name"), plural))
			return v;
	return NULL;
}

static void each_is_served_under_its_group_with_its_kind_and_scope(void **state)
{
	struct api *r = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct kube_resource *k = all[i];
		const json_t *found;
		char path[128];

		str_format(path, sizeof(path), "/%s%s/%s", *k->group ? "apis/" : "api", k->group,
			   k->version);
		assert_int_equal(api_do(r, "GET", path, NULL), 200);
		found = find(r->j, k->plural);
		if (!found)
			fail_msg("%s has no %s", path, k->plural);
		assert_string_equal(json_str_at(found, "kind"), k->kind);
		assert_int_equal(json_true_at(found, "namespaced"), k->namespaced);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_is_served_under_its_group_with_its_kind_and_scope, api_setup,
			api_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
