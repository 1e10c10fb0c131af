#include <string.h>
#include <strings.h>
#include "base/data/json.h"
#include "base/str.h"
#include "sim/bcm/head_impl.h"

/*
 * fault: faults that a test or an operator injects.
 * Tests: tests/unit/sim/bcm/test_head.c
 */
static const char *const kinds[] = {
	"ErrorMessage", "Null",		"Denied",	"NoCall",    "Status", "Slow",
	"LostReply",	"Hang",		"Stale",	"Overwrite", "Moved",  "Invalid",
	"Ignored",	"InstallFails", "InstallHangs", "Expire",    NULL};

struct fault *head_fault(struct sim_head *h, const char *what, const char *call)
{
	list_for_each (f, &h->faults, struct fault, link) {
		if (fault_is_over(f) || !str_eq(f->what, what) ||
		    (f->on && strcasecmp(f->on, call) != 0))
			continue;
		fault_struck(f);
		return f;
	}
	return NULL;
}

int sim_head_fault(struct sim_head *h, const char *json, struct err *e)
{
	OWN_JSON o = json_parse(json, strlen(json), e);
	const char *what = json_str_at(o, "what"), *call = json_str_at(o, "call");
	json_int_t count = json_at(o, "count") ? json_int_at(o, "count") : -1;

	if (!o)
		return -1;
	if (!fault_kind(kinds, what))
		return err_set(e, ERR_INVALID, 0,
			       "what: unknown fault \"%s\"; docs/sim.md lists the "
			       "faults",
			       str_or(what, "(none)"));
	if (count)
		fault_add(&h->faults, &(struct fault){.what = what,
						      .on = str_empty(call) ? NULL : call,
						      .text = str_or(json_str_at(o, "text"), ""),
						      .count = count > 0 ? count : 0,
						      .value = json_int_at(o, "value")});
	return 0;
}

void sim_head_well(struct sim_head *h)
{
	fault_clear(&h->faults, NULL);
}
