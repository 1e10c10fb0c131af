#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/store/store_internal.h"

/*
 * A skip list (Pugh 1990): every key is in the bottom list, one in four keys is also in the list
 * above it, one in four of those in the next, and so on. A search begins in the top list; it goes
 * right while the next key is smaller, then down one list.
 * Tests: tests/unit/base/store/test_store.c, tests/unit/base/store/test_store_sqlite.c
 */
#define LEVELS 16

struct store_node {
	struct store_version *version;
	struct store_node *next[];
};

struct store_index {
	/* Head of all lists: a node without a version that is in all LEVELS lists. */
	struct store_node *head;
	uint64_t random;
};

void store_version_unref(struct store_version *v)
{
	if (v && --v->refs == 0)
		free(v);
}

static struct store_node *node_new(unsigned levels)
{
	return mem_alloc(sizeof(struct store_node) + levels * sizeof(struct store_node *));
}

struct store_index *store_index_new(void)
{
	struct store_index *x = mem_new(struct store_index);

	x->head = node_new(LEVELS);
	x->random = 0x9e3779b97f4a7c15u;
	return x;
}

void store_index_free(struct store_index *x)
{
	if (!x)
		return;
	for (struct store_node *n = x->head, *next; n; n = next) {
		next = n->next[0];
		store_version_unref(n->version);
		free(n);
	}
	free(x);
}

/* Finds the position of key. Writes to before[] the last node of each list whose key is smaller
 * than key (behind: smaller or equal). Returns the node after that position in the bottom list. */
static struct store_node *search(const struct store_index *x, const char *key, bool behind,
				 struct store_node *before[LEVELS])
{
	struct store_node *n = x->head;

	for (int i = LEVELS - 1; i >= 0; i--) {
		while (n->next[i] && strcmp(n->next[i]->version->key, key) < (behind ? 1 : 0))
			n = n->next[i];
		before[i] = n;
	}
	return n->next[0];
}

static bool is_at(const struct store_node *n, const char *key)
{
	return n && strcmp(n->version->key, key) == 0;
}

struct store_version *store_index_get(const struct store_index *x, const char *key)
{
	struct store_node *before[LEVELS];
	struct store_node *n = search(x, key, false, before);

	return is_at(n, key) ? n->version : NULL;
}

static unsigned random_levels(struct store_index *x)
{
	unsigned levels = 1;

	/* xorshift64 (Marsaglia 2003); affects only the shape of the list. */
	x->random ^= x->random << 13;
	x->random ^= x->random >> 7;
	x->random ^= x->random << 17;
	for (uint64_t r = x->random; levels < LEVELS && (r & 3) == 0; r >>= 2)
		levels++;
	return levels;
}

struct store_version *store_index_put(struct store_index *x, struct store_version *v)
{
	struct store_node *before[LEVELS];
	struct store_node *n = search(x, v->key, false, before);

	if (is_at(n, v->key)) {
		struct store_version *old = n->version;

		n->version = v;
		return old;
	}

	unsigned levels = random_levels(x);

	n = node_new(levels);
	n->version = v;
	for (unsigned i = 0; i < levels; i++) {
		n->next[i] = before[i]->next[i];
		before[i]->next[i] = n;
	}
	return NULL;
}

struct store_version *store_index_take(struct store_index *x, const char *key)
{
	struct store_node *before[LEVELS];
	struct store_node *n = search(x, key, false, before);

	if (!is_at(n, key))
		return NULL;

	struct store_version *v = n->version;

	for (int i = 0; i < LEVELS && before[i]->next[i] == n; i++)
		before[i]->next[i] = n->next[i];
	free(n);
	return v;
}

struct store_node *store_index_seek(const struct store_index *x, const char *key, bool behind)
{
	struct store_node *before[LEVELS];

	return search(x, key, behind, before);
}

struct store_node *store_node_next(const struct store_node *n)
{
	return n->next[0];
}

struct store_version *store_node_version(const struct store_node *n)
{
	return n->version;
}
