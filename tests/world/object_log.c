#include "tests/world/object_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/kinds.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "tests/unit/testing.h"

#define SHAPE_MAX 8192

/* The log of this process. */
static FILE *file;
static struct map *shapes;

static void put(struct buf *b, const char *text)
{
	buf_puts(b, str_or(text, "-"));
	buf_puts(b, "|");
}

static void put_shape(struct buf *b, const json_t *o)
{
	const json_t *seen = json_at(o, "status", "observedGeneration"), *c;
	size_t i;

	put(b, json_str_at(o, "kind"));
	put(b, json_str_at(o, "status", "state"));
	put(b, json_str_at(o, "status", "phase"));
	put(b, json_str_at(o, "spec", "managementPolicy"));
	put(b, json_str_at(o, "status", "quarantine", "exit"));
	put(b, json_str_at(o, "status", "operation", "waitingFor"));
	put(b, json_str_at(o, "metadata", "deletionTimestamp") ? "deleted" : "");
	put(b, json_true_at(o, "spec", "paused") ? "paused" : "");
	put(b, !seen								      ? "unseen"
	       : json_integer_value(seen) == json_int_at(o, "metadata", "generation") ? "seen"
										      : "older");
	json_array_foreach (json_at(o, "status", "conditions"), i, c) {
		put(b, json_str_at(c, "type"));
		put(b, json_str_at(c, "status"));
		put(b, json_str_at(c, "reason"));
	}
}

struct look {
	uint64_t since;
};

static bool look_at(const struct store_entry *e, void *arg)
{
	const struct look *l = arg;
	struct buf b;
	struct err err;

	if (e->rev <= l->since)
		return true;
	OWN_JSON o = json_parse(e->value, e->value_len, &err);
	assert_non_null(o);
	buf_init(&b, SHAPE_MAX);
	put_shape(&b, o);
	if (!map_has(shapes, b.data)) {
		map_put(shapes, b.data, (void *)"");
		json_dumpf(o, file, JSON_COMPACT);
		fputc('\n', file);
		fflush(file);
	}
	buf_done(&b);
	return true;
}

void object_log_look(struct store *s, uint64_t since)
{
	const char *dir = getenv("DROVER_OBJECT_LOG");
	struct look l = {since};
	char text[512];

	if (str_empty(dir))
		return;
	if (!file) {
		str_format(text, sizeof(text), "%s/%d.jsonl", dir, (int)getpid());
		file = fopen(text, "w");
		assert_non_null(file);
		shapes = map_new(NULL);
	}
	for (int k = 0; k < OBJECT_KINDS; k++) {
		str_format(text, sizeof(text), "%s." OBJECT_GROUP "/", object_kinds[k].plural);
		store_list(s, text, NULL, 0, look_at, &l);
	}
}
