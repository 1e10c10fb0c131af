#include "sim/machine/fault_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/common/fault.h"

struct fault_list {
	struct list rows;
};

static void add(struct fault_list *l, const struct sim_fault *f)
{
	fault_add(&l->rows, &(struct fault){.name = f->machine,
					    .on = f->when,
					    .what = f->what,
					    .count = f->count,
					    .value = f->value,
					    .probability = f->probability});
}

struct fault_list *fault_list_new(const struct sim_faults *begin)
{
	struct fault_list *l = mem_new(struct fault_list);

	list_init(&l->rows);
	for (size_t i = 0; begin && i < begin->n; i++)
		add(l, &begin->v[i]);
	return l;
}

void fault_list_clear(struct fault_list *l, const char *machine)
{
	fault_clear(&l->rows, machine);
}

void fault_list_free(struct fault_list *l)
{
	if (!l)
		return;
	fault_list_clear(l, NULL);
	free(l);
}

int fault_list_add(struct fault_list *l, const char *text, size_t len, struct err *e)
{
	OWN(arena) a = arena_new();
	struct sim_faults more = {0};

	if (sim_faults_read(text, len, a, &more, e) < 0)
		return -1;
	for (size_t i = 0; i < more.n; i++)
		add(l, &more.v[i]);
	return 0;
}

bool fault_list_strikes(struct fault_list *l, const char *machine, const char *when,
			const char *what, uint64_t (*chance)(void *arg), void *arg, int64_t *value)
{
	list_for_each (r, &l->rows, struct fault, link) {
		if (fault_is_over(r) || !str_eq(r->what, what) || !fault_is_of(r->on, when) ||
		    (!str_eq(r->name, "*") && !str_eq(r->name, machine)))
			continue;
		if (r->probability < 1 && (double)chance(arg) >= r->probability * 1e6)
			continue;
		fault_struck(r);
		if (value)
			*value = r->value;
		return true;
	}
	return false;
}

json_t *fault_list_json(const struct fault_list *l)
{
	json_t *rows = json_array();

	list_for_each (r, (struct list *)&l->rows, struct fault, link) {
		json_t *o;

		if (fault_is_over(r))
			continue;
		o = json_pack("{s:s, s:s}", "machine", r->name, "what", r->what);
		if (r->on)
			json_object_set_new(o, "when", json_string(r->on));
		if (r->value)
			json_object_set_new(o, "value", json_integer(r->value));
		if (r->count)
			json_object_set_new(o, "left", json_integer(r->count - r->struck));
		json_array_append_new(rows, o);
	}
	return json_pack("{s:o}", "faults", rows);
}
