#ifndef TESTS_UNIT_BASE_DATA_SCAN_REFERENCE_H
#define TESTS_UNIT_BASE_DATA_SCAN_REFERENCE_H

#include <stdlib.h>
#include <string.h>
#include "base/data/scan.h"

/*
 * scan_reference: a second implementation of what scan.h promises: parses with jansson, then
 * removes the members that are not wanted.
 */
static inline void reference_charge(size_t *left, size_t bytes)
{
	if (left)
		*left -= bytes < *left ? bytes : *left;
}

/* Also refuses a NUL after a number ("[0<NUL>]"), which jansson ignores. */
static inline json_t *reference_parse(const char *text, size_t len, struct err *e)
{
	return len && memchr(text, '\0', len) ? NULL : json_parse(text, len, e);
}

/* Returns the wanted part of v, a member or element. left: remaining bytes of the bound that
 * applies around v; NULL: no bound. */
static inline json_t *reference_value(const json_t *v, const struct scan_want *some, size_t most,
				      size_t *left, size_t name_len)
{
	size_t own = most, i;
	json_t *out, *m;
	const char *name;

	if (left && !*left)
		return NULL;
	reference_charge(left, SCAN_VALUE_BYTES + name_len);
	if (json_is_string(v))
		reference_charge(left, json_string_length(v));
	if (!json_is_object(v) && !json_is_array(v))
		return json_deep_copy(v);
	if (!left && most) {
		left = &own;
		reference_charge(left, SCAN_VALUE_BYTES);
	}
	out = json_is_array(v) ? json_array() : json_object();
	json_array_foreach (v, i, m) {
		json_t *kept = some ? reference_value(m, some, 0, left, 0) : NULL;

		if (kept)
			json_array_append_new(out, kept);
	}
	json_object_foreach ((json_t *)(uintptr_t)v, name, m) {
		const struct scan_want *w = some;
		json_t *kept = NULL;

		while (w && w->name && strcmp(w->name, name) != 0)
			w++;
		if (w && !w->drop && (w->name || w->some))
			kept = reference_value(m, w->some, w->most, left, strlen(name));
		if (kept)
			json_object_set_new(out, name, kept);
	}
	return out;
}

static inline json_t *reference_trim(const json_t *v, const struct scan_want *want)
{
	return v ? reference_value(v, want, 0, NULL, 0) : NULL;
}

/* True if both trees are equal, with members in the same order. */
static inline bool reference_same(const json_t *a, const json_t *b)
{
	char *x = a ? json_dumps(a, JSON_ENCODE_ANY) : NULL,
	     *y = b ? json_dumps(b, JSON_ENCODE_ANY) : NULL;
	bool same = x && y ? !strcmp(x, y) : x == y;

	free(x);
	free(y);
	return same;
}

/* on_each() and on_value() of the scan under test: appends the value to the array arg. */
static inline int reference_keep(json_t *value, void *arg, struct err *e)
{
	(void)e;
	json_array_append(arg, value);
	return 0;
}

/* is_known() of the scan under test: never known, so each line that is complete within one chunk is
 * parsed twice. */
static inline bool reference_news(const struct scan_line *line, void *arg)
{
	(void)line;
	(void)arg;
	return false;
}

/* Feeds text to a scan in chunks of `chunk` bytes, each ending at the end of its memory block.
 * Returns an array of the values that the scan reported; NULL on error. */
static inline json_t *reference_scan(const struct scan_want *want, bool lines, size_t max,
				     const char *text, size_t len, size_t chunk, struct err *e)
{
	static const struct scan_ops ops = {reference_news, reference_keep, reference_keep};
	json_t *out = json_array();
	OWN(scan)
	s = scan_new(&(struct scan_spec){
		.want = want, .lines = lines, .max_bytes = max, .ops = &ops, .arg = out});
	int rc = 0;

	for (size_t i = 0; i < len && rc == 0; i += chunk) {
		size_t n = len - i < chunk ? len - i : chunk;
		char *piece = malloc(n);

		memcpy(piece, text + i, n);
		rc = scan_feed(s, piece, n, e);
		free(piece);
	}
	if (rc == 0 && scan_end(s, e) == 0)
		return out;
	json_decref(out);
	return NULL;
}

#endif
