#ifndef CONTROLLER_STEPS_LIVES_H
#define CONTROLLER_STEPS_LIVES_H

#include "controller/hardware/login_guard.h"
#include "controller/life/life.h"

/*
 * lives: one struct life for each Machine, and the tick that runs the step of the Machine's state
 * (steps/tick.c).
 *
 * On the loop thread. The functions only mark machines and schedule ticks. A life is freed once its
 * Machine is deleted and none of its calls is in flight.
 * Tests: tests/unit/controller/steps/test_lives.c, tests/world/test_review.c,
 * tests/world/test_boot.c
 */
struct drift;
struct homeward;
struct index;
struct underused;
struct reclaims;
struct unwanted;
struct warm_pool;

struct lives_spec {
	struct life_parts parts;
	/* Chooses the machines that are kept warm; NULL: no machine is kept warm */
	const struct warm_pool *warm_pool;
	/* Knows the claims that no pod needs any more; NULL: each claim is wanted */
	const struct unwanted *unwanted;
	/* Knows the Nodes whose pods fit elsewhere; NULL: no Node counts as underused */
	struct underused *underused;
	/* Knows the machines that differ from their pool's template; NULL: none counts as
	 * drifted */
	struct drift *drift;
	/* Moves work from cloud instances to owned machines; NULL: no work is moved */
	struct homeward *homeward;
	/* Knows the machines that drover takes from their tenant to give them to another tenant;
	 * NULL: no machine is reclaimed */
	const struct reclaims *reclaims;
};

struct lives {
	struct lives_spec spec;
	/* Machine name -> struct life */
	struct map *map;
	/* Names of the Machines by life.tenant */
	struct index *by_tenant;
};

struct lives *lives_new(const struct lives_spec *spec);
void lives_free(struct lives *ls);

/* Passes a changed Machine from the cache: creates its life if it is new, and schedules a tick. m
 * NULL: the Machine was deleted. */
void lives_update(struct lives *ls, const char *name, const struct machine *m);
/* Schedules a tick of machine `name` in the next loop turn; NULL: of all machines. */
void lives_kick(struct lives *ls, const char *name);
/* Schedules ticks of the machines that serve this VirtualCluster or served it last, and of all
 * machines in state known, because one of them may be the tenant's. */
void lives_kick_of_tenant(struct lives *ls, const char *tenant);
/* Schedules ticks of the machines in state known, because any tenant's Node may run on one of
 * them. */
void lives_kick_known(struct lives *ls);
/* Schedules a new attachment of machine `name` to its BMC. Call when the machine's BMC settings or
 * a Secret of the BMC have changed. */
void lives_reattach(struct lives *ls, const char *name);
/* Cancels all calls that use the client of tenant t, which is about to be freed. Afterwards the
 * calls count as never made. */
void lives_hang_up(struct lives *ls, const struct tenant *t);
/* Detaches all machines of driver s, whose provider and fabric are about to be freed. */
void lives_detach(struct lives *ls, const struct driver *s);
/* True if this process has begun to make the machine leave for a reason that counts against a
 * disruption budget. Needed while the change of state is being written; stays true until the
 * machine is in state serving again. */
bool lives_giving_back(const struct lives *ls, const char *machine);
/* Returns the number of VolumeAttachments of the machine's Node, as last counted; -1: not
 * counted. */
int lives_volumes_left(const struct lives *ls, const char *machine);
/* Writes the state of the login at the machine's BMC to *out, for the login guard. False: no such
 * machine. */
bool lives_login(const struct lives *ls, const char *machine, struct login_try *out);

#endif
