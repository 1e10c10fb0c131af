/*
 * index: for each key, a map from a text to the names that have the text; for each name, its texts,
 * so that the name can be removed again. The names of a text are a short array, because the
 * majority of texts have one name and a map would take a kilobyte.
 */
#include "base/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

struct index {
	unsigned keys;
	/* One map per key, from a text to its struct names. */
	struct map **by;
	/* Maps a name to its struct texts. */
	struct map *had;
};

struct texts {
	size_t n;
	struct text {
		unsigned key;
		char *text;
	} v[];
};

struct names {
	size_t n, cap;
	/* Names that have the text, in order of assignment. */
	char **v;
};

static void free_names(void *arg)
{
	struct names *names = arg;

	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	free(names);
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

static size_t find(const struct names *names, const char *name)
{
	size_t i = 0;

	while (i < names->n && !str_eq(names->v[i], name))
		i++;
	return i;
}

static void take_out(struct index *x, const char *name, const struct text *t)
{
	struct names *names = map_get(x->by[t->key], t->text);
	size_t at = names ? find(names, name) : 0;

	if (!names || at == names->n)
		return;
	free(names->v[at]);
	names->n--;
	memmove(names->v + at, names->v + at + 1, (names->n - at) * sizeof(*names->v));
	if (!names->n)
		map_del(x->by[t->key], t->text);
}

static void put_in(struct index *x, const char *name, const struct index_text *t)
{
	struct names *names = map_get(x->by[t->key], t->text);

	if (!names) {
		names = mem_new(struct names);
		map_put(x->by[t->key], t->text, names);
	}
	mem_grow(names->v, names->n, names->cap);
	names->v[names->n++] = mem_strdup(name);
}

/* True if v[i] repeats the key and text of an element before it. */
static bool is_before(const struct index_text *v, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (v[k].key == v[i].key && str_eq(v[k].text, v[i].text))
			return true;
	return false;
}

static bool is_same(const struct texts *had, const struct index_text *v, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (str_empty(v[i].text) || is_before(v, i))
			continue;
		if (!had || at == had->n || had->v[at].key != v[i].key ||
		    !str_eq(had->v[at].text, v[i].text))
			return false;
		at++;
	}
	return had ? at == had->n : !at;
}

bool index_put(struct index *x, const char *name, const struct index_text *v, size_t n)
{
	struct texts *had = map_get(x->had, name), *now;

	if (is_same(had, v, n))
		return false;
	for (size_t i = 0; had && i < had->n; i++)
		take_out(x, name, &had->v[i]);
	now = mem_calloc(1, sizeof(*now) + n * sizeof(now->v[0]));
	for (size_t i = 0; i < n; i++) {
		assert(v[i].key < x->keys);
		if (str_empty(v[i].text) || is_before(v, i))
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
	return true;
}

void index_each(const struct index *x, unsigned key, const char *text,
		bool (*fn)(const char *name, void *arg), void *arg)
{
	const struct names *names = str_empty(text) ? NULL : map_get(x->by[key], text);

	for (size_t i = 0; names && i < names->n; i++)
		if (!fn(names->v[i], arg))
			break;
}

size_t index_count(const struct index *x, unsigned key, const char *text)
{
	const struct names *names = str_empty(text) ? NULL : map_get(x->by[key], text);

	return names ? names->n : 0;
}
