#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/contract/fake_netris.h"

/* Tests cases in which the Netris controller, another writer or a switch misbehaves. test_fabric.c
 * has the cases common to all fabrics. */
#define MACHINES 40
#define PUT "PUT /api/v2/server-cluster"
#define GET_ONE "GET /api/v2/server-cluster/"
#define POST "POST /api/v2/"

struct world {
	struct loop *loop;
	struct loop_group *group;
	struct fake_netris fake;
	/* Fabric of the tested drover, and that of a second drover (NULL: none) */
	struct fabric *fabric, *other;
	bool allowed;
};

struct answer {
	unsigned count;
	struct err err;
	char segment[64], why[256];
	enum fabric_proof proof;
};

static int setup(void **state)
{
	struct world *w = mem_new(struct world);
	struct fabric_spec s = {.type = "netris"};
	struct err e;

	mem_init();
	w->loop = loop_sim_new(11, 1764000000000);
	w->group = loop_group_new(w->loop, "controller");
	w->allowed = true;
	fake_netris_init(&w->fake, w->loop, w->group, MACHINES, 20, false);
	s.netris = &w->fake.config;
	s.group = w->group;
	w->fabric = fabric_new(&s, &e);
	assert_non_null(w->fabric);
	*state = w;
	return 0;
}

static void second_controller(struct world *w)
{
	struct fabric_spec s = {.type = "netris", .netris = &w->fake.config, .group = w->group};
	struct err e;

	w->other = fabric_new(&s, &e);
	assert_non_null(w->other);
}

static int teardown(void **state)
{
	struct world *w = *state;

	fabric_free(w->fabric);
	fabric_free(w->other);
	fake_netris_done(&w->fake);
	loop_group_free(w->group);
	loop_free(w->loop);
	free(w);
	return 0;
}

static void on_done(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct answer *a = arg;

	a->count++;
	if (e) {
		a->err = *e;
		assert_null(strstr(e->text, "staple"));
		assert_null(strstr(e->text, "connect.sid"));
	}
	if (p) {
		str_copy(a->segment, sizeof(a->segment), str_or(p->segment, "-"));
		str_copy(a->why, sizeof(a->why), str_or(p->why, ""));
		a->proof = p->proof;
	}
}

static struct world *may_of;
static bool may(void *arg)
{
	(void)arg;
	return may_of->allowed;
}

static bool is_answered(void *arg)
{
	return ((struct answer *)arg)->count > 0;
}

static void begin(struct world *w, struct fabric *f, unsigned machine, const char *segment,
		  struct answer *a)
{
	char name[16];
	const struct fabric_port p = {.machine = name};
	struct fabric_call c = {.op_id = "01JD", .fence = 3, .done = on_done, .arg = a};

	str_format(name, sizeof(name), "gpu-%u", machine);
	*a = (struct answer){0};
	may_of = w;
	if (segment) {
		c.may_act = may;
		fabric_place(f, &p, segment, &c);
	} else {
		fabric_observe(f, &p, &c);
	}
}

static enum err_kind place(struct world *w, unsigned machine, const char *segment, struct answer *a)
{
	begin(w, w->fabric, machine, segment, a);
	loop_sim_run_cond(w->loop, is_answered, a, loop_now(w->loop) + 61000);
	assert_int_equal(a->count, 1);
	return a->err.kind;
}

static void look(struct world *w, unsigned machine, struct answer *a)
{
	assert_int_equal(place(w, machine, NULL, a), ERR_NONE);
}

static void pass(struct world *w, int64_t ms)
{
	loop_sim_run_until(w->loop, loop_now(w->loop) + ms);
}

static void assert_in(struct world *w, const char *server, const char *cluster)
{
	const char *is = sim_netris_wanted(w->fake.sim, server);

	if (!str_eq(is, cluster))
		fail_msg("%s is in %s, not in %s", server, str_or(is, "none"),
			 str_or(cluster, "none"));
}

/* --- proofs ----------------------------------------------------------------------------------- */

static void a_proof_needs_a_switch_that_was_heard_of_since(void **state)
{
	struct world *w = *state;
	struct answer a;

	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	look(w, 1, &a);
	assert_string_equal(a.segment, "quarantine");
	assert_int_equal(a.proof, FABRIC_PROOF_NONE);
	assert_non_null(strstr(a.why, "not Active"));
	pass(w, 5000);
	look(w, 1, &a); /* This snapshot is the first that shows the complete state. */
	assert_int_equal(a.proof, FABRIC_PROOF_NONE);
	assert_non_null(strstr(a.why, "has not reported"));
	pass(w, 3000);
	look(w, 1, &a);
	assert_int_equal(a.proof, FABRIC_PROOF_WEAK);
	assert_string_equal(sim_netris_where(w->fake.sim, "gpu-1"), "quarantine");
}

static void a_dead_switch_proves_nothing(void **state)
{
	struct world *w = *state;
	struct answer a;

	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	pass(w, 5000);
	sim_netris_fault(w->fake.sim, "SwitchDead", NULL, "leaf-2", 0, 0);
	look(w, 1, &a);
	pass(w, 60000);
	look(w, 1, &a);
	assert_int_equal(a.proof, FABRIC_PROOF_NONE);
	assert_non_null(strstr(a.why, "leaf-2"));
	sim_netris_well(w->fake.sim);
	pass(w, 3000);
	look(w, 1, &a);
	assert_int_equal(a.proof, FABRIC_PROOF_WEAK);
}

/* The switch reports a state that it does not have. No snapshot can detect that, so the proof is
 * never Strong. */
static void a_switch_that_lies_is_why_the_proof_is_weak(void **state)
{
	struct world *w = *state;
	struct answer a;

	sim_netris_fault(w->fake.sim, "PortLie", NULL, "leaf-1", 0, 0);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	for (int i = 0; i < 3; i++) {
		pass(w, 5000);
		look(w, 1, &a);
	}
	assert_int_equal(a.proof, FABRIC_PROOF_WEAK);
	assert_null(sim_netris_where(w->fake.sim, "gpu-1"));
}

/* A template with InfiniBand and NVLink beside Ethernet: one change moves the machine in all three
 * fabrics. The move is proved only when the last of the three fabrics has followed, both into a
 * tenant's segment and out of it. */
static void every_fabric_of_a_template_has_to_follow(void **state)
{
	struct world *w = *state;
	struct fabric_spec s = {.type = "netris", .netris = &w->fake.config, .group = w->group};
	static const char *const managers[] = {"ufm-1", "nmx-1"};
	struct answer a;
	struct err e;

	fabric_free(w->fabric);
	w->fake.config.template_ = "gpu-fabrics";
	w->fabric = fabric_new(&s, &e);
	for (int i = 0; i < 2; i++) {
		const char *const way[] = {"tenant/a", "quarantine"};

		for (int k = 0; k < 2; k++) {
			sim_netris_fault(w->fake.sim, "SwitchDead", NULL, managers[i], 0, 0);
			assert_int_equal(place(w, 1, way[k], &a), ERR_NONE);
			for (int n = 0; n < 4; n++) {
				pass(w, 5000);
				look(w, 1, &a);
				assert_string_equal(a.segment, way[k]);
				assert_int_equal(a.proof, FABRIC_PROOF_NONE);
			}
			sim_netris_well(w->fake.sim);
			pass(w, 5000);
			look(w, 1, &a);
			pass(w, 5000);
			look(w, 1, &a);
			assert_int_equal(a.proof, FABRIC_PROOF_WEAK);
		}
	}
}

static void a_move_by_another_ends_the_proof(void **state)
{
	struct world *w = *state;
	struct answer a;

	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	for (int i = 0; i < 3; i++) {
		pass(w, 5000);
		look(w, 1, &a);
	}
	assert_int_equal(a.proof, FABRIC_PROOF_WEAK);
	second_controller(w);
	begin(w, w->other, 1, "tenant/team-a", &a);
	pass(w, 10000);
	assert_int_equal(a.err.kind, ERR_NONE);
	look(w, 1, &a);
	assert_string_equal(a.segment, "tenant/team-a");
	assert_int_equal(a.proof, FABRIC_PROOF_NONE);
}

/* --- moves ------------------------------------------------------------------------------------ */

static void a_change_whose_answer_is_lost_is_read_back(void **state)
{
	static const char *const lost[] = {"LostReply", "Silent", "Garbage"};
	struct world *w = *state;
	struct answer a;

	for (size_t i = 0; i < 3; i++) {
		char segment[32], cluster[32];

		str_format(segment, sizeof(segment), "tenant/t-%zu", i);
		str_format(cluster, sizeof(cluster), "drover-t-%zu", i);
		/* VPC and cluster are created and the machine is moved, each exactly once although
		 * the answer is lost. */
		sim_netris_fault(w->fake.sim, lost[i], "POST /api/v2/vpc", NULL, 0, 1);
		sim_netris_fault(w->fake.sim, lost[i], "POST /api/v2/server-cluster", NULL, 0, 1);
		/* A silent controller costs 15 s for each request, too much for this case. */
		if (i != 1)
			sim_netris_fault(w->fake.sim, lost[i], PUT, NULL, 0, 1);
		assert_int_equal(place(w, 1, segment, &a), ERR_NONE);
		assert_in(w, "gpu-1", cluster);
		sim_netris_well(w->fake.sim);
	}
	sim_netris_fault(w->fake.sim, "Silent", PUT, NULL, 0, 2);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	assert_in(w, "gpu-1", "quarantine");
}

static void a_success_that_changes_nothing_is_an_error(void **state)
{
	struct world *w = *state;
	struct answer a;

	sim_netris_fault(w->fake.sim, "Ignored", PUT, NULL, 0, 1);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_UNAVAILABLE);
	assert_non_null(strstr(a.err.text, "does not show the change"));
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
}

static void refusals_keep_their_kind_and_words(void **state)
{
	struct world *w = *state;
	struct answer a;

	sim_netris_fault(w->fake.sim, "Status", PUT, NULL, 403, 1);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_DENIED);
	assert_non_null(strstr(a.err.text, "injected fault Status"));
	sim_netris_fault(w->fake.sim, "NotSuccess", PUT, NULL, 0, 1);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_INVALID);
	assert_non_null(strstr(a.err.text, "injected fault NotSuccess"));
	sim_netris_fault(w->fake.sim, "Status", PUT, NULL, 500, 1);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_UNAVAILABLE);
	assert_int_equal(place(w, 1, "q-unknown", &a), ERR_NOT_FOUND);
	assert_non_null(strstr(a.err.text, "q-unknown"));
	assert_int_equal(place(w, 77, "quarantine", &a), ERR_NOT_FOUND);
	assert_non_null(strstr(a.err.text, "gpu-77"));
	assert_int_equal(a.err.scope, ERR_MACHINE);
}

static void what_is_missing_for_a_tenant_is_named(void **state)
{
	static const char *const bad[] = {"host-1", "host-9", NULL};
	struct world *w = *state;
	struct fabric_spec s = {.type = "netris", .group = w->group, .netris = &w->fake.config};
	struct answer a;
	struct err e;

	for (int i = 0; i < 4; i++) {
		struct fabric_netris *c = &w->fake.config, kept = *c;

		fabric_free(w->fabric);
		c->template_ = i == 0 ? "gpu-tennant" : c->template_;
		c->admin = i == 1 ? "Nobody" : c->admin;
		c->host_servers = i == 2 ? bad : c->host_servers;
		c->site = i == 3 ? "hell" : c->site;
		w->fabric = fabric_new(&s, &e);
		*c = kept;
		assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NOT_FOUND);
		assert_non_null(strstr(a.err.text, (const char *const[]){"gpu-tennant", "Nobody",
									 "host-9", "hell"}[i]));
	}
	assert_int_equal(sim_netris_changes(w->fake.sim), 0);
}

static void a_session_that_ends_in_the_middle_harms_nothing(void **state)
{
	struct world *w = *state;
	struct answer a;

	sim_netris_fault(w->fake.sim, "Expire", PUT, NULL, 0, 1);
	sim_netris_fault(w->fake.sim, "Expire", GET_ONE, NULL, 0, 1);
	sim_netris_fault(w->fake.sim, "Expire", POST, NULL, 0, 1);
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_in(w, "gpu-1", "drover-team-a");
	assert_true(sim_netris_logins(w->fake.sim) <= 5);
}

static void nothing_is_sent_that_is_not_allowed_any_more(void **state)
{
	struct world *w = *state;
	struct answer a;
	unsigned before;

	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	before = sim_netris_changes(w->fake.sim);
	begin(w, w->fabric, 1, "tenant/team-a", &a);
	pass(w, 30); /* The snapshot is read, the change not sent yet. */
	w->allowed = false;
	pass(w, 61000);
	assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
	assert_in(w, "gpu-1", "quarantine");
}

static void a_lower_fence_is_refused(void **state)
{
	struct world *w = *state;
	struct answer a;
	const struct fabric_port p = {.machine = "gpu-1"};
	struct fabric_call c = {.op_id = "01JD", .fence = 2, .done = on_done, .arg = &a};

	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE); /* place() uses fence 3. */
	a = (struct answer){0};
	fabric_place(w->fabric, &p, "provisioning", &c);
	pass(w, 10000);
	assert_int_equal(a.err.kind, ERR_CONFLICT);
	assert_in(w, "gpu-1", "quarantine");
}

/* A call whose requests hang ends after 60 s, and sends no request afterwards. */
static void a_hung_controller_costs_a_minute_and_no_late_change(void **state)
{
	struct world *w = *state;
	struct answer a;
	unsigned before;

	sim_netris_fault(w->fake.sim, "Silent", "GET /api/v2/server-cluster", NULL, 0, 0);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_TIMEOUT);
	before = sim_netris_changes(w->fake.sim);
	sim_netris_well(w->fake.sim);
	pass(w, 61000);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
}

/* --- no server is lost ------------------------------------------------------------------------ */

static void many_moves_at_once_lose_nobody_and_cost_few_changes(void **state)
{
	struct world *w = *state;
	struct answer a[MACHINES];
	unsigned before;

	for (unsigned i = 0; i < MACHINES; i++)
		begin(w, w->fabric, i + 1, "tenant/team-a", &a[i]);
	pass(w, 20000);
	before = sim_netris_changes(w->fake.sim);
	for (unsigned i = 0; i < MACHINES; i++)
		begin(w, w->fabric, i + 1, i % 2 ? "quarantine" : "tenant/team-b", &a[i]);
	pass(w, 20000);
	for (unsigned i = 0; i < MACHINES; i++) {
		char name[16];

		assert_int_equal(a[i].count, 1);
		assert_int_equal(a[i].err.kind, ERR_NONE);
		str_format(name, sizeof(name), "gpu-%u", i + 1);
		assert_in(w, name, i % 2 ? "quarantine" : "drover-team-b");
	}
	/* Edits that arrive while another is in progress are merged into one change of a
	 * cluster. */
	assert_true(sim_netris_changes(w->fake.sim) - before <= 10);
}

/* Each machine at rest is observed separately. However close to each other the observations are,
 * the fabric reads at most two snapshots per second. */
static void many_looks_cost_two_a_second(void **state)
{
	struct world *w = *state;
	struct answer a[200];
	unsigned before;

	assert_int_equal(place(w, 1, "quarantine", &a[0]), ERR_NONE);
	before = w->fake.looks;
	for (unsigned i = 0; i < 200; i++) {
		begin(w, w->fabric, i % MACHINES + 1, NULL, &a[i]);
		pass(w, 50);
	}
	pass(w, 2000);
	for (unsigned i = 0; i < 200; i++)
		assert_true(a[i].count == 1 && a[i].err.kind == ERR_NONE);
	assert_true(w->fake.looks - before <= 2 * 12);
}

static void of_two_controllers_none_loses_a_machine_silently(void **state)
{
	struct world *w = *state;
	struct answer a[MACHINES];
	unsigned lost = 0, said = 0;

	second_controller(w);
	assert_int_equal(place(w, 1, "tenant/team-a", &a[0]), ERR_NONE);
	for (unsigned i = 1; i < MACHINES; i++) {
		begin(w, i % 2 ? w->fabric : w->other, i + 1, "tenant/team-a", &a[i]);
		pass(w, 7);
	}
	pass(w, 61000);
	for (unsigned i = 1; i < MACHINES; i++) {
		char name[16];

		assert_int_equal(a[i].count, 1);
		str_format(name, sizeof(name), "gpu-%u", i + 1);
		lost += a[i].err.kind == ERR_NONE && !sim_netris_wanted(w->fake.sim, name);
		said += a[i].err.kind == ERR_CONFLICT || a[i].err.kind == ERR_UNAVAILABLE;
	}
	assert_true(lost == 0 || said > 0);
	assert_in(w, "gpu-1", "drover-team-a");
}

static void a_server_that_another_writer_dropped_stops_further_writes(void **state)
{
	struct world *w = *state;
	char text[256];
	struct answer a;
	unsigned before;

	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_NONE);
	/* Another writer removes the server twice. The first removal, between the list and the PUT,
	 * is undone by the PUT. The second, after the PUT, is not. */
	sim_netris_fault(w->fake.sim, "OtherRemoves", GET_ONE, "gpu-1", 0, 2);
	assert_int_equal(place(w, 3, "tenant/team-a", &a), ERR_NONE);
	assert_in(w, "gpu-1", NULL);
	before = sim_netris_changes(w->fake.sim);
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_int_equal(place(w, 4, "tenant/team-a", &a), ERR_UNAVAILABLE);
	assert_true(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_non_null(strstr(text, "server 1000"));
	assert_non_null(strstr(a.err.text, "drover-team-a"));
	assert_non_null(strstr(a.err.text, "server 1000"));
	assert_int_equal(a.err.scope, ERR_PROVIDER);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
	/* drover places the server in some cluster again, so its other work continues. */
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	assert_int_equal(place(w, 4, "tenant/team-a", &a), ERR_NONE);
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_in(w, "gpu-2", "drover-team-a");
	assert_in(w, "gpu-4", "drover-team-a");
}

/* The server of another drover may just be moving between two clusters, so its absence is no
 * loss. */
static void another_installation_s_server_that_goes_is_no_loss(void **state)
{
	struct world *w = *state;
	char text[256];
	struct answer a;

	second_controller(w);
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	begin(w, w->other, 9, "tenant/team-a", &a);
	pass(w, 10000);
	assert_in(w, "gpu-9", "drover-team-a");
	sim_netris_fault(w->fake.sim, "OtherRemoves", GET_ONE, "gpu-9", 0, 2);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_NONE);
	assert_in(w, "gpu-9", NULL);
	assert_int_equal(place(w, 3, "tenant/team-a", &a), ERR_NONE);
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
}

static void a_shared_server_that_another_writer_dropped_stops_further_writes(void **state)
{
	struct world *w = *state;
	char text[256];
	struct answer a;

	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	sim_netris_fault(w->fake.sim, "OtherRemoves", GET_ONE, "host-1", 0, 2);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 3, "tenant/team-a", &a), ERR_UNAVAILABLE);
	assert_true(fabric_trouble(w->fabric, text, sizeof(text)));
}

/* An edit is sent if it adds all missing servers. An edit that adds only some of them is
 * refused. */
static void who_is_missing_is_put_back_where_it_belongs(void **state)
{
	struct world *w = *state;
	char text[256];
	struct answer a, b;

	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_NONE);
	sim_netris_fault(w->fake.sim, "OtherRemoves", GET_ONE, "gpu-1", 0, 2);
	assert_int_equal(place(w, 3, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 4, "tenant/team-a", &a), ERR_UNAVAILABLE);
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_in(w, "gpu-1", "drover-team-a");
	assert_in(w, "gpu-2", "drover-team-a");
	assert_in(w, "gpu-3", "drover-team-a");
	sim_netris_fault(w->fake.sim, "OtherRemoves", GET_ONE, "gpu-1", 0, 2);
	sim_netris_fault(w->fake.sim, "OtherRemoves", GET_ONE, "gpu-2", 0, 2);
	assert_int_equal(place(w, 4, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 5, "tenant/team-a", &a), ERR_UNAVAILABLE);
	assert_in(w, "gpu-1", NULL);
	assert_in(w, "gpu-2", NULL);
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_UNAVAILABLE);
	begin(w, w->fabric, 1, "tenant/team-a", &a);
	assert_int_equal(place(w, 2, "tenant/team-a", &b), ERR_NONE);
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_in(w, "gpu-1", "drover-team-a");
	assert_in(w, "gpu-2", "drover-team-a");
}

static void an_old_list_is_not_written_back(void **state)
{
	struct world *w = *state;
	struct answer a;

	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	sim_netris_fault(w->fake.sim, "StaleRead", GET_ONE, NULL, 0, 1);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_NONE);
	assert_in(w, "gpu-1", "drover-team-a");
	assert_in(w, "gpu-2", "drover-team-a");
}

static void a_list_that_does_not_say_who_is_shared_is_not_written(void **state)
{
	struct world *w = *state;
	struct answer a;
	unsigned before;

	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	before = sim_netris_changes(w->fake.sim);
	sim_netris_fault(w->fake.sim, "NoShared", NULL, NULL, 0, 0);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_UNSUPPORTED);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
}

static void a_machine_goes_on_where_another_controller_moved_it(void **state)
{
	struct world *w = *state;
	struct answer a;

	second_controller(w);
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 2, "tenant/team-a", &a), ERR_NONE);
	begin(w, w->other, 1, "quarantine", &a);
	pass(w, 10000);
	assert_int_equal(a.err.kind, ERR_NONE);
	/* The server is not lost: it is in a different cluster. */
	assert_int_equal(place(w, 3, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_in(w, "gpu-1", "drover-team-a");
}

static enum err_kind drop(struct world *w, const char *segment, struct answer *a)
{
	const struct fabric_call c = {.done = on_done, .may_act = may, .arg = a};

	*a = (struct answer){0};
	may_of = w;
	assert_true(fabric_makes(w->fabric));
	fabric_drop(w->fabric, segment, &c);
	loop_sim_run_cond(w->loop, is_answered, a, loop_now(w->loop) + 61000);
	assert_int_equal(a->count, 1);
	return a->err.kind;
}

static void what_drover_made_is_removed_and_nothing_else(void **state)
{
	struct world *w = *state;
	struct answer a;
	unsigned before;

	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	before = sim_netris_changes(w->fake.sim);
	/* The cluster cannot be removed while a machine is in it. */
	assert_int_equal(drop(w, "tenant/team-a", &a), ERR_CONFLICT);
	assert_int_equal(drop(w, "quarantine", &a), ERR_NONE);
	assert_int_equal(drop(w, "tenant/never-was", &a), ERR_NONE);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	before = sim_netris_changes(w->fake.sim);
	/* The answer to one DELETE is lost; another DELETE is answered with success but has no
	 * effect. */
	sim_netris_fault(w->fake.sim, "LostReply", "DELETE /api/v2/server-cluster", NULL, 0, 1);
	sim_netris_fault(w->fake.sim, "Ignored", "DELETE /api/v2/vpc", NULL, 0, 1);
	assert_int_equal(drop(w, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(sim_netris_changes(w->fake.sim), before + 2);
	assert_int_equal(drop(w, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(sim_netris_changes(w->fake.sim), before + 2);
	/* The cluster, which was removed, is created again. */
	assert_int_equal(place(w, 1, "tenant/team-a", &a), ERR_NONE);
	assert_in(w, "gpu-1", "drover-team-a");
}

/* The objects of another installation happen to have the same names. */
static void what_another_installation_made_stays(void **state)
{
	struct world *w = *state;
	struct fabric_spec s = {.type = "netris", .netris = &w->fake.config, .group = w->group};
	struct answer a;
	struct err e;
	unsigned before;

	/* This drover creates the cluster drover-x-team-a. */
	assert_int_equal(place(w, 1, "tenant/x-team-a", &a), ERR_NONE);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	fabric_free(w->fabric);
	w->fake.config.prefix = "drover-x";
	w->fabric = fabric_new(&s, &e);
	before = sim_netris_changes(w->fake.sim);
	assert_int_equal(drop(w, "tenant/team-a", &a), ERR_NONE);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
	w->allowed = false;
	w->fake.config.prefix = "drover";
	fabric_free(w->fabric);
	w->fabric = fabric_new(&s, &e);
	assert_int_equal(drop(w, "tenant/x-team-a", &a), ERR_CONFLICT);
	assert_int_equal(sim_netris_changes(w->fake.sim), before);
}

#define netris_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Replaces the controller by one of release `version`. */
static void replace(struct world *w, const char *version)
{
	sim_netris_free(w->fake.sim);
	httpd_free(w->fake.httpd);
	w->fake.sim = sim_netris_new(&(struct sim_netris_spec){.group = w->fake.group,
							       .servers = MACHINES,
							       .user = "drover",
							       .password = FAKE_NETRIS_PASSWORD,
							       .latency_ms = 20,
							       .plan_ms = 300,
							       .version = version});
	w->fake.httpd = httpd_new(w->fake.group);
	sim_netris_routes(w->fake.sim, w->fake.httpd);
	http_mem_serve(w->fake.net, FAKE_NETRIS, w->fake.httpd);
}

/* A release that is known to lose servers is observed but not changed. */
static void a_release_that_is_too_old_is_not_changed(void **state)
{
	struct world *w = *state;
	struct answer a;
	char text[256];

	assert_false(fabric_about(w->fabric, text, sizeof(text)));
	replace(w, "4.5.2");
	if (place(w, 1, "quarantine", &a) != ERR_UNSUPPORTED)
		fail_msg("%s", a.err.text);
	assert_non_null(strstr(a.err.text, "4.5.2 is older than 4.5.3"));
	assert_int_equal(sim_netris_changes(w->fake.sim), 0);
	assert_true(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_non_null(strstr(text, "4.5.2"));
	look(w, 1, &a);
	/* The controller is upgraded to a later release. */
	replace(w, "4.14.0");
	pass(w, 7 * 3600 * 1000);
	look(w, 1, &a);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
	assert_true(fabric_about(w->fabric, text, sizeof(text)));
	assert_string_equal(text, "release 4.14.0");
}

/* Not every user may read the release. Without it, drover continues and reports the release as
 * unknown. */
static void a_release_that_is_not_told_is_said(void **state)
{
	struct world *w = *state;
	struct answer a;
	char text[256];

	sim_netris_fault(w->fake.sim, "Status", "GET /api/users/permissions", NULL, 403, 0);
	assert_int_equal(place(w, 1, "quarantine", &a), ERR_NONE);
	assert_true(fabric_about(w->fabric, text, sizeof(text)));
	assert_non_null(strstr(text, "cannot be read"));
	assert_false(fabric_trouble(w->fabric, text, sizeof(text)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		netris_test(a_release_that_is_too_old_is_not_changed),
		netris_test(a_release_that_is_not_told_is_said),
		netris_test(a_proof_needs_a_switch_that_was_heard_of_since),
		netris_test(a_dead_switch_proves_nothing),
		netris_test(a_switch_that_lies_is_why_the_proof_is_weak),
		netris_test(every_fabric_of_a_template_has_to_follow),
		netris_test(a_move_by_another_ends_the_proof),
		netris_test(a_change_whose_answer_is_lost_is_read_back),
		netris_test(a_success_that_changes_nothing_is_an_error),
		netris_test(refusals_keep_their_kind_and_words),
		netris_test(what_is_missing_for_a_tenant_is_named),
		netris_test(a_session_that_ends_in_the_middle_harms_nothing),
		netris_test(nothing_is_sent_that_is_not_allowed_any_more),
		netris_test(a_lower_fence_is_refused),
		netris_test(a_hung_controller_costs_a_minute_and_no_late_change),
		netris_test(many_moves_at_once_lose_nobody_and_cost_few_changes),
		netris_test(many_looks_cost_two_a_second),
		netris_test(of_two_controllers_none_loses_a_machine_silently),
		netris_test(a_server_that_another_writer_dropped_stops_further_writes),
		netris_test(another_installation_s_server_that_goes_is_no_loss),
		netris_test(a_shared_server_that_another_writer_dropped_stops_further_writes),
		netris_test(who_is_missing_is_put_back_where_it_belongs),
		netris_test(an_old_list_is_not_written_back),
		netris_test(a_list_that_does_not_say_who_is_shared_is_not_written),
		netris_test(a_machine_goes_on_where_another_controller_moved_it),
		netris_test(what_drover_made_is_removed_and_nothing_else),
		netris_test(what_another_installation_made_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
