#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/bcm/head_impl.h"

/*
 * head_fault: faults that a test or an operator injects.
 * Tests: tests/unit/sim/bcm/test_head.c
 */
static struct head_fault *take(struct head_fault *f)
{
	if (f->count > 0)
		f->count--;
	return f;
}

/* Returns the first fault that applies. A fault whose count is used up stays in the list with count
 * 0 and is skipped. */
struct head_fault *head_fault(struct sim_head *h, const char *what, const char *call)
{
	list_for_each (f, &h->faults, struct head_fault, link)
		if (f->count && str_eq(f->what, what) &&
		    (!f->call[0] || strcasecmp(f->call, call) == 0))
			return take(f);
	return NULL;
}

int sim_head_fault(struct sim_head *h, const char *json, struct err *e)
{
	static const char *const known[] = {
		"ErrorMessage", "Null",		"Denied",	"NoCall",    "Status", "Slow",
		"LostReply",	"Hang",		"Stale",	"Overwrite", "Moved",  "Invalid",
		"Ignored",	"InstallFails", "InstallHangs", "Expire"};
	OWN_JSON o = json_parse(json, strlen(json), e);
	const char *what = json_str_at(o, "what");
	struct head_fault *f;

	if (!o)
		return -1;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!str_eq(known[i], what))
			continue;
		f = mem_new(struct head_fault);
		str_copy(f->what, sizeof(f->what), what);
		str_copy(f->call, sizeof(f->call), str_or(json_str_at(o, "call"), ""));
		str_copy(f->text, sizeof(f->text), str_or(json_str_at(o, "text"), ""));
		f->count = json_at(o, "count") ? json_int_at(o, "count") : -1;
		f->value = json_int_at(o, "value");
		list_push_back(&h->faults, &f->link);
		return 0;
	}
	return err_set(e, ERR_INVALID, 0,
		       "what: unknown fault \"%s\"; docs/sim.md lists the "
		       "faults",
		       str_or(what, "(none)"));
}

void sim_head_well(struct sim_head *h)
{
	list_for_each (f, &h->faults, struct head_fault, link) {
		list_remove(&f->link);
		free(f);
	}
}
