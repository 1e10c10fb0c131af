#include "cli/burst/live.h"

#include "base/str.h"

/* Adds the policy without its status, unless it is being deleted. */
static void on_policy(json_t *o, void *arg)
{
	if (!json_str_at(o, "metadata", "deletionTimestamp"))
		json_array_append_new(
			arg, json_pack("{s:s, s:s, s:{s:s, s:s*}, s:O*}", "apiVersion",
				       OBJECT_API_VERSION, "kind", "BurstPolicy", "metadata",
				       "name", str_or(json_str_at(o, "metadata", "name"), ""),
				       "creationTimestamp",
				       json_str_at(o, "metadata", "creationTimestamp"), "spec",
				       json_object_get(o, "spec")));
}

/* Returns the BurstState of the reply, owned by the caller. */
static json_t *state_of(json_t *reply, struct err *e)
{
	json_t *spec = json_object_get(reply, "state");

	if (!json_is_object(spec)) {
		err_note(e, ERR_PROTOCOL, 0, "/v1/burst: the leader's reply has no member 'state'");
		return NULL;
	}
	json_object_set(spec, "work", json_object_get(reply, "work"));
	return json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", OBJECT_API_VERSION, "kind",
			 "BurstState", "metadata", "name", "now", "spec", spec);
}

int burst_live_read(struct cli_client *c, const struct view_where *w, struct burst_live *out,
		    struct err *e)
{
	OWN(view_client) v = view_client_new(c, w);
	OWN_JSON docs = json_array();
	OWN_JSON reply = NULL;
	json_t *state;

	*out = (struct burst_live){0};
	if (cli_list(c, OBJECT_BURST_POLICY, on_policy, docs, e) < 0)
		return err_wrap(e, "cannot list BurstPolicies");
	if (!json_array_size(docs))
		return err_set(e, ERR_NOT_FOUND, 0,
			       "the cluster has no BurstPolicy; see docs/burst.md, and try one "
			       "with `drover burst plan -f FILE`");
	reply = view_client_list(v, "/v1/burst", "work", e);
	if (!reply)
		return err_wrap(e, "the leader's view cannot be read");
	state = state_of(reply, e);
	if (!state)
		return -1;
	json_array_append_new(docs, state);
	out->docs = give(docs);
	out->aside = json_incref(json_object_get(reply, "aside"));
	out->reading = json_is_true(json_object_get(reply, "reading"));
	return 0;
}

void burst_live_done(struct burst_live *l)
{
	json_decref(l->docs);
	json_decref(l->aside);
}
