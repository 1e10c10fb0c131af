/*
 * provider_types: field table and checks of Provider.spec.instanceTypes.
 * Tests: tests/unit/api/test_kinds.c
 */
#include "api/tables.h"

#include "base/money.h"

static const struct field pci_fields[] = {
	FIELD(provider_object_pci, id, "id", FIELD_STR, .required = true, .max_len = 9,
	      .pattern = "^[0-9a-f]{4}:[0-9a-f]{4}$", .valid = object_is_pci,
	      .want = "a PCI ID such as 10de:2330",
	      .doc = "PCI vendor and device ID of the GPU, such as 10de:2330."),
	FIELD(provider_object_pci, count, "count", FIELD_I64, .min = 1, .max = 256, .def = "1",
	      .doc = "Exact number of such GPUs. A machine with fewer or more of them does not "
		     "match."),
	FIELDS_END,
};

/* match is an anonymous struct whose only member is pci, so FIELD_ITEMS cannot be used. */
static const struct field match_fields[] = {
	{.name = "pci",
	 .type = FIELD_LIST,
	 .sub = pci_fields,
	 .size = sizeof(struct provider_object_pci),
	 .max_items = 32,
	 .doc = "GPUs that the machine must have. The agent counts PCI devices of display class "
		"(0x03) except console adapters, so an entry for any other device never "
		"matches."},
	FIELDS_END,
};

static const struct field root_device_fields[] = {
	FIELD_IN(provider_object_instance_type, root_device, model, "model", FIELD_STR,
		 .max_len = 128, .doc = "Exact model of the drive. If not set, any model."),
	FIELD_IN(provider_object_instance_type, root_device, min_bytes, "minBytes", FIELD_I64,
		 .min = 0, .max = INT64_MAX,
		 .doc = "Lowest capacity of the drive in bytes. 0 or not set: no limit."),
	FIELD_IN(provider_object_instance_type, root_device, max_bytes, "maxBytes", FIELD_I64,
		 .min = 0, .max = INT64_MAX,
		 .doc = "Highest capacity of the drive in bytes. 0 or not set: no limit."),
	FIELDS_END,
};

static const struct field expected_fields[] = {
	FIELD_IN(provider_object_instance_type, expected, serving, "serving", FIELD_DURATION,
		 .min = SECOND, .max = DAY,
		 .doc = "Operator's estimate of the time within which 9 of 10 machines serve, "
			"counted from the state claimed. If not set, drover shows no expected "
			"time until it has measured three machines."),
	FIELD_IN(provider_object_instance_type, expected, free, "free", FIELD_DURATION,
		 .min = SECOND, .max = 7 * DAY,
		 .doc = "Operator's estimate of the time within which 9 of 10 machines are "
			"wiped and free, counted from the state draining. If not set, drover "
			"shows no expected time until it has measured three machines."),
	FIELDS_END,
};

const struct field provider_object_type_fields[] = {
	FIELD(provider_object_instance_type, name, "name", FIELD_STR, .required = true,
	      .max_len = 128,
	      .doc = "Name of the instance type, used in Machine.spec.instanceType and as the "
		     "node's instance-type label."),
	FIELD_OBJ(provider_object_instance_type, match, "match", match_fields,
		  .doc = "Hardware that the agent must find in a machine of this type before "
			 "the machine becomes free. If not set, any hardware matches."),
	FIELD(provider_object_instance_type, capacity, "capacity", FIELD_RESOURCES,
	      .required = true, .max_items = 32,
	      .doc = "Capacity of a node of this type. drover plans with this capacity. The "
		     "machine serves only once its Node offers at least this much of each extended "
		     "resource (name with a slash, such as nvidia.com/gpu); other resources are "
		     "not compared."),
	FIELD(provider_object_instance_type, labels, "labels", FIELD_MAP, .max_items = 64,
	      .max_len = 63,
	      .doc = "Labels of a node of this type. drover plans with these labels, and sets "
		     "them on the Node after the Node has joined."),
	FIELD_OBJ(provider_object_instance_type, root_device, "rootDevice", root_device_fields,
		  .doc = "Selection of the drive to which the image is written. If no drive or "
			 "more than one matches, drover does not use the machine (reason "
			 "InventoryMismatch). If not set, the machine must have exactly one "
			 "drive."),
	FIELD(provider_object_instance_type, minimum_off_time, "minimumOffTime", FIELD_DURATION,
	      .min = 0, .max = HOUR, .def = "\"0s\"",
	      .doc = "Shortest time that a machine stays off between tenants, because memory "
		     "keeps its contents for seconds without power."),
	FIELD_OBJ(provider_object_instance_type, expected, "expected", expected_fields,
		  .doc = "Expected durations for machines of this type. drover uses them until "
			 "it has measured three machines."),
	FIELD(provider_object_instance_type, price_per_hour, "pricePerHour", FIELD_DECIMAL,
	      AS_MONEY,
	      .doc = "Price of one machine for one hour, in `currency`, which must be set too. May "
		     "also be set for owned machines. If not set, machine hours are "
		     "counted without a cost, and type ec2 launches no on-demand instances of this "
		     "instance type."),
	FIELD(provider_object_instance_type, currency, "currency", FIELD_STR, AS_CURRENCY,
	      .doc = "Currency of the prices of this instance type: an ISO 4217 code that is "
		     "current, not withdrawn."),
	FIELD(provider_object_instance_type, spot_price_per_hour, "spotPricePerHour", FIELD_DECIMAL,
	      AS_MONEY,
	      .doc = "Highest price to pay for one hour of a spot instance, in the field "
		     "currency. Budgets are charged this price. Only for type ec2. The field "
		     "currency must be set too. If not set, spot instances are not offered to "
		     "BurstPolicies."),
	FIELD(provider_object_instance_type, reserved_price_per_hour, "reservedPricePerHour",
	      FIELD_DECIMAL, AS_MONEY,
	      .doc = "Price charged to budgets for one hour of an instance in a capacity "
		     "reservation, such as the reservation's fee divided by its hours. Only for "
		     "type ec2. Requires `currency`. If not set, the price is "
		     "unknown, and BurstPolicies refuse reservations."),
	FIELD(provider_object_instance_type, efa_interfaces, "efaInterfaces", FIELD_I64, .min = 1,
	      .max = 64,
	      .doc = "Number of EFA network interfaces of an instance, one for each network card. "
		     "Only for type ec2. If not set, instances have one ordinary network "
		     "interface."),
	FIELD(provider_object_instance_type, interconnect, "interconnect", FIELD_ENUM,
	      .enums = object_interconnect_names,
	      .doc = "Network that connects instances of this type, for "
		     "spec.offers[].interconnect of BurstPolicies. Only for types ec2 and exec "
		     "with exec.elastic. If not set: Efa with efaInterfaces, otherwise None."),
	FIELDS_END,
};

/* Checks that the interconnect of each instance type is one that its instances can have. */
static int check_interconnects(const struct provider_object_spec *s, struct err *e)
{
	for (size_t i = 0; i < s->instance_types.n; i++) {
		const struct provider_object_instance_type *t = &s->instance_types.v[i];

		if (t->interconnect >= 0 && !s->ec2 && !(s->exec && s->exec->elastic))
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].interconnect: allowed only for "
				       "types ec2 and exec with exec.elastic",
				       i);
		if (s->ec2 && t->interconnect > INTERCONNECT_NONE &&
		    (t->interconnect != INTERCONNECT_EFA || !t->efa_interfaces))
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].interconnect: want None, or Efa "
				       "with efaInterfaces, for type ec2, got \"%s\"",
				       i, object_interconnect_names[t->interconnect]);
	}
	return 0;
}

static int check_prices(const struct provider_object_spec *s, struct err *e)
{
	for (size_t i = 0; i < s->instance_types.n; i++) {
		const struct provider_object_instance_type *t = &s->instance_types.v[i];

		if ((t->price_per_hour < 0) != !t->currency)
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].%s: required for %s", i,
				       t->currency ? "pricePerHour" : "currency",
				       t->currency ? "currency" : "pricePerHour");
		if ((t->spot_price_per_hour >= 0 || t->reserved_price_per_hour >= 0) &&
		    !t->currency)
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].currency: required for %s", i,
				       t->spot_price_per_hour >= 0 ? "spotPricePerHour"
								   : "reservedPricePerHour");
		if (t->currency && !money_is_currency(t->currency))
			return err_set(e, ERR_INVALID, 0,
				       "spec.instanceTypes[%zu].currency: want an ISO 4217 "
				       "currency code, got \"%s\"",
				       i, t->currency);
	}
	return 0;
}

int provider_object_types_check(const struct provider_object_spec *s, struct err *e)
{
	return check_interconnects(s, e) < 0 ? -1 : check_prices(s, e);
}
