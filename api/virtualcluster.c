#include "api/tables.h"
#include "base/address.h"

/*
 * virtualcluster: field table and checks of the kind VirtualCluster: a tenant.
 * Tests: tests/unit/api/test_kinds.c
 */
static const struct field kubeconfig_fields[] = {
	FIELD(object_secret_ref, namespace, "namespace", FIELD_STR, AS_LABEL,
	      .doc = "Namespace of the Secret; absent: drover's own."),
	FIELD(object_secret_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the Secret."),
	FIELD(object_secret_ref, key, "key", FIELD_STR, .max_len = 253, .def = "\"config\"",
	      .doc = "Which of its entries is the kubeconfig."),
	FIELDS_END,
};

const char *const control_plane_kind_names[] = {"StatefulSet", "Deployment", NULL};
static const struct field control_plane_fields[] = {
	FIELD(virtual_cluster_control_plane, kind, "kind", FIELD_ENUM,
	      .enums = control_plane_kind_names, .def = "\"StatefulSet\"",
	      .doc = "What it runs as, of group apps."),
	FIELD(virtual_cluster_control_plane, namespace, "namespace", FIELD_STR, .required = true,
	      AS_LABEL, .doc = "Its namespace in the host cluster."),
	FIELD(virtual_cluster_control_plane, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Its name."),
	FIELDS_END,
};

const char *const virtual_cluster_via_names[] = {"vip", "l4lb", "address", NULL};
static const struct field_rule api_server_rules[] = {
	{"self.via == 'l4lb' || has(self.address)", "via vip and address need address"},
	{"self.via == 'l4lb' ? has(self.backends) && size(self.backends) > 0 : !has(self.backends)",
	 "via l4lb needs backends, which no other way has"},
	{"self.via == 'address' ? !has(self.providerRef) : has(self.providerRef)",
	 "via vip and l4lb need providerRef, which address has not"},
	{NULL, NULL},
};
static const struct field api_server_fields[] = {
	FIELD(virtual_cluster_api_server, via, "via", FIELD_ENUM, .required = true,
	      .enums = virtual_cluster_via_names,
	      .doc = "vip: kube-vip of the control plane announces the address, and what that needs is checked; l4lb: drover makes an L4 load balancer at the network's controller; address: as it is."),
	FIELD(virtual_cluster_api_server, address, "address", FIELD_STR, .max_len = 64,
	      .pattern = "^[][0-9a-fA-F.:]+:[0-9]{1,5}$", .want = "IP:PORT",
	      .doc = "Where nodes reach it, from the tenant's network. Absent: l4lb takes a free one and port 6443."),
	FIELD(virtual_cluster_api_server, backends, "backends", FIELD_STRINGS, .max_items = 16,
	      .max_len = 64, .pattern = "^[][0-9a-fA-F.:]+:[0-9]{1,5}$", .want = "IP:PORT",
	      .doc = "Via l4lb: the API servers themselves, as the network's load balancers reach them."),
	FIELD_PTR(virtual_cluster_api_server, provider_ref, "providerRef", object_name_ref_fields,
		  .doc = "Via vip and l4lb: the Provider whose network the tenant's is in."),
	FIELDS_END,
};

static const char *const addressing_acted_upon[] = {"DHCP", NULL};
const char *const virtual_cluster_proof_names[] = {"None", "Weak", "Strong", NULL};
static const struct field network_fields[] = {
	FIELD_IN(virtual_cluster_spec, network, segment, "segment", FIELD_STR, .max_len = 253,
		 .doc = "The tenant's segment; absent: its name."),
	FIELD_IN(
		virtual_cluster_spec, network, probe, "probe", FIELD_STRINGS, AS_PROBES,
		.doc = "Addresses that answer this tenant's machines alone: its gateway, its API server. A machine elsewhere that one of them answers is taken out of use."),
	FIELD_IN(
		virtual_cluster_spec, network, require_proof, "requireProof", FIELD_ENUM,
		.enums = virtual_cluster_proof_names, .def = "\"None\"",
		.doc = "The least proof of where a machine's ports are with which it becomes a Node here: before anything is written to it, and again in the tenant's segment. Machines that serve stay."),
	FIELD_IN(
		virtual_cluster_spec, network, api_server, "apiServer", FIELD_OBJECT_PTR,
		.sub = api_server_fields, .size = sizeof(struct virtual_cluster_api_server),
		.rules = api_server_rules,
		.doc = "The way from the tenant's machines to its API server; goes in the place of joinEndpoint. A machine serves only when its image proved it."),
	FIELD_UNKEPT("addressing", FIELD_STR, .max_len = 128, .only = addressing_acted_upon,
		     .def = "\"DHCP\"", .doc = "How nodes get their address there."),
	FIELDS_END,
};

const char *const virtual_cluster_nodes_names[] = {"Private", "Host", NULL};
const char *const virtual_cluster_join_names[] = {"Kubeadm", "Script", "Auto", NULL};
static const struct field_rule spec_rules[] = {
	{"self.nodes == 'Private' || self.join == 'Kubeadm'",
	 "nodes of the host cluster join by kubeadm alone"},
	{NULL, NULL},
};

static const struct field spec_fields[] = {
	FIELD_OBJ(virtual_cluster_spec, kubeconfig_secret_ref, "kubeconfigSecretRef",
		  kubeconfig_fields, .required = true, .doc = "The tenant's kubeconfig."),
	FIELD(virtual_cluster_spec, server, "server", FIELD_STR, AS_HTTPS,
	      .doc = "The API server as drover reaches it, when the kubeconfig says localhost."),
	FIELD(virtual_cluster_spec, join_endpoint, "joinEndpoint", FIELD_STR, .max_len = 261,
	      .pattern = "^[][0-9A-Za-z.:-]+:[0-9]{1,5}$", .valid = object_is_host_port,
	      .want = "HOST:PORT",
	      .doc = "The API server as nodes reach it, from the tenant's network; absent: what kubeadm-config there says."),
	FIELD(virtual_cluster_spec, nodes, "nodes", FIELD_ENUM,
	      .enums = virtual_cluster_nodes_names, .def = "\"Private\"", .immutable = true,
	      .doc = "Whose Nodes its machines become: Private: its own; Host: those of the host cluster, whose nodes it shares, under label and NoExecute taint drover.dev/virtual-cluster=NAME."),
	FIELD(virtual_cluster_spec, join, "join", FIELD_ENUM, .enums = virtual_cluster_join_names,
	      .def = "\"Kubeadm\"",
	      .doc = "How its machines join: Kubeadm: by kubeadm of their image; Script: they run as root what its API server serves as /node/join, as a vCluster does; Auto: by kubeadm where ConfigMap kube-system/kubeadm-config can be read, else by the script."),
	FIELD_PTR(
		virtual_cluster_spec, control_plane, "controlPlane", control_plane_fields,
		.doc = "What its API server runs as: a tenant sleeps while that is scaled to 0. Absent: it never counts as asleep."),
	FIELD(virtual_cluster_spec, quota, "quota", FIELD_RESOURCES, .required = true,
	      .max_items = 32,
	      .doc = "Most of each resource that its nodes may have; a resource that is not named has no limit."),
	FIELD(virtual_cluster_spec, cohort, "cohort", FIELD_STR, AS_NAME,
	      .doc = "Tenants that name the same one may use what others of them do not use of their quotas."),
	FIELD(virtual_cluster_spec, borrowing_limit, "borrowingLimit", FIELD_RESOURCES,
	      .max_items = 32,
	      .doc = "Most of each resource that it may have beyond its quota, of what its cohort does not use; a resource that is not named has no limit. Needs cohort."),
	FIELD(virtual_cluster_spec, lending_limit, "lendingLimit", FIELD_RESOURCES, .max_items = 32,
	      .doc = "Most of each resource of its quota that others of its cohort may have while it does not use it; a resource that is not named has no limit. Needs cohort."),
	FIELD(virtual_cluster_spec, weight, "weight", FIELD_I64, .min = 1, .max = 1000, .def = "1",
	      .doc = "Its part of a fair share."),
	FIELD(virtual_cluster_spec, priority, "priority", FIELD_I64, .min = -1000000000,
	      .max = 1000000000,
	      .doc = "Its pods stand before those of all tenants with a lower one, whatever the priorities of the pods."),
	FIELD_OBJ(virtual_cluster_spec, network, "network", network_fields, .def = "{}",
		  .doc = "The tenant's network."),
	FIELD(virtual_cluster_spec, sleep_grace, "sleepGrace", FIELD_DURATION, .never = true,
	      .min = MINUTE, .def = "\"1h\"",
	      .doc = "How long it may sleep until its machines go back, without its API; needs controlPlane. Never: they stay."),
	FIELD(virtual_cluster_spec, paused, "paused", FIELD_BOOL,
	      .doc = "No new nodes and nothing taken away."),
	FIELDS_END,
};

static const struct field debt_fields[] = {
	FIELD(virtual_cluster_debt, node_name, "nodeName", FIELD_STR, .max_len = 253,
	      .doc = "A Node still to be deleted."),
	FIELD(virtual_cluster_debt, node_uid, "nodeUID", FIELD_STR, .max_len = 64,
	      .doc = "Its UID."),
	FIELD(virtual_cluster_debt, token_id, "tokenID", FIELD_STR, .max_len = 16,
	      .doc = "A bootstrap token still to be deleted."),
	FIELD(virtual_cluster_debt, since, "since", FIELD_TIME,
	      .doc = "Since when; given up after 24 h in which it did not sleep."),
	FIELDS_END,
};

static const struct field way_fields[] = {
	FIELD(virtual_cluster_way, address, "address", FIELD_STR, .max_len = 64,
	      .doc = "Where its machines reach its API server, as was found."),
	FIELD(virtual_cluster_way, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "The Provider whose network may have a load balancer that drover made."),
	FIELDS_END,
};

static const struct field waiting_fields[] = {
	FIELD(virtual_cluster_waiting, pod, "pod", FIELD_STR, .required = true,
	      .max_len = VIRTUAL_CLUSTER_POD_MAX, .doc = "NAMESPACE/NAME."),
	FIELD(virtual_cluster_waiting, place, "place", FIELD_I64, .min = 1, .max = INT64_MAX,
	      .doc = "Its place in the queue of all tenants; absent: a machine comes for it, or no machine would do."),
	FIELD(virtual_cluster_waiting, reason, "reason", FIELD_STR, .required = true,
	      .max_len = 128, .doc = "Why it waits, as in its event: docs/pods.md."),
	FIELD(virtual_cluster_waiting, message, "message", FIELD_STR,
	      .max_len = VIRTUAL_CLUSTER_MESSAGE_MAX, .doc = "The same in words."),
	FIELD(virtual_cluster_waiting, claim, "claim", FIELD_STR, .max_len = 253,
	      .doc = "The NodeClaim on which it has a seat."),
	FIELD(virtual_cluster_waiting, since, "since", FIELD_TIME,
	      .doc = "Since when reason and claim are these."),
	FIELDS_END,
};

static const struct field usage_fields[] = {
	FIELD(virtual_cluster_usage, gpu_seconds, "gpuSeconds", FIELD_I64, .min = 0,
	      .max = INT64_MAX,
	      .doc = "GPUs times seconds; what is older by a half-life (drover run --usage-half-life) counts half."),
	FIELD(virtual_cluster_usage, time, "time", FIELD_TIME,
	      .doc = "At this time: when allocated became what it is. It holds that since."),
	FIELDS_END,
};

const char *const virtual_cluster_phase_names[] = {"Allocated", "Ready", "Draining", "Wiping",
						   NULL};

static const struct field charge_fields[] = {
	FIELD(virtual_cluster_charge, month, "month", FIELD_STR, .required = true, .max_len = 7,
	      .doc = "The calendar month, UTC, such as 2026-11."),
	FIELD(virtual_cluster_charge, pool, "pool", FIELD_STR, .max_len = 253,
	      .doc = "NodePool by which the machines came."),
	FIELD(virtual_cluster_charge, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "Their Provider."),
	FIELD(virtual_cluster_charge, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Their instance type."),
	FIELD(virtual_cluster_charge, phase, "phase", FIELD_ENUM, .required = true,
	      .enums = virtual_cluster_phase_names,
	      .doc = "Allocated: claimed to gating; Ready: serving; Draining: draining to leaving; Wiping: dirty to verifying."),
	FIELD(virtual_cluster_charge, price_per_hour, "pricePerHour", FIELD_STR, AS_MONEY,
	      .doc = "What one machine cost in an hour then; absent: that was not known."),
	FIELD(virtual_cluster_charge, currency, "currency", FIELD_STR, AS_CURRENCY,
	      .doc = "Of pricePerHour."),
	FIELD(virtual_cluster_charge, gpus, "gpus", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "GPUs of one machine."),
	FIELD(virtual_cluster_charge, seconds, "seconds", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Machine time, of all such machines together."),
	FIELD(virtual_cluster_charge, machines, "machines", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "How many are at it since cost.time: what came of that is reckoned."),
	FIELDS_END,
};

const struct field virtual_cluster_cost_fields[] = {
	FIELD(virtual_cluster_cost, time, "time", FIELD_TIME,
	      .doc = "Up to this time all is in the sums."),
	FIELD_ITEMS(virtual_cluster_cost, charges, "charges", charge_fields, .max_items = 1024,
		    .doc = "By month, pool, machine class, phase and price; 14 months."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD(virtual_cluster_status, cluster_uid, "clusterUID", FIELD_STR, .max_len = 64,
	      .doc = "UID of its kube-system; a change stops everything."),
	FIELD(virtual_cluster_status, version, "version", FIELD_STR, .max_len = 64,
	      .doc = "Version of its API server."),
	FIELD(virtual_cluster_status, last_contact_time, "lastContactTime", FIELD_TIME,
	      .doc = "When it answered last; while it answers, not older than 5 min."),
	FIELD(virtual_cluster_status, asleep_since, "asleepSince", FIELD_TIME,
	      .doc = "Since when its control plane is seen paused or scaled to 0; absent: awake."),
	FIELD(virtual_cluster_status, asleep_object, "asleepObject", FIELD_STR, .max_len = 96,
	      .doc = "UID and generation of its control plane's object then: another one shows that it was changed since, and asleepSince begins anew."),
	FIELD(virtual_cluster_status, allocated, "allocated", FIELD_RESOURCES, .max_items = 64,
	      .doc = "What its nodes have in all, those on their way included."),
	FIELD_PTR(virtual_cluster_status, usage, "usage", usage_fields,
		  .doc = "What it has had of GPUs, for its share in the queue."),
	FIELD_PTR(virtual_cluster_status, cost, "cost", virtual_cluster_cost_fields,
		  .doc = "What its machines have cost, month by month: drover cost."),
	FIELD_PTR(virtual_cluster_status, api_server, "apiServer", way_fields,
		  .doc = "What is known of spec.network.apiServer, and made for it."),
	FIELD_ITEMS(
		virtual_cluster_status, waiting, "waiting", waiting_fields,
		.max_items = VIRTUAL_CLUSTER_WAITING_MAX,
		.doc = "Its first pods that wait, in the order of the queue, as the newest plan has them; at most 10 s behind it."),
	FIELD_ITEMS(virtual_cluster_status, debts, "debts", debt_fields, .max_items = 256,
		    .doc = "What drover still owes it after machines left."),
	CONDITIONS_ROW(
		virtual_cluster_status,
		"KubeconfigAccepted, Permitted, Reachable, Ready, TakesNodes; APIServerWay where network.apiServer is given; Asleep where controlPlane is given."),
	FIELDS_END,
};

const struct field virtual_cluster_fields[] = {
	META_ROW(virtual_cluster),
	FIELD_OBJ(virtual_cluster, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "What is wanted."),
	FIELD_OBJ(virtual_cluster, status, "status", status_fields, .doc = "What is."),
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

/* Who asks and who makes needs an IP address with its port. */
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
		return err_set(e, ERR_INVALID, 0, "%s: not beside spec.joinEndpoint", at);
	if (s->nodes == VIRTUAL_CLUSTER_HOST)
		return err_set(e, ERR_INVALID, 0, "%s: only with spec.nodes Private", at);
	if (w->via != VIA_L4LB && !w->address)
		return err_set(e, ERR_INVALID, 0, "%s.address: required by via %s", at,
			       virtual_cluster_via_names[w->via]);
	if ((w->via == VIA_L4LB) != (w->backends.n > 0))
		return err_set(e, ERR_INVALID, 0, "%s.backends: %s", at,
			       w->backends.n ? "of via l4lb alone" : "required by via l4lb");
	if ((w->via == VIA_ADDRESS) != !w->provider_ref)
		return err_set(e, ERR_INVALID, 0, "%s.providerRef: %s via %s", at,
			       w->provider_ref ? "not with" : "required by",
			       virtual_cluster_via_names[w->via]);
	for (size_t i = 0; i < w->backends.n; i++) {
		str_format(field, sizeof(field), "%s.backends[%zu]", at, i);
		if (service_check(w->backends.v[i], field, e) < 0)
			return -1;
	}
	str_format(field, sizeof(field), "%s.address", at);
	return w->address ? service_check(w->address, field, e) : 0;
}

/* Only what a quota names is lent and borrowed. */
static int limit_check(const struct virtual_cluster_spec *s, const struct resources *limit,
		       const char *field, struct err *e)
{
	if (limit->n && !s->cohort)
		return err_set(e, ERR_INVALID, 0, "%s: only with spec.cohort", field);
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
		return err_set(e, ERR_INVALID, 0, "spec.join: %s: only with spec.nodes Private",
			       virtual_cluster_join_names[v->spec.join]);
	return object_name_check(&v->meta, 63, e) < 0 || api_server_check(&v->spec, e) < 0 ||
			       limit_check(&v->spec, &v->spec.borrowing_limit,
					   "spec.borrowingLimit", e) < 0 ||
			       limit_check(&v->spec, &v->spec.lending_limit, "spec.lendingLimit",
					   e) < 0
		       ? -1
		       : object_probes_check(&v->spec.network.probe, "spec.network.probe", e);
}
