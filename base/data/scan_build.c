#include "base/data/scan_build.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"

size_t scan_weight(const json_t *v)
{
	size_t sum = SCAN_VALUE_BYTES, i;
	const char *name;
	json_t *m;

	if (json_is_string(v))
		return sum + json_string_length(v);
	json_array_foreach (v, i, m)
		sum += scan_weight(m);
	json_object_foreach ((json_t *)(uintptr_t)v, name, m)
		sum += strlen(name) + scan_weight(m);
	return sum;
}

/* --- handling of values by their names -------------------------------------------------------- */

static struct scan_handling handling_of(const struct scan_want *w, const char *name, size_t len)
{
	for (; w->name; w++)
		if (!strncmp(w->name, name, len) && !w->name[len])
			return (struct scan_handling){.keep = !w->drop,
						      .each = w->each,
						      .pick = w->pick,
						      .note = w->note,
						      .some = w->some,
						      .most = w->most};
	return (struct scan_handling){.keep = w->some, .some = w->some};
}

static void charge(struct scan_build *b, size_t bytes)
{
	if (b->budget)
		b->left -= bytes < b->left ? bytes : b->left;
}

/*
 * Adds a scalar to the digest of its container. The digest of a container covers the names and
 * values that are built from it, in order, except members with a note, which may change while the
 * rest stays equal.
 */
static void digest_scalar(struct scan_build *b, char kind, const char *text, size_t len)
{
	uint64_t *into = scan_build_at_base(b) ? &b->digest : &scan_build_top(b)->digest;

	if (b->digests && !b->handling.note)
		*into = hash_keyed(text, len, *into + (unsigned char)kind);
}

void scan_build_name(struct scan_build *b, const char *text, size_t len)
{
	const struct scan_frame *f = scan_build_top(b);

	b->handling =
		f->kept && f->some ? handling_of(f->some, text, len) : (struct scan_handling){0};
	if (!b->handling.keep)
		return;
	buf_clear(&b->name);
	buf_put(&b->name, text, len);
	digest_scalar(b, ':', text, len);
}

void scan_build_next(struct scan_build *b)
{
	const struct scan_frame *f = scan_build_top(b);

	b->handling =
		(struct scan_handling){.keep = f->each || (f->kept && f->some), .some = f->some};
}

void scan_build_value_begins(struct scan_build *b)
{
	if (b->budget && !b->left && b->handling.keep) {
		b->handling.keep = false;
		b->left_out = true;
	}
	/* Do not build a SCAN_EACH array itself: only its elements are built, each as a value of
	 * its own. */
	if (b->handling.each)
		b->handling.keep = false;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Adds a value that was built to its container. v NULL: this is a dry run, in which nothing is
 * built. */
static void put(struct scan_build *b, json_t *v)
{
	const struct scan_frame *f;

	if (scan_build_at_base(b)) {
		*(b->in_element ? &b->element : &b->root) = v;
		return;
	}
	f = scan_build_top(b);
	charge(b, SCAN_VALUE_BYTES);
	if (!f->array)
		charge(b, b->name.len);
	if (!v)
		return;
	if (f->array)
		json_array_append_new(f->node, v);
	else
		json_object_setn_new_nocheck(f->node, b->name.data, b->name.len, v);
}

void scan_build_string(struct scan_build *b, const char *text, size_t len)
{
	if (!b->handling.keep)
		return;
	digest_scalar(b, '"', text, len);
	put(b, b->dry ? NULL : json_stringn_nocheck(text, len));
	charge(b, len);
}

void scan_build_number(struct scan_build *b, const char *text, size_t len,
		       const struct scan_number *n)
{
	if (!b->handling.keep)
		return;
	digest_scalar(b, '0', text, len);
	put(b, b->dry ? NULL : n->real ? json_real(n->d) : json_integer(n->i));
}

void scan_build_word(struct scan_build *b, const char *text, size_t len, json_t *v)
{
	if (!b->handling.keep)
		return;
	digest_scalar(b, 'w', text, len);
	put(b, b->dry ? NULL : v);
}

struct scan_frame *scan_build_open(struct scan_build *b, bool array)
{
	const struct scan_handling h = b->handling;
	struct scan_frame *frame;
	json_t *node = NULL;

	if (h.keep) {
		node = b->dry ? NULL : array ? json_array() : json_object();
		put(b, node);
	}
	mem_grow(b->frames, b->depth, b->frames_cap);
	frame = &b->frames[b->depth++];
	*frame = (struct scan_frame){.node = node,
				     .some = h.some,
				     .array = array,
				     .each = h.each,
				     .kept = h.keep,
				     .pick = h.pick,
				     .note = h.note,
				     .digest = array ? '[' : '{'};
	if (h.keep && h.most && !b->budget) {
		b->budget = b->depth;
		b->left = h.most;
		charge(b, SCAN_VALUE_BYTES);
	}
	if (array)
		scan_build_next(b);
	return frame;
}

/* Adds the digest of container f, which was just closed and popped from the stack, to the digest of
 * its parent. */
static void digest_container(struct scan_build *b, const struct scan_frame *f)
{
	if (!b->digests || !f->kept)
		return;
	if (f->pick)
		b->picked = f->digest;
	if (scan_build_at_base(b))
		b->digest = f->digest;
	else if (!f->note)
		scan_build_top(b)->digest =
			hash_keyed(&f->digest, sizeof(f->digest), scan_build_top(b)->digest);
}

void scan_build_close(struct scan_build *b)
{
	if (b->budget == b->depth)
		b->budget = 0;
	b->depth--;
	digest_container(b, &b->frames[b->depth]);
}

uint64_t scan_build_digest(const struct scan_build *b)
{
	return b->picked ? b->picked : b->digest;
}

/* --- documents, lines and elements ------------------------------------------------------------ */

void scan_build_element_begins(struct scan_build *b)
{
	b->in_element = true;
	b->base = b->depth;
	b->digest = 0;
}

void scan_build_element_ends(struct scan_build *b)
{
	b->in_element = false;
	b->base = 0;
}

void scan_build_start(struct scan_build *b, const struct scan_want *want, size_t most)
{
	b->handling = (struct scan_handling){.keep = true, .some = want, .most = most};
	b->left_out = false;
	b->digest = b->picked = 0;
}

void scan_build_init(struct scan_build *b, bool digests)
{
	*b = (struct scan_build){.digests = digests};
	buf_init(&b->name, SIZE_MAX);
}

void scan_build_done(struct scan_build *b)
{
	json_decref(b->root);
	json_decref(b->element);
	buf_done(&b->name);
	free(b->frames);
}
