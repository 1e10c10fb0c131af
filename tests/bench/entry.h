#ifndef TESTS_BENCH_ENTRY_H
#define TESTS_BENCH_ENTRY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/str.h"

/*
 * entry: prints one benchmark result as a line of build/bench.json, as tests/tools/bench reads it.
 */
struct entry {
	/* better: "higher" or "lower" */
	const char *name, *unit, *better;
	double value, goal;
	const char *reference;
	double reference_value;
	size_t n;
};

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

static inline void entry_print(const struct entry *x)
{
	char cpu[128], *text;
	json_t *j;

	entry_cpu(cpu);
	j = json_pack("{s:s, s:f, s:s, s:f, s:s, s:{s:s, s:f}, s:f, s:i, s:s}", "name", x->name,
		      "value", x->value, "unit", x->unit, "goal", x->goal, "better", x->better,
		      "reference", "name", x->reference, "value", x->reference_value, "ratio",
		      x->value / x->reference_value, "n", (int)x->n, "cpu", cpu);
	text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)puts(text);
	(void)fflush(stdout);
	free(text);
	json_decref(j);
}

#endif
