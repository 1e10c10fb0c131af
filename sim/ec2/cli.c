#include "sim/ec2/cli.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/args.h"
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2.h"
#include "sim/common/run.h"

/*
 * `drover sim ec2` stores its secret key, its certificates and `credentials`, a file for the AWS
 * tools, in one directory. Instances are not stored.
 *
 * Tests: tests/real/ec2.py
 */
#define ACCESS_KEY "AKIADROVERSIMULATED1"
#define CONNECTIONS 2048
#define ZONES_MAX 32

enum { PLAIN = 0x7001, PRICES, PENDING, ENDING, GONE, ZONE, UNSIGNED };

struct ec2_options {
	int64_t pending_ms, ending_ms, gone_s;
	const char *listen, *data, *prices;
	const char *zones[ZONES_MAX + 1];
	size_t nzones;
	bool plain, unsigned_;
};

struct ec2_run {
	struct ec2_options o;
	struct sim_run run;
	struct sim_ec2_key key;
	struct sim_ec2 *sim;
	struct httpd *httpd;
	struct httpd_mhd *mhd;
};

static int write_credentials(struct ec2_run *r, struct err *e)
{
	char *text = mem_printf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
				ACCESS_KEY, secret_expose(r->run.password));
	int status = sim_folder_write(&r->run.folder, "credentials", text, e);

	secret_wipe(text, strlen(text));
	free(text);
	return status;
}

static json_t *read_prices(const struct ec2_run *r, struct err *e)
{
	char *text = sim_file_read(r->o.prices, e);
	json_t *j = text ? yaml_parse(text, strlen(text), e) : NULL;

	if (text && !j)
		err_note_wrap(e, "%s", r->o.prices);
	free(text);
	return j;
}

static int make_sim(struct ec2_run *r, struct err *e)
{
	struct sim_ec2_spec s = {.group = r->run.group,
				 .keys = &r->key,
				 .nkeys = r->o.unsigned_ ? 0 : 1,
				 .zones = r->o.nzones ? r->o.zones : NULL,
				 .pending_ms = r->o.pending_ms,
				 .ending_ms = r->o.ending_ms,
				 .gone_ms = r->o.gone_s * 1000};
	OWN_JSON prices = r->o.prices ? read_prices(r, e) : NULL;

	if (r->o.prices && !prices)
		return -1;
	s.prices = prices;
	r->key = (struct sim_ec2_key){.id = ACCESS_KEY, .secret = secret_expose(r->run.password)};
	r->sim = sim_ec2_new(&s, e);
	return r->sim ? 0 : r->o.prices ? err_wrap(e, "%s", r->o.prices) : -1;
}

static int begin(void *arg, struct err *e)
{
	struct ec2_run *r = arg;

	if (sim_run_folder(&r->run, r->o.data, e) < 0 || write_credentials(r, e) < 0 ||
	    (!r->o.plain && sim_run_certificates(&r->run, "ec2", "drover sim EC2", e) < 0) ||
	    make_sim(r, e) < 0)
		return -1;
	r->httpd = httpd_new(r->run.group);
	sim_ec2_routes(r->sim, r->httpd);
	r->mhd = sim_run_listen(&r->run, r->httpd, r->o.listen, CONNECTIONS, e);
	if (!r->mhd)
		return -1;
	sim_run_ready(&r->run);
	printf("EC2 on %s://127.0.0.1:%u\ncredentials in %s/credentials%s%s%s\n"
	       "/sim/instances shows the instances, /sim/bill their cost\n",
	       r->o.plain ? "http" : "https", httpd_mhd_port(r->mhd), r->o.data,
	       r->o.plain ? "" : ", CA in ", r->o.plain ? "" : r->o.data,
	       r->o.plain ? "" : "/ca.crt");
	fflush(stdout);
	return 0;
}

static void finish(void *arg)
{
	struct ec2_run *r = arg;

	httpd_mhd_free(r->mhd);
	httpd_free(r->httpd);
	sim_ec2_free(r->sim);
}

/* --- the command line ------------------------------------------------------------------------- */

static void add_zone(struct ec2_options *o, const char *zone, struct argp_state *st)
{
	size_t n = strlen(zone);

	if (n < 3 || n > 30 || zone[n - 1] < 'a' || zone[n - 1] > 'z' || !str_is_dns_label(zone))
		argp_error(st,
			   "--zone: want a region and a letter such as eu-west-1a, got "
			   "'%s'",
			   zone);
	if (o->nzones == ZONES_MAX)
		argp_error(st, "--zone: at most %d", ZONES_MAX);
	o->zones[o->nzones++] = zone;
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct ec2_options *o = st->input;

	switch (key) {
	case 'l':
		o->listen = arg;
		return 0;
	case 'd':
		o->data = arg;
		return 0;
	case PRICES:
		o->prices = arg;
		return 0;
	case ZONE:
		add_zone(o, arg, st);
		return 0;
	case PENDING:
		o->pending_ms = sim_run_number(arg, 1, 3600000, "pending-ms", st);
		return 0;
	case ENDING:
		o->ending_ms = sim_run_number(arg, 1, 3600000, "ending-ms", st);
		return 0;
	case GONE:
		o->gone_s = sim_run_number(arg, 1, 86400, "gone", st);
		return 0;
	case UNSIGNED:
		o->unsigned_ = true;
		return 0;
	case PLAIN:
		o->plain = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"listen", 'l', "ADDRESS:PORT", 0, "Listener (127.0.0.1:8445)", 0},
	{"data", 'd', "DIR", 0, "Directory for key, certificates and credentials (drover-ec2)", 0},
	{"prices", PRICES, "FILE", 0, "Instance types and prices (a few built-in types)", 0},
	{"zone", ZONE, "NAME", 0, "A zone; may be repeated (eu-west-1a, 1b, 1c, us-east-1a)", 0},
	{"pending-ms", PENDING, "N", 0, "Time from launch to running (20000)", 0},
	{"ending-ms", ENDING, "N", 0, "Time from termination to terminated (30000)", 0},
	{"gone", GONE, "SECONDS", 0, "Time for which a terminated instance is listed (3600)", 0},
	{"unsigned", UNSIGNED, NULL, 0, "Do not check signatures", 0},
	{"plain", PLAIN, NULL, 0, "HTTP without TLS", 0},
	{0}};

int sim_ec2_cli(int argc, char **argv)
{
	static const struct argp a = {
		options,
		parse,
		NULL,
		"Simulate Amazon EC2: accounts the cost of instances and launches nothing. POST "
		"/sim/faults adds faults (docs/sim.md).\v"
		"Examples:\n  drover sim ec2 --pending-ms 2000\n"
		"  drover sim ec2 --data /var/tmp/ec2 --prices prices.yaml --zone eu-west-1a "
		"--zone eu-west-1b\n",
		NULL,
		NULL,
		NULL};
	struct ec2_run r = {.o = {.listen = "127.0.0.1:8445", .data = "drover-ec2"},
			    .run = {.verb = "drover sim ec2"}};

	args_parse(&a, argc, argv, &r.o);
	return sim_run(&r.run, begin, finish, &r);
}
