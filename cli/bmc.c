#include "cli/bmc.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/http/http_curl.h"
#include "base/mem.h"
#include "base/loop/loop_uv.h"
#include "base/str.h"
#include "cli/bmc_login.h"
#include "cli/cli.h"
#include "providers/bmc_check.h"

#define FILE_BYTES (1 << 18) /* maximum size of a file in bytes; enough for a CA bundle */

struct probe {
	struct cli_client *c;
	struct bmc_check *check;
	unsigned wrong, signals;
	bool told;
};

static bool is_address(const char *what)
{
	return strstr(what, "://");
}

/* --- output ----------------------------------------------------------------------------------- */

static void print_head(FILE *out, const json_t *bmc)
{
	static const struct {
		const char *member, *words;
	} of[] = {{"vendor", ""},
		  {"product", ""},
		  {"firmwareVersion", "BMC "},
		  {"biosVersion", "BIOS "},
		  {"redfishVersion", "Redfish "},
		  {"systemUUID", "UUID "}};
	const char *comma = ": ";

	fputs(json_str_at(bmc, "address"), out);
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		const char *text = json_str_at(bmc, of[i].member);

		if (!text)
			continue;
		fprintf(out, "%s%s%s", comma, of[i].words, text);
		comma = ", ";
	}
	fputc('\n', out);
}

static void print(FILE *out, const json_t *told, unsigned wrong)
{
	size_t i;
	json_t *f;

	print_head(out, json_at(told, "bmc"));
	json_array_foreach (json_at(told, "findings"), i, f) {
		const char *mend = json_str_at(f, "mend");

		fprintf(out, "  %-5s  %s: %s\n", json_str_at(f, "result"), json_str_at(f, "of"),
			json_str_at(f, "says"));
		if (mend)
			fprintf(out, "         %s\n", mend);
	}
	json_array_foreach (json_at(told, "systems"), i, f)
		fprintf(out, "         %s\n", json_string_value(f));
	fprintf(out, wrong ? "%u wrong\n" : "nothing wrong\n", wrong);
}

static void on_told(const json_t *told, unsigned wrong, void *arg)
{
	struct probe *p = arg;

	p->told = true;
	p->wrong = wrong;
	if (p->c->json) {
		json_dumpf(told, p->c->out, JSON_INDENT(2));
		fputc('\n', p->c->out);
	} else {
		print(p->c->out, told, wrong);
	}
	loop_stop(p->c->loop);
}

/* --- probing ---------------------------------------------------------------------------------- */

/* Stops the probe: the first signal closes the BMC session after the current request, and then the
 * program ends. A second signal ends the program at once. */
static void on_signal(int signum, void *arg)
{
	struct probe *p = arg;

	(void)signum;
	if (p->signals++ == 0) {
		fprintf(stderr,
			"%s: closing the BMC session; press Ctrl-C again to quit at once and "
			"leave it open\n",
			p->c->verb);
		bmc_check_stop(p->check);
	} else {
		loop_stop(p->c->loop);
	}
}

static int ask(struct cli_client *c, struct bmc_check_spec *s)
{
	struct probe p = {.c = c};
	struct loop_signal *in, *term;
	struct err e;

	s->group = c->group;
	s->http = c->http;
	s->done = on_told;
	s->arg = &p;
	p.check = bmc_check_new(s, &e);
	if (!p.check)
		return cli_failed(c, "%s", e.text);
	in = loop_signal(c->group, SIGINT, on_signal, &p);
	term = loop_signal(c->group, SIGTERM, on_signal, &p);
	loop_run(c->loop);
	loop_signal_free(in);
	loop_signal_free(term);
	bmc_check_free(p.check);
	return !p.told || p.wrong || p.signals ? 1 : 0;
}

/* Returns the length of text without one line end (\n, or \r\n from Windows editors) at its end. */
static size_t without_line_end(const char *text, size_t n)
{
	n -= n > 0 && text[n - 1] == '\n';
	return n - (n > 0 && text[n - 1] == '\r');
}

/* Reads a file ("-": standard input) without its last line end. Returns the text, owned by the
 * caller; NULL with *e. */
static struct secret *read_secret(const char *path, struct err *e)
{
	FILE *f = str_eq(path, "-") ? stdin : fopen(path, "re");
	struct secret *s = NULL;
	char *text;
	size_t n;

	if (!f) {
		err_note_errno(e, errno, "%s", path);
		return NULL;
	}
	text = mem_alloc(FILE_BYTES);
	n = fread(text, 1, FILE_BYTES - 1, f);
	if (ferror(f) || n == FILE_BYTES - 1)
		err_note(e, ERR_INVALID, 0, "%s: cannot be read, or is larger than 256 KiB", path);
	else
		s = secret_new(text, without_line_end(text, n));
	secret_wipe(text, FILE_BYTES);
	free(text);
	if (f != stdin)
		fclose(f);
	return s;
}

static const char *pin_of(const char *text)
{
	return text && str_starts(text, "sha256:") ? text + strlen("sha256:") : text;
}

static int probe_address(struct cli_client *c, const struct cli_bmc_probe *o)
{
	struct err e;
	OWN(secret) password = read_secret(o->password_file, &e);
	OWN(secret) ca = password && o->ca_file ? read_secret(o->ca_file, &e) : NULL;
	struct bmc_check_spec s = {.address = o->what,
				   .user = o->user,
				   .pin_sha256 = pin_of(o->fingerprint),
				   .learn_pin = !o->ca_file && !o->fingerprint,
				   .plain_ok = o->plain_ok};

	if (!password || (o->ca_file && !ca))
		return cli_failed(c, "%s", e.text);
	s.password = password;
	s.ca_pem = ca ? secret_expose(ca) : NULL;
	return ask(c, &s);
}

static int probe_machine(struct cli_client *c, const struct cli_bmc_probe *o, struct arena *a,
			 struct cli_bmc *b)
{
	const struct machine_bmc *at;
	struct bmc_check_spec s = {.plain_ok = o->plain_ok};
	struct err e;
	const char *type;

	if (cli_bmc_read(c, a, o->what, b, &e) < 0)
		return cli_failed(c, "machine %s: %s", o->what, e.text);
	type = provider_object_type_names[b->p->spec.type];
	if (!str_eq(type, "redfish") && !str_eq(type, "bcm"))
		return cli_failed(c, "machine %s: provider type %s has no Redfish BMC", o->what,
				  type);
	if (cli_bmc_login(c, o->ns, b, &e) < 0)
		return cli_failed(c, "machine %s: %s", o->what, e.text);
	at = b->m->spec.bmc;
	s.address = at->address;
	s.user = secret_expose(b->user);
	s.password = b->password;
	s.ca_pem = b->ca ? secret_expose(b->ca) : NULL;
	s.pin_sha256 = pin_of(at->tls.fingerprint);
	if (!s.pin_sha256 && at->tls.trust_on_first_use)
		s.pin_sha256 = pin_of(b->m->status.bmc.fingerprint);
	s.learn_pin = at->tls.trust_on_first_use && !s.pin_sha256;
	return ask(c, &s);
}

int cli_do_bmc_probe(struct cli_client *c, const struct cli_bmc_probe *o)
{
	OWN(arena) a = arena_new();
	struct cli_bmc b = {0};
	int status;

	if (is_address(o->what))
		return probe_address(c, o);
	status = probe_machine(c, o, a, &b);
	cli_bmc_done(&b);
	return status;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { PASSWORD = 0x7201, PASSWORD_FILE, CA_FILE, FINGERPRINT };

struct bmc_args {
	struct cli_options o;
	struct cli_bmc_probe probe;
	const char *what;
};

static const struct argp_option options[] = {
	{"user", 'u', "NAME", 0, "User name for the BMC at ADDRESS", 0},
	{"password-file", PASSWORD_FILE, "FILE", 0, "File with the password; -: standard input", 0},
	{"password", PASSWORD, "", OPTION_HIDDEN, NULL, 0},
	{"ca-file", CA_FILE, "FILE", 0,
	 "File with the CA certificate that signed the BMC's certificate (PEM)", 0},
	{"fingerprint", FINGERPRINT, "sha256:HEX", 0,
	 "Accept only the certificate with this SHA-256 fingerprint", 0},
	CLI_NAMESPACE_ROW,
	CLI_OPTION_ROWS};

static void check_words(const struct bmc_args *q, struct argp_state *st)
{
	const struct cli_bmc_probe *o = &q->probe;

	if (!q->what || !o->what) {
		argp_error(st, "give a BMC: probe ADDRESS, or probe MACHINE");
		return;
	}
	if (is_address(o->what) && (!o->user || !o->password_file))
		argp_error(st, "with ADDRESS, give --user and --password-file");
	if (is_address(o->what) && !str_starts(o->what, "https://"))
		argp_error(st, "the address must begin with https://");
	if (!is_address(o->what) && (o->user || o->password_file || o->ca_file || o->fingerprint))
		argp_error(st,
			   "a Machine is probed with the login and certificate of its spec.bmc; "
			   "remove --user, --password-file, --ca-file and --fingerprint");
	if (o->ca_file && o->fingerprint)
		argp_error(st, "give only one of --ca-file and --fingerprint");
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct bmc_args *q = st->input;

	switch (key) {
	case 'u':
		q->probe.user = arg;
		return 0;
	/* refused, because every user who can list processes sees the command line */
	case PASSWORD:
		argp_error(st, "a password on the command line is visible to other users; use "
			       "--password-file");
		return 0;
	case PASSWORD_FILE:
		q->probe.password_file = arg;
		return 0;
	case CA_FILE:
		q->probe.ca_file = arg;
		return 0;
	case FINGERPRINT:
		q->probe.fingerprint = arg;
		return 0;
	case 'n':
		q->probe.ns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!q->what && !str_eq(arg, "probe"))
			argp_error(st, "unknown subcommand '%s': want probe", arg);
		else if (!q->what)
			q->what = arg;
		else if (q->probe.what)
			argp_error(st, "one BMC at a time");
		else
			q->probe.what = arg;
		return 0;
	case ARGP_KEY_END:
		check_words(q, st);
		return 0;
	default:
		return cli_option(key, arg, st, &q->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "probe ADDRESS|MACHINE",
	.doc = "Show how drover would use a BMC: identity, power, boot of the agent, media, "
	       "drives, active quirks and latency; which functions the BMC lacks, and what drover "
	       "then cannot do.\vExamples:\n"
	       "  drover bmc probe https://10.0.8.17 --user drover --password-file pw\n"
	       "  drover bmc probe gpu-r1-07 -o json\n"
	       "The probe reads what drover reads, from this computer, and changes nothing: it "
	       "opens one session at the BMC and closes it. Without --ca-file or --fingerprint the "
	       "probe trusts the certificate that the BMC shows first (before the probe sends the "
	       "password), and prints that certificate's fingerprint. Exit status 1: something is "
	       "wrong, or the probe could not read the BMC.",
};

int cli_bmc(int argc, char **argv)
{
	struct bmc_args q = {.probe = {.ns = "drover-system"}};
	struct cli_client c = {.verb = "drover bmc", .out = stdout};
	int status;

	args_parse(&argp, argc, argv, &q);
	if (is_address(q.probe.what)) {
		c.json = q.o.json;
		c.loop = loop_uv_new();
		c.group = loop_group_new(c.loop, "cli");
		c.http = http_new(c.group, http_curl_new(c.group, 4), 4);
	} else if (cli_open(&c, "drover bmc", &q.o) < 0) {
		return 1;
	}
	status = cli_do_bmc_probe(&c, &q.probe);
	cli_close(&c);
	return status;
}
