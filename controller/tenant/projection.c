/*
 * projection: converts pods and Nodes of the API to the planner's structs.
 *
 * Everything is untrusted text of a tenant. A quantity or selector that cannot be parsed makes the
 * pod "unsupported" with that reason; it is never an error of drover.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/tenant/projection.h"
#include "api/annotations.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/gang_names.h"
#include "controller/tenant/pod_affinity.h"
#include "controller/tenant/pod_asks.h"
#include "controller/tenant/pod_ends.h"
#include "controller/tenant/pod_keep.h"
#include "controller/tenant/pod_requests.h"
#include "controller/tenant/pod_topology.h"
#include "controller/tenant/pod_workload.h"
#include "controller/tenant/request_objects.h"
#include "controller/tenant/tenant.h"

#define SHORT_MAX 64
#define UID_MAX 128
#define MIRROR "kubernetes.io/config.mirror" /* annotation that marks a static pod */
#define NODE_NAME_MAX 253
#define CLAIM_NAME_MAX 253
#define DEFAULT_GRACE_S 30 /* default terminationGracePeriodSeconds of the API server */
/* Limit of the members that are read in one list of a pod; size as counted by scan_weight(). */
#define POD_LIST_BYTES ((size_t)128 << 10)

/* --- members that are read -----------------------------------------------------------------------
 *
 * For each member, up to one byte more than its limit is read: if scan_weight() exceeds the limit,
 * the member is too long. */
#define POD_TEXT(name) SCAN_ALL(name, TENANT_POD_BYTES + 1)
#define POD_LIST(name, some) SCAN_SOME_OF(name, some, POD_LIST_BYTES + 1)
#define NODE_TEXT(name) SCAN_ALL(name, TENANT_NODE_BYTES + 1)

static const struct scan_want nothing[] = {SCAN_END};

static const struct scan_want pod_notes[] = {SCAN_PLAIN(CHECKPOINT_WANTED),
					     SCAN_PLAIN(CHECKPOINT_REQUESTED),
					     SCAN_PLAIN(CHECKPOINT_DONE),
					     SCAN_PLAIN(MIRROR),
					     SCAN_PLAIN(GANG_SIZE),
					     SCAN_PLAIN(GANG_NAME),
					     SCAN_PLAIN(GANG_VOLCANO_GROUP),
					     SCAN_PLAIN(GANG_VOLCANO_GROUP_TOO),
					     SCAN_PLAIN(GANG_KAI_GROUP),
					     SCAN_PLAIN(GANG_LWS_SIZE),
					     SCAN_PLAIN(REQUEST_CONSUME),
					     SCAN_PLAIN(BURST_WORKLOAD),
					     SCAN_PLAIN(ASKS_RUNTIME),
					     SCAN_PLAIN(ASKS_START_BY),
					     SCAN_PLAIN(ASKS_DATA_CLASS),
					     SCAN_PLAIN(ASKS_INTERVAL),
					     SCAN_PLAIN(ASKS_DATA),
					     SCAN_PLAIN(POD_ASKS_ATTEMPT),
					     SCAN_PLAIN(KEEP_DO_NOT_DISRUPT),
					     SCAN_PLAIN(KEEP_KARPENTER_DO_NOT_DISRUPT),
					     SCAN_PLAIN(KEEP_SAFE_TO_EVICT),
					     SCAN_PLAIN(KEEP_DELETION_COST),
					     SCAN_END};
static const struct scan_want pod_owner[] = {SCAN_PLAIN("controller"), SCAN_PLAIN("kind"),
					     SCAN_PLAIN("name"), SCAN_PLAIN("uid"), SCAN_END};
static const struct scan_want pod_meta[] = {KUBE_WANT_META,
					    SCAN_PLAIN("creationTimestamp"),
					    SCAN_PLAIN("deletionTimestamp"),
					    POD_TEXT("labels"),
					    SCAN_SOME("annotations", pod_notes),
					    POD_LIST("ownerReferences", pod_owner),
					    SCAN_END};
static const struct scan_want pod_amounts[] = {SCAN_ALL("requests", POD_LIST_BYTES + 1),
					       SCAN_ALL("limits", POD_LIST_BYTES + 1), SCAN_END};
static const struct scan_want pod_port[] = {SCAN_PLAIN("hostPort"), SCAN_PLAIN("protocol"),
					    SCAN_END};
static const struct scan_want pod_container[] = {SCAN_SOME("resources", pod_amounts),
						 SCAN_SOME("ports", pod_port),
						 SCAN_PLAIN("restartPolicy"), SCAN_END};
static const struct scan_want pod_device[] = {SCAN_PLAIN("name"), SCAN_PLAIN("resourceClaimName"),
					      SCAN_PLAIN("resourceClaimTemplateName"), SCAN_END};
static const struct scan_want pod_claim[] = {SCAN_PLAIN("claimName"), SCAN_END};
static const struct scan_want pod_empty_dir[] = {SCAN_PLAIN("medium"), SCAN_END};
static const struct scan_want pod_volume[] = {SCAN_PLAIN("name"),
					      SCAN_SOME("emptyDir", pod_empty_dir),
					      SCAN_SOME("hostPath", nothing),
					      SCAN_SOME("persistentVolumeClaim", pod_claim),
					      SCAN_PLAIN("ephemeral"),
					      SCAN_END};
static const struct scan_want pod_group[] = {SCAN_PLAIN("podGroupName"), SCAN_END};
static const struct scan_want pod_workload[] = {SCAN_PLAIN("name"), SCAN_PLAIN("podGroup"),
						SCAN_PLAIN("podGroupReplicaKey"), SCAN_END};
static const struct scan_want pod_spec[] = {SCAN_PLAIN("nodeName"),
					    SCAN_SOME("schedulingGroup", pod_group),
					    SCAN_SOME("workloadRef", pod_workload),
					    SCAN_PLAIN("priority"),
					    SCAN_PLAIN("priorityClassName"),
					    SCAN_PLAIN("preemptionPolicy"),
					    SCAN_PLAIN("runtimeClassName"),
					    SCAN_PLAIN("terminationGracePeriodSeconds"),
					    SCAN_PLAIN("activeDeadlineSeconds"),
					    POD_LIST("containers", pod_container),
					    POD_LIST("initContainers", pod_container),
					    POD_LIST("resources", pod_amounts),
					    SCAN_ALL("overhead", POD_LIST_BYTES + 1),
					    POD_TEXT("nodeSelector"),
					    POD_TEXT("tolerations"),
					    POD_TEXT("affinity"),
					    POD_TEXT("topologySpreadConstraints"),
					    POD_LIST("schedulingGates", nothing),
					    POD_LIST("resourceClaims", pod_device),
					    POD_LIST("volumes", pod_volume),
					    SCAN_END};
static const struct scan_want pod_condition[] = {SCAN_PLAIN("type"), SCAN_PLAIN("status"),
						 SCAN_PLAIN("reason"),
						 SCAN_PLAIN("lastTransitionTime"), SCAN_END};
static const struct scan_want pod_device_made[] = {SCAN_PLAIN("name"),
						   SCAN_PLAIN("resourceClaimName"), SCAN_END};
static const struct scan_want pod_status[] = {SCAN_PLAIN("phase"),
					      SCAN_PLAIN("nominatedNodeName"),
					      SCAN_PLAIN("startTime"),
					      POD_LIST("conditions", pod_condition),
					      POD_LIST("resourceClaimStatuses", pod_device_made),
					      SCAN_END};
const struct scan_want tenant_want_pod[] = {SCAN_SOME("metadata", pod_meta),
					    SCAN_SOME("spec", pod_spec),
					    SCAN_SOME("status", pod_status), SCAN_END};

static const struct scan_want template_meta[] = {POD_TEXT("labels"), SCAN_END};
static const struct scan_want template_pod[] = {SCAN_SOME("metadata", template_meta),
						SCAN_SOME("spec", pod_spec), SCAN_END};
static const struct scan_want template_own[] = {KUBE_WANT_META, SCAN_END};
const struct scan_want tenant_want_template[] = {SCAN_SOME("metadata", template_own),
						 SCAN_SOME("template", template_pod), SCAN_END};

static const struct scan_want daemon_set_meta[] = {KUBE_WANT_META, SCAN_PLAIN("deletionTimestamp"),
						   SCAN_END};
static const struct scan_want daemon_set_spec[] = {SCAN_SOME("template", template_pod), SCAN_END};
const struct scan_want tenant_want_daemon_set[] = {SCAN_SOME("metadata", daemon_set_meta),
						   SCAN_SOME("spec", daemon_set_spec), SCAN_END};

static const struct scan_want node_meta[] = {KUBE_WANT_META, SCAN_PLAIN("creationTimestamp"),
					     NODE_TEXT("labels"), SCAN_END};
static const struct scan_want node_spec[] = {SCAN_PLAIN("providerID"), SCAN_PLAIN("unschedulable"),
					     NODE_TEXT("taints"), SCAN_END};
static const struct scan_want node_info[] = {SCAN_PLAIN("systemUUID"), SCAN_PLAIN("bootID"),
					     SCAN_END};
static const struct scan_want node_status[] = {
	NODE_TEXT("allocatable"), NODE_TEXT("capacity"),
	SCAN_SOME_OF("conditions", pod_condition, TENANT_NODE_BYTES + 1),
	SCAN_SOME("nodeInfo", node_info), SCAN_END};
const struct scan_want tenant_want_node[] = {SCAN_SOME("metadata", node_meta),
					     SCAN_SOME("spec", node_spec),
					     SCAN_SOME("status", node_status), SCAN_END};

/* --- values ----------------------------------------------------------------------------------- */

static const char *copy(struct arena *a, const json_t *s)
{
	return arena_strdup(a, json_string_value(s));
}

/* Copies a value that is short if it is valid (a duration, a time). A tenant may write a value of
 * any length, so the copy is truncated to SHORT_MAX bytes. */
static const char *copy_short(struct arena *a, const json_t *s)
{
	const char *text = json_string_value(s);

	return text ? arena_strndup(a, text, strnlen(text, SHORT_MAX)) : NULL;
}

static const char *copy_name(struct arena *a, const json_t *s)
{
	const char *text = json_string_value(s);

	return text && strlen(text) <= NODE_NAME_MAX ? arena_strdup(a, text) : NULL;
}

static int by_key(const void *x, const void *y)
{
	return strcmp(((const struct label *)x)->key, ((const struct label *)y)->key);
}

static struct labels labels_of(const json_t *o, struct arena *a)
{
	struct labels l = {0};
	const char *key;
	json_t *v;

	l.v = arena_calloc(a, json_object_size(o) + 1, sizeof(*l.v));
	json_object_foreach ((json_t *)o, key, v)
		if (json_is_string(v))
			l.v[l.n++] = (struct label){arena_strdup(a, key), copy(a, v)};
	qsort(l.v, l.n, sizeof(*l.v), by_key);
	return l;
}

/* --- volume and resource claims --------------------------------------------------------------- */

/* Returns a text that names the first resource claim of a pod; NULL: the pod has none. The text
 * makes the pod unsupported for code that does not read claims, so that it gets no unsuitable
 * machine. */
static const char *unjudged(const json_t *spec, struct arena *a)
{
	const json_t *first = json_array_get(json_object_get(spec, "resourceClaims"), 0);
	const char *claim = json_str_at(first, "resourceClaimName"),
		   *template = json_str_at(first, "resourceClaimTemplateName");

	if (!json_array_size(json_object_get(spec, "resourceClaims")))
		return NULL;
	return arena_printf(a, "resource claim %.*s (%s %.*s)", SHORT_MAX,
			    str_or(json_str_at(first, "name"), ""),
			    claim ? "ResourceClaim" : "ResourceClaimTemplate", NODE_NAME_MAX,
			    str_or(claim ? claim : template, ""));
}

/* Returns the name of the ResourceClaim that was created for the pod from a template. name: the
 * claim's name in the pod. NULL: not created yet. */
static const char *made_for(const json_t *pod, const char *name)
{
	json_t *s;
	size_t i;

	json_array_foreach (json_at(pod, "status", "resourceClaimStatuses"), i, s)
		if (str_eq(json_str_at(s, "name"), name))
			return json_str_at(s, "resourceClaimName");
	return NULL;
}

static bool devices_of(const json_t *pod, struct tenant_pod *p, struct arena *a)
{
	const json_t *list = json_at(pod, "spec", "resourceClaims");
	json_t *c;
	size_t i;

	if (json_array_size(list) > POD_LIST_ITEMS)
		return false;
	p->devices = arena_calloc(a, json_array_size(list) + 1, sizeof(*p->devices));
	json_array_foreach (list, i, c) {
		const char *name = str_or(json_str_at(c, "name"), ""),
			   *template = json_str_at(c, "resourceClaimTemplateName"),
			   *claim = template ? made_for(pod, name)
					     : json_str_at(c, "resourceClaimName");

		if (strlen(name) > SHORT_MAX || (template && strlen(template) > CLAIM_NAME_MAX) ||
		    (claim && strlen(claim) > CLAIM_NAME_MAX))
			return false;
		p->devices[p->ndevices++] = (struct tenant_device){
			arena_strdup(a, name), arena_strdup(a, claim), arena_strdup(a, template)};
	}
	return true;
}

/* Fills p->claims with the pod's volume claims, each once. The claim of an ephemeral volume is
 * named POD-VOLUME (core/v1 EphemeralVolumeSource). Returns false if the volumes cannot be read. */
static bool claims_of(const json_t *spec, struct tenant_pod *p, struct arena *a)
{
	const json_t *list = json_object_get(spec, "volumes"), *claim;
	const char *name, *volume;
	json_t *v;
	size_t i, k;

	if (json_array_size(list) > POD_LIST_ITEMS)
		return false;
	p->claims = arena_calloc(a, json_array_size(list) + 1, sizeof(*p->claims));
	json_array_foreach (list, i, v) {
		struct tenant_claim *c = &p->claims[p->nclaims];

		claim = json_object_get(v, "persistentVolumeClaim");
		volume = json_str_at(v, "name");
		name = json_str_at(claim, "claimName");
		if (!claim && !json_object_get(v, "ephemeral"))
			continue;
		if (claim ? !name : !volume)
			return false;
		*c = (struct tenant_claim){claim ? arena_strdup(a, name)
						 : arena_printf(a, "%s-%s", p->world.name, volume),
					   claim ? NULL : arena_strdup(a, volume)};
		if (strlen(c->name) > CLAIM_NAME_MAX)
			return false;
		for (k = 0; !str_eq(p->claims[k].name, c->name); k++)
			;
		p->nclaims += k == p->nclaims;
	}
	return true;
}

/* True if labels, tolerations and constraints of the pod are too large to be stored. */
static bool is_large(const json_t *meta, const json_t *spec)
{
	return scan_weight(json_object_get(meta, "labels")) +
		       scan_weight(json_object_get(spec, "nodeSelector")) +
		       scan_weight(json_object_get(spec, "tolerations")) +
		       scan_weight(json_object_get(spec, "affinity")) +
		       scan_weight(json_object_get(spec, "topologySpreadConstraints")) >
	       TENANT_POD_BYTES;
}

/* True if a list of the pod is longer than the limit, so that some of it was not read. */
static bool is_long(const json_t *meta, const json_t *spec, const json_t *status)
{
	static const char *const lists[] = {"containers", "initContainers",  "resources",
					    "overhead",	  "schedulingGates", "resourceClaims",
					    "volumes"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (scan_weight(json_object_get(spec, lists[i])) > POD_LIST_BYTES)
			return true;
	return scan_weight(json_object_get(meta, "ownerReferences")) > POD_LIST_BYTES ||
	       scan_weight(json_object_get(status, "conditions")) > POD_LIST_BYTES ||
	       scan_weight(json_object_get(status, "resourceClaimStatuses")) > POD_LIST_BYTES;
}

/* Reads to which other Nodes a bound pod could move: whether it may be evicted, and its
 * requirements on Nodes. Preferences are not stored. */
static void where_else(const json_t *o, struct tenant_pod *tp, struct arena *a)
{
	const json_t *spec = json_object_get(o, "spec");
	struct world_pod *p = &tp->world;

	pod_keep_read(o, tp);
	if (p->keep && !p->keep_until)
		return;
	p->runtime_class = copy(a, json_object_get(spec, "runtimeClassName"));
	p->node_selector = labels_of(json_object_get(spec, "nodeSelector"), a);
	pod_tolerations_read(spec, p, a);
	if (pod_affinity_read(spec, p, a))
		p->keep = WORLD_KEEP_UNKNOWN;
	p->preferences.n = 0;
}

/* --- projections ------------------------------------------------------------------------------ */

/* True if PodScheduled=False with this reason means that the pod needs a Node. Other schedulers use
 * reasons of their own for the pods of a gang (Volcano: Schedulable, Undetermined). A pod with
 * SchedulingGated does not count: it waits for the program that set the gate. */
static bool is_demand_reason(const char *reason, bool in_gang)
{
	return str_eq(reason, "Unschedulable") || (in_gang && !str_eq(reason, "SchedulingGated"));
}

static bool is_unschedulable(const json_t *o, bool in_gang, int64_t *since)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "PodScheduled") &&
		    str_eq(json_str_at(c, "status"), "False") &&
		    is_demand_reason(json_str_at(c, "reason"), in_gang)) {
			if (!str_to_time(str_or(json_str_at(c, "lastTransitionTime"), ""), since))
				*since = 0;
			return true;
		}
	return false;
}

static enum pod_disruption disruption_of(const json_t *o)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "DisruptionTarget") &&
		    str_eq(json_str_at(c, "status"), "True"))
			return pod_disruption_of(json_str_at(c, "reason"));
	return POD_NOT_DISRUPTED;
}

/* Returns the wall ms at which the pod was bound to a Node; 0: not known. */
static int64_t bound_since(const json_t *o)
{
	json_t *c;
	int64_t since;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "PodScheduled") &&
		    str_eq(json_str_at(c, "status"), "True") &&
		    str_to_time(str_or(json_str_at(c, "lastTransitionTime"), ""), &since))
			return since;
	return 0;
}

/* Returns the wall ms at which the kubelet ends the pod in any case (core/v1
 * PodSpec.activeDeadlineSeconds); 0: no such time. bound: when the pod was bound, used if it has no
 * start time. */
static int64_t ends_at(const json_t *o, int64_t bound)
{
	const int64_t s = json_int_at(o, "spec", "activeDeadlineSeconds");
	int64_t from;

	if (!str_to_time(str_or(json_str_at(o, "status", "startTime"), ""), &from))
		from = bound;
	return s > 0 && s <= INT32_MAX && from > 0 ? from + s * 1000 : 0;
}

static bool wants_checkpoint(const char *text)
{
	int64_t ms;

	return text && (str_eq(text, "true") || (str_to_duration(text, &ms) && ms > 0));
}

static bool is_daemon(const json_t *o)
{
	json_t *r;
	size_t i;

	json_array_foreach (json_at(o, "metadata", "ownerReferences"), i, r)
		if (json_true_at(r, "controller") && (str_eq(json_str_at(r, "kind"), "DaemonSet") ||
						      str_eq(json_str_at(r, "kind"), "Node")))
			return true;
	return json_at(o, "metadata", "annotations", MIRROR) != NULL;
}

/* Returns the projection of an ended pod, with only the members that its gang needs. NULL: the pod
 * has no gang, or did not succeed, so nothing is stored. */
static void *project_done(const json_t *o, const struct tenant *t, struct arena *a)
{
	const json_t *meta = json_object_get(o, "metadata");
	struct tenant_pod *tp = arena_new_obj(a, struct tenant_pod);
	struct world_pod *p = &tp->world;

	tp->gang = str_eq(json_str_at(o, "status", "phase"), "Succeeded") &&
				   !json_at(meta, "deletionTimestamp")
			   ? gang_name_of(o, a)
			   : NULL;
	p->tenant = t->name;
	p->ns = copy(a, json_object_get(meta, "namespace"));
	p->name = copy(a, json_object_get(meta, "name"));
	p->uid = copy(a, json_object_get(meta, "uid"));
	p->done = true;
	tp->ended = true;
	return tp->gang && p->ns && p->name && p->uid && strlen(p->uid) <= UID_MAX ? tp : NULL;
}

static const struct pod_checkpoint *checkpoint_of(const json_t *notes, struct arena *a)
{
	const json_t *wanted = json_object_get(notes, CHECKPOINT_WANTED),
		     *requested = json_object_get(notes, CHECKPOINT_REQUESTED),
		     *done = json_object_get(notes, CHECKPOINT_DONE);
	struct pod_checkpoint *k;

	if (!wanted && !requested && !done)
		return NULL;
	k = arena_new_obj(a, struct pod_checkpoint);
	k->wanted = copy_short(a, wanted);
	k->requested = copy_short(a, requested);
	k->done = copy_short(a, done);
	return k;
}

void *tenant_project_pod(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const struct tenant *t = arg;
	const json_t *spec = json_object_get(o, "spec"), *meta = json_object_get(o, "metadata");
	const char *phase = json_str_at(o, "status", "phase");
	const json_t *notes = json_object_get(meta, "annotations"),
		     *grace = json_object_get(spec, "terminationGracePeriodSeconds");
	struct pod_unplaced *unplaced = NULL;
	struct tenant_pod *tp;
	struct world_pod *p;
	const char *why;
	bool finished;

	(void)e;
	finished = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
	if (finished)
		pod_ends_ended(t->ends, str_or(json_str_at(meta, "uid"), ""),
			       str_eq(phase, "Succeeded"), json_at(meta, "deletionTimestamp"),
			       disruption_of(o));
	/* An ended pod that is being deleted is stored like a running pod. Its Node is still
	 * needed, because the kubelet has to unmount the pod's volumes before it removes the
	 * object. */
	if (finished && !(json_at(meta, "deletionTimestamp") && json_str_at(spec, "nodeName")))
		return project_done(o, t, a);
	tp = arena_new_obj(a, struct tenant_pod);
	tp->running = str_eq(phase, "Running");
	tp->ended = finished;
	tp->disruption = disruption_of(o);
	tp->grace_s = json_is_integer(grace) && json_integer_value(grace) >= 0
			      ? json_integer_value(grace)
			      : DEFAULT_GRACE_S;
	if (!str_to_time(str_or(json_str_at(meta, "deletionTimestamp"), ""), &tp->going_until))
		tp->going_until = 0;
	tp->checkpoint = checkpoint_of(notes, a);
	tp->request = copy_name(a, json_object_get(notes, REQUEST_CONSUME));
	p = &tp->world;
	p->tenant = t->name;
	p->ns = copy(a, json_object_get(meta, "namespace"));
	p->name = copy(a, json_object_get(meta, "name"));
	p->uid = copy(a, json_object_get(meta, "uid"));
	p->node = copy(a, json_object_get(spec, "nodeName"));
	p->daemon = is_daemon(o);
	p->terminating = json_at(meta, "deletionTimestamp") != NULL;
	/* Refuse a pod whose names are missing or too long: only a hostile API server sends such a
	 * pod. */
	if (!p->ns || !p->name || !p->uid || strlen(p->uid) > UID_MAX ||
	    (p->node && strlen(p->node) > NODE_NAME_MAX))
		return NULL;
	p->priority = json_int_at(spec, "priority");
	if (!p->node) {
		unplaced = arena_new_obj(a, struct pod_unplaced);
		unplaced->priority_class = copy_name(a, json_object_get(spec, "priorityClassName"));
		tp->unplaced = unplaced;
	}
	tp->gang = p->daemon || is_large(meta, spec) ? NULL : gang_name_of(o, a);
	p->unschedulable = !p->node && !p->daemon && !json_at(meta, "deletionTimestamp") &&
			   !json_array_size(json_object_get(spec, "schedulingGates")) &&
			   is_unschedulable(o, tp->gang != NULL, &p->since);
	p->nominated = p->node ? NULL : copy_name(a, json_at(o, "status", "nominatedNodeName"));
	p->nominated = str_empty(p->nominated) ? NULL : p->nominated;
	p->preempts = !str_eq(json_str_at(spec, "preemptionPolicy"), "Never");
	if (p->node) {
		p->since = bound_since(o);
		tp->ends = ends_at(o, p->since);
	}
	/* Also set for waiting pods: the cloud burst launches spot instances only for pods that
	 * save their work. */
	p->saves = /* mutant: burst-saves-unread */ tp->checkpoint &&
		   wants_checkpoint(tp->checkpoint->wanted);
	if (is_large(meta, spec))
		p->unsupported = "more than 16 KiB of labels, tolerations and constraints";
	else if (/* mutant: pod-longer-than-read */ is_long(meta, spec,
							    json_object_get(o, "status")))
		p->unsupported = "lists of containers, volumes or the like that are too long";
	tp->large = p->unsupported;
	p->keep = tp->large ? WORLD_KEEP_UNKNOWN : WORLD_KEEP_NOT;
	if (!finished && !pod_requests(spec, &p->requests, a) && !tp->large)
		p->unsupported = "resource requests that cannot be read";
	if (tp->large)
		return tp;
	if (unplaced) {
		unplaced->asks = pod_asks_of(o, a);
		unplaced->workload = pod_workload_annotation(o, a);
		unplaced->owner = pod_workload_owner(o, a);
	}
	if (!claims_of(spec, tp, a))
		p->unsupported = "volumes that cannot be read";
	if (!devices_of(o, tp, a))
		p->unsupported = "resource claims that cannot be read";
	p->labels = labels_of(json_object_get(meta, "labels"), a);
	if (p->node) {
		/* The pod is bound: store only what affects other pods, and the Nodes to which the
		 * pod could move. This keeps the projection small. */
		(void)demand_topology(spec, p, a);
		if (!p->daemon)
			where_else(o, tp, a);
		return tp;
	}
	p->runtime_class = copy(a, json_object_get(spec, "runtimeClassName"));
	p->node_selector = labels_of(json_object_get(spec, "nodeSelector"), a);
	pod_tolerations_read(spec, p, a);
	why = pod_affinity_read(spec, p, a);
	p->unsupported = p->unsupported ? p->unsupported : why;
	if (!p->unsupported)
		p->unsupported = demand_topology(spec, p, a);
	if (!p->unsupported)
		p->unsupported = tp->undecided = unjudged(spec, a);
	return tp;
}

/* Removes the claims of ephemeral volumes, because each of these claims is created together with
 * its pod and does not exist yet. */
static void without_ephemeral(struct tenant_pod *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nclaims; i++)
		if (!p->claims[i].ephemeral)
			p->claims[n++] = p->claims[i];
	p->nclaims = n;
}

/* Returns the projection of a pending pod of template `t`. The pod's name is that of the object
 * with metadata `meta`, and the suffix. The suffix contains ":", which no real pod's name has, so a
 * claim of the template is never confused with the claim of a real pod. NULL: no such pod. */
static struct tenant_pod *project_pod_of(const json_t *meta, const json_t *t, const char *suffix,
					 struct arena *a, void *arg, struct err *e)
{
	OWN(arena) tmp = arena_new();
	OWN_JSON pod =
		json_pack("{s:{s:s,s:O?,s:O?,s:O?},s:O?}", "metadata", "name",
			  arena_printf(tmp, "%s%s", str_or(json_str_at(meta, "name"), ""), suffix),
			  "namespace", json_object_get(meta, "namespace"), "uid",
			  json_object_get(meta, "uid"), "labels", json_at(t, "metadata", "labels"),
			  "spec", json_object_get(t, "spec"));

	return pod ? tenant_project_pod(pod, a, arg, e) : NULL;
}

void *tenant_project_template(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	struct tenant_pod *p =
		project_pod_of(json_object_get(o, "metadata"), json_object_get(o, "template"),
			       ":template", a, arg, e);

	if (!p)
		return NULL;
	p->gang = NULL;
	p->request = NULL;
	p->world.unschedulable = true;
	without_ephemeral(p);
	if (p->world.node) {
		p->world.node = NULL;
		p->world.unsupported = "spec.nodeName in its PodTemplate";
	}
	return p;
}

/* Only what decides on which nodes the DaemonSet has pods, and their requests, are returned. */
void *tenant_project_daemon_set(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *meta = json_object_get(o, "metadata"), *t = json_at(o, "spec", "template");
	const struct tenant_pod *p =
		json_object_get(meta, "deletionTimestamp")
			? NULL
			: project_pod_of(meta, t, TENANT_DAEMON_SET_SUFFIX, a, arg, e);
	struct tenant_pod *out;
	struct resources requests;

	/* A DaemonSet with spec.nodeName has a pod on that Node only, so none on a new one. */
	if (!p || p->large || p->world.node ||
	    !pod_requests(json_object_get(t, "spec"), &requests, a))
		return NULL;
	out = arena_new_obj(a, struct tenant_pod);
	out->world = (struct world_pod){.tenant = p->world.tenant,
					.ns = p->world.ns,
					.name = p->world.name,
					.uid = p->world.uid,
					.daemon = true,
					.daemon_set = true,
					.requests = requests,
					.node_selector = p->world.node_selector,
					.affinity = p->world.affinity,
					.tolerations = p->world.tolerations};
	return out;
}

static struct resources resources_of(const json_t *list, struct arena *a)
{
	struct resources r = {
		.v = arena_calloc(a, json_object_size(list) + 1, sizeof(struct resource))};
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)list, name, v)
		if (pod_requests_quantity(v, &r.v[r.n].q))
			r.v[r.n++].name = arena_strdup(a, name);
	resources_sort(&r);
	return r;
}

/* True if a member of the Node is longer than its limit, so that some of it was not read. Other
 * members are limited by the total size of the projection. */
static bool is_large_node(const json_t *o)
{
	return scan_weight(json_at(o, "metadata", "labels")) > TENANT_NODE_BYTES ||
	       scan_weight(json_at(o, "spec", "taints")) > TENANT_NODE_BYTES ||
	       scan_weight(json_at(o, "status", "allocatable")) > TENANT_NODE_BYTES ||
	       scan_weight(json_at(o, "status", "capacity")) > TENANT_NODE_BYTES ||
	       scan_weight(json_at(o, "status", "conditions")) > TENANT_NODE_BYTES;
}

void *tenant_project_node(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const struct tenant *t = arg;
	struct tenant_node *n = arena_new_obj(a, struct tenant_node);
	const json_t *taints = json_at(o, "spec", "taints"),
		     *info = json_at(o, "status", "nodeInfo");
	json_t *c;
	char *text;
	size_t i;

	if (is_large_node(o)) {
		err_note(e, ERR_CAPACITY, 0, "the Node is larger than drover reads");
		return NULL;
	}
	n->world.tenant = arena_strdup(a, t->name);
	n->world.name = arena_strdup(a, json_str_at(o, "metadata", "name"));
	n->world.labels = labels_of(json_at(o, "metadata", "labels"), a);
	n->world.claim = labels_get(&n->world.labels, TENANT_LABEL_CLAIM);
	n->world.allocatable = resources_of(json_at(o, "status", "allocatable"), a);
	n->capacity = resources_of(json_at(o, "status", "capacity"), a);
	n->world.unschedulable = json_true_at(o, "spec", "unschedulable");
	n->world.taints.v =
		arena_calloc(a, json_array_size(taints) + 1, sizeof(*n->world.taints.v));
	json_array_foreach (taints, i, c) {
		struct world_taint *w = &n->world.taints.v[n->world.taints.n];

		/* On the host cluster, do not count the taint that reserves the Node for its
		 * tenant: the tenant's pods get the toleration when they are synced to the host
		 * cluster. */
		n->world.taints.n +=
			!t->on_host || !str_eq(json_str_at(c, "key"), TENANT_LABEL_CLUSTER);

		w->key = str_or(copy(a, json_object_get(c, "key")), "");
		w->value = copy(a, json_object_get(c, "value"));
		w->effect = copy(a, json_object_get(c, "effect"));
		n->unregistered |= str_eq(w->key, TENANT_TAINT_UNREGISTERED);
		n->draining |= str_eq(w->key, TENANT_TAINT_DRAINING);
	}
	if (taints) {
		text = json_text(taints);
		n->taints_json = arena_strdup(a, text);
		free(text);
	}
	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Ready")) {
			n->world.ready = str_eq(json_str_at(c, "status"), "True");
			if (!str_to_time(str_or(json_str_at(c, "lastTransitionTime"), ""),
					 &n->ready_since))
				n->ready_since = 0;
		}
	n->uid = copy(a, json_at(o, "metadata", "uid"));
	n->provider_id = copy(a, json_at(o, "spec", "providerID"));
	n->system_uuid = copy(a, json_object_get(info, "systemUUID"));
	n->boot_id = copy(a, json_object_get(info, "bootID"));
	if (!str_to_time(str_or(json_str_at(o, "metadata", "creationTimestamp"), ""), &n->created))
		n->created = 0;
	return n;
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value))
			return false;
	return a->n == b->n;
}

/* Leaves out the name, the members that are derived from labels and taints, and drover's own
 * records about the Node (unready_seen, rv). */
bool tenant_node_same(const struct tenant_node *a, const struct tenant_node *b)
{
	return str_eq(a->uid, b->uid) && str_eq(a->provider_id, b->provider_id) &&
	       str_eq(a->system_uuid, b->system_uuid) && str_eq(a->boot_id, b->boot_id) &&
	       str_eq(a->taints_json, b->taints_json) && a->created == b->created &&
	       a->ready_since == b->ready_since && a->world.ready == b->world.ready &&
	       a->world.unschedulable == b->world.unschedulable &&
	       same_labels(&a->world.labels, &b->world.labels) &&
	       resources_equal(&a->world.allocatable, &b->world.allocatable) &&
	       resources_equal(&a->capacity, &b->capacity);
}
