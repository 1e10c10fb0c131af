#ifndef API_PROVIDER_H
#define API_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * provider: the kind Provider: a source of machines, with its driver, network, limits and instance
 * types. Do not confuse struct provider_object with struct provider, which is the driver itself
 * (providers/provider.h). Field tables and checks: api/provider.c.
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
	/* true: the program launches and ends instances; no operator creates Machines for the
	 * Provider */
	bool elastic;
};
/* Access to a Netris controller; struct in providers/fabric.h has the same members. */
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
	/* addresses that machines probe; each address answers only to machines in the segment for
	 * which it is listed */
	struct {
		struct strings quarantine, provisioning;
	} probe;
};
/* The BCM head node (manager) of a Provider of type bcm. */
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
	/* PCI vendor and device ID, such as "10de:2330" */
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
	/* expected times in ms, as 90th percentiles, until a machine serves and until it is free
	 * again; set by the operator; 0: not set */
	struct {
		int64_t serving, free;
	} expected;
	/* price of one machine for one hour, in millionths of the currency; -1: unknown */
	int64_t price_per_hour;
	/* prices of the spot and reserved markets, only for type ec2; -1: not offered in that
	 * market */
	int64_t spot_price_per_hour, reserved_price_per_hour;
	const char *currency;
	/* number of Elastic Fabric Adapters, only for type ec2; 0: one ordinary interface */
	int64_t efa_interfaces;
	/* enum object_interconnect, only for elastic Providers; -1: not set */
	int interconnect;
};
struct provider_object_wipe {
	/* lowest accepted wipe; the members of `floor` are encoded directly in spec.wipe
	 * (minimumLevel, minimumTrust, mustCover) */
	struct object_wipe_floor floor;
	int64_t deadline;
};
enum provider_object_accelerator { ACCELERATOR_KVM, ACCELERATOR_NONE };
enum provider_object_bus { DRIVE_SATA, DRIVE_NVME }; /* same order as enum provider_bus */
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
	/* enum provider_object_accelerator; -1: the best that the host supports */
	int accelerator;
};
struct provider_object_libvirt {
	const char *uri, *storage_pool;
	/* virtual machines that drover itself defines on the host; NULL: none */
	struct provider_object_machines *machines;
};
/* One zone of type ec2: where instances are launched, and with what subnet and image. */
struct provider_object_zone {
	const char *region, *zone, *subnet;
	struct strings security_groups;
	/* AMI ID for this zone; NULL: the AMI of the Provider (ec2.image) */
	const char *image;
};
struct provider_object_volume {
	const char *name;
	int64_t size_gib;
};
struct provider_object_role {
	const char *arn, *external_id, *session_name;
};
struct provider_object_ec2 {
	/* URL of the EC2 API; NULL: the API of AWS */
	const char *endpoint;
	struct object_secret_ref *ca_secret_ref;
	/* role that signs the calls of EC2; NULL: the Provider's own credentials sign them */
	struct provider_object_role *assume_role;
	struct {
		struct provider_object_zone *v;
		size_t n;
	} zones;
	const char *image, *instance_profile, *key_name, *placement_group;
	/* root volume of the instances; NULL: as the AMI defines it */
	struct provider_object_volume *root_device;
	bool reservations;
	/* URLs of SQS queues to which EventBridge writes events of EC2 */
	struct strings event_queues;
	/* time before the end of a reservation, in ms, at which the drain of its instances
	 * begins */
	int64_t drain_before_end;
};
struct provider_object_spec {
	/* enum provider_object_type; cannot be changed */
	int type;
	bool paused;
	struct object_secret_ref *credentials_secret_ref;
	struct {
		/* boot methods in the order in which they are tried: "UefiHttp", "VirtualMedia";
		 * empty: those that the BMC supports */
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
	/* set only for type libvirt */
	struct provider_object_libvirt *libvirt;
	/* set only for type exec */
	struct provider_object_exec *exec;
	/* set only for type ec2 */
	struct provider_object_ec2 *ec2;
	struct provider_object_limits limits;
	struct {
		struct provider_object_instance_type *v;
		size_t n;
	} instance_types;
	struct provider_object_wipe wipe;
};
/* One node of BCM that drover may not manage, and why. */
struct provider_object_refused {
	const char *node, *message;
};
struct provider_object_found {
	const char *version;
	/* number of BCM nodes that drover may manage */
	int64_t nodes;
	struct strings categories, images, networks;
	struct {
		struct provider_object_refused *v;
		size_t n;
	} refused;
	const char *error;
};
enum provider_object_path_source { PATH_MEASURED, PATH_DECLARED, PATH_TOO_FEW };
/* Measured durations of machines of one instance type, from the state `from` until the machine
 * serves or is free (controller/core/eta.h). */
struct provider_object_path {
	const char *instance_type, *from;
	/* enum provider_object_path_source */
	int source;
	/* 50th and 90th percentile in ms; 0: unknown */
	int64_t p50, p90;
	/* number of machines measured in total */
	int64_t seen;
	/* latest measurements in seconds, newest last */
	struct ints recent;
};
/* An offer that a cloud refused (controller/hardware/offer_refusals.h). */
struct provider_object_refusal {
	/* scope of the refusal; NULL: any */
	const char *region, *zone, *instance_type;
	const char *message;
	/* True: the account's quota is used up. */
	bool quota;
	/* Wall ms of the refusal, and until when such an offer is not tried. */
	int64_t at, until;
};
struct provider_object_status {
	int64_t observed_generation;
	struct provider_object_found *bcm;
	/* number of machines in each state */
	struct resources machines;
	struct {
		struct provider_object_path *v;
		size_t n;
	} paths;
	struct {
		struct provider_object_refusal *v;
		size_t n;
	} refusals;
	struct conditions conditions;
};
struct provider_object {
	struct object_meta meta;
	struct provider_object_spec spec;
	struct provider_object_status status;
};

#endif
