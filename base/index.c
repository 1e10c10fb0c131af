/*
 * index: for each key a map from its text to the names that have it, and for each name what it was put with, so that it
 * can be taken out again.
 */
#include "base/index.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

struct index {
	unsigned keys;
	struct map **by; /* of each key: text -> struct map of names */
	struct map *had; /* name -> struct texts */
};

struct texts {
	size_t n;
	struct text {
		unsigned key;
		char *text;
	} v[];
};

static void free_names(void *names)
{
	map_free(names);
}

static void free_texts(void *arg)
{
	struct texts *t = arg;

	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].text);
	free(t);
}

struct index *index_new(unsigned keys)
{
	struct index *x = mem_new(struct index);

	x->keys = keys;
	x->by = mem_calloc(keys, sizeof(struct map *));
	for (unsigned i = 0; i < keys; i++)
		x->by[i] = map_new(free_names);
	x->had = map_new(free_texts);
	return x;
}

void index_free(struct index *x)
{
	if (!x)
		return;
	for (unsigned i = 0; i < x->keys; i++)
		map_free(x->by[i]);
	free(x->by);
	map_free(x->had);
	free(x);
}

static void take_out(struct index *x, const char *name, const struct text *t)
{
	struct map *names = map_get(x->by[t->key], t->text);

	if (!names)
		return;
	map_del(names, name);
	if (!map_size(names))
		map_del(x->by[t->key], t->text);
}

static void put_in(struct index *x, const char *name, const struct index_text *t)
{
	struct map *names = map_get(x->by[t->key], t->text);

	if (!names) {
		names = map_new(NULL);
		map_put(x->by[t->key], t->text, names);
	}
	map_put(names, name, x);
}

static bool is_same(const struct texts *had, const struct index_text *v, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (str_empty(v[i].text))
			continue;
		if (!had || at == had->n || had->v[at].key != v[i].key ||
		    !str_eq(had->v[at].text, v[i].text))
			return false;
		at++;
	}
	return had ? at == had->n : !at;
}

void index_put(struct index *x, const char *name, const struct index_text *v, size_t n)
{
	struct texts *had = map_get(x->had, name), *now;

	if (is_same(had, v, n))
		return;
	for (size_t i = 0; had && i < had->n; i++)
		take_out(x, name, &had->v[i]);
	now = mem_calloc(1, sizeof(*now) + n * sizeof(now->v[0]));
	for (size_t i = 0; i < n; i++) {
		assert(v[i].key < x->keys);
		if (str_empty(v[i].text))
			continue;
		put_in(x, name, &v[i]);
		now->v[now->n++] = (struct text){v[i].key, mem_strdup(v[i].text)};
	}
	if (now->n) {
		map_put(x->had, name, now);
	} else {
		map_del(x->had, name);
		free(now);
	}
}

void index_each(const struct index *x, unsigned key, const char *text,
		bool (*fn)(const char *name, void *arg), void *arg)
{
	const struct map *names = str_empty(text) ? NULL : map_get(x->by[key], text);
	struct map_iter it;

	if (!names)
		return;
	map_for_each (it, names)
		if (!fn(it.key, arg))
			break;
}

size_t index_count(const struct index *x, unsigned key, const char *text)
{
	const struct map *names = str_empty(text) ? NULL : map_get(x->by[key], text);

	return names ? map_size(names) : 0;
}
