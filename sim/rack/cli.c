#include "sim/rack/cli.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/args.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/bmc/dialect.h"
#include "sim/machine/medium.h"
#include "sim/rack/ports.h"

/*
 * `drover sim rack` stores everything in one directory: the rack's state, its certificates, the
 * password of its BMCs, and objects.yaml, which contains the objects with which drover manages the
 * rack. Only one process uses the directory at a time (folder.h).
 */
#define PROVIDER "rack"
#define PER_OCTET 250
/* Number of BMCs whose addresses are in the certificate. It is fixed, because the certificate is
 * not issued again when the rack grows. */
#define NAMED 1000
#define CONNECTIONS 8192
#define GIB ((int64_t)1 << 30)

struct rack_run {
	struct sim_rack_options o;
	struct sim_run run;
	const struct sim_rack_more *more;
	/* Argument of the functions of *more. */
	void *arg;
	struct http *http;
	struct httpd *httpd;
	struct httpd_mhd *mhd;
	struct sim_rack *rack;
	struct arena *arena;
	struct sim_faults faults;
	struct sim_dialects dialects;
	char *format;
};

/* --- files ------------------------------------------------------------------------------------ */

/* Writes the boot image and, as `make image` does, its digest, signature and public key. */
static int write_image(const struct rack_run *r, const char *image, struct err *e)
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
	status = sim_folder_write(&r->run.folder, "drover-agent.iso", image, e) < 0 ||
				 sim_folder_write(&r->run.folder, "drover-agent.iso.sha256", sums,
						  e) < 0 ||
				 sim_folder_write(&r->run.folder, "drover-agent.iso.sig", sig, e) <
					 0 ||
				 sim_folder_write(&r->run.folder, "drover-agent.pub",
						  crypto_key_public(key, by), e) < 0
			 ? -1
			 : 0;
	free(sig);
	return status;
}

/* --- start ------------------------------------------------------------------------------------ */

/* Writes the rack's URL to a file, which `drover sim fault` reads. */
static int write_url(const struct rack_run *r, unsigned port, struct err *e)
{
	char url[64];

	str_format(url, sizeof(url), "%s://127.0.0.1:%u\n", r->o.plain ? "http" : "https", port);
	return sim_folder_write(&r->run.folder, "url", url, e);
}

static int make_certificates(struct rack_run *r, struct err *e)
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
	return sim_folder_certificates(&r->run.folder, r->run.loop, "bmc", "drover sim BMC", names,
				       &r->run.tls, e);
}

static int read_faults(struct rack_run *r, struct err *e)
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
static int learn_dialect(struct rack_run *r, const char *name, struct err *e)
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

static int learn_dialects(struct rack_run *r, struct err *e)
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

static int make_rack(struct rack_run *r, struct err *e)
{
	struct sim_rack_spec s = {.machines = (unsigned)r->o.machines,
				  .racks = (unsigned)r->o.racks,
				  .drives = (unsigned)r->o.drives,
				  .drive_bytes = r->o.drive_gib * GIB,
				  .data = r->o.data,
				  .user = r->o.user,
				  .password = r->run.password,
				  .http = r->http,
				  .endpoint_format = r->format,
				  .times = faster(r->o.speed),
				  .faults = &r->faults,
				  .dialects = &r->dialects,
				  .ca_pem = r->o.machines <= NAMED ? r->run.tls.ca : NULL,
				  .loopback_only = !r->o.open};

	if (r->more->head_url)
		s.head_url = r->more->head_url(&r->o, r->arg);
	r->rack = sim_rack_new(r->run.group, &s, e);
	if (!r->rack)
		return -1;
	r->httpd = httpd_new(r->run.group);
	sim_rack_routes(r->rack, r->httpd);
	return 0;
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

static int begin(void *arg, struct err *e)
{
	struct rack_run *r = arg;
	unsigned port;
	char *objects, image[SIM_AGENT_IMAGE_BYTES + 1];
	int status;

	want_files();
	r->arena = arena_new();
	sim_dialects_init(&r->dialects);
	r->http = http_new(r->run.group, http_curl_new(r->run.group, CONNECTIONS), 0);
	if (sim_run_folder(&r->run, r->o.data, e) < 0 || read_faults(r, e) < 0 ||
	    learn_dialects(r, e) < 0 || (!r->o.plain && make_certificates(r, e) < 0))
		return -1;
	r->format = mem_printf("%s://127.10.%%u.%%u%s", r->o.plain ? "http" : "https",
			       strrchr(r->o.listen, ':'));
	if (make_rack(r, e) < 0 ||
	    (r->more->begin && r->more->begin(&r->run, &r->o, r->rack, r->arg, e) < 0))
		return -1;
	r->mhd = sim_run_listen(&r->run, r->httpd, r->o.listen, CONNECTIONS, e);
	if (!r->mhd)
		return -1; /* *e names the address that could not be used */
	port = httpd_mhd_port(r->mhd);
	objects = sim_rack_objects(r->rack, PROVIDER);
	status = sim_folder_write(&r->run.folder, "objects.yaml", objects, e);
	free(objects);
	if (status == 0)
		status = write_url(r, port, e);
	sim_agent_image(image);
	if (status == 0)
		status = write_image(r, image, e);
	sim_run_ready(&r->run);
	printf("%lld machines; the first BMC is %s://127.10.0.2:%u/redfish/v1/\n"
	       "user %s, password in %s/password%s%s%s\n"
	       "Machine objects in %s/objects.yaml; a boot image for drover run in "
	       "%s/drover-agent.iso, its key in drover-agent.pub;\n"
	       "/sim/machines shows what they do\n",
	       (long long)r->o.machines, r->o.plain ? "http" : "https", port, r->o.user, r->o.data,
	       r->o.plain ? "" : ", CA in ", r->o.plain ? "" : r->o.data,
	       r->o.plain ? "" : "/ca.crt", r->o.data, r->o.data);
	if (r->more->tell)
		r->more->tell(r->arg);
	fflush(stdout);
	return status;
}

static void finish(void *arg)
{
	struct rack_run *r = arg;

	httpd_mhd_free(r->mhd);
	httpd_free(r->httpd);
	if (r->more->end)
		r->more->end(r->arg);
	sim_rack_free(r->rack);
	sim_dialects_done(&r->dialects);
	http_free(r->http);
	arena_free(r->arena);
	free(r->format);
}

/* --- the command line ------------------------------------------------------------------------- */

static _Noreturn void list_dialects(void)
{
	for (size_t i = 0; sim_dialect_name(i); i++)
		puts(sim_dialect_name(i));
	exit(0);
}

error_t sim_rack_parse(int key, char *arg, struct argp_state *st)
{
	struct sim_rack_options *o = st->input;

	switch (key) {
	case 'm':
		o->machines = sim_run_number(arg, 1, 20000, "machines", st);
		return 0;
	case RACK_RACKS:
		o->racks = sim_run_number(arg, 1, 20000, "racks", st);
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
	case RACK_USER:
		o->user = arg;
		return 0;
	case RACK_DRIVES:
		o->drives = sim_run_number(arg, 1, MACHINE_DRIVES, "drives", st);
		return 0;
	case RACK_DRIVE_GIB:
		o->drive_gib = sim_run_number(arg, 1, 16384, "drive-gib", st);
		return 0;
	case RACK_PACE:
		o->speed = sim_run_number(arg, 1, 1000, "speed", st);
		return 0;
	case RACK_PUBLIC:
		o->open = true;
		return 0;
	case RACK_PLAIN:
		o->plain = true;
		return 0;
	case RACK_DIALECT:
	case RACK_TREE:
		if (key == RACK_DIALECT && str_eq(arg, "list"))
			list_dialects();
		if (o->nspoken == SIM_RACK_SPOKEN)
			argp_error(st, "at most %d of --dialect and --tree", SIM_RACK_SPOKEN);
		o->spoken[o->nspoken].name = arg;
		o->spoken[o->nspoken++].tree = key == RACK_TREE;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {SIM_RACK_OPTIONS, {0}};
int sim_rack_serve(struct sim_rack_options *o, const struct sim_rack_more *more, void *arg)
{
	struct rack_run r = {.more = more, .arg = arg, .run = {.verb = more->verb}};
	char *any = NULL;
	int status;

	if (*o->listen == ':')
		o->listen = any = mem_printf("0.0.0.0%s", o->listen);
	r.o = *o;
	status = sim_run(&r.run, begin, finish, &r);
	free(any);
	return status;
}

int sim_rack_cli(int argc, char **argv)
{
	static const struct argp a = {
		options,
		sim_rack_parse,
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
	static const struct sim_rack_more none = {.verb = "drover sim rack"};
	struct sim_rack_options o = {.machines = 100,
				     .drives = 2,
				     .drive_gib = 16,
				     .speed = 1,
				     .listen = "0.0.0.0:8443",
				     .data = "drover-rack",
				     .user = "admin"};

	args_parse(&a, argc, argv, &o);
	return sim_rack_serve(&o, &none, NULL);
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

int sim_port_move_cli(int argc, char **argv)
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
