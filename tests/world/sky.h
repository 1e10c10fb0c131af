#ifndef TESTS_WORLD_SKY_H
#define TESTS_WORLD_SKY_H

#include "tests/contract/fake_cloud.h"
#include "tests/world/burst_rule.h"
#include "tests/world/server.h"

/*
 * sky: a cloud in the simulated world: the fake of the contract tests, whose instances boot a
 * system that joins a tenant by what their user data say. Looked at after each event: never two
 * instances that are billed for one claim, and none for longer than SKY_ORPHAN_MS whose claim and
 * Machine are gone (S4); S6 (burst_rule.h).
 */
#define SKY_INSTANCES 24
#define SKY_FIRST 60 /* number of the first; machines of a rack have those below */
#define SKY_ORPHAN_MS (6 * 60 * 1000)

struct sim_world;
struct sky {
	struct sim_world *world;
	struct fake_cloud cloud;
	struct server servers[SKY_INSTANCES];
	struct fake_instance *of[SKY_INSTANCES];
	int64_t orphan_since[SKY_INSTANCES];
	unsigned n;
	/* S6 */
	struct burst_rule bursts;
	/* for orphans: seldom, for it reads all claims and Machines */
	int64_t looked_at;
};

/* After world_start(): Provider sky, which offers gpu-8 in zones a and b, is the pool's second, and
 * nodes are limited. */
void sky_start(struct sky *s, struct sim_world *w, const char *nodes);
/* before world_stop() */
void sky_stop(struct sky *s);
/* of the newest instance's Machine and claim */
const char *sky_name(const struct sky *s);
/* What the image of an instance finds on its disk at the first boot: the system, and the files of
 * its user data. */
void sky_put_config(struct server *b, const char *user_data);
bool sky_wrong(struct sky *s, char *why, size_t size);

#endif
