#include "tests/contract/fake_fabric.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

static void say(struct loop_child *c, json_t *j)
{
	char *text = json_text(j);

	loop_sim_child_line(c, text, strlen(text));
	free(text);
	json_decref(j);
}

static void on_start(struct loop_child *c, const char *const *argv, void **state, void *arg)
{
	struct fake_fabric *f = arg;

	assert(argv[1] && str_eq(argv[1], "--now") && !argv[2]);
	f->starts++;
	f->child = c;
	*state = f;
}

static json_t *place(struct fake_fabric *f, const json_t *request, json_int_t id)
{
	map_put(f->segments, json_str_at(request, "machine"),
		mem_strdup(json_str_at(request, "segment")));
	return json_pack("{s:I}", "id", id);
}

static json_t *observe(struct fake_fabric *f, const json_t *request, json_int_t id)
{
	return json_pack("{s:I,s:s?,s:s}", "id", id, "segment",
			 (const char *)map_get(f->segments, json_str_at(request, "machine")),
			 "proof", str_or(f->proof, "Strong"));
}

static void note(struct fake_fabric *f, const json_t *request)
{
	const char *segment = json_str_at(request, "segment");

	assert(f->njournal < sizeof(f->journal) / sizeof(*f->journal));
	assert(json_int_at(request, "limitMs") == 60000 && json_str_at(request, "operation"));
	f->journal[f->njournal++] = mem_printf(
		"%s %s%s%s %d", json_str_at(request, "op"), json_str_at(request, "machine"),
		segment ? " " : "", str_or(segment, ""), (int)json_int_at(request, "fence"));
}

static void on_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	struct fake_fabric *f = state;
	OWN_JSON request = json_loadb(line, len, 0, NULL);
	json_int_t id = json_int_at(request, "id");

	if (str_eq(json_str_at(request, "op"), "hello")) {
		say(c, json_pack("{s:I,s:i}", "id", id, "protocol", f->wrong_protocol ? 2 : 1));
		return;
	}
	note(f, request);
	if (f->dies) {
		loop_sim_child_exit(c, 3);
	} else if (f->silent) {
		f->held_id = id;
	} else if (f->garbage) {
		loop_sim_child_line(c, "what?", 5);
	} else if (f->error) {
		say(c, json_pack("{s:I,s:{s:s,s:s,s:i}}", "id", id, "error", "kind", f->error,
				 "message", "leaf-3 says no", "retryAfterMs", 5000));
	} else {
		if (f->unknown_id)
			say(c, json_pack("{s:I}", "id", (json_int_t)999999));
		say(c, str_eq(json_str_at(request, "op"), "place") ? place(f, request, id)
								   : observe(f, request, id));
	}
}

static void on_eof(struct loop_child *c, void *state)
{
	(void)state;
	loop_sim_child_exit(c, 0);
}

static void on_free(void *state)
{
	struct fake_fabric *f = state;

	f->ends++;
}

void fake_fabric_init(struct fake_fabric *f, struct loop *l)
{
	struct loop_sim_program p = {
		.start = on_start, .line = on_line, .eof = on_eof, .free = on_free, .arg = f};

	*f = (struct fake_fabric){.segments = map_new(free)};
	loop_sim_program(l, FAKE_FABRIC, &p);
}

void fake_fabric_done(struct fake_fabric *f)
{
	map_free(f->segments);
	for (unsigned i = 0; i < f->njournal; i++)
		free(f->journal[i]);
}
