/*
 * host: one hypervisor host, accessed by libvirt.
 *
 *   observe  reads the state (virDomainIsActive) and the definition for the next start
 *   change   reads the definition, compares its fence, changes the tree, and defines it again
 *
 * A higher fence is written together with the change. When the leader changes, the helper processes
 * of the old and the new leader may run at the same time. The old leader's helper has the lower
 * fence, so it is refused after the first change by the new leader's helper.
 * Tests: tests/unit/providers/libvirt/test_host.c, tests/real/libvirt.py
 */
#include "providers/libvirt/host.h"

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/libvirt/medium.h"

#define KEEPALIVE_S 5
#define KEEPALIVE_COUNT 3
#define UPLOAD_PIECE (256u << 10)
/* libvirt 8.1.0, the first version with VIR_DOMAIN_START_RESET_NVRAM */
#define RESET_NVRAM_FROM 8001000

struct host {
	char *uri, *pool, *media_url;
	/* Protects conn */
	pthread_mutex_t lock;
	/* Connection that all calls share; NULL: not connected */
	virConnectPtr conn;
};

/* --- errors ----------------------------------------------------------------------------------- */

static enum err_kind kind_of(int code)
{
	switch (code) {
	case VIR_ERR_NO_DOMAIN:
	case VIR_ERR_NO_STORAGE_POOL:
	case VIR_ERR_NO_STORAGE_VOL:
	case VIR_ERR_NO_NETWORK:
		return ERR_NOT_FOUND;
	case VIR_ERR_OPERATION_DENIED:
	case VIR_ERR_ACCESS_DENIED:
	case VIR_ERR_AUTH_FAILED:
	case VIR_ERR_AUTH_CANCELLED:
	case VIR_ERR_AUTH_UNAVAILABLE:
		return ERR_DENIED;
	case VIR_ERR_NO_SUPPORT:
	case VIR_ERR_CONFIG_UNSUPPORTED:
	case VIR_ERR_ARGUMENT_UNSUPPORTED:
	case VIR_ERR_OPERATION_UNSUPPORTED:
		return ERR_UNSUPPORTED;
	case VIR_ERR_OPERATION_TIMEOUT:
		return ERR_TIMEOUT;
	case VIR_ERR_XML_ERROR:
	case VIR_ERR_XML_DETAIL:
	case VIR_ERR_INVALID_ARG:
		return ERR_INVALID;
	default:
		return ERR_UNAVAILABLE;
	}
}

/* Sets *e to libvirt's last error on this thread, with `what` before its text. Returns -1. */
static int failed(struct err *e, const char *what)
{
	virErrorPtr last = virGetLastError();

	return err_set(e, last ? kind_of(last->code) : ERR_UNAVAILABLE, last ? last->code : 0,
		       "%s: %.180s", what, last && last->message ? last->message : "unknown error");
}

static void on_libvirt_error(void *arg, virErrorPtr error)
{
	(void)arg;
	/* Do nothing (libvirt's own function would print the error), because each caller reports
	 * its error itself. */
	(void)error;
}

/* --- the connection --------------------------------------------------------------------------- */

/* Runs libvirt's event loop, which keep-alive needs. Keep-alive closes a connection on which
 * nothing was received for KEEPALIVE_S * KEEPALIVE_COUNT seconds. */
static void *run_events(void *arg)
{
	(void)arg;
	for (;;)
		if (virEventRunDefaultImpl() < 0)
			nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	return NULL;
}

static pthread_once_t started = PTHREAD_ONCE_INIT;

static void start_libvirt(void)
{
	pthread_t events;

	virInitialize();
	virSetErrorFunc(NULL, on_libvirt_error);
	virEventRegisterDefaultImpl();
	if (pthread_create(&events, NULL, run_events, NULL) != 0)
		abort();
	pthread_detach(events);
}

struct host *host_new(const struct host_spec *s)
{
	struct host *h = mem_new(struct host);

	pthread_once(&started, start_libvirt);
	h->uri = mem_strdup(s->uri);
	h->pool = mem_strdup(s->pool);
	h->media_url = mem_strdup(s->media_url);
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

void host_free(struct host *h)
{
	if (!h)
		return;
	if (h->conn)
		virConnectClose(h->conn);
	pthread_mutex_destroy(&h->lock);
	free(h->uri);
	free(h->pool);
	free(h->media_url);
	free(h);
}

/* Returns a new reference to the shared connection, which the caller must close; opens the
 * connection if necessary. NULL: not connected, with *e. */
static virConnectPtr connected(struct host *h, struct err *e)
{
	virConnectPtr c;

	pthread_mutex_lock(&h->lock);
	if (h->conn && virConnectIsAlive(h->conn) != 1) {
		virConnectClose(h->conn);
		h->conn = NULL;
	}
	if (!h->conn) {
		h->conn = virConnectOpen(h->uri);
		if (h->conn)
			(void)virConnectSetKeepAlive(h->conn, KEEPALIVE_S, KEEPALIVE_COUNT);
		else
			(void)!failed(e, "cannot connect to libvirt");
	}
	c = h->conn;
	if (c)
		virConnectRef(c);
	pthread_mutex_unlock(&h->lock);
	if (!c)
		e->scope = ERR_PROVIDER;
	return c;
}

static bool is_qemu(virConnectPtr c)
{
	const char *type = virConnectGetType(c);

	return type && strcasecmp(type, "qemu") == 0;
}

/* --- one domain ------------------------------------------------------------------------------- */

struct open_domain {
	virConnectPtr conn;
	virDomainPtr dom;
	struct domain *tree;
	struct arena *a;
	struct domain_facts facts;
	bool active;
};

static void open_domain_done(struct open_domain *s)
{
	domain_free(s->tree);
	arena_free(s->a);
	if (s->dom)
		virDomainFree(s->dom);
	if (s->conn)
		virConnectClose(s->conn);
}

static int read_tree(struct open_domain *s, struct err *e)
{
	/* Read the text with its passwords (SECURE), because the domain will be defined again from
	 * this text. */
	char *xml = virDomainGetXMLDesc(s->dom, VIR_DOMAIN_XML_INACTIVE | VIR_DOMAIN_XML_SECURE);
	int rc = 0;

	if (!xml)
		return failed(e, "cannot read the domain's definition");
	s->tree = domain_parse(xml, strlen(xml), e);
	if (!s->tree || domain_read(s->tree, s->a, &s->facts, e) < 0)
		rc = -1;
	memset(xml, 0, strlen(xml));
	free(xml);
	return rc;
}

static int open_domain_take(struct open_domain *s, struct host *h, const char *domain,
			    struct err *e)
{
	int active;

	*s = (struct open_domain){.a = arena_new()};
	s->conn = connected(h, e);
	if (!s->conn)
		return -1;
	s->dom = virDomainLookupByName(s->conn, domain);
	if (!s->dom) {
		virErrorPtr last = virGetLastError();

		if (last && last->code == VIR_ERR_NO_DOMAIN)
			return err_set(e, ERR_NOT_FOUND, 0,
				       "libvirt has no domain %.100s: define it again, or retire "
				       "the machine",
				       domain);
		return failed(e, "cannot look up the domain");
	}
	active = virDomainIsActive(s->dom);
	if (active < 0)
		return failed(e, "cannot read the domain's state");
	s->active = active == 1;
	if (virDomainIsPersistent(s->dom) != 1)
		return err_set(
			e, ERR_UNSUPPORTED, 0,
			"domain %.100s is transient and would vanish when it is switched off: "
			"`virsh define` it",
			domain);
	return read_tree(s, e);
}

static int open_domain_for(struct open_domain *s, struct host *h, const struct host_call *c,
			   struct err *e)
{
	if (open_domain_take(s, h, c->domain, e) < 0)
		return -1;
	/* mutant: libvirt-another */
	if (c->uuid && !str_eq(c->uuid, s->facts.uuid))
		return err_set(e, ERR_UNAVAILABLE, 0,
			       "domain %.100s has been replaced: its UUID is now %.40s", c->domain,
			       s->facts.uuid);
	/* mutant: libvirt-fence */
	if (c->fence < s->facts.fence)
		return err_set(
			e, ERR_CONFLICT, 0,
			"fence %lld is lower than %lld: a newer leader has changed domain %.100s",
			(long long)c->fence, (long long)s->facts.fence, c->domain);
	return 0;
}

static int open_domain_define(struct open_domain *s, struct err *e)
{
	virDomainPtr dom;
	char *xml = domain_text(s->tree);

	dom = virDomainDefineXML(s->conn, xml);
	memset(xml, 0, strlen(xml));
	free(xml);
	if (!dom)
		return failed(e, "cannot write the domain's definition");
	virDomainFree(dom);
	return 0;
}

static int write_fence(struct open_domain *s, int64_t fence, struct err *e)
{
	if (fence == s->facts.fence)
		return 0;
	domain_set_fence(s->tree, fence);
	return open_domain_define(s, e);
}

static const char *power_of(const struct open_domain *s)
{
	int state = VIR_DOMAIN_NOSTATE;

	if (!s->active)
		return "Off";
	if (virDomainGetState(s->dom, &state, NULL, 0) < 0)
		return "Unknown";
	return state == VIR_DOMAIN_SHUTDOWN ? "Changing" : "On";
}

static void tell(const struct domain_facts *f, struct arena *a, struct domain_facts *out)
{
	*out = *f;
	out->name = arena_strdup(a, f->name);
	out->uuid = arena_strdup(a, f->uuid);
	out->serial = arena_strdup(a, f->serial);
	out->pool = arena_strdup(a, f->pool);
	out->volume = arena_strdup(a, f->volume);
	out->media_url = arena_strdup(a, f->media_url);
	out->provider = arena_strdup(a, f->provider);
	out->machine = arena_strdup(a, f->machine);
}

int host_observe(struct host *h, const char *domain, struct arena *a, struct host_observation *out,
		 struct err *e)
{
	struct open_domain s;
	int rc = open_domain_take(&s, h, domain, e);
	char address[64];

	if (rc == 0) {
		out->power = power_of(&s);
		tell(&s.facts, a, &out->facts);
		out->address = medium_source(h->media_url, address, sizeof(address))
				       ? arena_strdup(a, address)
				       : NULL;
	}
	open_domain_done(&s);
	return rc;
}

/* --- power ------------------------------------------------------------------------------------ */

/* Refuses a domain that has snapshots, because a wipe does not erase their contents. */
static int without_snapshots(struct open_domain *s, struct err *e)
{
	int n = virDomainSnapshotNum(s->dom, 0);

	if (n <= 0)
		return 0;
	return err_set(
		e, ERR_UNSUPPORTED, 0,
		"domain %.100s has %d snapshots, whose contents a wipe does not reach: delete them",
		s->facts.name, n);
}

static int switch_on(struct open_domain *s, struct err *e)
{
	unsigned long version = 0;
	unsigned flags = 0;

	if (without_snapshots(s, e) < 0)
		return -1;
	if (is_qemu(s->conn)) {
		flags |= VIR_DOMAIN_START_FORCE_BOOT;
		if (virConnectGetLibVersion(s->conn, &version) == 0 && version >= RESET_NVRAM_FROM)
			flags |= VIR_DOMAIN_START_RESET_NVRAM;
	}
	if (virDomainCreateWithFlags(s->dom, flags) == 0)
		return 0;
	if (virDomainIsActive(s->dom) == 1)
		return 0;
	return failed(e, "cannot start the domain");
}

static int switch_off(struct open_domain *s, struct err *e)
{
	if (s->active && virDomainDestroy(s->dom) < 0 && virDomainIsActive(s->dom) != 0)
		return failed(e, "cannot stop the domain");
	if (virDomainHasManagedSaveImage(s->dom, 0) == 1 &&
	    virDomainManagedSaveRemove(s->dom, 0) < 0)
		return failed(e, "cannot delete the domain's saved state");
	return 0;
}

int host_power(struct host *h, const struct host_call *c, bool on, struct err *e)
{
	struct open_domain s;
	int rc = open_domain_for(&s, h, c, e);

	if (rc == 0)
		rc = write_fence(&s, c->fence, e);
	if (rc == 0 && on && !s.active)
		rc = switch_on(&s, e);
	else if (rc == 0 && !on)
		rc = switch_off(&s, e);
	open_domain_done(&s);
	return rc;
}

int host_boot(struct host *h, const struct host_call *c, bool media, struct err *e)
{
	struct open_domain s;
	int rc = open_domain_for(&s, h, c, e);

	if (rc == 0) {
		domain_set_fence(s.tree, c->fence);
		domain_set_boot(s.tree, media);
		rc = open_domain_define(&s, e);
	}
	open_domain_done(&s);
	return rc;
}

/* --- media ------------------------------------------------------------------------------------ */

static virStoragePoolPtr pool_of(struct host *h, virConnectPtr c, struct err *e)
{
	virStoragePoolPtr pool = virStoragePoolLookupByName(c, h->pool);

	if (!pool) {
		(void)!failed(e, "cannot look up the storage pool");
		return NULL;
	}
	if (virStoragePoolIsActive(pool) == 1)
		return pool;
	virStoragePoolFree(pool);
	err_note(e, ERR_UNAVAILABLE, 0,
		 "storage pool %.100s is not active: `virsh pool-start %.100s`", h->pool, h->pool);
	return NULL;
}

static int delete_volume(virStoragePoolPtr pool, const char *name, struct err *e)
{
	virStorageVolPtr v = virStorageVolLookupByName(pool, name);
	int rc = 0;

	if (!v)
		return 0;
	if (virStorageVolDelete(v, 0) < 0)
		rc = failed(e, "cannot delete a volume");
	virStorageVolFree(v);
	return rc;
}

static virStorageVolPtr create_volume(virStoragePoolPtr pool, const char *name, int64_t bytes,
				      const struct domain_user *owner, struct err *e)
{
	char *xml = domain_volume_text(name, bytes, owner);
	virStorageVolPtr v = virStorageVolCreateXML(pool, xml, 0);

	free(xml);
	if (!v)
		(void)!failed(e, "cannot create a volume");
	return v;
}

static int upload(virConnectPtr c, virStorageVolPtr v, const struct buf *b, struct err *e)
{
	virStreamPtr st = virStreamNew(c, 0);
	size_t at = 0;
	int rc = 0;

	if (!st || virStorageVolUpload(v, st, 0, b->len, 0) < 0) {
		rc = failed(e, "cannot write the medium's volume");
	} else {
		while (rc == 0 && at < b->len) {
			size_t n = b->len - at < UPLOAD_PIECE ? b->len - at : UPLOAD_PIECE;
			int sent = virStreamSend(st, b->data + at, n);

			if (sent < 0)
				rc = failed(e, "cannot write the medium's volume");
			else
				at += (size_t)sent;
		}
		if (rc < 0)
			virStreamAbort(st);
		else if (virStreamFinish(st) < 0)
			rc = failed(e, "cannot write the medium's volume");
	}
	if (st)
		virStreamFree(st);
	return rc;
}

static int store(struct host *h, struct open_domain *s, const char *name, const struct buf *b,
		 struct err *e)
{
	virStoragePoolPtr pool = pool_of(h, s->conn, e);
	virStorageVolPtr v = NULL;
	int rc = -1;

	if (!pool)
		return -1;
	if (delete_volume(pool, name, e) == 0)
		v = create_volume(pool, name, (int64_t)b->len, NULL, e);
	if (v)
		rc = upload(s->conn, v, b, e);
	if (rc < 0 && v)
		(void)virStorageVolDelete(v, 0);
	if (v)
		virStorageVolFree(v);
	virStoragePoolFree(pool);
	return rc;
}

static int insert(struct host *h, const struct host_call *c, const char *url, struct err *e)
{
	struct open_domain s;
	struct buf b;
	char *name = NULL;
	int rc = open_domain_for(&s, h, c, e);

	buf_init(&b, MEDIUM_MAX);
	if (rc == 0 && s.active)
		rc = err_set(e, ERR_UNAVAILABLE, 0,
			     "domain %.100s is on: media are inserted only while it is off",
			     c->domain);
	if (rc == 0 && !(s.facts.inserted && str_eq(s.facts.media_url, url))) {
		/* Eject first: if a later step fails, the old medium must not be reported under the
		 * new URL. */
		domain_set_fence(s.tree, c->fence);
		domain_eject(s.tree);
		rc = open_domain_define(&s, e);
		if (rc == 0)
			rc = medium_fetch(url, c->deadline_ms, &b, e);
		name = mem_strdup(domain_media_volume(s.a, s.facts.uuid));
		if (rc == 0)
			rc = store(h, &s, name, &b, e);
		if (rc == 0) {
			/* Read the domain and check the fence again, because the upload took
			 * time. */
			open_domain_done(&s);
			rc = open_domain_for(&s, h, c, e);
		}
		if (rc == 0) {
			domain_insert(s.tree, h->pool, name, url);
			rc = open_domain_define(&s, e);
		}
	}
	free(name);
	buf_done(&b);
	open_domain_done(&s);
	return rc;
}

static int eject(struct host *h, const struct host_call *c, struct err *e)
{
	struct open_domain s;
	int rc = open_domain_for(&s, h, c, e);
	virStoragePoolPtr pool;
	char *slot = NULL;
	struct err ignored;

	if (rc == 0) {
		domain_set_fence(s.tree, c->fence);
		domain_eject(s.tree);
		rc = open_domain_define(&s, e);
		slot = domain_slot_text(s.tree);
	}
	if (rc == 0 && s.active && slot &&
	    virDomainUpdateDeviceFlags(s.dom, slot, VIR_DOMAIN_AFFECT_LIVE) < 0)
		rc = failed(e, "cannot eject the medium while the domain is on");
	if (rc == 0) {
		/* Delete the volume, because no slot contains it any more. Leave it if the pool
		 * cannot be opened. */
		pool = pool_of(h, s.conn, &ignored);
		if (pool) {
			rc = delete_volume(pool, domain_media_volume(s.a, s.facts.uuid), e);
			virStoragePoolFree(pool);
		}
	}
	free(slot);
	open_domain_done(&s);
	return rc;
}

int host_media(struct host *h, const struct host_call *c, const char *url, struct err *e)
{
	return url ? insert(h, c, url, e) : eject(h, c, e);
}

/* --- machines from a template ----------------------------------------------------------------- */

static const char *best_type(virConnectPtr c)
{
	char *caps;

	if (!is_qemu(c))
		return "test";
	caps = virConnectGetDomainCapabilities(c, NULL, "x86_64", "q35", "kvm", 0);
	free(caps);
	return caps ? "kvm" : "qemu";
}

static bool qemu_user(virConnectPtr c, struct domain_user *out)
{
	char *text = is_qemu(c) ? virConnectGetCapabilities(c) : NULL;
	bool known = text && domain_qemu_user(text, strlen(text), out);

	free(text);
	return known;
}

/* Creates the volume unless it exists with the wanted size. *path: path of its file, allocated in
 * a. */
static int ensure_drive(virStoragePoolPtr pool, const char *name, int64_t bytes,
			const struct domain_user *owner, struct arena *a, const char **path,
			struct err *e)
{
	virStorageVolPtr v = virStorageVolLookupByName(pool, name);
	virStorageVolInfo info;
	int rc = 0;

	if (!v)
		v = create_volume(pool, name, bytes, owner, e);
	if (!v)
		return -1;
	if (virStorageVolGetInfo(v, &info) < 0)
		rc = failed(e, "cannot read a drive's volume");
	else if ((int64_t)info.capacity != bytes)
		rc = err_set(e, ERR_CONFLICT, 0,
			     "volume %.100s exists already with a different size", name);
	if (rc == 0) {
		char *where = virStorageVolGetPath(v);

		*path = arena_strdup(a, where);
		free(where);
		if (!*path)
			rc = failed(e, "cannot read the path of a drive's volume");
	}
	virStorageVolFree(v);
	return rc;
}

static int build(struct host *h, virConnectPtr c, const struct host_machine *m, struct err *e)
{
	struct domain_template t = {
		.name = m->name,
		.uuid = m->uuid,
		.provider = m->provider,
		.machine = m->machine,
		.type = m->type && is_qemu(c) ? m->type : best_type(c),
		.cpus = m->cpus,
		.memory_bytes = m->memory_bytes,
		.pool = h->pool,
		.network = m->network,
		.bridge = m->bridge,
		.ndrives = m->ndrives,
	};
	virStoragePoolPtr pool = pool_of(h, c, e);
	OWN(arena) a = arena_new();
	struct domain_user qemu;
	bool known = qemu_user(c, &qemu);
	int rc = 0;

	if (!pool)
		return -1;
	for (size_t i = 0; rc == 0 && i < m->ndrives; i++) {
		/* Create the file of an NVMe drive with QEMU's user as owner. libvirt changes the
		 * owner only of disks in the definition, but QEMU gets this file by an argument. */
		bool own = known && m->drives[i].bus == DOMAIN_BUS_NVME;

		t.drives[i].bus = m->drives[i].bus;
		rc = ensure_drive(pool, domain_drive_volume(a, m->name, i), m->drives[i].bytes,
				  own ? &qemu : NULL, a, &t.drives[i].path, e);
	}
	virStoragePoolFree(pool);
	if (rc == 0) {
		OWN(domain) d = domain_build(&t);
		char *xml = domain_text(d);
		virDomainPtr dom = virDomainDefineXML(c, xml);

		free(xml);
		if (dom)
			virDomainFree(dom);
		else
			rc = failed(e, "cannot define the domain");
	}
	return rc;
}

static int is_owned(const struct open_domain *s, const char *provider, const char *machine,
		    struct err *e)
{
	/* mutant: libvirt-foreign */
	if (str_eq(s->facts.provider, provider) && str_eq(s->facts.machine, machine))
		return 0;
	return err_set(e, ERR_CONFLICT, 0,
		       "domain %.100s exists already and was not defined for this machine",
		       s->facts.name);
}

int host_define(struct host *h, const struct host_machine *m, struct err *e)
{
	struct open_domain s;
	int rc = open_domain_take(&s, h, m->name, e);

	if (rc == 0)
		rc = is_owned(&s, m->provider, m->machine, e);
	else if (e->kind == ERR_NOT_FOUND && s.conn)
		rc = build(h, s.conn, m, e);
	open_domain_done(&s);
	return rc;
}

static int delete_volumes(struct host *h, virConnectPtr c, const char *domain, const char *uuid,
			  struct err *e)
{
	virStoragePoolPtr pool = pool_of(h, c, e);
	OWN(arena) a = arena_new();
	int rc;

	if (!pool)
		return -1;
	rc = delete_volume(pool, domain_media_volume(a, uuid), e);
	for (size_t i = 0; rc == 0 && i < DOMAIN_DRIVES; i++)
		rc = delete_volume(pool, domain_drive_volume(a, domain, i), e);
	virStoragePoolFree(pool);
	return rc;
}

int host_undefine(struct host *h, const char *domain, const char *uuid, const char *provider,
		  const char *machine, struct err *e)
{
	struct open_domain s;
	int rc = open_domain_take(&s, h, domain, e);

	if (rc < 0 && e->kind == ERR_NOT_FOUND && s.conn)
		rc = 0;
	else if (rc == 0)
		rc = is_owned(&s, provider, machine, e);
	if (rc == 0 && s.dom && s.active)
		rc = err_set(e, ERR_UNAVAILABLE, 0,
			     "domain %.100s is on: a domain is undefined only while it is off",
			     domain);
	/* Delete the volumes first: after the domain is undefined, nothing shows which Machine they
	 * belong to. */
	if (rc == 0)
		rc = delete_volumes(h, s.conn, domain, uuid, e);
	if (rc == 0 && s.dom &&
	    virDomainUndefineFlags(s.dom, is_qemu(s.conn) ? VIR_DOMAIN_UNDEFINE_MANAGED_SAVE |
								    VIR_DOMAIN_UNDEFINE_NVRAM
							  : 0) < 0)
		rc = failed(e, "cannot undefine the domain");
	open_domain_done(&s);
	return rc;
}
