#include "tests/world/bootagent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/server.h"
#include "tests/world/world.h"
#include "wipe/proto.h"

#define AGAIN_MS 3000
#define THIEF_MS 100 /* duration of any order in ms for a thief, which does nothing */
#define POLL_MS 45000
#define HOUR_MS (3600 * 1000)
#define ORDER_MS 2000 /* duration of any other order in ms */
#define POWEROFF_MS 1500
#define REFUSED_MS (10 * 60 * 1000)

struct bootagent {
	struct server *server;
	/* HTTP client of a thief; NULL: the agent is no thief and runs on the machine. */
	struct http *elsewhere;
	char boot_id[40];
	struct arena *arena;
	unsigned orders, tokens;
	struct proto_boot boot;
	struct crypto_key *key;
	char public_key[CRYPTO_PUBLIC_TEXT], who[128];
	struct http_peer *peer, *image_peer;
	struct http_req *req, *image_req;
	struct loop_timer timer;
	/* Next function to call when `timer` expires. */
	void (*next)(struct bootagent *a);
	bool welcome;
	int64_t after, fence, refused_since, protocol;
	unsigned stale;

	struct arena *order_arena;
	/* The order in progress; NULL: none. */
	struct proto_order *order;
	/* Reports of finished orders: order id -> report text. */
	struct map *results;
	/* Report to be sent next, as JSON text. */
	char *out;
	struct evidence_device devices[SERVER_DRIVES];
	struct statement memory;
	/* Parts that the evidence of the wipe names as not covered (notCovered), without system
	 * memory. */
	const char *left[64];
	/* Nonce of the wipe in this boot. */
	char wiped_with[160];
	/* Number of drives whose wipe stayed below the required level. */
	int below;
	int64_t wipe_since;
};

static void hello(struct bootagent *a);
static void poll_order(struct bootagent *a);
static void send_report(struct bootagent *a);

static struct loop *loop_here(const struct bootagent *a)
{
	return a->server->world->loop;
}

static void on_timer(void *arg)
{
	struct bootagent *a = arg;

	a->next(a);
}

static void after_ms(struct bootagent *a, int64_t ms, void (*next)(struct bootagent *))
{
	a->next = next;
	loop_timer_start(&a->timer, ms);
}

static void go_on(struct bootagent *a)
{
	if (!a->welcome)
		hello(a);
	else if (a->out)
		send_report(a);
	else
		poll_order(a);
}

/* --- talking ---------------------------------------------------------------------------------- */

static void send(struct bootagent *a, const char *method, const char *target, const char *body,
		 void (*done)(const struct http_reply *r, const struct err *e, void *arg))
{
	size_t len = body ? strlen(body) : 0;
	char *sig = proto_sign(a->key, method, target, body, len);
	struct http_header h[] = {{PROTO_HEADER_AGENT, a->who}, {PROTO_HEADER_SIGNATURE, sig}};
	struct http_call call = {
		.method = method,
		.path = target,
		.headers = h,
		.nheaders = 2,
		.body = body,
		.body_len = len,
		.timeout_ms = POLL_MS,
		.done = done,
		.arg = a,
	};

	if (a->elsewhere || server_reaches_drover(a->server))
		a->req = http_start(a->peer, &call);
	else
		after_ms(a, AGAIN_MS, go_on);
	free(sig);
}

static void off(struct bootagent *a)
{
	if (!a->elsewhere)
		server_power(a->server, false);
}

/* True if drover refused the session. The agent then sends its hello again; after ten minutes of
 * refusals, it switches the machine off instead. */
static bool turned_away(struct bootagent *a, const struct http_reply *r)
{
	int64_t now = loop_now(loop_here(a));

	if (!r || (r->status != 401 && r->status != 403 && r->status != 409)) {
		if (r && r->status < 300)
			a->refused_since = 0;
		return false;
	}
	a->welcome = false;
	if (!a->refused_since)
		a->refused_since = now;
	if (now - a->refused_since > REFUSED_MS)
		off(a);
	else
		after_ms(a, AGAIN_MS, hello);
	return true;
}

static void on_hello(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bootagent *a = arg;

	(void)e;
	a->req = NULL;
	if (turned_away(a, r))
		return;
	a->welcome = r && r->status == 200;
	if (a->welcome && a->server->mute)
		return;
	if (a->welcome)
		go_on(a);
	else
		after_ms(a, AGAIN_MS, hello);
}

static void hello(struct bootagent *a)
{
	struct proto_hello h = {
		.machine = a->boot.machine,
		.operation = a->boot.operation,
		.boot = a->boot.boot,
		.secret = a->boot.secret,
		.boot_id = a->boot_id,
		.public_key = a->public_key,
		.version = "test",
		.protocol = a->protocol,
		.dmi = {.system_uuid = str_or(a->server->calls_uuid, a->server->uuid),
			.serial = a->server->serial},
		.trust = WIPE_BOOT_NETWORK,
		.probes = !a->server->probes_not,
	};
	char *text = proto_encode(proto_hello_fields, &h);

	send(a, "POST", PROTO_HELLO_PATH, text, on_hello);
	free(text);
}

static void on_reported(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bootagent *a = arg;

	(void)e;
	a->req = NULL;
	if (turned_away(a, r))
		return;
	if (!r || r->status != 204) {
		after_ms(a, AGAIN_MS, send_report);
		return;
	}
	free(a->out);
	a->out = NULL;
	poll_order(a);
}

static void send_report(struct bootagent *a)
{
	send(a, "POST", PROTO_REPORT_PATH, a->out, on_reported);
}

/* --- orders ----------------------------------------------------------------------------------- */

static void finish(struct bootagent *a, struct proto_report *r)
{
	r->id = a->order->id;
	r->seq = a->order->seq;
	r->fence = a->order->fence;
	free(a->out);
	a->out = proto_encode(proto_report_fields, r);
	map_put(a->results, a->order->id, mem_strdup(a->out));
	a->order = NULL;
	send_report(a);
}

static void fail(struct bootagent *a, const char *reason, const char *message)
{
	struct proto_report r = {.state = PROTO_FAILED, .reason = reason, .message = message};

	finish(a, &r);
}

static int drives_there(const struct server *b)
{
	return b->drive_gone ? 1 : SERVER_DRIVES;
}

/* Reads the drive's data in pieces of 512 bytes, without the stamp at the start. After the last
 * piece it continues with the first, until EVIDENCE_AGAIN_READS pieces were read. */
static void read_again(const char *data, struct proto_drive *d)
{
	static const char zeros[512];
	const int pieces = (SERVER_DRIVE_BYTES - PROTO_STAMP_SIZE) / (int)sizeof(zeros);

	for (int k = 0; k < EVIDENCE_AGAIN_READS; k++)
		if (memcmp(data + PROTO_STAMP_SIZE + k % pieces * (int)sizeof(zeros), zeros,
			   sizeof(zeros)))
			d->again.dirty++;
		else
			d->again.clean++;
}

static void inspect(struct bootagent *a)
{
	struct server *b = a->server;
	OWN(arena) tmp = arena_new();
	struct proto_inventory inv = {.cpus = 4, .memory_bytes = 8ll << 30};
	struct proto_report r = {.state = PROTO_DONE, .inventory = &inv};
	struct proto_nic nic = {.name = "eth0", .mac = b->mac};
	struct proto_controller ctrl[] = {
		{"0000:01:00.0", "144d:a80a", "010802", "nvme", b->hides},
		{"0000:02:00.0", "144d:a80a", "010802", b->dead ? NULL : "nvme", NULL},
		{"0000:00:0e.0", "8086:201d", "010400", NULL, NULL},
	};

	inv.dmi = (struct proto_dmi){.system_uuid = b->uuid, .serial = b->serial};
	inv.nics.v = &nic;
	inv.nics.n = 1;
	inv.controllers.v = ctrl;
	inv.controllers.n = b->undriven ? 3 : 2;
	inv.drives.n = (size_t)drives_there(b);
	inv.drives.v = arena_calloc(tmp, SERVER_DRIVES, sizeof(*inv.drives.v));
	for (int i = 0; i < drives_there(b); i++) {
		struct proto_drive *d = &inv.drives.v[i];

		*d = (struct proto_drive){.path = i ? "/dev/nvme1n1" : "/dev/nvme0n1",
					  .type = "NVMe",
					  .model = i ? "DATA" : "ROOT",
					  .serial = b->drives[i].wwn,
					  .wwn = b->drives[i].wwn,
					  .slot = i ? "slot 2" : "slot 1",
					  .bytes = (4ll + i) << 30,
					  .block_size = 4096,
					  .rotational = b->spins};
		(void)proto_stamp_read(b->drives[i].data, tmp, &d->stamp_record, &d->stamp);
		if (a->order->nonce && !b->reads_once)
			read_again(b->drives[i].data, d);
	}
	finish(a, &r);
}

static void wipe(struct bootagent *a)
{
	static const int64_t status[] = {0, 5};
	struct server *b = a->server;
	struct proto_report r = {.state = PROTO_DONE};
	int minimum = b->spins && a->order->minimum_level_hdd ? a->order->minimum_level_hdd
							      : a->order->minimum_level;

	a->below = 0;
	if (!a->elsewhere)
		b->forgot = false;
	for (int i = 0; i < SERVER_DRIVES; i++) {
		bool gone = i >= drives_there(b), fails = gone || (b->wipe_fails && i == 1);

		if (!fails && b->forgets)
			memcpy(b->drives[i].kept, b->drives[i].data, SERVER_DRIVE_BYTES);
		if (!fails && !a->elsewhere)
			memset(b->drives[i].data, 0, SERVER_DRIVE_BYTES);
		a->devices[i] =
			(struct evidence_device){.type = "NVMe",
						 .model = i ? "DATA" : "ROOT",
						 .serial = b->drives[i].wwn,
						 .wwn = b->drives[i].wwn,
						 .bytes = (4ll + i) << 30,
						 .rotational = b->spins,
						 .technique = fails ? "None" : "Overwrite",
						 .raw_status = {(int64_t *)&status[fails], 1},
						 .level = fails ? WIPE_FAIL : WIPE_CLEAR,
						 .reason = gone	   ? "DriveMissing"
							   : fails ? "DriveFailed"
								   : NULL,
						 .canaries = {.planted = EVIDENCE_CANARIES}};
		a->below += a->devices[i].level < minimum;
	}
	str_copy(a->wiped_with, sizeof(a->wiped_with), str_or(a->order->nonce, ""));
	r.devices.v = a->devices;
	r.devices.n = SERVER_DRIVES;
	finish(a, &r);
}

static void go_on_wiping(struct bootagent *a);

static void on_progress(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bootagent *a = arg;

	(void)e;
	a->req = NULL;
	if (!turned_away(a, r))
		after_ms(a, a->server->wipe_ms > HOUR_MS ? 10000 : 1000, go_on_wiping);
}

/* Reports the progress of the wipe. Reports no rate in the first half of the time, as in a phase
 * that has just begun. */
static void go_on_wiping(struct bootagent *a)
{
	int64_t took = loop_now(loop_here(a)) - a->wipe_since, all = a->server->wipe_ms;
	int64_t still = a->server->wipe_still_ms, done = still && took > still ? still : took;
	struct proto_report r = {.id = a->order->id,
				 .seq = a->order->seq,
				 .fence = a->order->fence,
				 .phase = took < all / 2 ? "canaries" : "overwrite",
				 .done_bytes = done << 20,
				 .total_bytes = all << 20,
				 .bytes_per_s = took < all / 2 ? 0 : 1000 << 20};

	if (took >= all) {
		wipe(a);
		return;
	}
	for (int i = 0; i < SERVER_DRIVES; i++)
		a->devices[i] = (struct evidence_device){.wwn = a->server->drives[i].wwn,
							 .technique = i ? "Overwrite" : "None",
							 .erased_bytes = i ? took << 20 : 0,
							 .level = WIPE_FAIL};
	r.devices.v = a->devices;
	r.devices.n = SERVER_DRIVES;
	char *text = proto_encode(proto_report_fields, &r);

	send(a, "POST", PROTO_REPORT_PATH, text, on_progress);
	free(text);
}

static void begin_wipe(struct bootagent *a)
{
	a->wipe_since = loop_now(loop_here(a));
	go_on_wiping(a);
}

static void swear(const struct server *b, struct evidence *ev)
{
	ev->start_time += b->swears_later;
	ev->end_time += b->swears_later;
	if (b->swears_took) {
		ev->start_time = ev->end_time - b->swears_took;
		ev->devices.v[0].bytes = INT64_C(8000000000000);
	}
	if (b->swears_uuid)
		ev->machine.system_uuid = b->swears_uuid;
	if (b->swears_serial)
		ev->machine.serial = b->swears_serial;
	if (b->swears_tenant)
		ev->virtual_cluster.name = b->swears_tenant;
	if (b->hides_waivers)
		ev->waivers.n = 0;
	if (b->swears_trust)
		ev->agent_trust = str_eq(b->swears_trust, "Quote") ? WIPE_QUOTE : WIPE_SECURE_BOOT;
}

/* Adds statements to the evidence on the parts that the order names besides the drives. */
static void cover(struct bootagent *a, struct evidence *ev)
{
	const struct strings all = ev->not_covered;

	if (!a->order->cover.n)
		return;
	a->memory = (struct statement){.part = STATEMENT_SYSTEM_MEMORY,
				       .total_bytes = INT64_C(1) << 40,
				       .message = "the kernel gave none"};
	if (!a->server->keeps_memory) {
		a->memory.outcome = STATEMENT_COVERED;
		a->memory.technique = "Overwritten";
		a->memory.message = NULL;
		a->memory.covered_bytes = a->memory.total_bytes;
	}
	ev->statements.v = &a->memory;
	ev->statements.n = 1;
	ev->not_covered = (struct strings){a->left, 0};
	for (size_t i = 0; i < all.n && i < sizeof(a->left) / sizeof(a->left[0]); i++)
		if (!evidence_covers(ev, all.v[i]))
			a->left[ev->not_covered.n++] = all.v[i];
}

static void verify(struct bootagent *a)
{
	struct evidence ev;
	struct proto_report r = {.state = PROTO_DONE};
	char *envelope;

	if (!a->order->evidence || !str_eq(a->wiped_with, a->order->nonce)) {
		fail(a, "NotWiped", "nothing was wiped with this nonce since the machine started");
		return;
	}
	ev = *a->order->evidence;
	ev.devices.v = a->devices;
	ev.devices.n = SERVER_DRIVES;
	ev.verdict = WIPE_PURGE;
	for (int i = 0; i < SERVER_DRIVES; i++) {
		int reads =
			i < drives_there(a->server) ? EVIDENCE_EDGE_READS + EVIDENCE_SAMPLES : 0;

		/* Simulated drives have fewer bytes than they report, so the reads repeat the same
		 * positions. */
		for (int k = 0; k < reads; k++)
			if (a->server->drives[i].data[k * 512 % SERVER_DRIVE_BYTES])
				a->devices[i].reads.dirty++;
			else
				a->devices[i].reads.clean++;
		if (a->devices[i].level < ev.verdict)
			ev.verdict = a->devices[i].level;
	}
	ev.end_time = loop_wall(loop_here(a)) / 1000 * 1000;
	ev.start_time = ev.start_time / 1000 * 1000;
	ev.agent_trust = WIPE_BOOT_NETWORK;
	ev.inventory.expected =
		(int64_t)(a->order->expected.n ? a->order->expected.n : SERVER_DRIVES);
	ev.inventory.seen = drives_there(a->server);
	cover(a, &ev);
	swear(a->server, &ev);
	envelope = evidence_sign(&ev, a->key);
	r.envelope = envelope;
	finish(a, &r);
	free(envelope);
}

static void on_image(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bootagent *a = arg;
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];
	struct proto_report done = {.state = PROTO_DONE, .drive = a->order->drive};

	(void)e;
	a->image_req = NULL;
	if (!r || r->status != 200) {
		fail(a, "ImageUnreachable", "the image cannot be fetched");
		return;
	}
	memcpy(a->server->drives[0].data, r->body,
	       r->body_len < SERVER_CONFIG_AT ? r->body_len : SERVER_CONFIG_AT);
	crypto_sha256(r->body, r->body_len, d);
	if (!str_eq(crypto_digest_text(d, text), a->order->digest)) {
		fail(a, "ImageMismatch", "the image's digest is another");
		return;
	}
	finish(a, &done);
}

/* Copies the origin of url to out; returns the rest of url. */
static const char *split_url(const char *url, char *out, size_t size)
{
	const char *path = strchr(strstr(url, "://") + 3, '/');

	str_format(out, size, "%.*s", (int)(path - url), url);
	return path;
}

static void write_image(struct bootagent *a)
{
	struct http_call call = {.done = on_image, .arg = a};
	struct http_peer_spec s = {.plain_ok = true};
	char origin[128];
	struct err e;

	call.path = split_url(a->order->url, origin, sizeof(origin));
	s.base_url = origin;
	http_peer_free(a->image_peer);
	a->image_peer = http_peer_new(a->server->as_machine, &s, &e);
	a->image_req = http_start(a->image_peer, &call);
}

static void write_config(struct bootagent *a)
{
	struct proto_report r = {.state = PROTO_DONE, .drive = a->order->drive};
	char *at = a->server->drives[0].data + SERVER_CONFIG_AT;
	const char *cfg = "", *ca = "";

	for (size_t i = 0; i < a->order->files.n; i++) {
		const struct proto_file *f = &a->order->files.v[i];

		if (str_eq(f->name, "drover-join.cfg"))
			cfg = f->content;
		else if (str_eq(f->name, "cluster-ca.crt"))
			ca = f->content;
	}
	str_format(at, SERVER_DRIVE_BYTES - SERVER_CONFIG_AT, "%s%s", cfg, ca);
	finish(a, &r);
}

static void write_stamps(struct bootagent *a, bool on)
{
	struct proto_report r = {.state = PROTO_DONE};

	if (on && a->below) {
		fail(a, "NotWiped", "a drive is below the minimum");
		return;
	}
	for (int i = 0; i < SERVER_DRIVES; i++) {
		if (on)
			proto_stamp_write(a->order->record, a->order->stamp,
					  a->server->drives[i].data);
		else
			memset(a->server->drives[i].data, 0, PROTO_STAMP_SIZE);
	}
	finish(a, &r);
}

static void probe(struct bootagent *a)
{
	const struct strings *asked = &a->order->addresses;
	struct proto_probe *v = mem_calloc(asked->n + 1, sizeof(*v));
	struct proto_report r = {.state = PROTO_DONE, .nonce = a->order->nonce};

	for (size_t i = 0; i < asked->n; i++)
		v[i] = (struct proto_probe){asked->v[i], server_hears(a->server, asked->v[i])
								 ? PROTO_ANSWERED
								 : PROTO_SILENT};
	r.answers.v = v;
	r.answers.n = asked->n;
	finish(a, &r);
	free(v);
}

static void obey(struct bootagent *a)
{
	struct server *b = a->server;

	switch ((enum proto_order_kind)a->order->kind) {
	case PROTO_INSPECT:
		inspect(a);
		return;
	case PROTO_WIPE:
		begin_wipe(a);
		return;
	case PROTO_VERIFY:
		verify(a);
		return;
	case PROTO_POWEROFF:
		after_ms(a, POWEROFF_MS, off);
		return;
	case PROTO_PROBE:
		probe(a);
		return;
	case PROTO_WRITE:
		break;
	}
	if (a->elsewhere)
		finish(a, &(struct proto_report){.state = PROTO_DONE, .drive = a->order->drive});
	else if (!str_eq(a->order->drive, b->drives[0].wwn) && a->order->what <= PROTO_WRITE_CONFIG)
		fail(a, "DriveUnknown", "no such drive");
	else if (a->order->what == PROTO_WRITE_IMAGE)
		write_image(a);
	else if (a->order->what == PROTO_WRITE_CONFIG)
		write_config(a);
	else
		write_stamps(a, a->order->what == PROTO_WRITE_STAMP);
}

static void take(struct bootagent *a, const char *text, size_t len)
{
	struct arena *into = arena_new();
	struct proto_order *o = arena_new_obj(into, struct proto_order);
	const char *known, *name;
	struct err e;

	if (proto_decode(proto_order_fields, text, len, o, into, &e) < 0) {
		arena_free(into);
		after_ms(a, AGAIN_MS, poll_order);
		return;
	}
	if (o->seq > a->after)
		a->after = o->seq;
	arena_free(a->order_arena);
	a->order_arena = into;
	a->order = o;
	a->orders++;
	a->tokens += memmem(text, len, "TOKEN=", 6) != NULL;
	if (o->fence < a->fence) {
		a->stale++;
		a->order = NULL;
		poll_order(a);
		return;
	}
	a->fence = o->fence;
	known = map_get(a->results, o->id);
	if (known) {
		a->order = NULL;
		free(a->out);
		a->out = mem_strdup(known);
		send_report(a);
		return;
	}
	name = strrchr(o->id, '/');
	if (!a->elsewhere && a->server->reboots_at && name &&
	    str_eq(name + 1, a->server->reboots_at)) {
		struct server *b = a->server;

		b->reboots_at = NULL;
		server_power(b, false);
		server_power(b, true);
		return;
	}
	after_ms(a, a->elsewhere ? THIEF_MS : ORDER_MS, obey);
}

static void on_order(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bootagent *a = arg;

	(void)e;
	a->req = NULL;
	if (turned_away(a, r))
		return;
	if (r && r->status == 200)
		take(a, r->body, r->body_len);
	else
		after_ms(a, r && r->status == 204 ? 0 : AGAIN_MS, poll_order);
}

static void poll_order(struct bootagent *a)
{
	char target[80];

	str_format(target, sizeof(target), PROTO_ORDER_PATH "?after=%lld", (long long)a->after);
	send(a, "GET", target, NULL, on_order);
}

/* --- life ------------------------------------------------------------------------------------- */

static struct bootagent *born(struct server *b, const char *block, size_t len,
			      struct http *elsewhere, const char *boot_id)
{
	struct bootagent *a = mem_new(struct bootagent);
	struct http_peer_spec s = {0};
	struct err e;

	a->server = b;
	a->protocol = PROTO_VERSION + b->other_protocol;
	a->elsewhere = elsewhere;
	str_copy(a->boot_id, sizeof(a->boot_id), boot_id);
	a->arena = arena_new();
	a->results = map_new(free);
	loop_timer_init(&a->timer, b->world->hardware, on_timer, a);
	if (proto_boot_read(block, len, a->arena, &a->boot, &e) < 0) {
		bootagent_free(a);
		return NULL;
	}
	a->key = crypto_key_new();
	crypto_key_public(a->key, a->public_key);
	str_format(a->who, sizeof(a->who), "%s/%s", a->boot.machine, boot_id);
	s.base_url = a->boot.endpoint;
	s.ca_pem = a->boot.ca_pem;
	a->peer = http_peer_new(elsewhere ? elsewhere : b->as_machine, &s, &e);
	after_ms(a, elsewhere ? 1 : AGAIN_MS, hello);
	return a;
}

struct bootagent *bootagent_new(struct server *b, const char *block, size_t len)
{
	return born(b, block, len, NULL, b->boot_id);
}

struct bootagent *bootagent_thief(struct server *b, const char *block, size_t len,
				  const char *address, const char *boot_id)
{
	struct sim_world *w = b->world;
	struct http_transport *t = http_mem_transport(w->net, w->hardware, address, NULL, NULL);

	return born(b, block, len, http_new(w->hardware, t, 0), str_or(boot_id, b->boot_id));
}

void bootagent_free(struct bootagent *a)
{
	if (!a)
		return;
	loop_timer_stop(&a->timer);
	http_peer_free(a->peer);
	http_peer_free(a->image_peer);
	http_free(a->elsewhere);
	crypto_key_free(a->key);
	map_free(a->results);
	arena_free(a->order_arena);
	arena_free(a->arena);
	free(a->out);
	free(a);
}

struct bootagent_seen bootagent_seen(const struct bootagent *a)
{
	return (struct bootagent_seen){a->fence, a->stale, a->orders, a->tokens};
}
