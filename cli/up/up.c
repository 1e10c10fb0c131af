/*
 * up: `drover up`. Runs a host cluster, two virtual clusters and drover's controller in one
 * process, and a rack of simulated machines in another, for use on a laptop.
 */
#include "cli/up/up.h"
#include "sim/machine/medium.h"
#include "sim/rack/rack.h"
#include "base/arena.h"
#include "base/args.h"
#include "base/store/store.h"
#include "cli/up/server.h"
#include "controller/controller.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/up/files.h"
#include "controller/agent/endpoint.h"
#include "controller/core/keys.h"
#include "wipe/proto.h"

#define PORT 18440
#define PORT_MIN 1024
#define PORT_MAX (65535 - UP_PORTS)
#define PORT_TEXT 16
#define CERT_DAYS 365 /* lifetime of the certificates, which are issued anew at each start */
#define CONNECTIONS 2048
#define SETTLE_MS 5000
#define POLL_MS 500
/* time that is added to the poll interval for each machine, because all machines share one
 * computer with their BMCs and agents */
#define POLL_EACH_MS 2
/* Factor by which the timeouts of the Lease are multiplied. Long timeouts do no harm, because no
 * other replica waits to become leader. They are needed on a slow computer, where a call to the
 * host cluster waits until the loop has done the work of up to UP_MACHINES_MAX machines. */
#define LEASE_SLOWER 8
/* shortest poll interval of a machine at rest; short because no network is involved */
#define IDLE_POLL_MS 5000
/* The poll interval of a machine at rest is at least this time multiplied by the number of machines
 * in the rack, so that all machines at rest together are polled at most 40 times a second. */
#define IDLE_POLL_EACH_MS 25
#define NAMESPACE "drover-system"
#define DISK_LOOK_MS 1000

static const char *const tenant_names[UP_TENANTS] = {"team-a", "team-b"};

enum { OPT_PORT = 256, OPT_DEBUG, OPT_TRACES, OPT_RACKS, OPT_RACK_ONLY };

static const struct argp_option options[] = {
	{"data", 'd', "DIR", 0, "Directory for all data (default: ~/.drover/up)", 0},
	{"machines", 'm', "N", 0, "Machines, 1 to 10000 (default: 8)", 0},
	{"racks", OPT_RACKS, "N", 0, "Number of racks (default: one for each 16 machines)", 0},
	{"faults", 'f', "FILE", 0,
	 "File with faults to inject into the simulated rack, see docs/sim.md (default: none)", 0},
	{"speed", 's', "N", 0,
	 "Factor by which the simulated machines are faster than usual, 1 to 100 (default: 1)", 0},
	{"port", OPT_PORT, "PORT", 0,
	 "First of ten consecutive TCP ports on 127.0.0.1 (default: 18440, or the ports that the "
	 "directory of --data was created with)",
	 0},
	{"traces-endpoint", OPT_TRACES, "URL", 0,
	 "Send traces to this OpenTelemetry collector, such as http://127.0.0.1:4318 "
	 "(docs/traces.md; default: off)",
	 0},
	{"debug", OPT_DEBUG, NULL, 0, "Log debug messages", 0},
	{UP_RACK_OPTION, OPT_RACK_ONLY, NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct up *u = st->input;

	switch (key) {
	case 'd':
		u->data = arg;
		return 0;
	case 'm':
		if (!str_to_i64(arg, 1, UP_MACHINES_MAX, &u->machines))
			argp_error(st, "--machines: want 1 to %d, got %s", UP_MACHINES_MAX, arg);
		return 0;
	case OPT_RACKS:
		if (!str_to_i64(arg, 1, UP_MACHINES_MAX, &u->racks))
			argp_error(st, "--racks: want 1 to %d, got %s", UP_MACHINES_MAX, arg);
		return 0;
	case 'f':
		u->faults_file = arg;
		return 0;
	case 's':
		if (!str_to_i64(arg, 1, 100, &u->speed))
			argp_error(st, "--speed: want 1 to 100, got %s", arg);
		return 0;
	case OPT_PORT:
		if (!str_to_i64(arg, PORT_MIN, PORT_MAX, &u->port))
			argp_error(st, "--port: want %d to %d, got %s", PORT_MIN, PORT_MAX, arg);
		return 0;
	case OPT_TRACES:
		u->traces.endpoint = arg;
		return 0;
	case OPT_DEBUG:
		u->debug = true;
		return 0;
	case OPT_RACK_ONLY:
		u->rack_only = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument: %s", arg);
		return 0;
	case ARGP_KEY_END:
		u->racks = u->racks ? u->racks
				    : (u->machines + SIM_RACK_MACHINES - 1) / SIM_RACK_MACHINES;
		if (u->racks > u->machines)
			argp_error(
				st,
				"--racks: want at most one for each of the %lld machines, got %lld",
				(long long)u->machines, (long long)u->racks);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Run a complete drover on this machine: a host cluster, two tenants, a simulated "
	       "rack, the controller.\v"
	       "Examples:\n"
	       "  drover up --machines 4\n"
	       "  drover up --machines 36 --racks 3\n"
	       "  drover up --machines 100 --faults faults.yaml\n"
	       "The command prints a kubeconfig for each cluster; docs/quickstart.md shows the "
	       "next steps.\n"
	       "Ctrl-C stops drover; the next start with the same --data continues from there.",
};

/* --- files ------------------------------------------------------------------------------------ */

static void on_log(const char *line, size_t len, void *arg)
{
	struct up *u = arg;

	if (write(u->log, line, len) < 0)
		return; /* nothing to do: if the disk is full, the store reports it */
}

/* Appends advice for the user to the error *e. Always returns -1. */
static int advise(struct err *e, const char *advice)
{
	struct err was = *e;

	return err_set(e, was.kind, was.code, "%s; %s", was.text, advice);
}

static int open_folder(struct up *u, struct err *e)
{
	char *lock, *log;
	int rc = up_folder(u->data, e);

	if (rc < 0)
		return advise(e, "choose another directory with --data DIR");
	lock = mem_printf("%s/lock", u->data);
	log = mem_printf("%s/drover.log", u->data);
	u->lock = file_lock(lock, e);
	if (u->lock < 0)
		rc = e->kind != ERR_CONFLICT
			     ? -1
			     : err_set(e, ERR_CONFLICT, e->code,
				       "%s: another `drover up` uses it; stop that one, or choose "
				       "another directory with --data DIR",
				       u->data);
	else
		u->log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (rc == 0 && u->log < 0)
		rc = err_errno(e, errno, "%s", log);
	free(lock);
	free(log);
	return rc;
}

static int find_program(struct up *u, struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", u->program, sizeof(u->program) - 1);

	return n < 0 ? err_errno(e, errno, "/proc/self/exe") : 0;
}

/* Sets u->port to the port of the first start, because addresses of machines, image URLs in pools
 * and kubeconfigs contain this port. At the first start, sets the default unless --port was given.
 * -1: *e, --port differs from the port of the first start. */
static int find_port(struct up *u, struct err *e)
{
	char *path = mem_printf("%s/port", u->data), *text = file_text(path, PORT_TEXT, NULL, e);
	int64_t kept = 0;
	int rc = 0;

	if (text && !str_to_i64(text, PORT_MIN, PORT_MAX, &kept)) {
		rc = err_set(e, ERR_INVALID, 0, "%s: want %d to %d, got '%s'", path, PORT_MIN,
			     PORT_MAX, text);
	} else if (text && u->port && u->port != kept) {
		rc = err_set(e, ERR_CONFLICT, 0,
			     "%s was created with --port %lld, and its objects refer to that "
			     "port; omit --port, or start with another --data DIR",
			     u->data, (long long)kept);
	} else if (text) {
		u->port = kept;
	} else if (e->kind != ERR_NOT_FOUND) {
		rc = -1;
	} else {
		u->port = u->port ? u->port : PORT;
	}
	free(text);
	free(path);
	return rc;
}

/* Writes the port to a file. Call after the listeners have opened, and before any object refers to
 * the port. */
static int keep_port(const struct up *u, struct err *e)
{
	char *path = mem_printf("%s/port", u->data), number[PORT_TEXT];
	int rc;

	str_format(number, sizeof(number), "%lld", (long long)u->port);
	rc = file_write(path, number, strlen(number), 0600, true, e);
	free(path);
	return rc;
}

static int make_agent_image(struct up *u, struct err *e)
{
	char image[SIM_AGENT_IMAGE_BYTES + 1];

	sim_agent_image(image);
	u->agent_image = mem_printf("%s/drover-agent.iso", u->data);
	return file_write(u->agent_image, image, SIM_AGENT_IMAGE_BYTES, 0600, true, e);
}

/* --- servers ---------------------------------------------------------------------------------- */

static int open_cluster(struct up *u, struct up_cluster *c, const char *name, unsigned port,
			struct err *e)
{
	char *folder = mem_printf("%s/%s", u->data, name), listen[32];
	struct up_server_spec spec = {.folder = folder, .listen = listen, .name = name};

	str_format(listen, sizeof(listen), "127.0.0.1:%lld", (long long)(u->port + port));
	c->name = mem_strdup(name);
	c->kubeconfig = mem_printf("%s/%s.conf", u->data, name);
	c->group = loop_group_new(u->loop, name);
	spec.graceful_pods = port != UP_PORT_HOST;
	spec.workloads = port != UP_PORT_HOST;
	spec.kubelet_token = port == UP_PORT_HOST ? NULL : u->kubelet_token;
	spec.join_endpoint = port == UP_PORT_HOST ? NULL : listen;
	c->server = up_server_new(c->group, &spec, e);
	free(folder);
	if (!c->server)
		return err_wrap(e, "cluster %s", name);
	return up_server_save_kubeconfig(c->server, c->kubeconfig, e);
}

/* Starts simulated parts of kube-controller-manager and kube-scheduler for a tenant, which create
 * its pods and bind them to nodes. */
static int start_control_plane(struct up *u, struct up_cluster *c, struct err *e)
{
	struct sim_rounds_spec s = {
		.http = u->http,
		.server = up_server_url(c->server),
		.ca_pem = up_server_ca_pem(c->server),
		.token = up_server_token(c->server),
	};

	c->scheduler = sim_scheduler_new(c->group, &s, e);
	c->workloads = c->scheduler ? sim_workloads_new(c->group, &s, e) : NULL;
	return c->workloads ? 0 : -1;
}

static void close_cluster(struct up_cluster *c)
{
	sim_workloads_free(c->workloads);
	sim_scheduler_free(c->scheduler);
	up_server_free(c->server);
	if (c->group)
		loop_group_free(c->group);
	free(c->name);
	free(c->kubeconfig);
}

static const char *address_of(const struct up *u, enum up_port port, char out[static 32])
{
	str_format(out, 32, "127.0.0.1:%lld", (long long)(u->port + port));
	return out;
}

static int listen_on(struct up *u, struct httpd *d, enum up_port port, struct httpd_mhd **l,
		     struct err *e)
{
	char address[32];
	struct httpd_mhd_spec s = {.address = address_of(u, port, address)};

	*l = httpd_mhd_new(d, &s, e);
	return *l ? 0 : -1;
}

/* --- drover itself ---------------------------------------------------------------------------- */

static void give_up(struct up *u, const struct err *e)
{
	fprintf(stderr, "drover up: %s%s\n", e->text,
		e->code == EADDRINUSE
			? "; is another `drover up` running? Stop it, or choose ten other ports "
			  "with --port PORT (and a new --data DIR if this one was used before)"
			: "");
	u->status = 1;
	loop_stop(u->loop);
}

/*
 * Called by a timer: ends the program with a message if a store cannot write. A store that has
 * failed accepts no writes until the next start, and the log is on the same disk; without this
 * check the program would hang silently.
 */
static void on_disk_check(void *arg)
{
	struct up *u = arg;
	struct err e;

	for (int i = -1; i < UP_TENANTS; i++) {
		const struct up_cluster *c = i < 0 ? &u->host : &u->tenants[i];

		if (store_commit(up_server_store(c->server), NULL, 0, NULL, NULL, NULL, &e) < 0) {
			give_up(u, &e);
			return;
		}
	}
	loop_timer_start(&u->disk_check, DISK_LOOK_MS);
}

static void say_ready(struct up *u)
{
	char racks[32] = "a rack";

	if (u->racks > 1)
		str_format(racks, sizeof(racks), "%lld racks", (long long)u->racks);
	printf("\ndrover is up after %.1f s: %s of %lld machines and two tenants.\n\n"
	       "  host     kubectl --kubeconfig %s get machines,nodeclaims\n",
	       (double)(loop_now(u->loop) - u->began) / 1000, racks, (long long)u->machines,
	       u->host.kubeconfig);
	for (int i = 0; i < UP_TENANTS; i++)
		printf("  %-8s kubectl --kubeconfig %s get pods,nodes\n", u->tenants[i].name,
		       u->tenants[i].kubeconfig);
	printf("  status   drover status --kubeconfig %s\n"
	       "  why      drover why --kubeconfig %s gpu-1\n"
	       "  log      %s/drover.log\n\n"
	       "Ctrl-C stops drover; all data stays in %s\n",
	       u->host.kubeconfig, u->host.kubeconfig, u->data, u->data);
	fflush(stdout);
}

/* Opens a TLS listener on loopback. Its certificate is issued by the CA that agents trust. Returns
 * NULL with *e on an error. */
static struct httpd_cert *serve_tls(struct up *u, struct httpd *d, enum up_port port, struct err *e)
{
	static const char *const names[] = {"127.0.0.1", NULL};
	char address[32];
	struct httpd_cert_spec s = {
		.listener.address = address_of(u, port, address),
		.listener.max_connections = CONNECTIONS,
		.names = names,
		.ca = keys_agent_ca,
		.arg = controller_context(u->controller)->keys,
		.days = CERT_DAYS,
	};

	return httpd_cert_new(d, &s, e);
}

static void on_ready(void *arg)
{
	struct up *u = arg;
	char address[32];
	struct err e;

	u->agent_l = serve_tls(u, u->agent, UP_PORT_AGENT, &e);
	u->view_l = u->agent_l ? serve_tls(u, u->view, UP_PORT_VIEW, &e) : NULL;
	if (!u->view_l) {
		give_up(u, &e);
		return;
	}
	controller_view_publish(u->controller, address_of(u, UP_PORT_VIEW, address));
	u->ready = true;
	loop_timer_init(&u->disk_check, u->group, on_disk_check, u);
	loop_timer_start(&u->disk_check, DISK_LOOK_MS);
	say_ready(u);
}

static int64_t idle_poll_ms(const struct up *u)
{
	int64_t ms = u->machines * IDLE_POLL_EACH_MS;

	return ms > IDLE_POLL_MS ? ms : IDLE_POLL_MS;
}

static int start_controller(struct up *u, struct err *e)
{
	OWN(secret) text = up_server_kubeconfig(u->host.server);
	OWN(kube_config)
	host = kube_config_parse(secret_expose(text), secret_len(text), KUBE_CONFIG_OWN, NULL, NULL,
				 e);
	struct controller_options o = {
		.context.exec_allowed = u->exec_allowed,
		.context.ns = NAMESPACE,
		.context.identity = "up",
		.agent_image = u->agent_image,
		.context.lease_slower = LEASE_SLOWER,
		.context.poll_ms = POLL_MS + u->machines * POLL_EACH_MS,
		.context.idle_poll_ms = idle_poll_ms(u),
		.context.settle_ms = SETTLE_MS / u->speed,
		.on_ready = on_ready,
		.on_ready_arg = u,
	};

	if (!host)
		return -1;
	u->exec_allowed[0] = u->program;
	u->drover = loop_group_new(u->loop, "drover");
	u->drover_http = http_new(u->drover, http_curl_new(u->drover, CONNECTIONS), 0);
	u->controller = controller_new(u->drover, u->drover_http, host, &o, e);
	if (!u->controller || trace_options_apply(&u->traces, u->controller, e) < 0)
		return -1;
	u->agent = httpd_new(u->drover);
	u->media = httpd_new(u->drover);
	u->ops = httpd_new(u->drover);
	u->view = httpd_new(u->drover);
	agent_endpoint_api_routes(controller_agent_endpoint(u->controller), u->agent);
	agent_endpoint_media_routes(controller_agent_endpoint(u->controller), u->media, false);
	controller_ops_routes(u->controller, u->ops);
	controller_view_routes(u->controller, u->view);
	return listen_on(u, u->media, UP_PORT_MEDIA, &u->media_l, e) < 0 ||
			       listen_on(u, u->ops, UP_PORT_OPS, &u->ops_l, e) < 0
		       ? -1
		       : 0;
}

static void on_applied(const struct err *e, void *arg)
{
	struct up *u = arg;
	struct err bad;

	if (e)
		give_up(u, e);
	else if (start_controller(u, &bad) < 0)
		give_up(u, &bad);
}

/* --- life ------------------------------------------------------------------------------------- */

static void on_released(void *arg)
{
	loop_stop(((struct up *)arg)->loop);
}

/* Stops the controller and then the loop. A second signal stops the loop at once, without waiting
 * until the Lease is released. */
static void on_signal(int signum, void *arg)
{
	struct up *u = arg;

	(void)signum;
	if (u->stopping || !u->ready) {
		loop_stop(u->loop);
		return;
	}
	u->stopping = true;
	controller_stop(u->controller, on_released, u);
}

/* Reports a file with faults that the rack would not accept, before anything is created. */
static int check_faults(const struct up *u, struct err *e)
{
	OWN(arena) a = arena_new();
	struct sim_faults faults = {0};

	return up_faults_read(u->faults_file, a, &faults, e);
}

static void on_rack(const json_t *objects, const char *digest, void *arg)
{
	struct up *u = arg;
	struct err e;

	if (keep_port(u, &e) == 0)
		u->apply = up_apply_new(u, objects, digest, on_applied, u, &e);
	if (!u->apply)
		give_up(u, &e);
}

static void on_rack_end(const struct err *e, void *arg)
{
	give_up(arg, e);
}

static int start_rack(struct up *u, struct err *e)
{
	struct up_rack_process_spec s = {
		.rack = {.machines = u->machines,
			 .racks = u->racks,
			 .speed = u->speed,
			 .port = u->port,
			 .data = u->data,
			 .program = u->program,
			 .faults = u->faults_file,
			 .bmc_password = secret_expose(u->bmc_password),
			 .kubelet_token = secret_expose(u->kubelet_token),
			 .ca_key = secret_expose(up_server_ca_key(u->host.server)),
			 .ca_pem = up_server_ca_pem(u->host.server)},
		.on_ready = on_rack,
		.on_end = on_rack_end,
		.on_log = on_log,
		.arg = u,
	};

	for (int i = 0; i < UP_TENANTS; i++) {
		const struct up_cluster *t = &u->tenants[i];

		s.rack.tenants[i] = (struct up_rack_tenant){t->name, up_server_url(t->server),
							    up_server_ca_pem(t->server)};
	}
	u->rack = up_rack_process_new(u->group, &s, e);
	return u->rack ? 0 : -1;
}

static int start(struct up *u, struct err *e)
{
	if (find_program(u, e) < 0 || check_faults(u, e) < 0 || open_folder(u, e) < 0 ||
	    find_port(u, e) < 0 || make_agent_image(u, e) < 0)
		return -1;
	log_redirect(on_log, u);
	u->kubelet_token = up_token(u->loop, u->data, "kubelet-token", e);
	u->bmc_password = u->kubelet_token ? up_token(u->loop, u->data, "bmc-password", e) : NULL;
	if (!u->bmc_password || open_cluster(u, &u->host, "host", UP_PORT_HOST, e) < 0)
		return -1;
	u->http = http_new(u->group, http_curl_new(u->group, CONNECTIONS), 0);
	for (int i = 0; i < UP_TENANTS; i++)
		if (open_cluster(u, &u->tenants[i], tenant_names[i], UP_PORT_TENANT + (unsigned)i,
				 e) < 0 ||
		    start_control_plane(u, &u->tenants[i], e) < 0)
			return -1;
	if (start_rack(u, e) < 0)
		return -1;
	u->term = loop_signal(u->group, SIGTERM, on_signal, u);
	u->intr = loop_signal(u->group, SIGINT, on_signal, u);
	return 0;
}

static void stop(struct up *u)
{
	loop_signal_free(u->term);
	loop_signal_free(u->intr);
	if (u->ready)
		loop_timer_stop(&u->disk_check);
	up_apply_free(u->apply);
	httpd_cert_free(u->agent_l);
	httpd_cert_free(u->view_l);
	httpd_mhd_free(u->media_l);
	httpd_mhd_free(u->ops_l);
	httpd_free(u->agent);
	httpd_free(u->media);
	httpd_free(u->ops);
	httpd_free(u->view);
	controller_free(u->controller);
	http_free(u->drover_http);
	if (u->drover)
		loop_group_free(u->drover);
	up_rack_process_free(u->rack);
	for (int i = 0; i < UP_TENANTS; i++)
		close_cluster(&u->tenants[i]);
	close_cluster(&u->host);
	http_free(u->http);
	loop_group_free(u->group);
	loop_free(u->loop);
	log_redirect(NULL, NULL);
	secret_free(u->kubelet_token);
	secret_free(u->bmc_password);
	free(u->agent_image);
	if (u->log >= 0)
		close(u->log);
	if (u->lock >= 0)
		close(u->lock);
}

/* Returns data, or the default folder, as an absolute path, malloc'd. It must be absolute because
 * the program that moves switch ports runs in a different folder. */
static char *absolute(const char *data)
{
	const char *home = str_or(getenv("HOME"), "/root");
	char here[4096];

	if (!data)
		return mem_printf("%s/.drover/up", home);
	if (data[0] == '/' || !getcwd(here, sizeof(here)))
		return mem_strdup(data);
	return mem_printf("%s/%s", here, data);
}

int cli_up(int argc, char **argv)
{
	struct up u = {.machines = 8, .speed = 1, .lock = -1, .log = -1};
	struct rlimit files;
	char *data;
	struct err e;

	args_parse(&argp, argc, argv, &u);
	if (u.rack_only)
		return up_rack_process_main();
	data = absolute(u.data);
	u.data = data;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		/* raise the limit of open files, because each machine needs several */
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	log_config(u.debug ? LOG_DEBUG : LOG_INFO, LOG_TEXT);
	prctl(PR_SET_DUMPABLE, 0); /* no core dump, because the process holds credentials */
	u.loop = loop_uv_new();
	u.group = loop_group_new(u.loop, "up");
	u.began = loop_now(u.loop);
	if (start(&u, &e) < 0)
		give_up(&u, &e);
	else
		loop_run(u.loop);
	stop(&u);
	free(data);
	return u.status;
}
