/* Keys that are replaced while they are in use. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/world.h"
#include "wipe/proto.h"

#define NEW_KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define NOWHERE "10.66.6.6:999"

static void replace_key(struct sim_world *w, const char *value)
{
	world_secret(w, "drover-system", "drover-boot-key", "key", value, NULL, NULL);
	world_run(w, 31000); /* drover reads the key every 30 s */
}

static bool is_starting(void *arg)
{
	const struct server *b = arg;

	return b->bmc.on && b->doing == SERVER_FIRMWARE;
}

/* Returns a boot block forged with this key; the caller frees it. */
static char *forged(const struct server *b, const char *key, int64_t boot)
{
	OWN(arena) a = arena_new();
	OWN(secret) k = secret_from_str(key);
	char *out = mem_alloc(PROTO_BOOT_BLOCK), secret[65];
	struct proto_boot block;
	struct err e;

	assert_ok(proto_boot_read(b->block, PROTO_BOOT_BLOCK, a, &block, &e), &e);
	block.boot = boot;
	block.secret = secret;
	proto_boot_secret(k, json_str_at(b->object, "metadata", "uid"), block.operation, boot,
			  secret);
	assert_ok(proto_boot_write(&block, out, &e), &e);
	return out;
}

/* Boot blocks made with the old key are invalid after a rotation, even if a thief has the key
 * itself. */
static void who_has_the_old_key_opens_nothing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *thief;
	OWN_JSON old = NULL;
	char *block, *key;
	struct err e;
	size_t len;

	(void)state;
	world_start(&w, 401, 1);
	b->wipe_ms = 240000;
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	old = cluster_get(&w.host, "secrets/drover-system/drover-boot-key");
	key = crypto_base64_decode(json_str_at(old, "data", "key"),
				   strlen(json_str_at(old, "data", "key")), &len, &e);
	replace_key(&w, NEW_KEY);
	/* The nonce of the machine's last wipe was made with the old key, so the machine is wiped
	 * again. */
	world_wait_state(b, "wiping", 300);
	block = forged(b, key, 2);
	thief = bootagent_thief(b, block, PROTO_BOOT_BLOCK, NOWHERE, "boot-of-his");
	world_wait_state(b, "free", 3600);
	assert_int_equal(bootagent_seen(thief).orders, 0);
	assert_false(world_has_failure(b, "SecondCaller"));
	assert_int_equal(b->boots, 2);
	bootagent_free(thief);
	free(block);
	free(key);
	world_stop(&w);
}

/* The agent would use a secret of the old key, or trust only the old CA: drover boots it with a new
 * medium, without waiting for a timeout. */
static void a_machine_that_boots_an_old_medium_is_booted_again(void **state)
{
	(void)state;
	for (unsigned ca = 0; ca < 2; ca++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		struct secret *key = NULL;
		char *pem = NULL;
		struct err e;

		world_start(&w, 402 + ca, 1);
		world_replica(&w);
		w.refused = PROTO_HELLO_PATH; /* the agent's hello cannot arrive yet */
		world_wait(&w, is_starting, b, 300, "it starts");
		if (ca) {
			assert_ok(crypto_ca_new("another", WORLD_WALL, 30, &pem, &key, &e), &e);
			world_secret(&w, "drover-system", "drover-agent-ca", "ca.crt", pem,
				     "ca.key", secret_expose(key));
			world_run(&w, 31000);
		} else {
			replace_key(&w, NEW_KEY);
		}
		w.refused = NULL;
		world_wait_state(b, "inspecting", 300);
		assert_int_equal(b->boots, 2);
		world_wait_state(b, "free", 600);
		secret_free(key);
		free(pem);
		world_stop(&w);
	}
}

/* An agent that has said hello continues after the rotation, because it is authenticated by its own
 * key. */
static void a_claim_under_way_goes_on(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned boots;

	(void)state;
	world_start(&w, 403, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 600);
	boots = b->boots;
	world_secret(&w, "drover-system", "drover-boot-key", "key", NEW_KEY, NULL, NULL);
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	assert_int_equal(b->boots, boots + 1); /* the boot of the tenant's system */
	assert_false(world_has_failure(b, "AgentRebooted"));
	world_stop(&w);
}

static bool has_medium(void *arg)
{
	return ((struct server *)arg)->bmc.image != NULL;
}

/* Machine, operation and boot number are not enough to compute the URL of the medium: that requires
 * the boot key. */
static void the_address_of_a_medium_cannot_be_guessed(void **state)
{
	static const char *const keys[] = {NEW_KEY, "another key of forty letters, all made up",
					   NEW_KEY};
	char *urls[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sim_world w;

		world_start(&w, 405, 1); /* the worlds differ only in the key */
		world_secret(&w, "drover-system", "drover-boot-key", "key", keys[i], NULL, NULL);
		world_replica(&w);
		world_wait(&w, has_medium, &w.servers[0], 300, "a medium");
		urls[i] = mem_strdup(w.servers[0].bmc.image);
		world_stop(&w);
	}
	assert_string_equal(urls[0], urls[2]);
	assert_string_not_equal(urls[0], urls[1]);
	for (int i = 0; i < 3; i++)
		free(urls[i]);
}

static void a_key_that_anybody_could_guess_is_not_taken(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 404, 1);
	b->wipe_ms = 120000;
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	replace_key(&w, "secret");
	assert_non_null(strstr(w.log, "boot key not used"));
	world_wait_state(b, "free", 3600);
	assert_int_equal(b->boots, 1);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_the_old_key_opens_nothing),
		cmocka_unit_test(a_machine_that_boots_an_old_medium_is_booted_again),
		cmocka_unit_test(a_claim_under_way_goes_on),
		cmocka_unit_test(the_address_of_a_medium_cannot_be_guessed),
		cmocka_unit_test(a_key_that_anybody_could_guess_is_not_taken),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
