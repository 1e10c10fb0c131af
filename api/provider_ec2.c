/*
 * provider_ec2: field table and checks of Provider.spec.ec2.
 * Tests: tests/unit/api/test_kinds.c
 */
#include "api/tables.h"

#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
/* Characters of names in IAM */
#define IAM_NAME LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_+=,.@-"

/* True if text is not empty and has only characters of set. */
static bool consists_of(const char *text, const char *set)
{
	return *text && !text[strspn(text, set)];
}

static bool is_role_arn(const char *s)
{
	size_t n;

	if (!str_starts(s, "arn:aws"))
		return false;
	s += strlen("arn:aws");
	n = strspn(s, LOWER "-");
	if (n && *s != '-')
		return false;
	s += n;
	if (!str_starts(s, ":iam::"))
		return false;
	s += strlen(":iam::");
	if (strspn(s, DIGITS) != 12 || !str_starts(s + 12, ":role/"))
		return false;
	return consists_of(s + 12 + strlen(":role/"), IAM_NAME "/");
}

static bool is_session_name(const char *s)
{
	return strlen(s) >= 2 && consists_of(s, IAM_NAME);
}

static bool is_external_id(const char *s)
{
	return strlen(s) >= 2 && consists_of(s, IAM_NAME ":/");
}

/* True for a queue of AWS itself: requests to other hosts would disclose signatures. */
static bool is_queue_url(const char *s)
{
	if (!str_starts(s, "https://sqs."))
		return false;
	s += strlen("https://sqs.");
	if (!strspn(s, LOWER DIGITS "-"))
		return false;
	s += strspn(s, LOWER DIGITS "-");
	if (!str_starts(s, ".amazonaws.com"))
		return false;
	s += strlen(".amazonaws.com");
	s += str_starts(s, ".cn/") ? strlen(".cn") : 0;
	if (*s != '/' || strspn(s + 1, DIGITS) != 12 || s[13] != '/')
		return false;
	return consists_of(s + 14, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_-");
}

static const struct field role_fields[] = {
	FIELD(provider_object_role, arn, "arn", FIELD_STR, .required = true, .max_len = 600,
	      .pattern = "^arn:aws(-[a-z-]*)?:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$",
	      .valid = is_role_arn,
	      .want = "the ARN of a role such as arn:aws:iam::123456789012:role/drover",
	      .doc = "ARN of the role."),
	FIELD(provider_object_role, external_id, "externalID", FIELD_STR, .max_len = 1224,
	      .pattern = "^[A-Za-z0-9_+=,.@:/-][A-Za-z0-9_+=,.@:/-]+$", .valid = is_external_id,
	      .want = "at least two letters, digits or characters of _+=,.@:/-",
	      .doc = "Text that the trust policy of the role requires as sts:ExternalId. If not "
		     "set, none is sent."),
	FIELD(provider_object_role, session_name, "sessionName", FIELD_STR, .max_len = 64,
	      .pattern = "^[A-Za-z0-9_+=,.@-][A-Za-z0-9_+=,.@-]+$", .valid = is_session_name,
	      .want = "at least two letters, digits or characters of _+=,.@-", .def = "\"drover\"",
	      .doc = "Name of the session, which CloudTrail records with each call."),
	FIELDS_END,
};

static const struct field zone_fields[] = {
	FIELD(provider_object_zone, region, "region", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "AWS region, such as eu-west-1."),
	FIELD(provider_object_zone, zone, "zone", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "Availability zone in the region, such as eu-west-1a."),
	FIELD(provider_object_zone, subnet, "subnet", FIELD_STR, .max_len = 63,
	      .doc = "ID of the subnet in this zone. If not set, the default subnet of the zone "
		     "is used."),
	FIELD(provider_object_zone, security_groups, "securityGroups", FIELD_STRINGS,
	      .max_items = 16, .max_len = 63,
	      .doc = "IDs of the instances' security groups. If not set, the default security "
		     "group of the VPC applies."),
	FIELD(provider_object_zone, image, "image", FIELD_STR, .max_len = 63,
	      .doc = "ID of the AMI in this region. If not set, spec.ec2.image is used."),
	FIELDS_END,
};

static const struct field volume_fields[] = {
	FIELD(provider_object_volume, name, "name", FIELD_STR, .required = true, .max_len = 63,
	      .doc = "Device name of the AMI's root volume, such as /dev/sda1."),
	FIELD(provider_object_volume, size_gib, "sizeGiB", FIELD_I64, .required = true, .min = 1,
	      .max = 65536, .doc = "Size of the volume in GiB. The volume is encrypted."),
	FIELDS_END,
};

const struct field_rule provider_object_ec2_rules[] = {
	{"size(self.zones) > 0 && (has(self.image) || self.zones.all(z, has(z.image)))",
	 "zones must not be empty, and each zone needs an image, its own or "
	 "ec2.image"},
	{NULL, NULL},
};

const struct field provider_object_ec2_fields[] = {
	FIELD(provider_object_ec2, endpoint, "endpoint", FIELD_STR, AS_HTTPS,
	      .doc = "URL of an EC2 API other than that of AWS. drover replaces {region} in the "
		     "URL by the name of the region. The Secret in credentialsSecretRef must "
		     "contain the same URL under endpoint. If not set, the API of AWS is used."),
	FIELD_PTR(provider_object_ec2, ca_secret_ref, "caSecretRef", object_local_secret_fields,
		  .doc = "Secret with the CA certificate of the endpoint under ca.crt. If not set, "
			 "the system's CAs are trusted."),
	FIELD_PTR(
		provider_object_ec2, assume_role, "assumeRole", role_fields,
		.doc = "Role that the Provider's credentials assume by STS, for example in another "
		       "account. Instances then belong to the account of the role. If not set, the "
		       "Provider's credentials are used for EC2 themselves."),
	FIELD_ITEMS(provider_object_ec2, zones, "zones", zone_fields, .required = true,
		    .max_items = 64, .list_key = "zone",
		    .doc = "Zones in which instances may be launched."),
	FIELD(provider_object_ec2, image, "image", FIELD_STR, .max_len = 63,
	      .doc = "ID of the AMI for zones that do not set spec.ec2.zones[].image."),
	FIELD(provider_object_ec2, instance_profile, "instanceProfile", FIELD_STR, .max_len = 128,
	      .doc = "Name of the IAM instance profile. If not set, instances have no role."),
	FIELD(provider_object_ec2, key_name, "keyName", FIELD_STR, .max_len = 255,
	      .doc = "Name of the EC2 key pair for SSH access to the instances. If not set, the "
		     "instances get no key pair."),
	FIELD(provider_object_ec2, placement_group, "placementGroup", FIELD_STR, .max_len = 255,
	      .doc = "Name of the EC2 placement group of the instances. If not set, the "
		     "instances are in no placement group."),
	FIELD_PTR(provider_object_ec2, root_device, "rootDevice", volume_fields,
		  .doc = "Root volume of the instances. If not set, the AMI determines the root "
			 "volume."),
	FIELD(provider_object_ec2, reservations, "reservations", FIELD_BOOL,
	      .doc = "Whether capacity reserved by the account is offered to BurstPolicies. "
		     "Needs the permission DescribeCapacityReservations."),
	FIELD(provider_object_ec2, event_queues, "eventQueues", FIELD_STRINGS, .max_items = 16,
	      .max_len = 256,
	      .pattern = "^https://sqs[.][a-z0-9-]+[.]amazonaws[.]com([.]cn)?/[0-9]{12}/"
			 "[A-Za-z0-9_-]+$",
	      .valid = is_queue_url,
	      .want = "a URL such as https://sqs.eu-west-1.amazonaws.com/123456789012/drover",
	      .doc = "URLs of SQS queues from which drover reads, and then deletes, events that "
		     "EventBridge writes there: Spot interruption warnings and rebalance "
		     "recommendations. No other program may read these queues. If not set, only "
		     "the Spot requests are polled."),
	FIELD(provider_object_ec2, drain_before_end, "drainBeforeEnd", FIELD_DURATION, .min = 0,
	      .max = INT64_C(86400000), .def = "\"15m\"",
	      .doc = "Time before the end of a reservation or capacity block at which drover "
		     "begins to drain the instances in it."),
	FIELDS_END,
};

static int check_currency(const struct provider_object_spec *s, struct err *e)
{
	const char *first = NULL;

	for (size_t i = 0; i < s->instance_types.n; i++) {
		const char *currency = s->instance_types.v[i].currency;

		if (first && currency && !str_eq(first, currency))
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].currency: must be the same for all "
				       "instance types of type ec2, got %s and %s",
				       i, currency, first);
		first = first ? first : currency;
	}
	return 0;
}

static int check_parts(const struct provider_object_spec *s, struct err *e)
{
	const struct provider_object_ec2 *c = s->ec2;

	if (!c->zones.n)
		return err_set(e, ERR_INVALID, 0, "spec.ec2.zones: required");
	for (size_t i = 0; i < c->zones.n; i++)
		if (str_empty(c->zones.v[i].image) && str_empty(c->image))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.ec2.zones[%zu].image: required if spec.ec2.image is not set",
				i);
	return check_currency(s, e);
}

int provider_object_ec2_check(const struct provider_object_spec *s, struct err *e)
{
	if ((s->type == PROVIDER_TYPE_EC2) != !!s->ec2)
		return err_set(e, ERR_INVALID, 0, "spec.ec2: %s type ec2",
			       s->ec2 ? "allowed only for" : "required for");
	for (size_t i = 0; !s->ec2 && i < s->instance_types.n; i++)
		if (s->instance_types.v[i].spot_price_per_hour >= 0 ||
		    s->instance_types.v[i].reserved_price_per_hour >= 0)
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].%s: allowed only for type ec2", i,
				       s->instance_types.v[i].spot_price_per_hour >= 0
					       ? "spotPricePerHour"
					       : "reservedPricePerHour");
	for (size_t i = 0; !s->ec2 && i < s->instance_types.n; i++)
		if (s->instance_types.v[i].efa_interfaces)
			return err_set(
				e, ERR_INVALID, 0,
				"spec.instanceTypes[%zu].efaInterfaces: allowed only for type ec2",
				i);
	if (!s->ec2)
		return 0;
	if (s->ec2->endpoint && !s->credentials_secret_ref)
		return err_set(e, ERR_INVALID, 0,
			       "spec.credentialsSecretRef: required for ec2.endpoint; its Secret "
			       "names the URL to which the credentials may be sent");
	if (s->boot.methods.n || s->boot.media_url || s->boot.https_media_url || s->boot.proxies.n)
		return err_set(e, ERR_INVALID, 0,
			       "spec.boot: not allowed for type ec2; instances boot their AMI");
	if (s->agent.endpoint || s->agent.networks.n || s->agent.proxies.n)
		return err_set(e, ERR_INVALID, 0,
			       "spec.agent: not allowed for type ec2; no agent runs on instances");
	if (s->network.type != FABRIC_NONE)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.network.type: want none for type ec2; security groups isolate its "
			"instances");
	return check_parts(s, e);
}
