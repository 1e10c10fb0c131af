#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/bcm/edit.h"
#include "tests/unit/providers/bcm/head_rig.h"

/* One edit and its result. */
struct
try {
	struct head_rig rig;
	unsigned count;
	struct err err;
	bool allowed, nothing;
	char category[64];
};

static const char *plan(struct exact device, const struct bcm_node *n, struct arena *a, void *arg,
			struct err *e)
{
	struct try *t = arg;
	struct bcm_lock l = {.machine = "uid-1",
			     .name = "gpu-1",
			     .token = "op-1",
			     .fence = 3,
			     .category = "\"x\""};
	struct exact o;
	const char *text;

	assert_string_equal(n->hostname, "n1");
	if (t->nothing)
		return NULL;
	text = bcm_with_lock(device, &l, a, e);
	if (!text || exact_read(text, strlen(text), &o, e) < 0)
		return NULL;
	return exact_with(o, "category", "\"c0000000-0000-4000-8000-000000000002\"", a, e);
}

static bool may_act(void *arg)
{
	return ((struct try *)arg)->allowed;
}

static void on_done(const struct bcm_node *n, const struct err *e, void *arg)
{
	struct try *t = arg;

	t->count++;
	err_clear(&t->err);
	if (e)
		t->err = *e;
	assert_true(!n == !!e);
	str_copy(t->category, sizeof(t->category), n ? str_or(n->category, "") : "");
}

static enum err_kind edit(struct try *t, const char *node)
{
	struct bcm_edit_spec s = {.bcm = t->rig.bcm,
				  .group = t->rig.group,
				  .node = node,
				  .settle_ms = 3000,
				  .plan = plan,
				  .may_act = may_act,
				  .done = on_done,
				  .arg = t};

	t->count = 0;
	bcm_edit_start(&s);
	assert_int_equal(t->count, 0);
	head_rig_wait(&t->rig, &t->count, 120000);
	assert_int_equal(t->count, 1);
	return t->err.kind;
}

static void start(struct try *t)
{
	*t = (struct try){.allowed = true};
	head_rig_start(&t->rig);
}

static void what_it_does_not_know_stays_letter_for_letter(void **state)
{
	static const char *const kept[] = {"\"priority\":1.50,", "\"serial\":18446744073709551615,",
					   "\"rackPosition\":{\"rack\":\"A1\",\"height\":8}",
					   "\"password\":\"bmc-password-of-bcm\"",
					   "\"extra_values\":{\"site\":\"hall-a\",\"drover\":\""};
	struct try t;

	(void)state;
	start(&t);
	assert_int_equal(edit(&t, "n1"), ERR_NONE);
	assert_string_equal(t.category, "c0000000-0000-4000-8000-000000000002");
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!strstr(sim_head_device(t.rig.node), kept[i]))
			fail_msg("lost: %s\n%s", kept[i], sim_head_device(t.rig.node));
	/* The device is read before the write, after it, and once more after settle_ms. */
	assert_int_equal(sim_head_count(t.rig.head, "cmdevice.getDevice"), 3);
	assert_int_equal(sim_head_count(t.rig.head, "cmdevice.updateDevice"), 1);
	t.nothing = true;
	assert_int_equal(edit(&t, "n1"), ERR_NONE);
	assert_int_equal(sim_head_count(t.rig.head, "cmdevice.updateDevice"), 1);
	assert_int_equal(edit(&t, "n2"), ERR_NOT_FOUND);
	assert_non_null(strstr(t.err.text, "BCM has no node n2"));
	head_rig_end(&t.rig);
}

static void what_was_not_written_is_not_believed(void **state)
{
	static const struct {
		const char *fault;
		enum err_kind want;
		const char *says;
	} rows[] = {
		{"{\"what\":\"Ignored\",\"count\":1}", ERR_CONFLICT, "BCM shows a different"},
		{"{\"what\":\"Overwrite\",\"count\":1}", ERR_CONFLICT, "BCM shows a different"},
		{"{\"what\":\"Moved\",\"count\":1}", ERR_NONE, ""},
		{"{\"what\":\"Invalid\",\"count\":1}", ERR_INVALID, "mac"},
		{"{\"what\":\"Denied\",\"call\":\"cmdevice.updateDevice\",\"count\":1}", ERR_DENIED,
		 "updateDevice"},
		{"{\"what\":\"Null\",\"call\":\"cmdevice.updateDevice\",\"count\":1}", ERR_PROTOCOL,
		 "null"},
		{"{\"what\":\"ErrorMessage\",\"call\":\"cmdevice.updateDevice\",\"count\":1,"
		 "\"text\":\"boom\"}",
		 ERR_PROTOCOL, "boom"},
		{"{\"what\":\"NoCall\",\"call\":\"cmdevice.updateDevice\",\"count\":1}",
		 ERR_UNSUPPORTED, "no such call"},
		/* Whether the reply to the write arrives or not, the read after the write shows the
		 * result. */
		{"{\"what\":\"LostReply\",\"call\":\"cmdevice.updateDevice\",\"count\":1}",
		 ERR_NONE, ""},
		{"{\"what\":\"Status\",\"call\":\"cmdevice.updateDevice\","
		 "\"count\":1,\"value\":503}",
		 ERR_UNAVAILABLE, "503"},
		{"{\"what\":\"Hang\",\"call\":\"cmdevice.updateDevice\",\"count\":1}", ERR_TIMEOUT,
		 ""},
		{"{\"what\":\"Slow\",\"value\":3000}", ERR_NONE, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct try t;

		start(&t);
		head_rig_fault(&t.rig, rows[i].fault);
		if (edit(&t, "n1") != rows[i].want || !strstr(t.err.text, rows[i].says))
			fail_msg("%s: %d %s", rows[i].fault, t.err.kind, t.err.text);
		head_rig_end(&t.rig);
	}
}

/* The read after the write still returns the older state, so the write is not proved. */
static void a_stale_read_is_no_proof(void **state)
{
	struct try t;

	(void)state;
	start(&t);
	sim_head_set(t.rig.node, "notes", "\"x\"");
	head_rig_fault(&t.rig, "{\"what\":\"Stale\",\"call\":\"cmdevice.getDevice\"}");
	assert_int_equal(edit(&t, "n1"), ERR_CONFLICT);
	sim_head_well(t.rig.head);
	assert_int_equal(edit(&t, "n1"), ERR_NONE);
	head_rig_end(&t.rig);
}

static void without_leave_nothing_is_written(void **state)
{
	struct try t;
	struct bcm_edit_spec s;

	(void)state;
	start(&t);
	t.allowed = false;
	assert_int_equal(edit(&t, "n1"), ERR_CONFLICT);
	assert_int_equal(sim_head_count(t.rig.head, "cmdevice.updateDevice"), 0);
	s = (struct bcm_edit_spec){.bcm = t.rig.bcm,
				   .group = t.rig.group,
				   .node = "n1",
				   .plan = plan,
				   .may_act = may_act,
				   .done = on_done,
				   .arg = &t};
	t.count = 0;
	bcm_edit_cancel(bcm_edit_start(&s));
	loop_sim_run_until(t.rig.loop, loop_now(t.rig.loop) + 60000);
	assert_int_equal(t.count, 0);
	head_rig_end(&t.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_does_not_know_stays_letter_for_letter),
		cmocka_unit_test(what_was_not_written_is_not_believed),
		cmocka_unit_test(a_stale_read_is_no_proof),
		cmocka_unit_test(without_leave_nothing_is_written),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
