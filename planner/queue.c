#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "planner/queue.h"

/*
 * Most pods agree in most of what orders them.  So the order is taken apart
 * into 64-bit pieces: those that agree in one piece are sorted by the next, and
 * a piece in which all agree costs one look at each.
 */
enum { TENANT, PRIORITY, SHARE_HIGH, SHARE_LOW, AGE, TEXT };

struct keyed {
	uint64_t key;
	struct queued *q;
};

static uint64_t signed_key(int64_t n)
{
	return (uint64_t)n ^ (uint64_t)1 << 63;
}

static bool past(const struct queued *q, size_t piece)
{
	return piece >= TEXT && (piece - TEXT) * 8 >= q->pod->order;
}

static uint64_t piece_of(const struct queued *q, size_t piece)
{
	size_t at, n;
	uint64_t word = 0;

	switch (piece) {
	case TENANT:
		return ~signed_key(q->tenant_priority);
	case PRIORITY:
		return ~signed_key(q->pod->priority);
	case SHARE_HIGH:
		return q->share_high;
	case SHARE_LOW:
		return q->share_low;
	case AGE:
		return signed_key(q->pod->since);
	default:
		break;
	}
	at = (piece - TEXT) * 8;
	if (at >= q->pod->order)
		return 0;
	n = q->pod->order - at;
	memcpy(&word, q->pod->text + at, n < 8 ? n : 8);
	return be64toh(word);
}

static int by_piece(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;

	return a->key < b->key ? -1 : a->key > b->key;
}

static void sort(struct keyed *k, size_t n, size_t piece)
{
	bool same = true, sorted = true;

	if (n < 2)
		return;
	do {
		same = true;
		for (size_t i = 0; i < n; i++) {
			k[i].key = piece_of(k[i].q, piece);
			same = same && k[i].key == k[0].key;
			sorted = sorted && (!i || k[i - 1].key <= k[i].key);
		}
		piece++;
	} while (same && !past(k[0].q, piece));
	if (same)
		return;
	if (!sorted)
		qsort(k, n, sizeof(*k), by_piece);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && k[to].key == k[from].key; to++)
			;
		sort(k + from, to - from, piece);
	}
}

void queue_sort(struct queued **q, size_t n, struct arena *a)
{
	struct keyed *k = arena_calloc(a, n + 1, sizeof(*k));

	for (size_t i = 0; i < n; i++)
		k[i].q = q[i];
	sort(k, n, TENANT);
	for (size_t i = 0; i < n; i++)
		q[i] = k[i].q;
}
