/* Tests `drover bmc probe` for an address, and for a Machine with the login in its spec.bmc. */
#include "tests/unit/controller/bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "cli/bmc.h"
#include "cli/cli.h"
#include "tests/contract/fake_bmc.h"
#include "tests/unit/cli/verb.h"

#define BMC "https://10.0.8.17"
#define PASSWORD "correct horse"
#define PIN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

struct rig {
	struct bench *d;
	struct fake_bmc bmc;
	struct http *http;
	/* Path of the file with the password */
	char file[40];
	char *said;
	size_t len;
};

static void write_password(struct rig *f, const char *text)
{
	int fd = open(f->file, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	struct rig *f = mem_new(struct rig);
	void *bench;
	int fd;

	bench_setup(&bench);
	f->d = bench;
	fake_bmc_init(&f->bmc, f->d->server_g);
	http_mem_serve(f->d->net, BMC, f->bmc.httpd);
	f->http = http_new(f->d->g, http_mem_transport(f->d->net, f->d->g, "10.0.0.9", NULL, NULL),
			   4);
	str_copy(f->file, sizeof(f->file), "/tmp/drover-bmc-XXXXXX");
	fd = mkstemp(f->file);
	assert_true(fd >= 0);
	close(fd);
	write_password(f, PASSWORD "\n");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct rig *f = *state;
	void *bench = f->d;

	http_free(f->http);
	fake_bmc_done(&f->bmc);
	unlink(f->file);
	free(f->said);
	bench_teardown(&bench);
	free(f);
	return 0;
}

static int probe(struct rig *f, struct cli_bmc_probe o, bool json)
{
	struct cli_client c = {.verb = "drover bmc",
			       .json = json,
			       .loop = f->d->l,
			       .group = f->d->g,
			       .http = f->http,
			       .host = f->d->c.host};
	int status;

	free(f->said);
	c.out = open_memstream(&f->said, &f->len);
	o.ns = BENCH_NS;
	status = cli_do_bmc_probe(&c, &o);
	fclose(c.out);
	return status;
}

static void assert_said(const struct rig *f, const char *text)
{
	if (!strstr(f->said, text))
		fail_msg("want '%s' in: %s", text, f->said);
}

static void an_address_is_asked_with_a_password_from_a_file(void **state)
{
	struct rig *f = *state;
	struct cli_bmc_probe o = {.what = BMC, .user = "drover", .password_file = f->file};

	f->bmc.vendor = "Nokia";
	http_mem_pin(f->d->net, BMC, PIN);
	assert_int_equal(probe(f, o, false), 0);
	assert_said(f, BMC ": Nokia, BMC 7.10.30, Redfish 1.11.0, UUID ");
	assert_said(f, "  ok     power: on, and off by ForceOff\n");
	assert_said(f, "  note   quirk: Q26-nokia: InsertMedia with the transfer protocol\n");
	assert_said(f, "  note   certificate: sha256:" PIN ", trusted on first use\n");
	assert_said(f, "\nnothing wrong\n");
	assert_null(strstr(f->said, PASSWORD));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	/* Prints JSON (-o json), with a password file that a Windows editor wrote. */
	write_password(f, PASSWORD "\r\n");
	o.fingerprint = "sha256:" PIN;
	assert_int_equal(probe(f, o, true), 0);
	assert_said(f, "\"quirks\": [");
	assert_null(strstr(f->said, "first use"));
}

static void what_is_wrong_is_its_status(void **state)
{
	struct rig *f = *state;
	struct cli_bmc_probe o = {.what = BMC, .user = "drover", .password_file = f->file};

	write_password(f, "another");
	assert_int_equal(probe(f, o, false), 1);
	assert_said(f, "  wrong  login: ");
	assert_said(f, "\n1 wrong\n");
	o.password_file = "/nonexistent/pw";
	assert_int_equal(probe(f, o, false), 1);
	assert_int_equal(f->len, 0);
	assert_int_equal(f->bmc.logins, 1);
}

/* Creates a Provider of this type and its Machine. trusted: BMC address to which the password may
 * be sent. */
static void put(struct rig *f, const char *type, const char *trusted)
{
	bench_fleet(f->d);
	bench_put(f->d, arena_printf(f->d->a,
				     "{'kind': 'Provider', 'metadata': {'name': 'old'}, 'spec': {"
				     "'type': '%s', 'credentialsSecretRef': {'name': 'bmcs'},"
				     " 'boot': {'mediaURL': 'http://10.0.8.2:8080'},"
				     " 'agent': {'endpoint': 'https://10.1.0.5:8443'}}}",
				     type));
	bench_put(f->d, arena_printf(f->d->a,
				     "{'kind': 'Machine', 'metadata': {'name': 'old-7'}, 'spec': {"
				     "'providerRef': {'name': 'old'}, 'bmc': {'address': '" BMC "',"
				     " 'tls': {'trustOnFirstUse': true}}},"
				     " 'status': {'state': 'known', 'bmc': {'fingerprint':"
				     " 'sha256:" PIN "'}, 'trustedBMC': {'address': '%s',"
				     " 'tls': {'trustOnFirstUse': true}, 'credentials': 'bmcs'}}}",
				     trusted));
	bench_secret(f->d, "bmcs", "username", "drover", "password", PASSWORD);
}

static void a_machine_is_asked_as_drover_asks_it(void **state)
{
	struct rig *f = *state;
	struct cli_bmc_probe o = {.what = "old-7"};

	put(f, "redfish", BMC);
	http_mem_pin(f->d->net, BMC, PIN);
	assert_int_equal(probe(f, o, false), 0);
	assert_null(strstr(f->said, "first use"));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	/* The BMC has a certificate other than the one that drover recorded. */
	http_mem_pin(f->d->net, BMC,
		     "ff"
		     "112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	assert_int_equal(probe(f, o, false), 1);
	assert_int_equal(f->bmc.logins, 1);
}

static void a_bmc_that_nobody_approved_gets_no_password(void **state)
{
	struct rig *f = *state;
	struct cli_bmc_probe o = {.what = "old-7"};

	put(f, "redfish", "https://10.0.8.99");
	http_mem_pin(f->d->net, BMC, PIN);
	assert_int_equal(probe(f, o, false), 1);
	assert_int_equal(f->bmc.njournal, 0);
}

static void a_machine_without_redfish_is_refused(void **state)
{
	struct rig *f = *state;
	struct cli_bmc_probe o = {.what = "old-7"};

	put(f, "ipmi", BMC);
	http_mem_pin(f->d->net, BMC, PIN);
	assert_int_equal(probe(f, o, false), 1);
	o.what = "nobody";
	assert_int_equal(probe(f, o, false), 1);
	assert_int_equal(f->bmc.njournal, 0);
}

static void its_command_line_is_checked(void **state)
{
	static const struct {
		const char *const args[8];
		const char *says;
	} wrong[] = {
		{{NULL}, "give a BMC"},
		{{"prove", BMC, NULL}, "unknown subcommand 'prove': want probe"},
		{{"probe", BMC, NULL}, "with ADDRESS, give --user and --password-file"},
		{{"probe", "http://10.0.8.17", "-u", "x", "--password-file", "y", NULL},
		 "must begin with https://"},
		{{"probe", "gpu-1", "--user", "x", NULL}, "a Machine is probed with"},
		{{"probe", BMC, "gpu-1", NULL}, "one BMC at a time"},
		{{"probe", BMC, "-u", "x", "--password", "y", NULL}, "use --password-file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(verb_run("bmc", cli_bmc, NULL, wrong[i].args), 2);
		verb_assert_said(wrong[i].says);
	}
}

#define bmc_verb_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_verb_test(an_address_is_asked_with_a_password_from_a_file),
		bmc_verb_test(what_is_wrong_is_its_status),
		bmc_verb_test(a_machine_is_asked_as_drover_asks_it),
		bmc_verb_test(a_bmc_that_nobody_approved_gets_no_password),
		bmc_verb_test(a_machine_without_redfish_is_refused),
		cmocka_unit_test(its_command_line_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
