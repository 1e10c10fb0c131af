#ifndef PROVIDERS_EC2_PROVIDER_H
#define PROVIDERS_EC2_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/market.h"

/* provider: settings of Provider type ec2 (provider_spec.cloud). */
struct secret;

/* Source of the credentials. */
enum provider_cloud_login {
	/* The members access_key_id and secret_access_key of struct provider_cloud. */
	PROVIDER_LOGIN_KEYS,
	/* AWS_ACCESS_KEY_ID and related variables of this process */
	PROVIDER_LOGIN_ENVIRONMENT,
	/* a shared credentials file */
	PROVIDER_LOGIN_FILE,
	/* the role of the instance on which drover itself runs, from the instance's metadata
	 * service (version 2) */
	PROVIDER_LOGIN_INSTANCE,
	/* a role, obtained from STS with a token in a file */
	PROVIDER_LOGIN_WEB_IDENTITY,
	/* the first of ENVIRONMENT, WEB_IDENTITY and FILE whose variables are set in this process;
	 * otherwise INSTANCE */
	PROVIDER_LOGIN_FOUND
};
struct provider_cloud_zone {
	const char *region, *zone, *subnet;
	/* IDs of security groups, NULL-terminated; NULL: the default group of the subnet */
	const char *const *security_groups;
	/* Image ID in this region; NULL: the image in struct provider_cloud */
	const char *image;
};
struct provider_cloud_type {
	/* Name of the instance type, such as p5.48xlarge. */
	const char *name;
	/* Number of EFA interfaces, one on each network card; 0: one ordinary network interface */
	unsigned efa_interfaces;
	/* Purchase options to offer. */
	bool on_demand, spot;
};
struct provider_cloud_price {
	const char *type;
	/* Region in which the price applies; NULL: every region */
	const char *region;
	enum market market;
	/* Price of one instance for one hour, in millionths of the currency */
	int64_t micros_per_hour;
};
/* SQS queue to which EventBridge writes events of EC2 */
struct provider_cloud_queue {
	const char *url, *region;
};
struct provider_cloud {
	/* URL of the EC2 API; {region} is replaced by the region. NULL:
	 * https://ec2.{region}.amazonaws.com. */
	const char *endpoint;
	const char *ca_pem;
	struct {
		const struct provider_cloud_zone *v;
		size_t n;
	} zones;
	struct {
		const struct provider_cloud_type *v;
		size_t n;
	} types;
	struct {
		const struct provider_cloud_price *v;
		size_t n;
	} prices;
	struct {
		const struct provider_cloud_queue *v;
		size_t n;
	} queues;
	/* ISO 4217 currency of the prices; NULL: USD. */
	const char *currency;
	/* True: also offer the capacity that the account has reserved. */
	bool reservations;
	/* Default image ID; NULL: each zone sets its own */
	const char *image;
	/* Name of the SSH key pair with which operators log in to instances; NULL: none */
	const char *key_name;
	/* Name of the instance profile; NULL: none */
	const char *instance_profile;
	/* Name of the placement group; NULL: none */
	const char *placement_group;
	/* Device name of the root volume, such as /dev/sda1, whose size is set to root_gib; NULL:
	 * size as in the image */
	const char *root_device;
	int64_t root_gib;
	enum provider_cloud_login login;
	/* Used only with PROVIDER_LOGIN_KEYS */
	const char *access_key_id;
	const struct secret *secret_access_key, *session_token;
	/* Credentials file and its section, used only with PROVIDER_LOGIN_FILE; NULL: the defaults
	 * of the AWS tools */
	const char *file, *profile;
	/* Role and path of the token file, used only with PROVIDER_LOGIN_WEB_IDENTITY; NULL: from
	 * the environment */
	const char *role_arn, *token_file;
	/* Role that is assumed with the credentials from `login`, for example in another account.
	 * arn NULL: none. external_id NULL: none. session_name NULL: drover. */
	struct {
		const char *arn, *external_id, *session_name;
	} assume_role;
	/* URL of STS (the AWS service that issues temporary credentials); NULL:
	 * https://sts.{region}.amazonaws.com */
	const char *sts_endpoint;
	/* URL of the instance metadata service; NULL: http://169.254.169.254 */
	const char *metadata_endpoint;
};

#endif
