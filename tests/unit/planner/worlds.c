#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"
#include "base/str.h"

/* Splits text at commas and drops empty parts. *out: the parts. Returns their number. */
static size_t split(struct arena *a, const char *text, const char ***out)
{
	size_t n = 0;
	char *s = arena_strdup(a, text ? text : ""), *part;

	*out = arena_calloc(a, strlen(s) + 1, sizeof(**out));
	while ((part = strsep(&s, ",")))
		if (*part)
			(*out)[n++] = part;
	return n;
}

static void cut(const char *part, char by, char **key, const char **value, struct arena *a)
{
	char *at;

	*key = arena_strdup(a, part);
	at = strchr(*key, by);
	*value = "";
	if (at) {
		*at = '\0';
		*value = at + 1;
	}
}

struct resources worlds_resources(struct arena *a, const char *text)
{
	const char **part, *value;
	struct resources r = {.n = split(a, text, &part)};
	struct err e;
	char *key;

	r.v = arena_calloc(a, r.n + 1, sizeof(*r.v));
	for (size_t i = 0; i < r.n; i++) {
		cut(part[i], '=', &key, &value, a);
		r.v[i].name = key;
		assert_ok(quantity_parse(value, &r.v[i].q, &e), &e);
	}
	return r;
}

struct labels worlds_labels(struct arena *a, const char *text)
{
	const char **part;
	struct labels l = {.n = split(a, text, &part)};
	char *key;

	l.v = arena_calloc(a, l.n + 1, sizeof(*l.v));
	for (size_t i = 0; i < l.n; i++) {
		cut(part[i], '=', &key, &l.v[i].value, a);
		l.v[i].key = key;
	}
	return l;
}

struct world_taints worlds_taints(struct arena *a, const char *text)
{
	const char **part, *rest;
	struct world_taints t = {.n = split(a, text, &part)};
	char *key, *value;

	t.v = arena_calloc(a, t.n + 1, sizeof(*t.v));
	for (size_t i = 0; i < t.n; i++) {
		cut(part[i], '=', &key, &rest, a);
		cut(rest, ':', &value, &t.v[i].effect, a);
		t.v[i].key = key;
		t.v[i].value = value;
	}
	return t;
}

struct selector worlds_term(struct arena *a, const char *text)
{
	struct selector s;
	struct err e;

	assert_ok(selector_parse(text, a, &s, &e), &e);
	return s;
}

struct world_tenant worlds_tenant(struct arena *a)
{
	return (struct world_tenant){.name = "acme",
				     .labels = worlds_labels(a, "team=a"),
				     .weight = 1,
				     .version = "1.36"};
}

struct world_provider worlds_provider(struct arena *a)
{
	struct world_provider p = {.name = "metal"};

	p.types.v = arena_calloc(a, 3, sizeof(*p.types.v));
	p.types.v[p.types.n++] = (struct world_instance_type){
		"gpu", worlds_resources(a, "cpu=64,memory=512Gi,nvidia.com/gpu=8,pods=110"),
		worlds_labels(a, "gpu=h100"), 0};
	p.types.v[p.types.n++] = (struct world_instance_type){
		"small", worlds_resources(a, "cpu=4,memory=8Gi,pods=10"),
		worlds_labels(a, "disk=ssd"), 0};
	p.types.v[p.types.n++] = (struct world_instance_type){
		"big", worlds_resources(a, "cpu=16,memory=64Gi,pods=110"),
		worlds_labels(a, "cores=16"), 0};
	return p;
}

struct world_pool worlds_pool(struct arena *a)
{
	struct world_pool p = {
		.name = "main", .weight = 10, .tenants = worlds_term(a, "team in (a,b)")};

	p.providers = arena_calloc(a, 2, sizeof(*p.providers));
	p.providers[p.nproviders++] = "metal";
	p.versions = arena_calloc(a, 2, sizeof(*p.versions));
	p.versions[p.nversions++] = "1.36";
	return p;
}

struct world *worlds_new(struct arena *a)
{
	struct world *w = world_new();

	world_put_tenant(w, &(struct world_tenant[]){worlds_tenant(a)}[0]);
	world_put_provider(w, &(struct world_provider[]){worlds_provider(a)}[0]);
	world_put_pool(w, &(struct world_pool[]){worlds_pool(a)}[0]);
	return w;
}

struct world_machine worlds_machine(const char *name, const char *type)
{
	return (struct world_machine){.name = name,
				      .provider = "metal",
				      .instance_type = type,
				      .offered = true,
				      .level_flash = 2,
				      .level_hdd = -1,
				      .trust = 1};
}

struct world_pod worlds_pod(struct arena *a, const char *name, const char *requests)
{
	return (struct world_pod){.tenant = "acme",
				  .ns = "default",
				  .name = name,
				  .uid = name,
				  .unschedulable = true,
				  .since = 1000,
				  .requests = worlds_resources(a, requests)};
}

struct world_node worlds_node(struct arena *a, const char *name)
{
	return (struct world_node){.tenant = "acme",
				   .name = name,
				   .ready = true,
				   .allocatable = worlds_resources(a, "cpu=4,memory=8Gi,pods=10")};
}

struct world_claim worlds_claim(struct arena *a, const char *name, const char *machine)
{
	return (struct world_claim){.name = name,
				    .tenant = "acme",
				    .pool = "main",
				    .machine = machine,
				    .instance_type = "small",
				    .provider = "metal",
				    .capacity = worlds_resources(a, "cpu=4,memory=8Gi,pods=10")};
}

static const char *outcome(const struct plan *p, const struct plan_pod *d, struct arena *a)
{
	const char *text = "nothing";

	switch (d->outcome) {
	case PLAN_ON_NODE:
		return arena_printf(a, "node %s", d->target);
	case PLAN_ON_CLAIM:
		return arena_printf(a, "claim %s", d->target);
	case PLAN_ON_NEW:
		return arena_printf(a, "new %zu on %s", d->new_claim,
				    p->claims[d->new_claim].machine);
	case PLAN_NOTHING:
		break;
	}
	for (size_t i = 0; i < d->nreasons; i++)
		text = arena_printf(a, "%s; %s: %s", text, plan_reason_names[d->reasons[i].code],
				    d->reasons[i].text);
	if (d->expected.machine)
		text = arena_printf(a, "%s; expects %s at %lld to %lld", text, d->expected.machine,
				    (long long)d->expected.p50, (long long)d->expected.p90);
	return text;
}

const char *worlds_text(const struct plan *p, struct arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < p->npods; i++)
		text = arena_printf(a, "%s%zu %s/%s/%s: %s\n", text, p->pods[i].place,
				    p->pods[i].tenant, p->pods[i].ns, p->pods[i].name,
				    outcome(p, &p->pods[i], a));
	for (size_t i = 0; i < p->nclaims; i++) {
		const struct plan_claim *c = &p->claims[i];

		text = arena_printf(a, "%s%s %s %s %s %s %s: %zu pods,", text, c->tenant, c->pool,
				    c->provider, c->machine, c->instance_type, c->version,
				    c->npods);
		for (size_t k = 0; k < c->requests.n; k++) {
			char q[QUANTITY_TEXT];

			text = arena_printf(a, "%s %s=%s", text, c->requests.v[k].name,
					    quantity_format(c->requests.v[k].q, q));
		}
		for (size_t k = 0; k < c->labels.n; k++)
			text = arena_printf(a, "%s %s=%s", text, c->labels.v[k].key,
					    c->labels.v[k].value);
		text = arena_printf(a, "%s\n", text);
	}
	return text;
}

const char *worlds_pod_text(const struct plan *p, const char *name, struct arena *a)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].name, name) && str_eq(p->pods[i].ns, "default"))
			return outcome(p, &p->pods[i], a);
	return "not in the plan";
}
