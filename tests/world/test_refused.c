/* A Node that kube-scheduler rejects for a pod: drover notices, and provides another machine. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/world/world.h"

static bool is_told(const json_t *o, void *arg)
{
	if (strstr(str_or(json_str_at(o, "message"), ""),
		   "kube-scheduler did not bind it within a minute on Node"))
		*(bool *)arg = true;
	return true;
}

static bool is_refused_node(struct sim_world *w, const struct server *b)
{
	return str_eq(b->node_name, w->tenants[0].refused);
}

static void a_node_that_the_scheduler_refuses_is_not_waited_for(void **state)
{
	struct sim_world w;
	bool told = false;
	struct server *b;

	(void)state;
	world_start(&w, 823, 3);
	w.tenants[0].picky = true;
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	assert_true(w.tenants[0].refused[0]);
	b = world_box_of(&w, &w.tenants[0], "train");
	assert_false(is_refused_node(&w, b));
	cluster_each(&w.tenants[0], "events/", is_told, &told);
	assert_true(told);
	world_delete_pod(&w, &w.tenants[0], "train"); /* all machines become free again */
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_the_scheduler_refuses_is_not_waited_for),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
