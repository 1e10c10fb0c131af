#include "providers/bcm/discover.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/bcm/node.h"

#define ARGS_MAX (4u << 20)

struct bcm_discovery {
	struct bcm *bcm;
	struct arena *a;
	struct provider_inventory found;
	/* UUID of the node -> struct provider_found */
	struct map *by_uuid;
	size_t step;
	struct bcm_request *request;
	void (*done)(const struct provider_inventory *i, const struct err *e, void *arg);
	void *arg;
};

static const struct {
	const char *service, *call;
} lists[] = {{"cmdevice", "getDevices"},
	     {"cmdevice", "getCategories"},
	     {"cmpart", "getSoftwareImages"},
	     {"cmnet", "getNetworks"}};
#define LISTS (sizeof(lists) / sizeof(*lists))

void bcm_discovery_cancel(struct bcm_discovery *d)
{
	if (!d)
		return;
	bcm_cancel(d->request);
	map_free(d->by_uuid);
	arena_free(d->a);
	free(d);
}

static void end(struct bcm_discovery *d, const struct err *e)
{
	d->found.version = bcm_version(d->bcm);
	d->done(e ? NULL : &d->found, e, d->arg);
	bcm_discovery_cancel(d);
}

static size_t count(struct exact list)
{
	struct exact_iter it;
	size_t n = 0;

	exact_for_each(it, list) n++;
	return n;
}

/* True if a device of this type is a node. Switches, PDUs and other devices are left out of the
 * inventory. */
static bool is_node(const char *type)
{
	return type && (str_ends(type, "Node") || str_ends(type, "node"));
}

static void take_device(struct bcm_discovery *d, struct exact device)
{
	struct provider_found *f = &d->found.machines.v[d->found.machines.n];
	struct bcm_node n;
	struct err e;

	if (bcm_node_read(device, d->a, &n, &e) < 0) {
		f->node = str_or(exact_str_at(device, "hostname", d->a),
				 str_or(exact_str_at(device, "uuid", d->a), "(no name)"));
		f->refusal = arena_strdup(d->a, e.text);
		d->found.machines.n++;
		return;
	}
	if (!is_node(n.type))
		return;
	f->node = n.hostname;
	map_put(d->by_uuid, n.uuid, f);
	f->mac = n.mac;
	f->bmc_address = n.bmc_address;
	f->serial = exact_str_at(device, "serialNumber", d->a);
	if (bcm_node_fit(&n, &e) < 0)
		f->refusal = arena_strdup(d->a, e.text);
	d->found.machines.n++;
}

static void take_names(struct bcm_discovery *d, struct exact list, const char ***v, size_t *n)
{
	struct exact_iter it;

	*v = arena_calloc(d->a, count(list) + 1, sizeof(**v));
	exact_for_each(it, list)
	{
		const char *name = exact_str_at(it.value, "name", d->a);

		if (!str_empty(name))
			(*v)[(*n)++] = name;
	}
}

static void take(struct bcm_discovery *d, struct exact list)
{
	struct provider_inventory *i = &d->found;
	struct exact_iter it;

	switch (d->step) {
	case 0:
		i->machines.v = arena_calloc(d->a, count(list) + 1, sizeof(*i->machines.v));
		exact_for_each(it, list) take_device(d, it.value);
		break;
	case 1:
		take_names(d, list, &i->categories.v, &i->categories.n);
		break;
	case 2:
		take_names(d, list, &i->images.v, &i->images.n);
		break;
	default:
		take_names(d, list, &i->networks.v, &i->networks.n);
		break;
	}
}

static void ask(struct bcm_discovery *d);
static void ask_states(struct bcm_discovery *d);

static void on_list(struct exact list, const struct err *failed, void *arg)
{
	struct bcm_discovery *d = arg;
	struct err e;

	d->request = NULL;
	if (failed) {
		end(d, failed);
		return;
	}
	if (exact_kind(list) != EXACT_LIST) {
		err_note(&e, ERR_PROTOCOL, 0, "BCM's reply to %s.%s is not a list",
			 lists[d->step].service, lists[d->step].call);
		end(d, &e);
		return;
	}
	take(d, list);
	if (++d->step == LISTS)
		ask_states(d);
	else
		ask(d);
}

/* Sets `up` of each node from the list of states, then ends the discovery. If the states could not
 * be read, no node counts as up. */
static void on_states(struct exact list, const struct err *failed, void *arg)
{
	struct bcm_discovery *d = arg;
	struct exact_iter it;

	d->request = NULL;
	if (!failed)
		exact_for_each(it, list)
		{
			struct provider_found *f;
			struct bcm_state s;
			const char *of;

			if (!bcm_state_read(it.value, d->a, &of, &s))
				continue;
			f = map_get(d->by_uuid, of);
			if (f)
				f->up = s.phase == BCM_UP;
		}
	end(d, NULL);
}

static void ask_states(struct bcm_discovery *d)
{
	struct bcm_call c = {
		.service = "cmstatus", .call = "getStatusForDevices", .done = on_states, .arg = d};
	struct buf args;
	struct map_iter it;

	buf_init(&args, ARGS_MAX);
	buf_puts(&args, "[[");
	map_for_each (it, d->by_uuid)
		buf_printf(&args, "%s%s", args.len > 2 ? "," : "", exact_quote(it.key, d->a));
	buf_puts(&args, "]]");
	c.args = args.data;
	d->request = bcm_call(d->bcm, &c);
	buf_done(&args);
}

static void ask(struct bcm_discovery *d)
{
	struct bcm_call c = {.service = lists[d->step].service,
			     .call = lists[d->step].call,
			     .args = "[]",
			     .done = on_list,
			     .arg = d};

	d->request = bcm_call(d->bcm, &c);
}

struct bcm_discovery *bcm_discover(struct bcm *b,
				   void (*done)(const struct provider_inventory *i,
						const struct err *e, void *arg),
				   void *arg)
{
	struct bcm_discovery *d = mem_new(struct bcm_discovery);

	d->bcm = b;
	d->a = arena_new();
	d->by_uuid = map_new(NULL);
	d->done = done;
	d->arg = arg;
	ask(d);
	return d;
}
