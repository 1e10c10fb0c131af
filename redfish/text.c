/* text: texts of a BMC and of the client.
 * Tests: tests/unit/redfish/test_facts.c */
#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

void rf_set(char **slot, char *text)
{
	free(*slot);
	*slot = text;
}

bool rf_text_ok(const char *s)
{
	if (!s || strlen(s) >= RF_STR)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

char *rf_text_of(const char *s)
{
	return rf_text_ok(s) && *s ? mem_strdup(s) : NULL;
}
