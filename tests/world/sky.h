#ifndef TESTS_WORLD_SKY_H
#define TESTS_WORLD_SKY_H

#include "tests/contract/fake_cloud.h"
#include "tests/world/burst_rule.h"
#include "tests/world/server.h"

/*
 * sky: a cloud in the simulated world: the fake cloud of the contract tests. Its instances boot a
 * system that joins a tenant as their user data specifies.
 *
 * Checked after each event: never two billed instances for one claim; no billed instance for longer
 * than SKY_ORPHAN_MS after its claim and Machine are deleted (S4); and S6 (burst_rule.h).
 */
#define SKY_INSTANCES 24
/* number of the first instance as a server; machines of a rack have lower numbers */
#define SKY_FIRST 60
#define SKY_ORPHAN_MS (6 * 60 * 1000)

struct sim_world;
struct sky {
	struct sim_world *world;
	struct fake_cloud cloud;
	struct server servers[SKY_INSTANCES];
	struct fake_instance *of[SKY_INSTANCES];
	int64_t orphan_since[SKY_INSTANCES];
	unsigned n;
	/* State of the check of S6 (burst_rule.h). */
	struct burst_rule bursts;
	/* loop_now() of the last check for instances without claim and Machine. The check is rare
	 * because it reads all claims and Machines. */
	int64_t looked_at;
};

/* Adds Provider sky, which offers gpu-8 in zones a and b, as the pool's second Provider, and limits
 * the pool to `nodes` nodes. Call after world_start(). */
void sky_start(struct sky *s, struct sim_world *w, const char *nodes);
/* Frees the cloud. Call before world_stop(). */
void sky_stop(struct sky *s);
/* Returns the name that the Machine and the claim of the newest instance have. */
const char *sky_name(const struct sky *s);
/* Writes the system and the files of user_data to the disk, as an instance's image finds them at
 * its first boot. */
void sky_put_config(struct server *b, const char *user_data);
bool sky_wrong(struct sky *s, char *why, size_t size);

#endif
