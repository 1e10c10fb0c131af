#include "tests/unit/sim/node/signer.h"

static int setup_signer(void **state)
{
	*state = town_new(signer_routes);
	((struct town *)*state)->f->site.kubelet_token = NULL;
	return 0;
}

static int teardown_signer(void **state)
{
	json_decref(signer.requests);
	return teardown(state);
}

static void take_token(struct town *t)
{
	assert_int_equal(ask(t, "DELETE", TOKEN, NULL), 200);
}

static bool keeps(struct town *t, const char *text)
{
	return drive_holds(t->f->m.drives[0], text, strlen(text));
}

static void reboot(struct town *t)
{
	sim_machine_reboot(&t->f->m);
	aisle_run(t->f, 15000);
}

static void its_certificate_is_asked_for_as_kubelet_does(void **state)
{
	struct town *t = *state;
	const json_t *o;
	char subject[200];

	boot(t);
	assert_string_equal(ready(t), "True");
	o = signer_request();
	assert_true(str_starts(json_str_at(o, "metadata", "name"), "node-csr-"));
	assert_string_equal(json_str_at(o, "spec", "signerName"),
			    "kubernetes.io/kube-apiserver-client-kubelet");
	assert_string_equal(signer_subject(o, subject),
			    "O = system:nodes, CN = system:node:claim-1");
	assert_int_equal(json_array_size(json_at(o, "spec", "usages")), 2);
	assert_string_equal(json_string_value(json_array_get(json_at(o, "spec", "usages"), 0)),
			    "digital signature");
	assert_string_equal(json_string_value(json_array_get(json_at(o, "spec", "usages"), 1)),
			    "client auth");
}

static void with_its_certificate_it_needs_no_token(void **state)
{
	struct town *t = *state;
	char last[64];

	boot(t);
	take_token(t);
	str_copy(last, sizeof(last), text_at(t, LEASE, "spec", "renewTime"));
	aisle_run(t->f, 15000);
	assert_string_not_equal(text_at(t, LEASE, "spec", "renewTime"), last);
	assert_string_equal(ready(t), "True");
}

static void key_and_certificate_outlive_a_reboot_and_the_rack(void **state)
{
	struct town *t = *state;

	boot(t);
	take_token(t);
	reboot(t);
	assert_string_equal(ready(t), "True");
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "bootID"), t->f->m.boot_id);
	aisle_kill(t->f);
	reboot(t);
	assert_string_equal(ready(t), "True");
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "bootID"), t->f->m.boot_id);
	assert_int_equal(signer.posts, 1);
}

static void a_wipe_takes_key_and_certificate_with_it(void **state)
{
	struct town *t = *state;

	boot(t);
	assert_true(keeps(t, "PRIVATE KEY") && keeps(t, "BEGIN CERTIFICATE"));
	sim_machine_cut(&t->f->m);
	assert_ok(drive_erase(t->f->m.drives[0], &t->f->e), &t->f->e);
	assert_false(keeps(t, "PRIVATE KEY") || keeps(t, "BEGIN CERTIFICATE"));
	boot(t);
	assert_string_equal(ready(t), "True");
	assert_int_equal(json_object_size(signer.requests), 2);
}

static void a_node_that_starts_again_while_it_waits_asks_for_the_same(void **state)
{
	struct town *t = *state;

	signer.verdict = NULL;
	boot(t);
	assert_string_equal(ready(t), "absent");
	reboot(t);
	signer.verdict = "Approved";
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
	assert_int_equal(signer.posts, 2);
	(void)signer_request();
}

static void a_request_that_is_tidied_away_is_made_again(void **state)
{
	struct town *t = *state;

	signer.verdict = NULL;
	boot(t);
	json_object_clear(signer.requests);
	signer.verdict = "Approved";
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
}

static void a_request_that_is_denied_joins_nothing(void **state)
{
	struct town *t = *state;

	signer.verdict = "Denied";
	boot(t);
	aisle_run(t->f, 120000);
	assert_string_equal(ready(t), "absent");
	assert_non_null(strstr(t->f->m.console, "denied the certificate"));
}

static void a_certificate_of_another_key_is_not_taken(void **state)
{
	struct town *t = *state;

	signer.other_key = true;
	boot(t);
	assert_string_equal(ready(t), "absent");
	assert_false(keeps(t, "BEGIN CERTIFICATE"));
	signer.other_key = false;
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
}

/* Nobody approves the certificate request. The town's bootstrap tokens may register nodes
 * themselves, so the node joins with its token. */
static void where_nobody_signs_the_token_registers_the_node(void **state)
{
	struct town *t = *state;

	signer.verdict = NULL;
	boot(t);
	assert_string_equal(ready(t), "absent");
	aisle_run(t->f, 45000);
	assert_string_equal(ready(t), "True");
	assert_false(keeps(t, "BEGIN CERTIFICATE"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_signer, teardown_signer)
	const struct CMUnitTest tests[] = {
		T(its_certificate_is_asked_for_as_kubelet_does),
		T(with_its_certificate_it_needs_no_token),
		T(key_and_certificate_outlive_a_reboot_and_the_rack),
		T(a_wipe_takes_key_and_certificate_with_it),
		T(a_node_that_starts_again_while_it_waits_asks_for_the_same),
		T(a_request_that_is_tidied_away_is_made_again),
		T(a_request_that_is_denied_joins_nothing),
		T(a_certificate_of_another_key_is_not_taken),
		T(where_nobody_signs_the_token_registers_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
