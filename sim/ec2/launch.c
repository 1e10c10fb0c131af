#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Actions that change state: RunInstances, TerminateInstances, CreateTags.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c, tests/unit/sim/ec2/test_fault.c
 */
#define USER_DATA_MAX 16384
#define TOKEN_MAX 64
#define SUBNET "subnet-"

struct launch {
	const struct e2_type *type;
	/* Requested zone; NULL: any zone of the region. */
	const char *zone;
	const char *image, *token, *profile;
	int64_t min, max;
	bool spot;
	struct e2_reserved *reserved;
	char *user_data;
	size_t user_data_len;
};

/* --- parameters ------------------------------------------------------------------------------- */

/* Returns a price such as "0.35" in millionths; -1: not valid. */
static int64_t price_of(const char *text)
{
	int64_t n = 0;
	int digits = -1; /* number of digits after the decimal point; -1: no point yet */

	for (; *text; text++) {
		if (*text == '.' && digits < 0) {
			digits = 0;
			continue;
		}
		if (*text < '0' || *text > '9' || n > INT64_MAX / 100)
			return -1;
		if (digits < 6)
			n = n * 10 + (*text - '0');
		digits += digits >= 0 && digits < 6;
	}
	for (digits = digits < 0 ? 0 : digits; digits < 6; digits++)
		n *= 10;
	return n;
}

static bool read_zone(struct e2_call *c, struct launch *l)
{
	const char *zone = e2_param(c, "Placement.AvailabilityZone");
	const char *subnet = e2_param(c, "SubnetId");
	const char *of_interface = e2_param(c, "NetworkInterface.1.SubnetId");
	const char *named;

	if (e2_param(c, "NetworkInterface.1.DeviceIndex") &&
	    (subnet || e2_param(c, "SecurityGroupId.1"))) {
		e2_fail(c, 400, "InvalidParameterCombination",
			"Network interfaces and an instance-level %s may not be specified on the "
			"same request",
			subnet ? "subnet ID" : "security groups");
		return false;
	}
	subnet = subnet ? subnet : of_interface;
	if (zone && (!(named = e2_zone_of(c->s, zone)) || !e2_in_region(named, c->region))) {
		e2_fail(c, 400, "InvalidParameterValue", "Invalid availability zone: [%s]", zone);
		return false;
	}
	l->zone = zone ? e2_zone_of(c->s, zone) : NULL;
	if (!subnet)
		return true;
	named = str_starts(subnet, SUBNET) ? e2_zone_of(c->s, subnet + strlen(SUBNET)) : NULL;
	if (!named || !e2_in_region(named, c->region)) {
		e2_fail(c, 400, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist",
			subnet);
		return false;
	}
	if (zone && !str_eq(zone, named)) {
		e2_fail(c, 400, "InvalidParameterValue",
			"The subnet and the availability zone do not match");
		return false;
	}
	l->zone = named;
	return true;
}

static bool read_market(struct e2_call *c, struct launch *l)
{
	const char *market = e2_param(c, "InstanceMarketOptions.MarketType");
	const char *most = e2_param(c, "InstanceMarketOptions.SpotOptions.MaxPrice");
	const char *id = e2_param(c, "CapacityReservationSpecification."
				     "CapacityReservationTarget.CapacityReservationId");

	l->spot = str_eq(market, "spot");
	if (market && !l->spot && !str_eq(market, "capacity-block")) {
		e2_fail(c, 400, "InvalidParameterValue", "Invalid value '%s' for MarketType.",
			market);
		return false;
	}
	if (l->spot && !l->type->spot_micros) {
		e2_fail(c, 400, "InvalidParameterValue", "%s is not available as a Spot instance",
			l->type->name);
		return false;
	}
	if (l->spot && most && price_of(most) < l->type->spot_micros) {
		e2_fail(c, 400, "SpotMaxPriceTooLow",
			"Your Spot request price of %s is lower than the minimum required.", most);
		return false;
	}
	l->reserved = id ? e2_reserved_of(c->s, id, c->account) : NULL;
	if (id && !l->reserved) {
		e2_fail(c, 400, "InvalidCapacityReservationId.NotFound",
			"The capacity reservation ID '%s' does not exist", id);
		return false;
	}
	if (str_eq(market, "capacity-block") != (l->reserved && l->reserved->upfront >= 0) ||
	    (l->spot && l->reserved)) {
		e2_fail(c, 400, "InvalidParameterCombination",
			"The market type does not fit the capacity reservation");
		return false;
	}
	return true;
}

static bool read_user_data(struct e2_call *c, struct launch *l)
{
	const char *text = e2_param(c, "UserData");
	struct err e;

	if (!text)
		return true;
	l->user_data = crypto_base64_decode(text, strlen(text), &l->user_data_len, &e);
	if (!l->user_data)
		e2_fail(c, 400, "InvalidUserData.Malformed",
			"Invalid BASE64 encoding of user data");
	else if (l->user_data_len > USER_DATA_MAX)
		e2_fail(c, 400, "InvalidParameterValue", "User data is limited to %d bytes",
			USER_DATA_MAX);
	return !c->code;
}

/* Checks the TagSpecifications and adds the tags of instances to *to; to NULL: only checks them.
 * False: a TagSpecification is not valid; the error of the request is then set. */
static bool read_tags(struct e2_call *c, struct e2_instance *to)
{
	const char *kind, *key;

	for (int n = 1; (kind = e2_param(c, "TagSpecification.%d.ResourceType", n)); n++)
		for (int k = 1; (key = e2_param(c, "TagSpecification.%d.Tag.%d.Key", n, k)); k++) {
			const char *value = e2_param(c, "TagSpecification.%d.Tag.%d.Value", n, k);

			if (k > E2_TAGS_MAX || strlen(key) > 128 || str_starts(key, "aws:") ||
			    strlen(str_or(value, "")) > 256) {
				e2_fail(c, 400,
					k > E2_TAGS_MAX ? "TagLimitExceeded"
							: "InvalidParameterValue",
					"Tag %d of %s is not allowed", k, kind);
				return false;
			}
			if (to && str_eq(kind, "instance"))
				e2_tag(to, key, str_or(value, ""));
		}
	return true;
}

static bool read_launch(struct e2_call *c, struct launch *l)
{
	const char *type = e2_param(c, "InstanceType");

	l->image = e2_param(c, "ImageId");
	l->token = e2_param(c, "ClientToken");
	l->profile = e2_param(c, "IamInstanceProfile.Arn");
	l->type = e2_type_of(c->s, type);
	if (!e2_number(c, "MinCount", 1, 1000, 0, &l->min) ||
	    !e2_number(c, "MaxCount", 1, 1000, 0, &l->max))
		return false;
	if (!l->image || !l->min || !l->max) {
		e2_fail(c, 400, "MissingParameter", "The request must contain the parameter %s",
			!l->image ? "ImageId"
			: !l->min ? "MinCount"
				  : "MaxCount");
	} else if (!str_starts(l->image, "ami-")) {
		e2_fail(c, 400, "InvalidAMIID.Malformed",
			"Invalid id: \"%s\" (expecting \"ami-...\")", l->image);
	} else if (!l->type) {
		e2_fail(c, 400, "InvalidParameterValue", "Invalid value '%s' for InstanceType.",
			str_or(type, ""));
	} else if (l->min > l->max) {
		e2_fail(c, 400, "InvalidParameterValue", "MinCount is above MaxCount");
	} else if (l->token && strlen(l->token) > TOKEN_MAX) {
		e2_fail(c, 400, "InvalidParameterValue", "ClientToken: at most %d characters",
			TOKEN_MAX);
	}
	return !c->code && read_zone(c, l) && read_market(c, l) && read_user_data(c, l) &&
	       read_tags(c, NULL);
}

/* --- ClientToken ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct e2_pair *)a)->name, ((const struct e2_pair *)b)->name);
}

/* Computes a digest of all parameters except the token, independent of their order. */
static void hash_of(const struct e2_call *c, uint8_t out[static CRYPTO_SHA256])
{
	struct e2_pair *v = mem_calloc(c->form.n + 1, sizeof(*v));
	struct crypto_hash *h = crypto_hash_new();

	memcpy(v, c->form.v, c->form.n * sizeof(*v));
	qsort(v, c->form.n, sizeof(*v), by_name);
	for (size_t i = 0; i < c->form.n; i++) {
		if (str_eq(v[i].name, "ClientToken"))
			continue;
		crypto_hash_add(h, v[i].name, strlen(v[i].name) + 1);
		crypto_hash_add(h, v[i].value, strlen(v[i].value) + 1);
	}
	crypto_hash_end(h, out);
	crypto_hash_free(h);
	free(v);
}

/* Returns the key under which a ClientToken is stored. A token is valid for its account, region and
 * requested zone; the same token with a different zone is a new launch. */
static char *token_key(const struct e2_call *c, const struct launch *l)
{
	return mem_printf("%s/%s/%s/%s", c->account, c->region, str_or(l->zone, ""), l->token);
}

static struct e2_instance *first_of(const struct sim_ec2 *s, const char *reservation)
{
	list_for_each (i, &s->instances, struct e2_instance, link)
		if (str_eq(i->reservation, reservation))
			return i;
	return NULL;
}

/* True if the request's ClientToken was used before. The request is then answered with the
 * instances of the earlier launch, or with an error if the parameters differ from those of the
 * earlier request. */
static bool is_repeated(struct e2_call *c, const struct launch *l)
{
	char *key = l->token ? token_key(c, l) : NULL;
	const struct e2_token *t = key ? map_get(c->s->tokens, key) : NULL;
	uint8_t hash[CRYPTO_SHA256];

	free(key);
	if (!t)
		return false;
	hash_of(c, hash);
	if (memcmp(hash, t->hash, sizeof(hash)) != 0)
		e2_fail(c, 400, "IdempotentParameterMismatch",
			"Arguments on this idempotent request are inconsistent with arguments "
			"used in previous request(s).");
	else
		e2_reservation_xml(c, first_of(c->s, t->reservation));
	return true;
}

static void remember(struct e2_call *c, const struct launch *l, const char *reservation)
{
	struct e2_token *t;
	char *key;

	if (!l->token)
		return;
	t = mem_new(struct e2_token);
	str_copy(t->reservation, sizeof(t->reservation), reservation);
	t->since = c->now;
	hash_of(c, t->hash);
	key = token_key(c, l);
	map_put(c->s->tokens, key, t);
	free(key);
}

/* --- capacity --------------------------------------------------------------------------------- */

static int64_t room_in(const struct sim_ec2 *s, const struct launch *l, const char *zone,
		       int64_t now)
{
	const struct fault *f = e2_stands(s, "Capacity", NULL, l->type->name, zone);
	int64_t used = 0;

	if (!f)
		return l->max;
	list_for_each (i, &s->instances, struct e2_instance, link)
		used += i->type == l->type && str_eq(i->zone, zone) && now < i->gone;
	return f->value > used ? f->value - used : 0;
}

/* Returns the number of further instances that the quota permits, on vCPUs or on Spot instances.
 * *by: the fault that sets the quota; NULL: no quota. */
static int64_t quota_left(const struct e2_call *c, const struct launch *l, struct fault **by)
{
	const char *what = l->spot ? "SpotQuota" : "Quota";
	int64_t used = 0;

	*by = e2_stands(c->s, what, NULL, NULL, NULL);
	if (!*by)
		return l->max;
	list_for_each (i, &c->s->instances, struct e2_instance, link)
		if (i->spot == l->spot && c->now < i->ending && str_eq(i->account, c->account) &&
		    e2_in_region(i->zone, c->region))
			used += l->spot ? 1 : i->type->vcpus;
	used = (*by)->value > used ? (*by)->value - used : 0;
	return l->spot ? used : used / l->type->vcpus;
}

static int64_t reserved_room(struct e2_call *c, struct launch *l)
{
	const struct e2_reserved *r = l->reserved;
	int64_t left = r->count - e2_reserved_used(c->s, r, c->now);

	if (r->type != l->type || (l->zone && l->zone != r->zone) ||
	    !e2_in_region(r->zone, c->region)) {
		e2_fail(c, 400, "InvalidParameterValue",
			"The instance configuration does not match the Capacity Reservation");
		return 0;
	}
	if (c->now < r->starts || c->now >= r->ends ||
	    (r->upfront >= 0 && c->now >= r->ends - SIM_EC2_BLOCK_ENDS_MS)) {
		e2_fail(c, 400, "InvalidCapacityReservationState",
			"The Capacity Reservation is not active");
		return 0;
	}
	l->zone = r->zone;
	if (left < l->min)
		e2_fail(c, 400, "ReservationCapacityExceeded",
			"Capacity Reservation does not have sufficient capacity");
	return left;
}

/* Sets *zone to the requested zone, or to the zone of the region with the most capacity. Returns
 * the number of instances that *zone can still launch; 0: none, and the error of the request is
 * set. */
static int64_t find_room(struct e2_call *c, struct launch *l, const char **zone)
{
	struct sim_ec2 *s = c->s;
	int64_t best = -1;

	if (l->reserved) {
		best = reserved_room(c, l);
		*zone = l->zone;
		return c->code ? 0 : best;
	}
	for (size_t i = 0; s->zones[i]; i++) {
		const char *z = s->zones[i];
		int64_t room;

		if ((l->zone && l->zone != z) || !e2_in_region(z, c->region) ||
		    !e2_is_offered(s, l->type, z))
			continue;
		room = room_in(s, l, z, c->now);
		if (room > best) {
			best = room;
			*zone = z;
		}
	}
	if (best < 0) {
		e2_fail(c, 400, "Unsupported",
			"Your requested instance type (%s) is not supported in your requested "
			"Availability Zone (%s).",
			l->type->name, str_or(l->zone, "any"));
	} else if (best < l->min) {
		fault_struck(e2_stands(s, "Capacity", NULL, l->type->name, *zone));
		e2_fail(c, 500, "InsufficientInstanceCapacity",
			"We currently do not have sufficient %s capacity in the Availability Zone "
			"you requested (%s).",
			l->type->name, *zone);
	}
	return c->code ? 0 : best;
}

static int64_t within_quota(struct e2_call *c, const struct launch *l)
{
	struct fault *by;
	int64_t left = quota_left(c, l, &by);

	if (left >= l->min)
		return left;
	fault_struck(by);
	if (l->spot)
		e2_fail(c, 400, "MaxSpotInstanceCountExceeded", "Max spot instance count exceeded");
	else
		e2_fail(c, 400, "VcpuLimitExceeded",
			"You have requested more vCPU capacity than your current vCPU limit of "
			"%lld allows.",
			(long long)by->value);
	return 0;
}

/* --- actions ---------------------------------------------------------------------------------- */

static void fill(struct e2_call *c, const struct launch *l, struct e2_instance *i)
{
	struct sim_ec2 *s = c->s;
	struct fault *slow = e2_stands(s, "SlowPending", NULL, l->type->name, i->zone);
	struct fault *dies = e2_stands(s, "Dies", NULL, l->type->name, i->zone);

	i->image = mem_strdup(l->image);
	i->subnet = mem_printf(SUBNET "%s", i->zone);
	i->token = mem_strdup(l->token);
	i->profile = mem_strdup(l->profile);
	if (l->user_data) {
		i->user_data = mem_alloc(l->user_data_len + 1);
		memcpy(i->user_data, l->user_data, l->user_data_len);
		i->user_data_len = l->user_data_len;
	}
	i->spot = l->spot;
	if (l->spot)
		str_format(i->spot_request, sizeof(i->spot_request), "sir-%08llx",
			   (unsigned long long)i->seq);
	i->reserved = l->reserved;
	if (i->reserved && i->reserved->upfront >= 0 && i->reserved->ends != E2_NEVER)
		e2_end(s, i, i->reserved->ends - SIM_EC2_BLOCK_ENDS_MS,
		       "Server.ScheduledStop: Stopped due to the end of its Capacity Block");
	if (slow)
		i->running = i->launched + slow->value;
	fault_struck(slow);
	if (dies) {
		char *why =
			mem_printf("%s: %s on launch", str_or(dies->name, "Server.InternalError"),
				   "Internal error");

		e2_end(s, i, i->launched + dies->value, why);
		i->gone = i->ending;
		free(why);
	}
	fault_struck(dies);
	read_tags(c, i);
}

static void launch(struct e2_call *c, struct launch *l)
{
	struct sim_ec2 *s = c->s;
	const char *zone = NULL;
	struct e2_instance *first = NULL;
	struct fault *partial;
	int64_t room = find_room(c, l, &zone), allowed, n;
	char reservation[E2_ID];

	if (!room)
		return;
	allowed = within_quota(c, l);
	if (!allowed)
		return;
	n = l->max < room ? l->max : room;
	n = n < allowed ? n : allowed;
	partial = e2_stands(s, "Partial", NULL, l->type->name, zone);
	n = partial && partial->value < n ? (partial->value > 0 ? partial->value : 1) : n;
	fault_struck(partial);
	str_format(reservation, sizeof(reservation), "r-0%016llx",
		   (unsigned long long)loop_random(s->loop));
	for (int64_t k = 0; k < n; k++) {
		struct e2_instance *i = e2_instance_new(s, l->type, zone, c->account);

		first = first ? first : i;
		i->index = (unsigned)k;
		str_copy(i->reservation, sizeof(i->reservation), reservation);
		fill(c, l, i);
	}
	remember(c, l, reservation);
	e2_watch(s);
	e2_reservation_xml(c, first);
}

void e2_run_instances(struct e2_call *c)
{
	struct launch l = {0};

	if (read_launch(c, &l)) {
		if (str_eq(e2_param(c, "DryRun"), "true"))
			e2_fail(c, 412, "DryRunOperation",
				"Request would have succeeded, but DryRun flag is set.");
		else if (!is_repeated(c, &l))
			launch(c, &l);
	}
	free(l.user_data);
}

/* True if all ids in the request exist; they are checked before any change. False: an id is
 * unknown, and the error of the request is set. */
static bool ids_are_known(struct e2_call *c, const char *param)
{
	const char *id;
	int n = 1;

	for (; (id = e2_param(c, "%s.%d", param, n)); n++) {
		const struct e2_instance *i = map_get(c->s->by_id, id);

		if (i && e2_is_known(c, i))
			continue;
		e2_fail(c, 400, "InvalidInstanceID.NotFound", "The instance ID '%s' does not exist",
			id);
		return false;
	}
	if (n == 1)
		e2_fail(c, 400, "MissingParameter", "The request must contain the parameter %s",
			param);
	return n > 1;
}

static void state_xml(struct buf *b, const char *element, enum e2_state state)
{
	e2_open(b, element);
	e2_int(b, "code", e2_state_codes[state]);
	e2_text(b, "name", e2_state_names[state]);
	e2_close(b, element);
}

void e2_terminate_instances(struct e2_call *c)
{
	const char *id;

	if (!ids_are_known(c, "InstanceId"))
		return;
	e2_open(&c->out, "instancesSet");
	for (int n = 1; (id = e2_param(c, "InstanceId.%d", n)); n++) {
		struct e2_instance *i = map_get(c->s->by_id, id);
		enum e2_state before = e2_state_at(i, c->now);

		e2_end(c->s, i, c->now, "Client.UserInitiatedShutdown: User initiated shutdown");
		e2_open(&c->out, "item");
		e2_text(&c->out, "instanceId", id);
		state_xml(&c->out, "currentState", e2_state_at(i, c->now));
		state_xml(&c->out, "previousState", before);
		e2_close(&c->out, "item");
	}
	e2_close(&c->out, "instancesSet");
	e2_watch(c->s);
}

void e2_create_tags(struct e2_call *c)
{
	const char *id, *key;

	if (!ids_are_known(c, "ResourceId"))
		return;
	for (int n = 1; (id = e2_param(c, "ResourceId.%d", n)); n++) {
		struct e2_instance *i = map_get(c->s->by_id, id);

		for (int k = 1; (key = e2_param(c, "Tag.%d.Key", k)); k++) {
			if (i->ntags >= E2_TAGS_MAX || str_starts(key, "aws:")) {
				e2_fail(c, 400, "TagLimitExceeded", "Tag %s is not allowed", key);
				return;
			}
			e2_tag(i, key, str_or(e2_param(c, "Tag.%d.Value", k), ""));
		}
	}
	e2_text(&c->out, "return", "true");
}
