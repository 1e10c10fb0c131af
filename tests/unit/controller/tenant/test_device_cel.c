/* Tests device_cel: which requirements on a Node's labels follow from a CEL expression about a GPU,
 * and which expressions are not supported. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "controller/tenant/device_cel.h"

#define G "device.attributes['gpu.nvidia.com']."
#define M "device.capacity['gpu.nvidia.com'].memory."

/* Returns the requirements as "KEY OP (VALUES); ...", or "never" (no device matches), or "not
 * judged: WHAT". */
static const char *asked(const char *expression, enum device_kind kind, struct arena *a)
{
	struct device_wish w = {.never = false};
	const char *why = device_cel(expression, kind, &w, a), *text = "";

	if (why)
		return arena_printf(a, "not judged: %s", why);
	if (w.never)
		return "never";
	for (size_t i = 0; i < w.node.n; i++) {
		const struct requirement *q = &w.node.v[i];

		text = arena_printf(a, "%s%s%s %s", text, i ? "; " : "", q->key,
				    selector_op_name(q->op));
		for (size_t k = 0; k < q->nvalues; k++)
			text = arena_printf(a, "%s %s", text, q->values[k]);
	}
	return w.node.n ? text : w.pinned ? "any" : "any driver";
}

static void expressions_become_requirements_on_labels(void **state)
{
	static const struct {
		const char *cel, *text;
	} cases[] = {
		{"device.driver == 'gpu.nvidia.com'", "any"},
		{"device.driver == \"gpu.nvidia.com\" && " G "type == 'gpu'", "any"},
		{"device.driver == 'gpu.nvidia.com' && " G "type == 'mig'", "never"},
		{"device.driver == 'vfio.gpu.nvidia.com'", "never"},
		{"device.driver != 'gpu.nvidia.com'", "never"},
		{"device.driver in ['a', 'gpu.nvidia.com']", "any"},
		{"'gpu.nvidia.com' in device.attributes", "any"},
		{"'a.example.com' in device.attributes", "never"},
		{"device.attributes['a.example.com'].x == 'y'", "never"},
		{"device.attributes['a.example.com'].x == 17", "never"},
		{G "type != 'mig'", "any"},
		{G "productName == 'NVIDIA H100 80GB HBM3'",
		 "nvidia.com/gpu.product In NVIDIA-H100-80GB-HBM3"},
		{G "productName != 'NVIDIA L4'", "nvidia.com/gpu.product NotIn NVIDIA-L4"},
		{G "productName in ['NVIDIA L4', \"NVIDIA T4\"]",
		 "nvidia.com/gpu.product In NVIDIA-L4 NVIDIA-T4"},
		{G "productName == 'a' || " G "productName == 'b' || " G "productName == 'c'",
		 "nvidia.com/gpu.product In a b c"},
		{"(" G "productName == 'a' || " G "type == 'mig') && " G
		 "architecture == 'Ada Lovelace'",
		 "nvidia.com/gpu.product In a; nvidia.com/gpu.family In ada-lovelace"},
		{G "productName == 'a' || device.driver == 'gpu.nvidia.com'", "any"},
		{G "productName.matches('H100')", "nvidia.com/gpu.product contains H100"},
		{G "productName.matches('^.*H100 80GB.*$')",
		 "nvidia.com/gpu.product contains H100-80GB"},
		{G "productName.matches('.*H100.*')", "nvidia.com/gpu.product contains H100"},
		{G "productName.lowerAscii().matches('^.*a100.*$')",
		 "nvidia.com/gpu.product contains in lower case a100"},
		{G "productName.lowerAscii().contains('A100')", "never"},
		{G "productName.contains('a') || " G "productName.contains('b')",
		 "nvidia.com/gpu.product contains a b"},
		{G "architecture.contains('Hopper')",
		 "nvidia.com/gpu.family contains in lower case hopper"},
		{M "compareTo(quantity('80Gi')) >= 0", "nvidia.com/gpu.memory Gt 81919"},
		{M "compareTo(quantity(\"80Gi\")) > 0", "nvidia.com/gpu.memory Gt 81920"},
		{M "compareTo(quantity('80Gi')) < 0", "nvidia.com/gpu.memory Lt 81920"},
		{M "compareTo(quantity('80Gi')) <= 0", "nvidia.com/gpu.memory Lt 81921"},
		/* The label is in MiB. 40 GB are 38146.97 MiB, so 38147 is enough and 38146 is
		 * not. */
		{M "compareTo(quantity('40G')) >= 0", "nvidia.com/gpu.memory Gt 38146"},
		{M "compareTo(quantity('40G')) > 0", "nvidia.com/gpu.memory Gt 38146"},
		{M "compareTo(quantity('40G')) < 0", "nvidia.com/gpu.memory Lt 38147"},
		{M "compareTo(quantity('40G')) <= 0", "nvidia.com/gpu.memory Lt 38147"},
		{M "isGreaterThan(quantity('1Gi'))", "nvidia.com/gpu.memory Gt 1024"},
		{M "isLessThan(quantity('1Gi'))", "nvidia.com/gpu.memory Lt 1024"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(asked(cases[i].cel, DEVICE_GPU, a), cases[i].text);
}

static void what_is_not_understood_is_named(void **state)
{
	static const struct {
		const char *cel, *what;
	} cases[] = {
		{"", "the end of the expression"},
		{"true", "the end of the expression"},
		{"!(device.driver == 'x')", "!(device.driver == 'x')"},
		{G "productName.matches('H[12]00')", "matches('H[12]00')"},
		{G "productName.matches('^H100')", "matches('^H100')"},
		{G "productName.matches('.*')", "matches('.*')"},
		{G "productName.startsWith('NVIDIA')", "productName.startsWith()"},
		{G "productName.contains('a') || " G "productName == 'b'",
		 "|| between different attributes"},
		{G "uuid.matches('x')", "uuid.matches()"},
		{"device.attributes['a'].x.matches('x')", "x.matches()"},
		{G "productName.lowerAscii() == 'h100'", "productName.lowerAscii()"},
		{G "uuid == 'GPU-1'", "attribute uuid"},
		{G "productName > 'a'", "an ordering comparison of strings"},
		{G "productName == a", "a"},
		{G "productName == 'a\\'b'", "a string with an escape"},
		{G "productName == 'a", "a string with an escape"},
		{G "productName == 'a' || " G "architecture == 'b'",
		 "|| between different attributes"},
		{G "productName == 'a' || " G "productName != 'b'",
		 "|| between different attributes"},
		{G "productName in []", "]"},
		{G "productName in ['a'", "the end of the expression"},
		{G "type == 'gpu' nonsense", "nonsense"},
		{M "compareTo(quantity('x')) >= 0", "quantity x"},
		{M "compareTo(quantity('80Gi')) == 0", "an exact amount of memory"},
		{M "compareTo(quantity('80Gi')) >= 1", "1"},
		{M "compareTo(quantity('7Ei')) >= 0", "an amount of memory out of range"},
		{M "sign() == 1", "memory.sign()"},
		{"device.capacity['gpu.nvidia.com'].cores == 1", "capacity cores"},
		{"device.allowMultipleAllocations", "device.allowMultipleAllocations"},
		{"((((((((((((((((((((device.driver == 'x'))))))))))))))))))))",
		 "parentheses nested too deeply"},
		{"cel.bind(x, device.attributes['a'], true)",
		 ".bind(x, device.attributes['a'], true)"},
	};
	OWN(arena) a = arena_new();
	char *lengthy = arena_alloc(a, DEVICE_CEL_BYTES + 2);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(asked(cases[i].cel, DEVICE_GPU, a),
				    arena_printf(a, "not judged: %s", cases[i].what));
	memset(lengthy, ' ', DEVICE_CEL_BYTES + 1);
	lengthy[DEVICE_CEL_BYTES + 1] = '\0';
	assert_string_equal(asked(lengthy, DEVICE_GPU, a),
			    "not judged: an expression that is too long");
}

static void a_channel_is_told_from_a_gpu(void **state)
{
	static const char *const channel =
		"device.driver == 'compute-domain.nvidia.com' && "
		"device.attributes['compute-domain.nvidia.com'].type == 'channel' && "
		"device.attributes['compute-domain.nvidia.com'].id == 0";
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(asked(channel, DEVICE_CHANNEL, a), "any");
	assert_string_equal(asked(channel, DEVICE_GPU, a), "never");
	assert_string_equal(asked(G "type == 'gpu'", DEVICE_CHANNEL, a), "never");
	assert_string_equal(asked("device.attributes['compute-domain.nvidia.com'].type == 'daemon'",
				  DEVICE_CHANNEL, a),
			    "never");
}

/* A device must satisfy the expressions of its class and those of the request. */
static void several_expressions_add_up(void **state)
{
	OWN(arena) a = arena_new();
	struct device_wish w = {.never = false};

	(void)state;
	assert_null(device_cel(G "productName == 'a'", DEVICE_GPU, &w, a));
	assert_null(device_cel(G "architecture == 'b'", DEVICE_GPU, &w, a));
	assert_int_equal(w.node.n, 2);
	assert_false(w.never);
	assert_null(device_cel(G "type == 'mig'", DEVICE_GPU, &w, a));
	assert_true(w.never && w.pinned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_become_requirements_on_labels),
		cmocka_unit_test(what_is_not_understood_is_named),
		cmocka_unit_test(a_channel_is_told_from_a_gpu),
		cmocka_unit_test(several_expressions_add_up),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
