#ifndef CONTROLLER_STEPS_LIVES_H
#define CONTROLLER_STEPS_LIVES_H

#include "controller/hardware/login_guard.h"
#include "controller/life/life.h"

/*
 * lives: one struct life for each Machine, and the tick that runs the step of its state
 * (steps/tick.c).
 *
 * On the loop thread. The functions only mark and defer; a life is freed once its Machine is
 * deleted and none of its calls is in flight.
 * Tests: tests/world/test_review.c, tests/world/test_boot.c
 */
struct drift;
struct underused;
struct reclaims;
struct unwanted;
struct warm_pool;

struct lives_spec {
	struct life_parts parts;
	/* NULL: no machine is kept warm */
	const struct warm_pool *warm_pool;
	/* NULL: each claim is wanted */
	const struct unwanted *unwanted;
	/* NULL: no Node counts as underused */
	struct underused *underused;
	/* NULL: no Node counts as drifted */
	struct drift *drift;
	/* NULL: no machine is reclaimed */
	const struct reclaims *reclaims;
};

struct lives {
	struct lives_spec spec;
	/* Machine name -> struct life */
	struct map *map;
};

struct lives *lives_new(const struct lives_spec *spec);
void lives_free(struct lives *ls);

/* A Machine in the cache appeared, changed or was deleted (m NULL). */
void lives_update(struct lives *ls, const char *name, const struct machine *m);
/* Schedules a tick of the machine in the next loop turn; NULL: of all machines. */
void lives_kick(struct lives *ls, const char *name);
/* Schedules ticks of the machines that this VirtualCluster has or had last, and of those in state
 * known. */
void lives_kick_of_tenant(struct lives *ls, const char *tenant);
/* Schedules ticks of the machines in state known: any tenant's Node may run on one of them. */
void lives_kick_known(struct lives *ls);
/* Attaches the machine's BMC again, because a Secret that it depends on changed. */
void lives_reattach(struct lives *ls, const char *name);
/* Drops the calls through the client of t, which is about to be freed, as if they had never been
 * made. */
void lives_hang_up(struct lives *ls, const struct tenant *t);
/* Forgets everything that depends on the provider and fabric of s, which are about to be freed. */
void lives_detach(struct lives *ls, const struct driver *s);
/* True if a leave of this machine that counts against a disruption budget is being written (struct
 * life, leave.giving_back). */
bool lives_giving_back(const struct lives *ls, const char *machine);
/* Returns the number of VolumeAttachments of the machine's Node, as last counted; -1: not
 * counted. */
int lives_volumes_left(const struct lives *ls, const char *machine);
/* Writes the state of the login at the machine's BMC to out, for the login guard; false: no such
 * machine. */
bool lives_login(const struct lives *ls, const char *machine, struct login_try *out);

#endif
