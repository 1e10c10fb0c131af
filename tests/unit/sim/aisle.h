#ifndef TESTS_UNIT_SIM_AISLE_H
#define TESTS_UNIT_SIM_AISLE_H

#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/httpd/http_mem.h"
#include "base/loop/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/machine.h"
#include "sim/rack.h"

/*
 * aisle: one simulated machine without a rack: a simulated loop, an in-memory network, and the
 * functions of sim/rack.h that a machine calls. This header defines those functions, so each test
 * program can include it only once.
 */
struct sim_rack {
	struct sim_rack_spec spec;
	struct loop_group *group;
	const char *segment;
	const struct sim_dialect *dialect;
	/* Phase and name of the fault that applies to the next `faults` calls */
	const char *fault_when, *fault_what;
	int faults;
};

struct aisle {
	struct loop *l;
	struct loop_group *g, *server_g;
	struct http_mem_net *net;
	struct http *http;
	/* HTTP server that the test uses */
	struct httpd *d;
	struct sim_rack rack;
	struct sim_machine m;
	char dir[64];
	struct arena *a;
	struct err e;
	unsigned changes;
};

const char *sim_rack_segment(const struct sim_machine *m)
{
	return m->rack->segment;
}

bool sim_rack_reaches(const struct sim_machine *m, const char *origin)
{
	for (const struct sim_route *t = m->rack->spec.routes; t && t->segment; t++)
		if (str_eq(t->origin, origin))
			return str_eq(t->segment, m->rack->segment);
	return m->rack->segment[0] != '\0';
}

const struct sim_dialect *sim_rack_dialect(const struct sim_machine *m)
{
	return m->rack->dialect;
}

struct loop_group *sim_rack_group(const struct sim_rack *r)
{
	return r->group;
}

const struct sim_rack_spec *sim_rack_spec_of(const struct sim_rack *r)
{
	return &r->spec;
}

bool sim_rack_fault(const struct sim_machine *m, const char *when, const char *what, int64_t *value)
{
	struct sim_rack *r = m->rack;

	(void)value;
	if (!r->faults || !str_eq(r->fault_when, when) || !str_eq(r->fault_what, what))
		return false;
	r->faults--;
	return true;
}

static inline void aisle_fault(struct aisle *f, const char *when, const char *what, int times)
{
	f->rack.fault_when = when;
	f->rack.fault_what = what;
	f->rack.faults = times;
}

static inline void aisle_on_changed(void *arg)
{
	((struct aisle *)arg)->changes++;
}

static inline void aisle_place(struct aisle *f)
{
	sim_machine_init(&f->m, &f->rack, 1);
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
	f->rack.group = f->g;
	f->rack.segment = "provisioning";
	f->rack.spec.http = f->http;
	f->rack.spec.drive_bytes = 1ll << 30;
	if (data) {
		str_copy(f->dir, sizeof(f->dir), "/tmp/drover-aisle-XXXXXX");
		assert_non_null(mkdtemp(f->dir));
		f->rack.spec.data = f->dir;
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
