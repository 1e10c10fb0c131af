/* Tests `drover apiserver`, and with it cli/up/server.c, over real TLS. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "kube/config.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define ANY "127.0.0.1:0"
#define SERVE(p, ...)                                                                              \
	program_start(p, "drover apiserver", cli_apiserver,                                        \
		      (const char *const[]){__VA_ARGS__, NULL})
#define VERB(...)                                                                                  \
	verb_run("drover apiserver", cli_apiserver, NULL, (const char *const[]){__VA_ARGS__, NULL})

static struct program served;
static char folder[64];

static int setup(void **state)
{
	(void)state;
	program_folder(folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (served.pid)
		program_end(&served, SIGTERM);
	program_folder_done(folder);
	return 0;
}

static const char *path_in(const char *name)
{
	static char path[128];

	str_format(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct kube_config *read_config(const char *path)
{
	struct err e;
	struct kube_config *c = kube_config_load(path, NULL, &e);

	if (!c)
		fail_msg("%s", e.text);
	return c;
}

static int ask_as(const struct kube_config *c, const char *token, const char *method,
		  const char *path, const char *body)
{
	struct program_call call = {.url = c->server,
				    .ca_pem = c->ca_pem,
				    .bearer = token,
				    .method = method,
				    .path = path,
				    .body = body};

	return program_ask(&call);
}

static int ask(const struct kube_config *c, const char *method, const char *path, const char *body)
{
	return ask_as(c, secret_expose(c->token), method, path, body);
}

static void its_kubeconfig_lets_the_administrator_in_and_nobody_else(void **state)
{
	OWN(kube_config) c = NULL;
	struct stat st;

	(void)state;
	SERVE(&served, "--data", folder, "--listen", ANY);
	assert_true(str_starts(program_await(&served, "serving "), "https://127.0.0.1:"));
	assert_true(
		str_starts(program_await(&served, "kubectl --kubeconfig "), path_in("admin.conf")));
	assert_int_equal(stat(path_in("admin.conf"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	c = read_config(path_in("admin.conf"));
	assert_int_equal(ask(c, "GET", "/api/v1/namespaces/default", NULL), 200);
	assert_int_equal(ask_as(c, "of-somebody-else-of-somebody-else", "GET",
				"/api/v1/namespaces/default", NULL),
			 401);
	assert_int_equal(program_end(&served, SIGTERM), 0);
}

static void the_next_one_on_its_folder_has_the_same_objects_ca_and_token(void **state)
{
	OWN(kube_config) first = NULL;
	OWN(kube_config) second = NULL;

	(void)state;
	SERVE(&served, "--data", folder, "--listen", ANY);
	program_await(&served, "serving ");
	program_await(&served, "kubectl ");
	first = read_config(path_in("admin.conf"));
	assert_int_equal(
		ask(first, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team-x\"}}"),
		201);
	assert_int_equal(program_end(&served, SIGINT), 0);

	SERVE(&served, "--data", folder, "--listen", ANY, "--kubeconfig-out",
	      path_in("other.conf"));
	assert_string_equal(program_await(&served, "kubectl --kubeconfig ") +
				    strlen(path_in("other.conf")),
			    " get namespaces");
	second = read_config(path_in("other.conf"));
	assert_string_equal(first->ca_pem, second->ca_pem);
	assert_string_equal(secret_expose(first->token), secret_expose(second->token));
	assert_int_equal(ask(second, "GET", "/api/v1/namespaces/team-x", NULL), 200);
	/* A process already uses the directory, so a second one is refused. */
	assert_int_equal(VERB("--data", folder, "--listen", ANY), 1);
	verb_assert_said(folder);
}

static void without_a_folder_nothing_is_kept_but_the_kubeconfig(void **state)
{
	OWN(kube_config) c = NULL;
	struct stat st;

	(void)state;
	SERVE(&served, "--listen", ANY, "--kubeconfig-out", path_in("a.conf"));
	program_await(&served, "kubectl ");
	c = read_config(path_in("a.conf"));
	assert_int_equal(ask(c, "GET", "/api/v1/namespaces/default", NULL), 200);
	assert_int_equal(stat(path_in("ca.key"), &st), -1);
}

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	assert_int_equal(VERB("--listen", ANY), 2);
	verb_assert_said("--data or --kubeconfig-out");
	assert_int_equal(VERB("--data", folder, "extra"), 2);
	verb_assert_said("unexpected argument: extra");
	assert_int_equal(VERB("--data", folder, "--listen", "6443"), 1);
	verb_assert_said("\"6443\": want an address and a port");
	assert_int_equal(VERB("--kubeconfig-out", "/nonexistent/a.conf", "--listen", ANY), 1);
	verb_assert_said("/nonexistent/a.conf");
	assert_int_equal(VERB("--help"), 0);
	verb_assert_said("Example: drover apiserver --data");
}

static void a_port_in_use_is_named_with_the_option_that_takes_another(void **state)
{
	char address[64];

	(void)state;
	SERVE(&served, "--data", path_in("deep/er/one"), "--listen", ANY);
	str_format(address, sizeof(address), "%s", program_await(&served, "serving https://"));
	address[strcspn(address, "\n")] = '\0';
	assert_int_equal(VERB("--data", path_in("two"), "--listen", address), 1);
	verb_assert_said(address);
	verb_assert_said("; choose another address with --listen ADDR:PORT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			its_kubeconfig_lets_the_administrator_in_and_nobody_else, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_next_one_on_its_folder_has_the_same_objects_ca_and_token, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_port_in_use_is_named_with_the_option_that_takes_another, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_folder_nothing_is_kept_but_the_kubeconfig,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_named, setup, teardown),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
