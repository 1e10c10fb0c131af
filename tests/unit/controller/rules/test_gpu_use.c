/* Tests how the GPUs of one Node are divided, with device plugins, MIG and resource claims. */
#include "tests/unit/testing.h"

#include <math.h>
#include "controller/rules/gpu_use.h"

#define GPU "nvidia.com/gpu"
#define SHARED "nvidia.com/gpu.shared"
#define MIG1 "nvidia.com/mig-1g.10gb"
#define MIG3 "nvidia.com/mig-3g.40gb"

struct node {
	const char *name;
	long capacity, allocatable, requested;
};

static struct resources list(struct resource *v, const struct node *n, size_t at)
{
	struct resources r = {v, 0};
	const long numbers[][3] = {{n[0].capacity, n[0].allocatable, n[0].requested},
				   {n[1].capacity, n[1].allocatable, n[1].requested}};

	for (size_t i = 0; i < 2; i++) {
		if (!n[i].name)
			continue;
		v[r.n].name = n[i].name;
		v[r.n++].q = quantity_of(numbers[i][at]);
	}
	resources_sort(&r);
	return r;
}

static void each_gpu_of_a_node_is_counted_once(void **state)
{
	static const struct {
		const char *what;
		struct node n[2];
		bool by_claims;
		double requested, idle, failed;
	} cases[] = {
		{"whole GPUs", {{GPU, 8, 8, 3}}, false, 3, 5, 0},
		{"all are requested", {{GPU, 8, 8, 8}}, false, 8, 0, 0},
		{"two are unhealthy", {{GPU, 8, 6, 3}}, false, 3, 3, 2},
		{"one is missing", {{GPU, 7, 7, 3}}, false, 3, 4, 1},
		{"one is missing, one unhealthy", {{GPU, 7, 6, 6}}, false, 6, 0, 2},
		{"a pod keeps a GPU that became unhealthy", {{GPU, 8, 7, 8}}, false, 7, 0, 1},
		{"resource claims alone", {{NULL, 0, 0, 0}}, false, 0, 8, 0},
		{"resource claims, as the planner sees requests", {{GPU, 0, 0, 4}}, true, 4, 4, 0},
		{"both; the plugin has some", {{GPU, 4, 4, 4}}, true, 4, 4, 0},
		{"MIG single: seven parts a GPU", {{GPU, 56, 56, 14}}, false, 2, 6, 0},
		{"MIG single: a GPU fails", {{GPU, 56, 49, 14}}, false, 2, 5, 1},
		{"MIG mixed: all GPUs divided", {{MIG1, 56, 56, 7}}, false, 1, 7, 0},
		{"MIG mixed: none whole", {{GPU, 0, 0, 0}, {MIG3, 16, 16, 8}}, false, 4, 4, 0},
		{"MIG mixed: four whole", {{GPU, 4, 4, 3}, {MIG1, 28, 28, 14}}, false, 5, 3, 0},
		{"MIG mixed: parts fail", {{GPU, 4, 4, 0}, {MIG1, 28, 14, 14}}, false, 2, 4, 2},
		/* The kubelet's capacity once the device plugin has been away for 5 minutes */
		{"no plugin any more", {{GPU, 0, 0, 3}}, false, 0, 0, 8},
		{"no plugin any more, in MIG mode", {{MIG1, 0, 0, 7}}, false, 0, 0, 8},
		{"no plugin for both", {{GPU, 0, 0, 0}, {MIG1, 0, 0, 0}}, false, 0, 0, 8},
		{"whole again, once in MIG mode",
		 {{GPU, 8, 8, 3}, {MIG1, 0, 0, 0}},
		 false,
		 3,
		 5,
		 0},
		{"MIG single: a GPU is missing", {{GPU, 49, 49, 14}}, false, 2, 5, 1},
		{"MIG single: not seen, six parts each", {{GPU, 48, 48, 12}}, false, 2, 6, 0},
		{"time slicing: a GPU is missing", {{GPU, 28, 28, 8}}, false, 2, 5, 1},
		{"MIG mixed: a GPU is missing, not seen",
		 {{MIG1, 49, 49, 7}},
		 false,
		 8. / 7,
		 48. / 7,
		 0},
		{"shared GPUs", {{SHARED, 32, 32, 8}}, false, 2, 6, 0},
		{"shared GPUs, renamed", {{GPU, 0, 0, 0}, {SHARED, 32, 28, 8}}, false, 2, 5, 1},
		{"shared GPUs, and no plugin", {{SHARED, 0, 0, 8}}, false, 0, 0, 8},
		{"more is requested than there is", {{GPU, 8, 8, 99}}, false, 8, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resource v[3][2];
		const struct resources capacity = list(v[0], cases[i].n, 0),
				       allocatable = list(v[1], cases[i].n, 1),
				       requests = list(v[2], cases[i].n, 2);
		struct gpu_parts asked = {0};
		struct gpu_use u;

		gpu_parts_add(&asked, &requests);
		u = gpu_use_of(8, &capacity, &allocatable, asked, cases[i].by_claims);
		if (fabs(u.requested - cases[i].requested) > 1e-9 ||
		    fabs(u.idle - cases[i].idle) > 1e-9 || fabs(u.failed - cases[i].failed) > 1e-9)
			fail_msg("%s: requested %g, idle %g, failed %g", cases[i].what, u.requested,
				 u.idle, u.failed);
	}
}

static void a_machine_without_gpus_has_none(void **state)
{
	const struct resources none = {0};
	const struct gpu_use u = gpu_use_of(0, &none, &none, (struct gpu_parts){8, 8, true}, false);

	(void)state;
	assert_true(u.requested == 0 && u.idle == 0 && u.failed == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gpu_of_a_node_is_counted_once),
		cmocka_unit_test(a_machine_without_gpus_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
