#ifndef TESTS_BENCH_ENTRY_H
#define TESTS_BENCH_ENTRY_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/str.h"

/*
 * entry: prints one benchmark result as a line of build/bench.json, as tests/tools/bench reads it.
 */

/* The same figure measured at several sizes, in ascending order */
struct entry_curve {
	size_t n;
	unsigned sizes[8];
	double values[8];
};

struct entry {
	/* better: "higher" or "lower" */
	const char *name, *unit, *better;
	double value, goal;
	const char *reference;
	double reference_value;
	size_t n;
};

/* Returns the slope of the least-squares line through log(value) over log(size): 1 is linear, 2 is
 * quadratic. */
static inline double entry_exponent(const struct entry_curve *c)
{
	double x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < c->n; i++) {
		x += log(c->sizes[i]) / (double)c->n;
		y += log(c->values[i]) / (double)c->n;
	}
	for (size_t i = 0; i < c->n; i++) {
		xx += (log(c->sizes[i]) - x) * (log(c->sizes[i]) - x);
		xy += (log(c->sizes[i]) - x) * (log(c->values[i]) - y);
	}
	return xy / xx;
}

static inline void entry_cpu(char out[static 128])
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	(void)str_copy(out, 128, "unknown");
	while (f && fgets(line, sizeof(line), f))
		if (str_starts(line, "model name") && strchr(line, ':')) {
			line[strcspn(line, "\n")] = '\0';
			(void)str_copy(out, 128, strchr(line, ':') + 2);
			break;
		}
	if (f)
		(void)fclose(f);
}

/* curve: the same figure at several sizes; NULL: it was measured at one size only */
static inline void entry_print_curve(const struct entry *x, const struct entry_curve *curve)
{
	char cpu[128], *text;
	json_t *j;

	entry_cpu(cpu);
	j = json_pack("{s:s, s:f, s:s, s:f, s:s, s:{s:s, s:f}, s:f, s:i, s:s}", "name", x->name,
		      "value", x->value, "unit", x->unit, "goal", x->goal, "better", x->better,
		      "reference", "name", x->reference, "value", x->reference_value, "ratio",
		      x->value / x->reference_value, "n", (int)x->n, "cpu", cpu);
	if (curve) {
		json_t *points = json_array();

		for (size_t i = 0; i < curve->n; i++)
			json_array_append_new(points, json_pack("[i, f]", (int)curve->sizes[i],
								curve->values[i]));
		json_object_set_new(j, "curve", points);
	}
	text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)puts(text);
	(void)fflush(stdout);
	free(text);
	json_decref(j);
}

static inline void entry_print(const struct entry *x)
{
	entry_print_curve(x, NULL);
}

#endif
