#include "sim/netris/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/args.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/common/run.h"
#include "sim/netris/netris.h"

/*
 * `drover sim netris` stores its password, its certificates and network.yaml in one directory.
 * network.yaml contains spec.network of a Provider that uses the controller. Objects that requests
 * created are not stored.
 *
 * Each move of a port on a switch can be written to a file, and sent to a program that speaks the
 * protocol of docs/exec-fabric.md. For that program a machine's port is its eth1, and the segment
 * is the name of its server cluster, or "none".
 * Tests: tests/real/netris.py
 */
#define PROGRAM_ARGS 16
#define CONNECTIONS 1024

enum { LATENCY = 0x7001, PLAN, BEAT, SESSION, LOOSE, PLAIN, MOVES, PROGRAM, USER, BEGIN_IN, NAMES };

struct netris_options {
	int64_t servers, latency_ms, plan_ms, beat_ms, session_s;
	const char *listen, *data, *user, *moves, *begin_in, *names;
	const char *program[PROGRAM_ARGS + 1];
	size_t nprogram;
	bool loose, plain;
};

struct netris_run {
	struct netris_options o;
	struct sim_run run;
	struct sim_netris *sim;
	struct httpd *httpd;
	struct httpd_mhd *mhd;
	FILE *moves;
	struct loop_child *program;
	/* Id of the last line sent to the program. */
	int64_t id;
};

/* --- moves ------------------------------------------------------------------------------------ */

static void write_line(struct netris_run *r, json_t *j /* takes ownership */)
{
	char *text = json_text(j);

	if (r->program) {
		loop_child_write(r->program, text, strlen(text));
		loop_child_write(r->program, "\n", 1);
	}
	free(text);
	json_decref(j);
}

static void on_move(const struct sim_netris_move *m, void *arg)
{
	struct netris_run *r = arg;

	if (r->moves) {
		OWN_JSON j = json_pack("{s:I, s:s, s:s, s:s, s:s, s:s?}", "wallMs",
				       (json_int_t)loop_wall(r->run.loop), "server", m->server,
				       "nic", m->nic, "switch", m->switch_, "port", m->port,
				       "cluster", m->cluster);
		char *text = json_text(j);

		fprintf(r->moves, "%s\n", text);
		fflush(r->moves);
		free(text);
	}
	if (r->program && str_eq(m->nic, "eth1")) {
		r->id++;
		write_line(r, json_pack("{s:I, s:s, s:s, s:s, s:s, s:I, s:i, s:s}", "id", r->id,
					"op", "place", "machine", m->server, "mac", m->mac,
					"operation", "sim", "fence", r->id, "limitMs", 60000,
					"segment", str_or(m->cluster, "none")));
	}
}

static void on_reply(const char *line, size_t len, void *arg)
{
	struct err e;
	OWN_JSON j = json_parse(line, len, &e);

	(void)arg;
	if (!j || json_at(j, "error"))
		fprintf(stderr, "drover sim netris: error of --program: %.*s\n",
			len < 400 ? (int)len : 400, line);
}

static void on_words(const char *data, size_t len, void *arg)
{
	(void)arg;
	fwrite(data, 1, len, stderr);
}

static void on_exit_(int status, const struct err *e, void *arg)
{
	struct netris_run *r = arg;

	fprintf(stderr,
		"drover sim netris: %s ended with status %d%s%s; it gets no further "
		"moves\n",
		r->o.program[0], status, e ? ": " : "", e ? e->text : "");
	loop_child_free(r->program);
	r->program = NULL;
}

static int start_program(struct netris_run *r, struct err *e)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
					  NULL};
	const struct loop_spawn s = {.argv = r->o.program,
				     .env = env,
				     .on_line = on_reply,
				     .on_stderr = on_words,
				     .on_exit = on_exit_,
				     .arg = r};

	if (!r->o.nprogram)
		return 0;
	r->program = loop_spawn(r->run.group, &s, e);
	if (!r->program)
		return -1;
	r->id = 1;
	write_line(r, json_pack("{s:I, s:s, s:i}", "id", r->id, "op", "hello", "protocol", 1));
	return 0;
}

/* --- start and end ---------------------------------------------------------------------------- */

/* Writes network.yaml, with spec.network of a Provider that uses the controller. */
static int write_network(struct netris_run *r, unsigned port, struct err *e)
{
	char *text = mem_printf(
		"# spec.network of a Provider.  Secret netris: username, password, endpoint; "
		"Secret netris-ca: ca.crt.\n"
		"type: netris\nsegments: {quarantine: quarantine, provisioning: provisioning}\n"
		"netris:\n  endpoint: https://127.0.0.1:%u\n  credentialsSecretRef: {name: "
		"netris}\n"
		"  tls: {caSecretRef: {name: netris-ca}}\n  site: hall\n  template: gpu-tenant\n"
		"  hostServers: [host-1, host-2]\n",
		port);
	int status = sim_folder_write(&r->run.folder, "network.yaml", text, e);

	free(text);
	return status;
}

static int open_moves(struct netris_run *r, struct err *e)
{
	if (!r->o.moves)
		return 0;
	r->moves = str_eq(r->o.moves, "-") ? stdout : fopen(r->o.moves, "ae");
	return r->moves ? 0 : err_errno(e, errno, "%s", r->o.moves);
}

static int begin(void *arg, struct err *e)
{
	struct netris_run *r = arg;
	struct sim_netris_spec s = {.servers = (unsigned)r->o.servers,
				    .user = r->o.user,
				    .latency_ms = r->o.latency_ms,
				    .plan_ms = r->o.plan_ms,
				    .beat_ms = r->o.beat_ms,
				    .session_ms = r->o.session_s * 1000,
				    .loose = r->o.loose,
				    .begin_in = r->o.begin_in,
				    .names = r->o.names,
				    .on_move = on_move,
				    .arg = r};
	unsigned port;

	if (sim_run_folder(&r->run, r->o.data, e) < 0 ||
	    (!r->o.plain && sim_run_certificates(&r->run, "netris", "drover sim Netris", e) < 0) ||
	    open_moves(r, e) < 0 || start_program(r, e) < 0)
		return -1;
	s.group = r->run.group;
	s.password = secret_expose(r->run.password);
	r->sim = sim_netris_new(&s);
	r->httpd = httpd_new(r->run.group);
	sim_netris_routes(r->sim, r->httpd);
	r->mhd = sim_run_listen(&r->run, r->httpd, r->o.listen, CONNECTIONS, e);
	if (!r->mhd)
		return -1;
	port = httpd_mhd_port(r->mhd);
	if (write_network(r, port, e) < 0)
		return -1;
	sim_run_ready(&r->run);
	printf("%lld servers on %s://127.0.0.1:%u\nuser %s, password in %s/password%s%s%s\n"
	       "spec.network of a Provider in %s/network.yaml; /sim/servers shows the real "
	       "segment of each server's ports\n",
	       (long long)r->o.servers, r->o.plain ? "http" : "https", port, r->o.user, r->o.data,
	       r->o.plain ? "" : ", CA in ", r->o.plain ? "" : r->o.data,
	       r->o.plain ? "" : "/ca.crt", r->o.data);
	fflush(stdout);
	return 0;
}

static void finish(void *arg)
{
	struct netris_run *r = arg;

	httpd_mhd_free(r->mhd);
	httpd_free(r->httpd);
	sim_netris_free(r->sim);
	loop_child_free(r->program);
	if (r->moves && r->moves != stdout)
		fclose(r->moves);
}

/* --- the command line ------------------------------------------------------------------------- */

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct netris_options *o = st->input;

	switch (key) {
	case 's':
		o->servers = sim_run_number(arg, 1, 20000, "servers", st);
		return 0;
	case 'l':
		o->listen = arg;
		return 0;
	case 'd':
		o->data = arg;
		return 0;
	case USER:
		o->user = arg;
		return 0;
	case LATENCY:
		o->latency_ms = sim_run_number(arg, 0, 60000, "latency-ms", st);
		return 0;
	case PLAN:
		o->plan_ms = sim_run_number(arg, 0, 600000, "plan-ms", st);
		return 0;
	case BEAT:
		o->beat_ms = sim_run_number(arg, 10, 600000, "beat-ms", st);
		return 0;
	case SESSION:
		o->session_s = sim_run_number(arg, 1, 86400, "session", st);
		return 0;
	case NAMES:
		if (!*arg || strlen(arg) > 40)
			argp_error(st, "--names: want 1 to 40 bytes, got '%s'", arg);
		o->names = arg;
		return 0;
	case BEGIN_IN:
		if (!str_eq(arg, "quarantine") && !str_eq(arg, "provisioning"))
			argp_error(st, "--begin-in: want quarantine or provisioning, got '%s'",
				   arg);
		o->begin_in = arg;
		return 0;
	case LOOSE:
		o->loose = true;
		return 0;
	case PLAIN:
		o->plain = true;
		return 0;
	case MOVES:
		o->moves = arg;
		return 0;
	case PROGRAM:
		if (o->nprogram == PROGRAM_ARGS)
			argp_error(st, "--program: at most %d arguments", PROGRAM_ARGS);
		if (!o->nprogram && *arg != '/')
			argp_error(st, "--program: want an absolute path first, got '%s'", arg);
		o->program[o->nprogram++] = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"servers", 's', "N", 0, "Number of servers: gpu-1 to gpu-N (8)", 0},
	{"listen", 'l', "ADDRESS:PORT", 0, "Listener (127.0.0.1:8444)", 0},
	{"data", 'd', "DIR", 0,
	 "Directory for certificates, password and network.yaml "
	 "(drover-netris)",
	 0},
	{"user", USER, "NAME", 0, "Account of the controller (drover)", 0},
	{"latency-ms", LATENCY, "N", 0, "Delay of each answer (0)", 0},
	{"plan-ms", PLAN, "N", 0, "Time from a change until V-nets show it (300)", 0},
	{"beat-ms", BEAT, "N", 0,
	 "Interval of the switches' heartbeats, with which they move ports (2000)", 0},
	{"names", NAMES, "PREFIX", 0,
	 "Prefix of the servers' names, before a number from 0 (gpu-, from 1)", 0},
	{"begin-in", BEGIN_IN, "quarantine|provisioning", 0,
	 "Cluster of all servers at the start (none)", 0},
	{"session", SESSION, "SECONDS", 0, "Lifetime of a login (1800)", 0},
	{"loose", LOOSE, NULL, 0,
	 "Vary types and members from answer to answer, as between releases", 0},
	{"moves", MOVES, "FILE", 0,
	 "Append a line of JSON for each move of a port; -: standard output", 0},
	{"program", PROGRAM, "ARG", 0,
	 "Send each move of an eth1 to this program (docs/exec-fabric.md); once for each argument",
	 0},
	{"plain", PLAIN, NULL, 0, "HTTP without TLS", 0},
	{0}};

int sim_netris_cli(int argc, char **argv)
{
	static const struct argp a = {
		options,
		parse,
		NULL,
		"Simulate a Netris controller: site hall, servers, templates, server clusters, "
		"switches. "
		"POST /sim/faults adds faults (docs/providers/netris.md).\v"
		"Examples:\n  drover sim netris --servers 8\n"
		"  drover sim netris --data /var/tmp/netris --program /opt/bridge-move --program "
		"/etc/bridges.json\n",
		NULL,
		NULL,
		NULL};
	struct netris_run r = {.o = {.servers = 8,
				     .listen = "127.0.0.1:8444",
				     .data = "drover-netris",
				     .user = "drover",
				     .plan_ms = 300,
				     .beat_ms = 2000,
				     .session_s = 1800},
			       .run = {.verb = "drover sim netris"}};

	args_parse(&a, argc, argv, &r.o);
	return sim_run(&r.run, begin, finish, &r);
}
