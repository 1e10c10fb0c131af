/* Generates docs/runbooks from the list of reasons, or tests that it is what the list gives: a page
 * for each reason that drover can report, and no other page. */
#include "tests/unit/generated.h"

#include <ctype.h>
#include <dirent.h>
#include "api/codes.h"
#include "api/reasons.h"
#include "base/arena.h"
#include "controller/explain/owner.h"
#include "controller/rules/machine.h"

#define FOLDER "docs/runbooks"

static const char marked[] =
	"<!-- Generated from api/reasons.def by tests/unit/api/test_runbooks.c; do not edit. -->\n";

static const struct {
	const char *owner, *text;
} owners[] = {
	{"drover", "drover's; it continues by itself"},
	{"device", "that of the machine, its BMC or its drives"},
	{"network",
	 "that of the machine's switch port, or of the path between machine and cluster"},
	{"provider", "that of the manager (BCM) or the cloud of the machine"},
	{"tenant", "the tenant's: its cluster, pods or users"},
	{"operator", "an operator's: a decision or a setting of drover"},
};

static const char *owner_text(const char *reason)
{
	const char *owner = owner_of_reason(reason);

	for (size_t i = 0; owner && i < sizeof(owners) / sizeof(owners[0]); i++)
		if (str_eq(owners[i].owner, owner))
			return owners[i].text;
	fail_msg("%s has no owner in controller/explain/owner.c", reason);
	return NULL;
}

/* Returns the text with MACHINE in place of each %s, in the arena. */
static const char *named(const char *text, struct arena *a)
{
	const char *done = "";

	for (const char *at; (at = strstr(text, "%s")); text = at + 2)
		done = arena_printf(a, "%s%.*sMACHINE", done, (int)(at - text), text);
	return arena_printf(a, "%s%s", done, text);
}

/* Writes each part of a text between semicolons as an item of a list. */
static void put_items(struct buf *b, const char *text)
{
	for (const char *end; (end = strstr(text, "; ")); text = end + 2)
		buf_printf(b, "- %.*s\n", (int)(end - text), text);
	buf_printf(b, "- %s\n", text);
}

/* --- what drover does by itself --------------------------------------------------------------- */

static void put_alone(struct buf *b, const struct reason_info *r, struct arena *a)
{
	buf_puts(b, "\n## What drover does by itself\n\n");
	put_items(b, named(r->alone, a));
	if (r->seen & REASON_TIMED)
		buf_puts(
			b,
			"- In a state with a [time limit](../states.md) the wait ends there, with "
			"this reason. On the way to a tenant the NodeClaim fails, and its pods get "
			"a new one. On the way back the machine is quarantined and tried again "
			"after 10 min, 20 min and so on up to 6 h; after a wipe that did not end, "
			"it waits for an operator.\n");
	else if (r->seen & REASON_RETRIED)
		buf_puts(b, "- A quarantine whose `exit` is `auto` ends by itself; "
			    "`status.operation.nextAttempt` has the time. `drover retry MACHINE` "
			    "does not wait for it.\n");
	if (r->seen & REASON_KEPT)
		buf_puts(b, "- A quarantine whose `exit` is `operator` does not end by itself: "
			    "an operator must act.\n");
}

/* --- where the reason is seen ----------------------------------------------------------------- */

static void put_lower(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_printf(b, "%c", tolower((unsigned char)*text));
}

static void put_alert(struct buf *b, const char *before, const char *name, const char *after)
{
	buf_printf(b, "%s[%s](../alerts.md#", before, name);
	put_lower(b, name);
	buf_printf(b, ")%s", after);
}

static void put_metric(struct buf *b, const char *metric, const struct reason_info *r)
{
	buf_printf(b, "; metric `%s{reason=\"%s\"}`, ", metric, r->name);
}

static void put_waits(struct buf *b, const struct reason_info *r)
{
	if (r->seen & REASON_WAITS) {
		buf_puts(b, "- `status.operation.lastError` of the Machine, and an event on it; ");
		put_alert(b, "if it lasts, alert ", "DroverMachineStuck", "\n");
	}
	if (r->seen & REASON_OTHERS)
		buf_puts(b, "- a condition or an event of the object concerned\n");
	if (!machine_is_out_of_reach(r->name))
		return;
	buf_puts(b, "- condition `Reachable` of the Machine");
	put_metric(b, "drover_machines_unreachable", r);
	put_alert(b, "alert ", "DroverBmcsUnreachable", "\n");
}

static void put_fails(struct buf *b, const struct reason_info *r)
{
	if (r->seen & (REASON_FAILS | REASON_TIMED)) {
		buf_puts(b, "- `status.failures` of the Machine, and condition `Ready` of the "
			    "NodeClaim that failed");
		put_metric(b, "drover_claims_failed_total", r);
		put_alert(b, "alert ", "DroverClaimsFail", "\n");
		buf_puts(b, "- condition `LineStopped` of a NodePool or Provider, if claims fail "
			    "alike");
		put_metric(b, "drover_lines_stopped", r);
		put_alert(b, "alert ", "DroverLineStopped", "\n");
	}
	if (r->seen & (REASON_RETRIED | REASON_KEPT | REASON_TIMED)) {
		buf_puts(b, "- `status.quarantine` of the Machine");
		put_metric(b, "drover_machines_quarantined", r);
		put_alert(b, "alerts ", "DroverQuarantine", " and ");
		put_alert(b, "", "DroverManyQuarantined", "\n");
	}
}

static void put_seen(struct buf *b, const struct reason_info *r)
{
	buf_puts(b, "\n## Where it is seen\n\n");
	put_waits(b, r);
	put_fails(b, r);
}

/* --- pages ------------------------------------------------------------------------------------ */

static void put_more(struct buf *b, const struct reason_info *r, struct arena *a)
{
	buf_puts(b, "\n## Commands that show more\n\n- `drover why` lists all objects with this "
		    "reason, the oldest first\n");
	if (r->seen != REASON_OTHERS)
		buf_puts(b, "- `drover why MACHINE` shows since when it waits, the next attempt, "
			    "and what it depends on\n");
	if (r->more[0])
		buf_printf(b, "- `%s`\n", named(r->more, a));
}

/* Calls fn for each related reason of r. */
static void each_related(const struct reason_info *r, struct arena *a,
			 void (*fn)(const struct reason_info *other, void *arg), void *arg)
{
	char *save = NULL, *names = arena_printf(a, "%s", r->related);

	for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
		enum reason other = reason_find(n);

		if (other == REASON_NONE || str_eq(n, r->name))
			fail_msg("%s: related reason %s does not exist, or is itself", r->name, n);
		fn(&reason_info[other], arg);
	}
}

static void put_related(const struct reason_info *other, void *arg)
{
	buf_printf(arg, "- [%s](%s.md): %s\n", other->name, other->name, other->means);
}

static void page_of(const struct reason_info *r, struct arena *a, struct buf *b)
{
	buf_printf(b, "# %s\n\n%s\nMeaning: %s.\n\nWhose problem: %s.\n", r->name, marked, r->means,
		   owner_text(r->name));
	put_alone(b, r, a);
	buf_puts(b, "\n## What you can do\n\n");
	put_items(b, named(r->helps, a));
	put_more(b, r, a);
	put_seen(b, r);
	buf_puts(b, "\n## Related reasons\n\n");
	each_related(r, a, put_related, b);
}

/* The page of a reason that this version of drover does not know. */
static void page_unknown(struct buf *b)
{
	buf_printf(
		b,
		"# Unknown\n\n%s\nMeaning: the object has no reason, usually because its status "
		"was written by hand or by another version of drover.\n\n"
		"Whose problem: an operator's, if it lasts.\n\n"
		"## What drover does by itself\n\n"
		"- drover writes the reason with its next decision about the object\n\n"
		"## What you can do\n\n"
		"- `drover why NAME` shows the message beside the missing reason\n"
		"- `drover version` and `drover check` show whether all parts are of one version\n"
		"- a quarantined machine without a reason: drover approve MACHINE --wipe (if "
		"nothing on the machine is needed)\n\n"
		"## Where it is seen\n\n"
		"- metrics `drover_machines_quarantined`, `drover_machines_unreachable` and "
		"`drover_lines_stopped` with `reason=\"Unknown\"`\n",
		marked);
}

/* The page of all other reasons, with a heading for each. */
static void page_of_codes(struct buf *b)
{
	buf_printf(
		b,
		"# Other reasons\n\n%s\nReasons in conditions and events of drover's objects that "
		"need no page of their own, because most of them need no action. The condition's "
		"message has the details. Elsewhere are the reasons of [machines](README.md), of "
		"[waiting pods](../pods.md), of [BurstPolicies](../burst.md#codes), and those for "
		"which a machine [leaves](../drain.md).\n",
		marked);
	for (const struct code_info *c = code_info; c->name; c++)
		buf_printf(b, "\n## %s\n\n- seen in: %s\n- meaning: %s\n- what you can do: %s\n",
			   c->name, c->where, c->means,
			   c->helps[0] ? c->helps : "no action needed");
}

static void index_of(struct buf *b)
{
	buf_printf(b,
		   "# Runbooks\n\n%s\nA page for each reason that a machine, its NodeClaim or a "
		   "metric can have: what it means, what drover does by itself, what you can do. "
		   "Alerts with a label `reason` link to the page of that reason; the other alerts "
		   "are in [alerts](../alerts.md). [Reasons](../reasons.md) has all of them on one "
		   "page, [other reasons](codes.md) those of other objects.\n\n"
		   "| Reason | Meaning | Ends |\n|---|---|---|\n",
		   marked);
	for (int r = REASON_NONE + 1; r < REASONS; r++) {
		const struct reason_info *i = &reason_info[r];
		bool kept = i->seen & REASON_KEPT,
		     alone = i->seen & (REASON_RETRIED | REASON_TIMED);

		buf_printf(b, "| [%s](%s.md) | %s | %s |\n", i->name, i->name, i->means,
			   kept && alone		     ? "by itself, or by an operator"
			   : kept			     ? "by an operator"
			   : alone || i->seen & REASON_FAILS ? "by itself, or at a time limit"
							     : "when its cause is gone");
	}
	for (const struct code_info *c = code_info; c->name; c++)
		if (c->helps[0]) {
			buf_printf(b, "| [%s](codes.md#", c->name);
			put_lower(b, c->name);
			buf_printf(b, ") | %s | when its cause is gone |\n", c->means);
		}
	buf_puts(b, "| [Unknown](Unknown.md) | the object has no reason | with drover's next "
		    "decision |\n");
}

static void assert_page(const char *name, struct buf *b, struct arena *a)
{
	assert_generated(arena_printf(a, FOLDER "/%s.md", name), b);
	buf_done(b);
	buf_init(b, 1 << 20);
}

static void each_reason_has_its_page(void **state)
{
	OWN(arena) a = arena_new();
	struct buf b;

	(void)state;
	buf_init(&b, 1 << 20);
	for (int r = REASON_NONE + 1; r < REASONS; r++) {
		page_of(&reason_info[r], a, &b);
		assert_page(reason_info[r].name, &b, a);
	}
	page_unknown(&b);
	assert_page("Unknown", &b, a);
	page_of_codes(&b);
	assert_page("codes", &b, a);
	index_of(&b);
	assert_page("README", &b, a);
	buf_done(&b);
}

static void each_page_is_that_of_a_reason(void **state)
{
	DIR *d = opendir(FOLDER);
	struct dirent *en;
	int pages = 0;

	(void)state;
	assert_non_null(d);
	while ((en = readdir(d))) {
		char name[256];
		size_t n = strlen(en->d_name);

		if (en->d_name[0] == '.')
			continue;
		assert_true(n > 3 && str_eq(en->d_name + n - 3, ".md"));
		str_format(name, sizeof(name), "%.*s", (int)(n - 3), en->d_name);
		if (reason_find(name) == REASON_NONE && !str_eq(name, "Unknown") &&
		    !str_eq(name, "README") && !str_eq(name, "codes"))
			fail_msg(FOLDER "/%s: no such reason; delete it", en->d_name);
		pages++;
	}
	closedir(d);
	assert_int_equal(pages, REASONS + 2);
}

/* What only repeats a text of another reason would help nobody. */
static void each_page_has_texts_of_its_own(void **state)
{
	(void)state;
	for (int r = REASON_NONE + 1; r < REASONS; r++) {
		const struct reason_info *i = &reason_info[r];

		assert_true(i->seen);
		assert_false(str_empty(i->related));
		if (strlen(i->alone) < 40)
			fail_msg("%s: what drover does by itself is missing", i->name);
		for (int o = r + 1; o < REASONS; o++)
			if (str_eq(i->alone, reason_info[o].alone) ||
			    str_eq(i->means, reason_info[o].means))
				fail_msg("%s and %s have the same text", i->name,
					 reason_info[o].name);
	}
}

static void a_code_is_no_second_name_of_a_reason(void **state)
{
	(void)state;
	for (const struct code_info *c = code_info; c->name; c++) {
		assert_int_equal(reason_find(c->name), REASON_NONE);
		assert_ptr_equal(code_find(c->name), c);
		assert_true(!c[1].name || strcmp(c->name, c[1].name) < 0);
	}
	assert_null(code_find("NoSuchCode"));
	assert_null(code_find(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_has_its_page),
		cmocka_unit_test(each_page_is_that_of_a_reason),
		cmocka_unit_test(each_page_has_texts_of_its_own),
		cmocka_unit_test(a_code_is_no_second_name_of_a_reason),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
