#include "controller/tenant/volume_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/str.h"
#include "controller/tenant/pod_topology.h"
#include "kube/want.h"

#define TERMS_MAX 256
#define NAME_MAX_BYTES 253
#define HOSTNAME "kubernetes.io/hostname"
/* provisioner of StorageClasses whose volumes an operator creates by hand */
#define NO_PROVISIONER "kubernetes.io/no-provisioner"
#define BOUND "pv.kubernetes.io/bind-completed"
#define SELECTED "volume.kubernetes.io/selected-node"

/* --- members that are read -------------------------------------------------------------------- */

#define TERMS(name) SCAN_ALL(name, VOLUME_TERMS_BYTES + 1)
#define SOME_OF(name, some) SCAN_SOME_OF(name, some, VOLUME_TERMS_BYTES + 1)

static const struct scan_want claim_notes[] = {SCAN_PLAIN(BOUND), SCAN_PLAIN(SELECTED), SCAN_END};
static const struct scan_want claim_owner[] = {SCAN_PLAIN("controller"), SCAN_PLAIN("uid"),
					       SCAN_END};
static const struct scan_want claim_meta[] = {KUBE_WANT_META, SCAN_PLAIN("deletionTimestamp"),
					      SCAN_SOME("annotations", claim_notes),
					      SOME_OF("ownerReferences", claim_owner), SCAN_END};
static const struct scan_want claim_spec[] = {
	SCAN_PLAIN("volumeName"), SCAN_PLAIN("storageClassName"), TERMS("accessModes"), SCAN_END};
static const struct scan_want phase[] = {SCAN_PLAIN("phase"), SCAN_END};
const struct scan_want volume_want_claim[] = {SCAN_SOME("metadata", claim_meta),
					      SCAN_SOME("spec", claim_spec),
					      SCAN_SOME("status", phase), SCAN_END};

static const struct scan_want meta[] = {KUBE_WANT_META, SCAN_END};
static const struct scan_want volume_ref[] = {SCAN_PLAIN("namespace"), SCAN_PLAIN("name"),
					      SCAN_END};
static const struct scan_want volume_csi[] = {SCAN_PLAIN("driver"), SCAN_END};
static const struct scan_want volume_spec[] = {SCAN_SOME("claimRef", volume_ref),
					       SCAN_SOME("csi", volume_csi), TERMS("nodeAffinity"),
					       SCAN_END};
const struct scan_want volume_want_volume[] = {SCAN_SOME("metadata", meta),
					       SCAN_SOME("spec", volume_spec), SCAN_END};

const struct scan_want volume_want_class[] = {
	SCAN_SOME("metadata", meta), SCAN_PLAIN("provisioner"), SCAN_PLAIN("volumeBindingMode"),
	TERMS("allowedTopologies"), SCAN_END};

static const struct scan_want driver_count[] = {SCAN_PLAIN("count"), SCAN_END};
static const struct scan_want driver[] = {SCAN_PLAIN("name"),
					  SCAN_SOME("allocatable", driver_count), SCAN_END};
static const struct scan_want limits_spec[] = {SOME_OF("drivers", driver), SCAN_END};
const struct scan_want volume_want_limits[] = {SCAN_SOME("metadata", meta),
					       SCAN_SOME("spec", limits_spec), SCAN_END};

/* --- objects ---------------------------------------------------------------------------------- */

/* Returns the name in member `key`, in the arena; NULL: missing, empty or too long. */
static const char *name_at(const json_t *o, const char *key, struct arena *a)
{
	const char *s = json_str_at(o, key);

	return str_empty(s) || strlen(s) > NAME_MAX_BYTES ? NULL : arena_strdup(a, s);
}

void *volume_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *m = json_object_get(o, "metadata"), *spec = json_object_get(o, "spec"),
		     *notes = json_object_get(m, "annotations");
	struct volume_claim *c = arena_new_obj(a, struct volume_claim);
	json_t *v;
	size_t i;

	(void)arg;
	(void)e;
	c->volume = name_at(spec, "volumeName", a);
	c->class_name = name_at(spec, "storageClassName", a);
	c->selected_node = name_at(notes, SELECTED, a);
	c->bound = c->volume && (json_object_get(notes, BOUND) ||
				 str_eq(json_str_at(o, "status", "phase"), "Bound"));
	c->lost = str_eq(json_str_at(o, "status", "phase"), "Lost");
	c->deleting = json_object_get(m, "deletionTimestamp") != NULL;
	json_array_foreach (json_object_get(m, "ownerReferences"), i, v)
		if (json_true_at(v, "controller"))
			c->owner = name_at(v, "uid", a);
	json_array_foreach (json_object_get(spec, "accessModes"), i, v)
		c->one_pod |= str_eq(json_string_value(v), "ReadWriteOncePod");
	return c;
}

/* Adds requirements on fields to *s. Returns false if one cannot be read, or is on a field other
 * than metadata.name. */
static bool add_fields(const json_t *fields, struct selector *s, struct arena *a)
{
	struct selector names = {0};

	if (!demand_requirements(fields, 0, &names, a))
		return false;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_eq(names.v[i].key, "metadata.name"))
			return false;
		names.v[i].key = WORLD_NODE_NAME;
		s->v[s->n++] = names.v[i];
	}
	return true;
}

static struct volume_terms affinity_of(const json_t *affinity, struct arena *a)
{
	const json_t *required = json_object_get(affinity, "required"),
		     *list = json_object_get(required, "nodeSelectorTerms"), *fields;
	struct volume_terms t = {.any = !required, .weight = scan_weight(affinity)};
	json_t *term;
	size_t i;

	t.unreadable = t.weight > VOLUME_TERMS_BYTES || json_array_size(list) > TERMS_MAX;
	if (t.unreadable)
		return t;
	t.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*t.v));
	json_array_foreach (list, i, term) {
		struct selector *s = &t.v[t.n++];

		fields = json_object_get(term, "matchFields");
		t.unreadable |= !demand_requirements(json_object_get(term, "matchExpressions"),
						     json_array_size(fields), s, a) ||
				!add_fields(fields, s, a);
		if (t.unreadable)
			return t;
	}
	return t;
}

/* Returns the only Node that the term allows, by host name or by name; NULL: it allows several
 * Nodes, or none. */
static const char *host_in(const struct selector *s)
{
	for (size_t i = 0; i < s->n; i++)
		if ((str_eq(s->v[i].key, HOSTNAME) || str_eq(s->v[i].key, WORLD_NODE_NAME)) &&
		    s->v[i].op == SELECTOR_IN && s->v[i].nvalues == 1)
			return s->v[i].values[0];
	return NULL;
}

static const char *node_of(const struct volume_terms *t)
{
	const char *node = t->n && !t->unreadable ? host_in(&t->v[0]) : NULL;

	for (size_t i = 1; i < t->n; i++)
		if (!str_eq(node, host_in(&t->v[i])))
			return NULL;
	return node;
}

void *volume_project_volume(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *spec = json_object_get(o, "spec"), *ref = json_object_get(spec, "claimRef");
	struct volume *v = arena_new_obj(a, struct volume);

	(void)arg;
	(void)e;
	v->claim_ns = name_at(ref, "namespace", a);
	v->claim_name = name_at(ref, "name", a);
	v->driver = name_at(json_object_get(spec, "csi"), "driver", a);
	v->terms = affinity_of(json_object_get(spec, "nodeAffinity"), a);
	v->node = node_of(&v->terms);
	return v;
}

/* Reads matchLabelExpressions of an allowed topology into *s. Each expression has a key and a list
 * of values, one of which must match. Returns false if the expressions cannot be read. */
static bool topology_of(const json_t *term, struct selector *s, struct arena *a)
{
	const json_t *list = json_object_get(term, "matchLabelExpressions"), *values;
	json_t *x, *v;
	size_t i, k;

	if (json_array_size(list) > TERMS_MAX)
		return false;
	s->v = arena_calloc(a, json_array_size(list) + 1, sizeof(*s->v));
	json_array_foreach (list, i, x) {
		struct requirement *q = &s->v[s->n++];

		values = json_object_get(x, "values");
		*q = (struct requirement){.key = arena_strdup(a, json_str_at(x, "key")),
					  .op = SELECTOR_IN};
		if (!q->key || json_array_size(values) > TERMS_MAX)
			return false;
		q->values = arena_calloc(a, json_array_size(values) + 1, sizeof(*q->values));
		json_array_foreach (values, k, v)
			q->values[q->nvalues++] = arena_strdup(a, str_or(json_string_value(v), ""));
	}
	return true;
}

void *volume_project_class(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *list = json_object_get(o, "allowedTopologies");
	struct volume_class *c = arena_new_obj(a, struct volume_class);
	json_t *term;
	size_t i;

	(void)arg;
	(void)e;
	c->waits = str_eq(json_str_at(o, "volumeBindingMode"), "WaitForFirstConsumer");
	c->provisioner = name_at(o, "provisioner", a);
	c->terms.any = !json_array_size(list);
	c->terms.weight = scan_weight(list);
	c->terms.unreadable =
		c->terms.weight > VOLUME_TERMS_BYTES || json_array_size(list) > TERMS_MAX;
	if (c->terms.unreadable)
		return c;
	c->terms.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*c->terms.v));
	json_array_foreach (list, i, term)
		c->terms.unreadable |= !topology_of(term, &c->terms.v[c->terms.n++], a);
	return c;
}

void *volume_project_limits(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *list = json_at(o, "spec", "drivers"), *count;
	struct volume_limits *l = arena_new_obj(a, struct volume_limits);
	const char *name;
	json_t *d;
	size_t i;

	(void)arg;
	(void)e;
	l->counts.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*l->counts.v));
	json_array_foreach (list, i, d) {
		name = name_at(d, "name", a);
		count = json_at(d, "allocatable", "count");
		if (name && json_is_integer(count) && json_integer_value(count) >= 0)
			l->counts.v[l->counts.n++] =
				(struct resource){arena_printf(a, "@%s", name),
						  quantity_of(json_integer_value(count))};
	}
	resources_sort(&l->counts);
	return l;
}

/* --- evaluation of a claim -------------------------------------------------------------------- */

#define SAY(...) arena_printf(a, __VA_ARGS__)

static const char *on_terms(const struct volume_terms *t, const char *whose, const char *claim,
			    struct volume_answer *out, struct arena *a)
{
	if (t->unreadable)
		return SAY(
			"persistentVolumeClaim %s: the topology of %s is longer than %zu KiB, or "
			"cannot be read",
			claim, whose, VOLUME_TERMS_BYTES >> 10);
	out->anywhere = t->any;
	out->place.v = t->v;
	out->place.n = t->n;
	out->weight = t->weight;
	return NULL;
}

static const char *judge_bound(const struct volume_use *u, struct volume_answer *out,
			       struct arena *a)
{
	const struct volume *v = u->volume;
	const char *name = u->claim->volume;

	if (!v)
		return SAY("persistentVolumeClaim %s: its volume %s does not exist", u->name, name);
	if (!str_eq(v->claim_ns, u->ns) || !str_eq(v->claim_name, u->name))
		return SAY("persistentVolumeClaim %s: its volume %s is bound to another claim",
			   u->name, name);
	out->driver = v->driver;
	if (v->node) {
		out->place.name = SAY("persistentVolumeClaim %s: its volume %s", u->name, name);
		out->place.node = v->node;
	}
	return on_terms(&v->terms, SAY("volume %s", name), u->name, out, a);
}

/* Restricts the volume to the Node that kube-scheduler chose, because the volume is being
 * provisioned for that Node only. */
static void on_selected(const struct volume_use *u, struct volume_answer *out, struct arena *a)
{
	struct selector *s = arena_new_obj(a, struct selector);
	struct requirement *q = arena_new_obj(a, struct requirement);

	*q = (struct requirement){.key = WORLD_NODE_NAME, .op = SELECTOR_IN, .nvalues = 1};
	q->values = arena_calloc(a, 1, sizeof(*q->values));
	q->values[0] = u->claim->selected_node;
	*s = (struct selector){.v = q, .n = 1};
	out->anywhere = false;
	out->place = (struct world_volume){
		SAY("persistentVolumeClaim %s: its volume, which is being provisioned,", u->name),
		u->claim->selected_node, s, 1};
}

static const char *judge_unbound(const struct volume_use *u, struct volume_answer *out,
				 struct arena *a)
{
	const struct volume_class *k = u->class_;
	const char *name = u->claim->class_name, *why;

	if (u->claim->volume)
		return SAY("persistentVolumeClaim %s is not bound to its volume %s yet", u->name,
			   u->claim->volume);
	if (!name)
		return SAY("persistentVolumeClaim %s is not bound, and names no StorageClass",
			   u->name);
	if (!k)
		return SAY("persistentVolumeClaim %s: StorageClass %s does not exist", u->name,
			   name);
	if (!k->waits)
		return SAY(
			"persistentVolumeClaim %s is not bound yet: StorageClass %s binds without "
			"waiting for a pod (Immediate)",
			u->name, name);
	if (!k->provisioner || str_eq(k->provisioner, NO_PROVISIONER))
		return SAY(
			"persistentVolumeClaim %s is not bound, and StorageClass %s provisions no "
			"volumes",
			u->name, name);
	why = on_terms(&k->terms, SAY("StorageClass %s", name), u->name, out, a);
	if (!why && u->claim->selected_node)
		on_selected(u, out, a);
	out->driver = k->provisioner;
	return why;
}

const char *volume_judge(const struct volume_use *u, struct volume_answer *out, struct arena *a)
{
	const struct volume_claim *c = u->claim;

	*out = (struct volume_answer){.anywhere = false};
	if (!c && u->ephemeral)
		return SAY("persistentVolumeClaim %s of ephemeral volume %s is not created yet",
			   u->name, u->ephemeral);
	if (!c)
		return SAY("persistentVolumeClaim %s does not exist", u->name);
	if (u->ephemeral && !str_eq(c->owner, u->pod_uid))
		return SAY("persistentVolumeClaim %s has the name of ephemeral volume %s, but does "
			   "not belong to the pod",
			   u->name, u->ephemeral);
	if (c->deleting)
		return SAY("persistentVolumeClaim %s is being deleted", u->name);
	if (c->lost)
		return SAY("persistentVolumeClaim %s has lost its volume %s", u->name,
			   str_or(c->volume, ""));
	return c->bound ? judge_bound(u, out, a) : judge_unbound(u, out, a);
}
