/* codes: the table of codes.def in C. */
#include "api/codes.h"

#include <stddef.h>
#include <strings.h>

const struct code_info code_info[] = {
#define CODE(name_, where_, means_, helps_) {#name_, where_, means_, helps_},
#include "api/codes.def"
	{NULL, NULL, NULL, NULL},
};

const struct code_info *code_find(const char *name)
{
	for (const struct code_info *c = code_info; name && c->name; c++)
		if (!strcasecmp(c->name, name))
			return c;
	return NULL;
}
