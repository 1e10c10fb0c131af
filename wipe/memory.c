#include "wipe/memory.h"

#include <inttypes.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Defined in linux/mman.h since 5.14; older headers lack it. */
#endif

#define MIB (INT64_C(1) << 20)
#define HUGE_PAGE (2 * MIB)
#define PIECE_LEAST (64 * MIB)
#define PIECE_MOST (1024 * MIB)
#define THREADS_MAX 64
#define MEMINFO_MAX 8192
#define WORD ((int64_t)sizeof(uint64_t))

struct node {
	/* Number of the NUMA node; -1: the kernel reports no nodes. */
	int64_t number;
	int64_t total, budget, piece;
	const char *meminfo;
	pthread_mutex_t lock;
	/* taken: bytes allocated. coming: bytes that are being allocated, which the kernel may
	 * still report as free (MemFree). */
	int64_t taken, coming;
	/* True: no more memory can be allocated on the node. */
	bool over;
};

struct piece {
	/* Address that mmap() returned, for munmap(); words is aligned within it. */
	char *map;
	uint64_t *words;
	int64_t bytes;
};

struct scrub {
	const struct host *host;
	struct node *nodes;
	size_t nnodes;
	/* Free memory that each node keeps for the kernel, in bytes. */
	int64_t reserve;
	uint64_t key;
};

struct worker {
	struct scrub *scrub;
	struct node *node;
	pthread_t thread;
	bool threaded;
	struct piece *pieces;
	size_t n, cap;
	int64_t bad;
};

/* Returns the value of the line `key`, such as "MemFree: 123 kB", in bytes; the line may begin with
 * "Node 0 ". 0: not found. */
static int64_t meminfo(const char *path, const char *key)
{
	char text[MEMINFO_MAX];
	size_t len = host_bytes(text, sizeof(text) - 1, path);
	const char *at;
	long long kib;

	text[len] = '\0';
	at = strstr(text, key);
	if (!at)
		return 0;
	kib = strtoll(at + strlen(key), NULL, 10);
	return kib > 0 && kib < (INT64_C(1) << 40) ? kib * 1024 : 0;
}

/* --- allocating ------------------------------------------------------------------------------- */

static bool bind_to(const struct scrub *s, const struct node *n, void *p, int64_t bytes)
{
	unsigned long mask[STATEMENT_NODES_MAX / (8 * sizeof(unsigned long))] = {0};

	if (s->nnodes == 1)
		return true;
	mask[(size_t)n->number / (8 * sizeof(*mask))] |= 1ul
							 << (size_t)n->number % (8 * sizeof(*mask));
	return syscall(SYS_mbind, p, (size_t)bytes, MPOL_BIND, mask, STATEMENT_NODES_MAX + 1, 0) ==
	       0;
}

/* Allocates whole huge pages on one node and makes the kernel provide the memory at once. False:
 * not all pages could be allocated. */
static bool take(const struct scrub *s, const struct node *n, int64_t bytes, struct piece *p)
{
	char *map = mmap(NULL, (size_t)(bytes + HUGE_PAGE), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at;

	if (map == MAP_FAILED)
		return false;
	at = map + (HUGE_PAGE - (int64_t)((uintptr_t)map % HUGE_PAGE)) % HUGE_PAGE;
	/* Requests huge pages, because they are faster; a failure is ignored, because not every
	 * kernel has them. */
	(void)madvise(at, (size_t)bytes, MADV_HUGEPAGE);
	if (!bind_to(s, n, at, bytes) || madvise(at, (size_t)bytes, MADV_POPULATE_WRITE) < 0) {
		munmap(map, (size_t)(bytes + HUGE_PAGE));
		return false;
	}
	*p = (struct piece){.map = map, .words = (void *)at, .bytes = bytes};
	return true;
}

/* Returns the number of bytes that the caller may allocate next on the node, and counts them as
 * being allocated; 0: no more. Memory that other threads are allocating counts as allocated. */
static int64_t promise(const struct scrub *s, struct node *n)
{
	int64_t left, now, bytes;

	pthread_mutex_lock(&n->lock);
	left = n->budget - n->taken - n->coming;
	now = meminfo(n->meminfo, "MemFree:") - s->reserve - n->coming;
	if (now < left)
		left = now;
	bytes = left < n->piece ? left / HUGE_PAGE * HUGE_PAGE : n->piece;
	if (bytes <= 0 || n->over)
		bytes = 0;
	n->coming += bytes;
	pthread_mutex_unlock(&n->lock);
	return bytes;
}

static void promised(struct node *n, int64_t bytes, bool got)
{
	pthread_mutex_lock(&n->lock);
	n->coming -= bytes;
	if (got)
		n->taken += bytes;
	else
		n->over = true;
	pthread_mutex_unlock(&n->lock);
}

/* --- writing and reading ---------------------------------------------------------------------- */

/* Returns the pattern for an address. No two addresses have the same value, because the finalizer
 * of splitmix64 is a bijection. */
static uint64_t value_at(uint64_t key, const uint64_t *p)
{
	uint64_t x = key ^ (uint64_t)(uintptr_t)p;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void write_pattern(const struct scrub *s, const struct piece *p)
{
	for (int64_t i = 0; i < p->bytes / WORD; i++)
		p->words[i] = value_at(s->key, &p->words[i]);
}

/* Prevents the compiler from assuming that it knows the contents of the memory. */
static void forget(const struct piece *p)
{
	__asm__ volatile("" : : "r"(p->words) : "memory");
}

static int64_t bad_of_pattern(const struct scrub *s, const struct piece *p)
{
	int64_t bad = 0;

	forget(p);
	for (int64_t i = 0; i < p->bytes / WORD; i++)
		bad += p->words[i] != value_at(s->key, &p->words[i]);
	return bad * WORD;
}

static int64_t bad_of_zero(const struct piece *p)
{
	int64_t bad = 0;

	forget(p);
	for (int64_t i = 0; i < p->bytes / WORD; i++)
		bad += p->words[i] != 0;
	return bad * WORD;
}

static void spoil(const struct scrub *s, const struct piece *p)
{
	if (s->host->spoil_memory)
		s->host->spoil_memory(p->words, (size_t)(p->bytes / WORD));
}

static void *take_and_write(void *arg)
{
	struct worker *w = arg;
	int64_t bytes;

	while ((bytes = promise(w->scrub, w->node))) {
		struct piece p;
		bool got = take(w->scrub, w->node, bytes, &p);

		promised(w->node, bytes, got);
		if (!got)
			break;
		write_pattern(w->scrub, &p);
		mem_grow(w->pieces, w->n, w->cap);
		w->pieces[w->n++] = p;
	}
	return NULL;
}

static void *read_and_empty(void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; i < w->n; i++) {
		spoil(w->scrub, &w->pieces[i]);
		w->bad += bad_of_pattern(w->scrub, &w->pieces[i]);
	}
	for (size_t i = 0; i < w->n; i++) {
		memset(w->pieces[i].words, 0, (size_t)w->pieces[i].bytes);
		forget(&w->pieces[i]);
	}
	for (size_t i = 0; i < w->n; i++) {
		w->bad += bad_of_zero(&w->pieces[i]);
		munmap(w->pieces[i].map, (size_t)(w->pieces[i].bytes + HUGE_PAGE));
	}
	free(w->pieces);
	return NULL;
}

/* --- nodes and threads ------------------------------------------------------------------------ */

static int64_t within(int64_t least, int64_t n, int64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static void describe(struct scrub *s, struct node *n, int64_t number, const char *path)
{
	int64_t total = meminfo(path, "MemTotal:");

	*n = (struct node){.number = number, .total = total, .meminfo = path};
	n->budget = within(0, meminfo(path, "MemFree:") - s->reserve, total);
	n->piece = within(PIECE_LEAST, total / 1024 / HUGE_PAGE * HUGE_PAGE, PIECE_MOST);
	pthread_mutex_init(&n->lock, NULL);
}

static void find_nodes(struct scrub *s, struct arena *a)
{
	const char *folder = arena_printf(a, "%s/devices/system/node", s->host->sys), **names;
	const char *machine = arena_printf(a, "%s/meminfo", s->host->proc);
	size_t n = host_names(a, folder, &names);
	int64_t number;

	s->reserve = 32 * MIB + meminfo(machine, "MemTotal:") / 64 / (n ? (int64_t)n : 1);
	s->nodes = arena_calloc(a, n + 1, sizeof(*s->nodes));
	for (size_t i = 0; i < n && s->nnodes < STATEMENT_NODES_MAX; i++)
		if (str_starts(names[i], "node") &&
		    str_to_i64(names[i] + 4, 0, STATEMENT_NODES_MAX - 1, &number))
			describe(s, &s->nodes[s->nnodes++], number,
				 arena_printf(a, "%s/%s/meminfo", folder, names[i]));
	if (!s->nnodes)
		describe(s, &s->nodes[s->nnodes++], -1, machine);
}

/* Runs fn for each of the n workers on a thread of its own, or on this thread if none can be
 * created; returns when all have ended. */
static void on_all(struct worker *w, size_t n, void *(*fn)(void *))
{
	for (size_t i = 0; i < n; i++) {
		w[i].threaded = pthread_create(&w[i].thread, NULL, fn, &w[i]) == 0;
		if (!w[i].threaded)
			(void)fn(&w[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (w[i].threaded)
			pthread_join(w[i].thread, NULL);
}

/* Overwrites all memory and returns the number of bad bytes. All memory is written before any is
 * read back, so that two addresses which refer to one memory cell are detected. */
static int64_t run(struct scrub *s, struct arena *a)
{
	size_t n = (size_t)within((int64_t)s->nnodes, sysconf(_SC_NPROCESSORS_ONLN), THREADS_MAX);
	struct worker *w = arena_calloc(a, n, sizeof(*w));
	int64_t bad = 0;

	for (size_t i = 0; i < n; i++)
		w[i] = (struct worker){.scrub = s, .node = &s->nodes[i % s->nnodes]};
	on_all(w, n, take_and_write);
	on_all(w, n, read_and_empty);
	for (size_t i = 0; i < n; i++)
		bad += w[i].bad;
	return bad;
}

static void tell_nodes(struct scrub *s, struct arena *a, struct statement *out)
{
	out->nodes.v = arena_calloc(a, s->nnodes, sizeof(*out->nodes.v));
	for (size_t i = 0; i < s->nnodes; i++) {
		struct node *n = &s->nodes[i];

		if (n->number >= 0)
			out->nodes.v[out->nodes.n++] =
				(struct statement_node){.node = n->number,
							.total_bytes = n->total,
							.covered_bytes = n->taken};
		out->total_bytes += n->total;
		out->covered_bytes += n->taken;
		pthread_mutex_destroy(&n->lock);
	}
}

void memory_scrub(const struct host *h, struct arena *a, const char *nonce, struct statement *out)
{
	struct scrub s = {.host = h};
	uint8_t digest[CRYPTO_SHA256];

	crypto_sha256(nonce, strlen(nonce), digest);
	memcpy(&s.key, digest, sizeof(s.key));
	find_nodes(&s, a);
	*out = (struct statement){.part = STATEMENT_SYSTEM_MEMORY, .technique = "Overwritten"};
	out->bad_bytes = run(&s, a);
	tell_nodes(&s, a, out);
	if (!out->covered_bytes)
		out->technique = NULL;
	if (out->bad_bytes) {
		out->outcome = STATEMENT_FAILED;
		out->message =
			arena_printf(a, "%" PRIi64 " bytes did not read back as they were written",
				     out->bad_bytes);
	} else if (statement_enough(out->total_bytes, out->covered_bytes)) {
		out->outcome = STATEMENT_COVERED;
	} else {
		out->message = arena_printf(
			a, "the kernel allocated only %" PRIi64 " of %" PRIi64 " bytes",
			out->covered_bytes, out->total_bytes);
	}
}
