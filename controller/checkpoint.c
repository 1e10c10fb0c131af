#include <stdlib.h>

#include "base/mem.h"
#include "controller/checkpoint.h"

struct checkpoint {
	struct life *l;
};

struct checkpoint *checkpoint_new(struct life *l)
{
	struct checkpoint *cp = mem_new(struct checkpoint);

	cp->l = l;
	return cp;
}

void checkpoint_free(struct checkpoint *cp)
{
	free(cp);
}
