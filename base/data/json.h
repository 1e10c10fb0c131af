#ifndef BASE_DATA_JSON_H
#define BASE_DATA_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * json: jansson with limits on input, for single objects. Lists and watches use scan.h instead.
 *
 * json_parse() ignores a byte order mark before the value (RFC 8259, section 8.1). It rejects
 * duplicate keys, invalid UTF-8, anything after the value, NaN, a depth over 64, and more than
 * JSON_VALUES_MAX values. The limit on values exists because two bytes of text can be a value that
 * needs 220 bytes of memory. Errors name line and column.
 * Tests: tests/unit/base/data/test_json.c
 */
#define JSON_VALUES_MAX 500000
/* Parses any JSON value and returns it; NULL with *e on error. */
json_t *json_parse(const char *data, size_t len, struct err *e);
/* Parses like json_parse(), but allows up to `values` values instead of JSON_VALUES_MAX. */
json_t *json_parse_most(const char *data, size_t len, size_t values, struct err *e);
/* Returns j as compact JSON text, malloc'd. */
char *json_text(const json_t *j);
/* Returns j as compact JSON text with sorted keys, malloc'd. */
char *json_text_sorted(const json_t *j);

/* Follow members by name, for example json_at(o, "status", "power", "state"). json_at() returns the
 * value of the last member; NULL if a member is absent or its parent is not an object.
 * json_str_at(), json_int_at() and json_true_at() return that value as text, number or boolean;
 * NULL, 0 or false if it is absent or of another type. */
#define json_at(j, ...) json_at_(j, __VA_ARGS__, (const char *)NULL)
#define json_str_at(j, ...) json_string_value(json_at_(j, __VA_ARGS__, (const char *)NULL))
#define json_int_at(j, ...) json_integer_value(json_at_(j, __VA_ARGS__, (const char *)NULL))
#define json_true_at(j, ...) json_is_true(json_at_(j, __VA_ARGS__, (const char *)NULL))
json_t *json_at_(const json_t *j, ...) __attribute__((sentinel));

/* True if an element of the array is this text. */
bool json_has_str(const json_t *array, const char *text) __attribute__((nonnull(2)));
/* Replaces *list by an array with the same values in the order of compare(), which gets pointers to
 * json_t * as from qsort(). */
void json_sort(json_t **list, int (*compare)(const void *a, const void *b));

/* Returns the JSON merge patch (RFC 7386) that turns `from` into `to`; {} if both are equal. */
json_t *json_merge_diff(const json_t *from, const json_t *to);
/* Applies a JSON merge patch (RFC 7386) to a value and returns the result, a new reference. The
 * patch must come from json_parse(), which bounds its depth. */
json_t *json_merge_apply(const json_t *to, const json_t *patch);

static inline void json_own_free_(json_t **j)
{
	json_decref(*j);
}
#define OWN_JSON __attribute__((cleanup(json_own_free_))) json_t *

#endif
