#ifndef API_PROVIDER_H
#define API_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * provider: the kind Provider: a source of machines: its driver, network, limits and instance types.  struct provider is the driver itself (providers/provider.h).
 * Field tables and checks: api/provider.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

enum provider_object_type {
	PROVIDER_TYPE_REDFISH,
	PROVIDER_TYPE_IPMI,
	PROVIDER_TYPE_LIBVIRT,
	PROVIDER_TYPE_BCM,
	PROVIDER_TYPE_EC2,
	PROVIDER_TYPE_EXEC
};
extern const char *const provider_object_type_names[];
enum provider_object_fabric { FABRIC_NONE, FABRIC_EXEC, FABRIC_NETRIS };
extern const char *const provider_object_fabric_names[];
struct provider_object_exec {
	struct strings command;
	bool elastic; /* it launches instances and ends them: no Machine of it is a person's */
};
/* A Netris controller: providers/fabric.h has the same. */
struct provider_object_netris {
	const char *endpoint;
	struct object_name_ref credentials_secret_ref;
	struct {
		const char *fingerprint;
		struct object_secret_ref *ca_secret_ref;
	} tls;
	const char *site, *template_, *admin, *prefix;
	struct strings host_servers, common_vnets;
};
struct provider_object_network {
	int type; /* enum provider_object_fabric */
	struct provider_object_exec *exec;
	struct provider_object_netris *netris;
	struct {
		const char *quarantine, *provisioning;
	} segments;
	struct {
		struct strings quarantine, provisioning;
	} probe; /* addresses that answer there alone */
};
/* Type bcm: the head node. */
struct provider_object_bcm {
	const char *endpoint;
	struct object_tls tls;
	struct object_secret_ref *credentials_secret_ref;
	const char *management_network;
	struct strings clear_block_devices, bmc_networks;
	int64_t no_progress, max_machines;
};
struct provider_object_limits {
	int64_t requests_per_second, concurrent_operations, power_on_per_minute;
	struct {
		const char *key;
		int64_t concurrent;
	} per_domain;
};
struct provider_object_pci {
	const char *id; /* "10de:2330" */
	int64_t count;
};
struct provider_object_instance_type {
	const char *name;
	struct {
		struct {
			struct provider_object_pci *v;
			size_t n;
		} pci;
	} match;
	struct resources capacity;
	struct labels labels;
	struct {
		const char *model;
		int64_t min_bytes, max_bytes;
	} root_device;
	int64_t minimum_off_time;
	struct { /* how long nine of ten take, as the operator has it; 0: not said */
		int64_t serving, free;
	} expected;
	const char
		*price_per_hour; /* of a machine of it, as base/money.h reads it; NULL: not known */
	const char *spot_price_per_hour, *reserved_price_per_hour; /* type ec2; NULL: not so */
	const char *currency;
	int64_t efa_interfaces; /* type ec2: 0: one ordinary interface */
};
struct provider_object_wipe {
	struct object_wipe_floor floor; /* in place: wipe.minimumLevel, wipe.minimumTrust */
	int64_t deadline;
};
enum provider_object_accelerator { ACCELERATOR_KVM, ACCELERATOR_NONE };
enum provider_object_bus { DRIVE_SATA, DRIVE_NVME }; /* in the order of enum provider_bus */
struct provider_object_drive {
	struct quantity size;
	int bus; /* enum provider_object_bus */
};
struct provider_object_machines {
	int64_t count, cpus;
	const char *instance_type;
	struct quantity memory;
	struct {
		struct provider_object_drive *v;
		size_t n;
	} drives;
	const char *network, *bridge;
	int accelerator; /* enum provider_object_accelerator; -1: the best that there is */
};
struct provider_object_libvirt {
	const char *uri, *storage_pool;
	struct provider_object_machines *machines; /* NULL: none are made */
};
/* Type ec2: where instances are launched, and as what. */
struct provider_object_zone {
	const char *region, *zone, *subnet;
	struct strings security_groups;
	const char *image; /* NULL: the Provider's */
};
struct provider_object_volume {
	const char *name;
	int64_t size_gib;
};
struct provider_object_ec2 {
	const char *endpoint; /* NULL: of AWS */
	struct object_secret_ref *ca_secret_ref;
	struct {
		struct provider_object_zone *v;
		size_t n;
	} zones;
	const char *image, *instance_profile, *key_name, *placement_group;
	struct provider_object_volume *root_device; /* NULL: as the image has it */
	bool reservations;
	int64_t drain_before_end; /* ms */
};
struct provider_object_spec {
	int type; /* enum provider_object_type; immutable */
	bool paused;
	struct object_secret_ref *credentials_secret_ref;
	struct {
		struct strings methods; /* UefiHttp, VirtualMedia */
		const char *media_url, *https_media_url;
		struct strings proxies;
	} boot;
	struct {
		const char *endpoint;
		struct strings networks, proxies;
	} agent;
	struct provider_object_network network;
	struct provider_object_bcm *bcm;
	struct provider_object_libvirt *libvirt; /* of type libvirt alone */
	struct provider_object_exec *exec;	 /* of type exec alone */
	struct provider_object_ec2 *ec2;	 /* of type ec2 alone */
	struct provider_object_limits limits;
	struct {
		struct provider_object_instance_type *v;
		size_t n;
	} instance_types;
	struct provider_object_wipe wipe;
};
/* What type bcm found at its head node. */
struct provider_object_refused {
	const char *node, *message;
};
struct provider_object_found {
	const char *version;
	int64_t nodes; /* that drover may manage */
	struct strings categories, images, networks;
	struct {
		struct provider_object_refused *v;
		size_t n;
	} refused;
	const char *error;
};
enum provider_object_path_source { PATH_MEASURED, PATH_DECLARED, PATH_TOO_FEW };
/* How long machines of a type took, from their entry into a state to the end of their way (controller/claims/eta.h). */
struct provider_object_path {
	const char *instance_type, *from;
	int source;	    /* enum provider_object_path_source */
	int64_t p50, p90;   /* ms; 0: not known */
	int64_t seen;	    /* ways that ended, ever */
	struct ints recent; /* seconds, the newest last */
};
struct provider_object_status {
	int64_t observed_generation;
	struct provider_object_found *bcm;
	struct resources machines; /* how many in each state */
	struct {
		struct provider_object_path *v;
		size_t n;
	} paths;
	struct conditions conditions;
};
struct provider_object {
	struct object_meta meta;
	struct provider_object_spec spec;
	struct provider_object_status status;
};

#endif
