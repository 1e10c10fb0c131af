/*
 * provider: machines that a BCM head node installs and switches on and off, and whose BMCs drover
 * queries itself.
 *
 *   observe		  BMC: power, identity, overrides, media; with a handle also BCM's state
 *   boot, media, drives, log_out	BMC: drover's agent is booted without BCM, because each boot
 *   		  has a secret of its own
 *   power		  BCM (powerOperation), so that BCM knows of the change; the effect is
 *   		  observed at the BMC
 *   acquire, release  BCM
 *
 * Before anything is changed in BCM, the BMC and the node are checked: the machine is the expected
 * one (fits()), the node is one that drover may manage, no other drover owns the node, and BCM's
 * BMC address for the node is the address that was just observed. So a mistyped node name never
 * reaches another machine.
 *
 *   observe (BMC) --> fits, session --> getDevice: fit, owner, BMC address --> may_act --> change
 *
 * Jobs (calls in the queue, see jobs.h) for BCM have a queue of their own, with one running job for
 * each machine. A job begins with an observation, which waits in the queue of the BMCs; the job's
 * time limit starts with the observation. So a hanging head node does not delay observations of
 * BMCs.
 * Tests: tests/contract/test_provider.c, tests/contract/test_bcm.c
 */
#include "providers/bcm/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/bcm/acquire.h"
#include "providers/bcm/discover.h"
#include "providers/bcm/status.h"
#include "providers/jobs.h"
#include "providers/registry.h"

struct bcm_provider {
	struct loop_group *group;
	/* Provider of type redfish, through which the BMCs are called */
	struct provider bmcs;
	struct bcm *bcm;
	struct bcm_statuses *statuses;
	struct bcm_discovery *discovery;
	/* Queue of jobs for BCM. It has no limits of its own: each job first waits in the queue of
	 * `bmcs`. */
	struct job_queue queue;
	void (*found)(const struct provider_inventory *i, const struct err *e, void *arg);
	void *found_arg;
};

struct bcm_machine {
	struct provider_machine base;
	struct bcm_provider *bp;
	/* The same machine as attached to bp->bmcs */
	struct provider_machine *bmc;
	char *name, *uid, *node, *bmc_host;
	/* Calls in progress for the running job: request, asker, acquire; NULL: none */
	struct bcm_request *request;
	struct bcm_asker *asker;
	struct bcm_acquire *acquire;
};

static struct bcm_machine *bcm_machine_of(const struct provider_machine *m)
{
	return container_of(m, struct bcm_machine, base);
}

static struct bcm_machine *machine_of(const struct job *j)
{
	return bcm_machine_of(j->machine);
}

/* Attributes errors and timeouts of the job from now on to BCM, not to the BMC. */
static void go_to_bcm(struct job *j)
{
	j->machine->silent = PROVIDER_OF_MANAGER;
}

static void fail(struct job *j, const struct err *failed)
{
	struct err e = *failed;

	if (j->machine->silent)
		e.code = j->machine->silent;
	job_end(j, NULL, &e);
}

static bool may_act(void *arg)
{
	struct err e;

	return job_may_act(arg, &e);
}

static void on_look_begun(int64_t waited_ms, void *arg)
{
	job_begun(arg, waited_ms);
}

/* --- the node in BCM -------------------------------------------------------------------------- */

static void read_node(struct job *j,
		      void (*done)(struct exact result, const struct err *e, void *arg))
{
	struct bcm_call c = {.service = "cmdevice",
			     .call = "getDevice",
			     .null_is_none = true,
			     .done = done,
			     .arg = j};

	c.args = arena_printf(j->strings, "[%s]", exact_quote(machine_of(j)->node, j->strings));
	machine_of(j)->request = bcm_call(machine_of(j)->bp->bcm, &c);
}

static int no_node(const struct job *j, const struct err *failed, struct err *e)
{
	*e = *failed;
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	err_note(e, ERR_NOT_FOUND, 0, "BCM has no node %.60s: correct spec.node",
		 machine_of(j)->node);
	e->scope = ERR_MACHINE;
	return -1;
}

/* Returns 0 if BCM's BMC address for the node is the address at which the BMC was observed.
 * Otherwise ERR_INVALID. */
static int is_the_machine(const struct job *j, const struct bcm_node *n, struct err *e)
{
	if (n->bmc_address &&
	    /* mutant: bcm-node-unproved */ address_same(n->bmc_address, machine_of(j)->bmc_host))
		return 0;
	err_note(e, ERR_INVALID, 0,
		 "node %.60s has BMC address %s in BCM, but the machine's BMC answers from %s: "
		 "correct spec.node or spec.bmc.address",
		 n->hostname, str_or(n->bmc_address, "(none)"), machine_of(j)->bmc_host);
	e->scope = ERR_MACHINE;
	return -1;
}

static void on_done(const struct err *e, void *arg)
{
	struct job *j = arg;

	machine_of(j)->acquire = NULL; /* Forget the acquire, which frees itself after done(). */
	if (e) {
		fail(j, e);
		return;
	}
	if (j->kind == JOB_ACQUIRE)
		j->told = j->op_id;
	job_end(j, NULL, NULL);
}

/* Handles the reply to powerOperation. {"count": 0} is an error, because it means that no node was
 * switched; BCM itself does not report this as an error. */
static void on_switched(struct exact result, const struct err *failed, void *arg)
{
	struct job *j = arg;
	int64_t count;
	struct err e;

	machine_of(j)->request = NULL;
	if (failed) {
		fail(j, failed);
		return;
	}
	if (exact_i64(exact_member(result, "count"), &count) && count > 0) {
		job_end(j, NULL, NULL);
		return;
	}
	err_note(
		&e, ERR_PROTOCOL, 0,
		"BCM accepted power %s for node %.60s but switched no node: check its powerControl",
		j->on ? "on" : "off", machine_of(j)->node);
	e.scope = ERR_MACHINE;
	fail(j, &e);
}

static void switch_power(struct job *j, const struct bcm_node *n)
{
	struct bcm_call c = {.service = "cmdevice",
			     .call = "powerOperation",
			     .may_act = may_act,
			     .may_act_arg = j,
			     .done = on_switched,
			     .arg = j};

	c.args = arena_printf(
		j->strings,
		"[{\"baseType\":\"PowerOperation\",\"devices\":[%s],\"operation\":\"%s\","
		"\"force\":true,\"wait\":false}]",
		exact_quote(n->uuid, j->strings), j->on ? "ON" : "OFF");
	machine_of(j)->request = bcm_call(machine_of(j)->bp->bcm, &c);
}

static void begin_acquire(struct job *j)
{
	struct bcm_acquire_spec s = {.bcm = machine_of(j)->bp->bcm,
				     .group = machine_of(j)->bp->group,
				     .node = machine_of(j)->node,
				     .machine = str_or(machine_of(j)->uid, machine_of(j)->name),
				     .name = machine_of(j)->name,
				     .token = j->call.op_id,
				     .fence = j->call.fence,
				     .target = j->kind == JOB_ACQUIRE ? &j->target : NULL,
				     .may_act = may_act,
				     .done = on_done,
				     .arg = j};

	machine_of(j)->acquire = bcm_acquire_start(&s);
}

static void on_node(struct exact device, const struct err *failed, void *arg)
{
	struct job *j = arg;
	struct bcm_node n;
	struct err e;

	machine_of(j)->request = NULL;
	if (failed) {
		(void)!no_node(j, failed, &e);
		fail(j, &e);
	} else if (bcm_node_read(device, j->strings, &n, &e) < 0 || bcm_node_fit(&n, &e) < 0 ||
		   is_the_machine(j, &n, &e) < 0 ||
		   bcm_holder_check(&n, str_or(machine_of(j)->uid, machine_of(j)->name),
				    j->call.fence, &e) < 0) {
		fail(j, &e);
	} else if (j->kind == JOB_POWER) {
		switch_power(j, &n);
	} else {
		begin_acquire(j);
	}
}

/* --- progress of an install ------------------------------------------------------------------- */

static void tell(struct job *j, enum provider_progress progress, const char *text)
{
	j->seen.progress = progress;
	j->seen.handle_state = text;
	job_end(j, &j->seen, NULL);
}

/* Handles the device of a node whose state is UP. UP alone may come from the system before the
 * install. The install is done only if the mark has the token of this install and
 * nextBootInstallMode is no longer FULL; BCM clears FULL when the node boots for the install. */
static void on_up(struct exact device, const struct err *failed, void *arg)
{
	struct job *j = arg;
	struct bcm_node n;
	struct err e;

	machine_of(j)->request = NULL;
	if (failed) {
		(void)!no_node(j, failed, &e);
		fail(j, &e);
	} else if (bcm_node_read(device, j->strings, &n, &e) < 0) {
		fail(j, &e);
	} else if (!str_eq(n.lock.token, j->call.handle)) {
		tell(j, PROVIDER_PROGRESS_FAILED,
		     "UP, but extra_values does not hold the mark that drover wrote for this "
		     "installation of the node: another "
		     "writer changed the node");
	} else if (/* mutant: bcm-up-believed */ str_eq(n.next_install_mode, "FULL")) {
		tell(j, PROVIDER_PROGRESS_UNBEGUN,
		     "UP, still with the system from before the install");
	} else {
		tell(j, PROVIDER_PROGRESS_DONE, "UP");
	}
}

static void on_state(const struct bcm_state *s, const struct err *e, void *arg)
{
	static const enum provider_progress means[] = {
		[BCM_UNKNOWN] = PROVIDER_PROGRESS_UNKNOWN, [BCM_DOWN] = PROVIDER_PROGRESS_UNBEGUN,
		[BCM_WAITING] = PROVIDER_PROGRESS_WAITING, [BCM_BURNING] = PROVIDER_PROGRESS_HELD,
		[BCM_UP] = PROVIDER_PROGRESS_DONE,	   [BCM_FAILED] = PROVIDER_PROGRESS_FAILED,
	};
	struct job *j = arg;
	const char *text;

	machine_of(j)->asker = NULL;
	if (e) {
		fail(j, e);
		return;
	}
	text = arena_printf(j->strings, "%s%s%s%s", s->name, s->closed ? "/CLOSED" : "",
			    str_empty(s->text) ? "" : ": ", str_or(s->text, ""));
	if (s->phase == BCM_UP && !s->closed)
		read_node(j, on_up);
	else
		tell(j,
		     s->closed && s->phase != BCM_FAILED ? PROVIDER_PROGRESS_HELD : means[s->phase],
		     text);
}

static void on_uuid(struct exact device, const struct err *failed, void *arg)
{
	struct job *j = arg;
	struct bcm_node n;
	struct err e;

	machine_of(j)->request = NULL;
	if (failed) {
		(void)!no_node(j, failed, &e);
		fail(j, &e);
	} else if (bcm_node_read(device, j->strings, &n, &e) < 0) {
		fail(j, &e);
	} else {
		machine_of(j)->asker = bcm_status_ask(machine_of(j)->bp->statuses, n.uuid,
						      n.hostname, on_state, j);
	}
}

/* --- the observation that begins every job ---------------------------------------------------- */

static void keep(struct job *j, const struct provider_observation *o)
{
	struct provider_observation *s = &j->seen;

	*s = *o;
	s->system_uuid = arena_strdup(j->strings, o->system_uuid);
	s->serial = arena_strdup(j->strings, o->serial);
	s->media_url = arena_strdup(j->strings, o->media_url);
	s->http_url = arena_strdup(j->strings, o->http_url);
	s->address = arena_strdup(j->strings, o->address);
	s->session_uri = arena_strdup(j->strings, o->session_uri);
	s->learned_pin = arena_strdup(j->strings, o->learned_pin);
	if (o->address) {
		free(machine_of(j)->bmc_host);
		machine_of(j)->bmc_host = mem_strdup(o->address);
	}
}

static void on_look(const struct provider_observation *o, const char *handle,
		    const struct err *failed, void *arg)
{
	struct job *j = arg;
	struct err e;

	(void)handle;
	if (failed || j->abandoned) {
		job_end(j, NULL, failed);
		return;
	}
	keep(j, o);
	if (j->kind == JOB_OBSERVE) {
		go_to_bcm(j);
		read_node(j, on_uuid);
		return;
	}
	if (j->call.session && !str_eq(j->call.session, str_or(o->session_uri, ""))) {
		err_note(&e, ERR_UNAVAILABLE, 0,
			 "the BMC session is new and must be recorded in status before it is used");
		e.scope = ERR_MACHINE;
		fail(j, &e);
		return;
	}
	if (j->call.fits && j->call.fits(&j->seen, j->call.arg, &e) < 0) {
		fail(j, &e);
	} else {
		go_to_bcm(j);
		read_node(j, on_node);
	}
}

static void run(struct job *j)
{
	struct bcm_provider *bp = machine_of(j)->bp;
	struct provider_call look = {.op_id = j->call.op_id,
				     .fence = j->call.fence,
				     .awaited = j->call.awaited,
				     .begun = on_look_begun,
				     .done = on_look,
				     .arg = j};

	if (!j->strings)
		j->strings = arena_new();
	bp->bmcs.ops->hardware->observe(&bp->bmcs, machine_of(j)->bmc, &look);
}

/* --- provider operations ---------------------------------------------------------------------- */

static int bcm_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	const struct provider_manager *g = s->manager;
	struct bcm_provider *bp;
	struct bcm_spec bs;

	if (!g || str_empty(g->endpoint))
		return err_set(e, ERR_INVALID, 0, "provider %s: no head node is configured",
			       s->name);
	bs = (struct bcm_spec){.endpoint = g->endpoint,
			       .ca_pem = g->ca_pem,
			       .pin_sha256 = g->pin_sha256,
			       .cert_pem = g->cert_pem,
			       .key_pem = g->key_pem,
			       .user = g->user,
			       .password = g->password,
			       .plain_ok = s->plain_ok};
	bp = mem_new(struct bcm_provider);
	bp->group = s->group;
	bp->bmcs =
		(struct provider){.ops = &redfish_provider_ops, .name = p->name, .group = s->group};
	list_init(&bp->bmcs.refusals);
	if (bp->bmcs.ops->open(&bp->bmcs, s, e) < 0) {
		free(bp);
		return -1;
	}
	bp->bcm = bcm_new(s->group, s->http, &bs, e);
	if (!bp->bcm) {
		bp->bmcs.ops->close(&bp->bmcs);
		free(bp);
		return err_wrap(e, "provider %s", s->name);
	}
	bp->statuses = bcm_statuses_new(s->group, bp->bcm);
	job_queue_over(&bp->queue, s->group, run);
	p->state = bp;
	return 0;
}

static void bcm_close(struct provider *p)
{
	struct bcm_provider *bp = p->state;

	job_queue_done(&bp->queue);
	bcm_discovery_cancel(bp->discovery);
	bcm_statuses_free(bp->statuses);
	bcm_free(bp->bcm);
	bp->bmcs.ops->close(&bp->bmcs);
	free(bp);
}

/* Returns the host part of a URL such as https://10.0.8.17:443/redfish/v1/Systems/1. It is used as
 * the BMC's address until an observation reports the address. */
static char *host_of(const char *url)
{
	const char *at = strstr(url, "://");
	size_t n;

	at = at ? at + 3 : url;
	n = *at == '[' ? strcspn(at, "]") : strcspn(at, ":/");
	return mem_strndup(at + (*at == '['), n - (*at == '['));
}

static struct provider_machine *bcm_attach(struct provider *p,
					   const struct provider_machine_spec *s, struct err *e)
{
	struct bcm_provider *bp = p->state;
	struct provider_machine *bmc = bp->bmcs.ops->attach(&bp->bmcs, s, e);
	struct bcm_machine *m;

	if (!bmc)
		return NULL;
	m = mem_new(struct bcm_machine);
	job_machine_init(&m->base, &bp->queue);
	m->bp = bp;
	m->bmc = bmc;
	m->name = mem_strdup(s->name);
	m->uid = mem_strdup(s->uid);
	m->node = mem_strdup(str_or(s->node, s->name));
	m->bmc_host = host_of(s->bmc_address);
	return &m->base;
}

static void bcm_detach(struct provider *p, struct provider_machine *base)
{
	struct bcm_provider *bp = p->state;
	struct bcm_machine *m = bcm_machine_of(base);

	bp->bmcs.ops->detach(&bp->bmcs, m->bmc);
	bcm_cancel(m->request);
	bcm_status_cancel(m->asker);
	bcm_acquire_cancel(m->acquire);
	job_machine_done(base);
	free(m->name);
	free(m->uid);
	free(m->node);
	free(m->bmc_host);
	free(m);
}

static void bcm_observe(struct provider *p, struct provider_machine *m,
			const struct provider_call *c)
{
	struct bcm_provider *bp = p->state;

	if (c->handle)
		job_ask(m, JOB_OBSERVE, c);
	else
		bp->bmcs.ops->hardware->observe(&bp->bmcs, bcm_machine_of(m)->bmc, c);
}

static void bcm_power(struct provider *p, struct provider_machine *m, bool on,
		      const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_POWER, c)->on = on;
}

static void bcm_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		     const char *url, const struct provider_call *c)
{
	struct bcm_provider *bp = p->state;

	bp->bmcs.ops->hardware->boot(&bp->bmcs, bcm_machine_of(m)->bmc, how, url, c);
}

static void bcm_media(struct provider *p, struct provider_machine *m, const char *url,
		      const struct provider_call *c)
{
	struct bcm_provider *bp = p->state;

	bp->bmcs.ops->hardware->media(&bp->bmcs, bcm_machine_of(m)->bmc, url, c);
}

static void bcm_drives(struct provider *p, struct provider_machine *m,
		       const struct provider_call *c)
{
	struct bcm_provider *bp = p->state;

	bp->bmcs.ops->hardware->drives(&bp->bmcs, bcm_machine_of(m)->bmc, c);
}

static void bcm_log_out(struct provider *p, struct provider_machine *m,
			const struct provider_call *c)
{
	struct bcm_provider *bp = p->state;

	bp->bmcs.ops->hardware->log_out(&bp->bmcs, bcm_machine_of(m)->bmc, c);
}

static void bcm_acquire_slot(struct provider *p, struct provider_machine *m,
			     const struct provider_target *t, const struct provider_call *c)
{
	struct job *j = job_ask(m, JOB_ACQUIRE, c);
	const char **clear;

	(void)p;
	j->strings = arena_new();
	clear = arena_calloc(j->strings, t->nclear + 1, sizeof(*clear));
	for (size_t i = 0; i < t->nclear; i++)
		clear[i] = arena_strdup(j->strings, t->clear[i]);
	j->target = (struct provider_target){.category = arena_strdup(j->strings, t->category),
					     .image = arena_strdup(j->strings, t->image),
					     .network = arena_strdup(j->strings, t->network),
					     .clear = clear,
					     .nclear = t->nclear};
}

static void bcm_release_slot(struct provider *p, struct provider_machine *m,
			     const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_RELEASE, c);
}

static void on_found(const struct provider_inventory *i, const struct err *e, void *arg)
{
	struct bcm_provider *bp = arg;

	bp->discovery = NULL; /* Forget the discovery, which frees itself after done(). */
	bp->found(i, e, bp->found_arg);
}

static void bcm_discover_slot(struct provider *p,
			      void (*done)(const struct provider_inventory *i, const struct err *e,
					   void *arg),
			      void *arg)
{
	struct bcm_provider *bp = p->state;

	bcm_discovery_cancel(bp->discovery);
	bp->found = done;
	bp->found_arg = arg;
	bp->discovery = bcm_discover(bp->bcm, on_found, bp);
}

static bool bcm_bmc(const struct provider_machine *m, struct provider_bmc *out)
{
	const struct bcm_machine *bm = bcm_machine_of(m);

	return bm->bmc && bm->bp->bmcs.ops->hardware->bmc(bm->bmc, out);
}

static const struct provider_hardware_ops hardware = {
	.observe = bcm_observe,
	.power = bcm_power,
	.boot = bcm_boot,
	.media = bcm_media,
	.drives = bcm_drives,
	.log_out = bcm_log_out,
	.bmc = bcm_bmc,
};

static const struct provider_managed_ops managed = {
	.acquire = bcm_acquire_slot,
	.release = bcm_release_slot,
	.discover = bcm_discover_slot,
};

const struct provider_ops bcm_provider_ops = {
	.type = "bcm",
	.open = bcm_open,
	.close = bcm_close,
	.attach = bcm_attach,
	.detach = bcm_detach,
	.hardware = &hardware,
	.managed = &managed,
};
