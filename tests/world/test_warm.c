/* Machines that are kept on for the next claim. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/oracle.h"
#include "tests/world/world.h"

#define POOLS "/apis/" OBJECT_API_VERSION "/nodepools"

static void want_warm(struct earth *w, const char *pool, int nodes)
{
	char path[128];

	str_format(path, sizeof(path), POOLS "/%s", pool);
	earth_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:{s:i}}}", "spec", "warm", "nodes", nodes));
}

static bool is_warm(const struct box *b)
{
	return str_eq(b->state, "free") && earth_at(b, "status.warmFor.name")[0] &&
	       earth_at(b, "status.agent.publicKey")[0] && b->doing == BOX_AGENT &&
	       str_eq(b->segment, "provisioning");
}

struct number {
	struct earth *w;
	unsigned n;
};

static unsigned count_warm(const struct earth *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += is_warm(&w->boxes[i]);
	return n;
}

static bool as_many_are_warm(void *arg)
{
	const struct number *x = arg;

	return count_warm(x->w) == x->n;
}

static void wait_warm(struct earth *w, unsigned n, int64_t limit_s)
{
	struct number x = {w, n};

	earth_wait(w, as_many_are_warm, &x, limit_s, "so many are warm");
}

static struct box *a_warm_one(struct earth *w)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		if (is_warm(&w->boxes[i]))
			return &w->boxes[i];
	fail_msg("no machine is warm");
	return NULL;
}

static bool as_many_are_off(void *arg)
{
	const struct number *x = arg;
	unsigned n = 0;

	for (unsigned i = 0; i < x->w->nboxes; i++) {
		const struct box *b = &x->w->boxes[i];

		n += str_eq(b->state, "free") && !earth_at(b, "status.warmFor.name")[0] &&
		     !earth_at(b, "status.agent.bootID")[0] && b->doing == BOX_OFF && !b->bmc.image;
	}
	return n == x->n;
}

static void wait_off(struct earth *w, unsigned n, int64_t limit_s)
{
	struct number x = {w, n};

	earth_wait(w, as_many_are_off, &x, limit_s, "so many are off");
}

static bool boots_to_be_warm(void *arg)
{
	const struct box *b = arg;

	return str_eq(b->state, "free") && b->doing == BOX_FIRMWARE &&
	       earth_at(b, "status.warmFor.name")[0];
}

struct picked {
	struct earth *w;
	struct box *box;
	const char *state;
};

static bool one_is_in_state(void *arg)
{
	struct picked *p = arg;

	for (unsigned i = 0; i < p->w->nboxes && !p->box; i++)
		if (str_eq(p->w->boxes[i].state, p->state))
			p->box = &p->w->boxes[i];
	return p->box;
}

/* The reason of the pool's condition WarmReady; "": it has none. */
static const char *warm_reason(struct earth *w)
{
	static char reason[64];
	OWN_JSON pool = plane_get(&w->host, "nodepools.drover.dev/gpus");
	json_t *c;
	size_t i;

	reason[0] = '\0';
	json_array_foreach (json_at(pool, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "WarmReady"))
			str_copy(reason, sizeof(reason), json_str_at(c, "reason"));
	return reason;
}

static bool pool_is_warm(void *arg)
{
	return str_eq(warm_reason(((struct number *)arg)->w), "Warm");
}

static void as_many_as_the_pool_wants_are_on_with_their_agents(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 801, 3);
	want_warm(&w, "gpus", 2);
	earth_replica(&w);
	wait_warm(&w, 2, 900);
	earth_run(&w, 3600000);
	assert_int_equal(count_warm(&w), 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(w.boxes[i].boots, is_warm(&w.boxes[i]) ? 2 : 1);
	assert_true(oracle_secrets_kept(&w));
	assert_true(oracle_nothing_leaks(&w));
	earth_stop(&w);
}

/* From the pod on, until its machine writes the image. */
static int64_t to_imaging(struct earth *w, struct box **of)
{
	int64_t from = loop_now(w->loop);
	struct picked p = {w, NULL, "imaging"};

	earth_pod(w, &w->tenants[0], "train");
	earth_wait(w, one_is_in_state, &p, 900, "a machine in imaging");
	*of = p.box;
	return loop_now(w->loop) - from;
}

static void a_warm_machine_is_claimed_without_a_boot_and_another_is_warmed(void **state)
{
	struct box *b, *warm;
	struct earth w;
	int64_t cold_ms, warm_ms;
	unsigned boots;

	(void)state;
	earth_start(&w, 802, 1);
	earth_replica(&w);
	earth_wait_all(&w, "free", 900);
	cold_ms = to_imaging(&w, &b);
	earth_stop(&w);

	earth_start(&w, 802, 3);
	earth_replica(&w);
	earth_wait_all(&w, "free", 900);
	/* Not the first by name, which would be taken anyway. */
	earth_patch_machine(&w.boxes[0], json_pack("{s:s}", "managementPolicy", "Observe"));
	want_warm(&w, "gpus", 1);
	wait_warm(&w, 1, 900);
	earth_patch_machine(&w.boxes[0], json_pack("{s:s}", "managementPolicy", "Manage"));
	earth_run(&w, 5000);
	warm = a_warm_one(&w);
	assert_true(warm != &w.boxes[0]);
	boots = warm->boots;
	warm_ms = to_imaging(&w, &b);
	assert_ptr_equal(b, warm);
	assert_int_equal(b->boots, boots);
	assert_string_equal(earth_at(b, "status.warmFor.name"), "");
	assert_non_null(strstr(w.log, "machine was claimed warm"));
	print_message("from pod to imaging: %lld ms cold, %lld ms warm\n", (long long)cold_ms,
		      (long long)warm_ms);
	assert_true(warm_ms * 2 < cold_ms);
	wait_warm(&w, 1, 300);
	assert_true(a_warm_one(&w) != b);
	earth_wait_running(&w, &w.tenants[0], "train", 300);
	earth_run(&w, 30000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_stop(&w);
}

static void what_is_over_is_switched_off(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 803, 3);
	want_warm(&w, "gpus", 3);
	earth_replica(&w);
	wait_warm(&w, 3, 900);
	want_warm(&w, "gpus", 1);
	wait_off(&w, 2, 300);
	earth_run(&w, 600000);
	assert_int_equal(count_warm(&w), 1);
	assert_true(oracle_nothing_leaks(&w));
	want_warm(&w, "gpus", 2);
	wait_warm(&w, 2, 300);
	want_warm(&w, "gpus", 0);
	wait_off(&w, 3, 300);
	assert_true(oracle_nothing_leaks(&w));
	earth_stop(&w);
}

static void nothing_stays_warm_for_a_pool_that_is_deleted(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 804, 2);
	want_warm(&w, "gpus", 2);
	earth_replica(&w);
	wait_warm(&w, 2, 900);
	earth_do(&w, &w.host, "DELETE", POOLS "/gpus", NULL);
	wait_off(&w, 2, 300);
	earth_run(&w, 60000);
	assert_true(oracle_nothing_leaks(&w));
	earth_stop(&w);
}

/* The agent's process is gone, the machine stays on. */
static void kill_agent(struct box *b)
{
	bootagent_free(b->agent);
	b->agent = NULL;
	b->doing = BOX_NOTHING;
}

static void an_agent_that_dies_is_booted_again_and_the_third_time_left_off(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	int64_t since;

	(void)state;
	earth_start(&w, 805, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	for (unsigned boots = 2; boots < 4; boots++) {
		assert_int_equal(b->boots, boots);
		kill_agent(b);
		earth_run(&w, 290000);
		assert_int_equal(b->boots, boots); /* silent for less than 5 min */
		wait_warm(&w, 1, 400);
		assert_int_equal(b->boots, boots + 1);
	}
	kill_agent(b);
	wait_off(&w, 1, 600);
	since = loop_now(w.loop);
	assert_string_equal(earth_at(b, "status.operation.lastError.reason"), "NotWarm");
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	wait_warm(&w, 1, 3600);
	assert_true(loop_now(w.loop) - since >= 30 * 60000);
	assert_int_equal(b->boots, 5);
	earth_stop(&w);
}

static void a_machine_that_reboots_while_warm_is_booted_with_a_new_secret(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	char *block;

	(void)state;
	earth_start(&w, 806, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	block = mem_strdup(b->block);
	b->bmc.boot_enabled = (free(b->bmc.boot_enabled), mem_strdup("Continuous"));
	b->bmc.boot_target = (free(b->bmc.boot_target), mem_strdup("Cd"));
	box_power(b, false);
	box_power(b, true);
	earth_run(&w, 60000);
	wait_warm(&w, 1, 600);
	assert_int_equal(b->boots, 4); /* wipe, warm, by itself, warm */
	assert_false(str_eq(block, b->block));
	free(block);
	earth_stop(&w);
}

static void what_somebody_switches_off_is_not_switched_on_at_once(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 807, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	box_power(b, false);
	earth_run(&w, 25 * 60000);
	assert_int_equal(b->doing, BOX_OFF);
	assert_int_equal(b->boots, 2);
	assert_string_equal(b->state, "free");
	wait_warm(&w, 1, 1800);
	earth_stop(&w);
}

/* Dead a moment before the claim comes. */
static void a_claim_of_a_machine_whose_agent_is_dead_boots_it_as_usual(void **state)
{
	struct earth w;
	struct box *b;

	(void)state;
	earth_start(&w, 808, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	kill_agent(&w.boxes[0]);
	(void)to_imaging(&w, &b);
	assert_int_equal(b->boots, 3);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	assert_non_null(strstr(w.log, "warm machine is booted for its claim"));
	earth_wait_running(&w, &w.tenants[0], "train", 300);
	earth_stop(&w);
}

static void a_claim_takes_a_machine_that_is_still_coming_up(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 809, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	earth_wait(&w, boots_to_be_warm, b, 900, "it comes up");
	(void)to_imaging(&w, &b);
	assert_int_equal(b->boots, 2);
	earth_wait_running(&w, &w.tenants[0], "train", 300);
	earth_stop(&w);
}

static void a_claim_that_is_withdrawn_leaves_a_machine_that_is_warmed_again(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 810, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "claimed", 60);
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_release(b);
	earth_wait_state(b, "free", 300);
	wait_warm(&w, 1, 300);
	assert_int_equal(b->tenancy, 1);
	earth_stop(&w);
}

static void a_machine_that_is_warm_can_be_wiped_retired_and_taken_out_of_use(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 811, 3);
	want_warm(&w, "gpus", 3);
	earth_replica(&w);
	wait_warm(&w, 3, 900);
	earth_patch_machine(&w.boxes[0], json_pack("{s:{s:s, s:s}}", "approval", "action", "Wipe",
						   "id", "01JC"));
	earth_patch_machine(&w.boxes[1], json_pack("{s:s}", "managementPolicy", "Retire"));
	earth_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-3",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/quarantine",
			   "a noise"));
	earth_wait_state(&w.boxes[0], "stopping", 60);
	earth_wait_state(&w.boxes[1], "retired", 60);
	earth_wait_state(&w.boxes[2], "quarantined", 60);
	assert_int_equal(w.boxes[1].doing, BOX_OFF);
	earth_run(&w, 600000);
	assert_int_equal(w.boxes[2].doing, BOX_OFF);
	assert_null(w.boxes[1].bmc.image);
	assert_null(w.boxes[2].bmc.image);
	assert_string_equal(w.boxes[0].state, "free");
	assert_true(is_warm(&w.boxes[0]));
	earth_stop(&w);
}

static void what_is_only_observed_is_left_as_it_is(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 812, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	earth_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
	want_warm(&w, "gpus", 0);
	earth_run(&w, 3600000);
	assert_int_equal(b->doing, BOX_AGENT);
	earth_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Manage"));
	wait_off(&w, 1, 300);
	earth_stop(&w);
}

static void pause_provider(struct earth *w, bool paused)
{
	earth_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:b}}", "spec", "paused", paused));
}

static void nothing_is_switched_while_the_provider_is_paused(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 822, 1);
	earth_replica(&w);
	earth_wait_state(b, "free", 900);
	pause_provider(&w, true);
	want_warm(&w, "gpus", 1);
	earth_run(&w, 600000);
	assert_int_equal(b->boots, 1);
	pause_provider(&w, false);
	wait_warm(&w, 1, 300);
	pause_provider(&w, true);
	want_warm(&w, "gpus", 0);
	earth_run(&w, 600000);
	assert_true(is_warm(b));
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 3600000);
	assert_true(is_warm(b)); /* its agent is answered by the next leader, too */
	pause_provider(&w, false);
	wait_off(&w, 1, 300);
	assert_int_equal(b->boots, 2);
	earth_stop(&w);
}

/* A person took the medium out while it came up: it is on, and nobody knows what for. */
static void one_that_is_on_for_no_known_reason_is_left_and_another_is_warmed(void **state)
{
	struct number one = {.n = 1};
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 824, 2);
	one.w = &w;
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	earth_wait(&w, boots_to_be_warm, b, 900, "it comes up");
	free(b->bmc.image);
	b->bmc.image = NULL;
	earth_wait_reason(b, "PowerStateUnexpected", 900);
	earth_wait(&w, as_many_are_warm, &one, 900, "the other one is warm");
	assert_true(is_warm(&w.boxes[1]));
	earth_run(&w, 600000);
	assert_int_equal(b->doing, BOX_NOTHING);
	box_power(b, false);
	wait_off(&w, 1, 600);
	assert_true(is_warm(&w.boxes[1]));
	earth_stop(&w);
}

/* A backup that was made while it was warm: it serves somebody by now, of whom nothing is known. */
static void a_restored_record_of_a_warm_machine_moves_and_switches_off_nothing(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	for (int claimed = 0; claimed < 2; claimed++) {
		earth_start(&w, 828 + (unsigned)claimed, 1);
		want_warm(&w, "gpus", 1);
		earth_replica(&w);
		wait_warm(&w, 1, 900);
		earth_kill(&w.replicas[0]);
		box_power(b, false);
		earth_run(&w, 5000);
		free(b->bmc.image);
		b->bmc.image = NULL;
		w.restored = true;
		str_copy(b->segment, sizeof(b->segment), "tenant/team-b");
		box_power(b, true);
		if (claimed)
			earth_pod(&w, &w.tenants[0], "train");
		earth_replica(&w);
		earth_wait_reason(b, "PowerStateUnexpected", 1200);
		earth_run(&w, 4 * 3600 * 1000);
		assert_int_equal(b->doing, BOX_NOTHING);
		assert_string_equal(b->segment, "tenant/team-b");
		/* A person sees to it, and it can be taken out of use. */
		earth_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
		earth_stop(&w);
	}
}

/* Its BMC's address leads to another machine by now. */
static void what_is_another_machine_is_not_switched_off(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 823, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	free(b->bmc.uuid);
	b->bmc.uuid = mem_strdup("4c4c4544-0035-3410-8050-c6c04f314799");
	earth_run(&w, 150000);
	want_warm(&w, "gpus", 0);
	earth_wait_reason(b, "IdentityMismatch", 300);
	earth_run(&w, 600000);
	assert_int_equal(b->doing, BOX_AGENT);
	free(b->bmc.uuid);
	b->bmc.uuid = mem_strdup(b->uuid);
	wait_off(&w, 1, 300);
	earth_stop(&w);
}

static void a_second_leader_goes_on_with_the_agent_that_is_there(void **state)
{
	struct earth w;
	struct box *b;

	(void)state;
	earth_start(&w, 813, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 3600000);
	assert_int_equal(count_warm(&w), 1);
	assert_int_equal(w.boxes[0].boots, 2);
	earth_kill(&w.replicas[1]);
	earth_replica(&w);
	(void)to_imaging(&w, &b);
	assert_int_equal(b->boots, 2);
	earth_wait_running(&w, &w.tenants[0], "train", 300);
	earth_stop(&w);
}

/* State and act as the journal shows them, and whose warmth. */
struct way {
	struct earth *w;
	char met[48][160];
	unsigned nmet, skip, kills;
	bool (*there)(const struct box *b);
};

static bool is_new_or_there(void *arg)
{
	struct way *m = arg;
	const struct box *b = &m->w->boxes[0];
	char now[160];

	if (m->there(b))
		return true;
	str_format(now, sizeof(now), "%s/%s/%s/%s", b->state, earth_at(b, "status.operation.step"),
		   earth_at(b, "status.warmFor.name"), earth_at(b, "status.agent.bootID"));
	for (unsigned i = 0; i < m->nmet; i++)
		if (str_eq(m->met[i], now))
			return false;
	assert_true(m->nmet < 48);
	str_copy(m->met[m->nmet++], sizeof(m->met[0]), now);
	return true;
}

/* True when it was killed at as many moments as one world has replicas for. */
static bool killed_on_the_way(struct way *m, bool (*there)(const struct box *b))
{
	m->there = there;
	for (;;) {
		earth_wait(m->w, is_new_or_there, m, 600, "something new in the journal");
		if (there(&m->w->boxes[0]))
			return false;
		if (m->nmet <= m->skip)
			continue;
		if (m->w->nreplicas == EARTH_REPLICAS)
			return true;
		earth_kill(&m->w->replicas[m->w->nreplicas - 1]);
		earth_replica(m->w);
		m->kills++;
	}
}

static bool is_imaging(const struct box *b)
{
	return str_eq(b->state, "imaging");
}

static bool is_cold(const struct box *b)
{
	return str_eq(b->state, "free") && !earth_at(b, "status.warmFor.name")[0] &&
	       b->doing == BOX_OFF;
}

static void a_leader_that_dies_at_each_entry_on_the_way_to_warm_and_back_is_followed(void **state)
{
	unsigned skip = 0;
	bool more = true;

	(void)state;
	while (more) {
		struct earth w;
		struct way m = {.w = &w, .skip = skip};
		struct box *b = &w.boxes[0];

		earth_start(&w, 814, 1);
		earth_replica(&w);
		earth_wait_state(b, "free", 300);
		want_warm(&w, "gpus", 1);
		more = killed_on_the_way(&m, is_warm);
		wait_warm(&w, 1, 600);
		assert_int_equal(b->boots, 2);
		want_warm(&w, "gpus", 0);
		if (!more)
			more = killed_on_the_way(&m, is_cold);
		wait_off(&w, 1, 600);
		want_warm(&w, "gpus", 1);
		wait_warm(&w, 1, 600);
		earth_pod(&w, &w.tenants[0], "train");
		if (!more)
			more = killed_on_the_way(&m, is_imaging);
		earth_wait_running(&w, &w.tenants[0], "train", 600);
		assert_int_equal(b->boots, 4); /* wipe, warm, warm, its own disk */
		assert_int_equal(b->tenancy, 2);
		assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
		skip += m.kills;
		earth_stop(&w);
	}
	assert_true(skip > 8);
}

/* There and back by way of warm, with one request that meets its fate. */
static void warm_circle(struct earth *w)
{
	struct box *b = &w->boxes[0];

	want_warm(w, "gpus", 1);
	earth_replica(w);
	wait_warm(w, 1, 7200);
	earth_pod(w, &w->tenants[0], "train");
	earth_wait_running(w, &w->tenants[0], "train", 3600);
	want_warm(w, "gpus", 0);
	earth_wait_state(b, "serving", 3600);
	earth_delete_pod(w, &w->tenants[0], "train");
	earth_release(b);
	wait_off(w, 1, 3600);
	assert_true(box_is_blank(b));
	assert_true(oracle_nothing_leaks(w));
}

static void a_lost_request_or_a_leader_that_dies_at_it_changes_nothing_in_the_end(void **state)
{
	static const enum http_mem_fate fates[] = {HTTP_MEM_REFUSED, HTTP_MEM_REPLY_LOST,
						   HTTP_MEM_SILENT};
	unsigned met = 0;

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		bool more = true;

		for (unsigned at = 1 + k * earth_every() / 4; more; at += earth_every()) {
			struct earth w;

			earth_start(&w, 900 + at, 1);
			if (k < 3) {
				w.fault_at = at;
				w.fault = fates[k];
			} else {
				w.kill_at = at;
			}
			warm_circle(&w);
			more = w.requests >= at;
			met += more;
			earth_stop(&w);
		}
	}
	assert_true(met > 3);
}

static void a_second_caller_with_its_secret_takes_it_out_of_use(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct bootagent *second;

	(void)state;
	earth_start(&w, 818, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	second = bootagent_new(b, b->block, strlen(b->block));
	assert_non_null(second);
	earth_wait_state(b, "quarantined", 60);
	bootagent_free(second);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), "SecondCaller");
	assert_false(json_true_at(b->object, "status", "clean"));
	earth_run(&w, 300000);
	assert_int_equal(b->doing, BOX_OFF);
	assert_null(b->bmc.image);
	earth_stop(&w);
}

/* What happened long ago is not counted. */
static void an_agent_that_dies_now_and_then_is_always_booted_again(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 819, 1);
	want_warm(&w, "gpus", 1);
	earth_replica(&w);
	for (int i = 0; i < 5; i++) {
		wait_warm(&w, 1, 900);
		earth_run(&w, 2 * 3600 * 1000);
		assert_true(is_warm(b));
		kill_agent(b);
		earth_run(&w, 1000);
	}
	wait_warm(&w, 1, 900);
	assert_int_equal(b->boots, 7);
	assert_null(strstr(w.log, "cannot be kept warm"));
	earth_stop(&w);
}

struct power_ons {
	struct earth *w;
	bool on[EARTH_BOXES];
	int64_t last, least;
	unsigned n;
};

static bool all_are_warm(void *arg)
{
	struct power_ons *s = arg;
	int64_t now = loop_now(s->w->loop);

	for (unsigned i = 0; i < s->w->nboxes; i++) {
		bool on = s->w->boxes[i].bmc.on;

		if (on && !s->on[i]) {
			if (s->n && (!s->least || now - s->last < s->least))
				s->least = now - s->last;
			s->last = now;
			s->n++;
		}
		s->on[i] = on;
	}
	return count_warm(s->w) == s->w->nboxes;
}

static void warm_machines_wait_their_turn_to_be_switched_on(void **state)
{
	struct earth w;
	struct power_ons s = {.w = &w};

	(void)state;
	earth_start(&w, 820, 3);
	earth_replica(&w);
	earth_wait_all(&w, "free", 900);
	earth_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:i}}}", "spec", "limits", "powerOnPerMinute", 1));
	want_warm(&w, "gpus", 3);
	earth_wait(&w, all_are_warm, &s, 900, "three are warm");
	assert_int_equal(s.n, 3);
	assert_true(s.least >= 59000);
	earth_stop(&w);
}

/* It is kept for a pool that serves nobody here, and is the best all the same. */
static void a_claim_of_another_pool_takes_a_warm_machine_too(void **state)
{
	OWN(arena) a = arena_new();
	struct earth w;
	struct box *b, *warm;

	(void)state;
	earth_start(&w, 821, 3);
	earth_apply(
		&w,
		arena_printf(
			a,
			"apiVersion: drover.dev/v1alpha1\nkind: NodePool\nmetadata: {name: idle}\n"
			"spec:\n  virtualClusterSelector: {matchLabels: {nobody: here}}\n  warm: {nodes: 1}\n"
			"  template:\n    spec:\n      providerRefs: [{name: rack}]\n"
			"      images:\n      - {kubernetesVersion: \"1.36\", url: \"" EARTH_IMAGES
			"/node.raw\", format: raw, digest: \"%s\"}\n"
			"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}}\n",
			w.image_digest));
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	earth_wait_all(&w, "free", 900);
	warm = a_warm_one(&w);
	assert_string_equal(earth_at(warm, "status.warmFor.name"), "idle");
	(void)to_imaging(&w, &b);
	assert_ptr_equal(b, warm);
	wait_warm(&w, 1, 300);
	assert_true(a_warm_one(&w) != b);
	earth_stop(&w);
}

static void a_pool_keeps_no_more_warm_than_its_limits_leave_room_for(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 815, 3);
	earth_do(&w, &w.host, "PATCH", POOLS "/gpus",
		 json_pack("{s:{s:{s:s}, s:{s:i}}}", "spec", "limits", "nodes", "1", "warm",
			   "nodes", 3));
	earth_replica(&w);
	wait_warm(&w, 1, 900);
	earth_wait_all(&w, "free", 300);
	earth_run(&w, 600000);
	assert_int_equal(count_warm(&w), 1);
	assert_string_equal(warm_reason(&w), "LimitExceeded");
	earth_stop(&w);
}

static void the_pool_says_how_many_are_warm_and_why_not_more(void **state)
{
	struct earth w;
	struct number x = {&w, 0};

	(void)state;
	earth_start(&w, 816, 2);
	want_warm(&w, "gpus", 2);
	earth_replica(&w);
	wait_warm(&w, 2, 900);
	earth_wait(&w, pool_is_warm, &x, 60, "WarmReady");
	want_warm(&w, "gpus", 4);
	earth_run(&w, 30000);
	assert_string_equal(warm_reason(&w), "NoCapacity");
	earth_do(&w, &w.host, "PATCH", POOLS "/gpus", json_pack("{s:{s:b}}", "spec", "paused", 1));
	earth_run(&w, 600000);
	assert_int_equal(count_warm(&w), 2); /* it keeps what it has */
	assert_string_equal(warm_reason(&w), "PoolPaused");
	want_warm(&w, "gpus", 0);
	wait_off(&w, 2, 300);
	earth_run(&w, 30000);
	assert_string_equal(warm_reason(&w), "");
	earth_stop(&w);
}

/* One machine in another rack: it is among the two. */
static void warm_machines_are_spread_over_racks(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 817, 4);
	earth_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s, s:i}}}}", "spec", "limits", "perDomain", "key",
			   "topology.drover.dev/rack", "concurrent", 4));
	for (unsigned i = 0; i < 4; i++) {
		char path[160];

		str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s",
			   w.boxes[i].name);
		earth_do(&w, &w.host, "PATCH", path,
			 json_pack("{s:{s:{s:s}}}", "metadata", "labels",
				   "topology.drover.dev/rack", i < 3 ? "r1" : "r2"));
	}
	earth_replica(&w);
	earth_wait_all(&w, "free", 900);
	want_warm(&w, "gpus", 2);
	wait_warm(&w, 2, 900);
	assert_true(is_warm(&w.boxes[3]));
	earth_stop(&w);
}

#define T(name) cmocka_unit_test(name)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(as_many_as_the_pool_wants_are_on_with_their_agents),
		T(a_warm_machine_is_claimed_without_a_boot_and_another_is_warmed),
		T(what_is_over_is_switched_off),
		T(nothing_stays_warm_for_a_pool_that_is_deleted),
		T(an_agent_that_dies_is_booted_again_and_the_third_time_left_off),
		T(a_machine_that_reboots_while_warm_is_booted_with_a_new_secret),
		T(what_somebody_switches_off_is_not_switched_on_at_once),
		T(a_claim_of_a_machine_whose_agent_is_dead_boots_it_as_usual),
		T(a_claim_takes_a_machine_that_is_still_coming_up),
		T(a_claim_that_is_withdrawn_leaves_a_machine_that_is_warmed_again),
		T(a_machine_that_is_warm_can_be_wiped_retired_and_taken_out_of_use),
		T(what_is_only_observed_is_left_as_it_is),
		T(nothing_is_switched_while_the_provider_is_paused),
		T(one_that_is_on_for_no_known_reason_is_left_and_another_is_warmed),
		T(a_restored_record_of_a_warm_machine_moves_and_switches_off_nothing),
		T(what_is_another_machine_is_not_switched_off),
		T(a_second_leader_goes_on_with_the_agent_that_is_there),
		T(a_leader_that_dies_at_each_entry_on_the_way_to_warm_and_back_is_followed),
		T(a_pool_keeps_no_more_warm_than_its_limits_leave_room_for),
		T(the_pool_says_how_many_are_warm_and_why_not_more),
		T(warm_machines_are_spread_over_racks),
		T(a_lost_request_or_a_leader_that_dies_at_it_changes_nothing_in_the_end),
		T(a_second_caller_with_its_secret_takes_it_out_of_use),
		T(an_agent_that_dies_now_and_then_is_always_booted_again),
		T(warm_machines_wait_their_turn_to_be_switched_on),
		T(a_claim_of_another_pool_takes_a_warm_machine_too),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
