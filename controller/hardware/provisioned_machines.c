/*
 * provisioned_machines: works on one machine at a time. A scan of the provisioned Machines and all
 * Providers finds the first that needs an action; the next scan runs when the action has ended.
 */
#include "controller/hardware/provisioned_machines.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/resources.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/finalizer.h"
#include "controller/core/machine_lists.h"
#include "controller/core/status_writer.h"
#include "providers/hardware.h"
#include "providers/provider.h"

#define SOON_MS 1000
#define AGAIN_MS 30000 /* delay after a failure */
#define UUID_SIZE 37

struct provisioned_machines {
	struct context *c;
	struct drivers *drivers;
	struct loop_timer timer;
	struct status_writer write;
	/* request to the API server that creates a Machine or reads it again; NULL: none */
	struct kube_call *asked;
	/* driver and attachment of the machine at the libvirt host while a request to the host is
	 * in progress; NULL: none is in progress */
	struct driver *driver;
	struct provider_machine *machine;
	/* names of the Machine and of its Provider; NULL: no action in progress */
	char *name, *provider;
	/* System UUID of the Machine */
	char uuid[UUID_SIZE];
	/* resourceVersion of the Machine when the action was decided */
	char *version;
	/* name of a Provider -> text of the last failure for which an event was sent */
	struct map *told;
	int64_t not_before;
};

static void kick(struct provisioned_machines *x, int64_t ms)
{
	if (!loop_timer_active(&x->timer))
		loop_timer_start(&x->timer, ms);
}

void provisioned_machines_kick(struct provisioned_machines *x)
{
	kick(x, SOON_MS);
}

/* --- wanted machines -------------------------------------------------------------------------- */

static const struct provider_object_machines *wanted_of(const struct provider_object *p)
{
	return p && p->spec.libvirt ? p->spec.libvirt->machines : NULL;
}

static void uuid_of(const struct provider_object *p, int64_t n, char out[static UUID_SIZE])
{
	uint8_t d[CRYPTO_SHA256];
	char text[512], hex[33];

	str_format(text, sizeof(text), "drover/libvirt/%s/%lld", p->meta.uid, (long long)n);
	crypto_sha256(text, strlen(text), d);
	d[6] = (uint8_t)((d[6] & 0x0f) |
			 0x80); /* UUID version 8 of RFC 9562: content defined by the application */
	d[8] = (uint8_t)((d[8] & 0x3f) | 0x80);
	str_hex(hex, d, 16);
	str_format(out, UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
		   hex + 20);
}

/* Writes to out the MAC address of the machine's network card, as providers/libvirt/domain_build.c
 * assigns it. */
static void mac_of(const char *uuid, char out[static 18])
{
	const char *tail = uuid + 30;

	str_format(out, 18, "52:54:00:%.2s:%.2s:%.2s", tail, tail + 2, tail + 4);
}

/* Returns N if this module created the Machine (name PROVIDER-N); -1: another Machine. */
static int64_t number_of(const struct machine *m)
{
	const char *provider = m->spec.provider_ref.name;
	size_t n = provider ? strlen(provider) : 0;
	int64_t number;

	if (!finalizer_is_on(&m->meta.finalizers, FINALIZER_PROVISIONED) || !n ||
	    !str_starts(m->meta.name, provider) || m->meta.name[n] != '-' ||
	    !str_to_i64(m->meta.name + n + 1, 0, INT32_MAX, &number))
		return -1;
	return number;
}

/* --- requests to the libvirt host ------------------------------------------------------------- */

static void host_over(struct provisioned_machines *x)
{
	if (x->machine)
		provider_detach(x->driver->provider, x->machine);
	x->machine = NULL;
	x->driver = NULL;
}

static void forget(struct provisioned_machines *x)
{
	host_over(x);
	free(x->name);
	free(x->provider);
	free(x->version);
	x->name = x->provider = x->version = NULL;
}

/* Reports an error that may repeat at each attempt: logs it and sends an event only if the text has
 * changed. */
static void say(struct provisioned_machines *x, const char *provider, const struct err *e)
{
	const struct provider_object *p = CTX_GET(x->c, OBJECT_PROVIDER, provider_object, provider);

	if (!p || !x->c->leading || str_eq(map_get(x->told, provider), e->text))
		return;
	map_put(x->told, provider, mem_strdup(e->text));
	log_warn("cannot provision a machine", LOG_S("provider", provider),
		 LOG_S("machine", str_or(x->name, "")), LOG_E(e));
	ctx_event(x->c, OBJECT_PROVIDER, &p->meta, "Warning", "MachineNotMade", e->text);
}

static void tell(struct provisioned_machines *x, const char *provider, const struct err *e)
{
	x->not_before = loop_now(x->c->loop) + AGAIN_MS;
	loop_timer_start(&x->timer, AGAIN_MS);
	say(x, provider, e);
}

static void template_of(const struct provisioned_machines *x, const struct provider_object *p,
			struct provider_template *t)
{
	const struct provider_object_machines *w = wanted_of(p);

	*t = (struct provider_template){.owner = p->meta.uid, .uuid = x->uuid};
	if (!w)
		return;
	t->cpus = w->cpus;
	t->memory_bytes = quantity_floor(w->memory);
	t->network = w->network;
	t->bridge = w->bridge;
	t->type = w->accelerator == ACCELERATOR_KVM    ? "kvm"
		  : w->accelerator == ACCELERATOR_NONE ? "qemu"
						       : NULL;
	for (; t->ndrives < w->drives.n && t->ndrives < PROVIDER_DRIVES; t->ndrives++) {
		t->drives[t->ndrives].bus = (enum provider_bus)w->drives.v[t->ndrives].bus;
		t->drives[t->ndrives].bytes = quantity_floor(w->drives.v[t->ndrives].size);
	}
}

static bool may_act(void *arg)
{
	return ctx_may_act(((struct provisioned_machines *)arg)->c);
}

static int attach(struct provisioned_machines *x, const struct machine *m, struct err *e)
{
	const char *version;

	x->driver = driver_get(x->drivers, m->spec.provider_ref.name);
	if (!x->driver || !x->driver->provider)
		return err_set(e, ERR_UNAVAILABLE, 0, "%s",
			       x->driver ? x->driver->error.text : "the Provider does not exist");
	x->machine = driver_attach(x->driver, m, &version, e);
	return x->machine ? 0 : -1;
}

static void on_defined(const struct provider_observation *o, const char *handle,
		       const struct err *e, void *arg)
{
	struct provisioned_machines *x = arg;

	(void)o;
	(void)handle;
	if (e) {
		tell(x, x->provider, e);
	} else {
		map_del(x->told, x->provider);
		notify(x->c, NOTICE_MACHINE, x->name);
	}
	forget(x);
	kick(x, SOON_MS);
}

static void on_released(json_t *o, const struct err *e, void *arg)
{
	(void)o;
	(void)e;
	kick(arg, SOON_MS);
}

static void on_undefined(const struct provider_observation *o, const char *handle,
			 const struct err *e, void *arg)
{
	struct provisioned_machines *x = arg;
	const struct machine *m = CTX_GET(x->c, OBJECT_MACHINE, machine, x->name);

	(void)o;
	(void)handle;
	if (e)
		tell(x, x->provider, e);
	else if (m && number_of(m) >= 0 && x->c->leading)
		(void)writer_finalizer(&x->write, OBJECT_MACHINE, &m->meta, FINALIZER_PROVISIONED,
				       false, on_released);
	forget(x);
	kick(x, SOON_MS);
}

static void begin(struct provisioned_machines *x, const struct machine *m)
{
	x->name = mem_strdup(m->meta.name);
	x->provider = mem_strdup(m->spec.provider_ref.name);
	x->version = mem_strdup(m->meta.resource_version);
	str_copy(x->uuid, sizeof(x->uuid),
		 str_or(m->spec.identity ? m->spec.identity->system_uuid : NULL, ""));
}

/* Defines the domain of the machine x->name at its libvirt host, or (define false) undefines it. */
static void ask_host(struct provisioned_machines *x, const struct machine *m, bool define)
{
	const struct provider_object *p =
		CTX_GET(x->c, OBJECT_PROVIDER, provider_object, x->provider);
	struct provider_call call = {.op_id = define ? "define" : "undefine",
				     .may_act = may_act,
				     .done = define ? on_defined : on_undefined,
				     .arg = x};
	struct provider_template t;
	struct err e = {0};

	if (!p || attach(x, m, &e) < 0) {
		tell(x, x->provider, &e);
		forget(x);
		return;
	}
	template_of(x, p, &t);
	if (define)
		provider_define(x->driver->provider, x->machine, &t, &call);
	else
		provider_undefine(x->driver->provider, x->machine, &t, &call);
}

/* Undefines the domain if the API server confirms the Machine that the cache shows. The cache alone
 * is not enough, because undefining deletes the drives and cannot be undone (invariant S7). */
static void on_read(json_t *o, const struct err *e, void *arg)
{
	struct provisioned_machines *x = arg;
	const struct machine *m = CTX_GET(x->c, OBJECT_MACHINE, machine, x->name);

	x->asked = NULL;
	if (!e && m && ctx_may_act(x->c) &&
	    str_eq(json_str_at(o, "metadata", "resourceVersion"), x->version) &&
	    str_eq(m->meta.resource_version, x->version)) {
		ask_host(x, m, false);
		return;
	}
	forget(x);
	kick(x, SOON_MS);
}

/* --- objects ---------------------------------------------------------------------------------- */

static void on_created(json_t *o, const struct err *e, void *arg)
{
	struct provisioned_machines *x = arg;

	(void)o;
	x->asked = NULL;
	if (e)
		tell(x, x->provider, e);
	forget(x);
	kick(x, SOON_MS);
}

static void create(struct provisioned_machines *x, const struct provider_object *p, int64_t n,
		   const char *name)
{
	const struct provider_object_machines *w = wanted_of(p);
	OWN(arena) a = arena_new();
	OWN_JSON o = NULL;
	char mac[18];

	uuid_of(p, n, x->uuid);
	mac_of(x->uuid, mac);
	x->name = mem_strdup(name);
	x->provider = mem_strdup(p->meta.name);
	o = json_pack("{s:s, s:s, s:{s:s, s:[s]}, s:{s:{s:s}, s:s*, s:s, s:{s:s}, s:{s:s}, s:s}}",
		      "apiVersion", "drover.dev/v1alpha1", "kind", "Machine", "metadata", "name",
		      name, "finalizers", FINALIZER_PROVISIONED, "spec", "providerRef", "name",
		      p->meta.name, "instanceType", w->instance_type, "managementPolicy", "Manage",
		      "identity", "systemUUID", x->uuid, "bmc", "address",
		      arena_printf(a, "libvirt://%s/%s", p->meta.name, name), "bootMACAddress",
		      mac);
	x->asked =
		kube_create(x->c->host, &object_resources[OBJECT_MACHINE], NULL, o, on_created, x);
}

static void on_deleted(json_t *o, const struct err *e, void *arg)
{
	(void)o;
	(void)e;
	kick(arg, SOON_MS);
}

/* --- the scan --------------------------------------------------------------------------------- */

struct provisioned_scan {
	struct provisioned_machines *x;
	/* True: an action was started, and the scan ends */
	bool done;
};

/* True if the Machine is being deleted and only one finalizer, drover's, is left. */
static bool is_left(const struct machine *m)
{
	return m->meta.deletion_timestamp && m->meta.finalizers.n == 1;
}

static bool look_at_machine(const struct machine *m, void *arg)
{
	struct provisioned_scan *k = arg;
	struct provisioned_machines *x = k->x;
	const struct provider_object *p =
		m->spec.provider_ref.name
			? CTX_GET(x->c, OBJECT_PROVIDER, provider_object, m->spec.provider_ref.name)
			: NULL;
	const struct provider_object_machines *w = wanted_of(p);
	int64_t n = number_of(m);

	if (n < 0 || !p || p->spec.paused || !m->spec.bmc || !m->spec.identity)
		return true;
	if (is_left(m)) {
		begin(x, m);
		x->asked = kube_get(x->c->host, &object_resources[OBJECT_MACHINE], NULL, x->name,
				    on_read, x);
		k->done = true;
	} else if (m->meta.deletion_timestamp) {
		return true; /* wait until the machine is retired */
	} else if (p->meta.deletion_timestamp || !w || n >= w->count) {
		writer_delete(&x->write, OBJECT_MACHINE, &m->meta, on_deleted);
		k->done = true;
	} else if (str_empty(m->status.identity.system_uuid)) {
		/* the host has not reported the machine yet: define its domain */
		begin(x, m);
		ask_host(x, m, true);
		k->done = true;
	}
	return !k->done;
}

static bool look_at_provider(const struct kube_entry *en, void *arg)
{
	const struct provider_object *p = en->object;
	const struct provider_object_machines *w = wanted_of(p);
	struct provisioned_scan *k = arg;
	const struct machine *m;
	char name[254];
	struct err e;

	if (!w || p->meta.deletion_timestamp || p->spec.paused)
		return true;
	for (int64_t n = 0; n < w->count; n++) {
		str_format(name, sizeof(name), "%s-%lld", p->meta.name, (long long)n);
		m = CTX_GET(k->x->c, OBJECT_MACHINE, machine, name);
		if (m && number_of(m) < 0) {
			err_note(&e, ERR_CONFLICT, 0,
				 "Machine %s exists already and was not created for this Provider",
				 name);
			say(k->x, p->meta.name, &e);
		}
		if (m)
			continue;
		create(k->x, p, n, name);
		k->done = true;
		return false;
	}
	return true;
}

static void look(void *arg)
{
	struct provisioned_machines *x = arg;
	struct context *c = x->c;
	struct provisioned_scan k = {.x = x};
	int64_t wait = x->not_before - loop_now(c->loop);

	if (!c->leading || !c->ready || x->name || writer_busy(&x->write))
		return;
	if (wait > 0) {
		loop_timer_start(&x->timer, wait);
		return;
	}
	if (ctx_crds_terminating(c))
		return;
	machine_lists_each(c, MACHINES_PROVISIONED, look_at_machine, &k);
	if (!k.done)
		kube_cache_each(c->cache[OBJECT_PROVIDER], look_at_provider, &k);
}

void provisioned_machines_closing(struct provisioned_machines *x, const struct driver *s)
{
	if (!x || !x->driver || x->driver != s)
		return;
	forget(x);
	kick(x, SOON_MS);
}

struct provisioned_machines *provisioned_machines_new(struct context *c, struct drivers *ds)
{
	struct provisioned_machines *x = mem_new(struct provisioned_machines);

	x->c = c;
	x->drivers = ds;
	x->told = map_new(free);
	writer_init(&x->write, c, x);
	loop_timer_init(&x->timer, c->group, look, x);
	return x;
}

void provisioned_machines_free(struct provisioned_machines *x)
{
	if (!x)
		return;
	kube_call_cancel(x->asked);
	forget(x);
	writer_stop(&x->write);
	loop_timer_stop(&x->timer);
	map_free(x->told);
	free(x);
}
