#ifndef BASE_DATA_FIELDS_H
#define BASE_DATA_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/data/json.h"
#include "base/data/labels.h"
#include "base/data/quantity.h"

/*
 * fields: one table per struct says how JSON becomes it and back.  From the
 * same table come precise errors, defaults, the structural schema of a CRD with
 * its CEL rules, and the reference page.
 *
 *	static const struct field pool_limits_fields[] = {
 *		FIELD(pool_limits, nodes, "nodes", FIELD_I64, .min = 0, .max = 100000,
 *		      .doc = "Most nodes that this pool may have at once."),
 *		FIELDS_END,
 *	};
 *	errors: "spec.limits.nodes: want 0 to 100000, got -3"
 *
 * Decoding puts strings, lists and nested objects into the arena given.
 * Members that the table does not name are ignored by fields_decode() and
 * refused by fields_decode_strict() (configuration files).  A struct begins
 * zeroed; absent and null leave the default, or zero when there is none.
 */
enum field_type {
	/* const char *; absent: NULL */
	FIELD_STR,
	/* bool */
	FIELD_BOOL,
	/* int64_t; min..max when max > min; also accepts a decimal string ("40") */
	FIELD_I64,
	/* int: index into enums (NULL-terminated); absent without default: -1 */
	FIELD_ENUM,
	/* struct quantity; int or string */
	FIELD_QUANTITY,
	/* int64_t ms; Go duration text; "Never" is -1 where .never is set */
	FIELD_DURATION,
	/* int64_t Unix ms; RFC 3339; absent: 0 */
	FIELD_TIME,
	/* struct labels: string to string */
	FIELD_MAP,
	/* struct resources: string to quantity */
	FIELD_RESOURCES,
	/* struct strings */
	FIELD_STRINGS,
	/* the struct itself, in place; sub */
	FIELD_OBJECT,
	/* pointer to a struct of .size bytes, NULL when absent; sub */
	FIELD_OBJECT_PTR,
	/* struct { T *v; size_t n; }; T has .size bytes; sub */
	FIELD_LIST,
	/* const char *: JSON text, kept as it came; schema: preserve unknown */
	FIELD_ANY,
	/* struct ints; min..max as for FIELD_I64 */
	FIELD_INTS,
};

/* offset of a row for which the struct has no member: its value is checked and not kept. */
#define FIELD_NOWHERE SIZE_MAX

/* What every value is answered that nothing acts on. */
#define FIELDS_UNSUPPORTED "not supported by this version"

#define FIELDS_DURATION_MAX 32 /* bytes of a duration's text */

struct strings {
	const char **v;
	size_t n;
};
struct ints {
	int64_t *v;
	size_t n;
};

/* A CEL rule of x-kubernetes-validations.  The controller's own check of the same rule is code:
 * see fields_check in the module that owns the kind. */
struct field_rule {
	const char *rule, *message;
};

struct field {
	/* in JSON; NULL ends the table */
	const char *name;
	enum field_type type;
	size_t offset;
	/* of the struct in place, pointed to or listed */
	size_t size;
	/* of objects and lists */
	const struct field *sub;
	/* of FIELD_ENUM, and what each of FIELD_STRINGS may be; "" is no name */
	const char *const *enums;
	/* default, as JSON text: "\"Never\"", "30", "{}" */
	const char *def;
	/* present and not null (a string also not empty) */
	bool required;
	/* becomes the rule self == oldSelf */
	bool immutable;
	/* FIELD_DURATION: "Never" is allowed, value -1 */
	bool never;
	/* FIELD_RESOURCES: counts, written as JSON integers */
	bool whole;
	/* numbers; durations in ms; ignored when both are 0 */
	int64_t min, max;
	/* bytes of a string; 0: 1024 */
	uint32_t max_len;
	/* of list, strings, map; 0: 256 */
	uint32_t max_items;
	/* of strings; RE2 (schema) and POSIX ERE (regexec) at once */
	const char *pattern;
	/* the same in code, because compiling a pattern costs 20 us and more */
	bool (*valid)(const char *);
	/* what `valid` or `pattern` wants, for the error: "a DNS label" */
	const char *want;
	/* FIELD_STR: judges the text; in the schema, rules do it */
	int (*check)(const char *, struct err *);
	/* FIELD_STR, FIELD_STRINGS: a whole number without quotes is read as its text */
	bool number;
	/* nothing acts on it: any value but null is "not supported by this version" */
	bool refused;
	/* of FIELD_ENUM and FIELD_STR: which values are acted upon; the others that it allows are
	 * "not supported by this version" */
	const char *const *only;
	/* x-kubernetes-list-map-keys; a duplicate is an error */
	const char *list_key;
	/* NULL-terminated by .rule == NULL */
	const struct field_rule *rules;
	/* one sentence, units in it; schema description and manual */
	const char *doc;
};
#define FIELD(type_, member_, name_, kind_, ...)                                                   \
	{                                                                                          \
		.name = (name_), .type = (kind_), .offset = offsetof(struct type_, member_),       \
		__VA_ARGS__                                                                        \
	}
/* Object in place, object behind a pointer, list of objects: the size comes from the member. */
#define FIELD_OBJ(type_, member_, name_, sub_, ...)                                                \
	FIELD(type_, member_, name_, FIELD_OBJECT, .sub = (sub_),                                  \
	      .size = sizeof(((struct type_ *)0)->member_), __VA_ARGS__)
#define FIELD_PTR(type_, member_, name_, sub_, ...)                                                \
	FIELD(type_, member_, name_, FIELD_OBJECT_PTR, .sub = (sub_),                              \
	      .size = sizeof(*((struct type_ *)0)->member_), __VA_ARGS__)
#define FIELD_ITEMS(type_, member_, name_, sub_, ...)                                              \
	FIELD(type_, member_, name_, FIELD_LIST, .sub = (sub_),                                    \
	      .size = sizeof(*((struct type_ *)0)->member_.v), __VA_ARGS__)
/* A member of an anonymous struct: the table is for `outer_` of struct type_. */
#define FIELD_IN(type_, outer_, member_, name_, kind_, ...)                                        \
	{                                                                                          \
		.name = (name_), .type = (kind_),                                                  \
		.offset = offsetof(struct type_, outer_.member_) - offsetof(struct type_, outer_), \
		__VA_ARGS__                                                                        \
	}
/* A field of which nothing is kept: with .refused one that nothing acts on, with .only one that
 * has a single value, which is its .def and is encoded.  Not for lists, nor for what lies behind
 * a pointer. */
#define FIELD_UNKEPT(name_, kind_, ...)                                                            \
	{                                                                                          \
		.name = (name_), .type = (kind_), .offset = FIELD_NOWHERE, __VA_ARGS__             \
	}
/* An object of which nothing is kept, and whose members are not told. */
#define FIELD_REFUSED(name_, ...)                                                                  \
	FIELD_UNKEPT(name_, FIELD_OBJECT, .sub = fields_none, .refused = true, __VA_ARGS__)
#define FIELDS_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* a table without rows */
extern const struct field fields_none[];

/* path: where j stands ("spec"), for errors; NULL or "" for the top. On error *out is
 * unspecified. */
int fields_decode(const struct field *f, const json_t *j, const char *path, void *out,
		  struct arena *a, struct err *e) __attribute__((warn_unused_result));
int fields_decode_strict(const struct field *f, const json_t *j, const char *path, void *out,
			 struct arena *a, struct err *e) __attribute__((warn_unused_result));

/* A struct without any of its members: defaults, and -1 in enums that have none. */
void fields_defaults(const struct field *f, void *out, struct arena *a);

/* Back to JSON: zero, NULL, empty and -1 (enum) members are left out, and
 * objects in place that say no more than their defaults; but not what is required or would
 * be taken for its default; gives a new object. */
json_t *fields_encode(const struct field *f, const void *in);

/* Structural schema (OpenAPI v3, apiextensions.k8s.io/v1) of an object with these fields. */
json_t *fields_schema(const struct field *f);

/* The values of f->only in words: "A or B". */
void fields_only(const struct field *f, struct buf *out);

/* Markdown table rows: field, type, default, allowed, description; nested with dotted names. */
void fields_reference(const struct field *f, const char *prefix, struct buf *out);

#endif
