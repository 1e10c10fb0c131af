#include "sim/node/node_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/data/quantity.h"
#include "base/str.h"
#include "sim/machine/iso.h"

#define AGAIN_MS 2000
#define TICK_MS 500
/* Time in ms from registration to Ready, for the start of the network plugin. */
#define READY_MS 1000
/* Time in ms from Ready until the GPUs appear, for the start of the device plugin. */
#define GPUS_MS 3000
#define LEASE_MS 10000
#define STATUS_MS (5 * 60 * 1000)
#define HEAD 4096

static void on_timer(void *arg);

static void later(struct sim_node *n, int64_t ms)
{
	loop_timer_start(&n->timer, ms);
}

/* --- the Node --------------------------------------------------------------------------------- */

/* Returns a text "a=b,c=d" as a JSON object. */
static json_t *pairs(const char *text)
{
	json_t *out = json_object();

	while (*text) {
		size_t len = strcspn(text, ",");
		const char *equals = memchr(text, '=', len);

		if (equals) {
			char *key = mem_strndup(text, (size_t)(equals - text));

			json_object_set_new(
				out, key,
				json_stringn(equals + 1, len - (size_t)(equals - text) - 1));
			free(key);
		}
		text += text[len] ? len + 1 : len;
	}
	return out;
}

/* Returns the node's taints, "key[=value]:Effect,...", as a JSON array. */
static json_t *taints(const struct sim_node *n)
{
	json_t *out = json_array();
	const char *text = n->taints;

	while (*text) {
		size_t len = strcspn(text, ",");
		char *one = mem_strndup(text, len), *colon = strrchr(one, ':'), *equals;

		if (colon) {
			*colon = '\0';
			equals = strchr(one, '=');
			if (equals)
				*equals = '\0';
			json_array_append_new(out, json_pack("{s:s, s:s*, s:s}", "key", one,
							     "value", equals ? equals + 1 : NULL,
							     "effect", colon + 1));
		}
		free(one);
		text += text[len] ? len + 1 : len;
	}
	return out;
}

static json_t *capacity(const struct sim_node *n)
{
	json_t *c = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "cpu", "192", "memory", "2Ti",
			      "ephemeral-storage", "1Ti", "pods", n->max_pods, "hugepages-1Gi", "0",
			      "hugepages-2Mi", "0");

	if (n->gpus)
		json_object_set_new(c, "nvidia.com/gpu", json_string("8"));
	return c;
}

static void keep_back(json_t *c, const char *what)
{
	OWN_JSON reserved = pairs(what);
	json_t *v;
	const char *key;
	struct err e;

	json_object_foreach (reserved, key, v) {
		const char *has = json_str_at(c, key);
		struct quantity all, less;
		char text[QUANTITY_TEXT];

		if (!has || quantity_parse(has, &all, &e) < 0 ||
		    quantity_parse(json_string_value(v), &less, &e) < 0 ||
		    quantity_cmp(all, less) < 0)
			continue;
		json_object_set_new(c, key,
				    json_string(quantity_format(quantity_sub(all, less), text)));
	}
}

/* Returns the capacity minus the resources reserved for the system, the kubelet and the container
 * runtime. */
static json_t *allocatable(const struct sim_node *n)
{
	json_t *c = capacity(n);

	keep_back(c, n->reserved);
	keep_back(c, n->kube_reserved);
	return c;
}

static json_t *condition(const struct sim_node *n, const char *type, bool status,
			 const char *reason, int64_t since)
{
	char now[STR_TIME_SIZE], changed[STR_TIME_SIZE];

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", type, "status",
			 status ? "True" : "False", "reason", reason, "message", reason,
			 "lastHeartbeatTime", node_time(n, now), "lastTransitionTime",
			 str_time(changed, since));
}

static json_t *status_json(struct sim_node *n)
{
	struct sim_machine *m = n->machine;
	char ip[24], machine_id[33] = "";

	str_format(ip, sizeof(ip), "10.100.%u.%u", m->number >> 8 & 255, m->number & 255);
	for (size_t i = 0, k = 0; m->boot_id[i] && k < 32; i++)
		if (m->boot_id[i] != '-')
			machine_id[k++] = m->boot_id[i];
	return json_pack(
		"{s:{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}, s:[{s:s, s:s}, {s:s, s:s}], "
		"s:o, s:o, s:[o, o, o, o], s:{s:{s:i}}}",
		"nodeInfo", "machineID", machine_id, "systemUUID",
		n->wrong_uuid ? "00000000-0000-0000-0000-000000000bad" : m->uuid, "bootID",
		m->boot_id, "kernelVersion", "6.1.0-sim", "osImage", "Drover Simulated Linux",
		"containerRuntimeVersion", "containerd://2.0.0-sim", "kubeletVersion", n->kubelet,
		"operatingSystem", "linux", "architecture", "amd64", "addresses", "type",
		"InternalIP", "address", ip, "type", "Hostname", "address", n->name, "capacity",
		capacity(n), "allocatable", allocatable(n), "conditions",
		condition(n, "MemoryPressure", false, "KubeletHasSufficientMemory", n->booted),
		condition(n, "DiskPressure", false, "KubeletHasNoDiskPressure", n->booted),
		condition(n, "PIDPressure", false, "KubeletHasSufficientPID", n->booted),
		condition(n, "Ready", n->ready, n->ready ? "KubeletReady" : "KubeletNotReady",
			  n->ready ? n->ready_since : n->booted),
		"daemonEndpoints", "kubeletEndpoint", "Port", 10250);
}

/* Call it when the Node exists: drover may then delete the bootstrap token at any moment. */
static void is_registered(struct sim_node *n)
{
	n->registered = true;
	n->ready_at = node_now(n) + READY_MS;
	node_is_registered(n);
	if (!n->pods)
		n->pods = node_pods_new(n);
}

static void on_registered(struct sim_node *n, int status, const json_t *o, void *arg)
{
	(void)o;
	(void)arg;
	n->asking = false;
	if (status == 201 || status == 409)
		is_registered(n);
	else if (status == 401 || status == 403)
		node_is_refused(n);
	later(n, n->registered ? 0 : AGAIN_MS);
}

static void register_node(struct sim_node *n)
{
	json_t *labels = pairs(n->labels);

	json_object_set_new(labels, "kubernetes.io/hostname", json_string(n->name));
	json_object_set_new(labels, "kubernetes.io/arch", json_string("amd64"));
	json_object_set_new(labels, "kubernetes.io/os", json_string("linux"));
	n->asking = true;
	node_ask(n, "POST", "/api/v1/nodes",
		 json_pack("{s:s, s:s, s:{s:s, s:o}, s:{s:s, s:o}, s:o}", "apiVersion", "v1",
			   "kind", "Node", "metadata", "name", n->name, "labels", labels, "spec",
			   "providerID", n->provider_id, "taints", taints(n), "status",
			   status_json(n)),
		 on_registered, NULL);
}

static void on_status(struct sim_node *n, int status, const json_t *o, void *arg)
{
	(void)o;
	(void)arg;
	n->asking = false;
	if (status != 200)
		n->status_at = 0; /* Makes the status due at once, because the write failed. */
	later(n, status == 200 ? TICK_MS : AGAIN_MS);
}

static void write_status(struct sim_node *n)
{
	char path[300];

	n->asking = true;
	n->status_at = node_now(n) + STATUS_MS;
	str_format(path, sizeof(path), "/api/v1/nodes/%s/status", n->name);
	node_ask(n, "PATCH", path, json_pack("{s:o}", "status", status_json(n)), on_status, NULL);
}

/* --- the Lease -------------------------------------------------------------------------------- */

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

static void on_leased(struct sim_node *n, int status, const json_t *o, void *arg)
{
	(void)status;
	(void)o;
	(void)arg;
	n->asking = false;
	later(n, TICK_MS);
}

static void on_beat(struct sim_node *n, int status, const json_t *o, void *arg)
{
	char now[STR_TIME_SIZE];

	if (status != 404) {
		on_leased(n, status, o, arg);
		return;
	}
	str_time_micro(now, loop_wall(loop_of(n->group)));
	node_ask(n, "POST", LEASES,
		 json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:i, s:s}}", "apiVersion",
			   "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name", n->name,
			   "spec", "holderIdentity", n->name, "leaseDurationSeconds", 40,
			   "renewTime", now),
		 on_leased, NULL);
}

static void beat(struct sim_node *n)
{
	char path[400], now[STR_TIME_SIZE];

	n->asking = true;
	n->lease_at = node_now(n) + LEASE_MS;
	str_format(path, sizeof(path), LEASES "/%s", n->name);
	node_ask(n, "PATCH", path,
		 json_pack("{s:{s:s}}", "spec", "renewTime",
			   str_time_micro(now, loop_wall(loop_of(n->group)))),
		 on_beat, NULL);
}

/* --- kubelet ---------------------------------------------------------------------------------- */

static void on_cluster(struct sim_node *n)
{
	n->asking = false;
	later(n, n->peer ? 0 : AGAIN_MS);
}

static void on_identified(struct sim_node *n)
{
	n->asking = false;
	later(n, n->who != NODE_NO_IDENTITY ? 0 : n->requested ? TICK_MS : AGAIN_MS);
}

/* Sets Ready and then the GPUs when the time for each has come. Returns true if the status must be
 * written now. */
static bool progressed(struct sim_node *n)
{
	int64_t now = node_now(n);

	if (!n->ready && now >= n->ready_at) {
		n->ready = true;
		n->ready_since = loop_wall(loop_of(n->group));
		n->gpus_at = now + GPUS_MS;
		return true;
	}
	if (n->ready && !n->gpus && now >= n->gpus_at) {
		n->gpus = true;
		return true;
	}
	return now >= n->status_at;
}

static void on_timer(void *arg)
{
	struct sim_node *n = arg;

	if (n->asking)
		return;
	if (n->gpus && sim_machine_fault(n->machine, "Node", "Reboot", NULL)) {
		sim_machine_reboot(n->machine);
		return;
	}
	if (!node_reaches(n)) {
		sim_machine_say(n->machine,
				"kubelet: %s is not reachable from segment "
				"\"%s\"",
				n->origin, n->machine->segment);
		later(n, AGAIN_MS);
	} else if (!n->peer) {
		n->asking = true;
		node_find_cluster(n, on_cluster);
	} else if (n->who == NODE_NO_IDENTITY) {
		n->asking = true;
		node_identify(n, on_identified);
	} else if (!n->registered) {
		register_node(n);
	} else if (progressed(n)) {
		write_status(n);
		if (n->gpus)
			sim_machine_say(n->machine, "kubelet: node %s runs", n->name);
	} else if (node_now(n) >= n->lease_at) {
		beat(n);
	} else {
		later(n, TICK_MS);
	}
}

/* --- boot ------------------------------------------------------------------------------------- */

/* Returns the value of a line KEY=VALUE, in arena a. "": the line is absent, or the value contains
 * characters that docs/image-contract.md does not permit. */
static const char *setting(struct arena *a, const char *text, const char *key)
{
	size_t n = strlen(key);

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > n && !strncmp(text, key, n) && text[n] == '=') {
			for (size_t i = n + 1; i < len; i++)
				if (!isalnum((unsigned char)text[i]) &&
				    !strchr(":/._,=@-[]", text[i]))
					return "";
			return arena_strndup(a, text + n + 1, len - n - 1);
		}
		text += text[len] ? len + 1 : len;
	}
	return "";
}

static int read_settings(struct sim_node *n, const char *cfg, struct err *e)
{
	const struct {
		const char *key, **slot;
		bool required;
	} all[] = {
		{"JOIN_ENDPOINT", &n->endpoint, true},
		{"TOKEN", &n->token, true},
		{"CA_CERT_HASH", &n->ca_hash, true},
		{"NODE_NAME", &n->name, true},
		{"PROVIDER_ID", &n->provider_id, true},
		{"NODE_LABELS", &n->labels, false},
		{"TAINTS", &n->taints, false},
		{"MAX_PODS", &n->max_pods, false},
		{"SYSTEM_RESERVED", &n->reserved, false},
		{"KUBE_RESERVED", &n->kube_reserved, false},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		*all[i].slot = setting(n->arena, cfg, all[i].key);
		if (all[i].required && str_empty(*all[i].slot))
			return err_set(e, ERR_INVALID, 0,
				       "drover-join.cfg: %s is missing or not "
				       "valid",
				       all[i].key);
	}
	if (!str_empty(setting(n->arena, cfg, "JOIN_METHOD")))
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "drover-join.cfg: JOIN_METHOD: the simulator does not run scripts");
	n->max_pods = str_or(n->max_pods, "110");
	if (!str_is_dns_subdomain(n->name))
		return err_set(e, ERR_INVALID, 0, "drover-join.cfg: NODE_NAME is not a valid name");
	str_format(n->origin, sizeof(n->origin), "https://%s", n->endpoint);
	n->bearer = secret_from_str(n->token);
	return 0;
}

static int read_image(struct sim_node *n, struct drive *root, struct err *e)
{
	char head[HEAD + 1] = "";

	if (drive_read(root, head, HEAD, 0, e) < 0)
		return -1;
	if (!str_starts(head, SIM_NODE_MAGIC))
		return err_set(e, ERR_NOT_FOUND, 0, "no image on the root drive");
	n->kubelet = str_or(setting(n->arena, head, "kubelet"), "v1.33.0");
	return 0;
}

static int read_config(struct sim_node *n, struct drive *root, struct err *e)
{
	uint8_t *volume = mem_alloc(SIM_CIDATA_BYTES);
	const char *cfg = NULL;
	int rc = drive_read(root, volume, SIM_CIDATA_BYTES, sim_cidata_at(drive_bytes(root)), e);

	if (!rc)
		cfg = sim_iso_read(volume, SIM_CIDATA_BYTES, "drover-join.cfg", n->arena);
	if (!rc && !cfg)
		rc = err_set(e, ERR_NOT_FOUND, 0, "no config drive behind the image");
	if (!rc)
		rc = read_settings(n, cfg, e);
	secret_wipe(volume, SIM_CIDATA_BYTES);
	free(volume);
	return rc;
}

struct sim_node *sim_node_new(struct loop_group *g, struct sim_machine *m, struct err *e)
{
	struct sim_node *n = mem_new(struct sim_node);
	struct drive *root = m->drives[0];

	n->group = g;
	n->machine = m;
	n->arena = arena_new();
	list_init(&n->calls);
	loop_timer_init(&n->timer, g, on_timer, n);
	if (drive_bytes(root) < 2 * SIM_CIDATA_BYTES || read_image(n, root, e) < 0 ||
	    read_config(n, root, e) < 0) {
		if (drive_bytes(root) < 2 * SIM_CIDATA_BYTES)
			err_note(e, ERR_NOT_FOUND, 0, "no image on the root drive");
		sim_node_free(n);
		return NULL;
	}
	node_read_credentials(n);
	n->booted = loop_wall(loop_of(g));
	sim_machine_say(m, "booting %s", n->name);
	n->wrong_uuid = sim_machine_fault(m, "Node", "WrongUUID", NULL);
	/* Only a kubelet without credentials of its own presents the token. */
	if (n->who == NODE_NO_IDENTITY && sim_machine_fault(m, "Node", "TokenRefused", NULL)) {
		char *wrong = mem_strdup(n->token), *last = wrong + strlen(wrong) - 1;

		*last = *last == 'a' ? 'b' : 'a';
		secret_free(n->bearer);
		n->bearer = secret_from_str(wrong);
		secret_wipe(wrong, strlen(wrong));
		free(wrong);
	}
	if (!sim_machine_fault(m, "Node", "NoKubelet", NULL))
		later(n, sim_machine_jitter(m, sim_machine_times(m).system_ms));
	return n;
}

void sim_node_free(struct sim_node *n)
{
	if (!n)
		return;
	loop_timer_stop(&n->timer);
	node_pods_free(n->pods);
	node_ask_free(n);
	http_cancel(n->discovery);
	http_peer_free(n->stranger);
	http_peer_free(n->peer);
	secret_free(n->bearer);
	secret_free(n->key);
	free(n->cert);
	free(n->ca);
	arena_free(n->arena);
	free(n);
}

char *sim_node_image(const char *kubelet_version, size_t bytes,
		     char digest[static CRYPTO_DIGEST_TEXT])
{
	size_t len = bytes > HEAD ? bytes : 64 << 10;
	char *image = mem_alloc(len + 1);
	uint8_t d[CRYPTO_SHA256];

	str_format(image, HEAD, SIM_NODE_MAGIC "kubelet=%s\n\n", kubelet_version);
	for (size_t i = strlen(image); i < len; i++)
		image[i] = (char)('A' + i * 7 % 26);
	crypto_sha256(image, len, d);
	crypto_digest_text(d, digest);
	return image;
}
