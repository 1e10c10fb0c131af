/* Tests device_objects: what drover reads of ResourceClaims, DeviceClasses and ResourceSlices in
 * each API version, and the sum of a claim's requests. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "controller/tenant/device_objects.h"

static void *project(struct arena *a, const struct scan_want *want, const char *text,
		     void *(*fn)(const json_t *, struct arena *, void *, struct err *))
{
	char *body = arena_strdup(a, text);
	struct err e;
	json_t *some;
	void *out;

	for (char *c = body; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	some = scan_parse(body, strlen(body), want, &e);
	if (!some)
		fail_msg("%s: %s", text, e.text);
	out = fn(some, a, NULL, &e);
	json_decref(some);
	assert_non_null(out);
	return out;
}

#define DEVICE_CLASS(expression)                                                                   \
	"{'metadata': {'name': 'x'}, 'spec': {'selectors': [{'cel': {'expression': '" expression   \
	"'}}]}}"
#define IS(field, value) "device.attributes[\\\"gpu.nvidia.com\\\"]." field " == \\\"" value "\\\""

/* Returns the test's DeviceClass with this name, projected into the arena arg. */
static const struct device_class *class_of(const char *name, void *arg)
{
	static const struct {
		const char *name, *object;
	} all[] = {
		{"gpu.nvidia.com", DEVICE_CLASS(IS("type", "gpu"))},
		{"mig.nvidia.com", DEVICE_CLASS(IS("type", "mig"))},
		{"b200", DEVICE_CLASS(IS("type", "gpu") " && " IS("productName", "NVIDIA B200"))},
		{"odd", DEVICE_CLASS("device.driver.startsWith(\\\"gpu\\\")")},
		{"all", "{'metadata': {'name': 'all'}, 'spec': {}}"},
		{"nic.example.com", DEVICE_CLASS("device.driver == \\\"nic.example.com\\\"")},
		{"channel",
		 DEVICE_CLASS("device.driver == \\\"compute-domain.nvidia.com\\\" && "
			      "device.attributes[\\\"compute-domain.nvidia.com\\\"].id == 0")},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (str_eq(name, all[i].name))
			return project(arg, device_want_class, all[i].object, device_project_class);
	return NULL;
}

static const char *judged(struct arena *a, const struct device_asks *asks)
{
	struct device_answer answer;
	struct device_refusal no;
	const char *text;

	if (!device_judge(asks, class_of, a, &answer, &no, a))
		return no.unjudged ? arena_printf(a, "not judged: %s", no.unjudged)
				   : arena_printf(a, "waits: %s", no.wait);
	text = arena_printf(a, "%d%s%s%s", (int)answer.gpus, answer.channel ? " and a channel" : "",
			    asks->domain ? " of " : "", str_or(asks->domain, ""));
	for (size_t i = 0; i < answer.node.n; i++)
		text = arena_printf(a, "%s, %s %s %s", text, answer.node.v[i].key,
				    selector_op_name(answer.node.v[i].op),
				    answer.node.v[i].values[0]);
	return text;
}

/* Projects a ResourceClaim and a ResourceClaimTemplate with these devices, which must give the same
 * text; returns the text. */
static const char *asked(struct arena *a, const char *devices)
{
	const struct device_claim *c = project(
		a, device_want_claim,
		arena_printf(a, "{'metadata': {'name': 'c'}, 'spec': {'devices': %s}}", devices),
		device_project_claim);
	const struct device_template *t = project(
		a, device_want_template,
		arena_printf(a, "{'metadata': {'name': 'c'}, 'spec': {'spec': {'devices': %s}}}",
			     devices),
		device_project_template);

	assert_string_equal(judged(a, &c->asks), judged(a, &t->asks));
	return judged(a, &c->asks);
}

#define REQUESTS(list) "{'requests': [" list "]}"
#define R "{'name': 'r', 'exactly': {'deviceClassName': 'gpu.nvidia.com'"
#define SELECTS(expression) "'selectors': [{'cel': {'expression': '" expression "'}}]"

static void requests_add_up_to_whole_gpus(void **state)
{
	static const struct {
		const char *devices, *text;
	} cases[] = {
		{REQUESTS(""), "0"},
		{REQUESTS(R "}}"), "1"},
		{REQUESTS(R ", 'allocationMode': 'ExactCount', 'count': 4}}"), "4"},
		/* A request in the form of API version v1beta1. */
		{REQUESTS("{'name': 'r', 'deviceClassName': 'gpu.nvidia.com', 'count': 2}"), "2"},
		{REQUESTS(R
			  ", 'count': 2}}, {'name': 's', 'exactly': {'deviceClassName': 'b200'}}"),
		 "3, nvidia.com/gpu.product In NVIDIA-B200"},
		{REQUESTS(R ", " SELECTS(IS("architecture", "Hopper")) "}}"),
		 "1, nvidia.com/gpu.family In hopper"},
		{"{'requests': [{'name': 'c', "
		 "'exactly': {'deviceClassName': 'channel'}}], 'config': ["
		 "{'opaque': {'driver': 'gpu.nvidia.com', 'parameters': {'kind': 'GpuConfig'}}},"
		 "{'opaque': {'driver': 'compute-domain.nvidia.com', 'parameters': {'kind':"
		 " 'ComputeDomainChannelConfig', 'domainID': 'd-1'}}}]}",
		 "0 and a channel of d-1"},
		{"{'requests': [" R "}}], 'constraints': [{'matchAttribute': 'x.example.com/y'}]}",
		 "1"},
		{"{'requests': [" R ", 'count': 2}}], 'constraints': [{'matchAttribute':"
		 " 'gpu.nvidia.com/productName'}]}",
		 "2"},
		{REQUESTS("{'name': 'r', 'exactly': {'deviceClassName': 'gone'}}"),
		 "waits: DeviceClass gone does not exist"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(asked(a, cases[i].devices), cases[i].text);
}

static void what_is_not_judged_is_named(void **state)
{
	static const struct {
		const char *devices, *what;
	} cases[] = {
		{REQUESTS("{'name': 'r', 'firstAvailable': [{'name': 'x', "
			  "'deviceClassName': 'gpu.nvidia.com'}]}"),
		 "request r: firstAvailable"},
		{REQUESTS(R ", 'allocationMode': 'All'}}"), "request r: allocationMode All"},
		{REQUESTS(R ", 'adminAccess': true}}"), "request r: adminAccess"},
		{REQUESTS(R ", 'capacity': {'requests': {'memory': '10Gi'}}}}"),
		 "request r: a part of a device (capacity)"},
		{REQUESTS(R ", 'count': 0}}"), "request r: a count outside 1 to 4096"},
		{REQUESTS(R ", 'count': 'x'}}"), "request r: a count outside 1 to 4096"},
		{REQUESTS("{'name': 'r'}"), "request r: no deviceClassName"},
		{REQUESTS(R ", " SELECTS(IS("uuid", "GPU-1")) "}}"),
		 "request r, CEL selector: attribute uuid"},
		{REQUESTS("{'name': 'r', 'exactly': {'deviceClassName': 'odd'}}"),
		 "DeviceClass odd, CEL selector: driver.startsWith()"},
		{REQUESTS("{'name': 'r', 'exactly': {'deviceClassName': 'mig.nvidia.com'}}"),
		 "request r of DeviceClass mig.nvidia.com, which selects devices other than whole "
		 "GPUs of driver gpu.nvidia.com,"},
		{REQUESTS("{'name': 'r', 'exactly': {'deviceClassName': 'nic.example.com'}}"),
		 "request r of DeviceClass nic.example.com, which selects devices other than whole "
		 "GPUs of driver gpu.nvidia.com,"},
		/* The class "all" means devices of any driver. */
		{REQUESTS("{'name': 'r', 'exactly': {'deviceClassName': 'all'}}"),
		 "request r of DeviceClass all, which selects devices other than whole "
		 "GPUs of driver gpu.nvidia.com,"},
		{REQUESTS("{'name': 'r', 'exactly': {'deviceClassName': 'channel', 'count': 2}}"),
		 "request r of DeviceClass channel, which selects devices other than whole "
		 "GPUs of driver gpu.nvidia.com,"},
		{"{'requests': [" R ", 'count': 2}}], 'constraints': [{'matchAttribute':"
		 " 'resource.kubernetes.io/pcieRoot'}]}",
		 "constraint on resource.kubernetes.io/pcieRoot"},
		{"{'requests': [" R
		 ", 'count': 2}}], 'constraints': [{'distinctAttribute': 'a/b'}]}",
		 "constraint on a/b"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(asked(a, cases[i].devices),
				    arena_printf(a, "not judged: %s", cases[i].what));
}

static void a_longer_list_is_not_read(void **state)
{
	OWN(arena) a = arena_new();
	const char *one = R "}}", *list = one;

	(void)state;
	while (strlen(list) < 2 * DEVICE_LIST_BYTES)
		list = arena_printf(a, "%s,%s", list, list);
	assert_string_equal(
		asked(a, arena_printf(a, "{'requests': [%s]}", list)),
		"not judged: a list of requests, constraints or configurations that is too long");
}

/* Returns Node, devices and first pod of an allocation, such as "n-1: gpu-0 gpu-1 for u-1". */
static const char *allocated(struct arena *a, const char *status)
{
	const struct device_claim *c = project(
		a, device_want_claim,
		arena_printf(a, "{'metadata': {'name': 'c'}, 'spec': {}, 'status': %s}", status),
		device_project_claim);
	const char *text;

	if (!c->allocated)
		return "not allocated";
	text = c->elsewhere ? c->elsewhere : c->node.n ? c->node.v[0].values[0] : "anywhere";
	for (size_t i = 0; i < c->nresults; i++)
		text = arena_printf(a, "%s %s/%s/%s", text, c->results[i].driver,
				    c->results[i].pool, c->results[i].device);
	return arena_printf(a, "%s for %s", text, str_or(c->first, "nobody"));
}

#define RESULT "{'driver': 'd', 'pool': 'p', 'device': 'gpu-0'}"
#define PLACE(terms) "{'allocation': {'nodeSelector': {'nodeSelectorTerms': [" terms "]}}}"

static void an_allocation_says_which_devices_and_where(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(allocated(a, "{}"), "not allocated");
	assert_string_equal(
		allocated(a,
			  "{'allocation': {'devices': {'results': [" RESULT
			  ", {'driver': 'd', 'pool': 'p', 'device': 'x', 'adminAccess': true}]}},"
			  " 'reservedFor': [{'uid': 'u-1'}, {'uid': 'u-2'}]}"),
		"anywhere d/p/gpu-0 for u-1");
	assert_string_equal(
		allocated(a, PLACE("{'matchFields': [{'key': 'metadata.name', 'operator': 'In',"
				   " 'values': ['n-1']}]}")),
		"n-1 for nobody");
	assert_string_equal(
		allocated(a, PLACE("{'matchExpressions': [{'key': 'zone', 'operator': 'In',"
				   " 'values': ['a']}]}")),
		"a for nobody");
	assert_string_equal(allocated(a, PLACE("{}, {}")),
			    "a nodeSelector without exactly one term for nobody");
	assert_string_equal(
		allocated(a,
			  PLACE("{'matchFields': [{'key': 'x', 'operator': 'In', 'values': []}]}")),
		"a nodeSelector on a field other than metadata.name for nobody");
}

/* Returns the whole GPUs and the labels of a slice, such as "gpu-0 gpu-1 KEY=VALUE". */
static const char *slice(struct arena *a, const char *spec)
{
	const struct device_slice *s =
		project(a, device_want_slice,
			arena_printf(a, "{'metadata': {'name': 's'}, 'spec': %s}", spec),
			device_project_slice);
	const char *text = arena_printf(a, "%s/%s %d of %d:", s->node, s->pool, (int)s->generation,
					(int)s->slices);

	for (size_t i = 0; i < s->nwhole; i++)
		text = arena_printf(a, "%s %s", text, s->whole[i]);
	for (size_t i = 0; i < s->labels.n; i++)
		text = arena_printf(a, "%s %s=%s", text, s->labels.v[i].key, s->labels.v[i].value);
	return text;
}

#define SLICE(driver, devices)                                                                     \
	"{'driver': '" driver "', 'nodeName': 'n-1', 'pool': {'name': 'p', 'generation': 3,"       \
	" 'resourceSliceCount': 2}, 'devices': [" devices "]}"
#define ATTRIBUTES                                                                                 \
	"'attributes': {'type': {'string': 'gpu'}, "                                               \
	"'productName': {'string': 'NVIDIA GH200 480GB'},"                                         \
	" 'architecture': {'string': 'Hopper'}}, 'capacity': {'memory': {'value': '97871Mi'}}"
#define LABELS                                                                                     \
	" nvidia.com/gpu.family=hopper nvidia.com/gpu.memory=97871"                                \
	" nvidia.com/gpu.product=NVIDIA-GH200-480GB"

static void whole_gpus_of_a_slice_are_read_in_each_version(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(slice(a, SLICE("gpu.nvidia.com", "{'name': 'gpu-0', " ATTRIBUTES "}")),
			    "n-1/p 3 of 2: gpu-0" LABELS);
	assert_string_equal(
		slice(a, SLICE("gpu.nvidia.com", "{'name': 'gpu-0', 'basic': {" ATTRIBUTES "}}")),
		"n-1/p 3 of 2: gpu-0" LABELS);
	assert_string_equal(
		slice(a, SLICE("gpu.nvidia.com",
			       "{'name': 'm', 'attributes': {'type': {'string': 'mig'}}},"
			       "{'name': 't', 'taints': [{'key': 'x'}], " ATTRIBUTES "},"
			       "{'name': 'g', 'attributes': {'type': {'string': 'gpu'}}}")),
		"n-1/p 3 of 2: g");
	assert_string_equal(slice(a, SLICE("x.example.com", "{'name': 'gpu-0', " ATTRIBUTES "}")),
			    "n-1/p 3 of 2:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_add_up_to_whole_gpus),
		cmocka_unit_test(what_is_not_judged_is_named),
		cmocka_unit_test(a_longer_list_is_not_read),
		cmocka_unit_test(an_allocation_says_which_devices_and_where),
		cmocka_unit_test(whole_gpus_of_a_slice_are_read_in_each_version),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
