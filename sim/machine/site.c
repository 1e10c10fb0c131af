#include "sim/machine/site.h"

#include "base/str.h"
#include "sim/machine/fault_list.h"

static const char *const to_drover[] = {"quarantine", "provisioning", NULL};

static int64_t or_fast(int64_t given, int64_t fast)
{
	return given > 0 ? given : fast;
}

struct sim_times sim_times_or_fast(const struct sim_times *t)
{
	return (struct sim_times){
		.power_ms = or_fast(t->power_ms, 500),
		.post_ms = or_fast(t->post_ms, 1500),
		.kernel_ms = or_fast(t->kernel_ms, 500),
		.system_ms = or_fast(t->system_ms, 2000),
		.wipe_bytes_per_s = or_fast(t->wipe_bytes_per_s, 4ll << 30),
		.write_bytes_per_s = or_fast(t->write_bytes_per_s, 1ll << 30),
	};
}

bool sim_site_reaches(const struct sim_site *s, const char *segment, const char *origin)
{
	const char *const *near = s->segments_to_drover ? s->segments_to_drover : to_drover;
	bool named = false;

	if (!*segment)
		return false;
	for (const struct sim_route *t = s->routes; t && t->segment; t++) {
		if (!str_eq(t->origin, origin))
			continue;
		named = true;
		if (str_eq(t->segment, segment))
			return true;
	}
	if (named)
		return false;
	for (; *near; near++)
		if (str_eq(*near, segment))
			return true;
	return !s->routes && str_starts(segment, "tenant/");
}

static uint64_t chance(void *arg)
{
	return loop_random_below(loop_of(((const struct sim_site *)arg)->group), 1000000);
}

bool sim_site_fault(const struct sim_site *s, const char *machine, const char *when,
		    const char *what, int64_t *value)
{
	return s->faults &&
	       fault_list_strikes(s->faults, machine, when, what, chance, (void *)s, value);
}
