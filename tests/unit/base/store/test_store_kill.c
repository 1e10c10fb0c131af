#include "tests/unit/testing.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/simulated/loop_sim.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/store/store_sqlite.h"
#include "base/str.h"
#include "tests/unit/base/store/store_rig.h"

/*
 * A writer on the real loop is killed with SIGKILL at random moments and started again on the same
 * directory: 100 times, or DROVER_KILLS times.
 *
 * The change with revision r is a function of r and of the earlier content. So the whole content of
 * the store follows from its revision, and the parent can check all of it, not only what was
 * acknowledged. A transaction has three changes; their keys are of three kinds, so that no key
 * occurs twice.
 */
enum { KEYS = 48, PER_COMMIT = 3, HISTORY = 150, MAX_VALUE = 40000 };

struct past {
	/* Revision of the previous value; 0: none. */
	uint64_t before;
	bool del;
};

struct model {
	uint64_t rev;
	/* 0: the key does not exist. */
	uint64_t key_rev[KEYS], create_rev[KEYS];
	/* Indexed by revision. */
	struct past *past;
	size_t cap;
};

static uint64_t mix(uint64_t z)
{
	/* Final step of SplitMix64. */
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static unsigned key_of(uint64_t rev)
{
	return (unsigned)(mix(rev) % (KEYS / PER_COMMIT) * PER_COMMIT + rev % PER_COMMIT);
}

static size_t value_of(uint64_t rev, char out[static MAX_VALUE + 32])
{
	size_t pad = mix(rev + 1) % 50 ? mix(rev + 2) % 1500 : mix(rev + 2) % MAX_VALUE;
	int n = snprintf(out, 32, "r%llu:", (unsigned long long)rev);

	memset(out + n, 'a' + (int)(rev % 26), pad);
	out[(size_t)n + pad] = '\0';
	return (size_t)n + pad;
}

static const char *key_name(unsigned k, char out[static 16])
{
	snprintf(out, 16, "k%02u", k);
	return out;
}

/* Applies the next change to the model and returns it. */
static struct past model_next(struct model *m)
{
	uint64_t rev = ++m->rev;
	unsigned k = key_of(rev);
	struct past p = {.before = m->key_rev[k]};

	p.del = p.before && mix(rev + 3) % 4 == 0;
	if (!p.before)
		m->create_rev[k] = rev;
	m->key_rev[k] = p.del ? 0 : rev;
	return p;
}

/* --- the writer ------------------------------------------------------------------------------- */

struct writer {
	struct store *s;
	struct model m;
	int acks;
};

static void write_next(struct writer *w);

struct ticket {
	struct writer *w;
	uint64_t rev;
};

static void on_done(const struct err *e, void *arg)
{
	struct ticket *t = arg;

	if (e || write(t->w->acks, &t->rev, sizeof(t->rev)) != sizeof(t->rev))
		_exit(3);
	write_next(t->w);
	free(t);
}

static void write_next(struct writer *w)
{
	static char values[PER_COMMIT][MAX_VALUE + 32];
	char keys[PER_COMMIT][16];
	struct store_change c[PER_COMMIT];
	struct ticket *t = mem_new(struct ticket);
	struct err e;

	for (int i = 0; i < PER_COMMIT; i++) {
		struct past p = model_next(&w->m);

		c[i] = (struct store_change){
			.key = key_name(key_of(w->m.rev), keys[i]),
			.value = p.del ? NULL : values[i],
			.value_len = p.del ? 0 : value_of(w->m.rev, values[i]),
			.if_rev = (int64_t)p.before,
		};
	}
	t->w = w;
	if (store_commit(w->s, c, PER_COMMIT, &t->rev, on_done, t, &e) < 0 || t->rev != w->m.rev)
		_exit(4);
}

static void writer_run(const char *folder, int acks, int in_flight)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "writer");
	struct writer w = {.acks = acks};
	struct store_entry entry;
	struct err e;
	char key[16];

	w.s = store_sqlite_new(g, folder, HISTORY, &e);
	if (!w.s) {
		fprintf(stderr, "%s\n", e.text);
		_exit(5);
	}
	w.m.rev = store_rev(w.s);
	for (unsigned k = 0; k < KEYS; k++)
		if (store_get(w.s, key_name(k, key), &entry))
			w.m.key_rev[k] = entry.rev;
	for (int i = 0; i < in_flight; i++)
		write_next(&w);
	loop_run(l);
	_exit(6); /* not reached: the writer runs until it is killed */
}

/* --- the checker ------------------------------------------------------------------------------ */

static void model_to(struct model *m, uint64_t rev)
{
	while (m->rev < rev) {
		struct past p = model_next(m);

		while (m->cap <= m->rev)
			mem_grow(m->past, m->cap, m->cap);
		m->past[m->rev] = p;
	}
}

static bool is_value(const char *value, size_t len, uint64_t rev)
{
	static char want[MAX_VALUE + 32];
	size_t want_len = value_of(rev, want);

	return len == want_len && memcmp(value, want, len) == 0;
}

struct judge {
	struct model *m;
	uint64_t seen;
};

static void judge_event(const struct store_event *ev, void *arg)
{
	struct judge *j = arg;
	uint64_t rev = ++j->seen;
	const struct past *p = &j->m->past[rev];
	char key[16];

	assert_int_equal(ev->entry.rev, rev);
	assert_string_equal(ev->entry.key, key_name(key_of(rev), key));
	assert_int_equal(ev->type == STORE_DELETE, p->del);
	assert_int_equal(!ev->prev_value, !p->before);
	assert_true(is_value(ev->entry.value, ev->entry.value_len, p->del ? p->before : rev));
	if (p->before)
		assert_true(is_value(ev->prev_value, strlen(ev->prev_value), p->before));
}

static void judge_keys(struct store *s, const struct model *m)
{
	size_t there = 0;

	for (unsigned k = 0; k < KEYS; k++) {
		struct store_entry entry;
		char key[16];

		assert_int_equal(store_get(s, key_name(k, key), &entry), m->key_rev[k] != 0);
		if (!m->key_rev[k])
			continue;
		there++;
		assert_int_equal(entry.rev, m->key_rev[k]);
		assert_int_equal(entry.create_rev, m->create_rev[k]);
		assert_true(is_value(entry.value, entry.value_len, entry.rev));
	}
	assert_int_equal(store_count(s, ""), there);
}

static void judge_folder(const char *folder, struct model *m, uint64_t acknowledged)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "judge");
	struct err e;
	struct store *s = store_sqlite_new(g, folder, HISTORY, &e);

	if (!s)
		fail_msg("%s", e.text);

	uint64_t rev = store_rev(s), oldest = store_oldest(s);

	assert_in_range(rev, acknowledged, acknowledged + 12 * PER_COMMIT);
	assert_int_equal((rev - 1) % PER_COMMIT, 0);
	model_to(m, rev);
	judge_keys(s, m);
	assert_int_equal(rev - oldest, rev - 1 < HISTORY ? rev - 1 : HISTORY);

	struct judge j = {.m = m, .seen = oldest};
	struct store_watch *w = store_watch(s, g, "", oldest, judge_event, &j, &e);

	assert_non_null(w);
	loop_run(l);
	assert_int_equal(j.seen, rev);
	store_watch_free(w);
	store_free(s);
	loop_group_free(g);
	loop_free(l);
}

/* Kills the writer after a random time. In half of the calls the time is counted from the writer's
 * start, so that opening is interrupted too; in the other half, from the first acknowledgement. */
static uint64_t kill_one(struct loop *l, const char *folder, uint64_t acknowledged)
{
	int ends[2], status;
	int in_flight = 1 + (int)loop_random_below(l, 12);
	bool at_start = loop_random_below(l, 2) == 0;
	uint64_t rev;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		writer_run(folder, ends[1], in_flight);
	}
	close(ends[1]);
	if (!at_start && read(ends[0], &rev, sizeof(rev)) == sizeof(rev)) {
		assert_true(rev > acknowledged);
		acknowledged = rev;
	}
	usleep((useconds_t)loop_random_below(l, 40000));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status))
		fail_msg("the writer ended by itself with %d", WEXITSTATUS(status));
	while (read(ends[0], &rev, sizeof(rev)) == sizeof(rev)) {
		assert_true(rev > acknowledged);
		acknowledged = rev;
	}
	close(ends[0]);
	return acknowledged;
}

static void a_writer_killed_at_any_moment_loses_nothing_that_was_acknowledged(void **state)
{
	struct loop *l = loop_sim_new((uint64_t)getpid(), 0);
	char *folder = store_rig_folder();
	struct model m = {.rev = 1};
	uint64_t acknowledged = 1;
	int64_t kills;

	(void)state;
	assert_true(str_to_i64(str_or(getenv("DROVER_KILLS"), "100"), 1, 1000000, &kills));
	for (int64_t i = 0; i < kills; i++) {
		acknowledged = kill_one(l, folder, acknowledged);
		judge_folder(folder, &m, acknowledged);
		acknowledged = m.rev;
	}
	print_message("%lld kills, %llu changes\n", (long long)kills, (unsigned long long)m.rev);
	assert_true(m.rev > (uint64_t)kills * PER_COMMIT);
	free(m.past);
	store_rig_remove(folder);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_killed_at_any_moment_loses_nothing_that_was_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
