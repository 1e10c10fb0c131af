/* Tests what a wipe report says about records, and that no text of a record is markup in it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "cli/audit.h"
#include "cli/wipe_report.h"
#include "tests/unit/controller/rules/evidence_made.h"

static char *said;

/* Reports on n records, and returns whether all are good; `said` is the report. */
static bool report(json_t *const *list, size_t n, const char *only, bool html)
{
	OWN(audit) a = audit_new();
	struct buf b;
	bool good;

	audit_keys(a, made.drover_text);
	for (size_t i = 0; i < n; i++) {
		char *text = json_text(list[i]);

		audit_add(a, "records/x.json", text, strlen(text));
		free(text);
	}
	audit_run(a, NULL);
	buf_init(&b, 1 << 20);
	good = wipe_report(a, only, html, &b);
	free(said);
	said = mem_strdup(b.data);
	buf_done(&b);
	return good;
}

static void assert_said(const char *what)
{
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static void assert_not_said(const char *what)
{
	if (strstr(said, what))
		fail_msg("did not want '%s' in: %s", what, said);
}

static void a_good_record_is_told_with_each_drive(void **state)
{
	json_t *list[3];

	(void)state;
	made_chain(list);
	assert_true(report(list, 3, NULL, false));
	assert_said("Record gpu-1-40-1\n");
	assert_said(
		"    Result         WIPED: every drive to level Clear or higher, and verified\n");
	assert_said("    Level          Clear (NIST SP 800-88)\n");
	assert_said("    Machine        gpu-1\n");
	assert_said("    Serial number  J7XK2T3\n");
	assert_said("    Tenant before  team-b (1e0f)\n");
	assert_said(
		"    Tenancy        40 (counts the uses of this machine), attempt 1 to wipe it\n");
	assert_said("    Drives         2 expected, 2 found\n");
	assert_said("    Signatures     valid: the agent's signature and drover's signature\n");
	assert_said("    Chain          the first record of this machine\n");
	assert_said("    Digest         sha256:");
	assert_said("    Not covered    GPUMemory, BMC\n");
	assert_said("  Drive 1: Micron 7450\n    Type           NVMe, solid state\n");
	assert_said("    Size           960197124096 bytes (960.2 GB)\n"
		    "    Technique      SanitizeCryptoErase\n    Result code    0 (success)\n"
		    "    Level          Purge (NIST SP 800-88)\n"
		    "    Verification   64 test marks (canaries) were written before the wipe, 0 "
		    "found after it; of "
		    "10512 blocks read back 10512 were clean, 0 not clean, 0 unreadable\n");
	assert_said("  Drive 2: Micron 7450\n    Type           NVMe, spinning disk\n");
	assert_said("Record gpu-1-41-1\n    Result         NOT WIPED: the attempt did not finish\n"
		    "    Cause          AgentSilent: x\n");
	assert_said("valid: drover's signature; the agent did not sign\n");
	assert_said("    Chain          linked to the previous record, gpu-1-41-1, which was");
	assert_said("3 records checked: signatures, fields, verdict and chain agree.");

	/* Reports only one record; its chain is still checked against the other records. */
	assert_true(report(list, 3, "gpu-1-41-2", false));
	assert_not_said("Record gpu-1-40-1");
	assert_said("linked to the previous record, gpu-1-41-1");
	assert_said("1 record checked");
	assert_true(report(list + 2, 1, NULL, false));
	assert_said("names the previous record, gpu-1-41-1, which was not given to this command");
	assert_false(report((json_t *[]){list[0], list[2]}, 2, NULL, false));
	assert_said("INCOMPLETE: the previous record, gpu-1-41-1, is missing");
	assert_said("1 of 2 records: DO NOT TRUST, or INCOMPLETE.");
	assert_false(report(list, 3, "gpu-9-1-1", false));
	assert_said("There is no such record.");
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

static void a_bad_record_proves_nothing_and_shows_nothing(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);

	(void)state;
	json_object_set_new(json_at(o, "spec"), "verdict", json_string("Purge"));
	assert_false(report(&o, 1, NULL, false));
	assert_said("    Result         DO NOT TRUST this record");
	assert_said("    Cause          spec.verdict: not what was signed");
	assert_not_said("Micron");
	assert_not_said("team-b");
	assert_not_said("WIPED");
	assert_false(report(&o, 1, NULL, true));
	assert_said("DO NOT TRUST this record");
	assert_not_said("team-b");
}

static void a_failed_wipe_is_not_called_wiped(void **state)
{
	struct evidence ev = made_sample();
	const char *missing[] = {"eui.0003"};

	(void)state;
	ev.verdict = made_drives[1].level = WIPE_FAIL;
	made_drives[1].reason = "DriveFailed";
	made_drives[1].message = "the drive reported status 5";
	made_drives[1].canaries.found = 3;
	ev.inventory.missing = (struct strings){missing, 1};
	OWN_JSON o = made_record(&ev);
	assert_true(report(&o, 1, NULL, false));
	assert_said("    Result         NOT WIPED: the wipe failed\n"
		    "    Level          Fail: not wiped to any level\n");
	assert_said("    Missing        eui.0003\n");
	assert_said("3 found after it");
	assert_said(
		"    Reason         DriveFailed\n    Message        the drive reported status 5");
}

#define HOSTILE "<script>alert(1)</script>\"'&\033[31m\n<b>"

static void hostile_texts_are_not_markup(void **state)
{
	struct evidence ev = made_sample();
	const char *parts[] = {"<img src=x onerror=alert(1)>"};

	(void)state;
	ev.machine.serial = HOSTILE;
	ev.virtual_cluster.name = HOSTILE;
	ev.virtual_cluster.uid = HOSTILE;
	ev.previous.name = HOSTILE;
	ev.inventory.missing = (struct strings){parts, 1};
	ev.verdict = made_drives[1].level = WIPE_FAIL;
	made_drives[0].model = made_drives[0].serial = made_drives[0].technique = HOSTILE;
	made_drives[1].type = "<i>";
	made_drives[1].reason = made_drives[1].message = HOSTILE;
	made_drives[0].level = WIPE_FAIL;
	OWN_JSON o = made_record(&ev);
	report(&o, 1, NULL, true);
	assert_said("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;?[31m?&lt;b&gt;");
	assert_said("&lt;img src=x onerror=alert(1)&gt;");
	assert_not_said("<script");
	assert_not_said("<img");
	assert_not_said("<b>");
	assert_not_said("\033");
	assert_said("Content-Security-Policy");
	assert_not_said("http://");
	assert_not_said("https://");
	report(&o, 1, NULL, false);
	assert_not_said("\033");
	assert_said("?[31m?<b>"); /* The line feed does not begin a line of the report. */

	/* A record that is bad has texts too: its name, and the error that quotes it. */
	json_object_set_new(json_at(o, "metadata"), "name", json_string(HOSTILE));
	json_object_set_new(json_at(o, "spec"), "envelope", json_string("AAAA"));
	assert_false(report(&o, 1, NULL, true));
	assert_not_said("<script");
	assert_not_said("\033");
	assert_said("Record &lt;script&gt;");
}

/* Asserts that each element that is opened is closed, in order. */
static void the_page_is_well_formed(void **state)
{
	static const char *const empty[] = {"meta", "!DOCTYPE"};
	char open[32][16];
	json_t *list[3];
	int depth = 0;

	(void)state;
	made_chain(list);
	assert_true(report(list, 3, NULL, true));
	assert_true(str_starts(said, "<!DOCTYPE html>\n<html lang=\"en\">\n"));
	for (const char *p = strchr(said, '<'); p; p = strchr(p + 1, '<')) {
		bool closes = p[1] == '/', alone = false;
		char name[16];

		str_format(name, sizeof(name), "%.*s", (int)strcspn(p + 1 + closes, " >"),
			   p + 1 + closes);
		for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
			alone |= str_eq(name, empty[i]);
		if (closes) {
			assert_true(depth > 0);
			assert_string_equal(open[--depth], name);
		} else if (!alone) {
			assert_true(depth < 32);
			str_copy(open[depth++], sizeof(open[0]), name);
		}
	}
	assert_int_equal(depth, 0);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

static int teardown(void **state)
{
	free(said);
	rmdir(made.dir);
	return made_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_record_is_told_with_each_drive),
		cmocka_unit_test(a_bad_record_proves_nothing_and_shows_nothing),
		cmocka_unit_test(a_failed_wipe_is_not_called_wiped),
		cmocka_unit_test(hostile_texts_are_not_markup),
		cmocka_unit_test(the_page_is_well_formed),
	};

	mem_init();
	return cmocka_run_group_tests(tests, made_setup, teardown);
}
