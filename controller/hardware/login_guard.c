/*
 * login_guard: records for each version of a Secret which machines try it first (the scouts) and
 * what their BMCs answered.
 */
#include "controller/hardware/login_guard.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/hardware/machine_index.h"

/* Age of a scout without an answer at which a second scout is added. A scout is a machine that
 * tries the login of a Secret on its BMC before the other machines may (login_guard.h). */
#define RELIEF_MS 5000
#define GONE_MS 30000 /* age at which a scout without an answer is replaced */
/* Age up to which a scout's error is ignored, because it may belong to an earlier version of the
 * Secret. */
#define ANSWER_MS 2000
#define SCOUTS 3

struct login_guard {
	struct context *c;
	const struct machine_index *index;
	bool (*try_of)(const char *machine, struct login_try *out, void *arg);
	void *arg;
	/* resourceVersion of a Secret (unique in a cluster) -> struct login */
	struct map *logins;
};

struct scout {
	/* name of the Machine; NULL: the entry is free */
	char *machine;
	/* loop_now() at which the machine was chosen */
	int64_t since;
};

struct login {
	bool accepted;
	struct scout scouts[SCOUTS];
};

static void login_free(void *arg)
{
	struct login *g = arg;

	for (size_t i = 0; i < SCOUTS; i++)
		free(g->scouts[i].machine);
	free(g);
}

struct login_guard *login_guard_new(struct context *c, const struct machine_index *index,
				    bool (*try_of)(const char *machine, struct login_try *out,
						   void *arg),
				    void *arg)
{
	struct login_guard *s = mem_new(struct login_guard);

	s->c = c;
	s->index = index;
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

static void choose(struct login_guard *s, struct scout *place, const char *machine)
{
	free(place->machine);
	place->machine = mem_strdup(machine);
	place->since = loop_now(s->c->loop);
}

static bool take_first(const char *machine, void *arg)
{
	*(const char **)arg = machine;
	return false;
}

/* Returns the first Machine in whose status field `what` (MACHINE_BY_ACCEPTED or
 * MACHINE_BY_REFUSED) this version is stored; NULL: none. */
static const char *machine_with_version(const struct login_guard *s, enum machine_key what,
					const char *version)
{
	const char *machine = NULL;

	machine_index_each(s->index, what, version, take_first, &machine);
	return machine;
}

/* Returns the state of this version of the Secret. A new entry begins with what earlier leaders
 * recorded in the Machines. */
static struct login *login_of(struct login_guard *s, const char *version)
{
	struct login *g = map_get(s->logins, version);
	const char *refused_by;

	if (g)
		return g;
	g = mem_new(struct login);
	g->accepted = machine_with_version(s, MACHINE_BY_ACCEPTED, version);
	refused_by = machine_with_version(s, MACHINE_BY_REFUSED, version);
	if (refused_by)
		choose(s, &g->scouts[0], refused_by);
	map_put(s->logins, version, g);
	return g;
}

enum login_result { NOTHING, ACCEPTED, REFUSED, PENDING };

/* Returns the result of a scout's login; NOTHING: no result, and none is expected any more. */
static enum login_result word_of(const struct login_guard *s, const struct scout *x,
				 const char *version)
{
	const struct machine *m =
		x->machine ? CTX_GET(s->c, OBJECT_MACHINE, machine, x->machine) : NULL;
	int64_t for_ms = loop_now(s->c->loop) - x->since;
	struct login_try try;

	if (m && str_eq(m->status.bmc.refused_secret_version, version))
		return REFUSED;
	if (!m || !s->try_of(x->machine, &try, s->arg) || !str_eq(try.version, version))
		return NOTHING;
	if (try.accepted)
		return ACCEPTED;
	return for_ms < GONE_MS && (!try.failed || for_ms < ANSWER_MS) ? PENDING : NOTHING;
}

static bool accept(struct login_guard *s, struct login *g)
{
	g->accepted = true;
	notify(s->c, NOTICE_MACHINE, NULL); /* Wake all machines that wait for the scouts. */
	return true;
}

/* Returns the entry for a new scout: an entry whose scout, if any, has a result or is no longer
 * waited for. NULL: all entries have a scout that is waited for, or one of these scouts was chosen
 * less than RELIEF_MS ago. */
static struct scout *free_place(const struct login_guard *s, struct login *g, const char *version)
{
	struct scout *place = NULL;

	for (size_t i = 0; i < SCOUTS; i++) {
		struct scout *x = &g->scouts[i];

		if (word_of(s, x, version) != PENDING)
			place = x;
		else if (loop_now(s->c->loop) - x->since < RELIEF_MS)
			return NULL;
	}
	return place;
}

bool login_guard_admit(struct login_guard *s, const char *machine, const char *version,
		       const char **refused_by)
{
	struct scout *place;
	struct login *g;

	*refused_by = NULL;
	if (!s || str_empty(version))
		return true;
	g = login_of(s, version);
	if (g->accepted)
		return true;
	for (size_t i = 0; i < SCOUTS; i++) {
		const struct scout *x = &g->scouts[i];
		enum login_result word = word_of(s, x, version);

		if (str_eq(x->machine, machine))
			return true;
		if (word == ACCEPTED)
			return accept(s, g);
		if (word == REFUSED)
			*refused_by = x->machine;
	}
	place = *refused_by ? NULL : free_place(s, g, version);
	if (!place)
		/* mutant: login-one-first */
		return false;
	log_info("trying the login of a Secret on one BMC first", LOG_S("machine", machine));
	choose(s, place, machine);
	return true;
}
