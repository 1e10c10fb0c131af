/*
 * index: for each key, a map from a text to the names that have the text; for each name, its texts,
 * so that the name can be removed again. The names of a text are a short array, because the
 * majority of texts have one name and a map would take a kilobyte. Each text and each name is
 * stored once, as key of a map; all other places point to the key.
 */
#include "base/index.h"

#include <assert.h>
#include <stdint.h>
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
		/* Key of the map by[key] */
		const char *text;
	} v[];
};

struct names {
	uint32_t n, cap;
	/* Names that have the text, in order of assignment; keys of the map `had` */
	const char *v[];
};

struct index *index_new(unsigned keys)
{
	struct index *x = mem_new(struct index);

	x->keys = keys;
	x->by = mem_calloc(keys, sizeof(struct map *));
	for (unsigned i = 0; i < keys; i++)
		x->by[i] = map_new(free);
	x->had = map_new(free);
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
	struct names *names = map_get(x->by[t->key], t->text);
	uint32_t at = 0;

	while (at < names->n && names->v[at] != name)
		at++;
	assert(at < names->n);
	names->n--;
	memmove(names->v + at, names->v + at + 1, (names->n - at) * sizeof(*names->v));
	if (!names->n)
		map_del(x->by[t->key], t->text);
}

/* Makes room for one more name of the text, and returns the names. */
static struct names *names_of(struct index *x, const struct index_text *t)
{
	void **slot = map_slot(x->by[t->key], t->text);
	struct names *names = *slot;
	const uint32_t n = names ? names->n : 0, cap = names ? names->cap : 0;

	if (n < cap)
		return names;
	assert(cap < UINT32_MAX / 2);
	names = mem_realloc_array(names, 1,
				  sizeof(*names) + (cap ? 2 * (size_t)cap : 1) * sizeof(char *));
	names->n = n;
	names->cap = cap ? 2 * cap : 1;
	*slot = names;
	return names;
}

/* name: key of the map `had`. Returns the key of the map by[t->key]. */
static const char *put_in(struct index *x, const char *name, const struct index_text *t)
{
	struct names *names = names_of(x, t);

	names->v[names->n++] = name;
	return map_key(x->by[t->key], t->text);
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
	const char *key;

	if (is_same(had, v, n))
		return false;
	now = mem_calloc(1, sizeof(*now) + n * sizeof(now->v[0]));
	/* The map owns the new texts from here on; the old ones are freed below. */
	*map_slot(x->had, name) = now;
	key = map_key(x->had, name);
	for (size_t i = 0; had && i < had->n; i++)
		take_out(x, key, &had->v[i]);
	free(had);
	for (size_t i = 0; i < n; i++) {
		assert(v[i].key < x->keys);
		if (str_empty(v[i].text) || is_before(v, i))
			continue;
		now->v[now->n].key = v[i].key;
		now->v[now->n++].text = put_in(x, key, &v[i]);
	}
	if (!now->n)
		map_del(x->had, name);
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
