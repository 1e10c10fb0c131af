/* Tests that the EndpointSlice of the leader's Service follows the leader of whole replicas. */
#include "tests/unit/testing.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/data/yaml.h"
#include "base/str.h"
#include "controller/core/leader_service.h"
#include "tests/world/world.h"

#define SLICE "endpointslices.discovery.k8s.io/drover-system/drover-leader"
#define TAKEOVER_S 40

/* The simulated API server does not have this kind. */
static const char kind[] =
	"apiVersion: apiextensions.k8s.io/v1\n"
	"kind: CustomResourceDefinition\n"
	"metadata: {name: endpointslices.discovery.k8s.io}\n"
	"spec:\n"
	"  group: discovery.k8s.io\n"
	"  scope: Namespaced\n"
	"  names: {plural: endpointslices, singular: endpointslice, kind: EndpointSlice}\n"
	"  versions:\n"
	"  - name: v1\n"
	"    served: true\n"
	"    storage: true\n"
	"    schema:\n"
	"      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";

static bool is_ready(void *arg)
{
	return ((struct replica *)arg)->ready;
}

/* Starts a replica, and its Service once its endpoints listen. */
static struct replica *join(struct sim_world *w)
{
	struct leader_service_spec s = {.service = LEADER_SERVICE,
					.pod_ip = "10.2.0.1",
					.node_name = "node-1",
					.agent_port = 8443,
					.media_port = 8080};
	struct replica *r = world_replica(w);

	world_wait(w, is_ready, r, 60, "the replica ready");
	controller_leader_service(r->controller, &s);
	return r;
}

static json_t *endpoint(const json_t *slice)
{
	return json_array_get(json_at(slice, "endpoints"), 0);
}

static bool names(const struct replica *r, bool ready)
{
	OWN_JSON o = cluster_get(&r->world->host, SLICE);

	return str_eq(json_str_at(endpoint(o), "targetRef", "name"), r->name) &&
	       json_true_at(endpoint(o), "conditions", "ready") == ready;
}

static bool leads_to(void *arg)
{
	const struct replica *r = arg;

	return world_leader(r->world) == r && names(r, true);
}

static void on_stopped(void *arg)
{
	*(bool *)arg = true;
}

static bool is_set(void *arg)
{
	return *(bool *)arg;
}

static void the_service_follows_the_leader(void **state)
{
	struct sim_world w;
	struct replica *first, *second, *third;
	bool stopped = false;

	(void)state;
	world_start(&w, 91, 0);
	world_apply(&w, kind);
	first = join(&w);
	world_wait(&w, leads_to, first, TAKEOVER_S, "the first in the slice");
	second = join(&w);
	world_kill(first);
	world_wait(&w, leads_to, second, TAKEOVER_S, "the second in the slice");

	/* The second is cut off; the third leads; the second is connected again and follows. */
	third = join(&w);
	world_cut(second, true);
	world_wait(&w, leads_to, third, TAKEOVER_S, "the third in the slice");
	world_cut(second, false);
	world_run(&w, 5 * LEADER_SERVICE_MS);
	assert_true(leads_to(third));

	/* A replica that stops withdraws its endpoint before another replica leads. */
	world_kill(second);
	controller_stop(third->controller, on_stopped, &stopped);
	world_wait(&w, is_set, &stopped, 30, "the third stopped");
	assert_true(names(third, false));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_service_follows_the_leader),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
