#include "api/tables.h"
#include "base/address.h"

/*
 * virtualcluster: field table and checks of the kind VirtualCluster: a tenant.
 * Tests: tests/unit/api/test_kinds.c
 */
static const struct field kubeconfig_fields[] = {
	FIELD(object_secret_ref, namespace, "namespace", FIELD_STR, AS_LABEL,
	      .doc = "Namespace of the Secret. If not set, the namespace in which drover runs."),
	FIELD(object_secret_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the Secret."),
	FIELD(object_secret_ref, key, "key", FIELD_STR, .max_len = 253, .def = "\"config\"",
	      .doc = "Key of the kubeconfig in the Secret's data."),
	FIELDS_END,
};

const char *const control_plane_kind_names[] = {"StatefulSet", "Deployment", NULL};
static const struct field control_plane_fields[] = {
	FIELD(virtual_cluster_control_plane, kind, "kind", FIELD_ENUM,
	      .enums = control_plane_kind_names, .def = "\"StatefulSet\"",
	      .doc = "Kind of the workload, in API group apps."),
	FIELD(virtual_cluster_control_plane, namespace, "namespace", FIELD_STR, .required = true,
	      AS_LABEL, .doc = "Namespace of the workload in the host cluster."),
	FIELD(virtual_cluster_control_plane, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the workload."),
	FIELDS_END,
};

const char *const virtual_cluster_via_names[] = {"vip", "l4lb", "address", NULL};
static const struct field_rule api_server_rules[] = {
	{"self.via == 'l4lb' || has(self.address)", "address is required for via vip and address"},
	{"self.via == 'l4lb' ? has(self.backends) && size(self.backends) > 0 : !has(self.backends)",
	 "backends is required for via l4lb, and not allowed otherwise"},
	{"self.via == 'address' ? !has(self.providerRef) : has(self.providerRef)",
	 "providerRef is required for via vip and l4lb, and not allowed for via "
	 "address"},
	{NULL, NULL},
};
static const struct field api_server_fields[] = {
	FIELD(virtual_cluster_api_server, via, "via", FIELD_ENUM, .required = true,
	      .enums = virtual_cluster_via_names,
	      .doc = "How machines reach the API server. vip: an address that kube-vip of the "
		     "control plane announces; drover checks the requirements in docs/network.md. "
		     "l4lb: an L4 load balancer that drover creates at the fabric's controller. "
		     "address: an existing address."),
	FIELD(virtual_cluster_api_server, address, "address", FIELD_STR, .max_len = 64,
	      .pattern = "^[][0-9a-fA-F.:]+:[0-9]{1,5}$", .want = "IP:PORT",
	      .doc = "Address and port at which nodes reach the API server from the tenant's "
		     "network. If via is l4lb and no address is set, drover chooses a free "
		     "address and port 6443."),
	FIELD(virtual_cluster_api_server, backends, "backends", FIELD_STRINGS, .max_items = 16,
	      .max_len = 64, .pattern = "^[][0-9a-fA-F.:]+:[0-9]{1,5}$", .want = "IP:PORT",
	      .doc = "Addresses and ports of the API servers, as the load balancer reaches them. "
		     "Only if via is l4lb."),
	FIELD_PTR(virtual_cluster_api_server, provider_ref, "providerRef", object_name_ref_fields,
		  .doc = "Provider whose fabric contains the tenant's network. Only if via is vip "
			 "or l4lb."),
	FIELDS_END,
};

static const char *const addressing_acted_upon[] = {"DHCP", NULL};
const char *const virtual_cluster_proof_names[] = {"None", "Weak", "Strong", NULL};
static const struct field network_fields[] = {
	FIELD_IN(virtual_cluster_spec, network, segment, "segment", FIELD_STR, .max_len = 253,
		 .doc = "Name of the tenant's network segment. If not set, the name of the "
			"VirtualCluster."),
	FIELD_IN(virtual_cluster_spec, network, probe, "probe", FIELD_STRINGS, AS_PROBES,
		 .doc = "Addresses that answer only this tenant's machines, such as its gateway or "
			"API server. An address without a port is probed by ICMP echo, one with a "
			"port by TCP. If a machine in another segment gets an answer from one of "
			"these addresses, drover takes the machine out of use."),
	FIELD_IN(virtual_cluster_spec, network, require_proof, "requireProof", FIELD_ENUM,
		 .enums = virtual_cluster_proof_names, .def = "\"None\"",
		 .doc = "Weakest network proof (docs/network.md) with which a machine may become a "
			"Node of this tenant. None: no proof is needed. drover checks twice: that "
			"the proof is possible, before it writes anything to the machine; and the "
			"proof itself, once the machine's ports are in the tenant's network "
			"segment. Machines that already serve are not checked."),
	FIELD_IN(virtual_cluster_spec, network, api_server, "apiServer", FIELD_OBJECT_PTR,
		 .sub = api_server_fields, .size = sizeof(struct virtual_cluster_api_server),
		 .rules = api_server_rules,
		 .doc = "Network path from the tenant's machines to the tenant's API server. "
			"Requires spec.nodes Private; must not be set together with "
			"spec.joinEndpoint. A machine serves only after its image has "
			"reached the API server over this path."),
	FIELD_UNKEPT("addressing", FIELD_STR, .max_len = 128, .only = addressing_acted_upon,
		     .def = "\"DHCP\"",
		     .doc = "How nodes get their IP address in the tenant's "
			    "network segment."),
	FIELDS_END,
};

const char *const virtual_cluster_nodes_names[] = {"Private", "Host", NULL};
const char *const virtual_cluster_join_names[] = {"Kubeadm", "Script", "Auto", NULL};
static const struct field_rule spec_rules[] = {
	{"self.nodes == 'Private' || self.join == 'Kubeadm'",
	 "join must be Kubeadm if nodes is Host"},
	{NULL, NULL},
};

const char *const virtual_cluster_approval_names[] = {"None", "Manual", "Webhook", NULL};
static const struct field webhook_fields[] = {
	FIELD(virtual_cluster_webhook, url, "url", FIELD_STR, .required = true, AS_HTTPS,
	      .doc = "https URL to which drover POSTs each NodeClaim that waits "
		     "(docs/approval.md)."),
	FIELD_PTR(virtual_cluster_webhook, ca_secret_ref, "caSecretRef", object_local_secret_fields,
		  .doc = "Secret with the CA certificate for the server in webhook.url. The "
			 "certificate is under the Secret's key caSecretRef.key (default: ca.crt). "
			 "Without caSecretRef, the system's CAs are trusted."),
	FIELD(virtual_cluster_webhook, timeout, "timeout", FIELD_DURATION, .min = SECOND,
	      .max = MINUTE, .def = "\"10s\"",
	      .doc = "Longest time for one answer. A request without an answer is repeated; until "
		     "then the claim waits."),
	FIELDS_END,
};
static const struct field_rule approval_rules[] = {
	{"(has(self.claims) && self.claims == 'Webhook') == has(self.webhook)",
	 "webhook is required for claims Webhook, and not allowed otherwise"},
	{NULL, NULL},
};
static const struct field approval_fields[] = {
	FIELD_IN(virtual_cluster_spec, approval, claims, "claims", FIELD_ENUM,
		 .enums = virtual_cluster_approval_names, .def = "\"None\"",
		 .doc = "Who decides whether a NodeClaim of the tenant may get a machine. None: no "
			"approval is needed. Manual: an administrator (drover approve, drover "
			"deny). Webhook: the service in webhook, or an administrator. Until then "
			"no machine is bound, switched on or launched for the claim."),
	FIELD_IN(virtual_cluster_spec, approval, webhook, "webhook", FIELD_OBJECT_PTR,
		 .sub = webhook_fields, .size = sizeof(struct virtual_cluster_webhook),
		 .doc = "Service that decides. Only if claims is Webhook."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD_OBJ(virtual_cluster_spec, kubeconfig_secret_ref, "kubeconfigSecretRef",
		  kubeconfig_fields, .required = true,
		  .doc = "Secret with the tenant's kubeconfig."),
	FIELD(virtual_cluster_spec, server, "server", FIELD_STR, AS_HTTPS,
	      .doc = "URL at which drover reaches the tenant's API server. If not set, the server "
		     "in the kubeconfig. Must be set if the server in the kubeconfig is "
		     "localhost."),
	FIELD(virtual_cluster_spec, join_endpoint, "joinEndpoint", FIELD_STR, .max_len = 261,
	      .pattern = "^[][0-9A-Za-z.:-]+:[0-9]{1,5}$", .valid = object_is_host_port,
	      .want = "HOST:PORT",
	      .doc = "Host and port at which nodes reach the tenant's API server from the tenant's "
		     "network. If not set, the endpoint in the tenant's ConfigMap kubeadm-config."),
	FIELD(virtual_cluster_spec, nodes, "nodes", FIELD_ENUM,
	      .enums = virtual_cluster_nodes_names, .def = "\"Private\"", .immutable = true,
	      .doc = "Cluster whose Nodes the machines become. Private: the virtual cluster "
		     "itself. Host: the host cluster, in which the Nodes get the label and "
		     "NoExecute taint drover.dev/virtual-cluster=NAME."),
	FIELD(virtual_cluster_spec, join, "join", FIELD_ENUM, .enums = virtual_cluster_join_names,
	      .def = "\"Kubeadm\"",
	      .doc = "How machines join. Kubeadm: by kubeadm in their image. Script: machines run, "
		     "as root, the script that the tenant's API server serves at /node/join, as in "
		     "vCluster. Auto: by kubeadm if ConfigMap kube-system/kubeadm-config can be "
		     "read, otherwise by the script."),
	FIELD_PTR(
		virtual_cluster_spec, control_plane, "controlPlane", control_plane_fields,
		.doc = "Workload in the host cluster that runs the tenant's API server. The tenant "
		       "is asleep while this workload is scaled to 0 and the API server does not "
		       "answer. If not set, the tenant never counts as asleep."),
	FIELD(virtual_cluster_spec, quota, "quota", FIELD_RESOURCES, .required = true,
	      .max_items = 32,
	      .doc = "Highest amount of each resource that the tenant's nodes may have in "
		     "total, without quota borrowed from its cohort. A resource that is "
		     "not listed has no limit."),
	FIELD(virtual_cluster_spec, cohort, "cohort", FIELD_STR, AS_NAME,
	      .doc = "Name of the cohort: a group of tenants that may use each other's "
		     "unused quota. If not set, the tenant neither borrows nor lends "
		     "quota."),
	FIELD(virtual_cluster_spec, borrowing_limit, "borrowingLimit", FIELD_RESOURCES,
	      .max_items = 32,
	      .doc = "Highest amount of each resource that the tenant may borrow from its cohort "
		     "beyond its own quota. A resource that is not listed has no limit. Needs "
		     "spec.cohort."),
	FIELD(virtual_cluster_spec, lending_limit, "lendingLimit", FIELD_RESOURCES, .max_items = 32,
	      .doc = "Highest amount of each resource that the other tenants of the cohort may "
		     "borrow from this tenant's unused quota. A resource that is not listed has "
		     "no limit. Needs spec.cohort."),
	FIELD(virtual_cluster_spec, weight, "weight", FIELD_I64, .min = 1, .max = 1000, .def = "1",
	      .doc = "Weight of the tenant in the fair share of GPUs. While both wait for "
		     "GPUs, a tenant with weight 2 gets twice the share of a tenant with "
		     "weight 1."),
	FIELD(virtual_cluster_spec, priority, "priority", FIELD_I64, .min = -1000000000,
	      .max = 1000000000,
	      .doc = "Priority of the tenant; 0 if not set. The tenant's pods get "
		     "machines before the pods of all tenants with a lower priority, "
		     "whatever the pods' own priorities."),
	FIELD_OBJ(virtual_cluster_spec, network, "network", network_fields, .def = "{}",
		  .doc = "Network segment of the tenant, how machines in this segment reach the "
			 "tenant's API server, and how drover checks the segment."),
	FIELD_OBJ(virtual_cluster_spec, approval, "approval", approval_fields, .def = "{}",
		  .rules = approval_rules,
		  .doc = "Whether NodeClaims of the tenant wait for an approval before they get a "
			 "machine (docs/approval.md)."),
	FIELD(virtual_cluster_spec, sleep_grace, "sleepGrace", FIELD_DURATION, .never = true,
	      .min = MINUTE, .def = "\"1h\"",
	      .doc = "Longest time that the tenant may be asleep before drover releases its "
		     "machines. Never: drover does not release the machines of a sleeping tenant. "
		     "Needs spec.controlPlane."),
	FIELD(virtual_cluster_spec, paused, "paused", FIELD_BOOL,
	      .doc = "Whether the tenant is paused. drover then adds no nodes for the tenant and "
		     "releases none by itself."),
	FIELDS_END,
};

static const struct field debt_fields[] = {
	FIELD(virtual_cluster_debt, node_name, "nodeName", FIELD_STR, .max_len = 253,
	      .doc = "Name of a Node that drover must still delete."),
	FIELD(virtual_cluster_debt, node_uid, "nodeUID", FIELD_STR, .max_len = 64,
	      .doc = "UID of the Node in the field nodeName."),
	FIELD(virtual_cluster_debt, token_id, "tokenID", FIELD_STR, .max_len = 16,
	      .doc = "ID of a bootstrap token that drover must still delete."),
	FIELD(virtual_cluster_debt, since, "since", FIELD_TIME,
	      .doc = "Time since which the cleanup is pending. drover gives up after 24 hours. If "
		     "the tenant sleeps during this time, the 24 hours begin again when the tenant "
		     "wakes."),
	FIELDS_END,
};

static const struct field api_path_fields[] = {
	FIELD(virtual_cluster_api_path, address, "address", FIELD_STR, .max_len = 64,
	      .doc = "Address and port at which machines reach the API server. Not set if "
		     "spec.network.apiServer.via is address, or while drover does not know the "
		     "address."),
	FIELD(virtual_cluster_api_path, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Provider in whose fabric drover has created, or may "
		     "have created, a load balancer for the tenant. Not set if there is "
		     "none."),
	FIELDS_END,
};

static const struct field waiting_fields[] = {
	FIELD(virtual_cluster_waiting, pod, "pod", FIELD_STR, .required = true,
	      .max_len = VIRTUAL_CLUSTER_POD_MAX, .doc = "Pod as NAMESPACE/NAME."),
	FIELD(virtual_cluster_waiting, place, "place", FIELD_I64, .min = 1, .max = INT64_MAX,
	      .doc = "Position in the queue of all tenants. Not set if a machine is being "
		     "prepared for the pod, or if no machine could run the pod."),
	FIELD(virtual_cluster_waiting, reason, "reason", FIELD_STR, .required = true,
	      .max_len = 128,
	      .doc = "Reason for which the pod waits, as in the pod's event: one of those in "
		     "docs/pods.md."),
	FIELD(virtual_cluster_waiting, message, "message", FIELD_STR,
	      .max_len = VIRTUAL_CLUSTER_MESSAGE_MAX,
	      .doc = "Human-readable details of the "
		     "field reason."),
	FIELD(virtual_cluster_waiting, claim, "claim", FIELD_STR, .max_len = 253,
	      .doc = "Name of the NodeClaim on whose node capacity is reserved for the pod. Not "
		     "set if no capacity is reserved."),
	FIELD(virtual_cluster_waiting, since, "since", FIELD_TIME,
	      .doc = "Time since which the fields reason and claim have not changed."),
	FIELDS_END,
};

static const struct field usage_fields[] = {
	FIELD(virtual_cluster_usage, gpu_seconds, "gpuSeconds", FIELD_I64, .min = 0,
	      .max = INT64_MAX,
	      .doc = "GPU time that the tenant has used, in GPU-seconds (one GPU for one "
		     "second). Older use counts less: its value halves with each "
		     "half-life (drover run --usage-half-life)."),
	FIELD(virtual_cluster_usage, time, "time", FIELD_TIME,
	      .doc = "Time up to which status.usage.gpuSeconds is counted: the last change of "
		     "status.allocated. Later use is not included."),
	FIELDS_END,
};

const char *const virtual_cluster_phase_names[] = {"Allocated", "Ready", "Draining", "Wiping",
						   NULL};

static const struct field charge_fields[] = {
	FIELD(virtual_cluster_charge, month, "month", FIELD_STR, .required = true, .max_len = 7,
	      .doc = "Calendar month in UTC, such as 2026-11."),
	FIELD(virtual_cluster_charge, pool, "pool", FIELD_STR, .max_len = 253,
	      .doc = "NodePool of the machines."),
	FIELD(virtual_cluster_charge, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "Provider of the machines."),
	FIELD(virtual_cluster_charge, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Instance type of the machines."),
	FIELD(virtual_cluster_charge, phase, "phase", FIELD_ENUM, .required = true,
	      .enums = virtual_cluster_phase_names,
	      .doc = "Phase of the machines, a range of machine states. Allocated: the states from "
		     "claimed to gating. Ready: the state serving. Draining: the states from "
		     "draining to leaving. Wiping: the states from dirty to verifying."),
	FIELD(virtual_cluster_charge, price_per_hour, "pricePerHour", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Price of one machine for one hour, as it was during the machine time in "
		     "the field seconds. Not set if the price was unknown."),
	FIELD(virtual_cluster_charge, currency, "currency", FIELD_STR, AS_CURRENCY,
	      .doc = "Currency of pricePerHour, an ISO 4217 code."),
	FIELD(virtual_cluster_charge, gpus, "gpus", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of GPUs of one machine."),
	FIELD(virtual_cluster_charge, seconds, "seconds", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Machine time in seconds: the sum over all machines of this entry, "
		     "up to status.cost.time."),
	FIELD(virtual_cluster_charge, machines, "machines", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of machines in this phase at status.cost.time. The field seconds "
		     "does not include the time of these machines after status.cost.time."),
	FIELDS_END,
};

const struct field virtual_cluster_cost_fields[] = {
	FIELD(virtual_cluster_cost, time, "time", FIELD_TIME,
	      .doc = "Time up to which the machine time in status.cost.charges is counted."),
	FIELD_ITEMS(virtual_cluster_cost, charges, "charges", charge_fields, .max_items = 1024,
		    .doc = "Machine time of the last 14 months, with one entry for each month, "
			   "pool, Provider, instance type, phase and price."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD(virtual_cluster_status, cluster_uid, "clusterUID", FIELD_STR, .max_len = 64,
	      .doc = "UID of the tenant's namespace kube-system. If this UID changes, because the "
		     "kubeconfig leads to another cluster, drover stops all work for the tenant."),
	FIELD(virtual_cluster_status, version, "version", FIELD_STR, .max_len = 64,
	      .doc = "Version of the tenant's API server."),
	FIELD(virtual_cluster_status, last_contact_time, "lastContactTime", FIELD_TIME,
	      .doc = "Time of the last answer of the tenant's API server. Updated at least every "
		     "5 minutes while it answers."),
	FIELD(virtual_cluster_status, asleep_since, "asleepSince", FIELD_TIME,
	      .doc = "Time at which drover first saw the tenant asleep: the workload in "
		     "spec.controlPlane is scaled to 0 and has no pod left, and the "
		     "tenant's API server does not answer. Not set while the tenant is "
		     "awake."),
	FIELD(virtual_cluster_status, asleep_object, "asleepObject", FIELD_STR, .max_len = 96,
	      .doc = "UID/GENERATION of the control plane's workload when the tenant fell "
		     "asleep. If the UID or generation of the workload changes, "
		     "status.asleepSince starts anew."),
	FIELD(virtual_cluster_status, allocated, "allocated", FIELD_RESOURCES, .max_items = 64,
	      .doc = "Total resources of the tenant's nodes, including nodes that are being "
		     "prepared."),
	FIELD_PTR(virtual_cluster_status, usage, "usage", usage_fields,
		  .doc = "GPU time that the tenant has used. It determines the tenant's place in "
			 "the queue by fair share."),
	FIELD_PTR(virtual_cluster_status, cost, "cost", virtual_cluster_cost_fields,
		  .doc = "Cost of the tenant's machines by month. \"drover cost\" prints it."),
	FIELD_PTR(virtual_cluster_status, api_server, "apiServer", api_path_fields,
		  .doc = "Address at which machines reach the tenant's API server by "
			 "spec.network.apiServer, and the Provider at which drover created a load "
			 "balancer for this address."),
	FIELD_ITEMS(virtual_cluster_status, waiting, "waiting", waiting_fields,
		    .max_items = VIRTUAL_CLUSTER_WAITING_MAX,
		    .doc = "First 64 waiting pods of the tenant in the order of the queue, "
			   "according to the latest plan. Updated with a delay of at most 10 s."),
	FIELD_ITEMS(
		virtual_cluster_status, debts, "debts", debt_fields, .max_items = 256,
		.doc = "Nodes and bootstrap tokens that drover must still delete in the tenant's "
		       "cluster after machines have left."),
	CONDITIONS_ROW(
		virtual_cluster_status,
		"Conditions: KubeconfigAccepted (drover can use the kubeconfig); "
		"Permitted (drover may read the Secret with the kubeconfig and has "
		"the rights that it needs in the tenant's cluster); Reachable (the "
		"API server answers); Ready (these three are True and nothing else "
		"keeps drover from working with the tenant); TakesNodes (machines "
		"can join); APIServerWay (the path to the API server works), if "
		"spec.network.apiServer is set; Asleep, if spec.controlPlane is set; "
		"DaemonSetsRead (new machines have room for the pods of all DaemonSets; absent "
		"until drover once could not read all of them); "
		"Stalled (the kubeconfig or the permissions are refused until an operator changes "
		"them); Valid (drover can use spec; absent until drover first refuses spec)."),
	FIELDS_END,
};

const struct field virtual_cluster_fields[] = {
	META_ROW(virtual_cluster),
	FIELD_OBJ(virtual_cluster, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "Desired state of the VirtualCluster."),
	FIELD_OBJ(virtual_cluster, status, "status", status_fields,
		  .doc = "Observed state of the VirtualCluster."),
	FIELDS_END,
};

const struct object_column virtual_cluster_columns[] = {
	{"Version", "string", ".status.version", 0},
	{"Reachable", "string", ".status.conditions[?(@.type==\"Reachable\")].status", 0},
	{"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"GPUs", "string", ".status.allocated.nvidia\\.com/gpu", 0},
	{"Quota", "string", ".spec.quota.nvidia\\.com/gpu", 0},
	{"Weight", "integer", ".spec.weight", 1},
	{"Asleep", "date", ".status.asleepSince", 1},
	{"Contact", "date", ".status.lastContactTime", 1},
	{NULL, NULL, NULL, 0},
};

/* Checks that text is an IP address with a port. Probes and load balancers cannot use a host
 * name. */
static int service_check(const char *text, const char *field, struct err *e)
{
	char host[ADDRESS_TEXT];
	uint16_t port;

	if (address_service(text, host, &port) && port)
		return 0;
	return err_set(e, ERR_INVALID, 0, "%s: want an IP address with a port, got \"%s\"", field,
		       text);
}

static int api_server_check(const struct virtual_cluster_spec *s, struct err *e)
{
	static const char at[] = "spec.network.apiServer";
	const struct virtual_cluster_api_server *w = s->network.api_server;
	char field[64];

	if (!w)
		return 0;
	if (s->join_endpoint)
		return err_set(e, ERR_INVALID, 0,
			       "%s: must not be set together with spec.joinEndpoint", at);
	if (s->nodes == VIRTUAL_CLUSTER_HOST)
		return err_set(e, ERR_INVALID, 0, "%s: requires spec.nodes Private", at);
	if (w->via != VIA_L4LB && !w->address)
		return err_set(e, ERR_INVALID, 0, "%s.address: required for via %s", at,
			       virtual_cluster_via_names[w->via]);
	if ((w->via == VIA_L4LB) != (w->backends.n > 0))
		return err_set(e, ERR_INVALID, 0, "%s.backends: %s", at,
			       w->backends.n ? "allowed only for via l4lb"
					     : "required for via l4lb");
	if ((w->via == VIA_ADDRESS) != !w->provider_ref)
		return err_set(e, ERR_INVALID, 0, "%s.providerRef: %s via %s", at,
			       w->provider_ref ? "not allowed for" : "required for",
			       virtual_cluster_via_names[w->via]);
	for (size_t i = 0; i < w->backends.n; i++) {
		str_format(field, sizeof(field), "%s.backends[%zu]", at, i);
		if (service_check(w->backends.v[i], field, e) < 0)
			return -1;
	}
	str_format(field, sizeof(field), "%s.address", at);
	return w->address ? service_check(w->address, field, e) : 0;
}

/* Checks a borrowing or lending limit: it requires a cohort, and may name only resources of the
 * quota. */
static int limit_check(const struct virtual_cluster_spec *s, const struct resources *limit,
		       const char *field, struct err *e)
{
	if (limit->n && !s->cohort)
		return err_set(e, ERR_INVALID, 0, "%s: requires spec.cohort", field);
	for (size_t i = 0; i < limit->n; i++)
		if (!resources_get(&s->quota, limit->v[i].name))
			return err_set(e, ERR_INVALID, 0, "%s: spec.quota has no %s", field,
				       limit->v[i].name);
	return 0;
}

int virtual_cluster_check(const void *object, const void *old, struct err *e)
{
	const struct virtual_cluster *v = object, *o = old;

	if (o && o->spec.nodes != v->spec.nodes)
		return err_set(e, ERR_INVALID, 0, "spec.nodes: is immutable, was %s, got %s",
			       virtual_cluster_nodes_names[o->spec.nodes],
			       virtual_cluster_nodes_names[v->spec.nodes]);
	if (v->spec.nodes == VIRTUAL_CLUSTER_HOST && v->spec.join != VIRTUAL_CLUSTER_BY_KUBEADM)
		return err_set(e, ERR_INVALID, 0, "spec.join: %s requires spec.nodes Private",
			       virtual_cluster_join_names[v->spec.join]);
	if ((v->spec.approval.claims == APPROVAL_WEBHOOK) != (v->spec.approval.webhook != NULL))
		return err_set(e, ERR_INVALID, 0, "spec.approval.webhook: %s",
			       v->spec.approval.webhook ? "allowed only for claims Webhook"
							: "required for claims Webhook");
	return object_name_check(&v->meta, 63, e) < 0 || api_server_check(&v->spec, e) < 0 ||
			       limit_check(&v->spec, &v->spec.borrowing_limit,
					   "spec.borrowingLimit", e) < 0 ||
			       limit_check(&v->spec, &v->spec.lending_limit, "spec.lendingLimit",
					   e) < 0
		       ? -1
		       : object_probes_check(&v->spec.network.probe, "spec.network.probe", e);
}
