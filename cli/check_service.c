/*
 * check_service: checks the Services that lead machines to the leader. Which Services these are is
 * found by the EndpointSlices that a leader wrote; LEADER_SERVICE is checked in any case, because
 * its leader may have failed to write the slice.
 * Tests: tests/unit/cli/test_check.c
 */
#include <stdlib.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "cli/check.h"

struct slices {
	struct check *k;
	struct arena *a;
	/* all EndpointSlices of drover's namespace */
	json_t *all;
};

static void on_slice(json_t *o, void *arg)
{
	json_array_append(((struct slices *)arg)->all, o);
}

static bool is_of(const json_t *slice, const char *service)
{
	return str_eq(json_str_at(slice, "metadata", "labels", LEADER_SLICE_SERVICE_LABEL),
		      service);
}

static bool is_leaders(const json_t *slice)
{
	return str_eq(json_str_at(slice, "metadata", "labels", LEADER_SLICE_WRITER_LABEL),
		      LEADER_SLICE_WRITER);
}

/* Returns the slice that a leader wrote for the service; NULL: none. */
static const json_t *leaders(const struct slices *s, const char *service)
{
	json_t *v;
	size_t i;

	json_array_foreach (s->all, i, v)
		if (is_of(v, service) && is_leaders(v))
			return v;
	return NULL;
}

/* Reports slices of another writer, which remain if the Service had a selector before. */
static bool check_others(const struct slices *s, const char *service, const char *of)
{
	bool any = false;
	json_t *v;
	size_t i;

	json_array_foreach (s->all, i, v) {
		const char *name = str_or(json_str_at(v, "metadata", "name"), "");

		if (!is_of(v, service) || is_leaders(v) ||
		    !json_array_size(json_at(v, "endpoints")))
			continue;
		any = true;
		findings_add(s->k->f, FINDING_WRONG, of,
			     arena_printf(s->a,
					  "kubectl -n %s delete endpoints %s --ignore-not-found; "
					  "kubectl -n %s delete endpointslice %s",
					  s->k->ns, service, s->k->ns, name),
			     "EndpointSlice %s, which drover did not write, leads to other "
			     "addresses than the leader's",
			     name);
	}
	return any;
}

static void check_endpoint(const struct slices *s, const char *service, const char *of,
			   const json_t *slice)
{
	const char *mend = arena_printf(s->a,
					"read the events (kubectl -n %s get events) and the log of "
					"the leader; it corrects the slice every 10 s",
					s->k->ns);
	const json_t *e = json_array_get(json_at(slice, "endpoints"), 0);
	const char *pod = str_or(json_str_at(e, "targetRef", "name"), "none"),
		   *at = str_or(json_string_value(json_array_get(json_at(e, "addresses"), 0)), "");

	if (check_others(s, service, of) || !s->k->leader)
		return;
	if (!str_eq(pod, s->k->leader))
		findings_add(s->k->f, FINDING_WRONG, of, mend,
			     "leads to pod %s, but the leader is %s", pod, s->k->leader);
	else if (!json_true_at(e, "conditions", "ready"))
		findings_add(s->k->f, FINDING_WRONG, of, mend,
			     "the endpoint of the leader, pod %s, is marked as not ready", pod);
	else
		findings_add(s->k->f, FINDING_OK, of, NULL,
			     "leads to the leader, pod %s at address %s", pod, at);
}

static void check_one(const struct slices *s, const char *service)
{
	struct check *k = s->k;
	const char *of = arena_printf(s->a, "service/%s", service);
	const json_t *slice = leaders(s, service);
	struct err e;
	OWN_JSON o = cli_path(
		k->c, arena_printf(s->a, "/api/v1/namespaces/%s/services/%s", k->ns, service), &e);
	bool selects = json_object_size(json_at(o, "spec", "selector")) > 0;

	if (!o && e.kind != ERR_NOT_FOUND)
		findings_add(k->f, FINDING_UNKNOWN, of,
			     "give your user the permission `get` on services in drover's "
			     "namespace",
			     "%s", e.text);
	else if (!o && slice)
		findings_add(k->f, FINDING_WRONG, of,
			     "run helm upgrade or deploy/install.sh again (docs/install.md)",
			     "missing, although the leader runs with --leader-service %s", service);
	else if (selects && slice)
		findings_add(k->f, FINDING_WRONG, of,
			     arena_printf(s->a,
					  "kubectl -n %s patch service %s --type=merge -p "
					  "'{\"spec\":{\"selector\":null}}'; then run drover check "
					  "again",
					  k->ns, service),
			     "has a selector, so it also leads to replicas that are not the "
			     "leader");
	else if (o && !selects && !slice)
		findings_add(
			k->f, FINDING_WRONG, of,
			arena_printf(s->a,
				     "run drover with --leader-service %s; if drover already runs "
				     "with this option, read the events: kubectl -n %s get events",
				     service, k->ns),
			"leads to no replica: it has no selector, and no leader has written "
			"EndpointSlice %s" LEADER_SLICE_SUFFIX,
			service);
	else if (o && slice)
		check_endpoint(s, service, of, slice);
}

void check_service(struct check *k)
{
	OWN(arena) a = arena_new();
	OWN_JSON all = json_array();
	struct slices s = {k, a, all};
	struct err e;
	json_t *v;
	size_t i;

	/* NOT_FOUND: the server has no such kind, as `drover apiserver`. */
	if (cli_list_of(k->c, &KUBE_ENDPOINTSLICES, k->ns, NULL, on_slice, &s, &e) < 0) {
		if (e.kind != ERR_NOT_FOUND)
			findings_add(k->f, FINDING_UNKNOWN, "service/" LEADER_SERVICE,
				     "give your user the permission `list` on endpointslices in "
				     "drover's namespace",
				     "%s", e.text);
		return;
	}
	check_one(&s, LEADER_SERVICE);
	json_array_foreach (all, i, v) {
		const char *service =
			json_str_at(v, "metadata", "labels", LEADER_SLICE_SERVICE_LABEL);

		if (service && is_leaders(v) && !str_eq(service, LEADER_SERVICE))
			check_one(&s, service);
	}
}
