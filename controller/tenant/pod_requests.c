#include "controller/tenant/pod_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/str.h"

#define NAME_MAX_BYTES 317 /* longest resource name: a DNS subdomain (253), a slash, a label (63) */
/* Maximum number of name comparisons for the init containers of one pod; this number takes a few ms
 * on the loop thread. */
#define INIT_WORK 1000000

bool pod_requests_quantity(const json_t *v, struct quantity *q)
{
	struct err e;
	bool ok = true;

	if (json_is_integer(v))
		*q = quantity_of(json_integer_value(v));
	else if (json_is_real(v))
		ok = quantity_of_real(json_real_value(v), q);
	else
		ok = json_is_string(v) && quantity_parse(json_string_value(v), q, &e) == 0;
	/* refuse a negative request, which would reduce the computed use of the Node and let other
	 * pods in */
	return ok && q->nano >= 0;
}

/* --- resource sums ---------------------------------------------------------------------------- */

enum merge { SUM, MAXIMUM };

static bool merge_one(struct resources *into, const char *name, const json_t *v, enum merge how,
		      struct arena *a)
{
	struct quantity q;
	size_t i = 0;

	if (!pod_requests_quantity(v, &q) || strlen(name) > NAME_MAX_BYTES)
		return false;
	while (i < into->n && !str_eq(into->v[i].name, name))
		i++;
	if (i == into->n) {
		if (into->n == POD_LIST_ITEMS)
			return false;
		into->v[into->n++] = (struct resource){arena_strdup(a, name), q};
	} else if (how == SUM) {
		into->v[i].q = quantity_add(into->v[i].q, q);
	} else if (quantity_cmp(q, into->v[i].q) > 0) {
		into->v[i].q = q;
	}
	return true;
}

static bool merge_in(struct resources *into, const json_t *list, enum merge how, struct arena *a)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)list, name, v)
		if (!merge_one(into, name, v, how, a))
			return false;
	return true;
}

static struct resources empty(struct arena *a)
{
	return (struct resources){.v = arena_calloc(a, POD_LIST_ITEMS, sizeof(struct resource))};
}

static bool merge_resources(struct resources *into, const struct resources *from, enum merge how)
{
	for (size_t k = 0; k < from->n; k++) {
		size_t i = 0;

		while (i < into->n && !str_eq(into->v[i].name, from->v[k].name))
			i++;
		if (i == into->n) {
			if (into->n == POD_LIST_ITEMS)
				return false;
			into->v[into->n++] = from->v[k];
		} else if (how == SUM) {
			into->v[i].q = quantity_add(into->v[i].q, from->v[k].q);
		} else if (quantity_cmp(from->v[k].q, into->v[i].q) > 0) {
			into->v[i].q = from->v[k].q;
		}
	}
	return true;
}

/* Adds a container's requests to *into. If a resource has a limit but no request, the limit counts
 * as the request, as in the API server's defaulting. */
static bool add_container(struct resources *into, const json_t *container, struct arena *a)
{
	const json_t *requests = json_at(container, "resources", "requests");
	const char *name;
	json_t *v;

	if (!merge_in(into, requests, SUM, a))
		return false;
	json_object_foreach (json_at(container, "resources", "limits"), name, v)
		if (!json_object_get(requests, name) && !merge_one(into, name, v, SUM, a))
			return false;
	return true;
}

/* Adds the host ports of one container to *into. A port that is used several times, with different
 * host addresses, counts once. */
static bool add_ports(struct resources *into, const json_t *container, struct arena *a)
{
	const json_t *list = json_object_get(container, "ports");
	json_t *one = json_integer(1);
	bool good = json_array_size(list) <= POD_LIST_ITEMS;
	json_t *p;
	size_t i;

	json_array_foreach (list, i, p) {
		const char *protocol = str_or(json_str_at(p, "protocol"), "TCP");
		const int64_t port = json_int_at(p, "hostPort");

		if (!good || port == 0)
			continue;
		good = port > 0 && port < 65536 && strlen(protocol) < 8 &&
		       merge_one(into, arena_printf(a, ":%s/%d", protocol, (int)port), one, MAXIMUM,
				 a);
	}
	json_decref(one);
	return good;
}

/* Adds host ports of containers and sidecars to *into, as kube-scheduler's NodePorts does. If the
 * pod uses the host's network, the API server has made each containerPort a hostPort. */
static bool host_ports(const json_t *spec, struct resources *into, struct arena *a)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(spec, "containers"), i, c)
		if (!add_ports(into, c, a))
			return false;
	json_array_foreach (json_object_get(spec, "initContainers"), i, c)
		if (str_eq(json_str_at(c, "restartPolicy"), "Always") && !add_ports(into, c, a))
			return false;
	return true;
}

bool pod_requests(const json_t *spec, struct resources *out, struct arena *a)
{
	OWN(arena) tmp = arena_new();
	struct resources run = empty(tmp), side = empty(tmp), peak = empty(tmp), now;
	size_t work = 0;
	json_t *c, *list;
	size_t i;

	if (json_array_size(json_object_get(spec, "containers")) > POD_LIST_ITEMS ||
	    json_array_size(json_object_get(spec, "initContainers")) > POD_LIST_ITEMS)
		return false;
	json_array_foreach (json_object_get(spec, "containers"), i, c)
		if (!add_container(&run, c, tmp))
			return false;
	json_array_foreach (json_object_get(spec, "initContainers"), i, c) {
		if (str_eq(json_str_at(c, "restartPolicy"),
			   "Always")) { /* a sidecar keeps running beside the other containers */
			if (!add_container(&side, c, tmp))
				return false;
			now = side;
		} else {
			now = empty(tmp);
			if (!merge_resources(&now, &side, SUM) || !add_container(&now, c, tmp))
				return false;
		}
		work += now.n * (side.n + peak.n);
		if (work > INIT_WORK || !merge_resources(&peak, &now, MAXIMUM))
			return false;
	}
	if (!merge_resources(&run, &side, SUM) || !merge_resources(&run, &peak, MAXIMUM))
		return false;
	list = json_at(spec, "resources", "requests");
	if (list) {
		/* a pod-level request replaces the sum of the containers' requests for the same
		 * resource */
		now = empty(tmp);
		if (!merge_in(&now, list, SUM, tmp))
			return false;
		for (size_t k = 0; k < run.n; k++)
			for (size_t m = 0; m < now.n; m++)
				if (str_eq(run.v[k].name, now.v[m].name))
					run.v[k].q = now.v[m].q;
		(void)merge_resources(&run, &now, MAXIMUM);
	}
	if (!merge_in(&run, json_object_get(spec, "overhead"), SUM, tmp) ||
	    !host_ports(spec, &run, tmp))
		return false;
	out->n = run.n;
	out->v = arena_calloc(a, run.n + 1, sizeof(*out->v));
	for (size_t k = 0; k < run.n; k++)
		out->v[k] = (struct resource){arena_strdup(a, run.v[k].name), run.v[k].q};
	resources_sort(out);
	return true;
}
