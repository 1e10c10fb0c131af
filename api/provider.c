#include <string.h>

#include "base/address.h"
#include "base/str.h"
#include "api/tables.h"

/*
 * provider: field table and checks of the kind Provider: a source of machines.
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
	      .max_items = 32,
	      .doc = "Program and its arguments. drover runs the program "
		     "without a shell."),
	FIELDS_END,
};

static const struct field machine_exec_fields[] = {
	FIELD(provider_object_exec, command, "command", FIELD_STRINGS, .required = true,
	      .max_items = 32,
	      .doc = "Program and its arguments. drover runs the program "
		     "without a shell."),
	FIELD(provider_object_exec, elastic, "elastic", FIELD_BOOL,
	      .doc = "Whether the program launches and ends cloud instances. If false or not set, "
		     "the program powers owned machines on and off."),
	FIELDS_END,
};

static const struct field netris_tls_fields[] = {
	FIELD_IN(provider_object_netris, tls, fingerprint, "fingerprint", FIELD_STR, AS_DIGEST,
		 .doc = "SHA-256 digest of the server certificate."),
	{.name = "caSecretRef",
	 .type = FIELD_OBJECT_PTR,
	 .offset = offsetof(struct provider_object_netris, tls.ca_secret_ref) -
		   offsetof(struct provider_object_netris, tls),
	 .sub = object_local_secret_fields,
	 .size = sizeof(struct object_secret_ref),
	 .doc = "Secret with the CA certificate under ca.crt."},
	FIELDS_END,
};

static const struct field netris_fields[] = {
	FIELD(provider_object_netris, endpoint, "endpoint", FIELD_STR, .required = true, AS_HTTPS,
	      .doc = "URL of the Netris controller."),
	FIELD_OBJ(provider_object_netris, credentials_secret_ref, "credentialsSecretRef",
		  object_name_ref_fields, .required = true,
		  .doc = "Secret in the namespace of drover with the keys username, password and "
			 "endpoint. The password is sent only if endpoint in the Secret equals "
			 "spec.network.netris.endpoint."),
	FIELD_OBJ(
		provider_object_netris, tls, "tls", netris_tls_fields,
		.doc = "Verification of the controller's certificate. If not set, the system's CAs "
		       "are trusted."),
	FIELD(provider_object_netris, site, "site", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "Name of the site in Netris. The servers of the site must have the same names "
		     "as the Machines."),
	FIELD(provider_object_netris, template_, "template", FIELD_STR, .required = true,
	      .max_len = 128,
	      .doc = "Name of the server-cluster template from which tenants' server clusters "
		     "are created."),
	FIELD(provider_object_netris, admin, "admin", FIELD_STR, .max_len = 128, .def = "\"Admin\"",
	      .doc = "Netris tenant that owns the servers and to which drover's user belongs."),
	FIELD(provider_object_netris, prefix, "prefix", FIELD_STR, AS_LABEL, .def = "\"drover\"",
	      .doc = "Prefix of the names of all objects that drover creates in Netris. Each "
		     "installation of drover needs its own prefix."),
	FIELD(provider_object_netris, host_servers, "hostServers", FIELD_STRINGS, .max_items = 64,
	      .max_len = 128,
	      .doc = "Names of the servers that host the tenants' control planes. When drover "
		     "creates a tenant's server cluster, it adds these servers to the cluster as "
		     "shared servers."),
	FIELD(provider_object_netris, common_vnets, "commonVnets", FIELD_STRINGS, .max_items = 64,
	      .max_len = 128,
	      .doc = "Names of V-nets, such as the V-nets of BMCs or of management, that may "
		     "contain machines' ports in addition to the V-nets of the segment. Ports in "
		     "these V-nets do not weaken the network proof."),
	FIELDS_END,
};

static const struct field segments_fields[] = {
	FIELD_IN(provider_object_network, segments, quarantine, "quarantine", FIELD_STR,
		 .required = true, .max_len = 253,
		 .doc = "Name of the quarantine segment. The network must let machines in this "
			"segment reach only the agent endpoint and DHCP, and not one another."),
	FIELD_IN(provider_object_network, segments, provisioning, "provisioning", FIELD_STR,
		 .required = true, .max_len = 253,
		 .doc = "Name of the provisioning segment. The network must let machines in this "
			"segment reach only the agent endpoint, DHCP and the images, and not one "
			"another."),
	FIELDS_END,
};

static const struct field probe_fields[] = {
	FIELD_IN(
		provider_object_network, probe, quarantine, "quarantine", FIELD_STRINGS, AS_PROBES,
		.doc = "Addresses that answer only machines in the quarantine segment, such as its "
		       "gateway. drover has machines probe these addresses, to find out in which "
		       "segment their ports are."),
	FIELD_IN(provider_object_network, probe, provisioning, "provisioning", FIELD_STRINGS,
		 AS_PROBES,
		 .doc = "Addresses that answer only machines in the provisioning segment, such as "
			"its gateway. drover has machines probe these addresses, to find out in "
			"which segment their ports are."),
	FIELDS_END,
};

static const struct field network_fields[] = {
	FIELD(provider_object_network, type, "type", FIELD_ENUM,
	      .enums = provider_object_fabric_names, .def = "\"none\"",
	      .doc = "Backend that moves the machines' switch ports. none: ports are not moved, "
		     "and machines are not isolated by the network."),
	FIELD_PTR(provider_object_network, exec, "exec", exec_fields,
		  .doc = "Program that moves ports. Required for type exec."),
	FIELD_PTR(provider_object_network, netris, "netris", netris_fields,
		  .doc = "Netris controller that moves ports. Required for type netris."),
	FIELD_OBJ(provider_object_network, segments, "segments", segments_fields,
		  .doc = "Names of drover's own network segments. Required unless type is none."),
	FIELD_OBJ(provider_object_network, probe, "probe", probe_fields, .def = "{}",
		  .doc = "Addresses that machines probe to prove in which network segment their "
			 "switch ports are. An address without a port is probed by ICMP echo, one "
			 "with a port by TCP."),
	FIELDS_END,
};
static const struct field_rule network_rules[] = {
	{"self.type != 'exec' || has(self.exec)", "type exec requires exec"},
	{"self.type != 'netris' || has(self.netris)", "type netris requires netris"},
	{"self.type == 'none' || has(self.segments)", "segments is required unless type is none"},
	{NULL, NULL},
};

/* Networks from which callers are accepted, as ADDRESS/PREFIX. check_networks() also checks that no
 * bit beyond the prefix is set. */
#define AS_NETWORKS                                                                                \
	.max_items = 32, .max_len = 48, .pattern = "^[0-9a-fA-F.:]+/[0-9]{1,3}$",                  \
	.valid = object_is_network, .want = "a network such as 10.1.0.0/24"

static const struct field boot_fields[] = {
	FIELD_IN(provider_object_spec, boot, methods, "methods", FIELD_STRINGS,
		 .enums = boot_method_names, .max_items = 2,
		 .doc = "Methods to boot the agent, tried in this order. If not set, the methods "
			"that the BMC supports."),
	FIELD_IN(provider_object_spec, boot, media_url, "mediaURL", FIELD_STR, AS_HTTP,
		 .doc = "URL at which BMCs, and firmware that boots by HTTP, fetch boot media "
			"from drover. If it is an https URL, boot media are served over TLS "
			"only. Required unless the Provider has only cloud instances: without "
			"it, machines wait with the reason ProviderNotReady."),
	FIELD_IN(provider_object_spec, boot, https_media_url, "httpsMediaURL", FIELD_STR, AS_HTTPS,
		 .doc = "URL at which BMCs fetch boot media from drover over TLS. Only for BMCs "
			"that list HTTPS for virtual media or have refused plain HTTP. All other "
			"BMCs, and HTTP boot, use spec.boot.mediaURL, which must then be an http "
			"URL."),
	FIELD_IN(provider_object_spec, boot, proxies, "proxies", FIELD_STRINGS, AS_NETWORKS,
		 .doc = "Networks whose addresses may fetch boot media for any BMC or machine: NAT "
			"gateways, HTTP proxies, or second addresses of BMCs."),
	FIELDS_END,
};

static const struct field agent_fields[] = {
	FIELD_IN(provider_object_spec, agent, endpoint, "endpoint", FIELD_STR, AS_HTTPS,
		 .doc = "URL at which agents reach drover from the quarantine and provisioning "
			"segments. Required unless the Provider has only cloud instances: "
			"without it, machines wait with the reason ProviderNotReady."),
	FIELD_IN(provider_object_spec, agent, networks, "networks", FIELD_STRINGS, AS_NETWORKS,
		 .doc = "Networks from which agents may connect, besides the networks in "
			"spec.agent.proxies. drover compares the source address that it sees, so "
			"behind NAT list the translated addresses. If not set, agents may connect "
			"from any address. A Machine's spec.provisioning.address replaces this "
			"list for the agent of that machine."),
	FIELD_IN(provider_object_spec, agent, proxies, "proxies", FIELD_STRINGS, AS_NETWORKS,
		 .doc = "Networks of NAT gateways or proxies through which agents connect. Several "
			"machines may share an address in these networks."),
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
	      .doc = "Key of the Machine label that groups machines into domains, such as "
		     "topology.drover.dev/rack."),
	FIELD(per_domain, concurrent, "concurrent", FIELD_I64, .required = true, .min = 1,
	      .max = 10000,
	      .doc = "Highest number of machines of one domain that are being switched on at "
		     "one time. A machine counts until drover sees it on, but for at most 3 "
		     "minutes."),
	FIELDS_END,
};

static const struct field_rule bcm_rules[] = {
	{"has(self.tls)", "an https endpoint requires tls"},
	{NULL, NULL},
};
static const struct field bcm_fields[] = {
	FIELD(provider_object_bcm, endpoint, "endpoint", FIELD_STR, .required = true, AS_HTTPS,
	      .doc = "URL of the head node's CMDaemon, such as https://head:8081."),
	FIELD_OBJ(provider_object_bcm, tls, "tls", object_tls_fields, .rules = object_tls_rules,
		  .doc = "Verification of the head node's certificate. trustOnFirstUse is not "
			 "allowed."),
	FIELD_PTR(
		provider_object_bcm, credentials_secret_ref, "credentialsSecretRef",
		object_local_secret_fields, .required = true,
		.doc = "Secret with tls.crt and tls.key of a BCM certificate, or with username and "
		       "password. The Secret's entry endpoint must equal spec.bcm.endpoint; drover "
		       "sends the credentials only to this URL."),
	FIELD(provider_object_bcm, management_network, "managementNetwork", FIELD_STR,
	      .max_len = 63,
	      .doc = "BCM network in which nodes are installed. If not set, the network that is "
		     "configured for the node in BCM."),
	FIELD(provider_object_bcm, clear_block_devices, "clearBlockDevices", FIELD_STRINGS,
	      .max_items = 32, .max_len = 128,
	      .doc = "Block devices, such as /dev/nvme1n1, that an installation clears in addition "
		     "to the devices in the node's disk layout in BCM."),
	FIELD(provider_object_bcm, bmc_networks, "bmcNetworks", FIELD_STRINGS, AS_NETWORKS,
	      .doc = "Networks of the BMCs. drover creates Machines only for BCM nodes whose BMC "
		     "has an address in one of these networks, because drover sends the BMC "
		     "password to this address. If not set, drover creates no Machines."),
	FIELD(provider_object_bcm, no_progress, "noProgress", FIELD_DURATION, .min = MINUTE,
	      .max = DAY, .def = "\"15m\"",
	      .doc = "Longest time in which an installation may report no progress. Afterwards the "
		     "NodeClaim fails."),
	FIELD(provider_object_bcm, max_machines, "maxMachines", FIELD_I64, .min = 1, .max = 100000,
	      .def = "1000",
	      .doc = "Number of Machines of this Provider at which drover stops creating Machines "
		     "for BCM nodes."),
	FIELDS_END,
};

static const struct field limits_fields[] = {
	FIELD(provider_object_limits, requests_per_second, "requestsPerSecond", FIELD_I64, .min = 1,
	      .max = 10000,
	      .doc = "Highest number of calls per second to all BMCs, or to the API of the "
		     "backend. If not set: 1000 for types redfish and bcm, 5 for type ec2, "
		     "otherwise 50."),
	FIELD(provider_object_limits, concurrent_operations, "concurrentOperations", FIELD_I64,
	      .min = 1, .max = 10000,
	      .doc = "Highest number of calls to all BMCs, or to the API of the backend, that are "
		     "in progress at one time. Calls that take longer than 3 s are counted "
		     "separately, with the same limit. If not set: 1024 for types redfish and bcm, "
		     "otherwise 64. Has no effect for type ec2."),
	FIELD(provider_object_limits, power_on_per_minute, "powerOnPerMinute", FIELD_I64, .min = 1,
	      .max = 10000, .def = "30",
	      .doc = "Highest number of this Provider's machines that drover switches on per "
		     "minute."),
	FIELD_OBJ(provider_object_limits, per_domain, "perDomain", per_domain_fields,
		  .doc = "Limit on how many machines of one domain (a rack, power feed or other "
			 "group) are being switched on at one time. Applies in addition to "
			 "spec.limits.powerOnPerMinute."),
	FIELDS_END,
};

static const struct field drive_fields[] = {
	FIELD(provider_object_drive, size, "size", FIELD_QUANTITY, .required = true,
	      .doc = "Capacity of the drive, such as 8Gi."),
	FIELD(provider_object_drive, bus, "bus", FIELD_ENUM, .enums = drive_bus_names,
	      .def = "\"sata\"",
	      .doc = "Bus of the drive. For nvme, the QEMU process must have the right to open the "
		     "volume's file, as it has with qemu:///session."),
	FIELDS_END,
};

static const struct field machines_fields[] = {
	FIELD(provider_object_machines, count, "count", FIELD_I64, .required = true, .min = 0,
	      .max = MACHINES_MAX,
	      .doc = "Number of virtual machines, named PROVIDER-0, PROVIDER-1 and so on. "
		     "Machines beyond this number are removed once no tenant uses them."),
	FIELD(provider_object_machines, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Name of an entry of the Provider's spec.instanceTypes."),
	FIELD(provider_object_machines, cpus, "cpus", FIELD_I64, .min = 1, .max = 1024, .def = "2",
	      .doc = "Number of virtual CPUs of each machine."),
	FIELD(provider_object_machines, accelerator, "accelerator", FIELD_ENUM,
	      .enums = accelerator_names,
	      .doc = "CPU virtualization. kvm: hardware virtualization. none: QEMU emulates the "
		     "CPU. If not set, kvm if the host supports it."),
	FIELD(provider_object_machines, memory, "memory", FIELD_QUANTITY, .def = "\"3Gi\"",
	      .doc = "Memory of each machine."),
	FIELD_ITEMS(provider_object_machines, drives, "drives", drive_fields, .max_items = 8,
		    .doc = "Drives of each machine, created as volumes in "
			   "spec.libvirt.storagePool."),
	FIELD(provider_object_machines, network, "network", FIELD_STR, .max_len = 128,
	      .doc = "libvirt network to which the machines are attached. If neither the field "
		     "network nor the field bridge is set, QEMU's user network is used."),
	FIELD(provider_object_machines, bridge, "bridge", FIELD_STR, .max_len = 15,
	      .doc = "Bridge of the host to which the machines are attached."),
	FIELDS_END,
};

static const struct field_rule machines_rules[] = {
	{"!has(self.network) || !has(self.bridge)", "network and bridge are mutually exclusive"},
	{NULL, NULL},
};

static const struct field libvirt_fields[] = {
	FIELD(provider_object_libvirt, uri, "uri", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "libvirt connection URI of the host, such as qemu:///system. \"drover run "
		     "--allow-libvirt\" must allow the same URI."),
	FIELD(provider_object_libvirt, storage_pool, "storagePool", FIELD_STR, .max_len = 128,
	      .def = "\"default\"", .doc = "libvirt storage pool for boot media and drives."),
	FIELD_PTR(provider_object_libvirt, machines, "machines", machines_fields,
		  .rules = machines_rules,
		  .doc = "Virtual machines that drover defines and undefines on the host. If not "
			 "set, drover defines no virtual machines."),
	FIELDS_END,
};

static const struct field wipe_fields[] = {
	FIELD_OBJ(
		provider_object_wipe, floor.minimum_level, "minimumLevel",
		object_minimum_level_fields, .def = "{}",
		.doc = "Lowest level of NIST SP 800-88 that a wipe must reach on each drive before "
		       "the machine is free."),
	FIELD(provider_object_wipe, floor.minimum_trust, "minimumTrust", FIELD_ENUM,
	      .enums = wipe_trust_names, .def = "\"BootNetwork\"",
	      .doc = "Lowest trust level that the agent (the program that wipes machines) must "
		     "have at the wipe. BootNetwork: the agent connected over the provisioning "
		     "network, and no hardware measured its boot. SecureBoot and Quote: no agent "
		     "of this version reaches these levels, so each wiped machine is quarantined."),
	FIELD(provider_object_wipe, floor.must_cover, "mustCover", FIELD_STRINGS,
	      .enums = statement_part_names, .max_items = STATEMENT_PARTS,
	      .doc = "Parts of the machine, besides its drives, that a wipe must cover before the "
		     "machine is free."),
	FIELD(provider_object_wipe, deadline, "deadline", FIELD_DURATION, .min = 10 * MINUTE,
	      .max = 7 * DAY,
	      .doc = "Longest time for a wipe. Afterwards the machine is quarantined. If not set, "
		     "6h, or the time that the largest drive needs at 500 MB/s (NVMe) or 100 MB/s "
		     "(other drives) if that is longer, but at most 168h."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD(provider_object_spec, type, "type", FIELD_ENUM, .enums = provider_object_type_names,
	      .required = true, .immutable = true,
	      .doc = "Protocol or product through which machines are operated."),
	FIELD(provider_object_spec, paused, "paused", FIELD_BOOL,
	      .doc = "Whether the Provider is paused: drover starts nothing that changes its "
		     "machines. Exception: a cloud instance is still ended when its BurstPolicy "
		     "no longer pays for it."),
	FIELD_UNKEPT("endpoint", FIELD_STR, .refused = true,
		     .doc = "Not supported yet: URL of a cloud's API."),
	FIELD_PTR(provider_object_spec, credentials_secret_ref, "credentialsSecretRef",
		  object_local_secret_fields,
		  .doc = "Secret with username and password for all BMCs, or with the cloud's "
			 "credentials. spec.bmc.credentialsSecretRef of a Machine takes precedence "
			 "for its BMC."),
	FIELD_PTR(provider_object_spec, bcm, "bcm", bcm_fields, .rules = bcm_rules,
		  .doc = "Head node of NVIDIA Base Command Manager. Required for type bcm."),
	FIELD_REFUSED("tls",
		      .doc = "Not supported yet: verification of the endpoint's certificate."),
	FIELD_PTR(provider_object_spec, exec, "exec", machine_exec_fields,
		  .doc = "Program that operates the machines. Required for type exec. \"drover run "
			 "--allow-exec\" must allow the same program."),
	FIELD_PTR(provider_object_spec, ec2, "ec2", provider_object_ec2_fields,
		  .rules = provider_object_ec2_rules,
		  .doc = "Settings for launching EC2 instances. Required for type ec2."),
	FIELD_OBJ(provider_object_spec, boot, "boot", boot_fields,
		  .doc = "How machines boot the agent."),
	FIELD_OBJ(provider_object_spec, agent, "agent", agent_fields,
		  .doc = "How agents reach drover."),
	FIELD_OBJ(provider_object_spec, network, "network", network_fields,
		  .def = "{\"type\":\"none\"}", .rules = network_rules,
		  .doc = "How machines are moved between network segments."),
	FIELD_PTR(provider_object_spec, libvirt, "libvirt", libvirt_fields,
		  .doc = "libvirt host and the virtual machines on it. Required for type libvirt."),
	FIELD_OBJ(provider_object_spec, limits, "limits", limits_fields, .def = "{}",
		  .doc = "Rate and concurrency limits for this Provider."),
	FIELD_ITEMS(provider_object_spec, instance_types, "instanceTypes",
		    provider_object_type_fields, .max_items = 64, .list_key = "name",
		    .doc = "Instance types of the Provider's machines. A Machine becomes free "
			   "only if its spec.instanceType is the name of one of them."),
	FIELD_OBJ(provider_object_spec, wipe, "wipe", wipe_fields, .def = "{}",
		  .doc = "Minimum requirements for each wipe. If a wipe does not meet them, drover "
			 "quarantines the machine."),
	FIELDS_END,
};

static const struct field_rule spec_rules[] = {
	{"(self.type == 'bcm') == has(self.bcm)", "bcm must be set for type bcm, and only for it"},
	{"(self.type == 'libvirt') == has(self.libvirt)",
	 "libvirt must be set for type libvirt, and only for it"},
	{"(self.type == 'exec') == has(self.exec)",
	 "exec must be set for type exec, and only for it"},
	{"(self.type == 'ec2') == has(self.ec2)", "ec2 must be set for type ec2, and only for it"},
	{"!has(self.ec2) || !has(self.ec2.endpoint) || has(self.credentialsSecretRef)",
	 "ec2.endpoint requires credentialsSecretRef"},
	{"self.type != 'ec2' || (!has(self.boot) && !has(self.agent) && "
	 "(!has(self.network) || self.network.type == 'none'))",
	 "boot, agent and network must not be set for type ec2"},
	{"self.type == 'ec2' || !has(self.instanceTypes) || "
	 "self.instanceTypes.all(t, !has(t.efaInterfaces))",
	 "efaInterfaces is allowed only for type ec2"},
	{"self.type == 'ec2' || (has(self.exec) && has(self.exec.elastic) && self.exec.elastic) || "
	 "!has(self.instanceTypes) || self.instanceTypes.all(t, !has(t.interconnect))",
	 "interconnect is allowed only for types ec2 and exec with exec.elastic"},
	{"self.type != 'ec2' || !has(self.instanceTypes) || self.instanceTypes.all(t, "
	 "!has(t.interconnect) || t.interconnect == 'None' || "
	 "(t.interconnect == 'Efa' && has(t.efaInterfaces)))",
	 "for type ec2, interconnect must be None, or Efa with efaInterfaces"},
	{"self.type != 'ec2' || !has(self.instanceTypes) || "
	 "self.instanceTypes.all(t, !has(t.currency) || self.instanceTypes.all(u, "
	 "!has(u.currency) || u.currency == t.currency))",
	 "all instanceTypes of type ec2 must have the same currency"},
	{"!(self.type in ['libvirt', 'exec']) || !has(self.credentialsSecretRef)",
	 "credentialsSecretRef must not be set for types libvirt and exec"},
	{"self.type != 'libvirt' || !has(self.boot) || !has(self.boot.methods) || "
	 "!('UefiHttp' in self.boot.methods)",
	 "boot.methods of type libvirt must be VirtualMedia"},
	{NULL, NULL},
};

static const struct field refused_fields[] = {
	FIELD(provider_object_refused, node, "node", FIELD_STR, .required = true,
	      .doc = "Hostname of the node in BCM."),
	FIELD(provider_object_refused, message, "message", FIELD_STR,
	      .doc = "Why drover has created no Machine for the node."),
	FIELDS_END,
};

static const struct field found_fields[] = {
	FIELD(provider_object_found, version, "version", FIELD_STR, .max_len = 64,
	      .doc = "Version of BCM."),
	FIELD(provider_object_found, nodes, "nodes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of BCM nodes found that drover may manage."),
	FIELD(provider_object_found, categories, "categories", FIELD_STRINGS, .max_items = 100,
	      .doc = "Names of the categories in BCM, at most 100."),
	FIELD(provider_object_found, images, "softwareImages", FIELD_STRINGS, .max_items = 100,
	      .doc = "Names of the software images in BCM, at most 100."),
	FIELD(provider_object_found, networks, "networks", FIELD_STRINGS, .max_items = 100,
	      .doc = "Names of the networks in BCM, at most 100."),
	FIELD_ITEMS(provider_object_found, refused, "refused", refused_fields, .max_items = 100,
		    .doc = "BCM nodes that drover does not manage, at most 100."),
	FIELD(provider_object_found, error, "error", FIELD_STR,
	      .doc = "Error of the last attempt to read from BCM. Not set if the last attempt "
		     "succeeded."),
	FIELDS_END,
};

static const char *const path_sources[] = {"Measured", "Declared", "TooFew", NULL};

static const struct field path_fields[] = {
	FIELD(provider_object_path, instance_type, "instanceType", FIELD_STR, .required = true,
	      .max_len = 128, .doc = "Instance type of the measured machines."),
	FIELD(provider_object_path, from, "from", FIELD_STR, .required = true, .max_len = 32,
	      .doc = "Machine state from whose beginning the time is measured. For the states "
		     "claimed to gating, the time ends when the machine serves. For the states "
		     "draining to verifying, and for quarantined, the time ends when the machine "
		     "is free."),
	FIELD(provider_object_path, source, "source", FIELD_ENUM, .enums = path_sources,
	      .doc = "Source of p50 and p90. Measured: computed from the field recent. Declared: "
		     "from spec.instanceTypes[].expected. TooFew: none, because fewer than three "
		     "machines were measured."),
	FIELD(provider_object_path, p50, "p50", FIELD_DURATION,
	      .doc = "50th percentile: half of the machines took no longer. Equal to p90 if "
		     "source is Declared. Not set if source is TooFew."),
	FIELD(provider_object_path, p90, "p90", FIELD_DURATION,
	      .doc = "90th percentile: nine of ten machines took no longer. Not set if source "
		     "is TooFew."),
	FIELD(provider_object_path, seen, "seen", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of measurements so far. The last 50 are in the field recent."),
	FIELD(provider_object_path, recent, "recent", FIELD_INTS, .max_items = 50,
	      .doc = "Last measured times in seconds, newest last."),
	FIELDS_END,
};

static const struct field refusal_fields[] = {
	FIELD(provider_object_refusal, region, "region", FIELD_STR, .max_len = 63,
	      .doc = "Region of the refused offers. Not set: all regions."),
	FIELD(provider_object_refusal, zone, "zone", FIELD_STR, .max_len = 63,
	      .doc = "Zone of the refused offers. Not set: all zones."),
	FIELD(provider_object_refusal, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Instance type of the refused offers. Not set: all types."),
	FIELD(provider_object_refusal, quota, "quota", FIELD_BOOL,
	      .doc = "True if a quota of the account is used up."),
	FIELD(provider_object_refusal, message, "message", FIELD_STR, .required = true,
	      .doc = "Reply of the cloud."),
	FIELD(provider_object_refusal, at, "time", FIELD_TIME, .required = true,
	      .doc = "Time of the refusal. The cooldowns of BurstPolicies begin then."),
	FIELD(provider_object_refusal, until, "until", FIELD_TIME, .required = true,
	      .doc = "drover launches no such offer before this time."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD(provider_object_status, machines, "machines", FIELD_RESOURCES, .whole = true,
	      .max_items = 64,
	      .doc = "Number of machines in each state. A state without machines is left out, "
		     "except free, serving and quarantined."),
	FIELD_PTR(provider_object_status, bcm, "bcm", found_fields,
		  .doc = "What drover found on the BCM head node. Set for type bcm."),
	FIELD_ITEMS(
		provider_object_status, paths, "paths", path_fields, .max_items = 1024,
		.doc = "Measured durations until a machine serves, or is free again. drover "
		       "estimates expected times from these durations, and stores the durations "
		       "here so that they survive restarts."),
	FIELD_ITEMS(provider_object_status, refusals, "refusals", refusal_fields, .max_items = 64,
		    .doc = "Offers that the cloud refused, at most 64. Of each scope the newest "
			   "refusal. They are stored so that they survive restarts."),
	CONDITIONS_ROW(
		provider_object_status,
		"Conditions: Ready (drover can operate the Provider's machines); "
		"Isolating (the network can isolate machines, and drover can "
		"prove that it does); Paused (spec.paused is set); LineStopped "
		"(new NodeClaims wait because NodeClaims failed repeatedly); "
		"Offering, for clouds (all instance types are available); Stalled (Ready is False "
		"until an operator changes the Provider or what it refers to); Valid "
		"(drover can use spec; absent until drover first refuses spec)."),
	FIELDS_END,
};

const struct field provider_object_fields[] = {
	META_ROW(provider_object),
	FIELD_OBJ(provider_object, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "Desired state of the Provider."),
	FIELD_OBJ(provider_object, status, "status", status_fields,
		  .doc = "Observed state of the Provider."),
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

/* Checks that the names of drover's own segments (quarantine, provisioning) do not begin with
 * "PREFIX-" as the names of tenants' server clusters do, so that neither can be mistaken for the
 * other. */
static int check_netris(const struct provider_object_network *n, struct err *e)
{
	const char *const names[] = {n->segments.quarantine, n->segments.provisioning};
	const char *const fields[] = {"quarantine", "provisioning"};
	size_t len = strlen(n->netris->prefix);

	for (size_t i = 0; i < 2; i++)
		if (!strncmp(names[i], n->netris->prefix, len) && names[i][len] == '-')
			return err_set(
				e, ERR_INVALID, 0,
				"spec.network.segments.%s: names that begin with \"%s-\" are "
				"reserved for tenants, got \"%s\"",
				fields[i], n->netris->prefix, names[i]);
	return 0;
}

static int check_libvirt(const struct provider_object_spec *s, struct err *e)
{
	const struct provider_object_machines *m = s->libvirt ? s->libvirt->machines : NULL;

	if (s->type != PROVIDER_TYPE_LIBVIRT)
		return s->libvirt ? err_set(e, ERR_INVALID, 0,
					    "spec.libvirt: allowed only for type libvirt")
				  : 0;
	if (!s->libvirt)
		return err_set(e, ERR_INVALID, 0, "spec.libvirt: required for type libvirt");
	if (s->credentials_secret_ref)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.credentialsSecretRef: not allowed for type libvirt; access is by the "
			"owner of the socket, a certificate or an SSH key");
	for (size_t i = 0; i < s->boot.methods.n; i++)
		if (!str_eq(s->boot.methods.v[i], "VirtualMedia"))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.boot.methods[%zu]: type libvirt supports only VirtualMedia",
				i);
	if (m && m->network && m->bridge)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.libvirt.machines.bridge: must not be set together with network");
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
			       s->exec ? "allowed only for" : "required for");
	if (s->exec && s->credentials_secret_ref)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.credentialsSecretRef: not allowed for type exec; its program has its "
			"own credentials");
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
			       s->bcm ? "allowed only for" : "required for");
	if (s->bcm && (object_tls_check(&s->bcm->tls, true, "spec.bcm.tls", e) < 0 ||
		       check_networks(&s->bcm->bmc_networks, "spec.bcm.bmcNetworks", e) < 0))
		return -1;
	if (s->bcm && s->bcm->tls.trust_on_first_use)
		return err_set(e, ERR_INVALID, 0,
			       "spec.bcm.tls.trustOnFirstUse: not allowed for head nodes, want "
			       "fingerprint or caSecretRef");
	if (check_libvirt(s, e) < 0 || check_exec(s, e) < 0 ||
	    provider_object_types_check(s, e) < 0 || provider_object_ec2_check(s, e) < 0)
		return -1;
	if (n->type == FABRIC_EXEC && !n->exec)
		return err_set(e, ERR_INVALID, 0, "spec.network.exec: required for type exec");
	if (n->type == FABRIC_NETRIS && !n->netris)
		return err_set(e, ERR_INVALID, 0, "spec.network.netris: required for type netris");
	if (n->type != FABRIC_NONE && !n->segments.quarantine)
		return err_set(e, ERR_INVALID, 0,
			       "spec.network.segments: required unless type is none");
	if (n->type == FABRIC_NETRIS && check_netris(n, e) < 0)
		return -1;
	if (n->type == FABRIC_NONE && n->probe.quarantine.n + n->probe.provisioning.n)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.network.probe: not allowed for type none, which isolates nothing");
	if (object_probes_check(&n->probe.quarantine, "spec.network.probe.quarantine", e) < 0 ||
	    object_probes_check(&n->probe.provisioning, "spec.network.probe.provisioning", e) < 0)
		return -1;
	if (s->boot.https_media_url &&
	    (!s->boot.media_url || str_starts(s->boot.media_url, "https:")))
		return err_set(
			e, ERR_INVALID, 0,
			"spec.boot.httpsMediaURL: requires an http mediaURL; if all BMCs can use "
			"HTTPS, set only an https mediaURL");
	if (check_networks(&s->boot.proxies, "spec.boot.proxies", e) < 0 ||
	    check_networks(&s->agent.networks, "spec.agent.networks", e) < 0 ||
	    check_networks(&s->agent.proxies, "spec.agent.proxies", e) < 0)
		return -1;
	return 0;
}
