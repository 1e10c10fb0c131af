#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/probe_judge.h"

#define NONCE "a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6"

/* Gateways of quarantine (GATE), of provisioning (OTHER) and of two tenants (TEAM_A, TEAM_B) */
#define GATE "10.0.0.1"
#define OTHER "10.0.1.1"
#define TEAM_A "10.20.0.1:6443"
#define TEAM_B "10.30.0.1"

static struct probe_targets targets;
static struct proto_probe answers[PROTO_PROBES_MAX];
static struct proto_report report;
static struct probe_verdict verdict;

static void own(const char *address)
{
	probe_targets_own(&targets, &(struct strings){&address, 1}, "quarantine");
}

static void other(const char *address, const char *segment)
{
	probe_targets_others(&targets, &(struct strings){&address, 1}, segment);
}

static void say(const char *address, int answer)
{
	report.answers.v[report.answers.n++] = (struct proto_probe){address, answer};
}

static void judge(void)
{
	probe_judge(&targets, NONCE, &report, &verdict);
}

/* All addresses are configured and answer as expected. */
static int begin(void **state)
{
	(void)state;
	targets = (struct probe_targets){0};
	report = (struct proto_report){.state = PROTO_DONE, .nonce = NONCE};
	report.answers.v = answers;
	own(GATE);
	other(OTHER, "provisioning");
	other(TEAM_A, "tenant/team-a");
	other(TEAM_B, "tenant/team-b");
	say(GATE, PROTO_ANSWERED);
	say(OTHER, PROTO_SILENT);
	say(TEAM_A, PROTO_SILENT);
	say(TEAM_B, PROTO_SILENT);
	return 0;
}

static void assert_unproved(const char *why)
{
	judge();
	assert_false(verdict.proved);
	assert_null(verdict.leak);
	assert_non_null(strstr(verdict.why, why));
}

static void its_own_answer_and_the_others_silence_prove_a_segment(void **state)
{
	(void)state;
	judge();
	assert_true(verdict.proved);
	assert_null(verdict.leak);
	assert_string_equal(verdict.why, "");
}

static void any_other_s_answer_is_a_leak_whatever_else_was_heard(void **state)
{
	(void)state;
	answers[2].answer = PROTO_ANSWERED;
	judge();
	assert_false(verdict.proved);
	assert_string_equal(verdict.leak, TEAM_A);
	assert_string_equal(
		verdict.why,
		"10.20.0.1:6443 answered, which only segment tenant/team-a should reach");
	answers[0].answer = PROTO_SILENT;
	answers[1].answer = PROTO_NOT_ASKED;
	judge();
	assert_string_equal(verdict.leak, TEAM_A);
}

static void an_answer_that_is_missing_proves_nothing(void **state)
{
	(void)state;
	answers[0].answer = PROTO_SILENT;
	assert_unproved("10.0.0.1 of segment quarantine did not answer");
	answers[0].answer = PROTO_ANSWERED;
	answers[3].answer = PROTO_NOT_ASKED;
	assert_unproved("10.30.0.1 of segment tenant/team-b could not be probed");
	answers[3].answer = PROTO_SILENT;
	report.answers.n = 3; /* The report lacks the last answer. */
	assert_unproved("10.30.0.1 of segment tenant/team-b could not be probed");
	report.answers.n = 0;
	assert_unproved("10.0.0.1 of segment quarantine did not answer");
}

static void the_answers_of_another_question_prove_nothing(void **state)
{
	(void)state;
	report.nonce = "b1b2b3b4b5b6b7b8b9b0b1b2b3b4b5b6";
	assert_unproved("to a different probe order");
	report.nonce = NULL;
	assert_unproved("to a different probe order");
	report.nonce = NONCE;
	report.state = PROTO_FAILED;
	report.message = "addresses: is missing";
	assert_unproved("could not probe: addresses: is missing");
}

static void silence_alone_proves_nothing_nor_does_an_answer_alone(void **state)
{
	(void)state;
	targets = (struct probe_targets){0};
	other(OTHER, "provisioning");
	assert_unproved("no address is configured that must answer");
	targets = (struct probe_targets){0};
	own(GATE);
	assert_unproved("no address of another segment");
}

/* The address of the other tenant is also one of the machine's own segment, because both use the
 * same address range. */
static void an_address_that_is_also_its_own_tells_nothing(void **state)
{
	(void)state;
	other(GATE ":6443", "tenant/twin");
	assert_int_equal(targets.n, 4);
	judge();
	assert_true(verdict.proved);
}

static void more_than_fit_are_not_proved(void **state)
{
	static char text[PROTO_PROBES_MAX + 1][32];

	(void)state;
	for (size_t i = targets.n; i < PROTO_PROBES_MAX; i++) {
		str_format(text[i], sizeof(text[i]), "10.99.%zu.%zu", i / 250, i % 250);
		other(text[i], "tenant/many");
		say(text[i], PROTO_SILENT);
	}
	judge();
	assert_true(verdict.proved);
	other("10.98.0.1", "tenant/one-more");
	assert_unproved("more than 512 addresses");
}

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Returns the label that an image with this key writes for text. */
static const char *label(const char *key, const char *text)
{
	static char out[128];
	char mac[PROBE_MAC + 1];

	probe_label_mac(key, text, mac);
	str_format(out, sizeof(out), "%s.%s", mac, text);
	return out;
}

static void assert_label_unproved(const char *value, const char *why)
{
	probe_judge_label(&targets, KEY, value, &verdict);
	assert_false(verdict.proved);
	assert_null(verdict.leak);
	assert_non_null(strstr(verdict.why, why));
}

static void a_node_s_label_says_it_as_briefly(void **state)
{
	(void)state;
	assert_label_unproved(NULL, "does not report");
	assert_label_unproved(label(KEY, "silent"), "did not answer");
	assert_label_unproved(label(KEY, "unknown"), "could not probe all");
	assert_label_unproved(label(KEY, ""), "could not probe all");
	probe_judge_label(&targets, KEY, label(KEY, "proved"), &verdict);
	assert_true(verdict.proved);
	probe_judge_label(&targets, KEY, label(KEY, "leak.10.20.0.1_6443"), &verdict);
	assert_string_equal(verdict.leak, TEAM_A);
	assert_string_equal(
		verdict.why,
		"10.20.0.1:6443 answered, which only segment tenant/team-a should reach");
	probe_judge_label(&targets, KEY, label(KEY, "leak.10.99.0.1"), &verdict);
	assert_string_equal(verdict.leak, "10.99.0.1");
	probe_judge_label(&targets, KEY, label(KEY, "leak."), &verdict);
	assert_string_equal(verdict.leak, "unknown");
	targets.more = true;
	assert_label_unproved(label(KEY, "proved"), "more than 512");
	assert_true(verdict.reached);
}

/* drover-join, the shell script in the image, computes the MAC by sha256sum: printf '%s.proved' KEY
 * | sha256sum | cut -c1-16 */
static void a_label_is_of_who_has_the_key(void **state)
{
	char changed[128];

	(void)state;
	assert_string_equal(label(KEY, "proved"), "bb7bb90c9a60e463.proved");
	str_format(changed, sizeof(changed), "%.16s.proved", label(KEY, "leak.10.30.0.1"));
	assert_label_unproved(changed, "not written by its image");
	assert_label_unproved(label("another key", "proved"), "not written by its image");
	assert_label_unproved("proved", "not written by its image");
	assert_label_unproved(".proved", "not written by its image");
	assert_label_unproved("", "not written by its image");
}

/* The tenant's own API server answers, while no other segment has an address to probe. */
static void what_was_reached_is_told_beside_what_is_proved(void **state)
{
	static const char *const none[] = {"silent", "unknown", "leak.10.20.0.1_6443"};
	static const char *own[] = {"10.20.0.10:6443"};

	(void)state;
	targets = (struct probe_targets){0};
	probe_targets_own(&targets, &(struct strings){own, 1}, "tenant/team-a");
	assert_label_unproved(label(KEY, "proved"), "no address of another segment");
	assert_true(verdict.reached);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		probe_judge_label(&targets, KEY, label(KEY, none[i]), &verdict);
		assert_false(verdict.reached);
	}
	probe_judge_label(&targets, KEY, NULL, &verdict);
	assert_false(verdict.reached);
	probe_judge_label(&targets, KEY, label("another key", "proved"), &verdict);
	assert_false(verdict.reached);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, begin)
	const struct CMUnitTest tests[] = {
		T(its_own_answer_and_the_others_silence_prove_a_segment),
		T(any_other_s_answer_is_a_leak_whatever_else_was_heard),
		T(an_answer_that_is_missing_proves_nothing),
		T(the_answers_of_another_question_prove_nothing),
		T(silence_alone_proves_nothing_nor_does_an_answer_alone),
		T(an_address_that_is_also_its_own_tells_nothing),
		T(more_than_fit_are_not_proved),
		T(a_node_s_label_says_it_as_briefly),
		T(a_label_is_of_who_has_the_key),
		T(what_was_reached_is_told_beside_what_is_proved),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
