#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/hardware/driver_cloud.h"
#include "controller/rules/provider.h"
#include "providers/ec2/provider.h"
#include "providers/provider.h"

static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	(void)object;
	if (kind == OBJECT_PROVIDER)
		drivers_update(d->drivers, name);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	d->on_change = on_change;
	bench_fleet(d);
	bench_run(d, 1000);
	return 0;
}

static struct driver *hall(struct bench *d)
{
	struct driver *s = driver_get(d->drivers, "hall-a");

	assert_non_null(s);
	return s;
}

static const struct machine *m1(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-1");
}

/* Attaches m-1 and checks the kind of the error. Returns the error's text, or without an error the
 * version of the Secret that was used. */
static const char *attach(struct bench *d, enum err_kind want)
{
	const char *version = NULL;
	struct provider_machine *pm;
	struct err e = {0};

	pm = driver_attach(hall(d), m1(d), &version, &e);
	if (pm) {
		assert_int_equal(want, ERR_NONE);
		provider_detach(hall(d)->provider, pm);
		return arena_strdup(d->a, version);
	}
	if (e.kind != want)
		fail_msg("want %s: %s", err_kind_name(want), e.text);
	return arena_strdup(d->a, e.text);
}

static void settled(struct bench *d, enum err_kind want, const char *says)
{
	const char *text;

	/* The first call fails, since the Secret is still being read. */
	(void)attach(d, ERR_UNAVAILABLE);
	bench_run(d, 3000);
	text = attach(d, want);
	if (!strstr(text, says))
		fail_msg("%s, want: %s", text, says);
}

/* --- drivers ---------------------------------------------------------------------------------- */

static void a_provider_has_a_driver_and_a_fabric(void **state)
{
	struct bench *d = *state;

	assert_non_null(hall(d)->provider);
	assert_non_null(hall(d)->fabric);
	assert_int_equal(hall(d)->error.kind, ERR_NONE);
	assert_null(driver_get(d->drivers, "hall-b"));
}

static void a_provider_that_cannot_be_used_says_so_and_harms_no_other(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'Provider', 'metadata': {'name': 'old'}, "
		     "'spec': {'type': 'libvirt', 'libvirt': {'uri': 'qemu:///system'},"
		     " 'network': {'type': 'none'}}}");
	assert_non_null(driver_get(d->drivers, "old"));
	assert_null(driver_get(d->drivers, "old")->provider);
	assert_null(driver_get(d->drivers, "old")->fabric);
	assert_int_equal(driver_get(d->drivers, "old")->error.kind, ERR_DENIED);
	assert_non_null(strstr(driver_get(d->drivers, "old")->error.text, "qemu:///system"));
	assert_non_null(hall(d)->provider);
}

static void nothing(void *arg)
{
	(void)arg;
}

/* Returns a life of m-1 that keeps the driver of hall-a in use until the driver closes. */
static struct life *hanging(struct bench *d)
{
	struct life *l = bench_life(d, "m-1");

	l->driver = hall(d);
	l->port.busy = l->port.known = true;
	loop_defer_init(&l->tick, d->g, nothing, NULL);
	map_put(d->lives.map, "m-1", l);
	return l;
}

static void unhang(struct bench *d, struct life *l)
{
	loop_defer_cancel(&l->tick);
	map_del(d->lives.map, "m-1");
	bench_life_done(l);
}

static void only_what_concerns_the_driver_takes_it_down(void **state)
{
	struct bench *d = *state;
	struct life *l = hanging(d);

	bench_patch(d, OBJECT_PROVIDER, "hall-a",
		    "{'spec': {'limits': {'powerOnPerMinute': 3}, 'paused': true}}");
	bench_patch(d, OBJECT_PROVIDER, "hall-a", "{'metadata': {'labels': {'a': 'b'}}}");
	assert_ptr_equal(l->driver, hall(d));
	bench_patch(d, OBJECT_PROVIDER, "hall-a", "{'spec': {'limits': {'requestsPerSecond': 7}}}");
	assert_null(l->driver);
	assert_false(l->port.busy);
	assert_false(l->port.known);
	assert_non_null(hall(d)->provider);
	l->driver = hall(d);
	bench_patch(
		d, OBJECT_PROVIDER, "hall-a",
		"{'spec': {'network': {'type': 'exec', 'exec': {'command': ['/fake/port-move']},"
		" 'segments': {'quarantine': 'q-1', 'provisioning': 'p-1'}}}}");
	assert_null(l->driver);
	l->driver = hall(d);
	bench_patch(d, OBJECT_PROVIDER, "hall-a",
		    "{'spec': {'network': {'exec': {'command': ['/fake/port-move', '--dry']}}}}");
	assert_null(l->driver);
	unhang(d, l);
}

static void a_provider_that_is_gone_takes_its_driver_along(void **state)
{
	struct bench *d = *state;
	struct life *l = hanging(d);

	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/providers/hall-a", NULL);
	bench_run(d, 1000);
	assert_null(driver_get(d->drivers, "hall-a"));
	assert_null(l->driver);
	drivers_update(d->drivers, "hall-a"); /* Calling drivers_update() again is harmless. */
	unhang(d, l);
}

/* --- type ec2 --------------------------------------------------------------------------------- */

static const char aws[] =
	"{'kind': 'Provider', 'metadata': {'name': 'aws'}, "
	"'spec': {'type': 'ec2', 'ec2': {'image': 'ami-1',"
	" 'keyName': 'people', 'instanceProfile': 'worker', "
	"'placementGroup': 'gpus', 'reservations': true,"
	" 'eventQueues': ['https://sqs.us-east-1.amazonaws.com/123456789012/drover'],"
	" 'assumeRole': {'arn': 'arn:aws:iam::210987654321:role/drover', 'externalID': '42'},"
	" 'rootDevice': {'name': '/dev/sda1', 'sizeGiB': 200}, 'zones': ["
	"{'region': 'eu-west-1', 'zone': 'eu-west-1a', 'subnet': 'subnet-1', "
	"'securityGroups': ['sg-1', 'sg-2']},"
	"{'region': 'us-east-1', 'zone': 'us-east-1b', 'image': 'ami-2'}]}, 'instanceTypes': ["
	"{'name': 'p5', 'capacity': {'cpu': '1'}, 'efaInterfaces': 32, "
	"'pricePerHour': '55.040001', 'currency': 'EUR'},"
	"{'name': 'g5', 'capacity': {'cpu': '1'}}]}}";

static const struct provider_object *aws_of(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_PROVIDER, provider_object, "aws");
}

static void an_ec2_provider_has_what_its_object_says(void **state)
{
	struct bench *d = *state;
	struct provider_cloud c;

	bench_put(d, aws);
	assert_non_null(driver_get(d->drivers, "aws")->provider);
	assert_true(provider_is_elastic(aws_of(d)));
	assert_ok(driver_cloud_of(driver_get(d->drivers, "aws"), aws_of(d), d->a, &c, &d->e),
		  &d->e);
	assert_null(c.endpoint);
	assert_null(c.ca_pem);
	assert_int_equal(c.login, PROVIDER_LOGIN_FOUND);
	assert_string_equal(c.image, "ami-1");
	assert_string_equal(c.key_name, "people");
	assert_string_equal(c.instance_profile, "worker");
	assert_string_equal(c.placement_group, "gpus");
	assert_string_equal(c.root_device, "/dev/sda1");
	assert_int_equal(c.root_gib, 200);
	assert_true(c.reservations);
	assert_int_equal(c.queues.n, 1);
	assert_string_equal(c.queues.v[0].url,
			    "https://sqs.us-east-1.amazonaws.com/123456789012/drover");
	assert_string_equal(c.queues.v[0].region, "us-east-1");
	assert_string_equal(c.assume_role.arn, "arn:aws:iam::210987654321:role/drover");
	assert_string_equal(c.assume_role.external_id, "42");
	assert_string_equal(c.assume_role.session_name, "drover");
	assert_int_equal(c.zones.n, 2);
	assert_string_equal(c.zones.v[0].region, "eu-west-1");
	assert_string_equal(c.zones.v[0].zone, "eu-west-1a");
	assert_string_equal(c.zones.v[0].subnet, "subnet-1");
	assert_string_equal(c.zones.v[0].security_groups[1], "sg-2");
	assert_null(c.zones.v[0].security_groups[2]);
	assert_null(c.zones.v[1].security_groups);
	assert_string_equal(c.zones.v[1].image, "ami-2");
	assert_int_equal(c.types.n, 2);
	assert_int_equal(c.types.v[0].efa_interfaces, 32);
	assert_int_equal(c.types.v[1].efa_interfaces, 0);
	assert_true(c.types.v[1].on_demand);
	assert_false(c.types.v[1].spot);
	assert_int_equal(c.prices.n, 1);
	assert_string_equal(c.prices.v[0].type, "p5");
	assert_int_equal(c.prices.v[0].micros_per_hour, 55040001);
	assert_string_equal(c.currency, "EUR");
}

static bool is_rebuilt(struct bench *d, const char *patch)
{
	struct driver *s = driver_get(d->drivers, "aws");
	char *before = mem_strdup(s->spec_digest);
	bool same;

	bench_patch(d, OBJECT_PROVIDER, "aws", patch);
	same = str_eq(before, s->spec_digest);
	free(before);
	return !same;
}

static void what_may_be_launched_and_its_price_need_a_new_driver(void **state)
{
	struct bench *d = *state;

	bench_put(d, aws);
	assert_false(is_rebuilt(d, "{'spec': {'paused': true}}"));
	assert_true(is_rebuilt(d, "{'spec': {'ec2': {'image': 'ami-3'}}}"));
	assert_true(is_rebuilt(d, "{'spec': {'ec2': {'assumeRole': {'externalID': '43'}}}}"));
	assert_true(is_rebuilt(
		d, "{'spec': {'instanceTypes': [{'name': 'p5', 'capacity': {'cpu': '1'}}]}}"));
	assert_true(is_rebuilt(d, "{'spec': {'instanceTypes': [{'name': 'p5', "
				  "'capacity': {'cpu': '1'}, 'efaInterfaces': 4}]}}"));
	assert_false(is_rebuilt(d, "{'spec': {'instanceTypes': [{'name': 'p5', "
				   "'capacity': {'cpu': '2'}, 'efaInterfaces': 4}]}}"));
}

static void ec2_says(struct bench *d, enum err_kind kind, const char *says)
{
	struct provider_cloud c;

	drivers_update(d->drivers, "aws");
	if (driver_cloud_of(driver_get(d->drivers, "aws"), aws_of(d), d->a, &c, &d->e) == 0) {
		assert_int_equal(kind, ERR_NONE);
		assert_non_null(driver_get(d->drivers, "aws")->provider);
		assert_int_equal(c.login, PROVIDER_LOGIN_KEYS);
		return;
	}
	if (d->e.kind != kind || !strstr(d->e.text, says))
		fail_msg("%s, want: %s", d->e.text, says);
	assert_null(driver_get(d->drivers, "aws")->provider);
	assert_int_equal(driver_get(d->drivers, "aws")->error.kind, kind);
}

static void ec2_keys_go_only_where_their_secret_says(void **state)
{
	struct bench *d = *state;

	bench_put(d, aws);
	bench_patch(d, OBJECT_PROVIDER, "aws",
		    "{'spec': {'credentialsSecretRef': {'name': 'aws'}}}");
	ec2_says(d, ERR_UNAVAILABLE, "being read");
	bench_run(d, 3000);
	ec2_says(d, ERR_NOT_FOUND, "spec.credentialsSecretRef: Secret aws: does not exist");
	bench_secret(d, "aws", "accessKeyID", "AKID", NULL, NULL);
	bench_run(d, 5000);
	ec2_says(d, ERR_NOT_FOUND, "keys accessKeyID and secretAccessKey are needed");
	bench_secret(d, "aws", "accessKeyID", "AKID", "secretAccessKey", "PLANTED");
	bench_run(d, 35000);
	ec2_says(d, ERR_NONE, "");
	bench_patch(d, OBJECT_PROVIDER, "aws",
		    "{'spec': {'ec2': {'endpoint': 'https://evil.example'}}}");
	ec2_says(d, ERR_NOT_FOUND, "Secret aws has no key endpoint");
	bench_secret(d, "aws", "endpoint", "https://ec2.example", NULL, NULL);
	bench_run(d, 35000);
	ec2_says(d, ERR_DENIED, "may not be sent there");
	bench_patch(d, OBJECT_PROVIDER, "aws",
		    "{'spec': {'ec2': {'endpoint': 'https://ec2.example'}}}");
	ec2_says(d, ERR_NONE, "");
	bench_patch(d, OBJECT_PROVIDER, "aws",
		    "{'spec': {'ec2': {'caSecretRef': {'name': 'aws-ca'}}}}");
	ec2_says(d, ERR_UNAVAILABLE, "Secret aws-ca is being read");
	bench_secret(d, "aws-ca", "other", "x", NULL, NULL);
	bench_run(d, 3000);
	ec2_says(d, ERR_NOT_FOUND, "spec.ec2.caSecretRef: Secret aws-ca has no ca.crt");
}

static void an_instance_type_is_found_by_its_name(void **state)
{
	struct bench *d = *state;
	const struct provider_object *p =
		CTX_GET(&d->c, OBJECT_PROVIDER, provider_object, "hall-a");

	assert_string_equal(provider_instance_type(p, "hgx")->name, "hgx");
	assert_null(provider_instance_type(p, "dgx"));
	assert_null(provider_instance_type(p, NULL));
	assert_int_equal(provider_type_interconnect(
				 &(struct provider_object_instance_type){.interconnect = -1}),
			 INTERCONNECT_NONE);
	assert_int_equal(provider_type_interconnect(&(struct provider_object_instance_type){
				 .interconnect = -1, .efa_interfaces = 2}),
			 INTERCONNECT_EFA);
	assert_int_equal(provider_type_interconnect(&(struct provider_object_instance_type){
				 .interconnect = INTERCONNECT_NONE, .efa_interfaces = 2}),
			 INTERCONNECT_NONE);
}

/* --- attaching a machine ---------------------------------------------------------------------- */

static void a_machine_is_attached_with_its_own_credentials(void **state)
{
	struct bench *d = *state;
	const char *version;

	bench_secret(d, "bmc-1", "username", "root", "password", "p");
	settled(d, ERR_NONE, "");
	version = attach(d, ERR_NONE);
	assert_true(*version != '\0');
	/* A changed Secret has a different version, so that a refused login is tried again. */
	bench_secret(d, "bmc-1", "username", "root", "password", "q");
	bench_run(d, 35000);
	assert_string_not_equal(attach(d, ERR_NONE), version);
}

static void without_its_own_it_takes_the_providers(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_MACHINE, "m-1", "{'spec': {'bmc': {'credentialsSecretRef': null}}}");
	settled(d, ERR_NOT_FOUND, "Secret bmc-default: does not exist");
	bench_secret(d, "bmc-default", "username", "root", "password", "p");
	bench_run(d, 5000);
	(void)attach(d, ERR_NONE);
	bench_patch(d, OBJECT_PROVIDER, "hall-a", "{'spec': {'credentialsSecretRef': null}}");
	assert_non_null(strstr(attach(d, ERR_NOT_FOUND), "spec.bmc.credentialsSecretRef"));
}

static void credentials_that_are_missing_are_named(void **state)
{
	struct bench *d = *state;

	settled(d, ERR_NOT_FOUND, "Secret bmc-1: does not exist");
	bench_secret(d, "bmc-1", "username", "root", NULL, NULL);
	bench_run(d, 5000);
	assert_non_null(strstr(attach(d, ERR_NOT_FOUND), "keys username and password are needed"));
}

static void credentials_that_may_not_be_read_are_named(void **state)
{
	struct bench *d = *state;

	d->host.denied = true;
	settled(d, ERR_NOT_FOUND, "Secret bmc-1: drover may not read it");
	d->host.denied = false;
}

static void while_the_api_fails_it_is_only_not_known_yet(void **state)
{
	struct bench *d = *state;

	bench_away(d, &d->host, true);
	settled(d, ERR_UNAVAILABLE, "Secret bmc-1 is being read");
	bench_away(d, &d->host, false);
}

static void a_ca_of_its_own_must_be_there(void **state)
{
	struct bench *d = *state;
	struct secret *key = NULL;
	char *pem = NULL;

	assert_ok(crypto_ca_new("bmc", loop_wall(d->l), 10, &pem, &key, &d->e), &d->e);
	bench_secret(d, "bmc-1", "username", "root", "password", "p");
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'spec': {'bmc': {'tls': {'trustOnFirstUse': null, "
		    "'caSecretRef': {'name': 'bmc-ca'}}}}}");
	(void)attach(d, ERR_UNAVAILABLE);
	bench_run(d, 3000);
	assert_non_null(strstr(attach(d, ERR_UNAVAILABLE), "spec.bmc.tls.caSecretRef"));
	bench_run(d, 3000);
	assert_non_null(
		strstr(attach(d, ERR_NOT_FOUND),
		       "spec.bmc.tls.caSecretRef: cannot read key ca.crt of Secret bmc-ca"));
	bench_secret(d, "bmc-ca", "other", pem, NULL, NULL);
	bench_run(d, 3000);
	(void)attach(d, ERR_NOT_FOUND);
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'spec': {'bmc': {'tls': {'caSecretRef': {'key': 'other'}}}}}");
	(void)attach(d, ERR_NONE);
	free(pem);
	secret_free(key);
}

static void no_error_holds_a_credential(void **state)
{
	struct bench *d = *state;

	bench_secret(d, "bmc-1", "username", "root", "password", "PLANTED-SECRET");
	bench_patch(
		d, OBJECT_MACHINE, "m-1",
		"{'spec': {'bmc': {'address': 'https://10.0.8.17:99999/redfish/v1/Systems/1'}}}");
	(void)attach(d, ERR_UNAVAILABLE);
	bench_run(d, 3000);
	assert_null(strstr(attach(d, ERR_INVALID), "PLANTED"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_provider_has_a_driver_and_a_fabric),
		T(a_provider_that_cannot_be_used_says_so_and_harms_no_other),
		T(only_what_concerns_the_driver_takes_it_down),
		T(a_provider_that_is_gone_takes_its_driver_along),
		T(an_ec2_provider_has_what_its_object_says),
		T(what_may_be_launched_and_its_price_need_a_new_driver),
		T(ec2_keys_go_only_where_their_secret_says),
		T(an_instance_type_is_found_by_its_name),
		T(a_machine_is_attached_with_its_own_credentials),
		T(without_its_own_it_takes_the_providers),
		T(credentials_that_are_missing_are_named),
		T(credentials_that_may_not_be_read_are_named),
		T(while_the_api_fails_it_is_only_not_known_yet),
		T(a_ca_of_its_own_must_be_there),
		T(no_error_holds_a_credential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
