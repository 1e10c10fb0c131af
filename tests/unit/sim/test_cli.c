/* Tests `drover sim`: the rack as a process, its files, and its messages on wrong usage. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "sim/cli.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define SIM(...) verb_run("drover sim", sim_cli, NULL, (const char *const[]){__VA_ARGS__, NULL})

struct rack {
	struct program program;
	char folder[64], data[80], origin[64];
	unsigned port;
};

static int setup(void **state)
{
	struct rack *r = mem_new(struct rack);

	*state = r;
	program_folder(r->folder);
	str_format(r->data, sizeof(r->data), "%s/rack", r->folder);
	r->port = 20000 + (unsigned)getpid() % 10000;
	return 0;
}

static int teardown(void **state)
{
	struct rack *r = *state;

	if (r->program.pid)
		program_end(&r->program, SIGTERM);
	program_folder_done(r->folder);
	free(r);
	return 0;
}

/* Starts the rack on the first free port from r->port on. The addresses of its BMCs are fixed. */
static void start(struct rack *r, const char *option)
{
	char listen[24];

	for (;; r->port++) {
		str_format(listen, sizeof(listen), ":%u", r->port);
		program_start(&r->program, "drover sim", sim_cli,
			      (const char *const[]){"rack", "--machines", "3", "--data", r->data,
						    "--drives", "1", "--drive-gib", "1", "--user",
						    "root", "--listen", listen, option, NULL});
		if (program_hear(&r->program, "3 machines; the first BMC is "))
			break;
		assert_non_null(strstr(r->program.said, "in use"));
		assert_int_equal(program_end(&r->program, 0), 1);
	}
	program_await(&r->program, "Machine objects in ");
	str_format(r->origin, sizeof(r->origin), "%s://127.10.0.2:%u",
		   str_eq(option, "--plain") ? "http" : "https", r->port);
}

static int ask_bmc(struct rack *r, const char *ca_pem, const char *password, const char *path)
{
	return program_ask(&(struct program_call){.url = r->origin,
						  .ca_pem = ca_pem,
						  .user = password ? "root" : NULL,
						  .password = password,
						  .path = path});
}

static void assert_private(struct rack *r, const char *name)
{
	char path[128];
	struct stat st;

	str_format(path, sizeof(path), "%s/%s", r->data, name);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_rack_serves_its_bmcs_with_the_password_and_ca_in_its_folder(void **state)
{
	struct rack *r = *state;
	char *password, *ca;

	start(r, NULL);
	password = program_file(r->data, "password");
	ca = program_file(r->data, "ca.crt");
	assert_int_equal(strlen(password), 16);
	assert_private(r, "password");
	assert_private(r, "bmc.key");
	assert_int_equal(ask_bmc(r, ca, NULL, "/redfish/v1/"), 200);
	assert_int_equal(ask_bmc(r, ca, NULL, "/redfish/v1/Systems"), 401);
	assert_int_equal(ask_bmc(r, ca, password, "/redfish/v1/Systems"), 200);
	/* Without the rack's own CA, the connection fails. */
	assert_int_equal(ask_bmc(r, NULL, NULL, "/redfish/v1/"), 0);
	assert_int_equal(program_end(&r->program, SIGTERM), 0);
	free(password);
	free(ca);
}

static void its_objects_make_drover_manage_every_machine(void **state)
{
	struct rack *r = *state;
	OWN_JSON all = NULL;
	char *text, address[96];
	size_t i, machines = 0;
	json_t *o;
	struct err e;

	start(r, NULL);
	text = program_file(r->data, "objects.yaml");
	all = yaml_parse_all(text, strlen(text), &e);
	free(text);
	assert_non_null(all);
	json_array_foreach (all, i, o) {
		if (!str_eq(json_str_at(o, "kind"), "Machine"))
			continue;
		machines++;
		str_format(address, sizeof(address), "https://127.10.0.%zu:%u/redfish/v1/Systems/1",
			   machines + 1, r->port);
		assert_true(str_eq(json_str_at(o, "spec", "bmc", "address"), address));
		assert_true(str_eq(json_str_at(o, "spec", "providerRef", "name"), "rack"));
	}
	assert_int_equal(machines, 3);
}

static void a_rack_that_comes_again_is_the_same_one(void **state)
{
	static const char *const kept[] = {"password", "ca.crt", "bmc.crt", "bmc.key",
					   "objects.yaml"};
	char *before[sizeof(kept) / sizeof(kept[0])];
	struct rack *r = *state;

	start(r, NULL);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		before[i] = program_file(r->data, kept[i]);
	assert_int_equal(program_end(&r->program, SIGINT), 0);
	start(r, NULL);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		char *after = program_file(r->data, kept[i]);

		assert_string_equal(before[i], after);
		free(before[i]);
		free(after);
	}
}

static void a_folder_is_of_one_rack_at_a_time(void **state)
{
	struct rack *r = *state;
	char *before, *after, listen[24];

	start(r, NULL);
	before = program_file(r->data, "objects.yaml");
	str_format(listen, sizeof(listen), "127.0.0.1:%u", r->port + 1);
	assert_int_equal(SIM("rack", "--machines", "5", "--data", r->data, "--listen", listen), 1);
	verb_assert_said(r->data);
	verb_assert_said("another `drover sim rack` uses this directory");
	after = program_file(r->data, "objects.yaml");
	assert_string_equal(before, after);
	free(before);
	free(after);
	/* A rack that was killed leaves no lock behind. */
	assert_int_equal(kill(r->program.pid, SIGKILL), 0);
	assert_int_equal(waitpid(r->program.pid, NULL, 0), r->program.pid);
	close(r->program.out);
	r->program.pid = 0;
	start(r, NULL);
}

static void something_goes_wrong_on_request_and_no_more(void **state)
{
	struct rack *r = *state;
	char *ca;

	start(r, NULL);
	ca = program_file(r->data, "ca.crt");
	assert_int_equal(SIM("fault", "--rack", r->data), 0);
	verb_assert_said("no faults");
	assert_int_equal(SIM("fault", "--rack", r->data, "gpu-1", "BmcStatus", "--value", "503",
			     "--count", "7"),
			 0);
	verb_assert_said("gpu-1  BmcStatus 503  7 times left");
	assert_int_equal(ask_bmc(r, ca, NULL, "/redfish/v1/"), 503);
	assert_int_equal(SIM("fault", "--rack", r->data, "--clear", "gpu-2"), 0);
	verb_assert_said("6 times left");
	assert_int_equal(SIM("fault", "--rack", r->data, "--clear"), 0);
	verb_assert_said("no faults");
	assert_int_equal(ask_bmc(r, ca, NULL, "/redfish/v1/"), 200);
	assert_int_equal(SIM("fault", "--rack", r->data, "gpu-9", "BmcHang"), 1);
	verb_assert_said("gpu-9: no such machine");
	assert_int_equal(SIM("fault", "--rack", r->data, "gpu-1", "Fire"), 1);
	verb_assert_said("is not one of PowerLie");
	assert_int_equal(SIM("fault", "--rack", r->data, "gpu-1", "BmcHang", "--when", "noon"), 2);
	verb_assert_said("--when: no such phase: noon");
	assert_int_equal(SIM("fault", "--rack", r->data, "gpu-1"), 2);
	verb_assert_said("want the kind of fault");
	assert_int_equal(SIM("fault", "--rack", r->data, "--clear", "gpu-1", "BmcHang"), 2);
	assert_int_equal(SIM("fault", "--rack", "/nonexistent"), 1);
	verb_assert_said("not the directory of a simulated rack");
	free(ca);
}

static void a_plain_rack_has_no_certificates(void **state)
{
	struct rack *r = *state;
	char path[128];

	start(r, "--plain");
	assert_int_equal(ask_bmc(r, NULL, NULL, "/redfish/v1/"), 200);
	str_format(path, sizeof(path), "%s/ca.crt", r->data);
	assert_int_equal(access(path, F_OK), -1);
}

static void bmcs_of_a_make_have_its_addresses_and_the_objects_name_them(void **state)
{
	struct rack *r = *state;
	char *password, *ca, *objects;

	start(r, "--dialect=idrac9");
	password = program_file(r->data, "password");
	ca = program_file(r->data, "ca.crt");
	assert_int_equal(ask_bmc(r, ca, password, "/redfish/v1/Systems/System.Embedded.1"), 200);
	assert_int_equal(ask_bmc(r, ca, password, "/redfish/v1/Systems/1"), 404);
	objects = program_file(r->data, "objects.yaml");
	assert_non_null(strstr(objects, "/redfish/v1/Systems/System.Embedded.1"));
	assert_int_equal(program_end(&r->program, SIGTERM), 0);
	free(password);
	free(ca);
	free(objects);
}

static void what_is_wrong_is_named_with_what_is_allowed(void **state)
{
	struct rack *r = *state;
	char path[128];
	FILE *f;

	assert_int_equal(SIM("rack", "--machines", "0"), 2);
	verb_assert_said("--machines: want 1 to 20000, got '0'");
	assert_int_equal(SIM("rack", "--racks", "0"), 2);
	verb_assert_said("--racks: want 1 to 20000, got '0'");
	assert_int_equal(SIM("rack", "--data", r->data, "--machines", "3", "--racks", "4"), 1);
	verb_assert_said("racks: want at most one for each of the 3 machines, got 4");
	assert_int_equal(SIM("rack", "--drives", "many"), 2);
	verb_assert_said("--drives: want 1 to ");
	assert_int_equal(SIM("rack", "--speed", "1001"), 2);
	verb_assert_said("--speed: want 1 to 1000, got '1001'");
	assert_int_equal(SIM("rack", "--drive-gib", "-1"), 2);
	verb_assert_said("--drive-gib: want 1 to 16384");
	assert_int_equal(SIM("rack", "--listen", "8443"), 2);
	verb_assert_said("want ADDRESS:PORT or :PORT, got '8443'");
	assert_int_equal(SIM("rack", "--data", r->data, "--dialect", "ilo9"), 1);
	verb_assert_said("--dialect: unknown dialect \"ilo9\", want one of idrac9, ");
	assert_int_equal(SIM("rack", "--data", r->data, "--tree", r->folder), 1);
	verb_assert_said("--tree: ");
	verb_assert_said("no service root");
	assert_int_equal(SIM("rack", "--data", r->data, "--dialect", "/nonexistent/mine.yaml"), 1);
	verb_assert_said("--dialect: /nonexistent/mine.yaml");
	str_format(path, sizeof(path), "%s/mine.yaml", r->folder);
	f = fopen(path, "we");
	fputs("like: ilo\nabout: mine\nquirks: {boot: {place: Here}}\n", f);
	fclose(f);
	assert_int_equal(SIM("rack", "--data", r->data, "--dialect", path), 1);
	verb_assert_said("quirks.boot.place: want System or Settings");
	assert_int_equal(SIM("rack", "--dialect", "list"), 0);
	verb_assert_said("openbmc");
	assert_int_equal(SIM("rack", "twice"), 2);
	verb_assert_said("unexpected argument 'twice'");

	assert_int_equal(SIM("rack", "--data", "/nonexistent/rack"), 1);
	verb_assert_said("drover sim rack: /nonexistent/rack");
	assert_int_equal(SIM("rack", "--data", r->data, "--faults", "/nonexistent/faults.yaml"), 1);
	verb_assert_said("/nonexistent/faults.yaml");
	str_format(path, sizeof(path), "%s/faults.yaml", r->folder);
	f = fopen(path, "we");
	fputs("faults: 7\n", f);
	fclose(f);
	assert_int_equal(SIM("rack", "--data", r->data, "--faults", path), 1);
	verb_assert_said(path);
}

static void the_driver_wants_one_rack(void **state)
{
	(void)state;
	assert_int_equal(SIM("port-move"), 2);
	verb_assert_said("want the URL of a rack");
	assert_int_equal(SIM("port-move", "https://a.test", "https://b.test"), 2);
	verb_assert_said("want only one URL");
	assert_int_equal(SIM("port-move", "--ca", "/nonexistent/ca.crt", "https://127.0.0.1:1"), 1);
	verb_assert_said("/nonexistent/ca.crt");
}

static void sim_alone_says_what_there_is(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover sim", sim_cli, NULL, (const char *const[]){NULL}), 2);
	verb_assert_said("want rack");
	assert_int_equal(SIM("tower"), 2);
	assert_int_equal(SIM("help"), 0);
	verb_assert_said("drover sim port-move");
	assert_int_equal(SIM("rack", "--help"), 0);
	verb_assert_said("drover sim rack --machines 8");
	assert_int_equal(SIM("bcm", "--help"), 0);
	verb_assert_said("drover sim bcm --machines 8");
	assert_int_equal(SIM("bcm", "--head", "8081"), 2);
	verb_assert_said("--head: want ADDRESS:PORT, got '8081'");
}

static int ask_head(const char *url, const char *ca, const char *password, const char *path)
{
	return program_ask(&(struct program_call){.url = url,
						  .ca_pem = ca,
						  .user = password ? "drover" : NULL,
						  .password = password,
						  .path = path});
}

static void a_head_node_manages_the_machines_of_its_rack(void **state)
{
	struct rack *r = *state;
	char listen[24], head[32], url[48], *password, *ca, *objects;

	for (;; r->port++) {
		str_format(listen, sizeof(listen), ":%u", r->port);
		str_format(head, sizeof(head), "127.0.0.1:%u", r->port + 10000);
		program_start(&r->program, "drover sim", sim_cli,
			      (const char *const[]){"bcm", "--machines", "2", "--data", r->data,
						    "--drives", "1", "--drive-gib", "1", "--listen",
						    listen, "--head", head, "--bcm-version",
						    "10.25.3", NULL});
		if (program_hear(&r->program, "2 machines; the first BMC is "))
			break;
		assert_non_null(strstr(r->program.said, "in use"));
		assert_int_equal(program_end(&r->program, 0), 1);
	}
	program_await(&r->program, "BCM's head node is ");
	str_format(url, sizeof(url), "https://%s", head);
	password = program_file(r->data, "password");
	ca = program_file(r->data, "ca.crt");
	objects = program_file(r->data, "objects.yaml");
	assert_int_equal(ask_head(url, ca, NULL, "/rest/v1/version"), 401);
	assert_int_equal(ask_head(url, ca, password, "/rest/v1/version"), 200);
	assert_non_null(strstr(program_text, "10.25.3"));
	assert_int_equal(ask_head(url, ca, NULL, "/sim/nodes/gpu-2"), 200);
	assert_non_null(strstr(program_text, "\"ip\":\"127.10.0.3\""));
	assert_non_null(strstr(objects, "type: bcm"));
	assert_non_null(strstr(objects, url));
	assert_int_equal(program_end(&r->program, SIGTERM), 0);
	free(password);
	free(ca);
	free(objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_rack_serves_its_bmcs_with_the_password_and_ca_in_its_folder, setup,
			teardown),
		cmocka_unit_test_setup_teardown(its_objects_make_drover_manage_every_machine, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_rack_that_comes_again_is_the_same_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_folder_is_of_one_rack_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(something_goes_wrong_on_request_and_no_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_plain_rack_has_no_certificates, setup, teardown),
		cmocka_unit_test_setup_teardown(
			bmcs_of_a_make_have_its_addresses_and_the_objects_name_them, setup,
			teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_named_with_what_is_allowed, setup,
						teardown),
		cmocka_unit_test(the_driver_wants_one_rack),
		cmocka_unit_test(sim_alone_says_what_there_is),
		cmocka_unit_test_setup_teardown(a_head_node_manages_the_machines_of_its_rack, setup,
						teardown),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
