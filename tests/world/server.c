#include "tests/world/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/bcm/head.h"
#include "tests/unit/testing.h"
#include "tests/world/bootagent.h"
#include "tests/world/scripted.h"
#include "tests/world/world.h"
#include "wipe/proto.h"

#define POWER_DELAY_MS 3000
#define FIRMWARE_MS 8000
#define KERNEL_MS 4000
#define SYSTEM_MS 20000
#define KUBELET_MS 1000
#define KUBELET_AGAIN_MS 5000

static void run_kubelet(struct server *b);

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

bool server_reaches_drover(const struct server *b)
{
	return str_eq(b->segment, "quarantine") || str_eq(b->segment, "provisioning");
}

bool server_hears(const struct server *b, const char *address)
{
	static const struct {
		const char *address, *segment;
	} gates[] = {
		{SERVER_QUARANTINE_GATE, "quarantine"},
		{SERVER_PROVISIONING_GATE, "provisioning"},
		{SERVER_TEAM_A_GATE, "tenant/team-a"},
		{SERVER_TEAM_B_GATE, "tenant/team-b"},
	};

	for (size_t i = 0; i < sizeof(gates) / sizeof(*gates); i++)
		if (str_eq(gates[i].address, address))
			return str_eq(gates[i].segment, b->segment) ||
			       str_eq(gates[i].segment, b->leaks);
	return false;
}

bool server_is_blank(const struct server *b)
{
	OWN(arena) a = arena_new();
	const char *record, *digest;

	for (int i = 0; i < SERVER_DRIVES; i++) {
		const char *data = b->drives[i].data;

		for (int k = proto_stamp_read(data, a, &record, &digest) ? PROTO_STAMP_SIZE : 0;
		     k < SERVER_DRIVE_BYTES; k++)
			if (data[k])
				return false;
	}
	return true;
}

void server_put_old_system(struct server *b)
{
	for (int i = 0; i < SERVER_DRIVES; i++)
		str_copy(b->drives[i].data, SERVER_DRIVE_BYTES, "OLD-SYSTEM of somebody unknown");
}

/* --- the operating system --------------------------------------------------------------------- */

static const char *setting(struct server *b, const char *key)
{
	const char *at = b->drives[0].data + SERVER_CONFIG_AT;
	size_t n = strlen(key);

	while (at && *at) {
		const char *end = strchr(at, '\n');

		if (strncmp(at, key, n) == 0 && at[n] == '=' && end)
			return arena_strndup(b->os, at + n + 1, (size_t)(end - at) - n - 1);
		at = end ? end + 1 : NULL;
	}
	return "";
}

static void kubelet_later(struct server *b, int64_t ms)
{
	loop_timer_start(&b->timer, ms);
}

static json_t *taints_json(const struct server *b)
{
	json_t *list = json_array();
	OWN(arena) a = arena_new();
	const char *at = b->taints;

	while (*at) {
		size_t n = strcspn(at, ",");
		char *one = arena_strndup(a, at, n), *colon = strrchr(one, ':'), *equals;

		if (colon) {
			*colon = '\0';
			equals = strchr(one, '=');
			if (equals)
				*equals = '\0';
			json_array_append_new(list, json_pack("{s:s,s:s*,s:s}", "key", one, "value",
							      equals ? equals + 1 : NULL, "effect",
							      colon + 1));
		}
		at += at[n] ? n + 1 : n;
	}
	if (b->lingering)
		json_array_append_new(
			list, json_pack("{s:s,s:s}", "key", b->lingering, "effect", "NoSchedule"));
	return list;
}

static json_t *node_status(const struct server *b)
{
	json_t *room = json_pack("{s:s,s:s,s:s,s:s}", "cpu", "4", "memory", "8Gi", "pods", "110",
				 "nvidia.com/gpu", "8");

	if (b->by_claims)
		json_object_del(room, "nvidia.com/gpu");
	return json_pack("{s:{s:s,s:s},s:o,s:o,s:[{s:s,s:s}]}", "nodeInfo", "systemUUID",
			 str_or(b->says_uuid, b->uuid), "bootID", b->boot_id, "capacity", room,
			 "allocatable", b->ready ? json_incref(room) : json_object(), "conditions",
			 "type", "Ready", "status", b->ready ? "True" : "False");
}

static void on_node(int status, json_t *o, void *arg)
{
	struct server *b = arg;

	(void)o;
	if (b->asked_in != b->boots || b->doing != SERVER_OS)
		return;
	b->busy = false;
	if (status == 201 || status == 409)
		b->registered = true;
	kubelet_later(b, b->registered ? KUBELET_MS : KUBELET_AGAIN_MS);
}

static void on_told(int status, json_t *o, void *arg)
{
	struct server *b = arg;

	(void)status;
	(void)o;
	if (b->asked_in != b->boots || b->doing != SERVER_OS)
		return;
	b->busy = false;
	kubelet_later(b, KUBELET_MS);
}

static void busy(struct server *b)
{
	b->busy = true;
	b->asked_in = b->boots;
}

/* Returns the label that drover-join sets on the Node after it probed the addresses on its config
 * drive. NULL: the drive has no addresses. */
static const char *probe_label(struct server *b)
{
	const char *key = setting(b, "PROBE_KEY"), *verdict = "proved";
	const char *const keys[] = {"PROBE_OWN", "PROBE_OTHERS"};
	uint8_t digest[CRYPTO_SHA256];
	char hex[2 * CRYPTO_SHA256 + 1];

	if (!*key || b->probes_not)
		return NULL;
	for (int k = 0; k < 2; k++) {
		char *list = arena_strdup(b->os, setting(b, keys[k])), *rest = list, *one;

		while ((one = strtok_r(rest, ",", &rest))) {
			bool hears =
				server_hears(b, one) || str_eq(one, setting(b, "JOIN_ENDPOINT"));
			char *colon = strchr(one, ':');

			if (k == 0 && (!hears || b->unanswered))
				verdict = "silent";
			if (k == 0 || !hears)
				continue;
			if (colon)
				*colon = '_';
			verdict = arena_printf(b->os, "leak.%s", one);
		}
	}
	crypto_sha256(arena_printf(b->os, "%s.%s", key, verdict), strlen(key) + 1 + strlen(verdict),
		      digest);
	str_hex(hex, digest, sizeof(digest));
	return arena_printf(b->os, "%.16s.%s", hex, b->says_proved ? "proved" : verdict);
}

static void put_labels(struct server *b, json_t *labels)
{
	const char *text = setting(b, "NODE_LABELS"), *value = strchr(text, '=');

	if (value)
		json_object_set_new(labels, arena_strndup(b->os, text, (size_t)(value - text)),
				    json_string(value + 1));
}

static void register_node(struct server *b)
{
	json_t *node = json_pack("{s:s,s:s,s:{s:s,s:{s:s,s:s*}},s:{s:s,s:o},s:o}", "apiVersion",
				 "v1", "kind", "Node", "metadata", "name", b->node_name, "labels",
				 "kubernetes.io/hostname", b->node_name, "drover.dev/probe",
				 probe_label(b), "spec", "providerID",
				 str_or(b->says_provider_id, b->provider_id), "taints",
				 taints_json(b), "status", node_status(b));

	put_labels(b, json_at(node, "metadata", "labels"));
	busy(b);
	cluster_ask(b->tenant, "POST", "/api/v1/nodes", node, on_node, b);
}

struct next_pod {
	const struct server *b;
	char path[256];
};

static bool is_mine_to_start(const json_t *pod, void *arg)
{
	struct next_pod *n = arg;

	if (!str_eq(json_str_at(pod, "spec", "nodeName"), n->b->node_name) ||
	    str_eq(json_str_at(pod, "status", "phase"), "Running"))
		return true;
	str_format(n->path, sizeof(n->path), "/api/v1/namespaces/%s/pods/%s/status",
		   json_str_at(pod, "metadata", "namespace"), json_str_at(pod, "metadata", "name"));
	return false;
}

static void start_pods(struct server *b)
{
	struct next_pod n = {.b = b};

	cluster_each(b->tenant, "pods/", is_mine_to_start, &n);
	if (!n.path[0]) {
		kubelet_later(b, KUBELET_MS);
		return;
	}
	for (int i = 0; i < SERVER_DRIVES; i++) /* the workload of a pod writes to the drives */
		str_copy(b->drives[i].data + SERVER_DRIVE_BYTES - 64, 64, SERVER_SECRET);
	busy(b);
	cluster_ask(b->tenant, "PATCH", n.path,
		    json_pack("{s:{s:s}}", "status", "phase", "Running"), on_told, b);
}

/* Handles the reply to a renewal of the kubelet's Lease: creates the Lease if there was none
 * (404). */
static void on_beat(int status, json_t *o, void *arg)
{
	struct server *b = arg;
	char now[STR_TIME_SIZE];

	(void)o;
	if (status == 404 && b->tenant && !b->tenant->away)
		cluster_ask(b->tenant, "POST",
			    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
			    json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s}}", "apiVersion",
				      "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name",
				      b->node_name, "spec", "holderIdentity", b->node_name,
				      "renewTime", str_time(now, loop_wall(b->world->loop))),
			    NULL, NULL);
}

static void beat(struct server *b)
{
	char path[300], now[STR_TIME_SIZE];

	b->beat_at = loop_now(b->world->loop) + SERVER_BEAT_MS;
	str_format(path, sizeof(path),
		   "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/%s",
		   b->node_name);
	cluster_ask(b->tenant, "PATCH", path,
		    json_pack("{s:{s:s}}", "spec", "renewTime",
			      str_time(now, loop_wall(b->world->loop))),
		    on_beat, b);
}

static void on_scripted(struct server *b)
{
	b->busy = false;
	kubelet_later(b, b->script.ran ? KUBELET_MS : KUBELET_AGAIN_MS);
}

static void run_kubelet(struct server *b)
{
	char want[160], path[300];

	str_format(want, sizeof(want), "tenant/%s", b->tenant ? b->tenant->name : "");
	if (b->busy)
		return;
	if (!b->tenant || b->no_kubelet || b->tenant->away || !str_eq(b->segment, want)) {
		kubelet_later(b, KUBELET_AGAIN_MS);
	} else if (!b->registered) {
		busy(b);
		if (!scripted_ready(b, on_scripted))
			return;
		b->busy = false;
		if (cluster_knows_token(b->tenant, b->token))
			register_node(b);
		else
			kubelet_later(b, KUBELET_AGAIN_MS);
	} else if (!b->ready) {
		b->ready = true;
		busy(b);
		str_format(path, sizeof(path), "/api/v1/nodes/%s/status", b->node_name);
		cluster_ask(b->tenant, "PATCH", path, json_pack("{s:o}", "status", node_status(b)),
			    on_told, b);
	} else {
		if (b->beats && loop_now(b->world->loop) >= b->beat_at)
			beat(b);
		start_pods(b);
	}
}

static void boot_system(struct server *b)
{
	b->os = arena_new();
	b->node_name = setting(b, "NODE_NAME");
	b->token = setting(b, "TOKEN");
	b->provider_id = setting(b, "PROVIDER_ID");
	b->taints = setting(b, "TAINTS");
	b->tenant = world_cluster_at(b->world, setting(b, "JOIN_ENDPOINT"));
	b->doing = SERVER_OS;
	loop_timer_start(&b->timer, SYSTEM_MS);
}

/* --- power and firmware ----------------------------------------------------------------------- */

static void boot_disk(struct server *b)
{
	if (str_starts(b->drives[0].data, SERVER_IMAGE))
		boot_system(b);
	else
		b->doing = SERVER_NOTHING;
}

static void on_medium(const struct http_reply *r, const struct err *e, void *arg)
{
	static const char mark[] = "{\"endpoint\"";
	struct server *b = arg;
	const char *block = NULL;

	(void)e;
	b->media = NULL;
	if (r && r->status == 200)
		block = memmem(r->body, r->body_len, mark, sizeof(mark) - 1);
	free(b->block);
	b->block = NULL;
	if (block && (size_t)(block - r->body) + PROTO_BOOT_BLOCK <= r->body_len)
		b->block = mem_strndup(block, PROTO_BOOT_BLOCK);
	if (b->block)
		b->agent = bootagent_new(b, b->block, PROTO_BOOT_BLOCK);
	if (b->agent)
		b->doing = SERVER_AGENT;
	else
		boot_disk(b);
}

static void fetch_medium(struct server *b, const char *url, bool by_bmc)
{
	const char *path = strchr(strstr(url, "://") + 3, '/');
	char *origin = mem_strndup(url, (size_t)(path - url));
	struct http_peer_spec s = {.base_url = origin, .plain_ok = true};
	struct http_call call = {.path = path, .done = on_medium, .arg = b};
	struct err e;

	http_peer_free(b->media_peer);
	b->media_peer = http_peer_new(by_bmc ? b->as_bmc : b->as_machine, &s, &e);
	b->media = http_start(b->media_peer, &call);
	free(origin);
}

static void on_firmware(struct server *b)
{
	bool overridden = !str_eq(b->bmc.boot_enabled, "Disabled");
	const char *from = !overridden				    ? NULL
			   : str_eq(b->bmc.boot_target, "Cd")	    ? b->bmc.image
			   : str_eq(b->bmc.boot_target, "UefiHttp") ? b->bmc.http_uri
								    : NULL;
	bool by_bmc = from && from == b->bmc.image;

	if (str_eq(b->bmc.boot_enabled, "Once")) {
		set_text(&b->bmc.boot_enabled, "Disabled");
		set_text(&b->bmc.boot_target, "None");
	}
	if (from && !b->boots_disk)
		fetch_medium(b, from, by_bmc);
	else if (b->node && sim_head_boots(b->node))
		/* runs the node installer, and later the system that it installed */
		b->doing = SERVER_NOTHING;
	else
		boot_disk(b);
	if (from && b->bmc.http_forgotten)
		set_text(&b->bmc.http_uri, "");
}

static void on_timer(void *arg)
{
	struct server *b = arg;

	if (b->doing == SERVER_FIRMWARE)
		on_firmware(b);
	else if (b->doing == SERVER_OS)
		run_kubelet(b);
}

static void stop_all(struct server *b)
{
	loop_timer_stop(&b->timer);
	http_cancel(b->media);
	b->media = NULL;
	bootagent_free(b->agent);
	b->agent = NULL;
	scripted_stop(b);
	if (b->doing == SERVER_OS)
		b->switched_off++;
	b->doing = SERVER_OFF;
	arena_free(b->os);
	b->os = NULL;
	b->tenant = NULL;
	b->registered = b->ready = b->busy = false;
}

static void on_switched(void *arg)
{
	struct server *b = arg;
	uint8_t raw[8];
	char hex[17];

	stop_all(b);
	if (b->node)
		sim_head_powered(b->node, b->bmc.on);
	if (!b->bmc.on)
		return;
	b->boots++;
	loop_random_bytes(b->world->loop, raw, sizeof(raw));
	str_hex(hex, raw, sizeof(raw));
	str_format(b->boot_id, sizeof(b->boot_id), "boot-%s-%u", hex, b->boots);
	b->doing = SERVER_FIRMWARE;
	loop_timer_start(&b->timer, b->firmware_ms ? b->firmware_ms : FIRMWARE_MS + KERNEL_MS);
}

void server_power(struct server *b, bool on)
{
	if (b->bmc.on == on)
		return;
	b->bmc.on = on;
	if (!on && b->forgets && b->drives[0].kept[0]) {
		for (int i = 0; i < SERVER_DRIVES; i++)
			memcpy(b->drives[i].data + PROTO_STAMP_SIZE,
			       b->drives[i].kept + PROTO_STAMP_SIZE,
			       SERVER_DRIVE_BYTES - PROTO_STAMP_SIZE);
		memset(b->drives[0].kept, 0, SERVER_DRIVE_BYTES);
		b->forgets--;
		b->forgot = true;
	}
	on_switched(b);
}

void server_init(struct server *b, struct sim_world *w, unsigned number)
{
	char address[32];

	*b = (struct server){.world = w};
	str_format(b->name, sizeof(b->name), "gpu-%u", number);
	str_format(b->uuid, sizeof(b->uuid), "4c4c4544-0035-3410-8050-c6c04f3147%02u", number);
	str_format(b->serial, sizeof(b->serial), "CN77921%02u", number);
	str_format(b->mac, sizeof(b->mac), "b8:ce:f6:01:02:%02u", number);
	str_format(b->origin, sizeof(b->origin), "https://10.0.8.%u", number);
	str_format(address, sizeof(address), "10.0.8.%u:40001", number);
	b->as_bmc = http_new(w->hardware,
			     http_mem_transport(w->net, w->hardware, address, NULL, NULL), 0);
	str_format(address, sizeof(address), "10.1.0.%u:40001", number);
	b->as_machine = http_new(w->hardware,
				 http_mem_transport(w->net, w->hardware, address, NULL, NULL), 0);
	for (int i = 0; i < SERVER_DRIVES; i++)
		str_format(b->drives[i].wwn, sizeof(b->drives[i].wwn), "eui.%08u%02d", number, i);
	str_copy(b->segment, sizeof(b->segment), "quarantine");
	fake_bmc_init(&b->bmc, w->hardware);
	set_text(&b->bmc.uuid, b->uuid);
	set_text(&b->bmc.serial, b->serial);
	b->bmc.writes_only = true;
	b->bmc.power_delay_ms = POWER_DELAY_MS;
	b->bmc.switched = on_switched;
	b->bmc.switched_arg = b;
	loop_timer_init(&b->timer, w->hardware, on_timer, b);
	http_mem_serve(w->net, b->origin, b->bmc.httpd);
}

void server_done(struct server *b)
{
	stop_all(b);
	http_peer_free(b->media_peer);
	json_decref(b->object);
	free(b->block);
	fake_bmc_done(&b->bmc);
	http_free(b->as_bmc);
	http_free(b->as_machine);
}
