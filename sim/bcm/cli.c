#include "sim/bcm/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/args.h"
#include "base/mem.h"
#include "sim/bcm/head_rack.h"
#include "sim/rack/cli.h"

/*
 * Tests: tests/unit/sim/test_cli.c
 */
#define HEAD_USER "drover"

enum { HEAD = RACK_KEYS_END, VERSION };

/* Head node of NVIDIA Base Command Manager (head.h) that manages the machines of the rack. */
struct head {
	struct sim_rack_options o;
	/* Address and reported version. */
	const char *address, *version;
	struct sim_head_rack *head;
	struct httpd *httpd;
	struct httpd_mhd *mhd;
	char *url;
};

static const char *head_url(const struct sim_rack_options *o, void *arg)
{
	struct head *h = arg;

	free(h->url);
	h->url = mem_printf("%s://%s", o->plain ? "http" : "https", h->address);
	return h->url;
}

static int begin(struct sim_run *r, const struct sim_rack_options *o, struct sim_rack *rack,
		 void *arg, struct err *e)
{
	struct head *h = arg;
	const struct sim_head_spec s = {.user = HEAD_USER,
					.password = r->password,
					.version = h->version,
					.boot_ms = 3000 / o->speed + 1,
					.install_ms = 20000 / o->speed + 1};

	h->head = sim_head_rack_new(rack, &s);
	h->httpd = httpd_new(r->group);
	sim_head_routes(sim_head_rack_head(h->head), h->httpd);
	h->mhd = sim_run_listen(r, h->httpd, h->address, 0, e);
	return h->mhd ? 0 : -1;
}

static void tell(void *arg)
{
	const struct head *h = arg;

	printf("BCM's head node is %s/json; user " HEAD_USER
	       ", the same password; /sim/nodes shows what its nodes do\n",
	       h->url);
}

static void end(void *arg)
{
	struct head *h = arg;

	httpd_mhd_free(h->mhd);
	httpd_free(h->httpd);
	sim_head_rack_free(h->head);
	free(h->url);
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct head *h = st->input;

	switch (key) {
	case HEAD:
		if (!strrchr(arg, ':') || *arg == ':')
			argp_error(st, "--head: want ADDRESS:PORT, got '%s'", arg);
		h->address = arg;
		return 0;
	case VERSION:
		h->version = arg;
		return 0;
	default:
		return sim_rack_parse(key, arg, st);
	}
}

static const struct argp_option options[] = {
	{"head", HEAD, "ADDRESS:PORT", 0, "Listener of the head node (127.0.0.1:8081)", 0},
	{"bcm-version", VERSION, "VERSION", 0, "Reported version: 10.25.3, 11.0 ... (11.0)", 0},
	SIM_RACK_OPTIONS,
	{0}};

int sim_bcm_cli(int argc, char **argv)
{
	static const struct argp a = {
		options,
		parse,
		NULL,
		"Simulate the head node of an NVIDIA Base Command Manager, and the rack of "
		"servers that are its nodes.\v"
		"Examples:\n  drover sim bcm --machines 8\n"
		"  drover sim bcm --machines 4 --bcm-version 10.25.3 --data /var/tmp/bcm\n",
		NULL,
		NULL,
		NULL};
	static const struct sim_rack_more more = {.verb = "drover sim bcm",
						  .head_url = head_url,
						  .begin = begin,
						  .tell = tell,
						  .end = end};
	struct head h = {.o = {.machines = 8,
			       .drives = 2,
			       .drive_gib = 16,
			       .speed = 1,
			       .listen = "0.0.0.0:8443",
			       .data = "drover-bcm",
			       .user = "admin"},
			 .address = "127.0.0.1:8081"};

	_Static_assert(offsetof(struct head, o) == 0, "sim_rack_parse() reads the first member");
	args_parse(&a, argc, argv, &h);
	return sim_rack_serve(&h.o, &more, &h);
}
