/* A change of one machine, tenant or Secret makes drover evaluate only the machines that it
 * concerns. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

#define QUIET_MS 60000

static unsigned turns(struct sim_world *w)
{
	struct buf b;
	const char *at;
	unsigned n;

	buf_init(&b, 4u << 20);
	metrics_write(controller_context(world_leader(w)->controller)->metrics, &b);
	at = strstr(b.data, "\ndrover_machine_turns_total ");
	assert_non_null(at);
	n = (unsigned)strtoul(at + strlen("\ndrover_machine_turns_total "), NULL, 10);
	buf_done(&b);
	return n;
}

/* Returns the number of machine evaluations in a period in which only this request is sent. */
static unsigned turns_after(struct sim_world *w, struct cluster *p, const char *method,
			    const char *path, json_t *body)
{
	unsigned before;

	world_run(w, QUIET_MS);
	before = turns(w);
	world_do(w, p, method, path, body);
	world_run(w, 3000);
	return turns(w) - before;
}

static void start(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 24);
	world_replica(w);
	world_wait_all(w, "free", 7200);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 1800);
	world_wait_state(world_box_of(w, &w->tenants[0], "train"), "serving", 600);
}

static json_t *annotation(const char *value)
{
	return json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "example.com/note", value);
}

static void a_node_that_changes_is_looked_at_by_its_machine_alone(void **state)
{
	struct sim_world w;
	unsigned quiet, n;
	char path[200];

	(void)state;
	start(&w, 2101);
	world_run(&w, QUIET_MS);
	quiet = turns(&w);
	world_run(&w, 3000);
	quiet = turns(&w) - quiet;
	str_format(path, sizeof(path), "/api/v1/nodes/%s",
		   world_box_of(&w, &w.tenants[0], "train")->claim);
	n = turns_after(
		&w, &w.tenants[0], "PATCH", path,
		json_pack("{s:{s:{s:s}}}", "metadata", "labels", "example.com/note", "one"));
	assert_in_range(n, 1, quiet + 3);
	world_stop(&w);
}

static void a_secret_or_a_node_of_somebody_else_is_looked_at_by_none(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 2102);
	assert_in_range(turns_after(&w, &w.tenants[0], "POST", "/api/v1/nodes",
				    json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind",
					      "Node", "metadata", "name", "cpu-1")),
			0, 6);
	assert_in_range(turns_after(&w, &w.host, "PATCH",
				    "/api/v1/namespaces/vc-team-b/secrets/vc-team-b",
				    annotation("two")),
			0, 6);
	world_stop(&w);
}

/* Machines whose Secret is missing must not be evaluated again and again: when drover starts, a
 * thousand machines may wait for their Secret. */
static void who_waits_for_its_secret_is_not_looked_at_until_it_is_there(void **state)
{
	struct sim_world w;
	unsigned before;

	(void)state;
	world_start(&w, 2103, 24);
	world_replica(&w);
	world_wait_all(&w, "free", 7200);
	world_kill(&w.replicas[0]);
	w.refused = "/secrets/bmc";
	world_replica(&w);
	world_run(&w, QUIET_MS);
	before = turns(&w);
	world_run(&w, 20000);
	assert_in_range(turns(&w) - before, 0, 24);
	w.refused = NULL;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_changes_is_looked_at_by_its_machine_alone),
		cmocka_unit_test(a_secret_or_a_node_of_somebody_else_is_looked_at_by_none),
		cmocka_unit_test(who_waits_for_its_secret_is_not_looked_at_until_it_is_there),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
