#include "sim/cli.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/args.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/bmc/dialect.h"
#include "sim/ec2/cli.h"
#include "sim/rack/fault_cli.h"
#include "sim/common/folder.h"
#include "sim/bcm/head_rack.h"
#include "sim/machine/medium.h"
#include "sim/netris/cli.h"
#include "sim/rack/ports.h"
#include "sim/rack/rack.h"

/*
 * `drover sim rack` stores everything in one directory: the rack's state, its certificates, the
 * password of its BMCs, and objects.yaml, which contains the objects with which drover manages the
 * rack. Only one process uses the directory at a time (folder.h).
 */
#define PROVIDER "rack"
#define HEAD_USER "drover"
#define PER_OCTET 250
/* Number of BMCs whose addresses are in the certificate. It is fixed, because the certificate is
 * not issued again when the rack grows. */
#define NAMED 1000
#define CONNECTIONS 8192
#define GIB ((int64_t)1 << 30)

enum { PUBLIC = 256, USER, DRIVES, DRIVE_GIB, SPEED, PLAIN, DIALECT, TREE, HEAD, VERSION, RACKS };
#define SPOKEN 32

struct options {
	/* racks: 0 means one for each SIM_RACK_MACHINES machines. */
	int64_t machines, racks, drives, drive_gib, speed;
	/* Name of the command, "drover sim rack", for messages. */
	const char *verb;
	const char *listen, *data, *faults, *user;
	/* Address and version of the head node; NULL: no head node. */
	const char *head, *version;
	bool open, plain;
	struct {
		/* Name or file of a dialect, or directory of a mockup. */
		const char *name;
		bool tree;
	} spoken[SPOKEN];
	size_t nspoken;
};

struct run {
	struct options o;
	struct loop *loop;
	struct loop_group *group;
	struct loop_signal *term, *intr;
	struct http *http;
	struct httpd *httpd;
	struct httpd_mhd *mhd;
	struct sim_rack *rack;
	/* Head node, its HTTP server and URL; NULL: no head node. */
	struct sim_head_rack *head;
	struct httpd *head_httpd;
	struct httpd_mhd *head_mhd;
	char *head_url;
	struct arena *arena;
	struct sim_faults faults;
	struct sim_dialects dialects;
	struct secret *password;
	struct sim_certificates tls;
	struct sim_folder folder;
	char *format;
};

/* --- files ------------------------------------------------------------------------------------ */

/* Writes the boot image and, as `make image` does, its digest, signature and public key. */
static int write_image(const struct run *r, const char *image, struct err *e)
{
	OWN(crypto_key) key = crypto_key_new();
	char digest[CRYPTO_DIGEST_TEXT], sums[CRYPTO_DIGEST_TEXT + 32], by[CRYPTO_PUBLIC_TEXT];
	uint8_t raw[CRYPTO_SHA256], signature[CRYPTO_SIGNATURE];
	char *sig;
	int status;

	crypto_sha256(image, strlen(image), raw);
	str_format(sums, sizeof(sums), "%s  drover-agent.iso\n",
		   strchr(crypto_digest_text(raw, digest), ':') + 1);
	crypto_sign(key, sums, strlen(sums), signature);
	sig = crypto_base64(signature, sizeof(signature));
	status = sim_folder_write(&r->folder, "drover-agent.iso", image, e) < 0 ||
				 sim_folder_write(&r->folder, "drover-agent.iso.sha256", sums, e) <
					 0 ||
				 sim_folder_write(&r->folder, "drover-agent.iso.sig", sig, e) < 0 ||
				 sim_folder_write(&r->folder, "drover-agent.pub",
						  crypto_key_public(key, by), e) < 0
			 ? -1
			 : 0;
	free(sig);
	return status;
}

/* --- start ------------------------------------------------------------------------------------ */

/* Writes the rack's URL to a file, which `drover sim fault` reads. */
static int write_url(const struct run *r, unsigned port, struct err *e)
{
	char url[64];

	str_format(url, sizeof(url), "%s://127.0.0.1:%u\n", r->o.plain ? "http" : "https", port);
	return sim_folder_write(&r->folder, "url", url, e);
}

static int make_certificates(struct run *r, struct err *e)
{
	static char hosts[NAMED][24];
	const char *names[NAMED + 3];
	size_t n = 0;

	names[n++] = "localhost";
	names[n++] = "127.0.0.1";
	for (unsigned i = 1; i <= NAMED; i++) {
		str_format(hosts[i - 1], sizeof(hosts[0]), "127.10.%u.%u", i / PER_OCTET,
			   i % PER_OCTET + 1);
		names[n++] = hosts[i - 1];
	}
	names[n] = NULL;
	return sim_folder_certificates(&r->folder, r->loop, "bmc", "drover sim BMC", names, &r->tls,
				       e);
}

static int read_faults(struct run *r, struct err *e)
{
	char *text;
	int status;

	if (!r->o.faults)
		return 0;
	text = sim_file_read(r->o.faults, e);
	if (!text)
		return -1;
	status = sim_faults_read(text, strlen(text), r->arena, &r->faults, e);
	free(text);
	return status < 0 ? err_wrap(e, "%s", r->o.faults) : 0;
}

/* Adds a built-in dialect by its name, or a dialect file by its path. */
static int learn_dialect(struct run *r, const char *name, struct err *e)
{
	char *text;
	int status;

	if (!strchr(name, '/') && !str_ends(name, ".yaml"))
		return sim_dialects_add(&r->dialects, name, e);
	text = sim_file_read(name, e);
	if (!text)
		return -1;
	status = sim_dialects_add_text(&r->dialects, name, text, strlen(text), e);
	free(text);
	return status;
}

static int learn_dialects(struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->o.nspoken; i++) {
		const char *name = r->o.spoken[i].name;
		bool tree = r->o.spoken[i].tree;

		if (tree ? sim_dialects_add_tree(&r->dialects, name, e) < 0
			 : learn_dialect(r, name, e) < 0)
			return err_wrap(e, tree ? "--tree" : "--dialect");
	}
	return 0;
}

static void on_signal(int signum, void *arg)
{
	struct run *r = arg;

	(void)signum;
	loop_stop(r->loop);
}

static struct sim_times faster(int64_t speed)
{
	struct sim_times t = sim_times_or_fast(&(struct sim_times){0});

	t.power_ms = t.power_ms / speed + 1;
	t.post_ms = t.post_ms / speed + 1;
	t.kernel_ms = t.kernel_ms / speed + 1;
	t.system_ms = t.system_ms / speed + 1;
	t.wipe_bytes_per_s *= speed;
	t.write_bytes_per_s *= speed;
	return t;
}

static int make_rack(struct run *r, struct err *e)
{
	struct sim_rack_spec s = {.machines = (unsigned)r->o.machines,
				  .racks = (unsigned)r->o.racks,
				  .drives = (unsigned)r->o.drives,
				  .drive_bytes = r->o.drive_gib * GIB,
				  .data = r->o.data,
				  .user = r->o.user,
				  .password = r->password,
				  .http = r->http,
				  .endpoint_format = r->format,
				  .times = faster(r->o.speed),
				  .faults = &r->faults,
				  .dialects = &r->dialects,
				  .ca_pem = r->o.machines <= NAMED ? r->tls.ca : NULL,
				  .head_url = r->head_url,
				  .loopback_only = !r->o.open};

	r->rack = sim_rack_new(r->group, &s, e);
	if (!r->rack)
		return -1;
	r->httpd = httpd_new(r->group);
	sim_rack_routes(r->rack, r->httpd);
	return 0;
}

/* Starts the simulated head node of NVIDIA Base Command Manager (sim/bcm/head.h), if --head was
 * given. The head node manages the machines of the rack. */
static int make_head(struct run *r, struct err *e)
{
	struct sim_head_spec s = {
		.user = HEAD_USER, .password = r->password, .version = r->o.version};
	struct httpd_mhd_spec m = {
		.address = r->o.head, .cert_pem = r->tls.cert, .key_pem = r->tls.key};

	if (!r->o.head)
		return 0;
	s.boot_ms = 3000 / r->o.speed + 1;
	s.install_ms = 20000 / r->o.speed + 1;
	r->head = sim_head_rack_new(r->rack, &s);
	r->head_httpd = httpd_new(r->group);
	sim_head_routes(sim_head_rack_head(r->head), r->head_httpd);
	r->head_mhd = httpd_mhd_new(r->head_httpd, &m, e);
	return r->head_mhd ? 0 : -1;
}

/* Raises the limit on open files to its maximum, because every connection is an open file. */
static void want_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
}

static int begin(struct run *r, struct err *e)
{
	struct httpd_mhd_spec s = {.address = r->o.listen, .max_connections = CONNECTIONS};
	unsigned port;
	char *objects, image[SIM_AGENT_IMAGE_BYTES + 1];
	int status;

	want_files();
	r->loop = loop_uv_new();
	r->group = loop_group_new(r->loop, "rack");
	r->arena = arena_new();
	sim_dialects_init(&r->dialects);
	r->http = http_new(r->group, http_curl_new(r->group, CONNECTIONS), 0);
	if (sim_folder_open(&r->folder, r->o.data, r->o.verb, e) < 0 || read_faults(r, e) < 0 ||
	    learn_dialects(r, e) < 0 ||
	    !(r->password = sim_folder_password(&r->folder, r->loop, e)) ||
	    (!r->o.plain && make_certificates(r, e) < 0))
		return -1;
	r->format = mem_printf("%s://127.10.%%u.%%u%s", r->o.plain ? "http" : "https",
			       strrchr(r->o.listen, ':'));
	if (r->o.head)
		r->head_url = mem_printf("%s://%s", r->o.plain ? "http" : "https", r->o.head);
	if (make_rack(r, e) < 0 || make_head(r, e) < 0)
		return -1;
	s.cert_pem = r->tls.cert;
	s.key_pem = r->tls.key;
	r->mhd = httpd_mhd_new(r->httpd, &s, e);
	if (!r->mhd)
		return -1; /* *e names the address that could not be used */
	port = httpd_mhd_port(r->mhd);
	objects = sim_rack_objects(r->rack, PROVIDER);
	status = sim_folder_write(&r->folder, "objects.yaml", objects, e);
	free(objects);
	if (status == 0)
		status = write_url(r, port, e);
	sim_agent_image(image);
	if (status == 0)
		status = write_image(r, image, e);
	/* Handles signals before printing the text below, because the program that reads the text
	 * may send a signal at once. */
	r->term = loop_signal(r->group, SIGTERM, on_signal, r);
	r->intr = loop_signal(r->group, SIGINT, on_signal, r);
	printf("%lld machines; the first BMC is %s://127.10.0.2:%u/redfish/v1/\n"
	       "user %s, password in %s/password%s%s%s\n"
	       "Machine objects in %s/objects.yaml; a boot image for drover run in "
	       "%s/drover-agent.iso, its key in drover-agent.pub;\n"
	       "/sim/machines shows what they do\n",
	       (long long)r->o.machines, r->o.plain ? "http" : "https", port, r->o.user, r->o.data,
	       r->o.plain ? "" : ", CA in ", r->o.plain ? "" : r->o.data,
	       r->o.plain ? "" : "/ca.crt", r->o.data, r->o.data);
	if (r->o.head)
		printf("BCM's head node is %s/json; user " HEAD_USER
		       ", the same password; /sim/nodes shows what its nodes do\n",
		       r->head_url);
	fflush(stdout);
	return status;
}

static void finish(struct run *r)
{
	loop_signal_free(r->term);
	loop_signal_free(r->intr);
	httpd_mhd_free(r->mhd);
	httpd_mhd_free(r->head_mhd);
	httpd_free(r->httpd);
	httpd_free(r->head_httpd);
	sim_head_rack_free(r->head);
	sim_rack_free(r->rack);
	sim_dialects_done(&r->dialects);
	http_free(r->http);
	secret_free(r->password);
	sim_certificates_done(&r->tls);
	arena_free(r->arena);
	free(r->format);
	free(r->head_url);
	loop_group_free(r->group);
	loop_free(r->loop);
	sim_folder_close(&r->folder);
}

/* --- the command line ------------------------------------------------------------------------- */

static int64_t number(const char *text, int64_t min, int64_t max, const char *name,
		      struct argp_state *st)
{
	int64_t n = 0;

	if (!str_to_i64(text, min, max, &n))
		argp_error(st, "--%s: want %lld to %lld, got '%s'", name, (long long)min,
			   (long long)max, text);
	return n;
}

static _Noreturn void list_dialects(void)
{
	for (size_t i = 0; sim_dialect_name(i); i++)
		puts(sim_dialect_name(i));
	exit(0);
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct options *o = st->input;

	switch (key) {
	case 'm':
		o->machines = number(arg, 1, 20000, "machines", st);
		return 0;
	case RACKS:
		o->racks = number(arg, 1, 20000, "racks", st);
		return 0;
	case 'l':
		if (!strrchr(arg, ':'))
			argp_error(st, "--listen: want ADDRESS:PORT or :PORT, got '%s'", arg);
		o->listen = arg;
		return 0;
	case 'd':
		o->data = arg;
		return 0;
	case 'f':
		o->faults = arg;
		return 0;
	case USER:
		o->user = arg;
		return 0;
	case DRIVES:
		o->drives = number(arg, 1, MACHINE_DRIVES, "drives", st);
		return 0;
	case DRIVE_GIB:
		o->drive_gib = number(arg, 1, 16384, "drive-gib", st);
		return 0;
	case SPEED:
		o->speed = number(arg, 1, 1000, "speed", st);
		return 0;
	case PUBLIC:
		o->open = true;
		return 0;
	case PLAIN:
		o->plain = true;
		return 0;
	case HEAD:
		if (!strrchr(arg, ':') || *arg == ':')
			argp_error(st, "--head: want ADDRESS:PORT, got '%s'", arg);
		o->head = arg;
		return 0;
	case VERSION:
		o->version = arg;
		return 0;
	case DIALECT:
	case TREE:
		if (key == DIALECT && str_eq(arg, "list"))
			list_dialects();
		if (o->nspoken == SPOKEN)
			argp_error(st, "at most %d of --dialect and --tree", SPOKEN);
		o->spoken[o->nspoken].name = arg;
		o->spoken[o->nspoken++].tree = key == TREE;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

#define RACK_OPTIONS                                                                               \
	{"machines", 'm', "N", 0, "Number of machines (100)", 0},                                  \
		{"racks", RACKS, "N", 0, "Number of racks (one for each 16 machines)", 0},         \
		{"listen", 'l', "ADDRESS:PORT", 0, "Listener of all BMCs (0.0.0.0:8443)", 0},      \
		{"data",                                                                           \
		 'd',                                                                              \
		 "DIR",                                                                            \
		 0,                                                                                \
		 "Directory for state, certificates and password (drover-rack)",                   \
		 0},                                                                               \
		{"faults", 'f', "FILE", 0, "Faults (docs/sim.md)", 0},                             \
		{"user", USER, "NAME", 0, "Account of the BMCs (admin)", 0},                       \
		{"drives", DRIVES, "N", 0, "Number of drives in each machine (2)", 0},             \
		{"drive-gib", DRIVE_GIB, "N", 0, "Size of each drive, sparse (16)", 0},            \
		{"speed", SPEED, "N", 0, "Factor by which boots and wipes are faster (1)", 0},     \
		{"dialect",                                                                        \
		 DIALECT,                                                                          \
		 "NAME",                                                                           \
		 0,                                                                                \
		 "Make of the BMCs, or a dialect file; may be repeated: machines use them in "     \
		 "turn (`list` names all)",                                                        \
		 0},                                                                               \
		{"tree",                                                                           \
		 TREE,                                                                             \
		 "DIR",                                                                            \
		 0,                                                                                \
		 "BMCs with the resources of this Redfish mockup; may be repeated: machines "      \
		 "use them in turn",                                                               \
		 0},                                                                               \
		{"public", PUBLIC, NULL, 0, "Also answer clients on other computers", 0},          \
	{                                                                                          \
		"plain", PLAIN, NULL, 0, "HTTP without TLS", 0                                     \
	}

static const struct argp_option options[] = {RACK_OPTIONS, {0}};
static const struct argp_option bcm_options[] = {
	{"head", HEAD, "ADDRESS:PORT", 0, "Listener of the head node (127.0.0.1:8081)", 0},
	{"bcm-version", VERSION, "VERSION", 0, "Reported version: 10.25.3, 11.0 ... (11.0)", 0},
	RACK_OPTIONS,
	{0}};

static int serve(const struct argp *a, int argc, char **argv, const struct options *defaults)
{
	struct run r = {.o = *defaults, .folder = {.lock = -1}};
	char *any = NULL;
	struct err e;
	int status = 0;

	args_parse(a, argc, argv, &r.o);
	if (*r.o.listen == ':')
		r.o.listen = any = mem_printf("0.0.0.0%s", r.o.listen);
	if (begin(&r, &e) < 0) {
		fprintf(stderr, "%s: %s\n", r.o.verb, e.text);
		status = 1;
	} else {
		loop_run(r.loop);
	}
	finish(&r);
	free(any);
	return status;
}

static int cli_rack(int argc, char **argv)
{
	static const struct argp a = {
		options,
		parse,
		NULL,
		"Simulate a rack of servers with Redfish BMCs. Machine N has the BMC 127.10.(N / "
		"250).(N % 250 + 1).\v"
		"Examples:\n  drover sim rack --machines 8\n"
		"  drover sim rack --machines 100 --data /var/tmp/rack --faults faults.yaml\n"
		"  drover sim rack --machines 6 --dialect idrac9 --dialect ilo --tree "
		"mockups/mine\n",
		NULL,
		NULL,
		NULL};
	static const struct options defaults = {.verb = "drover sim rack",
						.machines = 100,
						.drives = 2,
						.drive_gib = 16,
						.speed = 1,
						.listen = "0.0.0.0:8443",
						.data = "drover-rack",
						.user = "admin"};

	return serve(&a, argc, argv, &defaults);
}

static int cli_bcm(int argc, char **argv)
{
	static const struct argp a = {
		bcm_options,
		parse,
		NULL,
		"Simulate the head node of an NVIDIA Base Command Manager, and the rack of "
		"servers that are its nodes.\v"
		"Examples:\n  drover sim bcm --machines 8\n"
		"  drover sim bcm --machines 4 --bcm-version 10.25.3 --data /var/tmp/bcm\n",
		NULL,
		NULL,
		NULL};
	static const struct options defaults = {.verb = "drover sim bcm",
						.machines = 8,
						.drives = 2,
						.drive_gib = 16,
						.speed = 1,
						.listen = "0.0.0.0:8443",
						.head = "127.0.0.1:8081",
						.data = "drover-bcm",
						.user = "admin"};

	return serve(&a, argc, argv, &defaults);
}

struct port_move {
	const char *url, *ca;
};

static error_t parse_move(int key, char *arg, struct argp_state *st)
{
	struct port_move *o = st->input;

	switch (key) {
	case 'c':
		o->ca = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->url)
			argp_error(st, "want only one URL");
		o->url = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->url)
			argp_error(st, "want the URL of a rack");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int cli_port_move(int argc, char **argv)
{
	static const struct argp_option move_options[] = {
		{"ca", 'c', "FILE", 0, "CA of the rack's certificate", 0}, {0}};
	static const struct argp a = {
		move_options,
		parse_move,
		"URL",
		"Exec network driver of a simulated rack (docs/exec-fabric.md), for "
		"spec.network.exec.command of a Provider.\v"
		"Examples:\n  drover sim port-move https://127.0.0.1:8443 --ca "
		"drover-rack/ca.crt\n",
		NULL,
		NULL,
		NULL};
	struct port_move o = {0};

	args_parse(&a, argc, argv, &o);
	return sim_ports_main(o.url, o.ca);
}

int sim_cli(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {{"rack", cli_rack},	   {"bcm", cli_bcm},
		     {"port-move", cli_port_move}, {"fault", sim_fault_cli},
		     {"netris", sim_netris_cli},   {"ec2", sim_ec2_cli}};

	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		char title[32];

		if (!str_eq(argv[1], verbs[i].name))
			continue;
		str_format(title, sizeof(title), "drover sim %s", argv[1]);
		argv[1] = title;
		return verbs[i].run(argc - 1, argv + 1);
	}
	if (argc > 2 && str_eq(argv[1], "help")) {
		char *again[] = {argv[0], argv[2], (char[]){"--help"}, NULL};

		return sim_cli(3, again);
	}
	if (argc > 1 &&
	    (str_eq(argv[1], "--help") || str_eq(argv[1], "-h") || str_eq(argv[1], "help"))) {
		puts("drover sim rack         a rack of simulated servers with Redfish BMCs\n"
		     "drover sim bcm          a simulated rack that is managed by a BCM head node\n"
		     "drover sim port-move    the network driver of the switch of a simulated "
		     "rack\n"
		     "drover sim fault        add, show or remove faults of a running simulated "
		     "rack\n"
		     "drover sim netris       a simulated Netris controller with its switches\n"
		     "drover sim ec2          a simulated Amazon EC2 that accounts the cost of "
		     "instances");
		return 0;
	}
	fputs("drover sim: want rack, bcm, port-move, fault, netris or ec2; see `drover sim rack "
	      "--help`\n",
	      stderr);
	return 2;
}
