/*
 * caller: asks the API server with a SelfSubjectReview, which every user may create.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include "cli/caller.h"

#include "base/str.h"

static const struct kube_resource who_am_i = {"authentication.k8s.io", "v1", "selfsubjectreviews",
					      "SelfSubjectReview", false};

const char *cli_caller(struct cli_client *c, struct arena *a, struct err *e)
{
	OWN_JSON ask = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
				 "SelfSubjectReview");
	OWN_JSON o = cli_review(c, &who_am_i, ask, e);
	const char *name = json_str_at(o, "status", "userInfo", "username");

	if (o && str_empty(name))
		err_note(e, ERR_PROTOCOL, 0, "the API server reports no user name");
	return str_empty(name) ? NULL : arena_strdup(a, name);
}
