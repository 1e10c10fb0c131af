#include "controller/line.h"

bool line_open(const struct controller *c, const struct line_place *p, struct line_stop *why)
{
	(void)c;
	(void)p;
	(void)why;
	return true;
}

bool line_blames(const struct controller *c, const struct machine *m,
		 const struct machine_failure *f)
{
	(void)c;
	(void)m;
	(void)f;
	return false;
}

bool line_machine_worn(const struct controller *c, const struct machine *m)
{
	(void)c;
	(void)m;
	return false;
}
