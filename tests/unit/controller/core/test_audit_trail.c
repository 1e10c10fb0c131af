/* Tests the queue of the audit log and its segments: full segments, outages, two writers, a full
 * queue, old segments. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_missed.h"
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

/* Returns the first entry with this event; NULL: none. */
static const json_t *first_of(const json_t *all, const char *event)
{
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)all, i, e)
		if (str_eq(json_str_at(e, "event"), event))
			return e;
	return NULL;
}

static unsigned count(const json_t *all, const char *event)
{
	unsigned n = 0;
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)all, i, e)
		n += str_eq(json_str_at(e, "event"), event);
	return n;
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

static bool show(const struct kube_entry *en, void *arg)
{
	audit_trail_segment(arg, NULL, en->object);
	return true;
}

/* The newest segment is deleted while no replica runs. The next leader knows it only from what the
 * last one recorded, and continues after it. */
static void a_deleted_newest_segment_is_named_by_the_next_leader(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	OWN_JSON third = NULL;
	struct audit_newest newest;
	const json_t *e;

	for (int i = 0; i < AUDIT_SEGMENT_ENTRIES + 3; i++)
		create(trails.v[0], d, i);
	audit_trail_lead(trails.v[0], 1);
	assert_int_equal(audit_trail_newest(trails.v[0]).number, 0); /* not compared yet */
	bench_run(d, 10000);
	newest = audit_trail_newest(trails.v[0]);
	assert_int_equal(newest.number, 2);
	assert_int_equal(newest.seq, AUDIT_SEGMENT_ENTRIES + 4);
	audit_trail_free(trails.v[0]);
	trails.n = 0;
	bench_must(d, &d->host, "DELETE",
		   "/apis/" OBJECT_API_VERSION "/auditsegments/audit-00000002", NULL);
	bench_run(d, 1000);
	trails.v[0] = audit_trail_new(&d->c, NULL);
	trails.n = 1;
	kube_cache_each(d->c.cache[OBJECT_AUDIT_SEGMENT], show, trails.v[0]);
	audit_trail_recorded(trails.v[0], &newest);
	audit_trail_lead(trails.v[0], 2);
	bench_run(d, 10000);
	third = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000003");
	assert_non_null(third);
	assert_string_equal(verdict(d, 3, all).text, "");
	assert_int_equal(json_int_at(json_array_get(all, 0), "seq"), newest.seq + 1);
	assert_string_equal(json_str_at(json_array_get(all, 0), "previous"), newest.digest);
	assert_int_equal(count(all, AUDIT_DAMAGED), 1);
	e = first_of(all, AUDIT_DAMAGED);
	assert_string_equal(json_str_at(e, "to"), "audit-00000002");
	assert_int_equal(json_int_at(e, "count"), 4);
}

/* A replica that does not lead writes nothing, and drops what the leader has written. */
static void a_follower_writes_nothing(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	d->c.leading = false;
	for (int i = 0; i < AUDIT_TRAIL_QUEUE + 5; i++)
		create(trails.v[0], d, i);
	bench_run(d, 30000);
	assert_int_equal(verdict(d, 1, all).entries, 0);
	d->c.leading = true;
	audit_trail_lead(trails.v[0], 2);
	bench_run(d, 120000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), AUDIT_TRAIL_QUEUE + 2);
	assert_string_equal(json_str_at(json_array_get(all, 0), "name"), "gpu-5");
	assert_int_equal(json_int_at(first_of(all, AUDIT_LOST), "count"), 5);
}

/* A leader that could write nothing stops to lead; the next leader has recorded the changes. */
static void a_former_leader_writes_nothing_again(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	trails.v[1] = audit_trail_new(&d->c, NULL);
	bench_away(d, &d->host, true);
	for (int i = 0; i < 5; i++)
		create(trails.v[0], d, i);
	bench_run(d, 700000);
	d->c.leading = false;
	audit_trail_follow(trails.v[0]);
	bench_away(d, &d->host, false);
	bench_run(d, 60000);
	d->c.leading = true;
	trails.n = 2;
	for (int i = 0; i < 4; i++)
		create(trails.v[1], d, i);
	bench_run(d, 30000);
	audit_trail_lead(trails.v[0], 2);
	bench_run(d, 30000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_CREATED), 4);
	assert_int_equal(json_int_at(first_of(all, AUDIT_LOST), "count"), 1);
}

/* Reports that the Machine moved from one state to another, between two resourceVersions. */
static void move(struct audit_trail *t, struct bench *d, const char *from, const char *before,
		 const char *to, const char *after)
{
	const struct object_meta meta = {
		.name = "gpu-1", .uid = "u-1", .creation_timestamp = loop_wall(d->l)};
	struct machine was = {.meta = meta}, is = {.meta = meta};

	was.meta.resource_version = before;
	was.status.state = from;
	is.meta.resource_version = after;
	is.status.state = to;
	audit_trail_change(t, OBJECT_MACHINE, &was, &is);
}

/* The other replica lists the objects anew, so that it sees two moves as one, some of them after
 * the leader has written its entries. */
static void a_change_that_two_replicas_saw_differently_is_written_once(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	move(trails.v[0], d, "free", "8", "claimed", "10");
	move(trails.v[0], d, "claimed", "10", "imaging", "12");
	trails.v[1] = audit_trail_new(&d->c, NULL);
	trails.n = 2;
	d->c.leading = false;
	move(trails.v[1], d, "free", "8", "imaging", "14");
	d->c.leading = true;
	bench_run(d, 10000);
	move(trails.v[1], d, "free", "8", "imaging", "13");
	move(trails.v[1], d, "claimed", "10", "imaging", "12");
	audit_trail_lead(trails.v[1], 2);
	bench_run(d, 10000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_STATE), 2);
}

/* The next leader did not see the first of two moves. */
static void a_move_that_nobody_queued_is_added_before_the_next(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	const json_t *e;

	move(trails.v[0], d, "", "7", "free", "8");
	bench_run(d, 5000);
	d->c.leading = false;
	move(trails.v[0], d, "claimed", "10", "imaging", "12");
	d->c.leading = true;
	audit_trail_lead(trails.v[0], 2);
	bench_run(d, 10000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_STATE), 3);
	e = json_array_get(all, 1);
	assert_string_equal(json_str_at(e, "from"), "free");
	assert_string_equal(json_str_at(e, "to"), "claimed");
	assert_true(json_true_at(e, "late"));
}

static void a_segment_is_limited_by_its_bytes(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	OWN_JSON first = NULL;
	char text[600], other[600], name[250], key[300] = "drover.dev/", uid[60];
	json_t *e;
	size_t i, bytes = 0;

	memset(text, '<', sizeof(text) - 1);
	memset(other, '\n', sizeof(other) - 1);
	memset(name, 'n', sizeof(name));
	memset(key + 11, 'k', sizeof(key) - 12);
	other[sizeof(other) - 1] = text[sizeof(text) - 1] = name[sizeof(name) - 1] =
		key[sizeof(key) - 1] = '\0';
	for (int n = 0; n < AUDIT_SEGMENT_ENTRIES; n++) {
		struct label old = {key, other}, label = {key, text};
		struct machine was = {.meta = {.name = name, .uid = uid, .resource_version = "1"}};
		struct machine is = was;

		str_format(uid, sizeof(uid), "%059d", n);
		was.status.tenant.name = is.status.tenant.name = name;
		is.meta.resource_version = "2";
		was.meta.annotations = (struct labels){&old, 1};
		is.meta.annotations.v = &label;
		is.meta.annotations.n = 1;
		audit_trail_change(trails.v[0], OBJECT_MACHINE, &was, &is);
		was.meta.resource_version = "3";
		audit_trail_change(trails.v[0], OBJECT_MACHINE, &is, &was);
	}
	bench_run(d, 10000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), 2 * AUDIT_SEGMENT_ENTRIES);
	first = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000001");
	json_array_foreach (json_at(first, "spec", "entries"), i, e) {
		assert_true(audit_entry_bytes(e) < 4096);
		bytes += audit_entry_bytes(e);
	}
	assert_true(i < AUDIT_SEGMENT_ENTRIES);
	assert_true(bytes < AUDIT_SEGMENT_BYTES + 4096);
}

/* Reports that an object was created whose name is longer than a request may be. */
static void create_refused(struct audit_trail *t, struct bench *d)
{
	const size_t len = 4 << 20;
	char *name = mem_alloc(len + 1);
	const struct machine m = {.meta = {.name = name,
					   .uid = "u-bad",
					   .resource_version = "1",
					   .creation_timestamp = loop_wall(d->l)}};

	memset(name, 'x', len);
	name[len] = '\0';
	audit_trail_change(t, OBJECT_MACHINE, NULL, &m);
	free(name);
}

static void an_entry_that_the_api_server_refuses_is_named_and_the_log_goes_on(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	for (int i = 0; i < 10; i++) {
		create(trails.v[0], d, i);
		if (i == 6)
			create_refused(trails.v[0], d);
	}
	bench_run(d, 60000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(json_array_size(all), 11);
	assert_true(
		str_starts(json_str_at(first_of(all, AUDIT_LOST), "to"), "Created Machine/xxx"));
}

/* One of two writers has an entry that the API server refuses, while the other one appends. */
static void a_refused_entry_does_not_fork_the_chain(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	trails.v[1] = audit_trail_new(&d->c, NULL);
	trails.n = 2;
	create(trails.v[0], d, 0);
	bench_run(d, 5000);
	for (int i = 1; i < 40; i++) {
		create(trails.v[0], d, i);
		if (i % 10 == 0)
			create_refused(trails.v[1], d);
		bench_run(d, 300);
	}
	bench_run(d, 60000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_CREATED), 40);
}

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	void *out = NULL;

	(void)arg;
	return object_decode(&object_kinds[OBJECT_AUDIT_SEGMENT], o, a, &out, e) < 0 ? NULL : out;
}

static void on_second(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	(void)arg;
	audit_trail_segment(trails.v[1], old ? old->object : NULL, new_ ? new_->object : NULL);
}

/* Refuses watches of segments, so that a cache lists them from time to time only. */
static enum http_mem_fault_kind no_watch(const char *origin, const char *method, const char *target,
					 void *arg)
{
	(void)origin;
	(void)method;
	(void)arg;
	return strstr(target, "auditsegments") && strstr(target, "watch=") ? HTTP_MEM_REFUSED
									   : HTTP_MEM_WELL;
}

/* Both replicas believe to lead. Each one has a cache of its own; that of the second one lags. */
static void a_writer_whose_cache_lags_does_not_fork_the_chain(void **state)
{
	struct bench *d = *state;
	struct context second = d->c;
	OWN_JSON all = json_array();
	const struct kube_cache_spec spec = {.client = d->c.host,
					     .resource = &object_resources[OBJECT_AUDIT_SEGMENT],
					     .project = project,
					     .on_change = on_second};

	trails.v[1] = audit_trail_new(&second, NULL);
	http_mem_fault(d->net, no_watch, NULL);
	second.cache[OBJECT_AUDIT_SEGMENT] = kube_cache_new(d->g, &spec);
	for (int i = 0; i < 600; i++) {
		create(trails.v[i % 2], d, i);
		bench_run(d, 40 * (i % 7));
	}
	bench_run(d, 300000);
	http_mem_fault(d->net, NULL, NULL);
	audit_trail_free(trails.v[1]);
	kube_cache_free(second.cache[OBJECT_AUDIT_SEGMENT]);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_CREATED), 600);
}

/* Puts a segment with one entry whose time has a different, valid form. */
static void put_segment(struct bench *d, const char *name, int number, const char *time)
{
	OWN_JSON e =
		json_pack("{s:s, s:s, s:s}", "time", time, "who", "drover", "event", AUDIT_LEADER);
	OWN_JSON s = NULL;
	char *text;

	audit_entry_seal(e, 1, AUDIT_GENESIS);
	s = json_pack("{s:s, s:s, s:{s:s}, s:{s:i, s:[O]}}", "apiVersion", OBJECT_API_VERSION,
		      "kind", "AuditSegment", "metadata", "name", name, "spec", "number", number,
		      "entries", e);
	text = json_text(s);
	bench_must(d, &d->host, "POST", "/apis/drover.dev/v1alpha1/auditsegments", text);
	free(text);
	bench_run(d, 3000);
}

static void an_appended_segment_keeps_its_entries_as_they_are(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	put_segment(d, "audit-00000001", 1, "2026-12-01T10:00:00.000000Z");
	create(trails.v[0], d, 1);
	bench_run(d, 5000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_CREATED), 1);
	assert_string_equal(json_str_at(json_array_get(all, 0), "time"),
			    "2026-12-01T10:00:00.000000Z");
}

/* The numbers of two segments are far apart. */
static void a_segment_with_a_high_number_stops_nothing(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();

	put_segment(d, "audit-00000001", 1, "2026-12-01T10:00:00Z");
	put_segment(d, "audit-2000000000", 2000000000, "2026-12-01T10:00:00Z");
	create(trails.v[0], d, 1);
	audit_trail_lead(trails.v[0], 1);
	bench_run(d, 5000);
	assert_string_equal(verdict(d, 2000000000, all).text, "");
	assert_int_equal(count(all, AUDIT_CREATED), 1);
}

struct found {
	char text[256];
};

static void on_found(const struct audit_entry *e, void *arg)
{
	struct found *f = arg;
	char *line = mem_printf("%s %s->%s\n", e->event, str_or(e->from, ""), str_or(e->to, ""));

	if (str_eq(e->name, "h100"))
		assert_true(strlen(f->text) + strlen(line) < sizeof(f->text));
	if (str_eq(e->name, "h100"))
		strcat(f->text, line);
	free(line);
}

/* A request for deletion increases the generation. */
static void a_deletion_is_no_late_change_of_spec(void **state)
{
	struct bench *d = *state;
	OWN(audit_missed) m = audit_missed_new();
	const struct node_pool *p;
	struct found f = {""};

	bench_fleet(d);
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'metadata': {'finalizers': ['example.com/wait']}}");
	p = CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, "h100");
	audit_missed_know(m,
			  &(struct audit_entry){.event = AUDIT_CREATED,
						.kind = "NodePool",
						.name = "h100",
						.uid = p->meta.uid,
						.to = "1"},
			  true);
	bench_must(d, &d->host, "DELETE", "/apis/drover.dev/v1alpha1/nodepools/h100", NULL);
	bench_run(d, 3000);
	audit_missed_find(m, &d->c, loop_wall(d->l), on_found, &f);
	assert_string_equal(f.text, "DeletionRequested 1->2\n");
}

static void each_deleted_segment_is_named(void **state)
{
	struct bench *d = *state;
	OWN_JSON all = json_array();
	struct audit_entry e = {.who = "drover", .event = AUDIT_LEADER, .digest = AUDIT_GENESIS};
	struct audit_segment s = {.meta = {.name = "audit-00000001"},
				  .spec = {.number = 1, .entries = {&e, 1}}};

	audit_trail_segment(trails.v[0], &s, NULL);
	s.meta.name = "audit-00000002";
	audit_trail_segment(trails.v[0], &s, NULL);
	bench_run(d, 5000);
	assert_string_equal(verdict(d, 1, all).text, "");
	assert_int_equal(count(all, AUDIT_DAMAGED), 2);
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
		TEST(a_deleted_newest_segment_is_named_by_the_next_leader),
		TEST(a_follower_writes_nothing),
		TEST(a_new_leader_finds_what_no_replica_saw),
		TEST(a_former_leader_writes_nothing_again),
		TEST(a_change_that_two_replicas_saw_differently_is_written_once),
		TEST(a_move_that_nobody_queued_is_added_before_the_next),
		TEST(a_segment_is_limited_by_its_bytes),
		TEST(an_entry_that_the_api_server_refuses_is_named_and_the_log_goes_on),
		TEST(a_refused_entry_does_not_fork_the_chain),
		TEST(a_writer_whose_cache_lags_does_not_fork_the_chain),
		TEST(an_appended_segment_keeps_its_entries_as_they_are),
		TEST(a_segment_with_a_high_number_stops_nothing),
		TEST(a_deletion_is_no_late_change_of_spec),
		TEST(each_deleted_segment_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
