#ifndef API_PROVIDER_H
#define API_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * provider: the kind Provider: a source of machines: its driver, network, limits and instance
 * types. struct provider is the driver itself (providers/provider.h). Field tables and checks:
 * api/provider.c.
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
	/* it launches instances and ends them: no Machine of it is a person's */
	bool elastic;
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
	/* enum provider_object_fabric */
	int type;
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
	/* "10de:2330" */
	const char *id;
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
	/* how long nine of ten take, as the operator has it; 0: not said */
	struct {
		int64_t serving, free;
	} expected;
	/* of a machine of it, as base/money.h reads it; NULL: not known */
	const char *price_per_hour;
	/* type ec2; NULL: not so */
	const char *spot_price_per_hour, *reserved_price_per_hour;
	const char *currency;
	/* type ec2: 0: one ordinary interface */
	int64_t efa_interfaces;
};
struct provider_object_wipe {
	/* in place: wipe.minimumLevel, wipe.minimumTrust */
	struct object_wipe_floor floor;
	int64_t deadline;
};
enum provider_object_accelerator { ACCELERATOR_KVM, ACCELERATOR_NONE };
enum provider_object_bus { DRIVE_SATA, DRIVE_NVME }; /* in the order of enum provider_bus */
struct provider_object_drive {
	struct quantity size;
	/* enum provider_object_bus */
	int bus;
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
	/* enum provider_object_accelerator; -1: the best that there is */
	int accelerator;
};
struct provider_object_libvirt {
	const char *uri, *storage_pool;
	/* NULL: none are made */
	struct provider_object_machines *machines;
};
/* Type ec2: where instances are launched, and as what. */
struct provider_object_zone {
	const char *region, *zone, *subnet;
	struct strings security_groups;
	/* NULL: the Provider's */
	const char *image;
};
struct provider_object_volume {
	const char *name;
	int64_t size_gib;
};
struct provider_object_ec2 {
	/* NULL: of AWS */
	const char *endpoint;
	struct object_secret_ref *ca_secret_ref;
	struct {
		struct provider_object_zone *v;
		size_t n;
	} zones;
	const char *image, *instance_profile, *key_name, *placement_group;
	/* NULL: as the image has it */
	struct provider_object_volume *root_device;
	bool reservations;
	/* ms */
	int64_t drain_before_end;
};
struct provider_object_spec {
	/* enum provider_object_type; immutable */
	int type;
	bool paused;
	struct object_secret_ref *credentials_secret_ref;
	struct {
		/* UefiHttp, VirtualMedia */
		struct strings methods;
		const char *media_url, *https_media_url;
		struct strings proxies;
	} boot;
	struct {
		const char *endpoint;
		struct strings networks, proxies;
	} agent;
	struct provider_object_network network;
	struct provider_object_bcm *bcm;
	/* of type libvirt alone */
	struct provider_object_libvirt *libvirt;
	/* of type exec alone */
	struct provider_object_exec *exec;
	/* of type ec2 alone */
	struct provider_object_ec2 *ec2;
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
	/* that drover may manage */
	int64_t nodes;
	struct strings categories, images, networks;
	struct {
		struct provider_object_refused *v;
		size_t n;
	} refused;
	const char *error;
};
enum provider_object_path_source { PATH_MEASURED, PATH_DECLARED, PATH_TOO_FEW };
/* How long machines of a type took, from their entry into a state to the end of their way
 * (controller/claims/eta.h). */
struct provider_object_path {
	const char *instance_type, *from;
	/* enum provider_object_path_source */
	int source;
	/* ms; 0: not known */
	int64_t p50, p90;
	/* ways that ended, ever */
	int64_t seen;
	/* seconds, the newest last */
	struct ints recent;
};
struct provider_object_status {
	int64_t observed_generation;
	struct provider_object_found *bcm;
	/* how many in each state */
	struct resources machines;
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
