#ifndef TESTS_UNIT_SIM_MACHINE_AISLE_H
#define TESTS_UNIT_SIM_MACHINE_AISLE_H

#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/machine/fault_list.h"
#include "sim/rack/firmware.h"
#include "sim/machine/machine.h"

/*
 * aisle: one simulated machine without a rack and without a BMC: a simulated loop, an in-memory
 * network, and the site of the machine.
 */
struct aisle {
	struct loop *l;
	struct loop_group *g, *server_g;
	struct http_mem_net *net;
	struct http *http;
	/* HTTP server that the test uses */
	struct httpd *d;
	struct sim_site site;
	/* Segment of the machine's port */
	const char *segment;
	struct sim_machine m;
	char dir[64];
	struct arena *a;
	struct err e;
	unsigned changes;
};

/* Makes the fault apply to the next `times` calls; 0: no fault. */
static inline void aisle_fault(struct aisle *f, const char *when, const char *what, int times)
{
	char *text = mem_printf("{\"faults\": [{\"machine\": \"*\", \"when\": \"%s\", "
				"\"what\": \"%s\", \"count\": %d}]}",
				when, what, times);

	fault_list_clear(f->site.faults, NULL);
	if (times)
		assert_ok(fault_list_add(f->site.faults, text, strlen(text), &f->e), &f->e);
	free(text);
}

/* Moves the machine's port to this segment. */
static inline void aisle_move(struct aisle *f, const char *segment)
{
	f->segment = segment;
	sim_text_set(&f->m.segment, segment);
}

static inline void aisle_on_changed(void *arg)
{
	((struct aisle *)arg)->changes++;
}

static inline void aisle_place(struct aisle *f)
{
	sim_machine_init(&f->m, &f->site, 1, NULL);
	aisle_move(f, f->segment);
	f->m.changed = aisle_on_changed;
	f->m.bmc = f;
	assert_int_equal(f->m.problem.kind, ERR_NONE);
}

/* Creates the test fixture. data: true: the state of the simulated machine is stored in files. */
static inline struct aisle *aisle_new(bool data)
{
	struct aisle *f = mem_new(struct aisle);

	f->a = arena_new();
	f->l = loop_sim_new(7, 1764000000000);
	f->g = loop_group_new(f->l, "rack");
	f->server_g = loop_group_new(f->l, "drover");
	f->net = http_mem_net_new(f->l);
	f->http = http_new(f->g, http_mem_transport(f->net, f->g, "10.1.0.17", NULL, NULL), 0);
	f->d = httpd_new(f->server_g);
	f->segment = "provisioning";
	f->site.group = f->g;
	f->site.firmware = &sim_firmware;
	f->site.faults = fault_list_new(NULL);
	f->site.http = f->http;
	f->site.drive_bytes = 1ll << 30;
	if (data) {
		str_copy(f->dir, sizeof(f->dir), "/tmp/drover-aisle-XXXXXX");
		assert_non_null(mkdtemp(f->dir));
		f->site.data = f->dir;
	}
	aisle_place(f);
	return f;
}

static inline void aisle_run(struct aisle *f, int64_t ms)
{
	loop_sim_run_until(f->l, loop_now(f->l) + ms);
}

/* Kills and restarts the process that simulates the machine. */
static inline void aisle_kill(struct aisle *f)
{
	sim_machine_done(&f->m);
	aisle_place(f);
}

static inline void aisle_free(struct aisle *f)
{
	static const char *const files[] = {"gpu-1.json", "gpu-1-drive0", "gpu-1-drive1"};
	char path[128];

	sim_machine_done(&f->m);
	fault_list_free(f->site.faults);
	http_free(f->http);
	httpd_free(f->d);
	http_mem_net_free(f->net);
	loop_group_free(f->g);
	loop_group_free(f->server_g);
	loop_free(f->l);
	arena_free(f->a);
	for (size_t i = 0; f->dir[0] && i < sizeof(files) / sizeof(*files); i++) {
		str_format(path, sizeof(path), "%s/%s", f->dir, files[i]);
		unlink(path);
	}
	if (f->dir[0])
		rmdir(f->dir);
	free(f);
}

#endif
