#include "sim/common/fault.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

const char *fault_kind(const char *const *kinds, const char *what)
{
	for (; *kinds; kinds++)
		if (str_eq(*kinds, what))
			return *kinds;
	return NULL;
}

void fault_add(struct list *l, const struct fault *f)
{
	struct fault *c = mem_new(struct fault);

	*c = *f;
	c->what = mem_strdup(f->what);
	c->on = mem_strdup(f->on);
	c->name = mem_strdup(f->name);
	c->type = mem_strdup(f->type);
	c->zone = mem_strdup(f->zone);
	c->text = mem_strdup(f->text);
	list_push_back(l, &c->link);
}

static void fault_free(struct fault *f)
{
	list_remove(&f->link);
	free((char *)f->what);
	free((char *)f->on);
	free((char *)f->name);
	free((char *)f->type);
	free((char *)f->zone);
	free((char *)f->text);
	free(f);
}

void fault_clear(struct list *l, const char *name)
{
	list_for_each (f, l, struct fault, link)
		if (!name || str_eq(f->name, name))
			fault_free(f);
}

bool fault_is_over(const struct fault *f)
{
	return f->count > 0 && f->struck >= f->count;
}

void fault_struck(struct fault *f)
{
	if (f)
		f->struck++;
}

bool fault_is_of(const char *wanted, const char *is)
{
	return !wanted || str_eq(wanted, is);
}
