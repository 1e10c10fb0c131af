#include "tests/unit/testing.h"

#include <string.h>

#include "base/data/json.h"
#include "base/str.h"
#include "controller/rules/promise.h"

#define TEMPLATE                                                                                   \
	"{\"apiVersion\": \"drover.dev/v1alpha1\", \"kind\": \"NodePool\", "                       \
	"\"metadata\": {\"name\": \"h100\"}, \"spec\": "                                           \
	"{\"virtualClusterSelector\": {}, \"template\": {\"metadata\": "                           \
	"{\"labels\": {\"a\": \"1\"}},\"spec\": {\"providerRefs\": [{\"name\": "                   \
	"\"hall-a\"}],\"taints\": [{\"key\": \"x\", \"effect\": \"NoSchedule\"}, "                 \
	"{\"key\": \"y\", \"effect\": \"NoExecute\"}],\"images\": "                                \
	"[{\"kubernetesVersion\": \"1.36\", \"url\": \"https://img.example/n\", "                  \
	"\"format\": \"raw\",\"digest\": "                                                         \
	"\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}]}}}}"

/* Returns a NodePool with one image and the template TEMPLATE; patch (JSON) is merged into
 * spec.template. */
static struct node_pool *pool_with(struct arena *a, const char *patch)
{
	struct err e = {0};
	OWN_JSON o = json_parse(TEMPLATE, strlen(TEMPLATE), &e);
	OWN_JSON p = json_parse(patch, strlen(patch), &e);
	void *out = NULL;

	assert_non_null(o);
	assert_non_null(p);
	json_object_update_recursive(json_at(o, "spec", "template"), p);
	assert_int_equal(object_decode(&object_kinds[OBJECT_NODE_POOL], o, a, &out, &e), 0);
	return out;
}

static struct node_claim_spec promise(const struct node_pool *p)
{
	return promise_of(p, &p->spec.template_.spec.images.v[0]);
}

static void what_the_node_is_counts_and_nothing_else(void **state)
{
	static const struct {
		const char *patch, *differs;
	} cases[] = {
		{"{}", NULL},
		{"{\"metadata\": {\"labels\": {\"a\": \"2\"}}}", "labels"},
		{"{\"metadata\": {\"annotations\": {\"b\": \"2\"}}}", "annotations"},
		{"{\"spec\": {\"taints\": [{\"key\": \"y\", \"effect\": \"NoExecute\"}, "
		 "{\"key\": \"x\", \"effect\": \"NoSchedule\"}]}}",
		 NULL},
		{"{\"spec\": {\"taints\": [{\"key\": \"x\", \"effect\": \"NoSchedule\"}]}}",
		 "taints"},
		{"{\"spec\": {\"taints\": []}}", "taints"},
		{"{\"spec\": {\"startupTaints\": [{\"key\": \"cni\", \"effect\": \"NoExecute\"}]}}",
		 "startupTaints"},
		{"{\"spec\": {\"userDataSecretRef\": {\"name\": \"other\"}}}", "userDataSecretRef"},
		{"{\"spec\": {\"kubelet\": {\"maxPods\": 50}}}", "kubelet"},
		{"{\"spec\": {\"network\": {\"isolation\": \"NotRequired\"}}}", "network"},
		{"{\"spec\": {\"images\": [{\"kubernetesVersion\": \"1.36\", \"url\": "
		 "\"https://img.example/m\", \"format\": \"raw\",\"digest\": "
		 "\"sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}]}, "
		 "\"metadata\": {\"labels\": {\"c\": \"3\"}}}",
		 "image, labels"},
		{"{\"spec\": {\"expireAfter\": \"24h\", \"terminationGracePeriod\": \"5m\"}}",
		 NULL},
	};
	OWN(arena) a = arena_new();
	const struct node_claim_spec is = promise(pool_with(a, "{}"));
	char is_name[PROMISE_NAME_SIZE], said_name[PROMISE_NAME_SIZE];

	(void)state;
	promise_name(&is, is_name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct node_claim_spec said = promise(pool_with(a, cases[i].patch));
		const char *differs = promise_differs(&is, &said, a);

		if (!str_eq(differs, cases[i].differs))
			fail_msg("%s: %s", cases[i].patch, str_or(differs, "nothing"));
		promise_name(&said, said_name);
		if (cases[i].differs && str_eq(is_name, said_name))
			fail_msg("%s: the same name", cases[i].patch);
	}
}

static void one_promise_has_one_name(void **state)
{
	OWN(arena) a = arena_new();
	const struct node_claim_spec one = promise(pool_with(a, "{}")),
				     two = promise(pool_with(
					     a, "{\"spec\": {\"expireAfter\": \"24h\"}}"));
	char x[PROMISE_NAME_SIZE], y[PROMISE_NAME_SIZE];

	(void)state;
	assert_string_equal(promise_name(&one, x), promise_name(&two, y));
	assert_int_equal(strlen(x), PROMISE_NAME_SIZE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_node_is_counts_and_nothing_else),
		cmocka_unit_test(one_promise_has_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
