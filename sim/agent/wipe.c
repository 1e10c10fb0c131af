/*
 * agent_wipe: the orders inspect, wipe and verify.
 *
 * The drives of the rack support block erase (IEEE 2883 Sanitize: Purge). A drive zeros itself from
 * the first byte to the last at times.wipe_bytes_per_s, so that a power loss during the erase
 * leaves the remaining data. A canary is 4096 bytes of HMAC-SHA256(nonce, "canary WWN OFFSET"),
 * repeated.
 * Tests: tests/unit/sim/agent/test_agent.c
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/agent/agent_impl.h"

#define MEMORY_BYTES (INT64_C(2) << 40)
#define TICK_MS 250
#define LOOK_MS 200 /* Duration of an inspection in ms. */
#define SLICE_MS 20 /* Pause between two slices of verification in ms. */
/* Number of reads per drive and slice, small enough not to delay the loop. */
#define SLICE_READS 256
#define SAMPLES_MAX 1000000
#define EDGE (1 << 20)
/* Shortest duration of an erase in ms, whatever the configured rate: no real drive is faster. */
#define WIPE_LEAST_MS 2000

/* --- inspect ---------------------------------------------------------------------------------- */

static void read_stamp(struct drive *d, struct arena *tmp, struct proto_drive *out)
{
	char block[PROTO_STAMP_SIZE];
	struct err e;

	if (drive_read(d, block, sizeof(block), 0, &e) == 0)
		(void)proto_stamp_read(block, tmp, &out->stamp_record, &out->stamp);
}

static bool is_zero(struct drive *d, int64_t at)
{
	static const char zeros[DRIVE_BLOCK];
	char block[DRIVE_BLOCK];
	struct err e;

	return drive_read(d, block, sizeof(block), at, &e) == 0 &&
	       !memcmp(block, zeros, sizeof(block));
}

/* Checks that the drive still holds what the last wipe left: reads both ends except the stamp, and
 * blocks chosen by the nonce. */
static void read_again(const char *nonce, struct drive *d, struct proto_drive *out)
{
	const int64_t edge = EDGE / DRIVE_BLOCK, blocks = drive_bytes(d) / DRIVE_BLOCK;
	uint8_t seed[CRYPTO_SHA256];
	uint64_t at;

	crypto_sha256(nonce, strlen(nonce), seed);
	memcpy(&at, seed, sizeof(at));
	for (int64_t i = 1; i <= EVIDENCE_AGAIN_READS; i++) {
		int64_t n = i < edge ? i : blocks - 2 * edge + i;

		at = at * 6364136223846793005u + 1442695040888963407u;
		if (i >= 2 * edge)
			n = 1 + (int64_t)((at >> 11) % (uint64_t)(blocks - 1));
		if (is_zero(d, n * DRIVE_BLOCK))
			out->again.clean++;
		else
			out->again.dirty++;
	}
}

static void list_drives(struct sim_agent *a, struct arena *tmp, struct proto_inventory *inv)
{
	struct sim_machine *m = a->machine;

	inv->drives.v = arena_calloc(tmp, m->ndrives + 1, sizeof(*inv->drives.v));
	for (unsigned i = 0; i < m->ndrives; i++) {
		struct proto_drive *d = &inv->drives.v[inv->drives.n];

		if (drive_failed(m->drives[i]))
			continue;
		*d = (struct proto_drive){
			.path = arena_printf(tmp, "/dev/nvme%un1", i),
			.type = "NVMe",
			.model = i ? MACHINE_DATA_MODEL : MACHINE_ROOT_MODEL,
			.serial = arena_printf(tmp, "%sN%u", m->serial, i),
			.wwn = m->wwns[i],
			.slot = arena_printf(tmp, "slot %u", i + 1),
			.bytes = drive_bytes(m->drives[i]),
			.block_size = 512,
		};
		read_stamp(m->drives[i], tmp, d);
		if (a->order->nonce)
			read_again(a->order->nonce, m->drives[i], d);
		inv->drives.n++;
	}
}

/* Adds the machine's NICs to the inventory: one connected Ethernet port, and one without a link. */
static void list_nics(struct sim_agent *a, struct arena *tmp, struct proto_inventory *inv)
{
	inv->nics.v = arena_calloc(tmp, 2, sizeof(*inv->nics.v));
	inv->nics.n = 2;
	inv->nics.v[0] = (struct proto_nic){.name = "enp41s0f0np0",
					    .mac = a->machine->mac,
					    .driver = "mlx5_core",
					    .link = true,
					    .mbit = 100000};
	inv->nics.v[1] = (struct proto_nic){.name = "enp41s0f1np1",
					    .mac = arena_printf(tmp, "ba%s", a->machine->mac + 2),
					    .driver = "mlx5_core"};
}

static void list_gpus(struct arena *tmp, struct proto_inventory *inv)
{
	static const char *const buses[MACHINE_GPUS] = {"1b", "43", "52", "61",
							"9d", "c3", "d1", "df"};

	inv->gpus.n = MACHINE_GPUS;
	inv->gpus.v = arena_calloc(tmp, MACHINE_GPUS, sizeof(*inv->gpus.v));
	for (size_t i = 0; i < MACHINE_GPUS; i++)
		inv->gpus.v[i] = (struct proto_gpu){
			.address = arena_printf(tmp, "0000:%s:00.0", buses[i]), .id = "10de:2330"};
}

static void inspect(struct sim_agent *a)
{
	OWN(arena) tmp = arena_new();
	struct proto_inventory inv = {.dmi = a->dmi, .cpus = 192, .memory_bytes = MEMORY_BYTES};
	struct proto_report r = {.state = PROTO_DONE, .inventory = &inv};

	list_drives(a, tmp, &inv);
	list_nics(a, tmp, &inv);
	list_gpus(tmp, &inv);
	agent_finish(a, &r);
}

void agent_begin_inspect(struct sim_agent *a)
{
	agent_step(a, LOOK_MS, inspect);
}

/* --- canaries --------------------------------------------------------------------------------- */

static void derive(const struct sim_agent *a, const struct agent_unit *u, const char *what,
		   int64_t n, uint8_t out[static CRYPTO_SHA256])
{
	OWN(secret) key = secret_from_str(a->nonce);
	char text[128];

	str_format(text, sizeof(text), "%s %s %lld", what, u->device.wwn, (long long)n);
	crypto_hmac_sha256(key, text, strlen(text), out);
}

static int64_t place(const struct sim_agent *a, const struct agent_unit *u, const char *what,
		     int64_t n)
{
	uint8_t d[CRYPTO_SHA256];
	uint64_t r;

	derive(a, u, what, n, d);
	memcpy(&r, d, sizeof(r));
	return (int64_t)(r % (uint64_t)(u->device.bytes / DRIVE_BLOCK)) * DRIVE_BLOCK;
}

/* Returns the offset of canary n: the first block, the last block, then offsets derived from the
 * nonce. */
static int64_t canary_place(const struct sim_agent *a, const struct agent_unit *u, int64_t n)
{
	if (n == 0)
		return 0;
	return n == 1 ? u->device.bytes - DRIVE_BLOCK : place(a, u, "canary place", n);
}

static void canary(const struct sim_agent *a, const struct agent_unit *u, int64_t at, char *block)
{
	uint8_t d[CRYPTO_SHA256];

	derive(a, u, "canary", at, d);
	for (size_t i = 0; i < DRIVE_BLOCK; i += sizeof(d))
		memcpy(block + i, d, sizeof(d));
}

/* True if any sector of the block still has the canary's bytes, because one such sector counts as a
 * canary that was found. */
static bool holds_sector(const char *block, const char *want)
{
	for (size_t i = 0; i < DRIVE_BLOCK; i += 512)
		if (!memcmp(block + i, want, 512))
			return true;
	return false;
}

/* Returns the number of canaries that are present, whole or in part. *unreadable: incremented for
 * each failed read. */
static int64_t find_canaries(struct sim_agent *a, struct agent_unit *u, int64_t *unreadable)
{
	char block[DRIVE_BLOCK], want[DRIVE_BLOCK];
	int64_t found = 0;
	struct err e;

	for (int64_t i = 0; i < EVIDENCE_CANARIES; i++) {
		int64_t at = canary_place(a, u, i);

		canary(a, u, at, want);
		if (drive_read(u->drive, block, sizeof(block), at, &e) < 0)
			++*unreadable;
		else
			found += holds_sector(block, want);
	}
	return found;
}

static void fail_unit(struct agent_unit *u, const char *reason)
{
	u->device.level = WIPE_FAIL;
	u->device.reason = reason;
}

static const char *broken(const struct agent_unit *u)
{
	return drive_failed(u->drive) ? "DriveMissing" : "DriveFailed";
}

static void plant(struct sim_agent *a, struct agent_unit *u)
{
	char block[DRIVE_BLOCK];
	int64_t unreadable = 0;
	struct err e;

	for (int64_t i = 0; i < EVIDENCE_CANARIES; i++) {
		int64_t at = canary_place(a, u, i);

		canary(a, u, at, block);
		if (drive_write(u->drive, block, sizeof(block), at, &e) < 0) {
			fail_unit(u, broken(u));
			return;
		}
	}
	u->device.canaries.planted = find_canaries(a, u, &unreadable);
	if (u->device.canaries.planted < EVIDENCE_CANARIES)
		fail_unit(u, unreadable ? broken(u) : "CanaryLost");
}

/* --- wipe ------------------------------------------------------------------------------------- */

/* True if the drive is present and has not failed so far. */
static bool sound(const struct agent_unit *u)
{
	return u->drive && !u->device.reason;
}

static void add_unit(struct sim_agent *a, const char *wwn, struct drive *d)
{
	struct agent_unit *u = &a->units[a->nunits++];
	unsigned i = 0;

	while (i < a->machine->ndrives && !str_eq(a->machine->wwns[i], wwn))
		i++;
	*u = (struct agent_unit){.drive = d};
	u->device = (struct evidence_device){
		.type = "NVMe",
		.model = i ? MACHINE_DATA_MODEL : MACHINE_ROOT_MODEL,
		.serial = arena_printf(a->wiped_arena, "%sN%u", a->machine->serial, i),
		.wwn = arena_strdup(a->wiped_arena, wwn),
		.bytes = d ? drive_bytes(d) : 0,
		.technique = "None",
		.level = WIPE_FAIL,
		.reason = d ? NULL : "DriveMissing",
	};
}

static bool is_expected(const struct proto_order *o, const char *wwn)
{
	for (size_t i = 0; i < o->expected.n; i++)
		if (str_eq(o->expected.v[i], wwn))
			return true;
	return o->expected.n == 0;
}

static void add_name(struct sim_agent *a, struct strings *s, const char *name)
{
	if (!s->v)
		s->v = arena_calloc(a->wiped_arena, 2 * MACHINE_DRIVES, sizeof(*s->v));
	if (s->n < 2 * MACHINE_DRIVES)
		s->v[s->n++] = arena_strdup(a->wiped_arena, name);
}

/* Selects the drives to wipe: those that the order expects, present or not. If the order expects no
 * drive, selects all drives that are present. */
static void choose(struct sim_agent *a)
{
	const struct proto_order *o = a->order;
	struct sim_machine *m = a->machine;

	arena_free(a->wiped_arena);
	a->wiped_arena = arena_new();
	a->nunits = 0;
	a->missing = a->extra = (struct strings){0};
	a->nonce = arena_strdup(a->wiped_arena, o->nonce);
	a->started = loop_wall(loop_of(a->group));
	for (unsigned i = 0; i < m->ndrives; i++) {
		if (drive_failed(m->drives[i]))
			continue;
		if (is_expected(o, m->wwns[i]))
			add_unit(a, m->wwns[i], m->drives[i]);
		else
			add_name(a, &a->extra, m->wwns[i]);
	}
	for (size_t i = 0; i < o->expected.n; i++)
		if (!agent_drive(a, o->expected.v[i]) && a->nunits < 2 * MACHINE_DRIVES) {
			add_unit(a, o->expected.v[i], NULL);
			add_name(a, &a->missing, o->expected.v[i]);
		}
	a->expected = (int64_t)(o->expected.n ? o->expected.n : a->nunits);
}

static void end_wipe(struct sim_agent *a)
{
	struct evidence_device *v = arena_calloc(a->wiped_arena, a->nunits + 1, sizeof(*v));
	struct proto_report r = {.state = PROTO_DONE};
	char message[160];

	for (size_t i = 0; i < a->nunits; i++) {
		struct agent_unit *u = &a->units[i];
		int64_t unreadable = 0;

		if (sound(u)) {
			u->device.canaries.found = find_canaries(a, u, &unreadable);
			u->device.level = WIPE_PURGE;
			if (unreadable)
				fail_unit(u, broken(u));
			else if (u->device.canaries.found)
				fail_unit(u, "EraseUnverified");
		}
		if (u->device.reason && !r.message) {
			str_format(message, sizeof(message), "drive %s: %s", u->device.wwn,
				   u->device.reason);
			r.message = message;
		}
		v[i] = u->device;
	}
	r.devices.v = v;
	r.devices.n = a->nunits;
	agent_finish(a, &r);
}

static void set_status(struct agent_unit *u, int64_t status)
{
	u->status = status;
	u->device.raw_status = (struct ints){&u->status, 1};
}

/* Erases all drives in parallel. Each drive is erased up to the position that it would reach at its
 * erase rate in the time since the start. */
static void wipe(struct sim_agent *a)
{
	int64_t now = loop_now(loop_of(a->group)), took = now - a->stepped_at;
	int64_t rate = sim_machine_times(a->machine).wipe_bytes_per_s;
	int64_t far = took / 1000 * rate + took % 1000 * rate / 1000, longest = 0;
	int64_t most = took < WIPE_LEAST_MS ? took : WIPE_LEAST_MS;
	struct err e;

	a->phase = "sanitize";
	a->done_bytes = a->total_bytes = a->bytes_per_s = 0;
	for (size_t i = 0; i < a->nunits; i++) {
		struct agent_unit *u = &a->units[i];
		int64_t may = u->device.bytes / WIPE_LEAST_MS * most;
		int64_t to = most == WIPE_LEAST_MS ? u->device.bytes : may;

		if (far < to)
			to = far;
		if (!sound(u))
			continue;
		if (a->pull && i + 1 == a->nunits && far > u->device.bytes / 2)
			drive_fail(u->drive, true);
		if (to > u->sampled && drive_zero(u->drive, u->sampled, to - u->sampled, &e) < 0) {
			set_status(u, e.code);
			fail_unit(u, broken(u));
			continue;
		}
		u->sampled = to;
		u->device.technique = "SanitizeBlockErase";
		set_status(u, 0);
		a->done_bytes += to;
		a->total_bytes += u->device.bytes;
		a->bytes_per_s += rate;
		if (u->device.bytes - to > longest)
			longest = u->device.bytes - to;
	}
	if (longest)
		agent_step(a, TICK_MS, wipe);
	else
		end_wipe(a);
}

static void plant_all(struct sim_agent *a)
{
	bool fails = sim_machine_fault(a->machine, "wipe", "WipeFails", NULL);

	for (size_t i = 0; i < a->nunits; i++)
		if (sound(&a->units[i]))
			plant(a, &a->units[i]);
	if (fails && sound(&a->units[a->nunits - 1])) {
		struct agent_unit *u = &a->units[a->nunits - 1];

		u->device.technique = "SanitizeBlockErase";
		set_status(u, 0x1c); /* NVMe status "Sanitize Failed" */
		fail_unit(u, "DriveFailed");
	}
	a->stepped_at = loop_now(loop_of(a->group));
	agent_step(a, TICK_MS, wipe);
}

void agent_begin_wipe(struct sim_agent *a)
{
	choose(a);
	if (!a->nunits) {
		agent_fail(a, "NoDrives", "none of the machine's %u drives is to be wiped",
			   a->machine->ndrives);
		return;
	}
	drive_lie(a->machine->drives[a->machine->ndrives - 1],
		  sim_machine_fault(a->machine, "wipe", "DriveLies", NULL));
	a->phase = "canaries";
	agent_step(a, TICK_MS, plant_all);
}

/* --- verify ----------------------------------------------------------------------------------- */

static void read_block(struct agent_unit *u, int64_t at)
{
	static const char zeros[DRIVE_BLOCK];
	char block[DRIVE_BLOCK];
	struct err e;

	if (drive_read(u->drive, block, sizeof(block), at, &e) < 0)
		u->device.reads.unreadable++;
	else if (memcmp(block, zeros, sizeof(block)) != 0)
		u->device.reads.dirty++;
	else
		u->device.reads.clean++;
}

/* Returns the offset of verification read n: both ends completely, then the samples. */
static int64_t nth_place(const struct sim_agent *a, const struct agent_unit *u, int64_t n)
{
	int64_t edge = EDGE / DRIVE_BLOCK;

	if (n < edge)
		return n * DRIVE_BLOCK;
	if (n < 2 * edge)
		return u->device.bytes - EDGE + (n - edge) * DRIVE_BLOCK;
	return place(a, u, "sample", n - 2 * edge);
}

static int64_t all_reads(const struct sim_agent *a)
{
	int64_t n = a->order->samples;

	n = n <= 0 ? EVIDENCE_SAMPLES : n > SAMPLES_MAX ? SAMPLES_MAX : n;
	return EVIDENCE_EDGE_READS + n;
}

static void judge_unit(struct sim_agent *a, struct agent_unit *u)
{
	int64_t unreadable = 0;

	if (!u->drive || u->device.reason)
		return;
	u->device.canaries.found = find_canaries(a, u, &unreadable);
	u->device.reads.unreadable += unreadable;
	if (u->device.canaries.found || u->device.reads.dirty)
		fail_unit(u, "EraseUnverified");
	else if (u->device.reads.unreadable)
		fail_unit(u, broken(u));
	u->verified = !u->device.reason;
}

static const char *nonce_digest(struct sim_agent *a)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];

	crypto_sha256(a->nonce, strlen(a->nonce), d);
	return arena_strdup(a->wiped_arena, crypto_digest_text(d, text));
}

/* Returns the statement that the memory was overwritten, except 1/128 of it, which the kernel
 * uses. */
static struct statement *say_memory(struct sim_agent *a)
{
	struct statement *s = arena_calloc(a->wiped_arena, 1, sizeof(*s));

	*s = (struct statement){.part = STATEMENT_SYSTEM_MEMORY,
				.outcome = STATEMENT_COVERED,
				.technique = "Overwritten",
				.total_bytes = MEMORY_BYTES,
				.covered_bytes = MEMORY_BYTES - MEMORY_BYTES / 128};
	return s;
}

/* Sets ev->not_covered to the parts that no statement covers. */
static void name_not_covered(struct sim_agent *a, struct evidence *ev)
{
	static const char *always[] = {EVIDENCE_NOT_COVERED};
	const struct strings all =
		ev->not_covered.n ? ev->not_covered
				  : (struct strings){always, sizeof(always) / sizeof(*always)};
	const char **v = arena_calloc(a->wiped_arena, all.n, sizeof(*v));

	ev->not_covered = (struct strings){v, 0};
	for (size_t i = 0; i < all.n; i++)
		if (!evidence_covers(ev, all.v[i]))
			v[ev->not_covered.n++] = all.v[i];
}

static void end_verify(struct sim_agent *a)
{
	struct evidence ev = *a->order->evidence;
	struct evidence_device *v = arena_calloc(a->wiped_arena, a->nunits + 1, sizeof(*v));
	struct proto_report r = {.state = PROTO_DONE};
	char *envelope;

	ev.verdict = a->extra.n ? WIPE_FAIL : WIPE_PURGE;
	for (size_t i = 0; i < a->nunits; i++) {
		judge_unit(a, &a->units[i]);
		v[i] = a->units[i].device;
		if (v[i].level < ev.verdict)
			ev.verdict = v[i].level;
	}
	ev.devices.v = v;
	ev.devices.n = a->nunits;
	ev.start_time = a->started / 1000 * 1000;
	ev.end_time = loop_wall(loop_of(a->group)) / 1000 * 1000;
	ev.agent_trust = WIPE_BOOT_NETWORK;
	ev.inventory.expected = a->expected;
	ev.inventory.seen = (int64_t)(a->nunits - a->missing.n + a->extra.n);
	ev.inventory.missing = a->missing;
	ev.inventory.extra = a->extra;
	if (!ev.nonce_digest)
		ev.nonce_digest = nonce_digest(a);
	if (statement_parts(&a->order->cover) & 1u << STATEMENT_SYSTEM_MEMORY) {
		ev.statements.v = say_memory(a);
		ev.statements.n = 1;
	}
	name_not_covered(a, &ev);
	envelope = evidence_sign(&ev, a->key);
	r.envelope = envelope;
	r.devices.v = v;
	r.devices.n = a->nunits;
	agent_finish(a, &r);
	free(envelope);
}

static void verify(struct sim_agent *a)
{
	int64_t all = all_reads(a);
	bool more = false;

	a->done_bytes = a->total_bytes = 0;
	for (size_t i = 0; i < a->nunits; i++) {
		struct agent_unit *u = &a->units[i];

		if (!sound(u))
			continue;
		for (int n = 0; n < SLICE_READS && u->sampled < all; n++)
			read_block(u, nth_place(a, u, u->sampled++));
		more |= u->sampled < all;
		a->done_bytes += u->sampled * DRIVE_BLOCK;
		a->total_bytes += all * DRIVE_BLOCK;
	}
	if (more)
		agent_step(a, SLICE_MS, verify);
	else
		end_verify(a);
}

void agent_begin_verify(struct sim_agent *a)
{
	const char *uuid = a->order->evidence->machine.system_uuid;
	bool torn = sim_machine_fault(a->machine, "verify", "DriveUnreadable", NULL);

	if (!a->nunits || !str_eq(a->nonce, a->order->nonce)) {
		agent_fail(a, "NotWiped",
			   "nothing was wiped with this nonce since the machine started");
		return;
	}
	if (!str_empty(uuid) && strcasecmp(uuid, a->dmi.system_uuid) != 0) {
		agent_fail(a, "IdentityMismatch", "system UUID is %s, not %s", a->dmi.system_uuid,
			   uuid);
		return;
	}
	for (size_t i = 0; i < a->nunits; i++) {
		a->units[i].sampled = 0;
		a->units[i].verified = false;
		memset(&a->units[i].device.reads, 0, sizeof(a->units[i].device.reads));
	}
	/* Simulates a drive that answers some reads with an error (fault DriveUnreadable). */
	if (torn)
		a->units[a->nunits - 1].device.reads.unreadable = 3;
	agent_step(a, SLICE_MS, verify);
}
