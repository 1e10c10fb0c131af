/*
 * machine_index: for each key a map from its value to the names that have it, and for each Machine what it was put with,
 * so that it can be taken out again.
 */
#include "controller/hardware/machine_index.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "controller/rules/identity.h"

#define VALUES 5 /* of one Machine: one of each key, and a second Secret */

struct value {
	enum machine_key key;
	char *text; /* as it stands in the map */
};

struct machine_index {
	struct map *by[MACHINE_KEYS]; /* value -> struct map of names */
	struct map *put; /* name -> struct value[VALUES], text NULL where there is none */
};

/* As it stands in the map; gives; NULL: it is nothing that can be asked for. */
static char *spelled(enum machine_key key, const char *value)
{
	char uuid[UUID_TEXT], *text;
	size_t n;

	if (str_empty(value))
		return NULL;
	switch (key) {
	case MACHINE_BY_UUID:
		return uuid_key(value, uuid) ? mem_strdup(uuid) : NULL;
	case MACHINE_BY_SERIAL:
		return identity_is_serial(value) ? mem_strdup(value) : NULL;
	case MACHINE_BY_ADDRESS:
		text = mem_strdup(value);
		for (n = strlen(text); n && text[n - 1] == '/'; n--)
			text[n - 1] = '\0';
		for (char *p = text; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		return text;
	case MACHINE_BY_SECRET:
	case MACHINE_KEYS:
		break;
	}
	return mem_strdup(value);
}

static void free_names(void *names)
{
	map_free(names);
}

static void free_values(void *arg)
{
	struct value *v = arg;

	for (int i = 0; i < VALUES; i++)
		free(v[i].text);
	free(v);
}

struct machine_index *machine_index_new(void)
{
	struct machine_index *x = mem_new(struct machine_index);

	for (int i = 0; i < MACHINE_KEYS; i++)
		x->by[i] = map_new(free_names);
	x->put = map_new(free_values);
	return x;
}

void machine_index_free(struct machine_index *x)
{
	if (!x)
		return;
	for (int i = 0; i < MACHINE_KEYS; i++)
		map_free(x->by[i]);
	map_free(x->put);
	free(x);
}

static void take_out(struct machine_index *x, const char *name, const struct value *v)
{
	struct map *names = v->text ? map_get(x->by[v->key], v->text) : NULL;

	if (!names)
		return;
	map_del(names, name);
	if (!map_size(names))
		map_del(x->by[v->key], v->text);
}

static void put_in(struct machine_index *x, const char *name, const struct value *v)
{
	struct map *names = v->text ? map_get(x->by[v->key], v->text) : NULL;

	if (!v->text)
		return;
	if (!names) {
		names = map_new(NULL);
		map_put(x->by[v->key], v->text, names);
	}
	map_put(names, name, x);
}

void machine_index_put(struct machine_index *x, const char *name, const struct machine *m)
{
	const struct machine_identity *id = m ? m->spec.identity : NULL;
	const struct machine_bmc *b = m ? m->spec.bmc : NULL;
	const struct object_secret_ref *login = b ? b->credentials_secret_ref : NULL,
				       *ca = b ? b->tls.ca_secret_ref : NULL;
	struct value now[VALUES] = {
		{MACHINE_BY_UUID, spelled(MACHINE_BY_UUID, id ? id->system_uuid : NULL)},
		{MACHINE_BY_SERIAL, spelled(MACHINE_BY_SERIAL, id ? id->serial_number : NULL)},
		{MACHINE_BY_ADDRESS, spelled(MACHINE_BY_ADDRESS, b ? b->address : NULL)},
		{MACHINE_BY_SECRET, spelled(MACHINE_BY_SECRET, login ? login->name : NULL)},
		{MACHINE_BY_SECRET, spelled(MACHINE_BY_SECRET, ca ? ca->name : NULL)},
	};
	struct value *v = map_get(x->put, name);

	if (v)
		for (int i = 0; i < VALUES; i++)
			take_out(x, name, &v[i]);
	for (int i = 0; i < VALUES; i++)
		put_in(x, name, &now[i]);
	v = mem_calloc(VALUES, sizeof(*v));
	memcpy(v, now, sizeof(now));
	if (m)
		map_put(x->put, name, v);
	else {
		map_del(x->put, name);
		free_values(v);
	}
}

void machine_index_each(const struct machine_index *x, enum machine_key key, const char *value,
			bool (*fn)(const char *machine, void *arg), void *arg)
{
	char *text = spelled(key, value);
	const struct map *names = text ? map_get(x->by[key], text) : NULL;
	struct map_iter it;

	free(text);
	if (!names)
		return;
	map_for_each (it, names)
		if (!fn(it.key, arg))
			break;
}
