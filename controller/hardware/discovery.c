#include "controller/hardware/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "api/machine_states.h"
#include "api/resources.h"
#include "base/address.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/status_writer.h"
#include "providers/managed.h"

#define LOOK_MS 60000
#define FIRST_MS 2000
#define NAMES_MAX 100
/* maximum number of Machines created per inventory; the next inventory creates more */
#define CREATES_MAX 100
/* BCM reports a node as UP for several minutes after it went down. Ignore UP until the machine has
 * served this long. */
#define UP_MS (10 * 60 * 1000)

/* State of one Provider with a manager. */
struct provider_record {
	struct discovery *d;
	/* name: name of the Provider. written: status.bcm as last written, as JSON text; NULL: the
	 * next inventory writes status.bcm */
	char *name, *written;
	bool busy;
	struct status_writer write;
};

struct discovery {
	struct context *c;
	const struct drivers *drivers;
	/* name of the Provider -> struct provider_record */
	struct map *places;
	/* names of the Machines whose HeadNodeReached event was sent */
	struct map *reached;
	struct loop_timer timer;
};

static void provider_record_free(void *record)
{
	struct provider_record *p = record;

	writer_stop(&p->write);
	free(p->name);
	free(p->written);
	free(p);
}

/* --- Machines --------------------------------------------------------------------------------- */

/* Machines of one Provider, indexed by node name. */
struct known {
	const char *provider;
	/* spec.node of the Machine, or its name if that is not set -> const struct machine */
	struct map *by_node;
};

static bool know(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct known *k = arg;

	if (str_eq(m->spec.provider_ref.name, k->provider))
		map_put(k->by_node, str_or(m->spec.node, m->meta.name), (void *)m);
	return true;
}

static void on_created(json_t *o, const struct err *e, void *arg)
{
	(void)o;
	(void)arg;
	if (e && e->kind != ERR_CONFLICT)
		log_warn("cannot create the Machine of a discovered node", LOG_E(e));
}

static void create(struct discovery *d, const char *provider, const struct provider_found *f)
{
	bool is_v6 = strchr(f->bmc_address, ':');
	char address[ADDRESS_TEXT + 16];
	json_t *o;

	str_format(address, sizeof(address), "https://%s%s%s", is_v6 ? "[" : "", f->bmc_address,
		   is_v6 ? "]" : "");
	o = json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s}, s:s, s:s, s:{s:s, s:{s:b}}, s:s*}}",
		      "apiVersion", OBJECT_API_VERSION, "kind", "Machine", "metadata", "name",
		      f->node, "spec", "providerRef", "name", provider, "managementPolicy",
		      "Observe", "node", f->node, "bmc", "address", address, "tls",
		      "trustOnFirstUse", 1, "bootMACAddress", f->mac);
	log_info("creating a Machine for a BCM node", LOG_S("machine", f->node),
		 LOG_S("provider", provider));
	(void)kube_create(d->c->host, &object_resources[OBJECT_MACHINE], NULL, o, on_created, d);
	json_decref(o);
}

/* Returns why the node gets no Machine; NULL: it may get one. full: true if the Provider already
 * has maxMachines Machines. */
static const char *refusal(struct discovery *d, const struct provider_object *p,
			   const struct provider_found *f, bool full, struct arena *a)
{
	const struct strings *nets = &p->spec.bcm->bmc_networks;

	if (f->refusal)
		return f->refusal;
	if (!str_is_dns_label(f->node))
		return "its hostname is not a valid Machine name: use lower case letters, "
		       "digits and '-'";
	if (CTX_GET(d->c, OBJECT_MACHINE, machine, f->node))
		return "a Machine of this name exists already and is not this node";
	if (!f->bmc_address)
		return "BCM reports no address of its BMC";
	if (!address_in(f->bmc_address, nets->v, nets->n))
		return arena_printf(
			a,
			"the address of its BMC, %s, is in none of spec.bcm.bmcNetworks: no "
			"Machine is created",
			f->bmc_address);
	if (full)
		return arena_printf(a,
				    "spec.bcm.maxMachines: the limit of %lld Machines is reached",
				    (long long)p->spec.bcm->max_machines);
	return NULL;
}

/* --- a tenant that can reach the head node ---------------------------------------------------- */

static void look_at_route(struct discovery *d, const struct machine *m,
			  const struct provider_found *f)
{
	bool serves = m->status.state && machine_state_find(m->status.state) == MACHINE_SERVING &&
		      loop_wall(d->c->loop) - m->status.state_since > UP_MS;
	OWN(arena) a = arena_new();
	const char *note;

	if (!serves || !f->up) {
		map_del(d->reached, m->meta.name);
		return;
	}
	if (map_has(d->reached, m->meta.name))
		return;
	map_put(d->reached, m->meta.name, d);
	note = arena_printf(
		a,
		"node %s is UP in BCM while its machine serves %s: the tenant can reach the head "
		"node and use the node's certificate; check which segment the machine's port is in",
		f->node, str_or(m->status.tenant.name, "a tenant"));
	log_warn("a tenant can reach the BCM head node", LOG_S("machine", m->meta.name),
		 LOG_S("node", f->node));
	ctx_event(d->c, OBJECT_MACHINE, &m->meta, "Warning", "HeadNodeReached", note);
}

/* --- status ----------------------------------------------------------------------------------- */

static json_t *names(const char *const *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n && i < NAMES_MAX; i++)
		json_array_append_new(list, json_string(v[i]));
	return list;
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct provider_record *p = arg;

	(void)o;
	if (!e)
		return;
	free(p->written); /* The next inventory writes status.bcm again. */
	p->written = NULL;
}

/* Writes `found` to status.bcm if it differs from what was written last. Takes ownership of
 * found. */
static void write_found(struct provider_record *p, const struct provider_object *po, json_t *found)
{
	char *text = json_text_sorted(found);

	if (writer_busy(&p->write) || str_eq(text, p->written)) {
		json_decref(found);
		free(text);
		return;
	}
	free(p->written);
	p->written = text;
	writer_status(&p->write, OBJECT_PROVIDER, &po->meta, json_pack("{s:o}", "bcm", found),
		      on_written);
}

static void take(struct provider_record *p, const struct provider_object *po,
		 const struct provider_inventory *i)
{
	struct discovery *d = p->d;
	struct known k = {po->meta.name, map_new(NULL)};
	OWN(arena) a = arena_new();
	json_t *refused = json_array();
	int64_t nodes = 0;
	unsigned created = 0;

	kube_cache_each(d->c->cache[OBJECT_MACHINE], know, &k);
	for (size_t n = 0; n < i->machines.n; n++) {
		const struct provider_found *f = &i->machines.v[n];
		const struct machine *m = map_get(k.by_node, f->node);
		const bool full =
			(int64_t)(map_size(k.by_node) + created) >= po->spec.bcm->max_machines;
		const char *why = m ? f->refusal : refusal(d, po, f, full, a);

		nodes += !f->refusal;
		if (m)
			look_at_route(d, m, f);
		if (why && json_array_size(refused) < NAMES_MAX)
			json_array_append_new(
				refused, json_pack("{s:s, s:s}", "node", f->node, "message", why));
		if (!m && !why && created < CREATES_MAX) {
			create(d, po->meta.name, f);
			created++;
		}
	}
	map_free(k.by_node);
	write_found(p, po,
		    json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:n}", "version",
			      str_or(i->version, ""), "nodes", (json_int_t)nodes, "categories",
			      names(i->categories.v, i->categories.n), "softwareImages",
			      names(i->images.v, i->images.n), "networks",
			      names(i->networks.v, i->networks.n), "refused", refused, "error"));
}

static void on_found(const struct provider_inventory *i, const struct err *e, void *arg)
{
	struct provider_record *p = arg;
	struct context *c = p->d->c;
	const struct provider_object *po = CTX_GET(c, OBJECT_PROVIDER, provider_object, p->name);

	p->busy = false;
	if (!po || !po->spec.bcm || !c->leading)
		return;
	if (!e) {
		take(p, po, i);
		return;
	}
	log_warn("cannot read BCM", LOG_S("provider", p->name), LOG_E(e));
	write_found(p, po, json_pack("{s:s}", "error", e->text));
}

/* --- reading inventories ---------------------------------------------------------------------- */

static bool look_at(const struct kube_entry *en, void *arg)
{
	const struct provider_object *po = en->object;
	struct discovery *d = arg;
	const struct driver *s = po->spec.bcm ? driver_get(d->drivers, en->name) : NULL;
	struct provider_record *p;

	if (!s || !s->provider)
		return true;
	p = map_get(d->places, en->name);
	if (!p) {
		p = mem_new(struct provider_record);
		p->d = d;
		p->name = mem_strdup(en->name);
		writer_init(&p->write, d->c, p);
		map_put(d->places, p->name, p);
	}
	if (!p->busy)
		p->busy = provider_discover(s->provider, on_found, p);
	return true;
}

static void on_timer(void *arg)
{
	struct discovery *d = arg;

	if (!d->c->leading)
		return;
	loop_timer_start(&d->timer, LOOK_MS);
	if (d->c->ready)
		kube_cache_each(d->c->cache[OBJECT_PROVIDER], look_at, d);
}

void discovery_lead(struct discovery *d)
{
	struct map_iter it;

	map_for_each (it, d->places) {
		/* Forget what was written to status.bcm, because another leader may have written it
		 * since. The next inventory then writes it again. */
		struct provider_record *p = it.value;

		free(p->written);
		p->written = NULL;
	}
	loop_timer_start(&d->timer, FIRST_MS);
}

void discovery_forget(struct discovery *d, const struct driver *s)
{
	struct provider_record *p = d ? map_get(d->places, s->name) : NULL;

	if (p)
		p->busy = false;
}

struct discovery *discovery_new(struct context *c, const struct drivers *drivers)
{
	struct discovery *d = mem_new(struct discovery);

	d->c = c;
	d->drivers = drivers;
	d->places = map_new(provider_record_free);
	d->reached = map_new(NULL);
	loop_timer_init(&d->timer, c->group, on_timer, d);
	return d;
}

void discovery_free(struct discovery *d)
{
	if (!d)
		return;
	loop_timer_stop(&d->timer);
	map_free(d->places);
	map_free(d->reached);
	free(d);
}
