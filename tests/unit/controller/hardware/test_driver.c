#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/provider.h"

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

/* What attaching m-1 says now: its error, or the Secret's version. */
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

	(void)attach(d, ERR_UNAVAILABLE); /* being read */
	bench_run(d, 3000);
	text = attach(d, want);
	if (!strstr(text, says))
		fail_msg("%s, want: %s", text, says);
}

/* --- drivers --------------------------------------------------------------------------------------- */

static void a_provider_has_a_driver_and_a_fabric(void **state)
{
	struct bench *d = *state;

	assert_non_null(hall(d)->provider);
	assert_non_null(hall(d)->fabric);
	assert_int_equal(hall(d)->error.kind, ERR_NONE);
	assert_null(driver_get(d->drivers, "hall-b"));
}

static void a_type_without_its_own_fields_says_so_and_harms_no_other(void **state)
{
	struct bench *d = *state;

	bench_put(
		d,
		"{'kind': 'Provider', 'metadata': {'name': 'old'}, 'spec': {'type': 'ec2', 'network': {'type': 'none'},"
		" 'credentialsSecretRef': {'name': 'x'}}}");
	assert_non_null(driver_get(d->drivers, "old"));
	assert_null(driver_get(d->drivers, "old")->provider);
	assert_null(driver_get(d->drivers, "old")->fabric);
	assert_int_equal(driver_get(d->drivers, "old")->error.kind, ERR_INVALID);
	assert_non_null(strstr(driver_get(d->drivers, "old")->error.text, "may be launched"));
	assert_non_null(hall(d)->provider);
}

static void nothing(void *arg)
{
	(void)arg;
}

/* A life that hangs on hall-a, until its driver goes. */
static struct life *hanging(struct bench *d)
{
	struct life *l = bench_life(d, "m-1");

	l->driver = hall(d);
	l->place.busy = l->place.known = true;
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
	assert_false(l->place.busy);
	assert_false(l->place.known);
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
	drivers_update(d->drivers, "hall-a"); /* told twice */
	unhang(d, l);
}

static void an_instance_type_is_found_by_its_name(void **state)
{
	struct bench *d = *state;
	const struct provider_object *p =
		CTX_GET(&d->c, OBJECT_PROVIDER, provider_object, "hall-a");

	assert_string_equal(provider_instance_type(p, "hgx")->name, "hgx");
	assert_null(provider_instance_type(p, "dgx"));
	assert_null(provider_instance_type(p, NULL));
}

/* --- attaching a machine --------------------------------------------------------------------------- */

static void a_machine_is_attached_with_its_own_credentials(void **state)
{
	struct bench *d = *state;
	const char *version;

	bench_secret(d, "bmc-1", "username", "root", "password", "p");
	settled(d, ERR_NONE, "");
	version = attach(d, ERR_NONE);
	assert_true(*version != '\0');
	/* Changed: another version, that is how a refused login is tried again. */
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
	assert_non_null(strstr(attach(d, ERR_INVALID), "spec.bmc.credentialsSecretRef"));
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
	bench_patch(
		d, OBJECT_MACHINE, "m-1",
		"{'spec': {'bmc': {'tls': {'trustOnFirstUse': null, 'caSecretRef': {'name': 'bmc-ca'}}}}}");
	(void)attach(d, ERR_UNAVAILABLE);
	bench_run(d, 3000);
	assert_non_null(strstr(attach(d, ERR_UNAVAILABLE), "spec.bmc.tls.caSecretRef"));
	bench_run(d, 3000);
	assert_non_null(strstr(attach(d, ERR_NOT_FOUND),
			       "spec.bmc.tls.caSecretRef: Secret bmc-ca has no such key"));
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
		T(a_type_without_its_own_fields_says_so_and_harms_no_other),
		T(only_what_concerns_the_driver_takes_it_down),
		T(a_provider_that_is_gone_takes_its_driver_along),
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
