/*
 * login_guard: for each version of a Secret, which machine tries it first and what its BMC
 * answered.
 */
#include "controller/hardware/login_guard.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define RELIEF_MS 30000
#define ANSWER_MS 2000 /* an error that is younger than this may be of an earlier Secret */

struct login_guard {
	struct context *c;
	bool (*try_of)(const char *machine, struct login_try *out, void *arg);
	void *arg;
	struct map *logins; /* Secret's resourceVersion, unique in a cluster -> struct login */
};

struct login {
	bool accepted;
	char *scout;   /* NULL: none yet */
	int64_t since; /* loop_now() when it was chosen */
};

static void login_free(void *arg)
{
	struct login *g = arg;

	free(g->scout);
	free(g);
}

struct login_guard *login_guard_new(struct context *c,
				    bool (*try_of)(const char *machine, struct login_try *out,
						   void *arg),
				    void *arg)
{
	struct login_guard *s = mem_new(struct login_guard);

	s->c = c;
	s->try_of = try_of;
	s->arg = arg;
	s->logins = map_new(login_free);
	return s;
}

void login_guard_free(struct login_guard *s)
{
	if (!s)
		return;
	map_free(s->logins);
	free(s);
}

static void choose(struct login_guard *s, struct login *g, const char *machine)
{
	free(g->scout);
	g->scout = mem_strdup(machine);
	g->since = loop_now(s->c->loop);
}

struct search {
	const char *version;
	bool accepted;
	const char *refused_by;
};

static bool look(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct search *h = arg;

	h->accepted = str_eq(m->status.bmc.secret_version, h->version);
	if (str_eq(m->status.bmc.refused_secret_version, h->version))
		h->refused_by = m->meta.name;
	return !h->accepted;
}

/* What an earlier leader found out. */
static struct login *login_of(struct login_guard *s, const char *version)
{
	struct login *g = map_get(s->logins, version);
	struct search h = {.version = version};

	if (g)
		return g;
	kube_cache_each(s->c->cache[OBJECT_MACHINE], look, &h);
	g = mem_new(struct login);
	g->accepted = h.accepted;
	if (h.refused_by)
		choose(s, g, h.refused_by);
	map_put(s->logins, version, g);
	return g;
}

bool login_guard_admit(struct login_guard *s, const char *machine, const char *version,
		       const char **refused_by)
{
	const struct machine *m;
	struct login_try scout;
	struct login *g;
	int64_t for_ms;

	*refused_by = NULL;
	if (!s || str_empty(version))
		return true;
	g = login_of(s, version);
	if (g->accepted || str_eq(g->scout, machine))
		return true;
	m = g->scout ? CTX_GET(s->c, OBJECT_MACHINE, machine, g->scout) : NULL;
	if (m && str_eq(m->status.bmc.refused_secret_version, version)) {
		*refused_by = g->scout;
		return false;
	}
	if (m && s->try_of(g->scout, &scout, s->arg) && str_eq(scout.version, version)) {
		for_ms = loop_now(s->c->loop) - g->since;
		if (scout.accepted) {
			g->accepted = true;
			return true;
		}
		if (for_ms < RELIEF_MS && (!scout.failed || for_ms < ANSWER_MS))
			return false;
	}
	log_info("a login is tried on one BMC first", LOG_S("machine", machine));
	choose(s, g, machine);
	return true;
}
