#include "providers/ec2/instances.h"

#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/secret.h"
#include "base/str.h"
#include "providers/ec2/client.h"

/* --- a launch --------------------------------------------------------------------------------- */

static void add_tags(struct buf *b, const struct elastic_launch *l, int n, const char *resource)
{
	query_add(b, resource, "TagSpecification.%d.ResourceType", n);
	for (size_t i = 0; i < l->ntags; i++) {
		query_add(b, l->tags[i].key, "TagSpecification.%d.Tag.%zu.Key", n, i + 1);
		query_add(b, l->tags[i].value, "TagSpecification.%d.Tag.%zu.Value", n, i + 1);
	}
}

static void add_groups(struct buf *b, const struct provider_cloud_zone *z, const char *prefix)
{
	for (size_t i = 0; z->security_groups && z->security_groups[i]; i++)
		query_add(b, z->security_groups[i], "%sSecurityGroupId.%zu", prefix, i + 1);
}

/* Adds the subnet and the security groups. EC2 accepts either a subnet, or interfaces that name the
 * subnet, not both. The first interface is device 0 of its network card; the interface of each
 * further card is device 1 of that card. */
static void add_network(struct buf *b, const struct ec2_place *at)
{
	char prefix[40];

	if (!at->type->efa_interfaces) {
		query_add(b, at->zone->subnet, "SubnetId");
		add_groups(b, at->zone, "");
	}
	for (unsigned i = 0; i < at->type->efa_interfaces; i++) {
		char card[12];

		str_format(prefix, sizeof(prefix), "NetworkInterface.%u.", i + 1);
		str_format(card, sizeof(card), "%u", i);
		query_add(b, i ? "1" : "0", "%sDeviceIndex", prefix);
		query_add(b, card, "%sNetworkCardIndex", prefix);
		query_add(b, "efa", "%sInterfaceType", prefix);
		query_add(b, at->zone->subnet, "%sSubnetId", prefix);
		query_add(b, "true", "%sDeleteOnTermination", prefix);
		add_groups(b, at->zone, prefix);
	}
}

static void add_market(struct buf *b, const struct ec2_place *at, const struct elastic_launch *l)
{
	char price[40];

	switch (l->offer.market) {
	case MARKET_ON_DEMAND:
		query_add(b, "terminate", "InstanceInitiatedShutdownBehavior");
		return;
	case MARKET_SPOT:
		query_add(b, "spot", "InstanceMarketOptions.MarketType");
		query_add(b, "one-time", "InstanceMarketOptions.SpotOptions.SpotInstanceType");
		query_add(b, "terminate",
			  "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior");
		if (l->max_micros_per_hour < 0)
			return;
		str_format(price, sizeof(price), "%lld.%06lld",
			   (long long)(l->max_micros_per_hour / 1000000),
			   (long long)(l->max_micros_per_hour % 1000000));
		query_add(b, price, "InstanceMarketOptions.SpotOptions.MaxPrice");
		return;
	case MARKET_RESERVED:
		query_add(b, at->block ? "capacity-block" : NULL,
			  "InstanceMarketOptions.MarketType");
		query_add(b, l->offer.reservation,
			  "CapacityReservationSpecification.CapacityReservationTarget"
			  ".CapacityReservationId");
		query_add(b, "terminate", "InstanceInitiatedShutdownBehavior");
		return;
	}
}

static void add_user_data(struct buf *b, const struct elastic_launch *l)
{
	char *text;

	if (!l->user_data_len)
		return;
	text = crypto_base64(l->user_data, l->user_data_len);
	query_add(b, text, "UserData");
	secret_wipe(text, strlen(text));
	free(text);
}

void ec2_launch_form(struct buf *b, const struct ec2_place *at, const struct elastic_launch *l)
{
	const struct provider_cloud *c = at->cloud;

	query_begin(b, "RunInstances", EC2_VERSION);
	query_add(b, l->token, "ClientToken");
	query_add(b, l->image ? l->image : at->zone->image ? at->zone->image : c->image, "ImageId");
	query_add(b, at->type->name, "InstanceType");
	query_add_i64(b, l->count, "MinCount");
	query_add_i64(b, l->count, "MaxCount");
	query_add(b, at->zone->zone, "Placement.AvailabilityZone");
	query_add(b, c->placement_group, "Placement.GroupName");
	query_add(b, c->key_name, "KeyName");
	query_add(b, c->instance_profile, "IamInstanceProfile.Name");
	query_add(b, "required", "MetadataOptions.HttpTokens");
	query_add(b, "1", "MetadataOptions.HttpPutResponseHopLimit");
	if (c->root_device) {
		query_add(b, c->root_device, "BlockDeviceMapping.1.DeviceName");
		query_add_i64(b, c->root_gib, "BlockDeviceMapping.1.Ebs.VolumeSize");
		query_add(b, "true", "BlockDeviceMapping.1.Ebs.Encrypted");
		query_add(b, "true", "BlockDeviceMapping.1.Ebs.DeleteOnTermination");
	}
	add_network(b, at);
	add_market(b, at, l);
	add_tags(b, l, 1, "instance");
	add_tags(b, l, 2, "volume");
	add_user_data(b, l);
}

/* --- decoding an instance --------------------------------------------------------------------- */

static enum elastic_state state_of(const char *name)
{
	static const struct {
		const char *name;
		enum elastic_state state;
	} states[] = {
		{"pending", ELASTIC_PENDING},	   {"running", ELASTIC_RUNNING},
		{"shutting-down", ELASTIC_ENDING}, {"stopping", ELASTIC_ENDING},
		{"stopped", ELASTIC_ENDING},	   {"terminated", ELASTIC_TERMINATED},
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (str_eq(name, states[i].name))
			return states[i].state;
	return ELASTIC_UNKNOWN;
}

static void read_tags(struct ec2_reply_node item, struct arena *a, struct elastic_instance *out)
{
	struct elastic_tag *tags;
	size_t n = 0;

	ec2_for_each(it, item, "tagSet") n++;
	tags = arena_calloc(a, n + 1, sizeof(*tags));
	n = 0;
	ec2_for_each(it, item, "tagSet")
	{
		tags[n].key = str_or(ec2_reply_text(it, "key", a), "");
		tags[n++].value = str_or(ec2_reply_text(it, "value", a), "");
	}
	out->tags = tags;
	out->ntags = n;
}

bool ec2_instance_read(struct ec2_reply_node item, const char *region, struct arena *a,
		       struct elastic_instance *out)
{
	struct elastic_instance i = {.id = ec2_reply_text(item, "instanceId", a), .region = region};
	const char *state = ec2_reply_text(item, "currentState/name", a);
	const char *launched = ec2_reply_text(item, "launchTime", a);

	if (!i.id)
		return false;
	i.state = state_of(state ? state : ec2_reply_text(item, "instanceState/name", a));
	i.zone = ec2_reply_text(item, "placement/availabilityZone", a);
	if (i.zone)
		i.provider_id = arena_printf(a, "aws:///%s/%s", i.zone, i.id);
	i.type = ec2_reply_text(item, "instanceType", a);
	i.token = ec2_reply_text(item, "clientToken", a);
	i.address = ec2_reply_text(item, "privateIpAddress", a);
	i.reason = ec2_reply_text(item, "stateReason/message", a);
	if (!i.reason)
		i.reason = ec2_reply_text(item, "reason", a);
	i.reservation = ec2_reply_text(item, "capacityReservationId", a);
	if (str_eq(ec2_reply_text(item, "instanceLifecycle", a), "spot"))
		i.market = MARKET_SPOT;
	else if (i.reservation)
		i.market = MARKET_RESERVED;
	if (!launched || !str_to_time(launched, &i.launched_at))
		i.launched_at = 0;
	read_tags(item, a, &i);
	*out = i;
	return true;
}

struct elastic_instance ec2_instance_copy(const struct elastic_instance *i, struct arena *a)
{
	struct elastic_instance c = *i;
	struct elastic_tag *tags = arena_calloc(a, i->ntags + 1, sizeof(*tags));

	c.id = arena_strdup(a, i->id);
	c.provider_id = arena_strdup(a, i->provider_id);
	c.region = arena_strdup(a, i->region);
	c.zone = arena_strdup(a, i->zone);
	c.type = arena_strdup(a, i->type);
	c.token = arena_strdup(a, i->token);
	c.reason = arena_strdup(a, i->reason);
	c.address = arena_strdup(a, i->address);
	c.reservation = arena_strdup(a, i->reservation);
	for (size_t n = 0; n < i->ntags; n++)
		tags[n] = (struct elastic_tag){arena_strdup(a, i->tags[n].key),
					       arena_strdup(a, i->tags[n].value)};
	c.tags = tags;
	return c;
}

const char *ec2_instance_tag(const struct elastic_instance *i, const char *key)
{
	for (size_t n = 0; n < i->ntags; n++)
		if (str_eq(i->tags[n].key, key))
			return i->tags[n].value;
	return NULL;
}
