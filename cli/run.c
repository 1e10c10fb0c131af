/*
 * run: `drover run`. Runs one replica of the controller as a process, with the real event loop,
 * libcurl and these listeners:
 *
 *   agent    TLS, with a certificate of drover's own CA for the names of --agent-name.
 *            Serves the agents, and boot media for BMCs and firmware that
 *            support HTTPS (Provider spec.boot.mediaURL).
 *   media    plain HTTP; boot media for all other BMCs
 *   ops      plain HTTP, meant for this host only: /healthz /readyz /leadz /metrics
 *   metrics  TLS, optional, for other hosts: /metrics with a token, /leadz
 *   view     TLS, optional, for other hosts: the fleet and the queue (controller/view/view.h)
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/args.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_cert.h"
#include "base/httpd/httpd_mhd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop/loop.h"
#include "base/loop/loop_uv.h"
#include "base/address.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/leader_options.h"
#include "cli/run_config.h"
#include "cli/run_service.h"
#include "cli/trace_options.h"
#include "controller/agent/endpoint.h"
#include "controller/controller.h"
#include "controller/core/audit_lines.h"
#include "controller/core/keys.h"
#include "controller/rules/machine.h"
#include "providers/allowed.h"

#define NAMES_MAX 8
#define PROGRAMS_MAX 16
#define NETWORKS_MAX 32
#define GANG_HOLD_MAX_MS ((int64_t)168 * 3600 * 1000)
#define IMAGE_CA "/etc/ssl/certs/ca-certificates.crt"
#define IMAGE_CA_MAX (512 << 10)
#define CERT_DAYS 365
#define AGENT_CONNECTIONS 8192
#define OPS_CONNECTIONS 256
#define METRICS_PER_ADDRESS 16
/* Maximum number of connections of the view: 500 for its streams (controller/view/events.h), the
 * others for other requests. Many of them may come from one address, because all readers behind the
 * API server's service proxy have the same address. */
#define VIEW_CONNECTIONS 768
#define VIEW_PER_ADDRESS 512
/* longest time in ms for the head of a request, including the TLS handshake */
#define AGENT_HEAD_MS 20000
/* longest time in ms for the body of a request; enough for a megabyte over the slowest management
 * network */
#define AGENT_BODY_MS 30000
#define HTTP_IN_FLIGHT 4096
#define HTTP_CONNECTIONS 16384

struct run {
	const char *kubeconfig, *ns, *identity, *agent_listen, *media_listen, *ops_listen,
		*metrics_listen, *view_listen, *image, *image_ca, *evidence_dir, *audit_log;
	struct trace_options traces;
	struct leader_options leader;
	/* what --leader-service and the options beside it say; service NULL: not given */
	struct leader_service_spec leader_service;
	const char *names[NAMES_MAX + 1];
	size_t nnames;
	/* --allow-exec: programs that Providers may run */
	const char *programs[PROGRAMS_MAX + 1];
	size_t nprograms;
	/* --management-network: networks to which no tenant's kubeconfig may point */
	const char *networks[NETWORKS_MAX + 1];
	size_t nnetworks;
	/* --allow-libvirt: URIs of libvirt hosts that drover may open */
	const char *hosts[PROGRAMS_MAX + 1];
	size_t nhosts;
	/* --gang-level: machine labels by which drover places a gang together */
	const char *levels[CONTEXT_LEVELS + 1];
	size_t nlevels;
	/* path of drover-libvirt; "": not installed */
	char helper[PATH_MAX];
	bool json, debug;
	int64_t per_address;
	const char *image_key;
	/* first line of the file that --agent-image-key names */
	char *image_key_line;
	/* path given with --config; NULL: not set */
	const char *config;
	/* owns the texts of the options that were read from `config` */
	json_t *config_texts;
	struct argp_state *parsing;
	int64_t poll_ms, settle_ms, batch_idle_ms, batch_most_ms, gang_hold_ms, half_life_ms,
		aging_points, aging_most;
	bool pods_rank_everywhere;

	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	struct controller *controller;
	struct httpd *agent, *media, *ops, *metrics, *view;
	struct httpd_cert *agent_l, *metrics_l, *view_l;
	struct httpd_mhd *media_l, *ops_l;
	struct loop_signal *term, *intr;
	/* reports to systemd; NULL: none are possible */
	struct service *service;
	int status;
};

enum {
	OPT_AGENT = 256,
	OPT_MEDIA,
	OPT_OPS,
	OPT_METRICS,
	OPT_VIEW,
	OPT_PER_ADDRESS,
	OPT_NAME,
	OPT_JSON,
	OPT_DEBUG,
	OPT_POLL,
	OPT_SETTLE,
	OPT_BATCH_IDLE,
	OPT_BATCH_MOST,
	OPT_HALF_LIFE,
	OPT_PRIORITY,
	OPT_AGING_POINTS,
	OPT_AGING_MOST,
	OPT_LEVEL,
	OPT_GANG_HOLD,
	OPT_IMAGE_CA,
	OPT_EVIDENCE,
	OPT_AUDIT,
	OPT_EXEC,
	OPT_NETWORK,
	OPT_LIBVIRT,
	OPT_IMAGE_KEY,
	OPT_CONFIG,
	OPT_TRACES,
	OPT_TRACES_CA,
	OPT_TRACES_TOKEN,
	OPT_LEADER_SERVICE,
	OPT_POD_IP,
	OPT_NODE_NAME,
};

static const struct argp_option options[] = {
	{"config", OPT_CONFIG, "FILE", 0,
	 "Read options from a YAML file: agent-name: 10.1.0.5 means --agent-name=10.1.0.5. "
	 "Options after --config on the command line override the file. With --config, "
	 "agent-name must be set, in the file or on the command line",
	 0},
	{"kubeconfig", 'k', "FILE", 0,
	 "Kubeconfig of the host cluster (default: the ServiceAccount of drover's pod)", 0},
	{"namespace", 'n', "NAME", 0, "drover's own namespace (default: drover-system)", 0},
	{"identity", 'i', "NAME", 0, "Name of this replica (default: the host name)", 0},
	{"agent-image", 'a', "ISO", 0, "Boot image of drover-agent (default: none)", 0},
	{"agent-image-key", OPT_IMAGE_KEY, "ed25519:BASE64", 0,
	 "Public key that verifies the boot image's signature; `make image` writes it to "
	 "drover-agent.pub. Required with --agent-image. An absolute path names a file with the "
	 "key: protect that file from changes as well as the drover program itself",
	 0},
	{"image-ca", OPT_IMAGE_CA, "FILE", 0,
	 "CA certificates that machines trust when they fetch an image by https (default: "
	 "/etc/ssl/certs/ca-certificates.crt)",
	 0},
	{"evidence-dir", OPT_EVIDENCE, "DIR", 0,
	 "Also write each wipe record and the public keys to this directory; see docs/evidence.md "
	 "(default: off)",
	 0},
	{"audit-log", OPT_AUDIT, "FILE", 0,
	 "Also append the audit log to this file, one JSON object per line, or to standard output "
	 "(-); see docs/audit.md (default: off)",
	 0},
	{"allow-exec", OPT_EXEC, "PROGRAM", 0,
	 "Program that Providers may run by spec.network.exec.command: its absolute path, or the "
	 "path and the first arguments, such as '/usr/bin/drover sim port-move'; may be repeated "
	 "(default: none)",
	 0},
	{"management-network", OPT_NETWORK, "NETWORK", 0,
	 "Network such as 10.0.8.0/24 to which no tenant's kubeconfig may point, in addition to "
	 "the addresses of BMCs and of drover, which are always forbidden; may be repeated "
	 "(default: none)",
	 0},
	{"allow-libvirt", OPT_LIBVIRT, "URI", 0,
	 "URI that Providers of type libvirt may use in spec.libvirt.uri, such as qemu:///system, "
	 "compared letter for letter; may be repeated (default: none)",
	 0},
	{"agent-listen", OPT_AGENT, "ADDR:PORT", 0,
	 "Address and port at which drover serves agents over TLS (default: 0.0.0.0:8443)", 0},
	{"agent-name", OPT_NAME, "HOST", 0,
	 "Host name or IP address in the certificate of --agent-listen; may be repeated (default: "
	 "the host name)",
	 0},
	{"media-listen", OPT_MEDIA, "ADDR:PORT", 0,
	 "Address and port at which drover serves boot media over HTTP (default: 0.0.0.0:8080)", 0},
	{"leader-service", OPT_LEADER_SERVICE, "NAME", 0,
	 "Service without selector, in drover's namespace, that leads machines to the leader: the "
	 "leader writes its pod into EndpointSlice NAME-leader. Needs --pod-ip and --node-name "
	 "(default: off)",
	 0},
	{"pod-ip", OPT_POD_IP, "ADDRESS", 0,
	 "Address of this pod (status.podIP), for --leader-service", 0},
	{"node-name", OPT_NODE_NAME, "NAME", 0,
	 "Name of this pod's node (spec.nodeName), for --leader-service", 0},
	{"ops-listen", OPT_OPS, "ADDR:PORT", 0,
	 "HTTP endpoint of /healthz, /readyz, /leadz and /metrics, without authentication: keep it "
	 "on loopback (default: 127.0.0.1:9090)",
	 0},
	{"metrics-listen", OPT_METRICS, "ADDR:PORT", 0,
	 "HTTPS endpoint of /metrics, for clients with the bearer token of Secret "
	 "drover-metrics-token, and of /leadz, which answers 200 on the leader only (default: off)",
	 0},
	{"view-listen", OPT_VIEW, "ADDR:PORT", 0,
	 "HTTPS endpoint of the fleet and the queue as JSON, for clients whose bearer token the "
	 "host cluster accepts; see docs/view.md (default: off)",
	 0},
	{"traces-endpoint", OPT_TRACES, "URL", 0,
	 "Send traces of NodeClaims and Drains to this OpenTelemetry collector by OTLP over HTTP, "
	 "such as https://collector:4318/v1/traces; see docs/traces.md (default: off)",
	 0},
	{"traces-ca", OPT_TRACES_CA, "FILE", 0,
	 "CA certificates for --traces-endpoint (default: the system's)", 0},
	{"traces-token-file", OPT_TRACES_TOKEN, "FILE", 0,
	 "File with the bearer token for --traces-endpoint, which must then be https (default: "
	 "none)",
	 0},
	{"per-address", OPT_PER_ADDRESS, "N", 0,
	 "Most connections at a time from one IPv4 address or IPv6 /64 network, to the agent "
	 "endpoint and to the media endpoint each; allow four for each machine behind one NAT "
	 "address (default: 64)",
	 0},
	{"poll-ms", OPT_POLL, "MS", 0,
	 "Interval between two reads of a machine in transition (default: 1000)", 0},
	{"settle-ms", OPT_SETTLE, "MS", 0,
	 "Interval between the two reads that prove that a machine is off (default: 5000)", 0},
	{"batch-idle-ms", OPT_BATCH_IDLE, "MS", 0,
	 "Time without a further new pod after which drover plans the new pods (default: 1000)", 0},
	{"batch-max-ms", OPT_BATCH_MOST, "MS", 0,
	 "Longest time from the arrival of the first new pod until drover plans the new pods "
	 "(default: 10000)",
	 0},
	{"usage-half-life", OPT_HALF_LIFE, "DURATION", 0,
	 "Age at which a tenant's past GPU use counts half in the order of the queue (default: "
	 "168h)",
	 0},
	{"pod-priority", OPT_PRIORITY, "tenant|fleet", 0,
	 "tenant: a pod's priority counts within its tenant, and among tenants only up to the "
	 "tenant's spec.priority. fleet: it counts among all pods, so any user who sets a high "
	 "priority goes before everybody else (default: tenant)",
	 0},
	{"aging-points", OPT_AGING_POINTS, "N", 0,
	 "Priority points that a pod may move up for each hour of waiting, at most to the priority "
	 "of another waiting pod; 0: none (default: 10)",
	 0},
	{"aging-max", OPT_AGING_MOST, "N", 0,
	 "Most priority points that a waiting pod may move up in all (default: 1000)", 0},
	{"gang-level", OPT_LEVEL, "KEY", 0,
	 "Machine label by which drover places a gang of pods close together; may be repeated, the "
	 "narrowest first (default: nvidia.com/gpu.clique, topology.drover.dev/rack, "
	 "topology.drover.dev/leaf, topology.drover.dev/spine)",
	 0},
	{"gang-hold", OPT_GANG_HOLD, "DURATION", 0,
	 "How long drover first reserves free machines for a tenant's incomplete gangs of pods; "
	 "later reservations last up to 4 times as long; 0s: no reservation (default: 30m)",
	 0},
	{"log-json", OPT_JSON, NULL, 0, "Log as JSON lines", 0},
	{"debug", OPT_DEBUG, NULL, 0, "Log debug messages", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *st);

static void set_option(int key, char *arg, void *to)
{
	struct run *r = to;

	(void)parse(key, arg, r->parsing);
}

static void read_config(struct run *r, char *path, struct argp_state *st)
{
	struct err e;

	if (r->config) {
		argp_error(st, "--config: one file only");
		return;
	}
	r->config = path;
	r->parsing = st;
	r->config_texts = run_config_read(path, options, set_option, r, &e);
	if (!r->config_texts)
		argp_error(st, "--config %s", e.text);
}

/* Checks that required options are set, and reads the key file of --agent-image-key. Ends the
 * program with a message otherwise. */
static void check_options(struct run *r, struct argp_state *st)
{
	struct err e;

	if (r->image && !r->image_key)
		argp_error(st, "--agent-image requires --agent-image-key, the public key of its "
			       "signer");
	if (r->config && !r->nnames)
		argp_error(st,
			   "%s: agent-name is missing: set the host name or IP address at which "
			   "machines reach drover",
			   r->config);
	if (leader_options_read(&r->leader, r->agent_listen, r->media_listen, &r->leader_service,
				&e) < 0)
		argp_error(st, "%s", e.text);
	if (!r->image_key || r->image_key[0] != '/')
		return;
	r->image_key_line = run_config_line(r->image_key, &e);
	if (!r->image_key_line)
		argp_error(st, "--agent-image-key %s", e.text);
	r->image_key = r->image_key_line;
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct run *r = st->input;

	switch (key) {
	case OPT_CONFIG:
		read_config(r, arg, st);
		return 0;
	case 'k':
		r->kubeconfig = arg;
		return 0;
	case 'n':
		r->ns = arg;
		return 0;
	case 'i':
		r->identity = arg;
		return 0;
	case 'a':
		r->image = arg;
		return 0;
	case OPT_IMAGE_KEY:
		r->image_key = arg;
		return 0;
	case ARGP_KEY_END:
		check_options(r, st);
		return 0;
	case OPT_IMAGE_CA:
		r->image_ca = arg;
		return 0;
	case OPT_EVIDENCE:
		r->evidence_dir = arg;
		return 0;
	case OPT_AUDIT:
		r->audit_log = arg;
		return 0;
	case OPT_AGENT:
		r->agent_listen = arg;
		return 0;
	case OPT_MEDIA:
		r->media_listen = arg;
		return 0;
	case OPT_OPS:
		r->ops_listen = arg;
		return 0;
	case OPT_NAME:
		if (r->nnames == NAMES_MAX)
			argp_error(st, "--agent-name: at most %d names", NAMES_MAX);
		r->names[r->nnames++] = arg;
		return 0;
	case OPT_EXEC:
		if (allowed_refuses(arg))
			argp_error(st, "--allow-exec %s: %s", arg, allowed_refuses(arg));
		if (r->nprograms == PROGRAMS_MAX)
			argp_error(st, "--allow-exec: at most %d programs", PROGRAMS_MAX);
		r->programs[r->nprograms++] = arg;
		return 0;
	case OPT_NETWORK:
		if (!address_is_network(arg))
			argp_error(
				st,
				"--management-network: want a network such as 10.0.8.0/24, got %s",
				arg);
		if (r->nnetworks == NETWORKS_MAX)
			argp_error(st, "--management-network: at most %d networks", NETWORKS_MAX);
		r->networks[r->nnetworks++] = arg;
		return 0;
	case OPT_LIBVIRT:
		if (r->nhosts == PROGRAMS_MAX)
			argp_error(st, "--allow-libvirt: at most %d URIs", PROGRAMS_MAX);
		r->hosts[r->nhosts++] = arg;
		return 0;
	case OPT_VIEW:
		r->view_listen = arg;
		return 0;
	case OPT_METRICS:
		r->metrics_listen = arg;
		return 0;
	case OPT_TRACES:
		r->traces.endpoint = arg;
		return 0;
	case OPT_TRACES_CA:
		r->traces.ca_file = arg;
		return 0;
	case OPT_TRACES_TOKEN:
		r->traces.token_file = arg;
		return 0;
	case OPT_LEADER_SERVICE:
		r->leader.service = arg;
		return 0;
	case OPT_POD_IP:
		r->leader.pod_ip = arg;
		return 0;
	case OPT_NODE_NAME:
		r->leader.node_name = arg;
		return 0;
	case OPT_PER_ADDRESS:
		if (!str_to_i64(arg, 4, AGENT_CONNECTIONS, &r->per_address))
			argp_error(st, "--per-address: want 4 to %d connections, got %s",
				   AGENT_CONNECTIONS, arg);
		return 0;
	case OPT_POLL:
		if (!str_to_i64(arg, 50, 60000, &r->poll_ms))
			argp_error(st, "--poll-ms: want 50 to 60000, got %s", arg);
		return 0;
	case OPT_SETTLE:
		if (!str_to_i64(arg, 1000, 60000, &r->settle_ms))
			argp_error(st, "--settle-ms: want 1000 to 60000, got %s", arg);
		return 0;
	case OPT_BATCH_IDLE:
		if (!str_to_i64(arg, 1, 60000, &r->batch_idle_ms))
			argp_error(st, "--batch-idle-ms: want 1 to 60000, got %s", arg);
		return 0;
	case OPT_BATCH_MOST:
		if (!str_to_i64(arg, 1, 600000, &r->batch_most_ms))
			argp_error(st, "--batch-max-ms: want 1 to 600000, got %s", arg);
		return 0;
	case OPT_GANG_HOLD:
		if (!str_to_duration(arg, &r->gang_hold_ms) || r->gang_hold_ms < 0 ||
		    r->gang_hold_ms > GANG_HOLD_MAX_MS)
			argp_error(st, "--gang-hold: want 0s to 168h, got %s", arg);
		if (!r->gang_hold_ms)
			r->gang_hold_ms = -1;
		return 0;
	case OPT_HALF_LIFE:
		if (!str_to_duration(arg, &r->half_life_ms) || r->half_life_ms < 60000 ||
		    r->half_life_ms > (int64_t)366 * 24 * 3600 * 1000)
			argp_error(st, "--usage-half-life: want 1m to 8784h, got %s", arg);
		return 0;
	case OPT_PRIORITY:
		if (!str_eq(arg, "tenant") && !str_eq(arg, "fleet"))
			argp_error(st, "--pod-priority: want tenant or fleet, got %s", arg);
		r->pods_rank_everywhere = str_eq(arg, "fleet");
		return 0;
	case OPT_AGING_POINTS:
		if (!str_to_i64(arg, 0, 1000000000, &r->aging_points))
			argp_error(st, "--aging-points: want 0 to 1000000000, got %s", arg);
		return 0;
	case OPT_AGING_MOST:
		if (!str_to_i64(arg, 0, 2000000000, &r->aging_most))
			argp_error(st, "--aging-max: want 0 to 2000000000, got %s", arg);
		return 0;
	case OPT_LEVEL:
		if (r->nlevels == CONTEXT_LEVELS || !machine_is_topology(arg))
			argp_error(st,
				   "--gang-level: want up to %d of topology.drover.dev/..., "
				   "topology.kubernetes.io/... and nvidia.com/gpu.clique, got %s",
				   CONTEXT_LEVELS, arg);
		else
			r->levels[r->nlevels++] = arg;
		return 0;
	case OPT_JSON:
		r->json = true;
		return 0;
	case OPT_DEBUG:
		r->debug = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Run the controller: watch tenants' pods, provision and reclaim machines.\v"
	       "Example: drover run --kubeconfig host.conf --agent-image drover-agent.iso "
	       "--agent-name 10.1.0.5\n"
	       "SIGTERM stops the controller: the controller releases its Lease and leaves "
	       "machines as they are.",
};

static void give_up(struct run *r, const struct err *e, const char *what)
{
	log_error(what, LOG_E(e));
	r->status = 1;
	loop_stop(r->loop);
}

/* Opens a TLS listener on d. Its certificate has these names and is issued by the CA that agents
 * trust. Returns NULL with *e on an error. */
static struct httpd_cert *serve_tls(struct run *r, struct httpd *d,
				    const struct httpd_mhd_spec *listener, const char *const *names,
				    struct err *e)
{
	struct httpd_cert_spec s = {.listener = *listener,
				    .names = names,
				    .ca = keys_agent_ca,
				    .arg = controller_context(r->controller)->keys,
				    .days = CERT_DAYS};

	return httpd_cert_new(d, &s, e);
}

/* Returns the host of ADDRESS:PORT, without the brackets of an IPv6 address. */
static const char *host_of(const char *listen, struct arena *a)
{
	char *host = arena_strdup(a, listen + (*listen == '[')), *colon = strrchr(host, ':');

	if (colon)
		colon[colon > host && colon[-1] == ']' ? -1 : 0] = '\0';
	return host;
}

/* Opens the listener of the view, with a certificate that also has the names of the Service
 * drover-view (deploy/controller.yaml) and the address that readers find in the ConfigMap
 * drover-view. False: failed, and the program ends. */
static bool serve_view(struct run *r, const struct httpd_mhd_spec *listener)
{
	OWN(arena) a = arena_new();
	const char *names[NAMES_MAX + 4] = {NULL};
	struct err e;
	size_t n = 0;

	for (; r->names[n]; n++)
		names[n] = r->names[n];
	names[n++] = arena_printf(a, "drover-view.%s", r->ns);
	names[n++] = arena_printf(a, "drover-view.%s.svc", r->ns);
	names[n++] = host_of(r->view_listen, a);
	r->view_l = serve_tls(r, r->view, listener, names, &e);
	if (!r->view_l) {
		give_up(r, &e, "--view-listen");
		return false;
	}
	controller_view_publish(r->controller, r->view_listen);
	return true;
}

static void on_ready(void *arg)
{
	struct run *r = arg;
	struct httpd_mhd_spec agent = {.address = r->agent_listen,
				       .max_connections = AGENT_CONNECTIONS,
				       .per_address = (unsigned)r->per_address,
				       .head_ms = AGENT_HEAD_MS,
				       .body_ms = AGENT_BODY_MS},
			      metrics = {.address = r->metrics_listen,
					 .max_connections = OPS_CONNECTIONS,
					 .per_address = METRICS_PER_ADDRESS,
					 .head_ms = AGENT_HEAD_MS,
					 .body_ms = AGENT_BODY_MS};
	struct httpd_mhd_spec view = metrics;
	struct err e;

	view.address = r->view_listen;
	view.max_connections = VIEW_CONNECTIONS;
	view.per_address = VIEW_PER_ADDRESS;
	r->agent_l = serve_tls(r, r->agent, &agent, r->names, &e);
	if (!r->agent_l) {
		give_up(r, &e, "agent endpoint");
		return;
	}
	if (r->leader_service.service)
		controller_leader_service(r->controller, &r->leader_service);
	if (r->metrics_listen) {
		(void)keys_metrics_token(controller_context(r->controller)->keys);
		r->metrics_l = serve_tls(r, r->metrics, &metrics, r->names, &e);
		if (!r->metrics_l) {
			give_up(r, &e, "--metrics-listen");
			return;
		}
	}
	if (r->view_listen && !serve_view(r, &view))
		return;
	log_info("ready", LOG_S("agent", r->agent_listen), LOG_S("media", r->media_listen),
		 LOG_S("ops", r->ops_listen));
	service_ready(r->service);
}

static void on_released(void *arg)
{
	struct run *r = arg;

	loop_stop(r->loop);
}

static void on_signal(int signum, void *arg)
{
	struct run *r = arg;

	log_info("stopping", LOG_I("signal", signum));
	service_stopping(r->service);
	controller_stop(r->controller, on_released, r);
}

/* Reads the CA certificates of --image-ca, or the system's CA bundle, into *into. The bundle may be
 * missing; the file of --image-ca may not. -1: *e. */
static int read_image_ca(const struct run *r, struct buf *into, struct err *e)
{
	if (file_read(r->image_ca ? r->image_ca : IMAGE_CA, into, e) == 0)
		return 0;
	return r->image_ca || e->kind != ERR_NOT_FOUND ? err_wrap(e, "--image-ca") : 0;
}

static int start(struct run *r, const char *image_ca, struct err *e)
{
	OWN(kube_config)
	host = r->kubeconfig ? kube_config_load(r->kubeconfig, NULL, e) : kube_config_in_cluster(e);
	struct controller_options o = {
		.context.ns = r->ns,
		.context.identity = r->identity,
		.agent_image = r->image,
		.agent_image_key = r->image_key,
		.context.image_ca_pem = image_ca[0] ? image_ca : NULL,
		.context.evidence_dir = r->evidence_dir,
		.context.audit_log = r->audit_log,
		.context.exec_allowed = r->programs,
		.context.management_networks = r->networks,
		.context.libvirt_allowed = r->hosts,
		.context.libvirt_helper = r->helper[0] ? r->helper : NULL,
		.context.gang_levels = r->nlevels ? r->levels : NULL,
		.context.poll_ms = r->poll_ms,
		.context.settle_ms = r->settle_ms,
		.context.batch_idle_ms = r->batch_idle_ms,
		.context.batch_most_ms = r->batch_most_ms,
		.context.gang_hold_ms = r->gang_hold_ms,
		.context.pods_rank_everywhere = r->pods_rank_everywhere,
		.context.aging_points = r->aging_points,
		.context.aging_most = r->aging_most,
		.context.usage_half_life_ms = r->half_life_ms,
		.on_ready = on_ready,
		.on_ready_arg = r,
	};
	struct httpd_mhd_spec media = {.address = r->media_listen,
				       .max_connections = AGENT_CONNECTIONS,
				       .per_address = (unsigned)r->per_address,
				       .head_ms = AGENT_HEAD_MS,
				       .body_ms = AGENT_BODY_MS},
			      ops = {.address = r->ops_listen, .max_connections = OPS_CONNECTIONS};

	if (!host)
		return r->kubeconfig ? -1 : err_wrap(e, "no --kubeconfig");
	if (r->evidence_dir && access(r->evidence_dir, R_OK | W_OK | X_OK) < 0)
		return err_errno(e, errno, "--evidence-dir %s", r->evidence_dir);
	if (r->audit_log && audit_lines_append(r->audit_log, "", e) < 0)
		return err_wrap(e, "--audit-log");
	r->http = http_new(r->group, http_curl_new(r->group, HTTP_CONNECTIONS), HTTP_IN_FLIGHT);
	r->controller = controller_new(r->group, r->http, host, &o, e);
	if (!r->controller || trace_options_apply(&r->traces, r->controller, e) < 0)
		return -1;
	r->agent = httpd_new(r->group);
	r->media = httpd_new(r->group);
	r->ops = httpd_new(r->group);
	r->metrics = httpd_new(r->group);
	r->view = httpd_new(r->group);
	agent_endpoint_api_routes(controller_agent_endpoint(r->controller), r->agent);
	agent_endpoint_media_routes(controller_agent_endpoint(r->controller), r->agent, true);
	agent_endpoint_media_routes(controller_agent_endpoint(r->controller), r->media, false);
	controller_ops_routes(r->controller, r->ops);
	controller_remote_routes(r->controller, r->metrics);
	controller_view_routes(r->controller, r->view);
	r->media_l = httpd_mhd_new(r->media, &media, e);
	if (!r->media_l)
		return err_wrap(e, "--media-listen %s", r->media_listen);
	r->ops_l = httpd_mhd_new(r->ops, &ops, e);
	if (!r->ops_l)
		return err_wrap(e, "--ops-listen %s", r->ops_listen);
	r->term = loop_signal(r->group, SIGTERM, on_signal, r);
	r->intr = loop_signal(r->group, SIGINT, on_signal, r);
	r->service = run_service_new(r->group, r->controller);
	return 0;
}

/* Writes the path of drover-libvirt to `out`: beside this program, or where `make install` puts it.
 * "": not installed. */
static void find_helper(char out[static PATH_MAX])
{
	static const char *const places[] = {"drover-libvirt", "../lib/drover/drover-libvirt"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	out[0] = '\0';
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (str_format(out, PATH_MAX, "%s/%s", self, places[i]) && access(out, X_OK) == 0)
			return;
	out[0] = '\0';
}

int cli_run(int argc, char **argv)
{
	struct run r = {
		.ns = "drover-system",
		.agent_listen = "0.0.0.0:8443",
		.media_listen = "0.0.0.0:8080",
		.ops_listen = "127.0.0.1:9090",
		.per_address = 64,
		.aging_points = 10,
		.aging_most = 1000,
	};
	struct rlimit files;
	char host[256] = "drover";
	struct buf image_ca;
	struct err e;

	(void)gethostname(host, sizeof(host) - 1);
	r.identity = host;
	find_helper(r.helper);
	args_parse(&argp, argc, argv, &r);
	if (!r.nnames)
		r.names[r.nnames++] = host;
	log_config(r.debug ? LOG_DEBUG : LOG_INFO, r.json ? LOG_JSON : LOG_TEXT);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		/* raise the limit of open files, because each connection needs one */
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	prctl(PR_SET_DUMPABLE,
	      /* no core dump of this process or its children, because a dump would contain
	       * credentials */
	      0);
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	r.loop = loop_uv_new();
	r.group = loop_group_new(r.loop, "drover");
	buf_init(&image_ca, IMAGE_CA_MAX);
	if (read_image_ca(&r, &image_ca, &e) < 0 || start(&r, image_ca.data, &e) < 0) {
		log_error("cannot start", LOG_E(&e));
		r.status = 1;
	} else {
		loop_run(r.loop);
	}
	loop_signal_free(r.term);
	loop_signal_free(r.intr);
	service_free(r.service);
	httpd_cert_free(r.agent_l);
	httpd_cert_free(r.metrics_l);
	httpd_cert_free(r.view_l);
	httpd_mhd_free(r.media_l);
	httpd_mhd_free(r.ops_l);
	httpd_free(r.agent);
	httpd_free(r.media);
	httpd_free(r.ops);
	httpd_free(r.metrics);
	httpd_free(r.view);
	controller_free(r.controller);
	http_free(r.http);
	loop_group_free(r.group);
	loop_free(r.loop);
	buf_done(&image_ca);
	json_decref(r.config_texts);
	free(r.image_key_line);
	return r.status;
}
