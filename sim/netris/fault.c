#include <string.h>
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/*
 * netris_fault: faults that a test or an operator injects.
 * Tests: tests/unit/sim/netris/test_netris.c
 */
static const char *const kinds[] = {
	"Status",     "NotSuccess", "LostReply",  "Silent",    "Ignored",    "Garbage",
	"Slow",	      "Expire",	    "StaleRead",  "Forget",    "OtherAdds",  "OtherRemoves",
	"SwitchDead", "PortLie",    "NoShared",	  "NoServers", "NoGateways", "BackendDown",
	"NoHealth",   "NoLbVPC",    "NoLbSubnet", NULL};

int sim_netris_fault(struct sim_netris *s, const char *what, const char *on, const char *name,
		     int64_t value, int64_t count)
{
	if (!fault_kind(kinds, what))
		return -1;
	fault_add(&s->faults, &(struct fault){.what = what,
					      .on = on,
					      .name = name,
					      .value = value,
					      .count = count > 0 ? count : 0});
	return 0;
}

void sim_netris_well(struct sim_netris *s)
{
	fault_clear(&s->faults, NULL);
}

/* True if a fault with this `on`, for example "PUT /api/v2/server-cluster", concerns the request;
 * on NULL: any request. */
static bool is_on(const char *on, const char *method, const char *path)
{
	size_t n = strlen(method);

	return !on || (!strncmp(on, method, n) && on[n] == ' ' && str_starts(path, on + n + 1));
}

struct fault *nt_strikes(struct sim_netris *s, const char *what, const char *method,
			 const char *path)
{
	list_for_each (f, &s->faults, struct fault, link) {
		if (!str_eq(f->what, what) || !is_on(f->on, method, path) || fault_is_over(f))
			continue;
		fault_struck(f);
		return f;
	}
	return NULL;
}

bool nt_stands(const struct sim_netris *s, const char *what, const char *name)
{
	list_for_each (f, &s->faults, struct fault, link)
		if (str_eq(f->what, what) && str_eq(f->name, name))
			return true;
	return false;
}
