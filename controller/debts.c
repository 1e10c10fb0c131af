#include <stdlib.h>

#include "base/mem.h"
#include "controller/debts.h"

struct debts {
	struct controller *c;
};

struct debts *debts_new(struct controller *c)
{
	struct debts *d = mem_new(struct debts);

	d->c = c;
	return d;
}

void debts_free(struct debts *d)
{
	free(d);
}

void debts_kick(struct debts *d, const char *tenant)
{
	(void)d;
	(void)tenant;
}

void debts_hang_up(struct debts *d, const char *tenant)
{
	(void)d;
	(void)tenant;
}
