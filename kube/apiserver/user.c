#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Manages the groups of a user. Separate from auth.c, because tokens.c and rbac.c, which auth.c
 * calls, need these functions too.
 * Tests: tests/unit/kube/apiserver/test_auth.c
 */
#define MAX_GROUPS 32

void user_add_group(struct user *u, struct arena *a, const char *group)
{
	if (!u->groups)
		u->groups = arena_calloc(a, MAX_GROUPS, sizeof(*u->groups));
	if (u->ngroups < MAX_GROUPS)
		u->groups[u->ngroups++] = arena_strdup(a, group);
}

bool user_in_group(const struct user *u, const char *group)
{
	for (size_t i = 0; i < u->ngroups; i++)
		if (str_eq(u->groups[i], group))
			return true;
	return false;
}
