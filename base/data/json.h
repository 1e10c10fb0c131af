#ifndef BASE_DATA_JSON_H
#define BASE_DATA_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * json: jansson, with bounds. One object at a time: lists and watches go through scan.h.
 *
 * json_parse() ignores a byte order mark before the value (RFC 8259, section 8.1). It rejects
 * duplicate keys, invalid UTF-8, anything after the value, NaN, depth over 64, and more than
 * JSON_VALUES_MAX values, because a value of two bytes of text uses up to 220 bytes of memory.
 * Errors name line and column.
 * Tests: tests/unit/base/data/test_json.c
 */
#define JSON_VALUES_MAX 500000
/* Returns any JSON value; NULL on error. */
json_t *json_parse(const char *data, size_t len, struct err *e);
/* Like json_parse(), with `values` instead of JSON_VALUES_MAX. */
json_t *json_parse_most(const char *data, size_t len, size_t values, struct err *e);
/* Returns compact text, malloc'd. */
char *json_text(const json_t *j);
/* Returns compact text with sorted keys, malloc'd. */
char *json_text_sorted(const json_t *j);

/* Follows members by name: json_at(o, "status", "power", "state"); NULL: absent or not an object on
 * the way. */
#define json_at(j, ...) json_at_(j, __VA_ARGS__, (const char *)NULL)
#define json_str_at(j, ...) json_string_value(json_at_(j, __VA_ARGS__, (const char *)NULL))
#define json_int_at(j, ...) json_integer_value(json_at_(j, __VA_ARGS__, (const char *)NULL))
#define json_true_at(j, ...) json_is_true(json_at_(j, __VA_ARGS__, (const char *)NULL))
json_t *json_at_(const json_t *j, ...) __attribute__((sentinel));

/* Returns the JSON merge patch (RFC 7386) that turns `from` into `to`; {} if both are equal. */
json_t *json_merge_diff(const json_t *from, const json_t *to);
/* Applies a merge patch and returns a new value. json_parse() bounds the patch's depth. */
json_t *json_merge_apply(const json_t *to, const json_t *patch);

static inline void json_own_free_(json_t **j)
{
	json_decref(*j);
}
#define OWN_JSON __attribute__((cleanup(json_own_free_))) json_t *

#endif
