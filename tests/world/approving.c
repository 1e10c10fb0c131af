#include "tests/unit/testing.h"

#include "base/arena.h"
#include "base/str.h"
#include "tests/world/approving.h"

void approving_ask(struct sim_world *w, json_t *approval)
{
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/virtualclusters/team-a",
		 json_pack("{s:{s:o}}", "spec", "approval", approval));
}

static bool keep_first(const json_t *o, void *arg)
{
	json_t **out = arg;

	*out = json_deep_copy(o);
	return false;
}

json_t *approving_first(struct sim_world *w)
{
	json_t *o = NULL;

	cluster_each(&w->host, APPROVING_CLAIMS, keep_first, &o);
	return o;
}

const char *approving_at(const json_t *o, const char *member)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Approved"))
			return str_or(json_str_at(c, member), "");
	return "";
}

struct wanted {
	struct sim_world *w;
	const char *member, *value;
};

static bool is_so(void *arg)
{
	const struct wanted *x = arg;
	OWN_JSON o = approving_first(x->w);

	return o && str_eq(approving_at(o, x->member), x->value);
}

void approving_wait(struct sim_world *w, const char *reason)
{
	struct wanted x = {w, "reason", reason};

	world_wait(w, is_so, &x, 120, reason);
}

void approving_decide(struct sim_world *w, const char *claim, const char *decision,
		      const char *hold_until)
{
	OWN(arena) a = arena_new();
	char at[STR_TIME_SIZE];

	world_do(w, &w->host, "PATCH",
		 arena_printf(a, "/apis/drover.dev/v1alpha1/nodeclaims/%s", claim),
		 json_pack("{s:{s:{s:s, s:s, s:s, s:s, s:s*}}}", "spec", "approval", "decision",
			   decision, "by", "alice", "at", str_time(at, loop_wall(w->loop)),
			   "reason", "a reason", "holdUntil", hold_until));
}

void approving_decide_first(struct sim_world *w, const char *decision)
{
	OWN_JSON o = approving_first(w);

	approving_decide(w, json_str_at(o, "metadata", "name"), decision, NULL);
}

void approving_all_rest(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nboxes; i++) {
		assert_string_equal(w->servers[i].state, "free");
		assert_string_equal(world_at(&w->servers[i], "status.power.state"), "Off");
	}
}
