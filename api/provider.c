#include <string.h>

#include "base/address.h"
#include "base/str.h"
#include "api/tables.h"

/*
 * provider: field table and checks of the kind Provider: where machines come from and how they are
 * switched.
 * Tests: tests/unit/api/test_kinds.c
 */
const char *const provider_object_type_names[] = {"redfish", "ipmi", "libvirt", "bcm",
						  "ec2",     "exec", NULL};
const char *const provider_object_fabric_names[] = {"none", "exec", "netris", NULL};
static const char *const accelerator_names[] = {"kvm", "none", NULL};
static const char *const drive_bus_names[] = {"sata", "nvme", NULL};
#define MACHINES_MAX 256
static const char *const boot_method_names[] = {"UefiHttp", "VirtualMedia", NULL};

static const struct field exec_fields[] = {
	FIELD(provider_object_exec, command, "command", FIELD_STRINGS, .required = true,
	      .max_items = 32, .doc = "Program and arguments; no shell."),
	FIELDS_END,
};

static const struct field machine_exec_fields[] = {
	FIELD(provider_object_exec, command, "command", FIELD_STRINGS, .required = true,
	      .max_items = 32, .doc = "Program and arguments; no shell."),
	FIELD(provider_object_exec, elastic, "elastic", FIELD_BOOL,
	      .doc = "The program launches instances of a cloud and ends them; it switches no machines."),
	FIELDS_END,
};

static const struct field netris_tls_fields[] = {
	FIELD_IN(provider_object_netris, tls, fingerprint, "fingerprint", FIELD_STR, AS_DIGEST,
		 .doc = "SHA-256 of the certificate."),
	{.name = "caSecretRef",
	 .type = FIELD_OBJECT_PTR,
	 .offset = offsetof(struct provider_object_netris, tls.ca_secret_ref) -
		   offsetof(struct provider_object_netris, tls),
	 .sub = object_local_secret_fields,
	 .size = sizeof(struct object_secret_ref),
	 .doc = "Secret with the CA's certificate under ca.crt."},
	FIELDS_END,
};

static const struct field netris_fields[] = {
	FIELD(provider_object_netris, endpoint, "endpoint", FIELD_STR, .required = true, AS_HTTPS,
	      .doc = "Its address."),
	FIELD_OBJ(
		provider_object_netris, credentials_secret_ref, "credentialsSecretRef",
		object_name_ref_fields, .required = true,
		.doc = "Secret in drover's namespace with username, password, and under endpoint the address that these may be sent to."),
	FIELD_OBJ(provider_object_netris, tls, "tls", netris_tls_fields,
		  .doc = "How its certificate is known; absent: by the system's CAs."),
	FIELD(provider_object_netris, site, "site", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "Name of the site there; its servers have the names of Machines."),
	FIELD(provider_object_netris, template_, "template", FIELD_STR, .required = true,
	      .max_len = 128,
	      .doc = "Server-cluster template that tenants' clusters are made from."),
	FIELD(provider_object_netris, admin, "admin", FIELD_STR, .max_len = 128, .def = "\"Admin\"",
	      .doc = "Tenant of Netris that owns the servers and that the user belongs to."),
	FIELD(provider_object_netris, prefix, "prefix", FIELD_STR, AS_LABEL, .def = "\"drover\"",
	      .doc = "Names of what drover makes there begin with it; one for each installation."),
	FIELD(provider_object_netris, host_servers, "hostServers", FIELD_STRINGS, .max_items = 64,
	      .max_len = 128,
	      .doc = "Servers that are shared in each tenant's cluster from the start: those that run tenants' control planes."),
	FIELD(provider_object_netris, common_vnets, "commonVnets", FIELD_STRINGS, .max_items = 64,
	      .max_len = 128,
	      .doc = "V-nets that machines' ports may be in besides, for which no proof is less: of BMCs and management."),
	FIELDS_END,
};

static const struct field segments_fields[] = {
	FIELD_IN(provider_object_network, segments, quarantine, "quarantine", FIELD_STR,
		 .required = true, .max_len = 253,
		 .doc = "Reaches the agent endpoint alone; its machines do not reach one another."),
	FIELD_IN(
		provider_object_network, segments, provisioning, "provisioning", FIELD_STR,
		.required = true, .max_len = 253,
		.doc = "Reaches agent endpoint and images; its machines do not reach one another."),
	FIELDS_END,
};

static const struct field probe_fields[] = {
	FIELD_IN(provider_object_network, probe, quarantine, "quarantine", FIELD_STRINGS, AS_PROBES,
		 .doc = "Addresses that answer in the segment quarantine alone: its gateway."),
	FIELD_IN(provider_object_network, probe, provisioning, "provisioning", FIELD_STRINGS,
		 AS_PROBES,
		 .doc = "Addresses that answer in the segment provisioning alone: its gateway."),
	FIELDS_END,
};

static const struct field network_fields[] = {
	FIELD(provider_object_network, type, "type", FIELD_ENUM,
	      .enums = provider_object_fabric_names, .def = "\"none\"",
	      .doc = "What moves the machines' ports; none: nothing does."),
	FIELD_PTR(provider_object_network, exec, "exec", exec_fields,
		  .doc = "Type exec: the program."),
	FIELD_PTR(provider_object_network, netris, "netris", netris_fields,
		  .doc = "Type netris: its controller."),
	FIELD_OBJ(provider_object_network, segments, "segments", segments_fields,
		  .doc = "drover's own segments."),
	FIELD_OBJ(provider_object_network, probe, "probe", probe_fields, .def = "{}",
		  .doc = "What is asked from a machine itself, to see where its port leads."),
	FIELDS_END,
};
static const struct field_rule network_rules[] = {
	{"self.type != 'exec' || has(self.exec)", "type exec needs exec"},
	{"self.type != 'netris' || has(self.netris)", "type netris needs netris"},
	{"self.type == 'none' || has(self.segments)", "segments are needed unless type is none"},
	{NULL, NULL},
};

/* Networks of callers; that no bit stands beyond the prefix is checked below. */
#define AS_NETWORKS                                                                                \
	.max_items = 32, .max_len = 48, .pattern = "^[0-9a-fA-F.:]+/[0-9]{1,3}$",                  \
	.valid = object_is_network, .want = "a network such as 10.1.0.0/24"

static const struct field boot_fields[] = {
	FIELD_IN(
		provider_object_spec, boot, methods, "methods", FIELD_STRINGS,
		.enums = boot_method_names, .max_items = 2,
		.doc = "Ways to boot the agent, tried in this order; absent: what the BMC offers."),
	FIELD_IN(
		provider_object_spec, boot, media_url, "mediaURL", FIELD_STR, AS_HTTP,
		.doc = "Where BMCs, and firmware that boots by HTTP, reach drover; of https: what is served over TLS alone."),
	FIELD_IN(
		provider_object_spec, boot, https_media_url, "httpsMediaURL", FIELD_STR, AS_HTTPS,
		.doc = "The same over TLS, for BMCs that list HTTPS for virtual media, or refuse them over plain HTTP; all others, and HTTP boot, take mediaURL."),
	FIELD_IN(
		provider_object_spec, boot, proxies, "proxies", FIELD_STRINGS, AS_NETWORKS,
		.doc = "Networks from which boot media are fetched for BMCs and machines: NAT, HTTP proxies, another port of the BMC."),
	FIELDS_END,
};

static const struct field agent_fields[] = {
	FIELD_IN(provider_object_spec, agent, endpoint, "endpoint", FIELD_STR, AS_HTTPS,
		 .doc = "Where agents reach drover, from quarantine and provisioning alike."),
	FIELD_IN(
		provider_object_spec, agent, networks, "networks", FIELD_STRINGS, AS_NETWORKS,
		.doc = "Networks that agents call from, as drover sees them; absent: any. A machine with spec.provisioning.address calls from that."),
	FIELD_IN(
		provider_object_spec, agent, proxies, "proxies", FIELD_STRINGS, AS_NETWORKS,
		.doc = "Networks of NAT or proxies that agents call through: no address there is one machine's."),
	FIELDS_END,
};

struct per_domain {
	const char *key;
	int64_t concurrent;
};
_Static_assert(sizeof(struct per_domain) ==
		       sizeof(((struct provider_object_limits *)0)->per_domain),
	       "the table below is for the member of struct provider_object_limits");

static const struct field per_domain_fields[] = {
	FIELD(per_domain, key, "key", FIELD_STR, .required = true, AS_QUALIFIED,
	      .doc = "Label of Machines that names the domain."),
	FIELD(per_domain, concurrent, "concurrent", FIELD_I64, .required = true, .min = 1,
	      .max = 10000, .doc = "Power-ons at once in one domain."),
	FIELDS_END,
};

static const struct field_rule bcm_rules[] = {
	{"has(self.tls)", "an https address needs tls"},
	{NULL, NULL},
};
static const struct field bcm_fields[] = {
	FIELD(provider_object_bcm, endpoint, "endpoint", FIELD_STR, .required = true, AS_HTTPS,
	      .doc = "The head node's CMDaemon, such as https://head:8081."),
	FIELD_OBJ(provider_object_bcm, tls, "tls", object_tls_fields, .rules = object_tls_rules,
		  .doc = "How its certificate is known; trustOnFirstUse is not for head nodes."),
	FIELD_PTR(
		provider_object_bcm, credentials_secret_ref, "credentialsSecretRef",
		object_local_secret_fields, .required = true,
		.doc = "Secret with tls.crt and tls.key of a BCM certificate, or username and password; and endpoint, the same as above: nowhere else are they sent."),
	FIELD(provider_object_bcm, management_network, "managementNetwork", FIELD_STR,
	      .max_len = 63, .doc = "That nodes are installed in; absent: as they are."),
	FIELD(provider_object_bcm, clear_block_devices, "clearBlockDevices", FIELD_STRINGS,
	      .max_items = 32, .max_len = 128,
	      .doc = "Block devices that an install clears beside its disk layout, such as /dev/nvme1n1."),
	FIELD(provider_object_bcm, bmc_networks, "bmcNetworks", FIELD_STRINGS, AS_NETWORKS,
	      .doc = "Machines are made for nodes whose BMC is in one of these, since its password goes there; absent: for none."),
	FIELD(provider_object_bcm, no_progress, "noProgress", FIELD_DURATION, .min = MINUTE,
	      .max = DAY, .def = "\"15m\"",
	      .doc = "Longest time in which an install may say nothing new."),
	FIELD(provider_object_bcm, max_machines, "maxMachines", FIELD_I64, .min = 1, .max = 100000,
	      .def = "1000",
	      .doc = "Number of Machines of this Provider at which drover stops creating Machines for nodes."),
	FIELDS_END,
};

static const struct field limits_fields[] = {
	FIELD(provider_object_limits, requests_per_second, "requestsPerSecond", FIELD_I64, .min = 1,
	      .max = 10000,
	      .doc = "Calls begun in a second, to all BMCs or to the API; absent: redfish 1000, else 50."),
	FIELD(provider_object_limits, concurrent_operations, "concurrentOperations", FIELD_I64,
	      .min = 1, .max = 10000,
	      .doc = "Calls in flight at once, as many again that take longer than 3 s; absent: redfish 1024, else 64."),
	FIELD(provider_object_limits, power_on_per_minute, "powerOnPerMinute", FIELD_I64, .min = 1,
	      .max = 10000, .def = "30", .doc = "Machines switched on in a minute."),
	FIELD_OBJ(provider_object_limits, per_domain, "perDomain", per_domain_fields,
		  .doc = "A further limit by rack or feed."),
	FIELDS_END,
};

static const struct field pci_fields[] = {
	FIELD(provider_object_pci, id, "id", FIELD_STR, .required = true, .max_len = 9,
	      .pattern = "^[0-9a-f]{4}:[0-9a-f]{4}$", .valid = object_is_pci,
	      .want = "a PCI id such as 10de:2330", .doc = "Vendor and device."),
	FIELD(provider_object_pci, count, "count", FIELD_I64, .min = 1, .max = 256, .def = "1",
	      .doc = "How many."),
	FIELDS_END,
};

/* match.pci: two anonymous structs deep, but the list is all that is in them. */
static const struct field match_fields[] = {
	{.name = "pci",
	 .type = FIELD_LIST,
	 .sub = pci_fields,
	 .size = sizeof(struct provider_object_pci),
	 .max_items = 32,
	 .doc = "PCI devices that it must have."},
	FIELDS_END,
};

static const struct field root_device_fields[] = {
	FIELD_IN(provider_object_instance_type, root_device, model, "model", FIELD_STR,
		 .max_len = 128, .doc = "Model of the drive."),
	FIELD_IN(provider_object_instance_type, root_device, min_bytes, "minBytes", FIELD_I64,
		 .min = 0, .max = INT64_MAX, .doc = "At least so large."),
	FIELD_IN(provider_object_instance_type, root_device, max_bytes, "maxBytes", FIELD_I64,
		 .min = 0, .max = INT64_MAX, .doc = "At most so large; 0: any."),
	FIELDS_END,
};

static const struct field expected_fields[] = {
	FIELD_IN(provider_object_instance_type, expected, serving, "serving", FIELD_DURATION,
		 .min = SECOND, .max = DAY,
		 .doc = "Nine of ten serve so long after they were claimed."),
	FIELD_IN(provider_object_instance_type, expected, free, "free", FIELD_DURATION,
		 .min = SECOND, .max = 7 * DAY,
		 .doc = "Nine of ten are wiped and free so long after they began to leave."),
	FIELDS_END,
};

static const struct field instance_type_fields[] = {
	FIELD(provider_object_instance_type, name, "name", FIELD_STR, .required = true,
	      .max_len = 128,
	      .doc = "What Machine.spec.instanceType says; the node's instance-type label."),
	FIELD_OBJ(provider_object_instance_type, match, "match", match_fields,
		  .doc = "What a machine must have to be one."),
	FIELD(provider_object_instance_type, capacity, "capacity", FIELD_RESOURCES,
	      .required = true, .max_items = 32,
	      .doc = "What its node will have; compared after it joined."),
	FIELD(provider_object_instance_type, labels, "labels", FIELD_MAP, .max_items = 64,
	      .max_len = 63, .doc = "Labels that its node will have; compared after it joined."),
	FIELD_OBJ(provider_object_instance_type, root_device, "rootDevice", root_device_fields,
		  .doc = "Which drive takes the image; none or two that fit: InventoryMismatch."),
	FIELD(provider_object_instance_type, minimum_off_time, "minimumOffTime", FIELD_DURATION,
	      .min = 0, .max = HOUR, .def = "\"0s\"",
	      .doc = "How long it stays off between tenants: memory keeps its charge for seconds."),
	FIELD_OBJ(provider_object_instance_type, expected, "expected", expected_fields,
		  .doc = "How long its machines take, until three of them were measured."),
	FIELD(provider_object_instance_type, price_per_hour, "pricePerHour", FIELD_STR, AS_MONEY,
	      .doc = "What one machine of it costs in an hour, owned ones too; absent: its hours are counted and cost nothing that is known. Needs currency."),
	FIELD(provider_object_instance_type, currency, "currency", FIELD_STR, AS_CURRENCY,
	      .doc = "Of pricePerHour: a code of ISO 4217 that is in use."),
	FIELD(provider_object_instance_type, spot_price_per_hour, "spotPricePerHour", FIELD_STR,
	      AS_MONEY,
	      .doc = "Type ec2: offered to BurstPolicies as Spot, for at most this; it is the bid, and what is charged. Needs currency. Absent: not offered so."),
	FIELD(provider_object_instance_type, reserved_price_per_hour, "reservedPricePerHour",
	      FIELD_STR, AS_MONEY,
	      .doc = "Type ec2: what an hour in a reservation is charged at, such as its fee spread over its hours. Needs currency. Absent: not known, and BurstPolicies refuse it."),
	FIELD(provider_object_instance_type, efa_interfaces, "efaInterfaces", FIELD_I64, .min = 1,
	      .max = 64,
	      .doc = "Type ec2: interfaces of kind EFA, one on each network card; absent: one ordinary interface."),
	FIELDS_END,
};

static const struct field drive_fields[] = {
	FIELD(provider_object_drive, size, "size", FIELD_QUANTITY, .required = true,
	      .doc = "How large it is, such as 8Gi."),
	FIELD(provider_object_drive, bus, "bus", FIELD_ENUM, .enums = drive_bus_names,
	      .def = "\"sata\"",
	      .doc = "sata; or nvme, where QEMU itself may open the volume's file: qemu:///session."),
	FIELDS_END,
};

static const struct field machines_fields[] = {
	FIELD(provider_object_machines, count, "count", FIELD_I64, .required = true, .min = 0,
	      .max = MACHINES_MAX,
	      .doc = "How many there are: PROVIDER-0, PROVIDER-1, ...; those beyond it go when nobody is on them."),
	FIELD(provider_object_machines, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Name of one of the Provider's instance types."),
	FIELD(provider_object_machines, cpus, "cpus", FIELD_I64, .min = 1, .max = 1024, .def = "2",
	      .doc = "Virtual processors of each."),
	FIELD(provider_object_machines, accelerator, "accelerator", FIELD_ENUM,
	      .enums = accelerator_names,
	      .doc = "kvm; or none: QEMU emulates the processor; absent: kvm where the host has it."),
	FIELD(provider_object_machines, memory, "memory", FIELD_QUANTITY, .def = "\"3Gi\"",
	      .doc = "Memory of each."),
	FIELD_ITEMS(provider_object_machines, drives, "drives", drive_fields, .max_items = 8,
		    .doc = "Their drives, new volumes of the storage pool."),
	FIELD(provider_object_machines, network, "network", FIELD_STR, .max_len = 128,
	      .doc = "Network of libvirt that their card is in; absent, and no bridge: QEMU's user network."),
	FIELD(provider_object_machines, bridge, "bridge", FIELD_STR, .max_len = 15,
	      .doc = "Bridge of the host that their card is in."),
	FIELDS_END,
};

static const struct field_rule machines_rules[] = {
	{"!has(self.network) || !has(self.bridge)", "bridge stands not beside network"},
	{NULL, NULL},
};

static const struct field libvirt_fields[] = {
	FIELD(provider_object_libvirt, uri, "uri", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "The host, as libvirt names it: qemu:///system; drover run --allow-libvirt names it too."),
	FIELD(provider_object_libvirt, storage_pool, "storagePool", FIELD_STR, .max_len = 128,
	      .def = "\"default\"", .doc = "Pool of libvirt for boot media and new drives."),
	FIELD_PTR(provider_object_libvirt, machines, "machines", machines_fields,
		  .rules = machines_rules,
		  .doc = "Machines that drover defines, and undefines; absent: none."),
	FIELDS_END,
};

static const struct field wipe_fields[] = {
	FIELD_OBJ(provider_object_wipe, floor.minimum_level, "minimumLevel",
		  object_minimum_level_fields, .def = "{}",
		  .doc = "The level of NIST SP 800-88 that each drive must reach to be free."),
	FIELD(provider_object_wipe, floor.minimum_trust, "minimumTrust", FIELD_ENUM,
	      .enums = wipe_trust_names, .def = "\"BootNetwork\"",
	      .doc = "How far the agent that wipes must be believed."),
	FIELD(provider_object_wipe, floor.must_cover, "mustCover", FIELD_STRINGS,
	      .enums = statement_part_names, .max_items = STATEMENT_PARTS,
	      .doc = "Parts beside the drives that each wipe must cover for a machine to be free."),
	FIELD(provider_object_wipe, deadline, "deadline", FIELD_DURATION, .min = 10 * MINUTE,
	      .max = 7 * DAY,
	      .doc = "Longest wipe.  Default: 6h, or what the machine's largest drive takes at 500 MB/s "
		     "(NVMe) or 100 MB/s, up to 168h."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD(provider_object_spec, type, "type", FIELD_ENUM, .enums = provider_object_type_names,
	      .required = true, .immutable = true, .doc = "What it speaks."),
	FIELD(provider_object_spec, paused, "paused", FIELD_BOOL,
	      .doc = "Nothing destructive is started."),
	FIELD_UNKEPT("endpoint", FIELD_STR, .refused = true,
		     .doc = "The one address, where there is one: a cloud's API."),
	FIELD_PTR(provider_object_spec, credentials_secret_ref, "credentialsSecretRef",
		  object_local_secret_fields,
		  .doc = "Secret for all its machines; a Machine's own wins."),
	FIELD_PTR(provider_object_spec, bcm, "bcm", bcm_fields, .rules = bcm_rules,
		  .doc = "Type bcm: NVIDIA Base Command Manager's head node."),
	FIELD_REFUSED("tls", .doc = "How the endpoint's certificate is known."),
	FIELD_PTR(
		provider_object_spec, exec, "exec", machine_exec_fields,
		.doc = "Type exec: the program that switches the machines; drover run --allow-exec names it too."),
	FIELD_PTR(provider_object_spec, ec2, "ec2", provider_object_ec2_fields,
		  .rules = provider_object_ec2_rules,
		  .doc = "Type ec2: where instances are launched, and as what."),
	FIELD_OBJ(provider_object_spec, boot, "boot", boot_fields,
		  .doc = "How the agent is booted."),
	FIELD_OBJ(provider_object_spec, agent, "agent", agent_fields,
		  .doc = "What the agent is told."),
	FIELD_OBJ(provider_object_spec, network, "network", network_fields,
		  .def = "{\"type\":\"none\"}", .rules = network_rules,
		  .doc = "How machines are moved between networks."),
	FIELD_PTR(provider_object_spec, libvirt, "libvirt", libvirt_fields,
		  .doc = "Type libvirt: the host, and the machines that are made there."),
	FIELD_OBJ(provider_object_spec, limits, "limits", limits_fields, .def = "{}",
		  .doc = "How hard it is driven."),
	FIELD_ITEMS(provider_object_spec, instance_types, "instanceTypes", instance_type_fields,
		    .max_items = 64, .list_key = "name",
		    .doc = "What machines are; needed to scale from zero."),
	FIELD_OBJ(provider_object_spec, wipe, "wipe", wipe_fields, .def = "{}",
		  .doc = "The floor for free machines."),
	FIELDS_END,
};

static const struct field_rule spec_rules[] = {
	{"(self.type == 'bcm') == has(self.bcm)", "bcm is for type bcm, which needs it"},
	{"(self.type == 'libvirt') == has(self.libvirt)",
	 "libvirt is needed by type libvirt, and by no other"},
	{"(self.type == 'exec') == has(self.exec)", "exec is needed by type exec, and by no other"},
	{"(self.type == 'ec2') == has(self.ec2)", "ec2 is for type ec2, which needs it"},
	{"!has(self.ec2) || !has(self.ec2.endpoint) || has(self.credentialsSecretRef)",
	 "ec2.endpoint needs credentialsSecretRef"},
	{"self.type != 'ec2' || (!has(self.boot) && !has(self.agent) && (!has(self.network) || self.network.type == 'none'))",
	 "type ec2 has neither boot nor agent nor network"},
	{"self.type == 'ec2' || !has(self.instanceTypes) || self.instanceTypes.all(t, !has(t.efaInterfaces))",
	 "efaInterfaces is for type ec2"},
	{"self.type != 'ec2' || !has(self.instanceTypes) || self.instanceTypes.all(t, !has(t.currency) || self.instanceTypes.all(u, !has(u.currency) || u.currency == t.currency))",
	 "type ec2 has one currency"},
	{"!(self.type in ['libvirt', 'exec']) || !has(self.credentialsSecretRef)",
	 "types libvirt and exec have no credentialsSecretRef"},
	{"self.type != 'libvirt' || !has(self.boot) || !has(self.boot.methods) || !('UefiHttp' in self.boot.methods)",
	 "type libvirt boots by VirtualMedia alone"},
	{NULL, NULL},
};

static const struct field refused_fields[] = {
	FIELD(provider_object_refused, node, "node", FIELD_STR, .required = true,
	      .doc = "Its hostname in BCM."),
	FIELD(provider_object_refused, message, "message", FIELD_STR,
	      .doc = "Why there is no Machine for it."),
	FIELDS_END,
};

static const struct field found_fields[] = {
	FIELD(provider_object_found, version, "version", FIELD_STR, .max_len = 64,
	      .doc = "Of BCM."),
	FIELD(provider_object_found, nodes, "nodes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Nodes that drover may manage."),
	FIELD(provider_object_found, categories, "categories", FIELD_STRINGS, .max_items = 100,
	      .doc = "Names of categories, the first 100."),
	FIELD(provider_object_found, images, "softwareImages", FIELD_STRINGS, .max_items = 100,
	      .doc = "Names of software images, the first 100."),
	FIELD(provider_object_found, networks, "networks", FIELD_STRINGS, .max_items = 100,
	      .doc = "Names of networks, the first 100."),
	FIELD_ITEMS(provider_object_found, refused, "refused", refused_fields, .max_items = 100,
		    .doc = "Nodes that drover leaves alone, the first 100."),
	FIELD(provider_object_found, error, "error", FIELD_STR,
	      .doc = "Why BCM could not be read the last time; absent: it was."),
	FIELDS_END,
};

static const char *const path_sources[] = {"Measured", "Declared", "TooFew", NULL};

static const struct field path_fields[] = {
	FIELD(provider_object_path, instance_type, "instanceType", FIELD_STR, .required = true,
	      .max_len = 128, .doc = "Of machines of this type."),
	FIELD(provider_object_path, from, "from", FIELD_STR, .required = true, .max_len = 32,
	      .doc = "From the entry into this state: claimed to gating until they serve; draining to verifying, and quarantined, until they are free."),
	FIELD(provider_object_path, source, "source", FIELD_ENUM, .enums = path_sources,
	      .doc = "Where p50 and p90 are from: of recent; of spec.instanceTypes[].expected; or there are none, for fewer than three were seen."),
	FIELD(provider_object_path, p50, "p50", FIELD_DURATION, .doc = "Half took no longer."),
	FIELD(provider_object_path, p90, "p90", FIELD_DURATION,
	      .doc = "Nine of ten took no longer."),
	FIELD(provider_object_path, seen, "seen", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "How many were seen, ever."),
	FIELD(provider_object_path, recent, "recent", FIELD_INTS, .max_items = 50,
	      .doc = "Seconds that the last of them took, the newest last."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD(provider_object_status, machines, "machines", FIELD_RESOURCES, .whole = true,
	      .max_items = 64, .doc = "How many machines are in each state."),
	FIELD_PTR(provider_object_status, bcm, "bcm", found_fields,
		  .doc = "What was found at the head node of type bcm."),
	FIELD_ITEMS(
		provider_object_status, paths, "paths", path_fields, .max_items = 1024,
		.doc = "How long machines took lately, for estimates; kept here over restarts."),
	CONDITIONS_ROW(provider_object_status,
		       "Ready, Isolating, Paused, LineStopped, and of a cloud Offering."),
	FIELDS_END,
};

const struct field provider_object_fields[] = {
	META_ROW(provider_object),
	FIELD_OBJ(provider_object, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "What is wanted."),
	FIELD_OBJ(provider_object, status, "status", status_fields, .doc = "What is."),
	FIELDS_END,
};

const struct object_column provider_object_columns[] = {
	{"Type", "string", ".spec.type", 0},
	{"Free", "integer", ".status.machines.free", 0},
	{"Serving", "integer", ".status.machines.serving", 0},
	{"Quarantined", "integer", ".status.machines.quarantined", 0},
	{"Paused", "boolean", ".spec.paused", 0},
	{"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"Network", "string", ".spec.network.type", 1},
	{NULL, NULL, NULL, 0},
};

static int check_networks(const struct strings *s, const char *field, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (!address_is_network(s->v[i]))
			return err_set(e, ERR_INVALID, 0,
				       "%s[%zu]: want a network such as 10.1.0.0/24, got \"%s\"",
				       field, i, s->v[i]);
	return 0;
}

/* A cluster of ours that was taken for a tenant's, or the other way round. */
static int check_netris(const struct provider_object_network *n, struct err *e)
{
	const char *const names[] = {n->segments.quarantine, n->segments.provisioning};
	const char *const fields[] = {"quarantine", "provisioning"};
	size_t len = strlen(n->netris->prefix);

	for (size_t i = 0; i < 2; i++)
		if (!strncmp(names[i], n->netris->prefix, len) && names[i][len] == '-')
			return err_set(
				e, ERR_INVALID, 0,
				"spec.network.segments.%s: names that begin with \"%s-\" are tenants', got \"%s\"",
				fields[i], n->netris->prefix, names[i]);
	return 0;
}

static int check_libvirt(const struct provider_object_spec *s, struct err *e)
{
	const struct provider_object_machines *m = s->libvirt ? s->libvirt->machines : NULL;

	if (s->type != PROVIDER_TYPE_LIBVIRT)
		return s->libvirt
			       ? err_set(e, ERR_INVALID, 0, "spec.libvirt: of type libvirt alone")
			       : 0;
	if (!s->libvirt)
		return err_set(e, ERR_INVALID, 0, "spec.libvirt: required by type libvirt");
	if (s->credentials_secret_ref)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.credentialsSecretRef: type libvirt has none; it is let in by its socket's owner, its certificate or its ssh key");
	for (size_t i = 0; i < s->boot.methods.n; i++)
		if (!str_eq(s->boot.methods.v[i], "VirtualMedia"))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.boot.methods[%zu]: type libvirt boots by VirtualMedia alone",
				i);
	if (m && m->network && m->bridge)
		return err_set(e, ERR_INVALID, 0,
			       "spec.libvirt.machines.bridge: not beside network");
	if (m && quantity_floor(m->memory) < 256 << 20)
		return err_set(e, ERR_INVALID, 0,
			       "spec.libvirt.machines.memory: want 256Mi or more");
	for (size_t i = 0; m && i < m->drives.n; i++)
		if (quantity_floor(m->drives.v[i].size) < 1 << 20)
			return err_set(e, ERR_INVALID, 0,
				       "spec.libvirt.machines.drives[%zu].size: want 1Mi or more",
				       i);
	return 0;
}

static int check_exec(const struct provider_object_spec *s, struct err *e)
{
	if ((s->type == PROVIDER_TYPE_EXEC) != !!s->exec)
		return err_set(e, ERR_INVALID, 0, "spec.exec: %s type exec",
			       s->exec ? "is for" : "required by");
	if (s->exec && s->credentials_secret_ref)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.credentialsSecretRef: type exec has none; its program has its own");
	return 0;
}

static int check_prices(const struct provider_object_spec *s, struct err *e)
{
	for (size_t i = 0; i < s->instance_types.n; i++) {
		const struct provider_object_instance_type *t = &s->instance_types.v[i];

		if (!t->price_per_hour != !t->currency)
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].%s: required by %s", i,
				       t->currency ? "pricePerHour" : "currency",
				       t->currency ? "currency" : "pricePerHour");
		if ((t->spot_price_per_hour || t->reserved_price_per_hour) && !t->currency)
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].currency: required by %s", i,
				       t->spot_price_per_hour ? "spotPricePerHour"
							      : "reservedPricePerHour");
		if (t->currency && !money_is_currency(t->currency))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.instanceTypes[%zu].currency: want a code of ISO 4217, got \"%s\"",
				i, t->currency);
	}
	return 0;
}

int provider_object_check(const void *object, const void *old, struct err *e)
{
	const struct provider_object *p = object, *o = old;
	const struct provider_object_spec *s = &p->spec;
	const struct provider_object_network *n = &s->network;

	if (object_name_check(&p->meta, 63, e) < 0)
		return -1;
	if (o && o->spec.type != s->type)
		return err_set(e, ERR_INVALID, 0, "spec.type: is immutable, was %s, got %s",
			       provider_object_type_names[o->spec.type],
			       provider_object_type_names[s->type]);
	if ((s->type == PROVIDER_TYPE_BCM) != !!s->bcm)
		return err_set(e, ERR_INVALID, 0, "spec.bcm: %s type bcm",
			       s->bcm ? "is for" : "required by");
	if (s->bcm && (object_tls_check(&s->bcm->tls, true, "spec.bcm.tls", e) < 0 ||
		       check_networks(&s->bcm->bmc_networks, "spec.bcm.bmcNetworks", e) < 0))
		return -1;
	if (s->bcm && s->bcm->tls.trust_on_first_use)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.bcm.tls.trustOnFirstUse: is not for head nodes, want fingerprint or caSecretRef");
	if (check_libvirt(s, e) < 0 || check_exec(s, e) < 0 || check_prices(s, e) < 0 ||
	    provider_object_ec2_check(s, e) < 0)
		return -1;
	if (n->type == FABRIC_EXEC && !n->exec)
		return err_set(e, ERR_INVALID, 0, "spec.network.exec: required by type exec");
	if (n->type == FABRIC_NETRIS && !n->netris)
		return err_set(e, ERR_INVALID, 0, "spec.network.netris: required by type netris");
	if (n->type != FABRIC_NONE && !n->segments.quarantine)
		return err_set(e, ERR_INVALID, 0,
			       "spec.network.segments: required unless type is none");
	if (n->type == FABRIC_NETRIS && check_netris(n, e) < 0)
		return -1;
	if (n->type == FABRIC_NONE && n->probe.quarantine.n + n->probe.provisioning.n)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.network.probe: type none keeps nothing apart that could be proved");
	if (object_probes_check(&n->probe.quarantine, "spec.network.probe.quarantine", e) < 0 ||
	    object_probes_check(&n->probe.provisioning, "spec.network.probe.provisioning", e) < 0)
		return -1;
	if (s->boot.https_media_url &&
	    (!s->boot.media_url || str_starts(s->boot.media_url, "https:")))
		return err_set(
			e, ERR_INVALID, 0,
			"spec.boot.httpsMediaURL: stands beside a mediaURL of http, for BMCs that take HTTPS; "
			"where all of them do, mediaURL alone is https");
	if (check_networks(&s->boot.proxies, "spec.boot.proxies", e) < 0 ||
	    check_networks(&s->agent.networks, "spec.agent.networks", e) < 0 ||
	    check_networks(&s->agent.proxies, "spec.agent.proxies", e) < 0)
		return -1;
	return 0;
}
