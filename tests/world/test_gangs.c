/* A gang gets all its machines, or no machine is claimed for it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/invariants.h"
#include "tests/world/world.h"

#define RACK "topology.drover.dev/rack"
#define PODS "/api/v1/namespaces/default/pods"
#define CLAIMS "/apis/" OBJECT_API_VERSION "/nodeclaims"

/* Creates a pod that needs a whole machine. size NULL: the size is that of the PodGroup `gang`. */
static void add_pod(struct sim_world *w, const char *gang, unsigned i, const char *size)
{
	char name[40];
	json_t *labels = json_object(), *notes = json_object();

	str_format(name, sizeof(name), "%s-%u", gang, i);
	if (size) {
		json_object_set_new(notes, "drover.dev/gang", json_string(gang));
		json_object_set_new(notes, "drover.dev/gang-size", json_string(size));
	} else {
		json_object_set_new(labels, "scheduling.x-k8s.io/pod-group", json_string(gang));
	}
	world_do(
		w, &w->tenants[0], "POST", PODS,
		json_pack(
			"{s:s,s:s,s:{s:s,s:s,s:o,s:o},s:{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}}",
			"apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
			"default", "labels", labels, "annotations", notes, "spec", "tolerations",
			"key", "nvidia.com/gpu", "operator", "Exists", "containers", "name", "main",
			"image", "train:1", "resources", "limits", "nvidia.com/gpu", "8"));
}

struct said {
	const char *pod, *text;
	bool found;
};

static bool says(const json_t *o, void *arg)
{
	struct said *s = arg;

	s->found |= str_eq(json_str_at(o, "involvedObject", "name"), s->pod) &&
		    strstr(str_or(json_str_at(o, "message"), ""), s->text);
	return !s->found;
}

static bool is_told(struct sim_world *w, const char *pod, const char *text)
{
	struct said s = {pod, text, false};

	cluster_each(&w->tenants[0], "events/", says, &s);
	return s.found;
}

struct count {
	unsigned n;
	char first[80];
};

static bool count_one(const json_t *o, void *arg)
{
	struct count *c = arg;

	if (!c->n++)
		str_copy(c->first, sizeof(c->first), json_str_at(o, "metadata", "name"));
	return true;
}

static struct count claims(struct sim_world *w)
{
	struct count c = {0};

	cluster_each(&w->host, "nodeclaims.drover.dev/", count_one, &c);
	return c;
}

static void begin(struct sim_world *w, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	world_replica(w);
	world_wait_all(w, "free", 1800);
}

static void a_gang_gets_all_its_machines_or_none(void **state)
{
	struct sim_world w;
	char name[20];

	(void)state;
	begin(&w, 821, 3);
	for (unsigned i = 0; i < 4; i++)
		add_pod(&w, "large", i, "4");
	world_run(&w, 60000);
	assert_int_equal(claims(&w).n, 0);
	assert_true(is_told(&w, "large-3", "gang default/gangs/large: room for 3 of 4 pods"));
	for (unsigned i = 0; i < 4; i++) {
		str_format(name, sizeof(name), "large-%u", i);
		/* Delete the pod, because the tenant's scheduler does not know gangs. */
		world_delete_pod(&w, &w.tenants[0], name);
	}
	for (unsigned i = 0; i < 2; i++)
		add_pod(&w, "small", i, "3");
	world_run(&w, 60000);
	assert_int_equal(claims(&w).n, 0);
	assert_true(is_told(&w, "small-0", "only 2 of the 3 pods that it needs exist"));
	add_pod(&w, "small", 2, "3");
	world_wait_running(&w, &w.tenants[0], "small-0", 1800);
	world_wait_running(&w, &w.tenants[0], "small-1", 1800);
	world_wait_running(&w, &w.tenants[0], "small-2", 1800);
	assert_int_equal(claims(&w).n, 3);
	world_stop(&w);
}

static void a_gang_stands_in_one_rack(void **state)
{
	struct sim_world w;
	char path[200];

	(void)state;
	begin(&w, 822, 4);
	for (unsigned i = 0; i < 4; i++) {
		str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s",
			   w.servers[i].name);
		world_do(&w, &w.host, "PATCH", path,
			 json_pack("{s:{s:{s:s}}}", "metadata", "labels", RACK,
				   i == 1 || i == 3 ? "r2"
				   : i		    ? "r3"
						    : "r1"));
	}
	for (unsigned i = 0; i < 2; i++)
		add_pod(&w, "train", i, "2");
	world_wait_running(&w, &w.tenants[0], "train-0", 1800);
	world_wait_running(&w, &w.tenants[0], "train-1", 1800);
	assert_string_equal(world_at(&w.servers[0], "status.state"), "free");
	assert_string_equal(world_at(&w.servers[2], "status.state"), "free");
	world_stop(&w);
}

/* The gang keeps the machines that it has and gets a replacement for the lost one. */
static void a_gang_that_loses_a_machine_keeps_the_others(void **state)
{
	struct sim_world w;
	struct count before;
	char path[200];

	(void)state;
	begin(&w, 823, 3);
	for (unsigned i = 0; i < 2; i++)
		add_pod(&w, "train", i, "2");
	world_run(&w, 20000);
	before = claims(&w);
	assert_int_equal(before.n, 2);
	str_format(path, sizeof(path), CLAIMS "/%s", before.first);
	world_do(&w, &w.host, "DELETE", path, NULL);
	world_wait_running(&w, &w.tenants[0], "train-0", 3600);
	world_wait_running(&w, &w.tenants[0], "train-1", 3600);
	assert_true(world_box_of(&w, &w.tenants[0], "train-0") !=
		    world_box_of(&w, &w.tenants[0], "train-1"));
	world_stop(&w);
}

static void a_gang_whose_size_is_not_known_brings_no_machine(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 824, 2);
	add_pod(&w, "train", 0, NULL);
	/* A pod outside the gang does not wait until the gang's size is known. */
	world_pod(&w, &w.tenants[0], "plain");
	world_wait_running(&w, &w.tenants[0], "plain", 1800);
	assert_int_equal(claims(&w).n, 1);
	assert_true(is_told(&w, "train-0", "does not serve podgroups.scheduling.x-k8s.io"));
	world_stop(&w);
}

/* Tests S5 itself: S5 is violated while only a part of a gang has machines, unless that part ends
 * or the gang becomes whole in time. */
static void a_gang_that_is_held_in_part_is_complained_of(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 825, 1);
	add_pod(&w, "train", 0, "2");
	add_pod(&w, "train", 1, "2");
	world_run(&w, 2000);
	OWN_JSON pod = cluster_get(&w.tenants[0], "pods/default/train-0");
	json_t *claim =
		json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s},s:{s:s},s:[],s:[s]}}", "apiVersion",
			  OBJECT_API_VERSION, "kind", "NodeClaim", "metadata", "name", "part",
			  "spec", "virtualClusterRef", "name", "team-a", "nodePoolRef", "name",
			  "gpus", "requirements", "pods", json_str_at(pod, "metadata", "uid"));
	world_do(&w, &w.host, "POST", CLAIMS, claim);
	world_run(&w, GANG_RULE_LIMIT_MS - 5000);
	w.gangs.v[0].in_part_since -= 10000;
	w.gangs.looked_at = 0;
	assert_false(invariants_look(&w));
	assert_true(
		str_starts(w.complaint, "S5: gang team-a/train holds machines for 1 of 2 pods"));
	w.complaint[0] = '\0';
	world_do(&w, &w.host, "DELETE", CLAIMS "/part", NULL);
	world_run(&w, GANG_RULE_LIMIT_MS);
	world_stop(&w);
}

static void cordon(struct sim_world *w, const char *node)
{
	char path[120];

	str_format(path, sizeof(path), "/api/v1/nodes/%s", node);
	world_do(w, &w->tenants[0], "PATCH", path,
		 json_pack("{s:{s:b}}", "spec", "unschedulable", 1));
}

static char *node_of(struct sim_world *w, const char *pod)
{
	char key[80];
	OWN_JSON o = NULL;

	str_format(key, sizeof(key), "pods/default/%s", pod);
	o = cluster_get(&w->tenants[0], key);
	return strdup(str_or(json_str_at(o, "spec", "nodeName"), ""));
}

/* One pod succeeds; the other is lost with its Node and created anew. */
static void what_is_left_of_a_gang_that_ran_is_served(void **state)
{
	struct sim_world w;
	char *first, *second;

	(void)state;
	world_start(&w, 886, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	add_pod(&w, "pair", 0, "2");
	add_pod(&w, "pair", 1, "2");
	world_wait_running(&w, &w.tenants[0], "pair-0", 1800);
	world_wait_running(&w, &w.tenants[0], "pair-1", 1800);
	first = node_of(&w, "pair-0");
	second = node_of(&w, "pair-1");
	cordon(&w, first);
	cordon(&w, second);
	world_do(&w, &w.tenants[0], "PATCH", PODS "/pair-0/status",
		 json_pack("{s:{s:s}}", "status", "phase", "Succeeded"));
	world_delete_pod(&w, &w.tenants[0], "pair-1");
	world_run(&w, 5000);
	add_pod(&w, "pair", 2, "2");
	world_wait_running(&w, &w.tenants[0], "pair-2", 1800);
	free(first);
	free(second);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_gets_all_its_machines_or_none),
		cmocka_unit_test(a_gang_stands_in_one_rack),
		cmocka_unit_test(a_gang_that_loses_a_machine_keeps_the_others),
		cmocka_unit_test(what_is_left_of_a_gang_that_ran_is_served),
		cmocka_unit_test(a_gang_whose_size_is_not_known_brings_no_machine),
		cmocka_unit_test(a_gang_that_is_held_in_part_is_complained_of),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
