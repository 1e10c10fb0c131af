/* A ProvisioningRequest provides machines for pods that do not exist yet, and reports its
 * progress. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/requests.h"

#define ATOMIC REQUESTS_ATOMIC
#define CHECK REQUESTS_CHECK
#define QUEUED REQUESTS_QUEUED

static void begin(struct sim_world *w, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	requests_serve(w, &w->tenants[0], "8");
	world_replica(w);
	world_wait_all(w, "free", 1800);
}

static void ask(struct sim_world *w, const char *name, const char *class_, int count,
		json_t *parameters)
{
	requests_ask(w, &w->tenants[0], name, class_, count, parameters);
}

static void drop(struct sim_world *w, const char *name)
{
	char path[160];

	str_format(path, sizeof(path), REQUESTS_PATH "/%s", name);
	world_do(w, &w->tenants[0], "DELETE", path, NULL);
}

/* Creates a pod; request: the ProvisioningRequest that it consumes, NULL: none. Takes ownership of
 * spec. */
static void add_pod(struct sim_world *w, const char *request, const char *name, json_t *spec)
{
	json_t *notes = json_object();

	if (request)
		json_object_set_new(notes, "autoscaling.x-k8s.io/consume-provisioning-request",
				    json_string(request));
	world_do(w, &w->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:o},s:o}", "apiVersion", "v1", "kind", "Pod",
			   "metadata", "name", name, "annotations", notes, "spec", spec));
}

static void consume(struct sim_world *w, const char *request, const char *name)
{
	add_pod(w, request, name, requests_pod_spec("8"));
}

struct look {
	struct sim_world *w;
	const char *name, *type, *has;
	char text[400];
};

/* Writes the request's condition to l->text, for example "True Accepted: ..."; "": no such
 * condition. True if l->text contains l->has; has NULL: if the condition exists. */
static bool has(void *arg)
{
	struct look *l = arg;
	char key[160];
	OWN_JSON o = NULL;
	json_t *c;
	size_t i;

	str_format(key, sizeof(key), "provisioningrequests.autoscaling.x-k8s.io/default/%s",
		   l->name);
	o = cluster_get(&l->w->tenants[0], key);
	l->text[0] = '\0';
	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), l->type))
			str_format(l->text, sizeof(l->text), "%s %s: %s", json_str_at(c, "status"),
				   json_str_at(c, "reason"), json_str_at(c, "message"));
	return l->has ? strstr(l->text, l->has) != NULL : l->text[0] != '\0';
}

static void wait_for(struct sim_world *w, const char *name, const char *type, const char *text,
		     int64_t limit_s)
{
	struct look l = {.w = w, .name = name, .type = type, .has = text};
	char what[600];

	str_format(what, sizeof(what), "%s of %s to have \"%s\"", type, name, text);
	world_wait(w, has, &l, limit_s, what);
}

static bool is_said(struct sim_world *w, const char *name, const char *type, const char *text)
{
	struct look l = {.w = w, .name = name, .type = type, .has = text};

	return has(&l);
}

static bool count_one(const json_t *o, void *arg)
{
	(void)o;
	++*(unsigned *)arg;
	return true;
}

static unsigned claims(struct sim_world *w)
{
	unsigned n = 0;

	cluster_each(&w->host, "nodeclaims.drover.dev/", count_one, &n);
	return n;
}

static void an_atomic_request_brings_all_its_machines_and_its_pods_take_them(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 901, 3);
	ask(&w, "train", ATOMIC, 2, NULL);
	wait_for(&w, "train", "Accepted", "True Accepted", 60);
	wait_for(&w, "train", "Provisioned", "False Nominated", 60);
	world_run(&w, 5000);
	assert_int_equal(claims(&w), 2);
	consume(&w, "train", "early"); /* the request already accounts for this pod's demand */
	wait_for(&w, "train", "Provisioned", "True CapacityIsProvisioned", 1800);
	assert_int_equal(claims(&w), 2);
	consume(&w, "train", "late");
	world_wait_running(&w, &w.tenants[0], "early", 60);
	world_wait_running(&w, &w.tenants[0], "late", 60);
	world_run(&w, 60000);
	assert_int_equal(claims(&w), 2);
	world_stop(&w);
}

/* The pool releases empty Nodes after a minute. The Nodes of a request stay although they have no
 * pods yet. */
static void its_nodes_stay_until_the_booking_ends(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 906, 2);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
		 json_pack("{s:{s:{s:s}}}", "spec", "disruption", "consolidateAfter", "60s"));
	ask(&w, "train", QUEUED, 2, NULL);
	wait_for(&w, "train", "Provisioned", "True CapacityIsProvisioned", 1800);
	add_pod(&w, NULL, "too-big",
		requests_pod_spec("64")); /* no Node fits; kube-scheduler keeps trying */
	world_run(&w, 500000);
	assert_int_equal(claims(&w), 2);
	wait_for(&w, "train", "BookingExpired", "True CapacityReservationTimeExpired", 120);
	world_run(&w, 40000);
	for (unsigned i = 0; i < 2; i++)
		/* consolidateAfter counts from the end of the booking. */
		assert_string_equal(w.servers[i].state, "serving");
	world_wait_all(&w, "free", 7200);
	world_stop(&w);
}

static void a_deleted_request_gives_its_machines_back_at_once(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 902, 3);
	ask(&w, "booked", QUEUED, 1, NULL);
	wait_for(&w, "booked", "Provisioned", "True", 1800);
	ask(&w, "train", QUEUED, 2, NULL);
	wait_for(&w, "train", "Provisioned", "False Nominated: ", 60);
	world_run(&w, 5000);
	assert_int_equal(claims(&w), 3);
	drop(&w, "train");
	world_run(&w, 120000);
	assert_int_equal(claims(&w), 1);
	world_stop(&w);
}

static void what_is_booked_buys_nothing(void **state)
{
	struct sim_world w;
	struct server *b = NULL;

	(void)state;
	begin(&w, 907, 2);
	ask(&w, "train", ATOMIC, 1, NULL);
	wait_for(&w, "train", "Provisioned", "True", 1800);
	for (unsigned i = 0; i < 2; i++)
		if (str_eq(w.servers[i].state, "serving"))
			b = &w.servers[i];
	assert_non_null(b);
	world_release(b);
	world_run(&w, 60000);
	assert_true(claims(&w) <= 1);
	assert_string_equal(w.servers[b == &w.servers[0]].state, "free");
	consume(&w, "train", "a"); /* pods that come now are served */
	world_wait_running(&w, &w.tenants[0], "a", 1800);
	world_stop(&w);
}

static void what_is_too_large_waits_with_numbers_or_fails(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 903, 2);
	ask(&w, "queued", QUEUED, 3, NULL);
	ask(&w, "atomic", ATOMIC, 4, json_pack("{s:s}", "ValidUntilSeconds", "120"));
	ask(&w, "huge", QUEUED, 5000, NULL);
	ask(&w, "strange", ATOMIC, 1, json_pack("{s:s}", "maxRunDuration", "5"));
	wait_for(&w, "queued", "Provisioned", "False GangNotWhole: place ", 60);
	assert_true(is_said(&w, "queued", "Provisioned", "room for 2 of 3 pods"));
	wait_for(&w, "huge", "Failed", "True TooBig: podSets[0] wants 5000 pods", 60);
	wait_for(&w, "strange", "Failed", "True ParameterNotSupported: parameter maxRunDuration",
		 60);
	wait_for(&w, "atomic", "Failed", "True GangNotWhole: not served within 120 s", 150);
	assert_true(is_said(&w, "atomic", "Failed", "of 4 pods"));
	assert_false(is_said(&w, "queued", "Failed", NULL));
	assert_int_equal(claims(&w), 0);
	world_stop(&w);
}

static void a_check_opens_nothing_and_keeps_room_for_a_while(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 904, 2);
	ask(&w, "nodes", CHECK, 1, NULL);
	ask(&w, "once", CHECK, 1, json_pack("{s:s}", "noRetry", "true"));
	wait_for(&w, "nodes", "Provisioned", "False CapacityIsNotFound: gang default/", 60);
	assert_true(is_said(&w, "nodes", "Provisioned", "room for 0 of 1 pods"));
	wait_for(&w, "once", "Failed", "True CapacityIsNotFound", 60);
	ask(&w, "machines", CHECK, 2, json_pack("{s:s}", "drover.dev/free-machines", "true"));
	wait_for(&w, "machines", "Provisioned", "True CapacityIsFound", 60);
	world_run(&w, 30000);
	assert_int_equal(claims(&w), 0);
	consume(&w, "machines", "train"); /* the consuming pod makes drover create the claim */
	world_wait_running(&w, &w.tenants[0], "train", 1200);
	assert_int_equal(claims(&w), 1);
	wait_for(&w, "machines", "BookingExpired", "True CapacityReservationTimeExpired", 660);
	world_delete_pod(&w, &w.tenants[0], "train");
	wait_for(&w, "nodes", "Provisioned", "True CapacityIsFound", 120);
	wait_for(&w, "nodes", "BookingExpired", "True CapacityReservationTimeExpired", 660);
	world_stop(&w);
}

static void another_leader_repeats_nothing(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 905, 3);
	ask(&w, "train", QUEUED, 2, NULL);
	wait_for(&w, "train", "Provisioned", "False Nominated", 60);
	world_replica(&w);
	world_run(&w, 5000);
	world_kill(world_leader(&w));
	wait_for(&w, "train", "Provisioned", "True CapacityIsProvisioned", 1800);
	assert_int_equal(claims(&w), 2);
	world_kill(world_leader(&w));
	world_replica(&w);
	consume(&w, "train", "a");
	consume(&w, "train", "b");
	world_wait_running(&w, &w.tenants[0], "a", 120);
	world_wait_running(&w, &w.tenants[0], "b", 120);
	world_run(&w, 60000);
	assert_int_equal(claims(&w), 2);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_atomic_request_brings_all_its_machines_and_its_pods_take_them),
		cmocka_unit_test(its_nodes_stay_until_the_booking_ends),
		cmocka_unit_test(a_deleted_request_gives_its_machines_back_at_once),
		cmocka_unit_test(what_is_booked_buys_nothing),
		cmocka_unit_test(what_is_too_large_waits_with_numbers_or_fails),
		cmocka_unit_test(a_check_opens_nothing_and_keeps_room_for_a_while),
		cmocka_unit_test(another_leader_repeats_nothing),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
