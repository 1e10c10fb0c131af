#ifndef TESTS_WORLD_SKY_H
#define TESTS_WORLD_SKY_H

#include "tests/contract/fake_cloud.h"
#include "tests/world/burst_rule.h"
#include "tests/world/server.h"

/*
 * sky: a cloud in the simulated world: the fake cloud of the contract tests. Its instances boot a
 * system that joins a tenant as their user data specifies. Checked after each event: never two
 * billed instances for one claim, and no billed instance for longer than SKY_ORPHAN_MS after its
 * claim and Machine are deleted (S4); S6 (burst_rule.h).
 */
#define SKY_INSTANCES 24
#define SKY_FIRST 60 /* number of the first instance; machines of a rack have lower numbers */
#define SKY_ORPHAN_MS (6 * 60 * 1000)

struct sim_world;
struct sky {
	struct sim_world *world;
	struct fake_cloud cloud;
	struct server servers[SKY_INSTANCES];
	struct fake_instance *of[SKY_INSTANCES];
	int64_t orphan_since[SKY_INSTANCES];
	unsigned n;
	/* State of S6. */
	struct burst_rule bursts;
	/* loop_now() of the last check for orphans. The check is rare because it reads all claims
	 * and Machines. */
	int64_t looked_at;
};

/* Adds Provider sky, which offers gpu-8 in zones a and b, as the pool's second Provider, and limits
 * the pool to `nodes` nodes. Call after world_start(). */
void sky_start(struct sky *s, struct sim_world *w, const char *nodes);
/* Call before world_stop(). */
void sky_stop(struct sky *s);
/* Returns the name of the newest instance's Machine and claim. */
const char *sky_name(const struct sky *s);
/* Writes to the disk what an instance's image finds at its first boot: the system, and the files of
 * its user data. */
void sky_put_config(struct server *b, const char *user_data);
bool sky_wrong(struct sky *s, char *why, size_t size);

#endif
