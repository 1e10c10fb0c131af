#include "controller/tenant/read_result.h"

#include <string.h>

#include "base/str.h"

bool read_result_set(struct read_result *r, const struct err *e)
{
	const bool denied = e && e->kind == ERR_DENIED, absent = e && e->kind == ERR_NOT_FOUND;
	const char *error = e && !denied ? e->text : "";

	if (denied == r->denied && absent == r->absent &&
	    strncmp(error, r->error, sizeof(r->error) - 1) == 0)
		return false;
	r->denied = denied;
	r->absent = absent;
	str_copy(r->error, sizeof(r->error), error);
	str_clean(r->error);
	return true;
}
