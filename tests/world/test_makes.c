/* Cost of a machine's whole cycle for its BMC, for each vendor dialect: the number of requests has
 * an upper bound. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/bmc/dialect.h"
#include "sim/rack/rack.h"
#include "tests/world/leaving.h"
#include "tests/world/server.h"
#include "tests/world/world.h"

/*
 * In these tests, the world's server has the BMC of a second, simulated machine with the dialect
 * under test. That BMC switches the server on and off and gives the server its medium. The second
 * machine has the same identity and drives, and boots nothing itself.
 */
#define ORIGIN "https://127.10.0.2:8443"

struct make {
	const char *name;
	/* Maximum of requests from free to free. A change that raises it must say why. */
	int64_t most;
	/* Maximum at 3 s per request; 0: not tested at that latency. */
	int64_t slow;
};

struct rig {
	struct sim_world w;
	struct sim_dialects dialects;
	struct httpd *bmcs;
	struct http *nowhere;
	struct secret *password;
	struct sim_rack *rack;
	struct sim_machine *m;
	/* Power-change callback of the fake BMC and its argument, which this rig replaces. */
	void (*changed)(void *bmc);
	void *bmc;
};

/* Returns what the firmware would boot, as the server's boot override target. */
static const char *target_of(const struct rig *f)
{
	const char *cd = f->dialects.v[0].dialect->quirks.boot.cd, *is = f->m->boot_target;

	if (str_eq(f->m->boot_enabled, "Disabled"))
		return "None";
	if (str_eq(is, str_or(cd, "Cd")) || (!cd && str_eq(is, "UsbCd")))
		return "Cd";
	return str_eq(is, "UefiHttp") ? is : "None";
}

static void on_changed(void *arg)
{
	struct rig *f = arg;
	struct server *b = &f->w.servers[0];

	f->changed(f->bmc);
	if (f->m->on == b->bmc.on)
		return;
	if (f->m->on) {
		fake_bmc_put_target(&b->bmc, target_of(f));
		if (!str_eq(b->bmc.boot_target, "None"))
			b->bmc.boot_enabled = (free(b->bmc.boot_enabled), mem_strdup("Once"));
		fake_bmc_put_image(&b->bmc, f->m->image);
		b->bmc.http_uri = (free(b->bmc.http_uri), mem_strdup(f->m->http_boot_uri));
	}
	server_power(b, f->m->on);
}

static void add_server(struct rig *f)
{
	struct sim_world *w = &f->w;
	struct server *b = &w->servers[0];

	server_init(b, w, 1);
	w->nboxes = 1;
	str_copy(b->origin, sizeof(b->origin), ORIGIN);
	http_free(b->as_bmc); /* media are sent to the address at which the BMC answers */
	b->as_bmc = http_new(
		w->hardware,
		http_mem_transport(w->net, w->hardware, "127.10.0.2:40001", NULL, NULL), 0);
	str_copy(f->m->uuid, sizeof(f->m->uuid), b->uuid);
	str_copy(f->m->serial, sizeof(f->m->serial), b->serial);
	for (unsigned i = 0; i < SERVER_DRIVES; i++)
		str_format(b->drives[i].wwn, sizeof(b->drives[i].wwn), "%sN%u", b->serial, i);
	http_mem_serve(w->net, ORIGIN, f->bmcs);
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:{s:s}, s:{s:[s]}}}", "spec", "boot", "httpsMediaURL", WORLD_AGENT,
			   "agent", "networks", "10.1.0.0/16"));
	world_do(w, &w->host, "POST", "/apis/drover.dev/v1alpha1/machines",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s},s:s,s:s,s:{s:s},s:{s:s,s:{s:b}},s:s}}",
			   "apiVersion", "drover.dev/v1alpha1", "kind", "Machine", "metadata",
			   "name", b->name, "spec", "providerRef", "name", "rack", "instanceType",
			   "gpu-8", "managementPolicy", "Manage", "identity", "systemUUID", b->uuid,
			   "bmc", "address", ORIGIN, "tls", "trustOnFirstUse", 1, "bootMACAddress",
			   b->mac));
}

/* Starts the BMC of that dialect with a delay of latency_s before each answer. */
static void speak(struct rig *f, const char *name, unsigned latency_s)
{
	char yaml[160];
	struct err e;

	sim_dialects_init(&f->dialects);
	str_format(yaml, sizeof(yaml), "like: %s\nabout: slower\nquirks: {latency: %us}\n", name,
		   latency_s);
	if (latency_s)
		assert_ok(sim_dialects_add_text(&f->dialects, name, yaml, strlen(yaml), &e), &e);
	else
		assert_ok(sim_dialects_add(&f->dialects, name, &e), &e);
}

static void start(struct rig *f, const struct make *make, unsigned latency_s, uint64_t seed)
{
	struct sim_rack_spec s = {.machines = 2, .drive_bytes = 1 << 20, .user = "drover"};
	struct err e;

	*f = (struct rig){.rack = NULL};
	world_start(&f->w, seed, 0);
	f->password = secret_from_str(WORLD_PASSWORD);
	f->bmcs = httpd_new(f->w.hardware);
	f->nowhere =
		http_new(f->w.hardware,
			 http_mem_transport(f->w.net, f->w.hardware, "10.9.9.9:1", NULL, NULL), 0);
	speak(f, make->name, latency_s);
	s.password = f->password;
	s.http = f->nowhere;
	s.dialects = &f->dialects;
	f->rack = sim_rack_new(f->w.hardware, &s, &e);
	assert_non_null(f->rack);
	f->m = sim_rack_machine(f->rack, 1);
	sim_rack_routes(f->rack, f->bmcs);
	f->changed = f->m->changed;
	f->bmc = f->m->bmc;
	f->m->changed = on_changed;
	f->m->bmc = f;
	add_server(f);
}

static void stop(struct rig *f)
{
	struct fake_bmc *b = &f->w.servers[0].bmc;

	/* Copy medium and target to the fake BMC, because the invariants read them there. */
	fake_bmc_put_image(b, f->m->image);
	fake_bmc_put_target(b, target_of(f));
	world_kill(&f->w.replicas[0]);
	http_mem_serve(f->w.net, ORIGIN, NULL);
	httpd_free(f->bmcs);
	sim_rack_free(f->rack);
	http_free(f->nowhere);
	sim_dialects_done(&f->dialects);
	secret_free(f->password);
	world_stop(&f->w);
}

static void go_round(const struct make *make, unsigned latency_s, int64_t most)
{
	struct rig f;
	struct server *b = &f.w.servers[0];
	int64_t calls;

	start(&f, make, latency_s, 1720);
	world_replica(&f.w);
	world_wait_state(b, "free", 3600);
	world_pod(&f.w, &f.w.tenants[0], "train");
	world_wait_running(&f.w, &f.w.tenants[0], "train", 3600);
	leaving_begin(&f.w);
	world_wait_state(b, "stopping", 600);
	world_wait_state(b, "free", 3600);
	assert_true(server_is_blank(b));
	assert_false(f.m->on);
	assert_null(f.m->image);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	calls = json_int_at(b->object, "status", "bmc", "tripCalls");
	print_message("bmc_calls_per_trip %-12s %lld (at most %lld), at %u s a request\n",
		      make->name, (long long)calls, (long long)most, latency_s);
	assert_in_range(calls, 1, most);
	stop(&f);
}

static void a_trip_costs_no_more_requests(void **state)
{
	const struct make *make = *state;

	go_round(make, 0, make->most);
}

/* A slow BMC is read less often; a late answer must not cause additional reads. */
static void nor_at_three_seconds_a_request(void **state)
{
	const struct make *make = *state;

	go_round(make, 3, make->slow);
}

/* The bounds are the measured numbers of requests plus ten percent. An observation takes two
 * requests, or three if the make has overrides in a pending object. */
static struct make makes[] = {
	{"idrac9", 190, 117},	  {"idrac10", 325, 156}, {"ilo", 180, 110},
	{"xcc", 176, 117},	  {"ami", 252, 147},	 {"basic", 178, 108},
	{"supermicro", 187, 117}, {"openbmc", 205, 126}, {"openbmc_tls", 205, 0},
	{"sushy", 178, 0},
};
#define MAKES (sizeof(makes) / sizeof(*makes))
#ifdef __SANITIZE_ADDRESS__
#define EACH 3 /* the counts are equal, and each cycle is slow with the sanitizer */
#else
#define EACH 1
#endif

/* ilo_unlicensed, which has no virtual media, cannot make the cycle; every other dialect is in the
 * table. */
static void every_make_has_a_bound(void **state)
{
	const char *name;

	(void)state;
	for (size_t n = 0; (name = sim_dialect_name(n)) != NULL; n++) {
		bool bounded = str_eq(name, "ilo_unlicensed");

		for (size_t i = 0; i < MAKES; i++)
			bounded |= str_eq(name, makes[i].name);
		if (!bounded)
			fail_msg("no bound for %s", name);
	}
}

int main(void)
{
	struct CMUnitTest tests[2 * MAKES + 1] = {cmocka_unit_test(every_make_has_a_bound)};
	size_t n = 1;

	for (size_t i = EACH / 3; i < MAKES; i += EACH) {
		tests[n++] = (struct CMUnitTest){.name = makes[i].name,
						 .test_func = a_trip_costs_no_more_requests,
						 .initial_state = &makes[i]};
		if (makes[i].slow && EACH == 1)
			tests[n++] =
				(struct CMUnitTest){.name = makes[i].name,
						    .test_func = nor_at_three_seconds_a_request,
						    .initial_state = &makes[i]};
	}
	return _cmocka_run_group_tests("makes", tests, n, NULL, NULL);
}
