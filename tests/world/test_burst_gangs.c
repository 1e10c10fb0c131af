/* Gangs in a cloud: launched completely in one zone, or not at all. */
#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

static void gang(struct burst_scene *s, unsigned size)
{
	char name[20], text[12];

	str_format(text, sizeof(text), "%u", size);
	for (unsigned i = 0; i < size; i++) {
		str_format(name, sizeof(name), "ring-%u", i);
		world_do(&s->w, &s->w.tenants[0], "POST", "/api/v1/namespaces/default/pods",
			 json_pack("{s:s,s:s,s:{s:s,s:s,s:{s:s,s:s}},"
				   "s:{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}}",
				   "apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
				   "namespace", "default", "annotations", "drover.dev/gang", "ring",
				   "drover.dev/gang-size", text, "spec", "tolerations", "key",
				   "nvidia.com/gpu", "operator", "Exists", "containers", "name",
				   "main", "image", "train:1", "resources", "limits",
				   "nvidia.com/gpu", "8"));
	}
}

/* Zone a has capacity for two of the three instances: none stays there, and all three are launched
 * in zone b. */
static void a_gang_comes_whole_from_one_zone(void **state)
{
	struct burst_scene *s = burst_start(7311, "150");

	(void)state;
	s->sky.cloud.zones[0].capacity = 2;
	gang(s, 3);
	burst_running(s, "ring-0");
	burst_running(s, "ring-1");
	burst_running(s, "ring-2");
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 3);
	assert_int_equal(s->sky.cloud.launched, 5);
	list_for_each (i, &s->sky.cloud.instances, struct fake_instance, link)
		assert_true(i->gone || str_eq(i->zone, "b"));
	burst_stop(s);
}

/* One instance dies before its pod runs: the other is released too, and then the whole gang is
 * launched. */
static void a_part_of_a_gang_is_given_back(void **state)
{
	struct burst_scene *s = burst_start(7313, "150");

	(void)state;
	s->sky.cloud.dying = 1;
	gang(s, 2);
	burst_running(s, "ring-0");
	burst_running(s, "ring-1");
	assert_int_equal(s->sky.cloud.launched, 4);
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 2);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_comes_whole_from_one_zone),
		cmocka_unit_test(a_part_of_a_gang_is_given_back),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
