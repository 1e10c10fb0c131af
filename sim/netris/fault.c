#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/*
 * netris_fault: faults that a test or an operator injects.
 * Tests: tests/unit/sim/netris/test_netris.c
 */
static const char *const kinds[] = {
	"Status",     "NotSuccess", "LostReply", "Silent",    "Ignored",    "Garbage",
	"Slow",	      "Expire",	    "StaleRead", "Forget",    "OtherAdds",  "OtherRemoves",
	"SwitchDead", "PortLie",    "NoShared",	 "NoServers", "NoGateways", "BackendDown",
	"NoHealth",   "NoLbVPC",    "NoLbSubnet"};

int sim_netris_fault(struct sim_netris *s, const char *what, const char *on, const char *name,
		     int64_t value, int64_t count)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct nt_fault *f;

		if (!str_eq(kinds[i], what))
			continue;
		f = mem_new(struct nt_fault);
		*f = (struct nt_fault){.what = kinds[i],
				       .on = mem_strdup(on),
				       .name = mem_strdup(name),
				       .value = value,
				       .count = count,
				       .for_ever = count <= 0};
		list_push_back(&s->faults, &f->link);
		return 0;
	}
	return -1;
}

static void fault_free(struct nt_fault *f)
{
	list_remove(&f->link);
	free(f->on);
	free(f->name);
	free(f);
}

void sim_netris_well(struct sim_netris *s)
{
	list_for_each (f, &s->faults, struct nt_fault, link)
		fault_free(f);
}

/* True if a fault with this `on`, for example "PUT /api/v2/server-cluster", concerns the request;
 * on NULL: any request. */
static bool is_on(const char *on, const char *method, const char *path)
{
	size_t n = strlen(method);

	return !on || (!strncmp(on, method, n) && on[n] == ' ' && str_starts(path, on + n + 1));
}

struct nt_fault *nt_strikes(struct sim_netris *s, const char *what, const char *method,
			    const char *path)
{
	list_for_each (f, &s->faults, struct nt_fault, link) {
		if (!str_eq(f->what, what) || !is_on(f->on, method, path) ||
		    (!f->for_ever && f->count <= 0))
			continue;
		f->count--;
		return f;
	}
	return NULL;
}

bool nt_stands(const struct sim_netris *s, const char *what, const char *name)
{
	list_for_each (f, &s->faults, struct nt_fault, link)
		if (str_eq(f->what, what) && str_eq(f->name, name))
			return true;
	return false;
}
