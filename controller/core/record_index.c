#include "controller/core/record_index.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/uuid.h"

struct record_index {
	struct index *names;
};

struct record_index *record_index_new(void)
{
	struct record_index *x = mem_new(struct record_index);

	x->names = index_new(RECORD_KEYS);
	return x;
}

void record_index_free(struct record_index *x)
{
	if (!x)
		return;
	index_free(x->names);
	free(x);
}

bool record_index_put(struct record_index *x, const char *name, const struct wipe_record *r)
{
	char uuid[UUID_TEXT];
	const struct index_text now[] = {
		{RECORD_BY_MACHINE, r ? r->spec.evidence.machine.name : NULL},
		{RECORD_BY_UUID,
		 r && uuid_key(r->spec.evidence.machine.system_uuid, uuid) ? uuid : NULL},
		{RECORD_BY_SERIAL, r ? r->spec.evidence.machine.serial : NULL},
	};

	return index_put(x->names, name, now, sizeof(now) / sizeof(now[0]));
}

struct record_query {
	const struct context *c;
	bool (*fn)(const struct wipe_record *r, void *arg);
	void *arg;
};

static bool on_name(const char *name, void *arg)
{
	const struct record_query *a = arg;
	const struct wipe_record *r = CTX_GET(a->c, OBJECT_WIPE_RECORD, wipe_record, name);

	return !r || a->fn(r, a->arg);
}

void record_index_each(const struct context *c, enum record_key key, const char *value,
		       bool (*fn)(const struct wipe_record *r, void *arg), void *arg)
{
	struct record_query a = {c, fn, arg};
	char uuid[UUID_TEXT];

	if (key == RECORD_BY_UUID)
		value = uuid_key(value, uuid) ? uuid : NULL;
	index_each(c->record_index->names, key, value, on_name, &a);
}
