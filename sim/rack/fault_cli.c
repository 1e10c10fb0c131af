#include "sim/rack/fault_cli.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/data/json.h"
#include "base/http/http_curl.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/machine/faults.h"
#include "sim/common/folder.h"

#define LIMIT_MS 10000

enum { RACK = 256, WHEN, COUNT, VALUE, CLEAR };

struct line {
	const char *verb, *rack, *machine, *what, *when;
	/* count: number of times that the fault applies. value: value of the fault. In both, 0
	 * means not set. */
	int64_t count, value;
	bool clear;
};

/* --- the rack --------------------------------------------------------------------------------- */

struct fault_call {
	struct loop *loop;
	/* Reply of the rack; NULL: the request failed, with the reason in e. */
	json_t *reply;
	struct err e;
};

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct fault_call *a = arg;

	if (e)
		a->e = *e;
	else if (r->status < 200 || r->status > 299)
		(void)!http_err(r, &a->e);
	else
		a->reply = json_parse(r->body, r->body_len, &a->e);
	loop_stop(a->loop);
}

/* Returns the text of the file `name` in the rack's directory. Its file "url" contains the address
 * of the rack. */
static char *file_of(const struct line *l, const char *name, struct err *e)
{
	const char *home = getenv("HOME");
	char *path = l->rack ? mem_printf("%s/%s", l->rack, name)
			     : mem_printf("%s/.drover/up/rack/%s", str_or(home, ""), name),
	     *text = sim_file_read(path, e);

	if (!text)
		err_note_wrap(
			e, "%s: not the directory of a simulated rack; name one with `--rack DIR`",
			path);
	free(path);
	return text;
}

static json_t *send(const struct line *l, const char *method, const char *path, const char *body,
		    struct err *e)
{
	char *url = file_of(l, "url", e);
	bool tls = url && str_starts(url, "https:");
	char *ca = tls ? file_of(l, "ca.crt", e) : NULL;
	struct loop *loop = loop_uv_new();
	struct loop_group *g = loop_group_new(loop, "fault");
	struct http *http = http_new(g, http_curl_new(g, 2), 0);
	struct fault_call a = {.loop = loop};
	struct http_peer *peer = NULL;

	if (url && (ca || !tls)) {
		url[strcspn(url, "\n")] = '\0';
		peer = http_peer_new(
			http,
			&(struct http_peer_spec){.base_url = url, .ca_pem = ca, .plain_ok = true},
			e);
	}
	if (peer) {
		(void)http_start(peer, &(struct http_call){.method = method,
							   .path = path,
							   .body = body,
							   .body_len = body ? strlen(body) : 0,
							   .timeout_ms = LIMIT_MS,
							   .done = on_done,
							   .arg = &a});
		loop_run(loop);
		if (!a.reply)
			*e = a.e;
	}
	http_peer_free(peer);
	http_free(http);
	loop_group_free(g);
	loop_free(loop);
	free(url);
	free(ca);
	return a.reply;
}

/* --- output ----------------------------------------------------------------------------------- */

static void print_faults(const json_t *reply)
{
	const json_t *rows = json_object_get(reply, "faults"), *r;
	size_t i;

	if (!json_array_size(rows))
		puts("no faults");
	json_array_foreach (rows, i, r) {
		const char *when = json_str_at(r, "when");

		printf("%s  %s", json_str_at(r, "machine"), json_str_at(r, "what"));
		if (json_object_get(r, "value"))
			printf(" %lld", (long long)json_int_at(r, "value"));
		if (when)
			printf("  in phase %s", when);
		if (json_object_get(r, "left"))
			printf("  %lld times left", (long long)json_int_at(r, "left"));
		puts("");
	}
}

static json_t *ask(const struct line *l, struct err *e)
{
	OWN_JSON row = NULL;
	OWN_JSON rows = NULL;
	char *text, *path;
	json_t *reply;

	if (l->clear) {
		path = l->machine ? mem_printf("/sim/faults/%s", l->machine)
				  : mem_strdup("/sim/faults");
		reply = send(l, "DELETE", path, NULL, e);
		free(path);
		return reply;
	}
	if (!l->machine)
		return send(l, "GET", "/sim/faults", NULL, e);
	row = json_pack("{s:s, s:s}", "machine", l->machine, "what", l->what);
	if (l->when)
		json_object_set_new(row, "when", json_string(l->when));
	if (l->count)
		json_object_set_new(row, "count", json_integer(l->count));
	if (l->value)
		json_object_set_new(row, "value", json_integer(l->value));
	rows = json_pack("{s:[O]}", "faults", row);
	text = json_text(rows);
	reply = send(l, "POST", "/sim/faults", text, e);
	free(text);
	return reply;
}

/* --- the command line ------------------------------------------------------------------------- */

static int64_t number(const char *text, const char *name, struct argp_state *st)
{
	int64_t n = 0;

	if (!str_to_i64(text, 1, INT32_MAX, &n))
		argp_error(st, "--%s: want a whole number of at least 1, got '%s'", name, text);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct line *l = st->input;

	switch (key) {
	case RACK:
		l->rack = arg;
		return 0;
	case WHEN:
		if (!str_among(arg, sim_fault_whens))
			argp_error(st, "--when: no such phase: %s", arg);
		l->when = arg;
		return 0;
	case COUNT:
		l->count = number(arg, "count", st);
		return 0;
	case VALUE:
		l->value = number(arg, "value", st);
		return 0;
	case CLEAR:
		l->clear = true;
		return 0;
	case ARGP_KEY_ARG:
		if (st->arg_num > 1)
			argp_error(st,
				   "unexpected argument '%s': want one machine and one kind "
				   "of fault",
				   arg);
		*(st->arg_num ? &l->what : &l->machine) = arg;
		return 0;
	case ARGP_KEY_END:
		if (l->machine && strcspn(l->machine, "/?#% ") != strlen(l->machine))
			argp_error(st, "'%s' is not the name of a machine", l->machine);
		if (l->clear ? l->what || l->when || l->count || l->value : l->machine && !l->what)
			argp_error(st, l->clear ? "--clear accepts only a machine"
						: "want the kind of fault; docs/sim.md lists the "
						  "kinds");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int sim_fault_cli(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"rack", RACK, "DIR", 0,
		 "Directory of the rack: --data of `drover sim rack`, or rack in the directory of "
		 "`drover up` (default: ~/.drover/up/rack)",
		 0},
		{"when", WHEN, "POST|Agent|Node|inspect|wipe|verify|write|Request", 0,
		 "Limit the fault to a phase", 0},
		{"count", COUNT, "N", 0, "Number of times (default: no limit)", 0},
		{"value", VALUE, "N", 0,
		 "Value of the fault, if it needs one: seconds or an HTTP "
		 "status",
		 0},
		{"clear", CLEAR, NULL, 0, "Remove all faults, or those of one machine", 0},
		{0}};
	static const struct argp a = {
		.options = options,
		.parser = parse,
		.args_doc = "[MACHINE KIND]\n--clear [MACHINE]",
		.doc = "Add a fault to a machine of a running simulated rack, or show the present "
		       "faults. "
		       "Kinds: PowerLie PowerSlow BmcSlow BmcStatus BmcHang BmcGarbage "
		       "SessionsFull TaskFails MediaVanishes BootsDisk NoKubelet TokenRefused "
		       "PullDrive DriveUnreadable DriveLies WipeFails AgentSilent AgentVersion "
		       "Reboot PortLie WrongUUID RetryAfter and more (docs/sim.md).\v"
		       "Examples:\n  drover sim fault gpu-3 BmcHang\n"
		       "  drover sim fault gpu-3 WipeFails --when wipe --count 1\n"
		       "  drover sim fault gpu-3 BmcStatus --value 503\n  drover sim fault "
		       "--clear gpu-3\n",
	};
	struct line l = {.verb = argv[0]};
	struct err e;

	args_parse(&a, argc, argv, &l);
	OWN_JSON reply = ask(&l, &e);
	if (!reply) {
		fprintf(stderr, "%s: %s\n", l.verb, e.text);
		return 1;
	}
	print_faults(reply);
	return 0;
}
