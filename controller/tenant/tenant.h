#ifndef CONTROLLER_TENANT_TENANT_H
#define CONTROLLER_TENANT_TENANT_H

#include "controller/core/context.h"
#include "controller/core/status_writer.h"
#include "controller/rules/pod_end.h"
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
struct pod_ends;
struct pod_groups;
struct provisioning_requests;
struct volumes;
struct devices;
struct daemon_sets;

/* Callbacks to controller/controller.c about a tenant. Entries and names are valid only during the
 * call; a callback must not free or rebuild the tenant. */
struct tenant_hooks {
	/* A pod or Node was added or changed; p or n NULL: it was deleted. */
	void (*pod)(const struct tenant *t, const char *ns, const char *name,
		    const struct world_pod *p, void *arg);
	void (*node)(const struct tenant *t, const char *name, const struct tenant_node *n,
		     void *arg);
	/* The tenant's VirtualCluster, health or sleep has changed. */
	void (*changed)(const struct tenant *t, void *arg);
	/* The tenant's pods and Nodes will be read again from scratch. */
	void (*reset)(const struct tenant *t, void *arg);
	/* The tenant's client is about to be freed: the callee must drop all calls through it. */
	void (*closing)(const struct tenant *t, void *arg);
	void *arg;
};

/* All virtual clusters. */
struct index;
struct tenants {
	struct context *c;
	/* name of a VirtualCluster -> struct tenant */
	struct map *map;
	/* names of VirtualClusters that cannot be decoded */
	struct map *bad;
	/* "NAMESPACE/NAME" of the kubeconfig Secret -> names of its VirtualClusters */
	struct index *by_secret;
	struct tenant_hooks hooks;
};
struct tenants *tenants_new(struct context *c, const struct tenant_hooks *hooks);
void tenants_free(struct tenants *ts);
/* Updates the tenant in the next loop turn, from the VirtualCluster in the cache. */
void tenants_update(struct tenants *ts, const char *name);
void tenants_update_all(struct tenants *ts);
/* Updates the tenant after a change of what is known of its API server path (core/api_paths.h). */
void tenants_api_path_changed(struct tenants *ts, const char *name);
/* Drops requests that are queued in the clients of tenants. Call when this replica no longer
 * leads. */
void tenants_drop_queued(struct tenants *ts);
/* Refreshes each tenant whose kubeconfig is in Secret ns/name; call when the Secret changed. */
void tenants_secret(struct tenants *ts, const char *ns, const char *name);
/* Returns the tenant `name`; NULL: no such tenant. */
struct tenant *tenant_get(const struct tenants *ts, const char *name);
/* True if a Node of any tenant may run on the machine with this UUID and provider ID
 * (identity_may_run()). Then writes "TENANT/NODE" to out. */
bool tenants_may_run(const struct tenants *ts, const char *system_uuid, const char *provider_id,
		     char *out, size_t size);

enum tenants_are {
	/* the Nodes of each tenant are known, either now or at the time it became unreachable */
	TENANTS_READ,
	/* no tenant is TENANTS_UNREAD, but one is being read for the first time */
	TENANTS_STARTING,
	/* a tenant cannot be read; "NAME (why)" is written to out */
	TENANTS_UNREAD,
};
/* Reports whether the Nodes of every VirtualCluster have been read since this process started. */
enum tenants_are tenants_unread(const struct tenants *ts, char *out, size_t size);
/* Records a VirtualCluster that this version of drover cannot decode: its Nodes count as unread
 * until the object can be decoded. */
void tenants_bad(struct tenants *ts, const char *name);

struct tenant {
	struct tenants *all;
	struct context *c;
	char *name, *uid;
	struct kube_client *client;
	struct kube_events *events;
	struct kube_cache *pods, *nodes;
	/* name of a Node -> struct load: the pods that keep the Node in use, for
	 * tenant_pods_on() */
	struct map *loads;
	/* True: this process saw a pod of the tenant run on a machine */
	bool served;
	/* wall ms at which this process began to count pods on Nodes */
	int64_t counted_since;
	/* wall ms since when the tenant is usable; 0: not usable */
	int64_t usable_since;
	/* Kubernetes version of the tenant's API server, such as "1.36"; NULL: unknown */
	char *version;
	/* CA certificate of the tenant's API server */
	char *ca_pem;
	/* resourceVersion of the Secret from which the kubeconfig in use was read */
	char *secret_version;
	char *spec_digest;
	/* UID of namespace kube-system at the last probe */
	char *cluster_uid;
	/* reachable: the API server answers; stopped: the cluster UID changed, and drover does
	 * nothing in the cluster */
	bool reachable, stopped;
	/* Hash of the Nodes that are missing in a new list of Nodes. drover does not accept the
	 * list until the loss is confirmed. 0: no Nodes are missing. */
	uint64_t lost;
	/* loop_now() of the first list in which these Nodes were missing */
	int64_t lost_at;
	/* wall ms of the first list in which these Nodes were missing, for comparison with an
	 * operator's annotation */
	int64_t lost_since;
	/* why the tenant is not usable, in CamelCase; NULL: it is usable */
	const char *reason;
	char message[256];
	/* loop_now() at which the tenant's API server last failed to answer; 0: it answered, or was
	 * not asked yet */
	int64_t unanswered_at;
	/* True: the tenant's machines are Nodes of the host cluster, with the tenant's label */
	bool on_host;
	/* state of the tenant's sleep (tenant/sleep.h) */
	struct tenant_sleep *asleep;
	/* probe of whether and where machines can join (tenant/join_probe.h) */
	struct join_probe *joins;
	/* volumes of the tenant's cluster, and their effect on pods (tenant/volumes.h) */
	struct volumes *volumes;
	/* devices of the tenant's cluster, and the effect of resource claims on pods
	 * (tenant/devices.h) */
	struct devices *devices;
	/* objects that specify the sizes of gangs (tenant/pod_groups.h) */
	struct pod_groups *groups;
	/* DaemonSets of the tenant's cluster (tenant/daemon_sets.h) */
	struct daemon_sets *daemon_sets;
	/* counts how pods with GPUs ended (tenant/pod_ends.h) */
	struct pod_ends *ends;
	/* ProvisioningRequests and their future pods (tenant/provisioning_requests.h) */
	struct provisioning_requests *requests;
	struct tenant_budget budget;
	struct kube_call *probe;
	struct loop_timer timer;
	/* rebuilds the client in the next loop turn, outside of the client's callbacks */
	struct loop_defer refresh;
	struct status_writer status_write;
	struct loop_timer status_timer;
	bool status_again;
};

/* The members of a Node that drover needs, typed. Entry of tenant.nodes. */
struct tenant_node {
	/* world.claim comes from the label drover.dev/nodeclaim, which a tenant may change;
	 * life/join.c verifies it */
	struct world_node world;
	const char *uid, *rv, *provider_id, *system_uuid, *boot_id;
	/* creation time, wall ms */
	int64_t created;
	/* True: the Node has drover's taint for unregistered Nodes */
	bool unregistered;
	/* True: the Node has drover's NoSchedule taint for draining, so drover cordoned it */
	bool draining;
	/* wall ms (by the tenant's clock) of the last change of the condition Ready; 0: unknown */
	int64_t ready_since;
	/* loop_now() at which this process first saw the Node not Ready; 0: the Node is Ready */
	int64_t unready_seen;
	struct resources capacity;
	/* spec.taints as JSON, for patches */
	const char *taints_json;
};

/* A PersistentVolumeClaim that a pod uses, in the pod's namespace. ephemeral: name of the pod's
 * ephemeral volume for which the claim is created; NULL: an independent claim. */
struct tenant_claim {
	const char *name, *ephemeral;
};

/* A resource claim of a pod. name: its name in the pod. claim: name of the ResourceClaim; NULL if
 * not known yet. template_: name of the ResourceClaimTemplate from which the pod's own claim is
 * created; NULL if there is none and the claim may be shared. */
struct tenant_device {
	const char *name, *claim, *template_;
};

/* Annotations of the checkpoint protocol (drain/checkpoint.h); NULL: not set */
struct pod_checkpoint {
	const char *wanted, *requested, *done;
};

/* What is stored only of a pod without a Node. NULL: not set. */
struct pod_unplaced {
	/* What the pod declares for BurstPolicies */
	const struct pod_asks *asks;
	/* workload: text of the annotation; owner: controller of the pod
	 * (tenant/pod_workload.h) */
	const char *workload, *owner;
	const char *priority_class;
};

/* A pod for the planner, before volumes, devices and the gang are applied, with the members that
 * draining needs. Entry of tenant.pods. */
struct tenant_pod {
	/* must be the first member: code that needs only this member casts the entry to struct
	 * world_pod */
	struct world_pod world;
	/* spec.terminationGracePeriodSeconds */
	int64_t grace_s;
	/* running: the pod's phase is Running; ended: it is Succeeded or Failed */
	bool running, ended;
	/* True: the pod is stored without labels and constraints because it is too large
	 * (tenant/budget.h) */
	bool large;
	/* True: the pod has no controller */
	bool alone;
	enum pod_disruption disruption;
	/* wall ms at which the pod's activeDeadlineSeconds end, if the pod has a Node; 0: no known
	 * end */
	int64_t ends;
	/* wall ms until which the pod asks not to be disrupted; INT64_MAX: always; 0: the pod does
	 * not ask */
	int64_t asks_until;
	/* wall ms at which the grace period of the pod's deletion ends; 0: the pod is not being
	 * deleted */
	int64_t going_until;
	/* NULL: no annotation of the checkpoint protocol is set */
	const struct pod_checkpoint *checkpoint;
	struct tenant_claim *claims;
	size_t nclaims;
	struct tenant_device *devices;
	size_t ndevices;
	/* text in world.unsupported if only the pod's resource claims make the pod unsupported;
	 * NULL: another part does, or the pod is supported */
	const char *undecided;
	/* gang that the pod names; NULL: none */
	struct gang_name *gang;
	/* NULL: the pod has a Node */
	const struct pod_unplaced *unplaced;
	/* name of the ProvisioningRequest whose reserved slots the pod may take; NULL: none */
	const char *request;
};

bool tenant_usable(const struct tenant *t);
/* Returns the client for the API server that has the tenant's machines as Nodes, with their Leases,
 * volume attachments and bootstrap tokens: the host cluster's client with spec.nodes Host, else the
 * tenant's own. Pods are always read with the tenant's own client. NULL: no client. */
struct kube_client *tenant_nodes_client(const struct tenant *t);
/* Returns the CA certificate (PEM) with which a joining machine verifies the API server of
 * tenant_nodes_client(); NULL: not known. */
const char *tenant_nodes_ca(const struct tenant *t);
/* True if the tenant's API server did not answer the last probe, less than a minute ago, and the
 * tenant's kubeconfig Secret exists. */
bool tenant_is_silent(const struct tenant *t);
/* True if the Secret with the tenant's kubeconfig was deleted. The operator who deleted it does not
 * want drover to act in that cluster. */
bool tenant_secret_absent(const struct tenant *t);
/* tenant_world_pod() and tenant_world_node() return a pod or Node for the planner, with the effects
 * of volumes, devices, attachment limits and gang. The pod is the cached one or a copy in the
 * arena; NULL: no such pod. Also returns the DaemonSet that the planner has under the name. */
const struct world_pod *tenant_world_pod(const struct tenant *t, const char *ns, const char *name,
					 struct arena *a);
struct world_node tenant_world_node(const struct tenant *t, const struct tenant_node *n,
				    struct arena *a);
/* Returns the amount of a resource that the Node has registered, either by a device plugin or
 * (whole GPUs) by ResourceSlices. */
struct quantity tenant_node_has(const struct tenant *t, const struct tenant_node *n,
				const char *resource);
/* Starts to read ResourceSlices. Call when a Node should have GPUs and no device plugin registers
 * them. */
void tenant_look_for_devices(struct tenant *t);
/* Returns the Node `name`; NULL: it does not exist, or the Nodes are not read. */
const struct tenant_node *tenant_node_get(struct tenant *t, const char *name);
/* Returns the Node of this claim as it was last read; NULL: it does not exist, or the Nodes are not
 * read. */
const struct tenant_node *tenant_node_of(const struct tenants *ts, const struct node_claim *n);
/* Returns the Node of this claim if the tenant is usable, so that the Node's state is current; NULL
 * otherwise. */
const struct tenant_node *tenant_node_now(const struct tenants *ts, const struct node_claim *n);
/* Returns how many pods keep the Node in use; pods of DaemonSets, static pods and ended pods do not
 * count. *since: wall ms of the last change of the Node's pods that this process saw, or of the
 * last release of a reserved slot. One pod is added while not all pods are read, and one while
 * slots are reserved on the Node. */
size_t tenant_pods_on(const struct tenant *t, const char *node, int64_t *since);
/* Computes at which wall ms all pods of the Node will have ended by their deadlines: the latest
 * deadline, or, for an empty Node, since when it is empty. The deadline of a deleted pod may count
 * until all pods are gone. Returns false if a pod has no deadline, slots are reserved, or not all
 * pods are read. */
bool tenant_pods_end(const struct tenant *t, const char *node, int64_t *at);

#endif
