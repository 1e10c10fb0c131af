/* Tests the queue of the audit log and its segments: full segments, outages, two writers, a full
 * queue, old segments. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_trail.h"

/* The bench, and the trails that get its segments. */
static struct {
	struct audit_trail *v[2];
	size_t n;
} trails;

static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	(void)d;
	(void)name;
	if (kind == OBJECT_AUDIT_SEGMENT && object)
		for (size_t i = 0; i < trails.n; i++)
			audit_trail_segment(trails.v[i], NULL, object);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	d->c.leading = d->c.ready = true;
	d->on_change = on_change;
	trails.v[0] = audit_trail_new(&d->c, NULL);
	trails.n = 1;
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	for (size_t i = 0; i < trails.n; i++)
		audit_trail_free(trails.v[i]);
	trails.n = 0;
	d->on_change = NULL;
	d->c.leading = d->c.ready = false;
	return bench_teardown(state);
}

/* Reports that the Machine with this number was created. */
static void create(struct audit_trail *t, struct bench *d, int number)
{
	char name[32];
	const struct machine m = {.meta = {.name = name,
					   .uid = name,
					   .resource_version = "1",
					   .creation_timestamp = loop_wall(d->l)}};

	str_format(name, sizeof(name), "gpu-%d", number);
	audit_trail_change(t, OBJECT_MACHINE, NULL, &m);
}

/* Returns the verdict on all segments in the API. *entries gets their entries. */
static struct audit_verdict verdict(struct bench *d, int64_t first, json_t *entries)
{
	OWN(audit_check) c = audit_check_new();
	json_t *e;
	size_t k;

	audit_check_input(c, "api");
	for (int64_t n = first;; n++) {
		char name[64];
		OWN_JSON s = NULL;

		str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)n);
		s = bench_get(d, OBJECT_AUDIT_SEGMENT, name);
		if (!s)
			break;
		json_array_foreach (json_at(s, "spec", "entries"), k, e) {
			audit_check_add(c, e);
			json_array_append(entries, e);
		}
	}
	return audit_check_run(c);
}

static void a_full_segment_is_followed_by_the_next(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	OWN_JSON second = NULL;
	struct audit_verdict v;

	for (int i = 0; i < AUDIT_SEGMENT_ENTRIES - 1; i++)
		create(trails.v[0], d, i);
	bench_run(d, 3000);
	for (int i = 0; i < 3; i++)
		create(trails.v[0], d, 1000 + i);
	bench_run(d, 5000);
	v = verdict(d, 1, all);
	assert_string_equal(v.text, "");
	assert_int_equal(v.entries, AUDIT_SEGMENT_ENTRIES + 2);
	second = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000002");
	assert_int_equal(json_array_size(json_at(second, "spec", "entries")), 2);
}

/* Every write is refused for a while, as during an outage. */
static void nothing_is_lost_while_the_api_server_is_away(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	struct audit_verdict v;

	bench_away(d, &d->host, true);
	for (int i = 0; i < 20; i++) {
		create(trails.v[0], d, i);
		bench_run(d, 1000);
	}
	bench_away(d, &d->host, false);
	bench_run(d, 120000);
	v = verdict(d, 1, all);
	assert_string_equal(v.text, "");
	assert_int_equal(v.entries, 20);
}

static void two_writers_do_not_fork_the_chain(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	struct audit_verdict v;

	trails.v[1] = audit_trail_new(&d->c, NULL);
	trails.n = 2;
	for (int i = 0; i < 200; i++) {
		create(trails.v[i % 2], d, i);
		bench_run(d, 100 * (i % 13));
	}
	bench_run(d, 30000);
	v = verdict(d, 1, all);
	assert_string_equal(v.text, "");
	assert_int_equal(v.entries, 200);
}

static void both_writers_know_an_entry_and_one_writes_it(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	trails.v[1] = audit_trail_new(&d->c, NULL);
	trails.n = 2;
	for (int i = 0; i < 50; i++) {
		create(trails.v[0], d, i);
		create(trails.v[1], d, i);
	}
	bench_run(d, 30000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), 50);
}

static void a_full_queue_counts_what_it_drops(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	json_t *last;

	for (int i = 0; i < AUDIT_TRAIL_QUEUE + 10; i++)
		create(trails.v[0], d, i);
	bench_run(d, 120000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), AUDIT_TRAIL_QUEUE + 1);
	last = json_array_get(all, json_array_size(all) - 1);
	assert_string_equal(json_str_at(last, "event"), AUDIT_LOST);
	assert_int_equal(json_int_at(last, "count"), 10);
	assert_string_equal(json_str_at(json_array_get(all, 0), "name"), "gpu-0");
}

static void the_oldest_segments_are_deleted(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	OWN_JSON kept = NULL;
	OWN_JSON old = NULL;
	const char *previous = AUDIT_GENESIS;
	char digest[CRYPTO_DIGEST_TEXT];

	for (int i = 1; i <= AUDIT_SEGMENTS_KEPT + 3; i++) {
		OWN_JSON e = json_pack("{s:s, s:s, s:s}", "time", "2026-12-01T10:00:00Z", "who",
				       "drover", "event", AUDIT_LEADER);
		char *text;

		audit_entry_seal(e, i, previous);
		previous = str_copy(digest, sizeof(digest), json_str_at(e, "digest")) ? digest : "";
		OWN_JSON s = json_pack("{s:s, s:s, s:{s:o}, s:{s:i, s:[O]}}", "apiVersion",
				       OBJECT_API_VERSION, "kind", "AuditSegment", "metadata",
				       "name", json_sprintf(AUDIT_SEGMENT_NAME, (long long)i),
				       "spec", "number", i, "entries", e);
		text = json_text(s);
		bench_put(d, text);
		free(text);
	}
	audit_trail_lead(trails.v[0], 1);
	bench_run(d, 20000);
	old = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000003");
	kept = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000004");
	assert_null(old);
	assert_non_null(kept);
	assert_string_equal(verdict(d, 4, all).text, "");
	assert_string_equal(json_str_at(json_array_get(all, json_array_size(all) - 1), "event"),
			    AUDIT_LEADER);
}

/* A replica that does not lead writes nothing, and drops what the leader has written. */
static void a_follower_writes_nothing(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	d->c.leading = false;
	for (int i = 0; i < AUDIT_TRAIL_FOLLOW + 5; i++)
		create(trails.v[0], d, i);
	bench_run(d, 30000);
	assert_int_equal(verdict(d, 1, all).entries, 0);
	d->c.leading = true;
	audit_trail_lead(trails.v[0], 2);
	bench_run(d, 60000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), AUDIT_TRAIL_FOLLOW + 1);
	assert_string_equal(json_str_at(json_array_get(all, 0), "name"), "gpu-5");
}

static void add_entry(json_t *entries, const struct audit_entry *e)
{
	const size_t n = json_array_size(entries);
	json_t *j = audit_entry_encode(e);

	audit_entry_seal(j, (int64_t)n + 1,
			 n ? json_str_at(json_array_get(entries, n - 1), "digest") : AUDIT_GENESIS);
	json_array_append_new(entries, j);
}

/* Returns the number of entries about the object with this event, from, to and late. */
static unsigned count_late(const json_t *all, const char *event, const char *name, const char *from,
			   const char *to)
{
	unsigned n = 0;
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)all, i, e)
		n += json_true_at(e, "late") && str_eq(json_str_at(e, "event"), event) &&
		     str_eq(json_str_at(e, "name"), name) && str_eq(json_str_at(e, "from"), from) &&
		     str_eq(json_str_at(e, "to"), to);
	return n;
}

/* The last entries say that m-1 is being wiped, that team-a has another generation, and that a
 * machine exists which does not. */
static void a_new_leader_finds_what_no_replica_saw(void **state)
{
	struct bench *d = *state;
	const int64_t late = loop_wall(d->l) + 3600ll * 1000 * 1000;
	OWN_JSON all = json_array();
	OWN_JSON entries = json_array();
	OWN_JSON m = NULL;
	OWN_JSON team = NULL;
	char *text;

	bench_fleet(d);
	m = bench_get(d, OBJECT_MACHINE, "m-1");
	team = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	add_entry(entries, &(struct audit_entry){.time = late,
						 .who = "drover",
						 .event = AUDIT_STATE,
						 .kind = "Machine",
						 .name = "m-1",
						 .uid = json_str_at(m, "metadata", "uid"),
						 .to = "wiping"});
	add_entry(entries, &(struct audit_entry){.time = late,
						 .who = "unknown",
						 .event = AUDIT_SPEC,
						 .kind = "VirtualCluster",
						 .name = "team-a",
						 .uid = json_str_at(team, "metadata", "uid"),
						 .to = "99"});
	add_entry(entries, &(struct audit_entry){.time = late,
						 .who = "unknown",
						 .event = AUDIT_CREATED,
						 .kind = "Machine",
						 .name = "m-9",
						 .uid = "u-9"});
	OWN_JSON s = json_pack("{s:s, s:s, s:{s:s}, s:{s:i, s:O}}", "apiVersion",
			       OBJECT_API_VERSION, "kind", "AuditSegment", "metadata", "name",
			       "audit-00000001", "spec", "number", 1, "entries", entries);
	text = json_text(s);
	bench_put(d, text);
	free(text);
	audit_trail_lead(trails.v[0], 1);
	bench_run(d, 20000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count_late(all, AUDIT_STATE, "m-1", "wiping", "free"), 1);
	assert_int_equal(count_late(all, AUDIT_SPEC, "team-a", "99", "1"), 1);
	assert_int_equal(count_late(all, AUDIT_DELETED, "m-9", NULL, NULL), 1);
	assert_int_equal(json_array_size(all), 7);
	/* the next leader finds nothing more */
	audit_trail_lead(trails.v[0], 2);
	bench_run(d, 20000);
	json_array_clear(all);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_full_segment_is_followed_by_the_next),
		TEST(nothing_is_lost_while_the_api_server_is_away),
		TEST(two_writers_do_not_fork_the_chain),
		TEST(both_writers_know_an_entry_and_one_writes_it),
		TEST(a_full_queue_counts_what_it_drops),
		TEST(the_oldest_segments_are_deleted),
		TEST(a_follower_writes_nothing),
		TEST(a_new_leader_finds_what_no_replica_saw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
