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
 * fields: one table per struct describes how JSON becomes the struct and back. The same table is
 * the source of precise errors, defaults, the structural schema of a CustomResourceDefinition with
 * its CEL rules, and the reference page.
 *
 *   static const struct field pool_limits_fields[] = {
 *         FIELD(pool_limits, nodes, "nodes", FIELD_I64, .min = 0, .max = 100000,
 *               .doc = "Most nodes that this pool may have at once."),
 *         FIELDS_END,
 *   };
 *   errors: "spec.limits.nodes: want 0 to 100000, got -3"
 *
 * Decoding allocates strings, lists and nested objects in the given arena. fields_decode() ignores
 * members that the table does not name; fields_decode_strict() refuses them (configuration files).
 * Decoding sets each member of the struct that the table names: absent and null members get their
 * default, or become zero. Other members stay as they are, so that two tables can fill one struct.
 */
enum field_type {
	/* const char *; NULL if absent */
	FIELD_STR,
	/* bool */
	FIELD_BOOL,
	/* int64_t; must be in min..max if max > min; a decimal string ("40") is accepted too */
	FIELD_I64,
	/* int: index into enums (NULL-terminated); -1 if absent without a default */
	FIELD_ENUM,
	/* struct quantity, from an integer or a string */
	FIELD_QUANTITY,
	/* int64_t in ms, from a Go duration; "Never" is -1 if .never is set */
	FIELD_DURATION,
	/* int64_t in Unix ms, from an RFC 3339 time; 0 if absent */
	FIELD_TIME,
	/* struct labels: maps strings to strings */
	FIELD_MAP,
	/* struct resources: maps strings to quantities */
	FIELD_RESOURCES,
	/* struct strings */
	FIELD_STRINGS,
	/* A struct embedded in the outer struct; sub is its table */
	FIELD_OBJECT,
	/* Pointer to a struct of .size bytes, NULL if absent; sub is its table */
	FIELD_OBJECT_PTR,
	/* struct { T *v; size_t n; }; T has .size bytes; sub is the table of T */
	FIELD_LIST,
	/* const char *: JSON text, unchanged; the schema has
	 * x-kubernetes-preserve-unknown-fields */
	FIELD_ANY,
	/* struct ints; min..max as for FIELD_I64 */
	FIELD_INTS,
	/* int64_t in millionths (base/money.h), from a decimal text ("6.50") or a whole number; at
	 * most .max if that is set; -1 if absent without a default. .want describes the text. */
	FIELD_DECIMAL,
};

/* Offset of a row whose value has no member in the struct: the value is checked and then
 * dropped. */
#define FIELD_NOWHERE SIZE_MAX

/* Text of the error for a value that is valid, but that this version of drover does not support. */
#define FIELDS_UNSUPPORTED "not supported by this version"

#define FIELDS_DURATION_MAX 32 /* Size of a buffer for the longest duration text, in bytes. */

struct strings {
	const char **v;
	size_t n;
};
struct ints {
	int64_t *v;
	size_t n;
};

/* A CEL rule for x-kubernetes-validations. The controller checks the same rule in C, in the
 * fields_check function of the module that owns the kind. */
struct field_rule {
	const char *rule, *message;
};

struct field {
	/* Name in JSON; NULL ends the table. */
	const char *name;
	enum field_type type;
	size_t offset;
	/* Size in bytes: of the embedded struct, of the struct behind the pointer, or of a list
	 * element. */
	size_t size;
	/* Table of the object's members, or of each list element's members. */
	const struct field *sub;
	/* FIELD_ENUM: the names; "" is not a valid name. FIELD_STRINGS: the values that an element
	 * may have. */
	const char *const *enums;
	/* Default, as JSON text: "\"Never\"", "30", "{}". */
	const char *def;
	/* The member must be present and not null; a string also not empty. */
	bool required;
	/* True: the schema gets the rule self == oldSelf. */
	bool immutable;
	/* FIELD_DURATION: true if "Never" is allowed; it is decoded as -1. */
	bool never;
	/* FIELD_RESOURCES: true if the quantities are counts, written as JSON integers. */
	bool whole;
	/* Smallest and largest value of numbers, and of durations in ms; not checked if both are
	 * 0. */
	int64_t min, max;
	/* Maximum length of a string in bytes; 0 means 1024. */
	uint32_t max_len;
	/* Maximum number of elements of a list, string list or map; 0 means 256. */
	uint32_t max_items;
	/* Pattern that strings must match; must be valid both as RE2 (schema) and as POSIX ERE
	 * (regexec()). */
	const char *pattern;
	/* Function that accepts exactly the strings which match pattern; used instead of the
	 * pattern, because compiling a pattern takes 20 us or more. */
	bool (*valid)(const char *);
	/* Noun phrase for errors, which describes what `valid` or `pattern` accepts, for example "a
	 * DNS label". */
	const char *want;
	/* FIELD_STR: function that checks the text, for conditions that no pattern expresses; the
	 * schema expresses them by CEL rules (member rules). Returns -1 with *e if the text is
	 * refused. */
	int (*check)(const char *, struct err *);
	/* FIELD_STR, FIELD_STRINGS: true if an unquoted whole number is accepted and stored as
	 * text. */
	bool number;
	/* True: any value but null is refused as "not supported by this version". */
	bool refused;
	/* FIELD_ENUM and FIELD_STR: the values that this version of drover supports; other valid
	 * values are refused as "not supported by this version". */
	const char *const *only;
	/* Member that identifies a list element (x-kubernetes-list-map-keys); two elements with the
	 * same value are an error. */
	const char *list_key;
	/* CEL rules of the field; an element with rule == NULL ends the array. */
	const struct field_rule *rules;
	/* One sentence with the unit; used as schema description and in the reference page. */
	const char *doc;
};
#define FIELD(type_, member_, name_, kind_, ...)                                                   \
	{                                                                                          \
		.name = (name_), .type = (kind_), .offset = offsetof(struct type_, member_),       \
		__VA_ARGS__                                                                        \
	}
/* Rows for nested structs: FIELD_OBJ for an embedded struct, FIELD_PTR for a struct behind a
 * pointer, FIELD_ITEMS for a list of structs. The macros take the size from the C member. */
#define FIELD_OBJ(type_, member_, name_, sub_, ...)                                                \
	FIELD(type_, member_, name_, FIELD_OBJECT, .sub = (sub_),                                  \
	      .size = sizeof(((struct type_ *)0)->member_), __VA_ARGS__)
#define FIELD_PTR(type_, member_, name_, sub_, ...)                                                \
	FIELD(type_, member_, name_, FIELD_OBJECT_PTR, .sub = (sub_),                              \
	      .size = sizeof(*((struct type_ *)0)->member_), __VA_ARGS__)
#define FIELD_ITEMS(type_, member_, name_, sub_, ...)                                              \
	FIELD(type_, member_, name_, FIELD_LIST, .sub = (sub_),                                    \
	      .size = sizeof(*((struct type_ *)0)->member_.v), __VA_ARGS__)
/* A row for a member of an anonymous struct. The table describes that struct, which is the member
 * outer_ of struct type_; the offset is relative to it. */
#define FIELD_IN(type_, outer_, member_, name_, kind_, ...)                                        \
	{                                                                                          \
		.name = (name_), .type = (kind_),                                                  \
		.offset = offsetof(struct type_, outer_.member_) - offsetof(struct type_, outer_), \
		__VA_ARGS__                                                                        \
	}
/* A row for a field that is accepted or refused but not stored in the struct. With .refused, every
 * value but null is refused. With .only, a single value is allowed, which must also be .def and is
 * always encoded. Not for lists, nor for objects behind a pointer. */
#define FIELD_UNKEPT(name_, kind_, ...)                                                            \
	{                                                                                          \
		.name = (name_), .type = (kind_), .offset = FIELD_NOWHERE, __VA_ARGS__             \
	}
/* A row for an object that this version of drover refuses; its members are not described. */
#define FIELD_REFUSED(name_, ...)                                                                  \
	FIELD_UNKEPT(name_, FIELD_OBJECT, .sub = fields_none, .refused = true, __VA_ARGS__)
#define FIELDS_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* A table without rows. */
extern const struct field fields_none[];

/* Decodes j by the table f into *out. fields_decode_strict() also refuses members that the table
 * does not name. path: location of j, for errors ("spec"); NULL or "" for the top level. On error
 * the contents of *out are undefined. */
int fields_decode(const struct field *f, const json_t *j, const char *path, void *out,
		  struct arena *a, struct err *e) __attribute__((warn_unused_result));
int fields_decode_strict(const struct field *f, const json_t *j, const char *path, void *out,
			 struct arena *a, struct err *e) __attribute__((warn_unused_result));

/* Fills the struct as if all members were absent: default values, -1 for enums and decimals without
 * a default, zero for the rest. */
void fields_defaults(const struct field *f, void *out, struct arena *a);

/* Encodes a struct by the table; returns a new JSON object. Omits members that are zero, NULL,
 * empty or -1 (enum, decimal), and embedded objects that equal their defaults. Never omits a
 * required member, nor a value that decoding would replace by a different default. */
json_t *fields_encode(const struct field *f, const void *in);

/* Returns the structural schema (OpenAPI v3, apiextensions.k8s.io/v1) of an object with these
 * fields. */
json_t *fields_schema(const struct field *f);

/* Writes the values of f->only as text for humans: "A or B". */
void fields_only(const struct field *f, struct buf *out);

/* Writes rows of a Markdown table: field, type, default, allowed values, description. Names of
 * nested fields are dotted paths that begin with prefix. */
void fields_reference(const struct field *f, const char *prefix, struct buf *out);

/* Describes one field for humans. Returns {type, default, allowed, meaning, rules}, owned by the
 * caller: the texts of fields_reference() without Markdown, and the messages of the field's CEL
 * rules as a list. What the field does not have is left out. */
json_t *fields_describe(const struct field *f);

#endif
