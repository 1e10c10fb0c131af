#include "tests/unit/testing.h"

#include <string.h>

#include "base/str.h"
#include "cli/host_cni.h"

static json_t *object(const char *text)
{
	struct err e;
	json_t *j = json_parse(text, strlen(text), &e);

	assert_non_null(j);
	return j;
}

static void what_drops_the_frames_of_a_vip_is_named(void **state)
{
	OWN_JSON cilium = object("{\"data\":{\"debug\":\"false\"}}");
	OWN_JSON good =
		object("{\"data\":{\"cni-exclusive\":\"false\",\"vlan-bpf-bypass\":\"100 200\"}}");
	OWN_JSON ebpf = object("{\"spec\":{\"bpfEnabled\":true}}");
	OWN_JSON plain = object("{\"spec\":{}}");
	OWN_JSON findings = json_array();

	(void)state;
	assert_int_equal(host_cni_judge(NULL, NULL, findings), 0);
	assert_int_equal(host_cni_judge(good, plain, findings), 0);
	assert_int_equal(json_array_size(findings), 0);
	assert_int_equal(host_cni_judge(cilium, NULL, findings), 2);
	assert_int_equal(host_cni_judge(NULL, ebpf, findings), 1);
	assert_int_equal(json_array_size(findings), 3);
	assert_non_null(strstr(json_str_at(json_array_get(findings, 0), "mend"), "cni-exclusive"));
	assert_non_null(
		strstr(json_str_at(json_array_get(findings, 1), "mend"), "vlan-bpf-bypass"));
	assert_non_null(strstr(json_str_at(json_array_get(findings, 2), "says"), "eBPF"));
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(json_str_at(json_array_get(findings, i), "result"), "wrong");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_drops_the_frames_of_a_vip_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
