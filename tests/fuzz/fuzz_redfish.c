#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "redfish/redfish.h"
/* A fuzz target is one source file, so the fake BMC is included. */
#include "tests/contract/fake_bmc.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Simulates a BMC that answers one request with the input, and all others properly.
 *
 *   byte 0: index of the request   byte 1: HTTP status   byte 2: dialect
 *   rest: the body, or, if byte 1 is odd, the Location
 */
#define ORIGIN "https://10.0.8.17"
#define OPERATIONS 8

struct input {
	unsigned at;
	int status;
	bool as_location;
	const char *text;
	size_t len;
};

static bool tamper(struct httpd_req *q, unsigned n, void *arg)
{
	const struct input *in = arg;

	if (n != in->at)
		return false;
	if (in->as_location) {
		char *value = mem_strndup(in->text, in->len);

		for (char *c = value; *c; c++)
			if ((unsigned char)*c < 0x20 || *c == 0x7f)
				*c = ' ';
		httpd_reply_header(q, "Location", value);
		httpd_reply_header(q, "ETag", value);
		httpd_reply_header(q, "X-Auth-Token", "t");
		free(value);
		httpd_reply_json(q, in->status, "{}");
	} else {
		httpd_reply(q, in->status, "application/json", in->text, in->len);
	}
	return true;
}

static void on_plain(const struct err *e, void *arg)
{
	(void)e;
	++*(unsigned *)arg;
}

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	assert((s == NULL) == (e != NULL));
	++*(unsigned *)arg;
}

static void on_able(const struct redfish_abilities *a, const struct err *e, void *arg)
{
	assert((a == NULL) == (e != NULL));
	assert(!a || !a->tpm || strlen(a->tpm) < 256);
	++*(unsigned *)arg;
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	assert((m == NULL) == (e != NULL));
	++*(unsigned *)arg;
}

static void dialect(struct fake_bmc *b, unsigned bits)
{
	b->managers_media = bits & 1;
	b->action_info = bits & 2;
	b->pending_boot = bits & 4;
	b->etags = bits & 8;
	b->patch_media = bits & 16;
	b->basic_only = bits & 32;
	b->redirect = bits & 64;
	b->vendor = bits & 128 ? "Supermicro" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = {200, 201, 202, 204, 301, 308, 400, 401,
				       403, 404, 409, 412, 415, 428, 500, 503};
	struct input in;
	struct loop *l;
	struct loop_group *g;
	struct http_mem_net *net;
	struct http *h;
	struct fake_bmc bmc;
	struct redfish *r;
	struct redfish_facts known;
	struct err e;
	unsigned answers = 0;

	if (size < 3)
		return 0;
	in = (struct input){.at = data[0] % 24,
			    .status = statuses[(data[1] >> 1) % 16],
			    .as_location = data[1] & 1,
			    .text = (const char *)data + 3,
			    .len = size - 3};
	l = loop_sim_new(1, 0);
	g = loop_group_new(l, "fuzz");
	net = http_mem_net_new(l);
	h = http_new(g, http_mem_transport(net, g, "10.0.0.1", NULL, NULL), 4);
	fake_bmc_init(&bmc, g);
	dialect(&bmc, data[2]);
	bmc.tamper = tamper;
	bmc.tamper_arg = &in;
	http_mem_serve(net, ORIGIN, bmc.httpd);
	OWN(secret) password = secret_from_str("correct horse");
	r = redfish_new(g, h,
			&(struct redfish_spec){
				.system_url = ORIGIN, .user = "drover", .password = password},
			&e);
	assert(r);
	redfish_read_system(r, on_system, &answers);
	redfish_read_abilities(r, on_able, &answers);
	redfish_power(r, true, on_plain, &answers);
	redfish_boot(r, REDFISH_BOOT_CD, NULL, on_plain, &answers);
	redfish_insert(r, "http://10.0.8.2/a.iso", NULL, on_plain, &answers);
	redfish_read_media(r, on_media, &answers);
	redfish_eject(r, on_plain, &answers);
	redfish_boot(r, REDFISH_BOOT_NONE, NULL, on_plain, &answers);
	loop_sim_run_until(l, 2 * REDFISH_OP_MS);
	assert(answers == OPERATIONS);
	known = redfish_facts(r);
	assert(!known.firmware || strlen(known.firmware) < 256);
	redfish_free(r);
	http_free(h);
	fake_bmc_done(&bmc);
	http_mem_net_free(net);
	loop_group_free(g);
	loop_free(l);
	return 0;
}
