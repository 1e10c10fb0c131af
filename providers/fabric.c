#include "providers/fabric.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/registry.h"

static const struct fabric_ops *const fabrics[] = {
	&none_fabric_ops,
	&exec_fabric_ops,
	&netris_fabric_ops,
};

struct fabric *fabric_new(const struct fabric_spec *s, struct err *e)
{
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		struct fabric *f;

		if (!str_eq(fabrics[i]->type, s->type))
			continue;
		f = mem_new(struct fabric);
		f->ops = fabrics[i];
		timed_calls_init(&f->timed, s->group,
				 f->ops == &none_fabric_ops ? NULL : &s->watch);
		if (f->ops->open(f, s, e) == 0)
			return f;
		free(f);
		return NULL;
	}
	err_note(e, ERR_UNSUPPORTED, 0, "there is no network type %s", str_or(s->type, "(none)"));
	return NULL;
}

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	f->ops->close(f);
	timed_calls_drop(&f->timed, NULL);
	free(f);
}

void fabric_place(struct fabric *f, const struct fabric_port *p, const char *segment,
		  const struct fabric_call *c)
{
	struct fabric_call timed = *c;

	timed_fabric_call(&f->timed, "place", &timed);
	f->ops->place(f, p, segment, &timed);
}

void fabric_observe(struct fabric *f, const struct fabric_port *p, const struct fabric_call *c)
{
	struct fabric_call timed = *c;

	timed_fabric_call(&f->timed, "observe_port", &timed);
	f->ops->observe(f, p, &timed);
}

bool fabric_trouble(const struct fabric *f, char *text, size_t size)
{
	return f->ops->trouble && f->ops->trouble(f, text, size);
}

bool fabric_about(const struct fabric *f, char *text, size_t size)
{
	return f->ops->about && f->ops->about(f, text, size);
}

bool fabric_makes(const struct fabric *f)
{
	return f->ops->drop != NULL;
}

void fabric_drop(struct fabric *f, const char *segment, const struct fabric_call *c)
{
	struct fabric_call timed = *c;

	timed_fabric_call(&f->timed, "drop_segment", &timed);
	f->ops->drop(f, segment, &timed);
}

bool fabric_has_api_paths(const struct fabric *f)
{
	return f->ops->ensure_api_path != NULL;
}

void fabric_ensure_api_path(struct fabric *f, const struct fabric_api_path *w,
			    const struct fabric_api_path_call *c)
{
	struct fabric_api_path_call timed = *c;

	timed_api_path_call(&f->timed, "ensure_api_path", &timed);
	f->ops->ensure_api_path(f, w, &timed);
}

void fabric_remove_api_path(struct fabric *f, const struct fabric_api_path *w,
			    const struct fabric_api_path_call *c)
{
	struct fabric_api_path_call timed = *c;

	timed_api_path_call(&f->timed, "remove_api_path", &timed);
	f->ops->remove_api_path(f, w, &timed);
}
