#include "base/data/fields.h"

#include <assert.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "base/money.h"
#include "base/str.h"

/* Limits for table rows that set none: sufficient for any hand-written object, small compared with
 * a request. */
#define DEFAULT_MAX_LEN 1024
#define DEFAULT_MAX_ITEMS 256
#define DEFAULT_MAX_ANY 65536

/* Location of a value in the input. The locations form a chain on the stack, which is turned into
 * text only for an error. */
struct at {
	const struct at *up;
	/* Name of a member; NULL: an element of a list, number `index`. */
	const char *name;
	size_t index;
	/* True: name is a key of a map, which may contain any character. */
	bool key;
};

struct decoder {
	struct arena *a;
	struct err *e;
	/* True: members that no row names are refused. */
	bool strict;
	/* True: required members may be absent (fields_defaults()). */
	bool lenient;
};

const struct field fields_none[] = {FIELDS_END};

static int decode_object(struct decoder *d, const struct field *f, const json_t *j,
			 const struct at *at, void *out);

static void at_print(const struct at *at, struct buf *b)
{
	if (!at)
		return;
	at_print(at->up, b);
	if (!at->name)
		buf_printf(b, "[%zu]", at->index);
	else if (at->key)
		buf_printf(b, "[\"%s\"]", at->name);
	else
		buf_printf(b, "%s%s", b->len ? "." : "", at->name);
}

/* Prints a value for an error text: a long value is shortened, but never inside a character. */
static void got_print(const json_t *j, struct buf *b)
{
	char *text;
	size_t n;

	if (json_is_object(j) || json_is_array(j)) {
		buf_puts(b, json_is_object(j) ? "an object" : "a list");
		return;
	}
	text = json_text(j);
	n = strlen(text);
	if (n > 64) {
		n = 60;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		buf_put(b, text, n);
		buf_puts(b, "...");
	} else {
		buf_puts(b, text);
	}
	free(text);
}

/* Sets the error "path: want, got value"; returns -1. got NULL: the value is not shown. */
static int wrong(struct decoder *d, const struct at *at, const char *want, const json_t *got)
{
	struct buf b;

	buf_init(&b, 1024);
	at_print(at, &b);
	buf_printf(&b, "%s%s", b.len ? ": " : "", want);
	if (got) {
		buf_puts(&b, ", got ");
		got_print(got, &b);
	}
	err_note(d->e, ERR_INVALID, 0, "%s", b.data);
	buf_done(&b);
	return -1;
}

static size_t max_len(const struct field *f)
{
	return f->max_len ? f->max_len : DEFAULT_MAX_LEN;
}

static size_t max_items(const struct field *f)
{
	return f->max_items ? f->max_items : DEFAULT_MAX_ITEMS;
}

static bool matches(const char *pattern, const char *s)
{
	regex_t re;
	bool ok;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		/* A row with an invalid pattern refuses every value, so that the test of the row's
		 * table fails. */
		return false;
	ok = regexec(&re, s, 0, NULL, 0) == 0;
	regfree(&re);
	return ok;
}

static int enum_index(const char *const *names, const char *s)
{
	for (int i = 0; names[i]; i++)
		if (*s && !strcmp(names[i], s))
			return i;
	return -1;
}

/* Refuses a value that is not one of f->enums: sets the error "want A, B or C". */
static int wrong_enum(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at)
{
	struct buf b;
	size_t n = 0, i = 0;
	int rc;

	for (const char *const *s = f->enums; *s; s++)
		n += **s != '\0';
	buf_init(&b, 512);
	buf_puts(&b, "want ");
	for (const char *const *s = f->enums; *s; s++)
		if (**s) {
			i++;
			buf_printf(&b, "%s%s", i == 1 ? "" : i == n ? " or " : ", ", *s);
		}
	rc = wrong(d, at, b.data, j);
	buf_done(&b);
	return rc;
}

void fields_only(const struct field *f, struct buf *out)
{
	for (const char *const *n = f->only; *n; n++)
		buf_printf(out, "%s%s", n == f->only ? "" : n[1] ? ", " : " or ", *n);
}

static bool is_one_of(const char *const *names, const char *s)
{
	for (; *names; names++)
		if (!strcmp(*names, s))
			return true;
	return false;
}

/* Refuses a value that is valid, but that this version of drover does not support (refused,
 * only). */
static int check_supported(struct decoder *d, const struct field *f, const json_t *j,
			   const struct at *at)
{
	struct buf want;
	int rc;

	if (f->refused)
		return wrong(d, at, FIELDS_UNSUPPORTED, NULL);
	if (!f->only || is_one_of(f->only, json_string_value(j)))
		return 0;
	buf_init(&want, 512);
	buf_puts(&want, FIELDS_UNSUPPORTED ": want ");
	fields_only(f, &want);
	rc = wrong(d, at, want.data, j);
	buf_done(&want);
	return rc;
}

static int check_text(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at)
{
	const char *s = json_string_value(j);
	struct err why;
	char want[256];

	if (f->required && !*s)
		return wrong(d, at, "must not be empty", NULL);
	if (strlen(s) > max_len(f)) {
		str_format(want, sizeof(want), "want at most %zu bytes, got %zu", max_len(f),
			   strlen(s));
		return wrong(d, at, want, NULL);
	}
	if (*s && (f->valid ? !f->valid(s) : f->pattern && !matches(f->pattern, s))) {
		str_format(want, sizeof(want), "want %s%s", f->want ? "" : "text that matches ",
			   f->want	? f->want
			   : f->pattern ? f->pattern
					: "another value");
		return wrong(d, at, want, j);
	}
	if (*s && f->check && f->check(s, &why) < 0)
		return wrong(d, at, why.text, j);
	return 0;
}

static int decode_str(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at, void *out);

/* Refuses a value that is not text. Suggests quotes for a number or a boolean, because YAML reads
 * unquoted text such as 1.30, no or 6.5 as these. */
static int wrong_text(struct decoder *d, const struct at *at, const json_t *j)
{
	return wrong(d, at,
		     json_is_number(j) || json_is_boolean(j) ? "want text, in quotes" : "want text",
		     j);
}

static int decode_number(struct decoder *d, const struct field *f, const json_t *j,
			 const struct at *at, void *out)
{
	char text[32];

	str_format(text, sizeof(text), "%lld", (long long)json_integer_value(j));
	OWN_JSON quoted = json_string(text);
	return decode_str(d, f, quoted, at, out);
}

static int decode_str(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at, void *out)
{
	if (f->number && json_is_integer(j))
		return decode_number(d, f, j, at, out);
	if (!json_is_string(j))
		return wrong_text(d, at, j);
	if (check_text(d, f, j, at) < 0)
		return -1;
	*(const char **)out = arena_strndup(d->a, json_string_value(j), json_string_length(j));
	return 0;
}

static bool in_range(const struct field *f, int64_t v)
{
	if (f->max > f->min)
		return v >= f->min && v <= f->max;
	return !f->min || v >= f->min;
}

static int decode_i64(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at, void *out)
{
	char want[96];
	int64_t v = 0;
	bool ok = true;

	if (json_is_integer(j))
		v = json_integer_value(j);
	else
		ok = json_is_string(j) &&
		     str_to_i64(json_string_value(j), INT64_MIN, INT64_MAX, &v);
	if (ok && in_range(f, v)) {
		*(int64_t *)out = v;
		return 0;
	}
	if (f->max > f->min && f->max != INT64_MAX)
		str_format(want, sizeof(want), "want %jd to %jd", (intmax_t)f->min,
			   (intmax_t)f->max);
	else if (f->min || f->max)
		str_format(want, sizeof(want), "want a whole number of at least %jd",
			   (intmax_t)f->min);
	else
		str_copy(want, sizeof(want), "want a whole number");
	return wrong(d, at, want, j);
}

static int decode_decimal(struct decoder *d, const struct field *f, const json_t *j,
			  const struct at *at, void *out)
{
	const int64_t whole = json_is_integer(j) ? json_integer_value(j) : -1;
	char want[96];
	int64_t micro;
	struct err e;

	if ((json_is_string(j) ? money_parse(json_string_value(j), &micro, &e) == 0
			       : whole >= 0 && whole <= MONEY_TEXT_MAX / MONEY_UNIT &&
					 money_times(MONEY_UNIT, whole, &micro)) &&
	    (!f->max || micro <= f->max)) {
		*(int64_t *)out = micro;
		return 0;
	}
	str_format(want, sizeof(want), "want %s", json_is_real(j) ? "text, in quotes" : f->want);
	return wrong(d, at, want, j);
}

static int decode_duration(struct decoder *d, const struct field *f, const json_t *j,
			   const struct at *at, void *out)
{
	char want[160], lo[STR_TIME_SIZE], hi[STR_TIME_SIZE];
	const char *s = json_string_value(j);
	int64_t ms;

	if (s && f->never && !strcmp(s, "Never")) {
		*(int64_t *)out = -1;
		return 0;
	}
	if (s && strlen(s) <= FIELDS_DURATION_MAX && str_to_duration(s, &ms) && ms >= 0 &&
	    in_range(f, ms)) {
		*(int64_t *)out = ms;
		return 0;
	}
	if (f->max > f->min)
		str_format(want, sizeof(want), "want %s to %s", str_duration(lo, f->min),
			   str_duration(hi, f->max));
	else if (f->min)
		str_format(want, sizeof(want), "want at least %s", str_duration(lo, f->min));
	else
		str_copy(want, sizeof(want), "want a duration such as 30m");
	if (f->never)
		str_format(want + strlen(want), sizeof(want) - strlen(want), " or Never");
	return wrong(d, at, want, j);
}

static int decode_quantity(struct decoder *d, const json_t *j, const struct at *at, bool whole,
			   struct quantity *out)
{
	struct err ignored;
	bool ok = true;

	if (json_is_integer(j))
		*out = quantity_of(json_integer_value(j));
	else if (json_is_real(j))
		ok = quantity_of_real(json_real_value(j), out);
	else
		ok = json_is_string(j) && quantity_parse(json_string_value(j), out, &ignored) == 0;
	if (!ok || out->nano < 0)
		return wrong(d, at, "want a quantity such as 8, 500m or 64Gi", j);
	if (whole && quantity_cmp(quantity_of(quantity_floor(*out)), *out) != 0)
		return wrong(d, at, "want a whole number", j);
	return 0;
}

static int too_many(struct decoder *d, const struct field *f, const struct at *at, size_t n)
{
	char want[96];

	str_format(want, sizeof(want), "want at most %zu entries, got %zu", max_items(f), n);
	return wrong(d, at, want, NULL);
}

static int decode_map(struct decoder *d, const struct field *f, json_t *j, const struct at *at,
		      struct labels *out)
{
	const char *key;
	json_t *value;

	if (!json_is_object(j))
		return wrong(d, at, "want an object whose values are text", j);
	if (json_object_size(j) > max_items(f))
		return too_many(d, f, at, json_object_size(j));
	out->v = arena_calloc(d->a, json_object_size(j), sizeof(*out->v));
	out->n = 0;
	json_object_foreach (j, key, value) {
		struct at here = {.up = at, .name = key, .key = true};

		if (!json_is_string(value))
			return wrong_text(d, &here, value);
		if (strlen(key) > DEFAULT_MAX_LEN)
			return wrong(d, at, "has a key that is too long", NULL);
		if (check_text(d, f, value, &here) < 0)
			return -1;
		out->v[out->n].key = arena_strdup(d->a, key);
		out->v[out->n++].value = arena_strdup(d->a, json_string_value(value));
	}
	labels_sort(out);
	return 0;
}

static int decode_resources(struct decoder *d, const struct field *f, json_t *j,
			    const struct at *at, struct resources *out)
{
	const char *key;
	json_t *value;

	if (!json_is_object(j))
		return wrong(d, at, "want an object whose values are quantities", j);
	if (json_object_size(j) > max_items(f))
		return too_many(d, f, at, json_object_size(j));
	out->v = arena_calloc(d->a, json_object_size(j), sizeof(*out->v));
	out->n = 0;
	json_object_foreach (j, key, value) {
		struct at here = {
			.up = at, .name = key, .key = strchr(key, '.') || strchr(key, '/')};

		if (strlen(key) > DEFAULT_MAX_LEN)
			return wrong(d, at, "has a key that is too long", NULL);
		if (decode_quantity(d, value, &here, f->whole, &out->v[out->n].q) < 0)
			return -1;
		out->v[out->n++].name = arena_strdup(d->a, key);
	}
	if (out->n)
		resources_sort(out);
	return 0;
}

/* Checks that j is an array of at most max_items elements; *n is its length. */
static int array_size(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at, size_t *n)
{
	if (!json_is_array(j))
		return wrong(d, at, "want a list", j);
	*n = json_array_size(j);
	if (*n > max_items(f))
		return too_many(d, f, at, *n);
	if (!*n && f->required && !d->lenient)
		return wrong(d, at, "must not be empty", NULL);
	return 0;
}

static int decode_strings(struct decoder *d, const struct field *f, const json_t *j,
			  const struct at *at, struct strings *out)
{
	size_t n;

	if (array_size(d, f, j, at, &n) < 0)
		return -1;
	out->v = arena_calloc(d->a, n, sizeof(*out->v));
	out->n = n;
	for (size_t i = 0; i < n; i++) {
		struct at here = {.up = at, .index = i};
		const json_t *one = json_array_get(j, i);

		if (f->enums &&
		    (!json_is_string(one) || enum_index(f->enums, json_string_value(one)) < 0))
			return wrong_enum(d, f, one, &here);
		if (decode_str(d, f, one, &here, &out->v[i]) < 0)
			return -1;
	}
	return 0;
}

static int decode_ints(struct decoder *d, const struct field *f, const json_t *j,
		       const struct at *at, struct ints *out)
{
	size_t n;

	if (array_size(d, f, j, at, &n) < 0)
		return -1;
	out->v = arena_calloc(d->a, n, sizeof(*out->v));
	out->n = n;
	for (size_t i = 0; i < n; i++) {
		struct at here = {.up = at, .index = i};

		if (decode_i64(d, f, json_array_get(j, i), &here, &out->v[i]) < 0)
			return -1;
	}
	return 0;
}

/* Refuses two elements with the same list_key. Quadratic, over at most max_items elements. */
static int check_twice(struct decoder *d, const struct field *f, const json_t *j,
		       const struct at *at)
{
	for (size_t i = 1; i < json_array_size(j); i++) {
		const json_t *key = json_object_get(json_array_get(j, i), f->list_key);

		for (size_t k = 0; key && k < i; k++)
			if (json_equal(key, json_object_get(json_array_get(j, k), f->list_key))) {
				struct at element = {.up = at, .index = i};
				struct at here = {.up = &element, .name = f->list_key};

				return wrong(d, &here, "must not be there twice", key);
			}
	}
	return 0;
}

static int decode_list(struct decoder *d, const struct field *f, const json_t *j,
		       const struct at *at, void *out)
{
	struct {
		char *v;
		size_t n;
	} *list = out;
	size_t n;

	if (array_size(d, f, j, at, &n) < 0)
		return -1;
	list->v = arena_calloc(d->a, n, f->size);
	list->n = n;
	for (size_t i = 0; i < n; i++) {
		struct at here = {.up = at, .index = i};

		if (decode_object(d, f->sub, json_array_get(j, i), &here, list->v + i * f->size) <
		    0)
			return -1;
	}
	return f->list_key ? check_twice(d, f, j, at) : 0;
}

static int decode_any(struct decoder *d, const struct field *f, const json_t *j,
		      const struct at *at, void *out)
{
	size_t max = f->max_len ? f->max_len : DEFAULT_MAX_ANY;
	char *text = json_text(j);

	if (strlen(text) > max) {
		char want[96];

		str_format(want, sizeof(want), "want at most %zu bytes, got %zu", max,
			   strlen(text));
		free(text);
		return wrong(d, at, want, NULL);
	}
	*(const char **)out = arena_strdup(d->a, text);
	free(text);
	return 0;
}

static int decode_value(struct decoder *d, const struct field *f, json_t *j, const struct at *at,
			void *out)
{
	int i;

	switch (f->type) {
	case FIELD_STR:
		return decode_str(d, f, j, at, out);
	case FIELD_BOOL:
		if (!json_is_boolean(j))
			return wrong(d, at, "want true or false", j);
		*(bool *)out = json_is_true(j);
		return 0;
	case FIELD_I64:
		return decode_i64(d, f, j, at, out);
	case FIELD_ENUM:
		i = json_is_string(j) ? enum_index(f->enums, json_string_value(j)) : -1;
		if (i < 0)
			return wrong_enum(d, f, j, at);
		*(int *)out = i;
		return 0;
	case FIELD_QUANTITY:
		return decode_quantity(d, j, at, f->whole, out);
	case FIELD_DECIMAL:
		return decode_decimal(d, f, j, at, out);
	case FIELD_DURATION:
		return decode_duration(d, f, j, at, out);
	case FIELD_TIME:
		if (!json_is_string(j) || !str_to_time(json_string_value(j), out))
			return wrong(d, at, "want a time such as 2026-12-01T10:20:00Z", j);
		return 0;
	case FIELD_MAP:
		return decode_map(d, f, j, at, out);
	case FIELD_RESOURCES:
		return decode_resources(d, f, j, at, out);
	case FIELD_STRINGS:
		return decode_strings(d, f, j, at, out);
	case FIELD_INTS:
		return decode_ints(d, f, j, at, out);
	case FIELD_OBJECT:
		return decode_object(d, f->sub, j, at, out);
	case FIELD_OBJECT_PTR:
		*(void **)out = arena_alloc(d->a, f->size);
		return decode_object(d, f->sub, j, at, *(void **)out);
	case FIELD_LIST:
		return decode_list(d, f, j, at, out);
	case FIELD_ANY:
		return decode_any(d, f, j, at, out);
	}
	abort();
}

/* Decodes the value of a row. The value of a row with offset FIELD_NOWHERE (no member in the
 * struct) is checked and then dropped. */
static int decode_row(struct decoder *d, const struct field *f, json_t *j, const struct at *at,
		      void *out)
{
	/* Scratch space for the value of a row without a member in the struct, large enough for
	 * every type that FIELD_UNKEPT() allows. */
	union {
		int64_t i;
		struct quantity q;
		struct labels l;
		struct resources r;
	} unkept;
	void *to = f->offset == FIELD_NOWHERE ? &unkept : out;

	if (f->refused)
		return check_supported(d, f, j, at);
	if (decode_value(d, f, j, at, to) < 0)
		return -1;
	return check_supported(d, f, j, at);
}

/* Returns the size in bytes of a row's member, except for an embedded object. */
static size_t size_of(const struct field *f)
{
	static const size_t sizes[] = {
		[FIELD_STR] = sizeof(const char *),
		[FIELD_BOOL] = sizeof(bool),
		[FIELD_I64] = sizeof(int64_t),
		[FIELD_ENUM] = sizeof(int),
		[FIELD_QUANTITY] = sizeof(struct quantity),
		[FIELD_DURATION] = sizeof(int64_t),
		[FIELD_TIME] = sizeof(int64_t),
		[FIELD_MAP] = sizeof(struct labels),
		[FIELD_RESOURCES] = sizeof(struct resources),
		[FIELD_STRINGS] = sizeof(struct strings),
		[FIELD_OBJECT_PTR] = sizeof(void *),
		[FIELD_LIST] = sizeof(struct {
			void *v;
			size_t n;
		}),
		[FIELD_ANY] = sizeof(const char *),
		[FIELD_INTS] = sizeof(struct ints),
		[FIELD_DECIMAL] = sizeof(int64_t),
	};

	return sizes[f->type];
}

/* Handles a member that is absent or null. A required member without a default is an error, unless
 * d->lenient is set. Otherwise sets the default. Without a default an enum or a decimal becomes -1,
 * an embedded object gets the defaults of its members, and any other value becomes zero. */
static int decode_absent(struct decoder *d, const struct field *f, const struct at *at, void *out)
{
	if (f->required && !d->lenient && !f->def)
		return wrong(d, at, "required", NULL);
	if (f->offset == FIELD_NOWHERE)
		return 0;
	if (f->def) {
		OWN_JSON j = json_parse(f->def, strlen(f->def), d->e);

		return j ? decode_value(d, f, j, at, out) : -1;
	}
	if (f->type == FIELD_OBJECT)
		fields_defaults(f->sub, out, d->a);
	else
		memset(out, 0, size_of(f));
	if (f->type == FIELD_ENUM)
		*(int *)out = -1;
	if (f->type == FIELD_DECIMAL)
		*(int64_t *)out = -1;
	return 0;
}

static int check_unknown(struct decoder *d, const struct field *f, json_t *j, const struct at *at)
{
	const char *key;
	json_t *value;

	json_object_foreach (j, key, value) {
		const struct field *row = f;

		while (row->name && strcmp(row->name, key) != 0)
			row++;
		if (!row->name) {
			struct at here = {.up = at, .name = key};

			return wrong(d, &here, "unknown field", NULL);
		}
	}
	return 0;
}

static int decode_object(struct decoder *d, const struct field *f, const json_t *j,
			 const struct at *at, void *out)
{
	if (j && !json_is_object(j) && !json_is_null(j))
		return wrong(d, at, "want an object", j);
	if (d->strict && j && check_unknown(d, f, (json_t *)j, at) < 0)
		return -1;
	for (; f->name; f++) {
		struct at here = {.up = at, .name = f->name};
		json_t *value = json_object_get(j, f->name);
		void *to = f->offset == FIELD_NOWHERE ? NULL : (char *)out + f->offset;
		int rc = value && !json_is_null(value) ? decode_row(d, f, value, &here, to)
						       : decode_absent(d, f, &here, to);

		if (rc < 0)
			return -1;
	}
	return 0;
}

static int decode_top(struct decoder *d, const struct field *f, const json_t *j, const char *path,
		      void *out)
{
	struct at at = {.name = path};

	return decode_object(d, f, j, str_empty(path) ? NULL : &at, out);
}

int fields_decode(const struct field *f, const json_t *j, const char *path, void *out,
		  struct arena *a, struct err *e)
{
	struct decoder d = {.a = a, .e = e};

	return decode_top(&d, f, j, path, out);
}

int fields_decode_strict(const struct field *f, const json_t *j, const char *path, void *out,
			 struct arena *a, struct err *e)
{
	struct decoder d = {.a = a, .e = e, .strict = true};

	return decode_top(&d, f, j, path, out);
}

void fields_defaults(const struct field *f, void *out, struct arena *a)
{
	struct err e;
	struct decoder d = {.a = a, .e = &e, .lenient = true};
	int rc = decode_object(&d, f, NULL, NULL, out);

	assert(rc == 0); /* Decoding fails only if the table has an invalid default. */
	(void)rc;
}
