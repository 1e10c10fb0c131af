#include "tests/unit/testing.h"

#include <string.h>
#include "api/machine.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

/* Elastic machines: launched for a claim and ended with it, whatever is lost in between. */
struct scene {
	struct sim_world w;
	struct sky sky;
};

static void start(struct scene *s, uint64_t seed, const char *nodes)
{
	world_start(&s->w, seed, 0);
	sky_start(&s->sky, &s->w, nodes);
	world_replica(&s->w);
}

static void stop(struct scene *s)
{
	sky_stop(&s->sky);
	world_stop(&s->w);
}

static bool nothing_alive(void *arg)
{
	struct scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud) &&
	       !store_count(s->w.host.store, "machines.drover.dev/") &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

static void release(struct scene *s)
{
	world_delete_pod(&s->w, &s->w.tenants[0], "train");
}

static void a_pod_is_served_by_an_instance_that_goes_when_it_has_gone(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7101, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_int_equal(store_count(s->w.host.store, "machines.drover.dev/"), 1);
	release(s);
	world_wait(&s->w, nothing_alive, s, 3600, "instance, Machine and claim are gone");
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_int_equal(store_count(s->w.tenants[0].store, "nodes/"), 0);
	stop(s);
	free(s);
}

static bool is_released(const json_t *o, void *arg)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		*(bool *)arg |= str_eq(json_str_at(c, "type"), "PoweredOff") &&
				str_eq(json_str_at(c, "status"), "True") &&
				str_eq(json_str_at(c, "reason"), "Terminated") &&
				str_eq(json_str_at(c, "message"), MACHINE_RELEASED);
	return true;
}

static bool claim_released(void *arg)
{
	struct scene *s = arg;
	bool released = false;

	cluster_each(&s->w.host, "nodeclaims.drover.dev/", is_released, &released);
	return released;
}

static bool on_event(const json_t *o, void *arg)
{
	unsigned *n = arg;

	*n += str_eq(json_str_at(o, "reason"), "Terminated") &&
	      str_eq(json_str_at(o, "involvedObject", "kind"), "NodeClaim") &&
	      str_eq(json_str_at(o, "message"),
		     "instance i-1 of provider sky is terminated: " MACHINE_RELEASED);
	return true;
}

static bool on_segment(const json_t *o, void *arg)
{
	unsigned *n = arg;
	json_t *e;
	size_t i;

	json_array_foreach (json_at(o, "spec", "entries"), i, e)
		*n += str_eq(json_str_at(e, "kind"), "Machine") &&
		      str_eq(json_str_at(e, "event"), "Deleted") &&
		      str_eq(json_str_at(e, "why"), "instance i-1: " MACHINE_RELEASED);
	return true;
}

/* The cloud's disks are not wiped, and nothing may read as if they were. */
static void the_end_of_an_instance_is_reported_as_no_wipe(void **state)
{
	struct scene *s = mem_new(struct scene);
	unsigned events = 0, entries = 0;

	(void)state;
	start(s, 7118, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	release(s);
	world_wait(&s->w, claim_released, s, 3600, "the claim reports the release");
	world_wait(&s->w, nothing_alive, s, 3600, "instance, Machine and claim are gone");
	world_run(&s->w, 5000);
	cluster_each(&s->w.host, "events/", on_event, &events);
	assert_int_equal(events, 1);
	cluster_each(&s->w.host, "auditsegments.drover.dev/", on_segment, &entries);
	assert_int_equal(entries, 1);
	assert_int_equal(store_count(s->w.host.store, "wiperecords.drover.dev/"), 0);
	stop(s);
	free(s);
}

/* Waits for the pod, and releases the instance. */
static void go_on(struct scene *s, unsigned launched)
{
	world_wait_running(&s->w, &s->w.tenants[0], "train", 3600);
	release(s);
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	assert_int_equal(s->sky.cloud.launched, launched);
}

/* Serves a pod and releases the instance. sky_wrong() checks after each event that no claim has two
 * instances. */
static void go_round(struct scene *s, unsigned launched)
{
	world_pod(&s->w, &s->w.tenants[0], "train");
	go_on(s, launched);
}

static void a_lost_reply_launches_nothing_twice(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7102, "3");
	s->sky.cloud.lose_launches = 1;
	s->sky.cloud.lose_ends = 1;
	s->sky.cloud.visible_ms = 8000;
	go_round(s, 1);
	stop(s);
	free(s);
}

static void a_cloud_without_tokens_is_listed_before_it_is_asked_again(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7111, "3");
	s->sky.cloud.no_tokens = true;
	s->sky.cloud.lose_launches = 1;
	go_round(s, 1);
	stop(s);
	free(s);
}

static void without_capacity_another_zone_is_asked(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7103, "3");
	s->sky.cloud.zones[0].capacity = 0;
	go_round(s, 1);
	assert_string_equal(
		list_entry(s->sky.cloud.instances.next, struct fake_instance, link)->zone, "b");
	assert_int_equal(s->sky.cloud.asked, 2);
	stop(s);
	free(s);
}

static bool condition_says(void *arg)
{
	struct scene *s = arg;
	OWN_JSON o = cluster_get(&s->w.host, "providers.drover.dev/sky");
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Offering"))
			return str_eq(json_str_at(c, "reason"), "NoOffer");
	return false;
}

static bool claim_says(const json_t *o, void *arg)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		*(bool *)arg |= str_eq(json_str_at(c, "type"), "Launched") &&
				str_eq(json_str_at(c, "reason"), "NoOffer") &&
				strstr(str_or(json_str_at(c, "message"), ""), "provider sky: ");
	return true;
}

static bool told_no_offer(const json_t *o, void *arg)
{
	if (strstr(str_or(json_str_at(o, "message"), ""),
		   "NoOffer: provider sky has no instance of type gpu-8 to offer now"))
		*(bool *)arg = true;
	return true;
}

/* The cloud has no other offer, so the cause is reported on pod, claim and Provider. */
static void what_a_cloud_refuses_reaches_pod_claim_and_provider(void **state)
{
	struct scene *s = mem_new(struct scene);
	bool claim = false, pod = false;

	(void)state;
	start(s, 7115, "3");
	for (size_t i = 0; i < 2; i++)
		s->sky.cloud.zones[i].capacity = 0;
	world_pod(&s->w, &s->w.tenants[0], "train");
	/* The second launch follows at least 90 s after the first. */
	for (int i = 0; i < 40; i++) {
		world_run(&s->w, 5000);
		cluster_each(&s->w.host, "nodeclaims.drover.dev/", claim_says, &claim);
	}
	cluster_each(&s->w.tenants[0], "events/", told_no_offer, &pod);
	assert_true(claim);
	assert_true(pod);
	assert_true(condition_says(s));
	stop(s);
	free(s);
}

/* The cloud's pool comes first, and the cloud has no capacity left. */
static void without_any_offer_another_pool_serves(void **state)
{
	struct scene *s = mem_new(struct scene);
	OWN_JSON pool = NULL;

	(void)state;
	world_start(&s->w, 7114, 1);
	pool = cluster_get(&s->w.host, "nodepools.drover.dev/gpus");
	json_object_set_new(pool, "metadata", json_pack("{s:s}", "name", "owned"));
	json_object_del(pool, "status");
	json_object_set_new(json_object_get(pool, "spec"), "weight", json_integer(1));
	world_do(&s->w, &s->w.host, "POST", "/apis/drover.dev/v1alpha1/nodepools",
		 json_incref(pool));
	sky_start(&s->sky, &s->w, "3");
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:i, s:{s:{s:[{s:s}]}}}}", "spec", "weight", 90, "template", "spec",
			   "providerRefs", "name", "sky"));
	for (size_t i = 0; i < 2; i++)
		s->sky.cloud.zones[i].capacity = 0;
	world_replica(&s->w);
	world_wait_state(&s->w.servers[0], "free", 1800);
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait(&s->w, condition_says, s, 600, "the Provider says what the cloud refuses");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 900);
	assert_int_equal(s->sky.cloud.launched, 0);
	stop(s);
	free(s);
}

static void what_dies_before_it_runs_is_launched_anew_for_another_claim(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7104, "3");
	s->sky.cloud.dying = 1;
	go_round(s, 2);
	stop(s);
	free(s);
}

static bool on_late(const json_t *o, void *arg)
{
	*(bool *)arg |= str_eq(json_str_at(o, "reason"), "JoinTimeout") &&
			strstr(str_or(json_str_at(o, "message"), ""),
			       "booting did not finish in time: its cloud lists it as Pending");
	return true;
}

static bool told_late(void *arg)
{
	struct scene *s = arg;
	bool late = false;

	cluster_each(&s->w.host, "events/", on_late, &late);
	return late;
}

/* Bare metal may boot for longer than the pool allows. */
static void what_boots_too_slowly_is_replaced_and_says_what_the_cloud_lists(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7119, "3");
	s->sky.cloud.boot_ms = (int64_t)2 * 3600 * 1000;
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait(&s->w, told_late, s, 3600, "the event about the deadline");
	s->sky.cloud.boot_ms = 20000;
	go_on(s, 2);
	stop(s);
	free(s);
}

/* The cloud does not terminate such an instance by itself. */
static void what_stops_before_it_runs_is_terminated(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7116, "3");
	s->sky.cloud.stopping = 1;
	go_round(s, 2);
	stop(s);
	free(s);
}

static void a_pool_without_a_limit_of_nodes_launches_nothing(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7105, NULL);
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_run(&s->w, 300000);
	assert_int_equal(s->sky.cloud.asked, 0);
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 0);
	stop(s);
	free(s);
}

static void a_free_machine_comes_before_any_instance(void **state)
{
	struct scene *s = mem_new(struct scene);
	OWN_JSON refs = NULL;

	(void)state;
	world_start(&s->w, 7112, 1);
	sky_start(&s->sky, &s->w, "3");
	refs = json_pack("{s:{s:{s:{s:[{s:s}, {s:s}]}}}}", "spec", "template", "spec",
			 "providerRefs", "name", "sky", "name", "rack");
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_incref(refs));
	world_replica(&s->w);
	world_wait_state(&s->w.servers[0], "free", 1800);
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	assert_int_equal(s->sky.cloud.asked, 0);
	world_pod(&s->w, &s->w.tenants[0], "second");
	world_wait_running(&s->w, &s->w.tenants[0], "second", 1200);
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
	free(s);
}

static void an_instance_that_the_cloud_ends_gives_its_claim_up(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7106, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	fake_cloud_kill(list_entry(s->sky.cloud.instances.next, struct fake_instance, link));
	world_wait(&s->w, nothing_alive, s, 1200, "Machine and claim are gone");
	stop(s);
	free(s);
}

/* The program reports a time in the future, for example because its clock is wrong. */
static void what_is_at_risk_is_drained_once(void **state)
{
	struct scene *s = mem_new(struct scene);
	struct fake_instance *i;

	(void)state;
	start(s, 7129, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	leaving_patch_pod(&s->w, "train",
			  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
				    "drover.dev/checkpoint", "30s"));
	i = list_entry(s->sky.cloud.instances.next, struct fake_instance, link);
	i->at_risk_since = loop_wall(s->w.loop) + INT64_C(10) * 60000;
	world_run(&s->w, 8 * 60000);
	assert_int_equal(leaving_events(&s->w, "Draining"), 0);
	world_run(&s->w, 8 * 60000);
	assert_true(leaving_was_told(&s->w.host, "Draining", "AtRisk"));
	assert_true(leaving_was_told(&s->w.host, "DrainWithdrawn",
				     "not all pods saved their work and left in time"));
	world_run(&s->w, 20 * 60000);
	/* One event each on the Machine and on the claim */
	assert_int_equal(leaving_events(&s->w, "Draining"), 2);
	assert_int_equal(store_count(s->w.tenants[0].store, "pods/default/train"), 1);
	stop(s);
	free(s);
}

struct at {
	struct scene *s;
	const char *state;
	bool there;
};

static bool is_in_state(const json_t *o, void *arg)
{
	struct at *a = arg;

	a->there |= str_eq(json_str_at(o, "status", "state"), a->state);
	return !a->there;
}

static bool reached(void *arg)
{
	struct at *a = arg;

	a->there = false;
	cluster_each(&a->s->w.host, "machines.drover.dev/", is_in_state, a);
	return a->there;
}

static void wait_state(struct scene *s, const char *state)
{
	struct at a = {.s = s, .state = state};

	world_wait(&s->w, reached, &a, 3600, state);
}

/* A termination that fails is retried, and the claim stays until then. */
static void a_cloud_that_is_away_quarantines_and_is_asked_again(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7113, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	release(s);
	wait_state(s, "draining");
	s->sky.cloud.deaf = true;
	wait_state(s, "quarantined");
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 1);
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 1);
	s->sky.cloud.deaf = false;
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	stop(s);
	free(s);
}

/* Leaders die in each state: once when the machine enters the state, and once later_ms after that,
 * with a call in flight. */
static void kills(uint64_t seed, int64_t later_ms)
{
	static const char *const coming[] = {"claimed", "booting", "joining", "gating", "serving"};
	static const char *const going[] = {"draining", "stopping", "leaving"};
	struct scene *s = mem_new(struct scene);

	start(s, seed, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	for (size_t i = 0; i < sizeof(coming) / sizeof(*coming); i++) {
		wait_state(s, coming[i]);
		world_run(&s->w, later_ms);
		world_kill(&s->w.replicas[s->w.nreplicas - 1]);
		world_replica(&s->w);
	}
	world_wait_running(&s->w, &s->w.tenants[0], "train", 3600);
	release(s);
	for (size_t i = 0; i < sizeof(going) / sizeof(*going); i++) {
		wait_state(s, going[i]);
		world_kill(&s->w.replicas[s->w.nreplicas - 1]);
		world_replica(&s->w);
	}
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
	free(s);
}

static void leaders_that_die_in_each_state_lose_and_double_nothing(void **state)
{
	(void)state;
	kills(7107, 0);
	kills(7108, 60);
}

static bool was_launched(void *arg)
{
	return ((struct scene *)arg)->sky.cloud.launched > 0;
}

static bool was_ended(void *arg)
{
	return ((struct scene *)arg)->sky.cloud.terminations > 0;
}

/* The leader dies after an effect in the cloud and before the reply: once at the launch, of which
 * the cloud's list shows no instance yet, and once at the termination. */
static void a_leader_that_dies_before_it_hears_launches_nothing_twice(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7114, "3");
	s->sky.cloud.visible_ms = 40000;
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait(&s->w, was_launched, s, 1200, "the launch");
	world_kill(&s->w.replicas[0]);
	world_replica(&s->w);
	world_wait_running(&s->w, &s->w.tenants[0], "train", 3600);
	release(s);
	world_wait(&s->w, was_ended, s, 3600, "the end");
	world_kill(&s->w.replicas[1]);
	world_replica(&s->w);
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
	free(s);
}

/* This cloud knows no launch tokens, so a repeated launch would create a second instance. */
static void a_new_leader_lists_a_cloud_without_tokens_before_it_launches(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7115, "3");
	s->sky.cloud.no_tokens = true;
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait(&s->w, was_launched, s, 1200, "the launch");
	world_kill(&s->w.replicas[0]);
	world_replica(&s->w);
	world_wait_running(&s->w, &s->w.tenants[0], "train", 3600);
	release(s);
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
	free(s);
}

/* Claim, Machine and their status are deleted by force; the billed instance is found by its tag.
 * stopped: the instance has stopped meanwhile. */
static void lose(uint64_t seed, bool stopped)
{
	static const char *const kinds[] = {"machines", "nodeclaims"};
	struct scene *s = mem_new(struct scene);
	char node[300];

	start(s, seed, "3");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	world_kill(&s->w.replicas[s->w.nreplicas - 1]);
	str_format(node, sizeof(node), "/api/v1/nodes/%s", sky_name(&s->sky));
	for (size_t i = 0; i < 2; i++) {
		OWN(arena) a = arena_new();
		const char *name = sky_name(&s->sky), *path;

		path = arena_printf(a, "/apis/drover.dev/v1alpha1/%s/%s", kinds[i], name);
		world_do(&s->w, &s->w.host, "PATCH", path,
			 json_pack("{s:{s:n}}", "metadata", "finalizers"));
		world_do(&s->w, &s->w.host, "DELETE", path, NULL);
	}
	world_delete_pod(&s->w, &s->w.tenants[0], "train");
	list_entry(s->sky.cloud.instances.next, struct fake_instance, link)->ending = stopped;
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 1);
	world_replica(&s->w);
	world_wait(&s->w, nothing_alive, s, SKY_ORPHAN_MS / 1000, "the orphan is ended");
	/* Drover no longer knows whose Node it was; an operator has to delete it. */
	world_do(&s->w, &s->w.tenants[0], "DELETE", node, NULL);
	stop(s);
	free(s);
}

static void what_was_lost_is_found_by_tag_and_ended(void **state)
{
	(void)state;
	lose(7109, false);
	lose(7117, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_is_served_by_an_instance_that_goes_when_it_has_gone),
		cmocka_unit_test(the_end_of_an_instance_is_reported_as_no_wipe),
		cmocka_unit_test(a_lost_reply_launches_nothing_twice),
		cmocka_unit_test(a_cloud_without_tokens_is_listed_before_it_is_asked_again),
		cmocka_unit_test(without_capacity_another_zone_is_asked),
		cmocka_unit_test(what_a_cloud_refuses_reaches_pod_claim_and_provider),
		cmocka_unit_test(without_any_offer_another_pool_serves),
		cmocka_unit_test(what_dies_before_it_runs_is_launched_anew_for_another_claim),
		cmocka_unit_test(what_boots_too_slowly_is_replaced_and_says_what_the_cloud_lists),
		cmocka_unit_test(what_stops_before_it_runs_is_terminated),
		cmocka_unit_test(a_pool_without_a_limit_of_nodes_launches_nothing),
		cmocka_unit_test(a_free_machine_comes_before_any_instance),
		cmocka_unit_test(an_instance_that_the_cloud_ends_gives_its_claim_up),
		cmocka_unit_test(what_is_at_risk_is_drained_once),
		cmocka_unit_test(a_cloud_that_is_away_quarantines_and_is_asked_again),
		cmocka_unit_test(leaders_that_die_in_each_state_lose_and_double_nothing),
		cmocka_unit_test(a_leader_that_dies_before_it_hears_launches_nothing_twice),
		cmocka_unit_test(a_new_leader_lists_a_cloud_without_tokens_before_it_launches),
		cmocka_unit_test(what_was_lost_is_found_by_tag_and_ended),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
