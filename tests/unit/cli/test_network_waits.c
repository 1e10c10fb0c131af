/* Tests which machines count as waiting for their switch port, and the last line of the check. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/str.h"
#include "cli/network_waits.h"

static json_t *machine(const char *name, const char *state, const char *step, int attempt,
		       const char *reason)
{
	return json_pack("{s:{s:s}, s:{s:s, s:{s:s, s:i, s:{s:s*, s:s}}}}", "metadata", "name",
			 name, "status", "state", state, "operation", "step", step, "attempt",
			 attempt, "lastError", "reason", reason, "message", "timed out");
}

static json_t *finding(const char *name, const char *state, const char *step, int attempt,
		       const char *reason)
{
	OWN_JSON m = machine(name, state, step, attempt, reason);

	return network_waits_finding(m);
}

static void a_port_that_is_tried_again_waits(void **state)
{
	OWN_JSON f = finding("gpu-2", "isolating", "place quarantine", 11, "NetworkNotConfirmed");
	OWN_JSON silent = finding("gpu-3", "attaching", "place tenant-a", 2, NULL);

	(void)state;
	assert_string_equal(json_str_at(f, "of"), "machine gpu-2");
	assert_string_equal(json_str_at(f, "says"),
			    "its port does not move (place quarantine, attempt 11): "
			    "NetworkNotConfirmed: timed out");
	assert_non_null(strstr(json_str_at(f, "mend"), "drover retry gpu-2"));
	assert_string_equal(json_str_at(silent, "says"),
			    "its port does not move (place tenant-a, attempt 2)");
}

static void a_quarantine_for_the_network_waits(void **state)
{
	OWN_JSON m = json_pack("{s:{s:s}, s:{s:s, s:{s:s, s:s}}}", "metadata", "name", "gpu-4",
			       "status", "state", "quarantined", "quarantine", "reason",
			       "NetworkNotConfirmed", "message", "isolating did not finish");
	OWN_JSON f = network_waits_finding(m);

	(void)state;
	assert_string_equal(json_str_at(f, "at"), "quarantined, NetworkNotConfirmed");
}

static void other_machines_do_not_wait(void **state)
{
	OWN_JSON none = json_pack("{s:{s:s}}", "metadata", "name", "gpu-1");

	(void)state;
	assert_null(network_waits_finding(none));
	assert_null(finding("gpu-1", "attaching", "place tenant-a", 1, NULL));
	assert_null(finding("gpu-1", "serving", "place tenant-a", 9, "NetworkNotConfirmed"));
	assert_null(finding("gpu-1", "wiping", "wipe", 3, "BmcUnreachable"));
	assert_null(finding("gpu-1", "quarantined", "place quarantine", 9, NULL));
}

static char said[2000];

static void verdict(json_t *all, unsigned wrong)
{
	FILE *f = fmemopen(said, sizeof(said), "w");

	network_waits_verdict(all, wrong, f);
	fclose(f);
	json_decref(all);
}

static void the_last_line_says_what_waits_and_what_was_not_checked(void **state)
{
	json_t *v = json_array();

	(void)state;
	verdict(json_pack("{s:[]}", "hall-a"), 0);
	assert_string_equal(said, "nothing wrong\n");
	verdict(json_pack("{s:[]}", "hall-a"), 2);
	assert_string_equal(said, "2 wrong\n");
	json_array_append_new(
		v, finding("gpu-2", "isolating", "place quarantine", 11, "NetworkNotConfirmed"));
	verdict(json_pack("{s:[{s:s, s:s}], s:O}", "hall-b", "of", "Provider", "result", "note",
			  "hall-a", v),
		0);
	assert_string_equal(said,
			    "nothing wrong in what was checked; not checked: Provider hall-b; now "
			    "waiting: gpu-2 (place quarantine, attempt 11)\n");
	for (int i = 0; i < 6; i++)
		json_array_append_new(v, finding("gpu-9", "isolating", "place q", 2, NULL));
	verdict(json_pack("{s:o}", "hall-a", v), 1);
	assert_true(str_starts(said, "1 wrong; now waiting: gpu-2 ("));
	assert_true(str_ends(said, " and 2 more\n"));
}

static void foreign_texts_do_not_reach_the_terminal(void **state)
{
	OWN_JSON f = finding("gpu-\033[2J", "isolating", "place \033]0;x\a", 2, "Network\n\033[1m");

	(void)state;
	for (const char *s = json_str_at(f, "says"); *s; s++)
		assert_true((unsigned char)*s >= 0x20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_is_tried_again_waits),
		cmocka_unit_test(a_quarantine_for_the_network_waits),
		cmocka_unit_test(other_machines_do_not_wait),
		cmocka_unit_test(the_last_line_says_what_waits_and_what_was_not_checked),
		cmocka_unit_test(foreign_texts_do_not_reach_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
