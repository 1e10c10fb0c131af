#include "api/target.h"

#include <string.h>
#include "base/str.h"

static const struct {
	const char *one, *many;
	enum object_kind_id kind;
} words[] = {
	{"claim", "claims", OBJECT_NODE_CLAIM},
	{"pool", "pools", OBJECT_NODE_POOL},
	{"tenant", "tenants", OBJECT_VIRTUAL_CLUSTER},
	{"wipe", "wipes", OBJECT_WIPE_RECORD},
};

enum object_kind_id target_kind(const char *word, size_t len)
{
	static const char version[] = "." OBJECT_VERSION;
	const struct object_kind *k;
	char name[64], *group;

	if (len >= sizeof(name))
		return OBJECT_KINDS;
	memcpy(name, word, len);
	name[len] = '\0';
	group = strstr(name, "." OBJECT_GROUP);
	if (group && str_eq(group, "." OBJECT_GROUP))
		*group = '\0';
	if (group && str_ends(name, version))
		name[strlen(name) - strlen(version)] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq(name, words[i].one) || str_eq(name, words[i].many))
			return words[i].kind;
	k = object_kind_find(name);
	return k ? (enum object_kind_id)(k - object_kinds) : OBJECT_KINDS;
}

const char *target_word(enum object_kind_id kind)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].kind == kind)
			return words[i].one;
	return object_kinds[kind].singular;
}
