/* audit_known: one map with two kinds of keys: of each entry, and of the last entry about a
 * field. */
#include "controller/core/audit_known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

struct written {
	/* resourceVersion and wall ms of the entry */
	uint64_t version;
	int64_t time;
	/* value after the change; "": none */
	char to[];
};

struct audit_known {
	/* key -> struct written, oldest first */
	struct map *v;
};

struct audit_known *audit_known_new(void)
{
	struct audit_known *k = mem_new(struct audit_known);

	k->v = map_new(free);
	return k;
}

void audit_known_free(struct audit_known *k)
{
	if (!k)
		return;
	map_free(k->v);
	free(k);
}

uint64_t audit_known_version(const char *version)
{
	char *end;
	uint64_t n;

	if (str_empty(version))
		return 0;
	errno = 0;
	n = strtoull(version, &end, 10);
	return errno || *end ? 0 : n;
}

static bool is_once(const struct audit_entry *e)
{
	return str_eq(e->event, AUDIT_CREATED) || str_eq(e->event, AUDIT_DELETING) ||
	       str_eq(e->event, AUDIT_DELETED);
}

char *audit_known_key(const struct audit_entry *e)
{
	char time[STR_TIME_SIZE];

	if (!e->uid)
		return mem_printf("%s/%s/%s/%s/%lld", e->event, e->who, str_time(time, e->time),
				  str_or(e->to, ""), (long long)e->count);
	if (is_once(e))
		return mem_printf("%s/%s", e->event, e->uid);
	if (str_eq(e->event, AUDIT_SPEC))
		return mem_printf("%s/%s/%s", e->event, e->uid, str_or(e->to, ""));
	if (!e->version)
		return mem_printf("%s/%s/%s/%s/%s", e->event, e->uid, str_time(time, e->time),
				  str_or(e->from, ""), str_or(e->to, ""));
	return mem_printf("%s/%s/%s/%s", e->event, e->uid, e->version, str_or(e->field, ""));
}

/* Returns the key of the last entry about the field, malloc'd; NULL: each entry has a key that does
 * not depend on a version. */
static char *last_key(const struct audit_entry *e)
{
	if (!e->uid || is_once(e) || str_eq(e->event, AUDIT_SPEC))
		return NULL;
	return mem_printf("last/%s/%s/%s", e->event, e->uid, str_or(e->field, ""));
}

/* Sets the value of the key, which becomes the newest; frees the key. */
static void put(struct audit_known *k, char *key, const struct audit_entry *e)
{
	const char *to = str_or(e->to, "");
	struct written *w = mem_alloc(sizeof(*w) + strlen(to) + 1);
	struct map_iter it;

	w->version = audit_known_version(e->version);
	w->time = e->time;
	memcpy(w->to, to, strlen(to) + 1);
	map_del(k->v, key);
	map_put(k->v, key, w);
	free(key);
	if (map_size(k->v) > AUDIT_KNOWN_MAX && map_first(k->v, &it))
		map_del(k->v, it.key);
}

void audit_known_add(struct audit_known *k, const struct audit_entry *e)
{
	char *last = last_key(e);

	put(k, audit_known_key(e), e);
	if (last && e->version)
		put(k, last, e);
	else
		free(last);
}

/* True if the entry w covers the change that e records: w has the same value and a version within
 * the change, or is about a later change and was observed later. */
static bool covers(const struct written *w, const struct audit_entry *e, uint64_t before)
{
	const uint64_t version = audit_known_version(e->version);

	if (!version || !w->version)
		return false;
	if (w->version > version)
		return w->time >= e->time;
	return before && w->version > before && str_eq(w->to, str_or(e->to, ""));
}

bool audit_known_has(const struct audit_known *k, const struct audit_entry *e, uint64_t before)
{
	char *key = audit_known_key(e), *last = last_key(e);
	const struct written *w = last ? map_get(k->v, last) : NULL;
	const bool has = map_has(k->v, key) || (w && covers(w, e, before));

	free(key);
	free(last);
	return has;
}
