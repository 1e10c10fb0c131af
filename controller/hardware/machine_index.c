/* machine_index: normalizes the values of a Machine and stores them in an index of names. */
#include "controller/hardware/machine_index.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "controller/rules/identity.h"

/* maximum number of indexed values of one Machine: one per key, and a second Secret */
#define VALUES 7

struct machine_index {
	struct index *names;
};

/* Returns value in the canonical form in which the index stores it; the caller frees the result.
 * NULL: no Machine can be found by this value. */
static char *spelled(enum machine_key key, const char *value)
{
	char uuid[UUID_TEXT], *text;
	size_t n = 0;

	if (str_empty(value))
		return NULL;
	switch (key) {
	case MACHINE_BY_UUID:
		return uuid_key(value, uuid) ? mem_strdup(uuid) : NULL;
	case MACHINE_BY_SERIAL:
		return identity_is_serial(value) ? mem_strdup(value) : NULL;
	case MACHINE_BY_ADDRESS:
		text = mem_strdup(value);
		for (const char *p = value; *p; p++)
			if (*p != '/' || (p[1] != '/' && p[1]))
				text[n++] = (char)tolower((unsigned char)*p);
		text[n] = '\0';
		return text;
	case MACHINE_BY_SECRET:
	case MACHINE_BY_ACCEPTED:
	case MACHINE_BY_REFUSED:
	case MACHINE_KEYS:
		break;
	}
	return mem_strdup(value);
}

struct machine_index *machine_index_new(void)
{
	struct machine_index *x = mem_new(struct machine_index);

	x->names = index_new(MACHINE_KEYS);
	return x;
}

void machine_index_free(struct machine_index *x)
{
	if (!x)
		return;
	index_free(x->names);
	free(x);
}

bool machine_index_put(struct machine_index *x, const char *name, const struct machine *m)
{
	const struct machine_identity *id = m ? m->spec.identity : NULL;
	const struct machine_bmc *b = m ? m->spec.bmc : NULL;
	const struct object_secret_ref *login = b ? b->credentials_secret_ref : NULL,
				       *ca = b ? b->tls.ca_secret_ref : NULL;
	const struct index_text now[VALUES] = {
		{MACHINE_BY_UUID, spelled(MACHINE_BY_UUID, id ? id->system_uuid : NULL)},
		{MACHINE_BY_SERIAL, spelled(MACHINE_BY_SERIAL, id ? id->serial_number : NULL)},
		{MACHINE_BY_ADDRESS, spelled(MACHINE_BY_ADDRESS, b ? b->address : NULL)},
		{MACHINE_BY_SECRET, spelled(MACHINE_BY_SECRET, login ? login->name : NULL)},
		{MACHINE_BY_SECRET, spelled(MACHINE_BY_SECRET, ca ? ca->name : NULL)},
		{MACHINE_BY_ACCEPTED,
		 spelled(MACHINE_BY_ACCEPTED, m ? m->status.bmc.secret_version : NULL)},
		{MACHINE_BY_REFUSED,
		 spelled(MACHINE_BY_REFUSED, m ? m->status.bmc.refused_secret_version : NULL)},
	};

	const bool changed = index_put(x->names, name, now, VALUES);

	for (int i = 0; i < VALUES; i++)
		free((char *)now[i].text);
	return changed;
}

void machine_index_each(const struct machine_index *x, enum machine_key key, const char *value,
			bool (*fn)(const char *machine, void *arg), void *arg)
{
	char *text = spelled(key, value);

	index_each(x->names, key, text, fn, arg);
	free(text);
}
