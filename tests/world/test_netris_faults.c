#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/fabric.h"
#include "tests/world/leaving.h"
#include "tests/world/netris.h"

/*
 * Faults of a Netris controller or of its configuration. Each fault is reported on the Machine with
 * the next step for the operator. No machine is detached by mistake, and all machines continue once
 * the fault is corrected.
 */
#define PUT_CLUSTER "PUT /api/v2/server-cluster"

struct wrong {
	const char *what, *on;
	int64_t value;
	const char *says;
};

static const char *said;

static bool is_said(void *arg)
{
	return strstr(world_at(arg, "status.operation.lastError.message"), said) != NULL;
}

static void wait_said(struct server *b, const char *text, int64_t limit_s)
{
	said = text;
	world_wait(b->world, is_said, b, limit_s, text);
}

static void patch_netris(struct sim_world *w, const char *member, const char *value)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s}}}}", "spec", "network", "netris", member, value));
}

/* Each fault prevents the move of a free machine. The machine stays off in its segment and reports
 * why. */
static void what_goes_wrong_is_named_and_ends(void **state)
{
	static const struct wrong rows[] = {
		{"Garbage", "GET /api/v2/server-cluster", 0, "its answer is not JSON"},
		{"NoShared", NULL, 0, "does not report which servers are shared"},
		{"Status", PUT_CLUSTER, 403, "403"},
		{"Ignored", PUT_CLUSTER, 0, "does not show the change"},
		{"NotSuccess", PUT_CLUSTER, 0, "Netris PUT"},
	};

	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 230, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		sim_netris_well(n.sim);
		sim_netris_fault(n.sim, rows[i].what, rows[i].on, NULL, rows[i].value, 0);
		print_message("    %s\n", rows[i].what);
		if (!i)
			world_pod(&w, &w.tenants[0], "train");
		wait_said(b, rows[i].says, 1800);
		assert_string_equal(b->segment, "provisioning");
		assert_int_equal(b->doing, SERVER_OFF);
	}
	sim_netris_well(n.sim);
	world_wait_running(&w, &w.tenants[0], "train", 4 * 3600);
	world_netris_stop(&n);
}

/* One machine is missing in Netris' inventory. Only this machine waits; the others continue. */
static void a_machine_that_the_inventory_does_not_have_waits_alone(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 240, 2);
	w.nboxes = 1; /* only the first server is in Netris' inventory */
	world_netris_start(&n, &w, 20, false);
	w.nboxes = 2;
	world_replica(&w);
	wait_said(&w.servers[1], "no server named gpu-2 at site hall", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[0]);
	assert_string_equal(sim_netris_where(n.sim, "gpu-1"), "drover-team-a");
	wait_said(&w.servers[1], "no server named gpu-2 at site hall", 60);
	world_netris_stop(&n);
}

static void a_template_that_is_mistyped_is_named(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 241, 1);
	world_netris_start(&n, &w, 20, false);
	patch_netris(&w, "template", "gpu-tennant");
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	wait_said(b, "gpu-tennant", 1800);
	assert_string_equal(b->segment, "provisioning");
	assert_int_equal(b->doing, SERVER_OFF);
	patch_netris(&w, "template", "gpu-tenant");
	world_wait_running(&w, &w.tenants[0], "train", 4 * 3600);
	world_netris_stop(&n);
}

/* The server is in the cluster, but no port of it followed: the machine is not switched on. */
static void a_template_with_other_nics_keeps_the_machine_off(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 242, 1);
	world_netris_start(&n, &w, 20, false);
	patch_netris(&w, "template", "other-nics");
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	wait_said(b, "contains no port of the server", 1800);
	world_run(&w, 10000);
	assert_int_equal(b->doing, SERVER_OFF);
	assert_string_not_equal(b->state, "serving");
	assert_string_equal(b->segment, "");
	world_netris_stop(&n);
}

/* The session ends before each change, and before the read after the change. */
static void a_session_that_ends_in_the_middle_harms_nothing(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 243, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	sim_netris_fault(n.sim, "Expire", "POST /api/v2/", NULL, 0, 2);
	sim_netris_fault(n.sim, "Expire", PUT_CLUSTER, NULL, 0, 4);
	sim_netris_fault(n.sim, "Expire", "GET /api/v2/server-cluster/", NULL, 0, 4);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 3600);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	assert_true(sim_netris_logins(n.sim) > 4);
	world_netris_stop(&n);
}

/*
 * A second installation of drover: its servers are gpu-3 and gpu-4, and both installations share
 * the clusters `quarantine` and `provisioning`. It moves its servers between the two without a
 * pause.
 */
struct second {
	struct loop_group *group;
	struct http *http;
	struct secret *password;
	struct fabric *fabric;
	struct sim_netris *sim;
	bool stops;
	struct mover {
		struct second *of;
		const char *server;
		bool back, resting;
		unsigned moves;
	} movers[2];
};

static void move(struct mover *m);

static void on_moved(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct mover *m = arg;

	(void)p;
	m->moves++;
	if (!e) {
		assert_string_equal(str_or(sim_netris_wanted(m->of->sim, m->server), "none"),
				    m->back ? "quarantine" : "provisioning");
		m->back = !m->back;
	}
	m->resting = !e && m->of->stops;
	if (!m->resting)
		move(m);
}

static bool is_at_rest(void *arg)
{
	const struct second *s = arg;

	return s->movers[0].resting && s->movers[1].resting;
}

static void move(struct mover *m)
{
	const struct fabric_port p = {.machine = m->server};
	const struct fabric_call c = {.op_id = "01JE", .fence = 1, .done = on_moved, .arg = m};

	fabric_place(m->of->fabric, &p, m->back ? "quarantine" : "provisioning", &c);
}

static void second_start(struct second *s, struct sim_world *w, struct world_netris *with)
{
	static const char *const none[] = {NULL};
	struct fabric_netris n = {.url = WORLD_NETRIS,
				  .user = "drover",
				  .site = "hall",
				  .template_ = "gpu-tenant",
				  .admin = "Admin",
				  .prefix = "second",
				  .host_servers = none};
	struct err e;

	*s = (struct second){.sim = with->sim, .group = loop_group_new(w->loop, "second")};
	s->http = http_new(s->group, http_mem_transport(w->net, s->group, "second", NULL, NULL), 0);
	s->password = secret_from_str(WORLD_PASSWORD);
	n.http = s->http;
	n.password = s->password;
	n.ca_pem = w->ca_pem;
	s->fabric = fabric_new(
		&(struct fabric_spec){.type = "netris", .netris = &n, .group = s->group}, &e);
	if (!s->fabric)
		fail_msg("%s", e.text);
	for (unsigned i = 0; i < 2; i++) {
		s->movers[i] = (struct mover){.of = s, .server = i ? "gpu-4" : "gpu-3"};
		move(&s->movers[i]);
	}
}

static void second_stop(struct second *s)
{
	fabric_free(s->fabric);
	http_free(s->http);
	loop_group_free(s->group);
	secret_free(s->password);
}

/* Two installations write to the same cluster. Because a write replaces the cluster's whole list of
 * servers, and answers are slow, the list that one installation has read is outdated when the other
 * one writes. Still, no installation may report a move as done that is not done. A server that the
 * other installation moved does not count as lost; otherwise each installation would wait for the
 * other for ever. */
static void two_controllers_at_once_lose_nobody(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct second s;
	struct server *b;

	(void)state;
	world_start(&w, 245, 2);
	w.nboxes = 4; /* all four servers are in Netris' inventory */
	world_netris_start(&n, &w, 400, false);
	w.nboxes = 2;
	second_start(&s, &w, &n);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	for (unsigned i = 0; i < 6; i++) {
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 4 * 3600);
		b = world_box_of(&w, &w.tenants[0], "train");
		assert_string_equal(sim_netris_where(n.sim, b->name), "drover-team-a");
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_all(&w, "free", 4 * 3600);
	}
	assert_null(strstr(w.log, "another writer removed"));
	s.stops = true;
	world_wait(&w, is_at_rest, &s, 600, "the other one moves nothing");
	for (unsigned i = 0; i < 2; i++) {
		const struct mover *m = &s.movers[i];

		assert_true(m->moves > 100);
		assert_string_equal(sim_netris_wanted(n.sim, m->server),
				    m->back ? "provisioning" : "quarantine");
		assert_string_equal(sim_netris_wanted(n.sim, w.servers[i].name), "provisioning");
		assert_int_equal(
			json_array_size(json_at(w.servers[i].object, "status", "failures")), 0);
	}
	second_stop(&s);
	world_netris_stop(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_wrong_is_named_and_ends),
		cmocka_unit_test(a_machine_that_the_inventory_does_not_have_waits_alone),
		cmocka_unit_test(a_template_that_is_mistyped_is_named),
		cmocka_unit_test(a_template_with_other_nics_keeps_the_machine_off),
		cmocka_unit_test(a_session_that_ends_in_the_middle_harms_nothing),
		cmocka_unit_test(two_controllers_at_once_lose_nobody),
	};

	mem_init();
	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
