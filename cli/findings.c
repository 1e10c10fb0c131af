#include "cli/findings.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"

static const struct {
	const char *name, *shown, *colour;
} results[] = {
	[FINDING_WRONG] = {"wrong", "wrong", "\033[31m"},
	[FINDING_WARNING] = {"warning", "warn", "\033[33m"},
	[FINDING_UNKNOWN] = {"unknown", "?", "\033[33m"},
	[FINDING_OK] = {"ok", "OK", "\033[32m"},
};
enum { RESULTS = sizeof(results) / sizeof(results[0]) };

struct findings {
	/* for each result an array of findings {of, result, says, mend, more} */
	json_t *found[RESULTS];
	/* for each result the same objects as in `found`, with the text of says and mend as key */
	json_t *known[RESULTS];
};

struct findings *findings_new(void)
{
	struct findings *f = mem_new(struct findings);

	for (int r = 0; r < RESULTS; r++) {
		f->found[r] = json_array();
		f->known[r] = json_object();
	}
	return f;
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	for (int r = 0; r < RESULTS; r++) {
		json_decref(f->found[r]);
		json_decref(f->known[r]);
	}
	free(f);
}

static json_t *text(struct arena *a, const char *s)
{
	char *copy = arena_strdup(a, s);

	str_printable(copy);
	return json_string(copy);
}

void findings_add(struct findings *f, enum finding result, const char *of, const char *mend,
		  const char *fmt, ...)
{
	OWN(arena) a = arena_new();
	const char *key;
	json_t *o, *known;
	char says[1024]; /* maximum length of a text in the API */
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(says, sizeof(says), fmt, ap);
	va_end(ap);
	key = arena_printf(a, "%s\n%s", says, str_or(mend, ""));
	known = json_object_get(f->known[result], key);
	if (known) {
		json_object_set_new(known, "more", json_integer(json_int_at(known, "more") + 1));
	} else {
		o = json_pack("{s:o, s:s, s:o}", "of", text(a, of), "result", results[result].name,
			      "says", text(a, says));
		if (mend)
			json_object_set_new(o, "mend", text(a, mend));
		json_object_set(f->known[result], key, o);
		json_array_append_new(f->found[result], o);
	}
}

size_t findings_of(const struct findings *f, enum finding result)
{
	return json_array_size(f->found[result]);
}

static void print_json(const struct findings *f, FILE *out)
{
	json_t *list = json_array();
	OWN_JSON all = json_pack("{s:I, s:I, s:I, s:o}", "wrong",
				 (json_int_t)findings_of(f, FINDING_WRONG), "warnings",
				 (json_int_t)findings_of(f, FINDING_WARNING), "unknown",
				 (json_int_t)findings_of(f, FINDING_UNKNOWN), "findings", list);

	for (int r = 0; r < RESULTS; r++)
		json_array_extend(list, f->found[r]);
	json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
}

static void print_one(const json_t *o, int result, bool colour, FILE *out)
{
	const char *mend = json_str_at(o, "mend");
	json_int_t more = json_int_at(o, "more");

	fprintf(out, "%s%-5s%s  %s", colour ? results[result].colour : "", results[result].shown,
		colour ? "\033[0m" : "", json_str_at(o, "of"));
	if (more)
		fprintf(out, " and %lld more", (long long)more);
	fprintf(out, ": %s\n", json_str_at(o, "says"));
	if (mend && result != FINDING_OK)
		fprintf(out, "       %s\n", mend);
}

void findings_print(const struct findings *f, bool json, bool colour, FILE *out)
{
	json_t *o;
	size_t i;

	if (json) {
		print_json(f, out);
		return;
	}
	for (int r = 0; r < RESULTS; r++)
		json_array_foreach (f->found[r], i, o)
			print_one(o, r, colour, out);
	if (findings_of(f, FINDING_WRONG))
		fprintf(out, "%zu wrong", findings_of(f, FINDING_WRONG));
	else
		fputs("nothing wrong", out);
	if (findings_of(f, FINDING_WARNING))
		fprintf(out, ", %zu warning%s", findings_of(f, FINDING_WARNING),
			findings_of(f, FINDING_WARNING) == 1 ? "" : "s");
	if (findings_of(f, FINDING_UNKNOWN))
		fprintf(out, ", %zu could not be checked", findings_of(f, FINDING_UNKNOWN));
	fputc('\n', out);
}
