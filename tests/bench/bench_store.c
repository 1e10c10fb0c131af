/*
 * bench_store: measures the store on disk with values of 1 KB, on the real loop. The reference is
 * the disk itself: plain write() and fdatasync() of 4 KB at a time in the same directory.
 *
 *   store_commits_per_s       64 commits always in flight
 *   store_idle_commit_ms      one commit at a time: median time until its acknowledgement. The
 *                             reference is the disk's own median
 *   store_open_10k_ms         opening a store with 10,000 keys. The reference only reads the file
 *
 * Files are written below $TMPDIR, or in build/.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/store/store_sqlite.h"
#include "base/str.h"
#include "tests/bench/entry.h"

enum { IN_FLIGHT = 64, COMMITS = 30000, IDLE = 2000, KEYS = 10000, HISTORY = 5000, VALUE = 1024 };

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_store: %s\n", what);
	exit(1);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return v[n / 2];
}

/* --- the disk --------------------------------------------------------------------------------- */

struct disk {
	double per_s, median_ms;
};

static struct disk measure_disk(const char *folder)
{
	static double took[IDLE];
	static char page[4096];
	char *path = mem_printf("%s/plain", folder);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	double began;
	struct disk d;

	for (int i = 0; i < 1000; i++)
		if (fd < 0 || pwrite(fd, page, sizeof(page), (off_t)i * 4096) != sizeof(page))
			die(strerror(errno));
	(void)fsync(fd);
	began = seconds();
	for (int i = 0; i < IDLE; i++) {
		double from = seconds();

		if (pwrite(fd, page, sizeof(page), (off_t)(i % 1000) * 4096) != sizeof(page) ||
		    fdatasync(fd) < 0)
			die(strerror(errno));
		took[i] = seconds() - from;
	}
	d.per_s = IDLE / (seconds() - began);
	d.median_ms = median(took, IDLE) * 1000;
	(void)close(fd);
	(void)unlink(path);
	free(path);
	return d;
}

static double read_whole(const char *folder)
{
	static char part[65536];
	char *path = mem_printf("%s/store.db", folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	double began = seconds();
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0)
		;
	if (n < 0)
		die(strerror(errno));
	(void)close(fd);
	free(path);
	return seconds() - began;
}

/* --- the store -------------------------------------------------------------------------------- */

struct bench {
	struct loop *l;
	struct store *s;
	size_t begun, ended, total;
	/* took: time of each commit, if only one is in flight at a time; NULL: not measured */
	double from, *took;
};

static void begin(struct bench *b);

static void on_done(const struct err *e, void *arg)
{
	struct bench *b = arg;

	if (e)
		die(e->text);
	if (b->took)
		b->took[b->ended] = seconds() - b->from;
	if (++b->ended == b->total)
		loop_stop(b->l);
	else if (b->begun < b->total)
		begin(b);
}

static void begin(struct bench *b)
{
	static char value[VALUE];
	char key[64];
	struct store_change c = {.key = key, .value = value, .value_len = VALUE, .if_rev = -1};
	struct err e;

	memset(value, 'v', sizeof(value));
	(void)snprintf(key, sizeof(key), "pods/team/train-%05zu", b->begun++ % KEYS);
	b->from = seconds();
	if (store_commit(b->s, &c, 1, NULL, on_done, b, &e) < 0)
		die(e.text);
}

static double run(struct bench *b, size_t total, size_t in_flight)
{
	double from = seconds();

	b->begun = b->ended = 0;
	b->total = total;
	for (size_t i = 0; i < in_flight; i++)
		begin(b);
	loop_run(b->l);
	return seconds() - from;
}

static struct store *open_store(struct loop_group *g, const char *folder)
{
	struct err e;
	struct store *s = store_sqlite_new(g, folder, HISTORY, &e);

	if (!s)
		die(e.text);
	return s;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

int main(void)
{
	static double took[IDLE];
	char *folder = mem_printf("%s/drover-bench-XXXXXX", str_or(getenv("TMPDIR"), "build"));
	struct bench b = {.l = loop_uv_new()};
	struct loop_group *g = loop_group_new(b.l, "bench");
	struct disk d;
	double s, open_s, read_s;

	if (!mkdtemp(folder))
		die("no folder");
	d = measure_disk(folder);
	b.s = open_store(g, folder);
	s = run(&b, COMMITS, IN_FLIGHT);
	entry_print(&(struct entry){
		.name = "store_commits_per_s",
		.unit = "1/s",
		.better = "higher",
		.value = COMMITS / s,
		.goal = 6000,
		.reference = "fdatasync of 4 KB",
		.reference_value = d.per_s,
		.n = COMMITS,
	});

	b.took = took;
	(void)run(&b, IDLE, 1);
	entry_print(&(struct entry){
		.name = "store_idle_commit_ms",
		.unit = "ms",
		.better = "lower",
		.value = median(took, IDLE) * 1000,
		.goal = 5,
		.reference = "fdatasync of 4 KB",
		.reference_value = d.median_ms,
		.n = IDLE,
	});

	store_free(b.s);
	read_s = read_whole(folder);
	open_s = seconds();
	b.s = open_store(g, folder);
	entry_print(&(struct entry){
		.name = "store_open_10k_ms",
		.unit = "ms",
		.better = "lower",
		.value = (seconds() - open_s) * 1000,
		.goal = 1000,
		.reference = "reading its file",
		.reference_value = read_s * 1000,
		.n = 1,
	});
	store_free(b.s);
	loop_group_free(g);
	loop_free(b.l);
	(void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return 0;
}
