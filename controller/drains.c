#include <stdlib.h>

#include "base/mem.h"
#include "controller/drains.h"

struct drains {
	struct controller *c;
};

struct drains *drains_new(struct controller *c)
{
	struct drains *d = mem_new(struct drains);

	d->c = c;
	return d;
}

void drains_free(struct drains *d)
{
	free(d);
}

void drains_kick(struct drains *d, const char *name)
{
	(void)d;
	(void)name;
}

void drains_machine(struct drains *d, const char *machine)
{
	(void)d;
	(void)machine;
}

const struct drain *drains_wants(const struct controller *c, const char *machine, bool *escalate)
{
	(void)c;
	(void)machine;
	*escalate = false;
	return NULL;
}
