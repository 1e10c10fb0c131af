#ifndef CONTROLLER_TENANT_TENANT_H
#define CONTROLLER_TENANT_TENANT_H

#include "controller/core/context.h"
#include "controller/core/status_writer.h"
#include "controller/tenant/budget.h"
#include "planner/world.h"

/*
 * tenant: one virtual cluster: its client, its pods and nodes, its health.
 *
 * One slow or dead tenant delays no other: each has its own client, rate and
 * caches.  Unreachable is not gone: errors, an absent Secret or a changed cluster UID
 * only mark the tenant; nothing is drained, given back or wiped because of them.
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

/* What happens to a tenant, told to whoever composed the parts. Entries and names are valid during
 * the call alone; none of these may free or rebuild the tenant. */
struct tenant_hooks {
	/* A pod or Node appeared or changed; NULL: it went away. */
	void (*pod)(const struct tenant *t, const char *ns, const char *name,
		    const struct world_pod *p, void *arg);
	void (*node)(const struct tenant *t, const char *name, const struct tenant_node *n,
		     void *arg);
	/* its object, health or sleep */
	void (*changed)(const struct tenant *t, void *arg);
	/* its pods and nodes are read anew */
	void (*reset)(const struct tenant *t, void *arg);
	/* Its client is about to be freed: calls through it are as if never made. */
	void (*closing)(const struct tenant *t, void *arg);
	void *arg;
};

/* All virtual clusters. */
struct index;
struct tenants {
	struct context *c;
	/* VirtualCluster name -> struct tenant */
	struct map *map;
	/* names of those that cannot be read */
	struct map *bad;
	/* "NAMESPACE/NAME" of the Secret with the kubeconfig -> their names */
	struct index *by_secret;
	struct tenant_hooks hooks;
};
struct tenants *tenants_new(struct context *c, const struct tenant_hooks *hooks);
void tenants_free(struct tenants *ts);
/* From the object in the cache, in the next turn. */
void tenants_update(struct tenants *ts, const char *name);
void tenants_update_all(struct tenants *ts);
/* What is known of the way to its API server is another now (core/ways.h). */
void tenants_way(struct tenants *ts, const char *name);
/* What is in line to the tenants is not sent: this replica does not lead any more. */
void tenants_clear_lines(struct tenants *ts);
/* This Secret is another by now: those whose kubeconfig it is. */
void tenants_secret(struct tenants *ts, const char *ns, const char *name);
/* NULL: none */
struct tenant *tenant_get(const struct tenants *ts, const char *name);
/* Any tenant's Node that may run on this machine (identity_may_run()): its name into out. */
bool tenants_may_run(const struct tenants *ts, const char *system_uuid, const char *provider_id,
		     char *out, size_t size);

enum tenants_are {
	/* the Nodes of each are known: as they are, or were when it went away */
	TENANTS_READ,
	/* one is just being read */
	TENANTS_STARTING,
	/* one cannot be read: "NAME (why)" into out */
	TENANTS_UNREAD,
};
/* Whether the Nodes of every VirtualCluster were read since this process began. */
enum tenants_are tenants_unread(const struct tenants *ts, char *out, size_t size);
/* There is a VirtualCluster that this version cannot read: its Nodes are unread until it can. */
void tenants_bad(struct tenants *ts, const char *name);

struct tenant {
	struct tenants *all;
	struct context *c;
	char *name, *uid;
	struct kube_client *client;
	struct kube_events *events;
	struct kube_cache *pods, *nodes;
	/* node -> how many pods keep it, for tenant_pods_on() */
	struct map *loads;
	/* a pod of it ran on a machine, as far as this process saw */
	bool served;
	/* wall ms when counting began */
	int64_t counted_since;
	/* wall ms; 0: not usable */
	int64_t usable_since;
	/* "1.36"; NULL: unknown */
	char *version;
	/* of its API server */
	char *ca_pem;
	/* of the kubeconfig in use */
	char *secret_version;
	char *spec_digest;
	/* as read at the last probe */
	char *cluster_uid;
	/* stopped: the cluster UID changed */
	bool reachable, stopped;
	/* A list of its Nodes that is not believed yet: which are gone, and since when it says
	 * so. */
	/* 0: none */
	uint64_t lost;
	/* loop_now() */
	int64_t lost_at;
	/* the same as wall ms, for people */
	int64_t lost_since;
	/* why it is not usable, CamelCase; NULL: usable */
	const char *reason;
	char message[256];
	/* loop_now() when its API did not answer last; 0: it did, or was not asked */
	int64_t unanswered_at;
	/* its machines are Nodes of the host cluster, under its label */
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
	/* rebuild outside callbacks */
	struct loop_defer refresh;
	struct status_writer status_write;
	struct loop_timer status_timer;
	bool status_again;
};

/* What drover needs of a Node, typed. */
struct tenant_node {
	/* claim: from the label drover.dev/nodeclaim, verified by life/join.c */
	struct world_node world;
	const char *uid, *rv, *provider_id, *system_uuid, *boot_id;
	/* Unix ms */
	int64_t created;
	/* carries our taint */
	bool unregistered;
	/* carries our NoSchedule taint: it was drover that cordoned it */
	bool draining;
	/* Unix ms when its Ready condition last changed, by the tenant's word; 0: unknown */
	int64_t ready_since;
	/* loop_now() when this process first saw it not Ready; 0: it is */
	int64_t unready_seen;
	struct resources capacity;
	/* spec.taints as they are, for patches */
	const char *taints_json;
};

/* A PersistentVolumeClaim that a pod names, in its namespace; ephemeral: the pod's volume that it
 * is made for, or NULL. */
struct tenant_claim {
	const char *name, *ephemeral;
};

/* A resource claim of a pod, by the name that it has there: the ResourceClaim, its own or one that
 * others may name as well, and the template that its own is made from; NULL: not known, none. */
struct tenant_device {
	const char *name, *claim, *template_;
};

/* A pod as the planner reads it but for its volumes, devices and gang, and what its going needs.
 * Entries of struct tenant.pods. */
struct tenant_pod {
	/* first: whoever wants no more may take it for one of these */
	struct world_pod world;
	/* spec.terminationGracePeriodSeconds */
	int64_t grace_s;
	bool running;
	/* Unix ms when its activeDeadlineSeconds are over, once it has a Node; 0: never */
	int64_t ends;
	/* kept without labels and constraints (tenant/budget.h) */
	bool large;
	/* of one that is bound: it has no controller */
	bool alone;
	/* ... it may not be disrupted before (Unix ms), INT64_MAX: ever; 0: it may */
	int64_t asks_until;
	/* Unix ms when its grace is over; 0: it was not deleted */
	int64_t going_until;
	/* annotations; NULL: none */
	const char *checkpoint, *checkpoint_requested, *checkpoint_done;
	struct tenant_claim *claims;
	size_t nclaims;
	struct tenant_device *devices;
	size_t ndevices;
	/* world.unsupported for its resource claims alone, for who does not know them; or NULL */
	const char *undecided;
	/* that it says it is of; NULL: none */
	struct gang_name *gang;
	/* see tenant/pod_workload.h; NULL: not set, or the pod has a Node */
	const char *workload, *owner;
	/* ProvisioningRequest whose room it takes; NULL: none */
	const char *request;
};

bool tenant_usable(const struct tenant *t);
/* The API server that its machines are Nodes of: with their leases, volume attachments and
 * bootstrap tokens. Its pods are always its own client's. NULL: it has no client. */
struct kube_client *tenant_nodes_client(const struct tenant *t);
/* By what a machine that joins knows that API server, PEM; NULL: not known. */
const char *tenant_nodes_ca(const struct tenant *t);
/* By the login that was given for it, its API did not answer at the last try, less than a minute
 * ago. */
bool tenant_is_silent(const struct tenant *t);
/* The Secret of its kubeconfig was taken away: whoever did that wants drover out. */
bool tenant_secret_absent(const struct tenant *t);
/* A pod and a Node as the planner is to see them, volumes, devices, their limits and the gang among
 * it: the cache's, or in the arena. NULL: there is no such pod. */
const struct world_pod *tenant_world_pod(const struct tenant *t, const char *ns, const char *name,
					 struct arena *a);
struct world_node tenant_world_node(const struct tenant *t, const struct tenant_node *n,
				    struct arena *a);
/* How much the Node registers of it: by a device plugin, or whole GPUs by its ResourceSlices. */
struct quantity tenant_node_has(const struct tenant *t, const struct tenant_node *n,
				const char *resource);
/* No device plugin registers what a Node should have: ResourceSlices may say that it does. */
void tenant_look_for_devices(struct tenant *t);
/* NULL: none, or not known */
const struct tenant_node *tenant_node_get(struct tenant *t, const char *name);
/* The Node of this claim, as its tenant said last; NULL: none, or not known. */
const struct tenant_node *tenant_node_of(const struct tenants *ts, const struct node_claim *n);
/* The same, where the tenant can be used: what it says holds now. */
const struct tenant_node *tenant_node_now(const struct tenants *ts, const struct node_claim *n);
/* How many pods keep that node in use: not of a DaemonSet, not static, not ended. *since: wall ms
 * from which on it had none, as far as this process saw. While pods are not read for want of room
 * there is one more, since it may be there. */
size_t tenant_pods_on(const struct tenant *t, const char *node, int64_t *since);
/* When that node is empty by what those pods say of themselves, wall ms: the last of their ends, or
 * since when it is; what one that has gone said may count until all have. False: one of them says
 * nothing, or not all are read. */
bool tenant_pods_end(const struct tenant *t, const char *node, int64_t *at);

#endif
