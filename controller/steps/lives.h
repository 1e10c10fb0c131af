#ifndef CONTROLLER_STEPS_LIVES_H
#define CONTROLLER_STEPS_LIVES_H

#include "controller/hardware/login_guard.h"
#include "controller/life/life.h"

/*
 * lives: one struct life for each Machine, and the tick that runs the step of its state
 * (steps/tick.c).
 *
 * On the loop thread. Everything here marks and defers; a life goes when its Machine has gone and
 * none of its calls is under way.
 * Tests: tests/world/test_review.c, tests/world/test_boot.c
 */
struct drift;
struct underused;
struct reclaims;
struct unwanted;
struct warm_pool;

struct lives_spec {
	struct life_parts parts;
	/* NULL: none is kept warm */
	const struct warm_pool *warm_pool;
	/* NULL: each claim is wanted */
	const struct unwanted *unwanted;
	/* NULL: no Node is */
	struct underused *underused;
	/* NULL: no Node does */
	struct drift *drift;
	/* NULL: nothing is taken back */
	const struct reclaims *reclaims;
};

struct lives {
	struct lives_spec spec;
	/* Machine name -> struct life */
	struct map *map;
};

struct lives *lives_new(const struct lives_spec *spec);
void lives_free(struct lives *ls);

/* From the cache: a Machine appeared, changed or went away (m NULL). */
void lives_update(struct lives *ls, const char *name, const struct machine *m);
/* Look at it again in the next turn; NULL: at all. */
void lives_kick(struct lives *ls, const char *name);
/* Those that this VirtualCluster has or had last, and those that nothing is known of yet. */
void lives_kick_of_tenant(struct lives *ls, const char *tenant);
/* Those that nothing is known of yet: any tenant's Node may be one of them. */
void lives_kick_known(struct lives *ls);
/* A Secret that its BMC hangs on changed. */
void lives_reattach(struct lives *ls, const char *name);
/* The client of this tenant is about to be freed: calls through it are as if never made. */
void lives_hang_up(struct lives *ls, const struct tenant *t);
/* This driver's provider and fabric are about to be freed: forget what hangs on them. */
void lives_detach(struct lives *ls, const struct driver *s);
/* It is being written down that this machine leaves (struct life, giving_back). */
bool lives_giving_back(const struct lives *ls, const char *machine);
/* VolumeAttachments that name its Node, as last looked for; -1: nobody has. */
int lives_volumes_left(const struct lives *ls, const char *machine);
/* How the login at its BMC stands, for the login guard; false: there is no such machine. */
bool lives_login(const struct lives *ls, const char *machine, struct login_try *out);

#endif
