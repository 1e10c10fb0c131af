/* reasons: the table of reasons.def in C, and functions that look up a reason. */
#include "api/reasons.h"

#include "base/str.h"

const struct reason_info reason_info[REASONS] = {
	[REASON_NONE] = {"", "", "", "", 0, "", ""},
#define REASON(name_, ...) [REASON_##name_] = {#name_, __VA_ARGS__},
#include "api/reasons.def"
};

const char *reason_name(enum reason r)
{
	return r == REASON_NONE ? NULL : reason_info[r].name;
}

enum reason reason_find(const char *name)
{
	for (int r = REASON_NONE + 1; r < REASONS; r++)
		if (str_eq(reason_info[r].name, name))
			return (enum reason)r;
	return REASON_NONE;
}
