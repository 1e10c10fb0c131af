#ifndef CONTROLLER_TENANT_TENANT_H
#define CONTROLLER_TENANT_TENANT_H

#include "controller/core/context.h"
#include "controller/core/status_writer.h"
#include "controller/tenant/budget.h"
#include "planner/world.h"

/*
 * tenant: one virtual cluster: its client, its pods and Nodes, its health.
 *
 * A slow or dead tenant delays no other: each has its own client, rate limit and caches.
 * Unreachable does not mean deleted: errors, an absent Secret or a changed cluster UID only mark
 * the tenant; no machine is drained, released or wiped because of them.
 */
struct tenant;
struct tenant_node;
struct tenant_sleep;
struct join_probe;
struct gang_name;
struct pod_groups;
struct provisioning_requests;
struct volumes;
struct devices;

/* Callbacks about a tenant for the composition (controller/controller.c). Entries and names are
 * valid only during the call; a callback must not free or rebuild the tenant. */
struct tenant_hooks {
	/* A pod or Node was added or changed; p or n NULL: deleted. */
	void (*pod)(const struct tenant *t, const char *ns, const char *name,
		    const struct world_pod *p, void *arg);
	void (*node)(const struct tenant *t, const char *name, const struct tenant_node *n,
		     void *arg);
	/* its object, health or sleep changed */
	void (*changed)(const struct tenant *t, void *arg);
	/* its pods and Nodes will be read again from scratch */
	void (*reset)(const struct tenant *t, void *arg);
	/* its client is about to be freed: calls through it must be dropped */
	void (*closing)(const struct tenant *t, void *arg);
	void *arg;
};

/* All virtual clusters. */
struct index;
struct tenants {
	struct context *c;
	/* VirtualCluster name -> struct tenant */
	struct map *map;
	/* names of VirtualClusters that cannot be decoded */
	struct map *bad;
	/* "NAMESPACE/NAME" of the kubeconfig Secret -> names of its VirtualClusters */
	struct index *by_secret;
	struct tenant_hooks hooks;
};
struct tenants *tenants_new(struct context *c, const struct tenant_hooks *hooks);
void tenants_free(struct tenants *ts);
/* Updates the tenant from the cached VirtualCluster in the next loop turn. */
void tenants_update(struct tenants *ts, const char *name);
void tenants_update_all(struct tenants *ts);
/* Reports that what is known of the tenant's API server path changed (core/ways.h). */
void tenants_way(struct tenants *ts, const char *name);
/* Drops requests that are queued for tenants, because this replica no longer leads. */
void tenants_clear_lines(struct tenants *ts);
/* Refreshes each tenant whose kubeconfig is in Secret ns/name; call when the Secret changed. */
void tenants_secret(struct tenants *ts, const char *ns, const char *name);
/* Returns the tenant; NULL: no such tenant. */
struct tenant *tenant_get(const struct tenants *ts, const char *name);
/* True if a Node of any tenant may run on this machine (identity_may_run()): writes "TENANT/NODE"
 * to out. */
bool tenants_may_run(const struct tenants *ts, const char *system_uuid, const char *provider_id,
		     char *out, size_t size);

enum tenants_are {
	/* the Nodes of each tenant are known, either now or at the time it became unreachable */
	TENANTS_READ,
	/* a tenant is being read for the first time */
	TENANTS_STARTING,
	/* a tenant cannot be read: writes "NAME (why)" to out */
	TENANTS_UNREAD,
};
/* Returns whether the Nodes of every VirtualCluster were read since this process started. */
enum tenants_are tenants_unread(const struct tenants *ts, char *out, size_t size);
/* Reports a VirtualCluster that this version cannot decode: its Nodes count as unread until it
 * can. */
void tenants_bad(struct tenants *ts, const char *name);

struct tenant {
	struct tenants *all;
	struct context *c;
	char *name, *uid;
	struct kube_client *client;
	struct kube_events *events;
	struct kube_cache *pods, *nodes;
	/* Node -> number of pods that keep it in use, for tenant_pods_on() */
	struct map *loads;
	/* this process saw one of its pods run on a machine */
	bool served;
	/* wall ms when counting of pods began */
	int64_t counted_since;
	/* wall ms since when it is usable; 0: not usable */
	int64_t usable_since;
	/* "1.36"; NULL: unknown */
	char *version;
	/* CA certificate of its API server */
	char *ca_pem;
	/* resourceVersion of the kubeconfig in use */
	char *secret_version;
	char *spec_digest;
	/* UID of namespace kube-system at the last probe */
	char *cluster_uid;
	/* stopped: the cluster UID changed */
	bool reachable, stopped;
	/* Hash of the Nodes that are missing in a list of Nodes which drover does not accept yet;
	 * 0: none. */
	uint64_t lost;
	/* loop_now() of the first list with this loss */
	int64_t lost_at;
	/* wall ms of the first list with this loss, for comparison with an operator's annotation */
	int64_t lost_since;
	/* why the tenant is not usable, CamelCase; NULL: usable */
	const char *reason;
	char message[256];
	/* loop_now() when its API server failed to answer last; 0: it answered, or was not asked */
	int64_t unanswered_at;
	/* its machines are Nodes of the host cluster, with its label */
	bool on_host;
	/* tenant/sleep.h */
	struct tenant_sleep *asleep;
	/* tenant/join_probe.h */
	struct join_probe *joins;
	/* tenant/volumes.h */
	struct volumes *volumes;
	/* tenant/devices.h */
	struct devices *devices;
	/* tenant/pod_groups.h */
	struct pod_groups *groups;
	/* tenant/provisioning_requests.h */
	struct provisioning_requests *requests;
	struct tenant_budget budget;
	struct kube_call *probe;
	struct loop_timer timer;
	/* rebuilds the client outside of callbacks */
	struct loop_defer refresh;
	struct status_writer status_write;
	struct loop_timer status_timer;
	bool status_again;
};

/* What drover needs of a Node, typed. */
struct tenant_node {
	/* world.claim: from the label drover.dev/nodeclaim, verified by life/join.c */
	struct world_node world;
	const char *uid, *rv, *provider_id, *system_uuid, *boot_id;
	/* Unix ms */
	int64_t created;
	/* has drover's taint for unregistered Nodes */
	bool unregistered;
	/* has drover's NoSchedule taint for draining: drover cordoned it */
	bool draining;
	/* Unix ms when its Ready condition last changed, by the tenant's clock; 0: unknown */
	int64_t ready_since;
	/* loop_now() when this process first saw it not Ready; 0: it is Ready */
	int64_t unready_seen;
	struct resources capacity;
	/* spec.taints as JSON, for patches */
	const char *taints_json;
};

/* A PersistentVolumeClaim that a pod uses, in the pod's namespace. ephemeral: name of the pod's
 * ephemeral volume for which the claim is created; NULL: none. */
struct tenant_claim {
	const char *name, *ephemeral;
};

/* A resource claim of a pod. name: its name in the pod; claim: the ResourceClaim, NULL if not known
 * yet; template_: the ResourceClaimTemplate from which the pod's own claim is created, NULL if the
 * claim may be shared. */
struct tenant_device {
	const char *name, *claim, *template_;
};

/* A pod for the planner, without its volumes, devices and gang, and what draining needs. Entry of
 * struct tenant.pods. */
struct tenant_pod {
	/* must be the first member: code that needs only this part casts the entry to struct
	 * world_pod */
	struct world_pod world;
	/* spec.terminationGracePeriodSeconds */
	int64_t grace_s;
	bool running;
	/* Unix ms when its activeDeadlineSeconds end, if it has a Node; 0: never */
	int64_t ends;
	/* kept without labels and constraints (tenant/budget.h) */
	bool large;
	/* the pod has no controller */
	bool alone;
	/* Unix ms until which the pod asks not to be disrupted; INT64_MAX: always; 0: it does not
	 * ask */
	int64_t asks_until;
	/* Unix ms when the grace period of its deletion ends; 0: not deleted */
	int64_t going_until;
	/* annotations; NULL: none */
	const char *checkpoint, *checkpoint_requested, *checkpoint_done;
	struct tenant_claim *claims;
	size_t nclaims;
	struct tenant_device *devices;
	size_t ndevices;
	/* world.unsupported if only its resource claims cause it, for code that does not read
	 * claims; NULL: other cause or none */
	const char *undecided;
	/* gang that the pod names; NULL: none */
	struct gang_name *gang;
	/* see tenant/pod_workload.h; NULL: not set, or the pod has a Node */
	const char *workload, *owner;
	/* ProvisioningRequest whose reserved slots it may take; NULL: none */
	const char *request;
};

bool tenant_usable(const struct tenant *t);
/* Returns the client for the API server whose Nodes the tenant's machines are, with their leases,
 * volume attachments and bootstrap tokens (the host cluster's with spec.nodes Host). Pods are
 * always read with the tenant's own client. NULL: no client. */
struct kube_client *tenant_nodes_client(const struct tenant *t);
/* Returns the CA certificate (PEM) by which a joining machine verifies that API server; NULL: not
 * known. */
const char *tenant_nodes_ca(const struct tenant *t);
/* True if its API server did not answer the last probe, less than a minute ago, although the
 * tenant's kubeconfig Secret exists. */
bool tenant_is_silent(const struct tenant *t);
/* True if the Secret of its kubeconfig was deleted: whoever did that does not want drover to act
 * there. */
bool tenant_secret_absent(const struct tenant *t);
/* Return a pod or Node for the planner, with volumes, devices, attachment limits and gang: the
 * cached one, or a copy in the arena. NULL: no such pod. */
const struct world_pod *tenant_world_pod(const struct tenant *t, const char *ns, const char *name,
					 struct arena *a);
struct world_node tenant_world_node(const struct tenant *t, const struct tenant_node *n,
				    struct arena *a);
/* Returns how much of a resource the Node registers: by a device plugin, or whole GPUs by
 * ResourceSlices. */
struct quantity tenant_node_has(const struct tenant *t, const struct tenant_node *n,
				const char *resource);
/* Starts to read ResourceSlices, because no device plugin registers the GPUs that a Node should
 * have. */
void tenant_look_for_devices(struct tenant *t);
/* Returns the Node; NULL: it does not exist, or is not known. */
const struct tenant_node *tenant_node_get(struct tenant *t, const char *name);
/* Returns the Node of this claim as it was last read; NULL: it does not exist, or is not known. */
const struct tenant_node *tenant_node_of(const struct tenants *ts, const struct node_claim *n);
/* Returns the Node of this claim if the tenant is usable, so that its state is current; NULL
 * otherwise. */
const struct tenant_node *tenant_node_now(const struct tenants *ts, const struct node_claim *n);
/* Returns how many pods keep the node in use: not of a DaemonSet, not static, not ended. *since:
 * wall ms since when the node has had no such pod, as far as this process saw. One pod is added
 * while not all pods are read, and one while slots are reserved on the node. */
size_t tenant_pods_on(const struct tenant *t, const char *node, int64_t *since);
/* Computes when the node becomes empty by the deadlines of its pods, in wall ms: the latest of
 * them, or since when it is empty. The deadline of a deleted pod may count until all pods are gone.
 * False: a pod has no deadline, or not all pods are read. */
bool tenant_pods_end(const struct tenant *t, const char *node, int64_t *at);

#endif
