#include "tests/world/sweep.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/unit/testing.h"

static const struct {
	const char *name;
	enum http_mem_fault_kind fate;
	bool kills;
} fates[] = {
	{"fails", HTTP_MEM_REFUSED, false},	    {"times out", HTTP_MEM_SILENT, false},
	{"reply lost", HTTP_MEM_REPLY_LOST, false}, {"twice", HTTP_MEM_TWICE, false},
	{"killed before", HTTP_MEM_REFUSED, true},  {"killed after", HTTP_MEM_WELL, true},
};
#define FATES (sizeof(fates) / sizeof(fates[0]))

static unsigned every(const struct sweep *s)
{
	const char *text = getenv("WORLD_EVERY");
	int64_t n = s->every;

	assert_true(!text || str_to_i64(text, 1, 100000, &n));
	return (unsigned)n;
}

/* Runs the scenario once. Fault k meets request number `at`, or with s->by_effect the request with
 * that number among those that change something. False: the scenario ended before that number. */
static bool met(const struct sweep *s, unsigned k, uint64_t at)
{
	struct sim_world w;
	bool was;

	world_start(&w, s->seed + at, s->servers);
	w.by_effect = s->by_effect;
	w.fault_at = at;
	w.fault = fates[k].fate;
	w.kill_at = fates[k].kills ? at : 0;
	if (s->prepare)
		s->prepare(&w, at);
	if (getenv("WORLD_SWEEP"))
		print_message("%s at %llu\n", fates[k].name, (unsigned long long)at);
	s->trip(&w);
	was = world_counted(&w) >= at;
	world_stop(&w);
	return was;
}

unsigned sweep_run(const struct sweep *s)
{
	unsigned step = every(s), n = 0;

	for (unsigned k = 0; k < FATES; k++)
		for (uint64_t at = 1 + k * step / FATES; met(s, k, at); at += step)
			n++;
	return n;
}
