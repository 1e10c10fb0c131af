#include "tests/unit/sim/bmc/bench.h"

#include <dirent.h>
#include <unistd.h>
#include "base/data/yaml.h"

/*
 * Tests the rack: which BMC a request addresses, the switch, drives and power, stored state, and
 * objects.yaml.
 */
#define PIN "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct sim_rack *rack_of(struct bench *b, struct sim_rack_spec s)
{
	struct sim_rack *r;
	struct err e;

	s.password = b->password;
	s.http = b->machines_http;
	s.drive_bytes = 1 << 20;
	r = sim_rack_new(b->hardware, &s, &e);
	if (!r)
		fail_msg("%s", e.text);
	return r;
}

/* Replaces the rack by a new one with these settings. */
static void again(struct bench *b, struct sim_rack_spec s)
{
	httpd_free(b->httpd);
	sim_rack_free(b->rack);
	b->httpd = httpd_new(b->hardware);
	b->rack = rack_of(b, s);
	b->m = sim_rack_machine(b->rack, 1);
	sim_rack_routes(b->rack, b->httpd);
	http_mem_serve(b->net, BMC, b->httpd);
}

static int get_from(struct bench *b, const char *origin, const char *path)
{
	struct http_peer_spec peer = {.base_url = origin, .pin_sha256 = PIN};
	struct http_peer *before = b->peer;
	struct err e;
	int status;

	http_mem_serve(b->net, origin, b->httpd);
	http_mem_pin(b->net, origin, PIN);
	b->peer = http_peer_new(b->http, &peer, &e);
	status = get(b, path);
	http_peer_free(b->peer);
	b->peer = before;
	return status;
}

static void the_host_tells_which_bmc_is_meant(void **state)
{
	static const struct {
		const char *origin;
		/* Number of the machine whose BMC is addressed; 0: none */
		unsigned number;
	} cases[] = {
		{"https://127.10.0.2:8443", 1},	    {"https://127.10.0.3", 2},
		{"https://127.10.0.250:8443", 249}, {"https://127.10.1.1:8443", 250},
		{"https://127.10.1.2:8443", 251},   {"https://127.10.1.11:8443", 260},
		{"https://127.10.1.12:8443", 0},    {"https://127.10.0.1:8443", 0},
		{"https://127.10.0.251:8443", 0},   {"https://127.11.0.2:8443", 0},
		{"https://localhost:8443", 0},
	};
	struct bench b;

	(void)state;
	begin(&b, NULL);
	again(&b, (struct sim_rack_spec){.machines = 260});
	assert_int_equal(sim_rack_count(b.rack), 260);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_machine *m = sim_rack_machine(b.rack, cases[i].number);
		int status = get_from(&b, cases[i].origin, "/redfish/v1/");

		if (status != (m ? 200 : 404))
			fail_msg("%s: %d", cases[i].origin, status);
		if (m) /* The UUID of the BMC ends like that of its machine. */
			assert_string_equal(json_str_at(b.json, "UUID") + 8, m->uuid + 8);
	}
	end(&b);
}

static void a_port_moves_and_no_leader_comes_back(void **state)
{
	char path[64], nobody[] = "/sim/ports/00:00:00:00:00:00";
	struct bench b;

	(void)state;
	begin(&b, NULL);
	str_format(path, sizeof(path), "/sim/ports/%s", b.m->mac);
	assert_int_equal(get(&b, path), 200);
	assert_string_equal(json_str_at(b.json, "segment"), "");
	assert_int_equal(call(&b, "PUT", path, "{\"segment\":\"quarantine\",\"fence\":3}", NULL),
			 200);
	assert_string_equal(b.m->segment, "quarantine");
	assert_int_equal(call(&b, "PUT", path, "{\"segment\":\"tenant/a\",\"fence\":2}", NULL),
			 409);
	assert_string_equal(b.m->segment, "quarantine");
	assert_int_equal(call(&b, "PUT", path, "{\"segment\":\"tenant/a\",\"fence\":3}", NULL),
			 200);
	assert_string_equal(b.m->segment, "tenant/a");
	assert_int_equal(call(&b, "PUT", path, "{\"segment\":7}", NULL), 400);
	assert_int_equal(call(&b, "PUT", path, "{", NULL), 400);
	assert_int_equal(get(&b, nobody), 404);
	assert_int_equal(call(&b, "PUT", nobody, "{\"segment\":\"x\"}", NULL), 404);
	end(&b);
}

static void put(struct bench *b, const char *segment)
{
	char path[64], body[64];

	str_format(path, sizeof(path), "/sim/ports/%s", b->m->mac);
	str_format(body, sizeof(body), "{\"segment\":\"%s\"}", segment);
	assert_int_equal(call(b, "PUT", path, body, NULL), 200);
}

static void a_segment_leads_where_it_should_and_nowhere_else(void **state)
{
	static const struct sim_route routes[] = {
		{"tenant/a", "https://a"}, {"tenant/b", "https://b"}, {NULL, NULL}};
	struct bench b;

	(void)state;
	begin(&b, NULL);
	again(&b, (struct sim_rack_spec){.machines = 1, .routes = routes});
	assert_false(sim_machine_reaches(b.m, "https://drover"));
	put(&b, "quarantine");
	assert_true(sim_machine_reaches(b.m, "https://drover"));
	assert_false(sim_machine_reaches(b.m, "https://a"));
	put(&b, "tenant/a");
	assert_true(sim_machine_reaches(b.m, "https://a"));
	assert_false(sim_machine_reaches(b.m, "https://b"));
	assert_false(sim_machine_reaches(b.m, "https://drover"));
	put(&b, "elsewhere");
	assert_false(sim_machine_reaches(b.m, "https://drover"));
	assert_false(sim_machine_reaches(b.m, "https://a"));
	end(&b);

	begin(&b, NULL); /* Without routes, a tenant's segment reaches every address. */
	put(&b, "tenant/a");
	assert_true(sim_machine_reaches(b.m, "https://a"));
	put(&b, "provisioning");
	assert_true(sim_machine_reaches(b.m, "https://drover"));
	put(&b, "elsewhere");
	assert_false(sim_machine_reaches(b.m, "https://a"));
	end(&b);
}

static void a_person_pulls_a_drive_the_plug_and_presses_the_button(void **state)
{
	char buf[4096];
	struct bench b;
	struct err e;

	(void)state;
	begin(&b, NULL);
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-1/press", NULL, NULL), 200);
	pass(&b, 3000);
	assert_true(b.m->on);
	assert_int_equal(get(&b, "/sim/machines"), 200);
	assert_int_equal(json_array_size(json_at(b.json, "machines")), 2);
	assert_true(json_true_at(json_array_get(json_at(b.json, "machines"), 0), "on"));
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-1/plug", "{\"in\":false}", NULL), 200);
	assert_false(b.m->on);
	assert_int_equal(drive_read(b.m->drives[1], buf, sizeof(buf), 0, &e), 0);
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-1/pull-drive", "{\"drive\":1}", NULL),
			 200);
	assert_true(drive_read(b.m->drives[1], buf, sizeof(buf), 0, &e) < 0);
	assert_int_equal(drive_read(b.m->drives[0], buf, sizeof(buf), 0, &e), 0);
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-1/pull-drive",
			      "{\"drive\":1,\"pulled\":false}", NULL),
			 200);
	assert_int_equal(drive_read(b.m->drives[1], buf, sizeof(buf), 0, &e), 0);
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-1/pull-drive", "{\"drive\":2}", NULL),
			 400);
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-1/kick", NULL, NULL), 404);
	assert_int_equal(call(&b, "POST", "/sim/machines/gpu-9/press", NULL, NULL), 404);
	end(&b);
}

static void a_rack_of_its_own_refuses_strangers(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	again(&b, (struct sim_rack_spec){.machines = 1, .loopback_only = true});
	/* The in-memory network reports the client address 10.0.0.1, which is not loopback. */
	assert_int_equal(get(&b, "/redfish/v1/"), 403);
	assert_int_equal(get(&b, "/sim/machines"), 403);
	end(&b);
}

/* --- stored state ----------------------------------------------------------------------------- */

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *one;
	char name[512];

	while (d && (one = readdir(d))) {
		str_format(name, sizeof(name), "%s/%s", path, one->d_name);
		unlink(name);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

static void a_rack_comes_back_as_it_was(void **state)
{
	char folder[] = "/tmp/drover-rack-XXXXXX";
	struct bench b;
	struct sim_rack_spec s = {.machines = 2, .data = folder};

	(void)state;
	assert_non_null(mkdtemp(folder));
	begin(&b, NULL);
	again(&b, s);
	put(&b, "tenant/a");
	log_in(&b);
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"On\"}", NULL), 204);
	pass(&b, 3000);
	again(&b, s);
	assert_true(b.m->on);
	assert_string_equal(b.m->segment, "tenant/a");
	assert_string_equal(sim_rack_machine(b.rack, 2)->segment, "");
	assert_int_equal(get(&b, SYSTEM), 401); /* Sessions are not stored. */
	log_in(&b);
	end(&b);
	remove_folder(folder);
}

static void what_cannot_be_is_refused(void **state)
{
	static const struct {
		struct sim_rack_spec spec;
		const char *says;
	} cases[] = {
		{{.machines = 0}, "machines: want 1 to"},
		{{.machines = 1, .drives = 9}, "drives: want 1 to 4"},
		{{.machines = 1, .data = "/dev/null/x"}, "/dev/null/x"},
	};
	struct bench b;
	struct err e;

	(void)state;
	begin(&b, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_rack_spec s = cases[i].spec;

		s.password = b.password;
		s.http = b.machines_http;
		assert_null(sim_rack_new(b.hardware, &s, &e));
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s", e.text);
	}
	assert_null(sim_rack_new(b.hardware, &(struct sim_rack_spec){.machines = 1}, &e));
	assert_true(str_starts(e.text, "password:"));
	end(&b);
}

static void it_prints_the_objects_that_manage_it(void **state)
{
	OWN_JSON all = NULL;
	const json_t *provider, *machine;
	struct bench b;
	struct err e;
	char *text;

	(void)state;
	begin(&b, NULL);
	again(&b, (struct sim_rack_spec){.machines = 251,
					 .endpoint_format = "https://127.10.%u.%u:9443",
					 .ca_pem = "PEM",
					 .media_url = "http://127.0.0.1:1"});
	text = sim_rack_objects(b.rack, "hall");
	all = yaml_parse_all(text, strlen(text), &e);
	if (!all)
		fail_msg("%s", e.text);
	free(text);
	assert_int_equal(json_array_size(all), 252);
	provider = json_array_get(all, 0);
	assert_string_equal(json_str_at(provider, "kind"), "Provider");
	assert_string_equal(json_str_at(provider, "metadata", "name"), "hall");
	assert_string_equal(json_str_at(provider, "spec", "boot", "mediaURL"),
			    "http://127.0.0.1:1");
	/* Each BMC has its own address, but all of them fetch media from one URL. */
	assert_string_equal(
		json_string_value(json_array_get(json_at(provider, "spec", "boot", "proxies"), 0)),
		"127.0.0.0/8");
	/* rootDevice must match exactly one of the machine's drives. */
	assert_string_equal(
		json_str_at(json_array_get(json_at(provider, "spec", "instanceTypes"), 0),
			    "rootDevice", "model"),
		MACHINE_ROOT_MODEL);
	machine = json_array_get(all, 251);
	assert_string_equal(json_str_at(machine, "metadata", "name"), "gpu-251");
	assert_string_equal(json_str_at(machine, "spec", "bmc", "address"),
			    "https://127.10.1.2:9443" SYSTEM);
	assert_string_equal(json_str_at(machine, "spec", "bmc", "tls", "caSecretRef", "name"),
			    "hall-ca");
	assert_string_equal(json_str_at(machine, "spec", "identity", "systemUUID"),
			    sim_rack_machine(b.rack, 251)->uuid);
	assert_string_equal(json_str_at(machine, "spec", "providerRef", "name"), "hall");
	end(&b);
}

/* Returns the names of the racks of all machines of b, in the order of the machines and without
 * repetition, separated by spaces; malloc'd. *n: sizes of the first 3 racks. */
static char *rack_names(struct bench *b, unsigned machines, unsigned racks, unsigned n[3])
{
	OWN_JSON all = NULL;
	char *text, *names = mem_strdup(""), *last = names;
	unsigned k = 0;
	struct err e;

	memset(n, 0, 3 * sizeof(*n));
	again(b, (struct sim_rack_spec){.machines = machines, .racks = racks});
	text = sim_rack_objects(b->rack, "hall");
	all = yaml_parse_all(text, strlen(text), &e);
	if (!all)
		fail_msg("%s", e.text);
	free(text);
	for (unsigned i = 1; i <= machines; i++) {
		const char *rack = json_str_at(json_array_get(all, i), "metadata", "labels",
					       "topology.drover.dev/rack");

		if (!str_eq(last, rack)) {
			text = mem_printf("%s%s%s", names, *names ? " " : "", rack);
			free(names);
			names = text;
			last = names + strlen(names) - strlen(rack);
			k++;
		}
		if (k <= 3)
			n[k - 1]++;
	}
	return names;
}

static void machines_share_racks_evenly(void **state)
{
	unsigned n[3];
	struct bench b;
	char *names;

	(void)state;
	begin(&b, NULL);
	names = rack_names(&b, 16, 0, n);
	assert_string_equal(names, "hall");
	free(names);
	names = rack_names(&b, 17, 0, n);
	assert_string_equal(names, "hall-1 hall-2");
	assert_int_equal(n[0], 9);
	free(names);
	names = rack_names(&b, 8, 3, n);
	assert_string_equal(names, "hall-1 hall-2 hall-3");
	assert_int_equal(n[0], 3);
	assert_int_equal(n[1], 3);
	assert_int_equal(n[2], 2);
	free(names);
	names = rack_names(&b, 10, 10, n);
	assert_true(str_starts(names, "hall-01 hall-02 "));
	assert_true(str_ends(names, " hall-10"));
	free(names);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_tells_which_bmc_is_meant),
		cmocka_unit_test(a_port_moves_and_no_leader_comes_back),
		cmocka_unit_test(a_segment_leads_where_it_should_and_nowhere_else),
		cmocka_unit_test(a_person_pulls_a_drive_the_plug_and_presses_the_button),
		cmocka_unit_test(a_rack_of_its_own_refuses_strangers),
		cmocka_unit_test(a_rack_comes_back_as_it_was),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(it_prints_the_objects_that_manage_it),
		cmocka_unit_test(machines_share_racks_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
