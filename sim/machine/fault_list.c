#include "sim/machine/fault_list.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"

struct row {
	struct list link;
	char *machine, *when, *what;
	/* count: number of times that the fault applies; 0: no limit. struck: number of times that
	 * it has applied. */
	int64_t count, struck, value;
	double probability;
};

struct fault_list {
	struct list rows;
};

static void add(struct fault_list *l, const struct sim_fault *f)
{
	struct row *r = mem_new(struct row);

	r->machine = mem_strdup(f->machine);
	r->when = mem_strdup(f->when);
	r->what = mem_strdup(f->what);
	r->count = f->count;
	r->value = f->value;
	r->probability = f->probability;
	list_push_back(&l->rows, &r->link);
}

static void row_free(struct row *r)
{
	list_remove(&r->link);
	free(r->machine);
	free(r->when);
	free(r->what);
	free(r);
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
	list_for_each (r, &l->rows, struct row, link)
		if (!machine || str_eq(r->machine, machine))
			row_free(r);
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

static bool is_over(const struct row *r)
{
	return r->count > 0 && r->struck >= r->count;
}

bool fault_list_strikes(struct fault_list *l, const char *machine, const char *when,
			const char *what, uint64_t (*chance)(void *arg), void *arg, int64_t *value)
{
	list_for_each (r, &l->rows, struct row, link) {
		if (is_over(r) || !str_eq(r->what, what) || (r->when && !str_eq(r->when, when)) ||
		    (!str_eq(r->machine, "*") && !str_eq(r->machine, machine)))
			continue;
		if (r->probability < 1 && (double)chance(arg) >= r->probability * 1e6)
			continue;
		r->struck++;
		if (value)
			*value = r->value;
		return true;
	}
	return false;
}

json_t *fault_list_json(const struct fault_list *l)
{
	json_t *rows = json_array();

	list_for_each (r, (struct list *)&l->rows, struct row, link) {
		json_t *o;

		if (is_over(r))
			continue;
		o = json_pack("{s:s, s:s}", "machine", r->machine, "what", r->what);
		if (r->when)
			json_object_set_new(o, "when", json_string(r->when));
		if (r->value)
			json_object_set_new(o, "value", json_integer(r->value));
		if (r->count)
			json_object_set_new(o, "left", json_integer(r->count - r->struck));
		json_array_append_new(rows, o);
	}
	return json_pack("{s:o}", "faults", rows);
}
