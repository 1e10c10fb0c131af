/* What a new leader does before its first act at a BMC. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/list.h"
#include "base/str.h"
#include "tests/world/world.h"

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller"
#define CALL_MS 15000 /* time limit of a request to a BMC */

/* The requests of one caller to a BMC until its first act. The address of the caller's transport
 * identifies the caller. */
struct followed {
	struct sim_world *w;
	const char *name;
	unsigned looks, deleted;
	/* loop_now() of the first act; 0: none yet. */
	int64_t acted_at;
};

static bool note(struct httpd_req *q, unsigned n, void *arg)
{
	struct followed *f = arg;
	const char *method = httpd_method(q);
	bool session = strstr(httpd_path(q), "Sessions") != NULL;

	(void)n;
	if (f->acted_at || !f->name || !str_starts(httpd_identity(q)->address, f->name))
		return false;
	if (str_eq(method, "GET"))
		f->looks += strstr(httpd_path(q), "Systems/") && !strstr(httpd_path(q), "Media");
	else if (session)
		f->deleted += str_eq(method, "DELETE");
	else
		f->acted_at = loop_now(f->w->loop);
	return false;
}

static bool has_acted(void *arg)
{
	return ((struct followed *)arg)->acted_at != 0;
}

static bool powers_on(void *arg)
{
	return str_eq(world_at(arg, "status.operation.step"), "power-on");
}

/* Kills the leader when the journal names a power-on, and deletes its Lease so that the next leader
 * does not wait for it to expire. Returns the time when the next replica was started. */
static int64_t killed_at_power_on(struct sim_world *w, struct followed *f, bool basic)
{
	struct server *b = &w->servers[0];
	struct replica *next;

	world_start(w, 41, 1);
	b->bmc.basic_only = basic;
	b->bmc.tamper = note;
	b->bmc.tamper_arg = f;
	*f = (struct followed){.w = w};
	world_replica(w);
	world_wait(w, powers_on, b, 60, "power-on in the journal");
	world_kill(&w->replicas[0]);
	world_do(w, &w->host, "DELETE", LEASE, NULL);
	next = world_replica(w);
	f->name = next->name;
	return loop_now(w->loop);
}

static void a_follower_ends_the_session_and_looks_twice_before_it_acts(void **state)
{
	struct sim_world w;
	struct followed f;
	int64_t began = killed_at_power_on(&w, &f, false);

	(void)state;
	world_wait(&w, has_acted, &f, 60, "an act of the next leader");
	assert_true(f.looks >= 3); /* the login reads the System once; two reads follow */
	assert_int_equal(f.deleted, 1);
	/* The new leader does not wait for the time limit of the old leader's call: the old session
	 * was ended, so that call cannot take effect. */
	assert_true(f.acted_at - began < CALL_MS);
	world_wait_state(&w.servers[0], "free", 300);
	world_settle(&w);
	world_stop(&w);
}

static void without_sessions_a_follower_waits_out_the_call_that_was_begun(void **state)
{
	struct sim_world w;
	struct followed f;
	int64_t began = killed_at_power_on(&w, &f, true);

	(void)state;
	world_wait(&w, has_acted, &f, 60, "an act of the next leader");
	assert_true(f.looks >= 3); /* the login reads the System once; two reads follow */
	assert_true(f.acted_at - began >= CALL_MS);
	assert_true(f.acted_at - began < CALL_MS + 5000);
	world_wait_state(&w.servers[0], "free", 300);
	world_settle(&w);
	world_stop(&w);
}

static bool orders_inspection(void *arg)
{
	return str_eq(world_at(arg, "status.operation.step"), "order inspect");
}

/* In state inspecting, the first request of a new leader to the BMC lists the drives. Its login is
 * recorded in the journal before, so that the next leader can end that session. */
static void a_login_is_in_the_journal_before_drives_are_listed(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	world_start(&w, 43, 1);
	b = &w.servers[0];
	b->bmc.storage_fails = true;
	world_replica(&w);
	world_wait(&w, orders_inspection, b, 900, "the order to inspect");
	for (int i = 0; i < 3; i++) {
		world_kill(&w.replicas[i]);
		world_do(&w, &w.host, "DELETE", LEASE, NULL);
		world_replica(&w);
		world_run(&w, 2500);
		assert_string_equal(b->state, "inspecting");
		assert_int_equal(fake_bmc_sessions(&b->bmc), 1);
	}
	world_wait_state(b, "free", 900);
	assert_int_equal(fake_bmc_sessions(&b->bmc), 1);
	world_settle(&w);
	world_stop(&w);
}

struct leads {
	struct sim_world *w;
	struct replica *who;
};

static bool it_leads(void *arg)
{
	const struct leads *l = arg;

	return world_leader(l->w) == l->who;
}

/* The first leader leads again. Its own login is older than that of the second leader, so it has to
 * look up which session was opened last. */
static void a_leader_that_leads_again_ends_the_session_of_whoever_led_meanwhile(void **state)
{
	struct sim_world w;
	struct leads first, second;

	(void)state;
	world_start(&w, 42, 1);
	first = (struct leads){&w, world_replica(&w)};
	world_wait_state(&w.servers[0], "free", 300);
	second = (struct leads){&w, world_replica(&w)};
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "claimed", 60);
	world_cut(first.who, true);
	world_wait(&w, it_leads, &second, 60, "the second leads");
	world_wait_running(&w, &w.tenants[0], "train", 300);
	world_cut(first.who, false);
	world_cut(second.who, true);
	world_wait(&w, it_leads, &first, 60, "the first leads again");
	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "dirty", 300);
	assert_int_equal(fake_bmc_sessions(&w.servers[0].bmc), 1);
	world_settle(&w);
	world_stop(&w);
}

/* --- moves of the port ------------------------------------------------------------------------ */

static bool attaches(void *arg)
{
	return str_eq(world_at(arg, "status.operation.step"), "place tenant/team-a");
}

/* Lets the leader begin the move into team-a's segment; the fabric carries the move out 30 s
 * later. */
static struct server *moving(struct sim_world *w, uint64_t seed)
{
	struct server *b = &w->servers[0];

	world_start(w, seed, 1);
	world_replica(w);
	world_wait_state(b, "free", 300);
	world_pod(w, &w->tenants[0], "train");
	w->port_lands_ms = 30000;
	b->wipe_ms = 30000;
	world_wait_state(b, "attaching", 900);
	world_wait(w, attaches, b, 300, "the move in the journal");
	world_run(w, 1000);
	assert_string_equal(b->segment, "provisioning");
	w->port_lands_ms = 0;
	return b;
}

static void replace_leader(struct sim_world *w)
{
	world_kill(&w->replicas[0]);
	world_do(w, &w->host, "DELETE", LEASE, NULL);
	world_replica(w);
}

static void a_move_of_the_leader_before_lands_before_anything_is_booted(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	for (int early = 0; early < 2; early++) {
		/* With early == 1, the first leader also leaves the state before it is replaced. */
		b = moving(&w, 43 + (unsigned)early);
		world_delete_pod(&w, &w.tenants[0], "train");
		if (early) {
			world_release(b);
			world_wait_state(b, "stopping", 60);
			assert_string_equal(world_at(b, "status.operation.step"),
					    "place tenant/team-a");
		}
		replace_leader(&w);
		if (!early)
			world_release(b);
		world_wait_state(b, "inspecting", 900); /* the invariants check agent and port */
		assert_string_equal(b->segment, "quarantine");
		world_wait_state(b, "free", 900);
		world_settle(&w);
		world_stop(&w);
	}
}

static void a_move_to_where_it_is_wanted_is_not_waited_out(void **state)
{
	struct sim_world w;
	struct server *b = moving(&w, 45);
	int64_t began = loop_now(w.loop);

	(void)state;
	replace_leader(&w);
	world_wait_state(b, "booting", 300);
	assert_true(loop_now(w.loop) - began < 50000);
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_settle(&w);
	world_stop(&w);
}

/* A move in progress at the fabric takes effect whatever happens to the BMC. So its journal entry
 * must not be overwritten by that of a new login. */
static void a_new_login_forgets_no_move(void **state)
{
	struct sim_world w;
	struct server *b = moving(&w, 46);

	(void)state;
	world_delete_pod(&w, &w.tenants[0], "train");
	b->no_kubelet = true;
	server_power(b, true); /* by hand: drover has to switch it off again */
	world_patch_machine(
		b, json_pack("{s:{s:{s:s}}}", "bmc", "credentialsSecretRef", "name", "bmc"));
	world_release(b);
	world_wait_state(b, "stopping", 60);
	world_run(&w, 10000);
	assert_string_equal(world_at(b, "status.operation.step"), "place tenant/team-a");
	assert_string_equal(b->segment, "provisioning");
	world_wait_state(b, "inspecting", 900);
	assert_string_equal(b->segment, "quarantine");
	world_settle(&w);
	world_stop(&w);
}

/* The Provider's command changes during a move. The new process moves the ports from now on and
 * does not know of that move. */
static void another_fabric_waits_for_the_move_of_the_one_before(void **state)
{
	struct sim_world w;
	struct server *b = moving(&w, 47);

	(void)state;
	world_delete_pod(&w, &w.tenants[0], "train");
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:{s:{s:[s,s]}}}}", "spec", "network", "exec", "command",
			   "/world/port-move", "--again"));
	world_release(b);
	world_wait_state(b, "inspecting", 900);
	assert_string_equal(b->segment, "quarantine");
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static bool asks_its_fabric(void *arg)
{
	const struct sim_world *w = arg;

	return !list_empty(&w->fabric_answers);
}

/* The old Provider's fabric has not answered yet when the Machine gets a different Provider and is
 * then deleted. The memory of the waiting call must stay valid until the answer arrives. */
static void another_provider_waits_for_the_answer_of_the_old_fabric(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	json_t *o;

	(void)state;
	world_start(&w, 77, 1);
	w.fabric_ms = 10000;
	o = cluster_get(&w.host, "providers.drover.dev/rack");
	world_do(&w, &w.host, "POST", "/apis/" OBJECT_API_VERSION "/providers",
		 json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", OBJECT_API_VERSION, "kind",
			   "Provider", "metadata", "name", "other", "spec", json_at(o, "spec")));
	json_decref(o);
	world_replica(&w);
	world_wait(&w, asks_its_fabric, &w, 900, "a question to its fabric");
	world_patch_machine(b, json_pack("{s:{s:s}}", "providerRef", "name", "other"));
	world_run(&w, 1000);
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/gpu-1", NULL);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-1",
		 json_pack("{s:{s:n}}", "metadata", "finalizers"));
	world_run(&w, 60000);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_provider_waits_for_the_answer_of_the_old_fabric),
		cmocka_unit_test(a_follower_ends_the_session_and_looks_twice_before_it_acts),
		cmocka_unit_test(a_login_is_in_the_journal_before_drives_are_listed),
		cmocka_unit_test(without_sessions_a_follower_waits_out_the_call_that_was_begun),
		cmocka_unit_test(
			a_leader_that_leads_again_ends_the_session_of_whoever_led_meanwhile),
		cmocka_unit_test(a_move_of_the_leader_before_lands_before_anything_is_booted),
		cmocka_unit_test(a_move_to_where_it_is_wanted_is_not_waited_out),
		cmocka_unit_test(a_new_login_forgets_no_move),
		cmocka_unit_test(another_fabric_waits_for_the_move_of_the_one_before),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
