/* A BMC's password is sent only where it was sent first, or where an operator approved since; never
 * merely because spec.bmc points to a new address. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
#define STRANGER "https://10.6.6.6"
#define STRANGERS_PIN "6666666666666666666666666666666666666666666666666666666666666666"
#define SYSTEM "/redfish/v1/Systems/1"

/* A server of a third party that accepts every password. */
struct stranger {
	struct sim_world w;
	struct fake_bmc bmc;
};

static struct server *start(struct stranger *s, uint64_t seed)
{
	world_start(&s->w, seed, 1);
	fake_bmc_init(&s->bmc, s->w.hardware);
	http_mem_serve(s->w.net, STRANGER, s->bmc.httpd);
	http_mem_pin(s->w.net, STRANGER, STRANGERS_PIN);
	world_replica(&s->w);
	return &s->w.servers[0];
}

static void stop(struct stranger *s)
{
	world_stop(&s->w);
	fake_bmc_done(&s->bmc);
}

/* Returns spec.bmc.tls with this fingerprint. pin NULL: the certificate is pinned at first use. */
static json_t *tls(const char *pin)
{
	return pin ? json_pack("{s:s, s:n}", "fingerprint", pin, "trustOnFirstUse")
		   : json_pack("{s:n, s:b}", "fingerprint", "trustOnFirstUse", 1);
}

static void point(struct server *b, const char *address, const char *pin)
{
	world_patch_machine(
		b, json_pack("{s:{s:s, s:o}}", "bmc", "address", address, "tls", tls(pin)));
}

static void approve(struct server *b, const char *id, const char *address, const char *pin)
{
	world_patch_machine(b, json_pack("{s:{s:s, s:s, s:{s:s, s:s, s:o}}}", "approval", "action",
					 "TrustBMC", "id", id, "bmc", "credentials", "bmc",
					 "address", address, "tls", tls(pin)));
}

static void assert_nothing_went(struct stranger *s, struct server *b, unsigned resets)
{
	world_wait_reason(b, "BmcNotTrusted", 120);
	world_run(&s->w, 3600 * 1000);
	assert_int_equal(s->bmc.requests, 0);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "BmcNotTrusted");
}

static void a_changed_address_gets_nothing(void **state)
{
	struct stranger s;
	struct server *b = start(&s, 900);
	char was[128];
	unsigned resets;

	(void)state;
	world_wait_state(b, "free", 1800);
	str_copy(was, sizeof(was), world_at(b, "spec.bmc.address"));
	assert_string_equal(world_at(b, "status.trustedBMC.address"), was);
	resets = fake_bmc_count(&b->bmc, RESET);
	point(b, STRANGER SYSTEM, "sha256:" STRANGERS_PIN);
	assert_nothing_went(&s, b, resets);
	/* None of these approvals is enough: of the earlier address, of only the new address, of
	 * only the new certificate. */
	approve(b, "01", was, NULL);
	assert_nothing_went(&s, b, resets);
	approve(b, "02", STRANGER SYSTEM, NULL);
	assert_nothing_went(&s, b, resets);
	approve(b, "03", was, "sha256:" STRANGERS_PIN);
	assert_nothing_went(&s, b, resets);
	assert_string_equal(world_at(b, "status.trustedBMC.address"), was);
	/* A return to the trusted address needs no approval. */
	point(b, was, NULL);
	world_pod(&s.w, &s.w.tenants[0], "train");
	world_wait_running(&s.w, &s.w.tenants[0], "train", 1800);
	assert_int_equal(s.bmc.requests, 0);
	stop(&s);
}

static void what_a_certificate_is_known_by_is_part_of_it(void **state)
{
	struct stranger s;
	struct server *b = start(&s, 901);
	char was[128];
	unsigned resets;

	(void)state;
	world_wait_state(b, "free", 1800);
	str_copy(was, sizeof(was), world_at(b, "spec.bmc.address"));
	resets = fake_bmc_count(&b->bmc, RESET);
	/* Another server answers at the machine's own address. */
	http_mem_serve(s.w.net, b->origin, s.bmc.httpd);
	http_mem_pin(s.w.net, b->origin, STRANGERS_PIN);
	point(b, was, "sha256:" STRANGERS_PIN);
	assert_nothing_went(&s, b, resets);
	world_patch_machine(b, json_pack("{s:{s:{s:n, s:{s:s}}}}", "bmc", "tls", "fingerprint",
					 "caSecretRef", "name", "my-ca"));
	assert_nothing_went(&s, b, resets);
	stop(&s);
}

/* The BMC moved to a new address. drover uses the address as soon as an operator approves it, and
 * not before. */
static void an_approved_address_is_used_and_its_certificate_pinned_anew(void **state)
{
	struct stranger s;
	struct server *b = start(&s, 902);
	char address[128], pin[80];
	unsigned resets;

	(void)state;
	world_wait_state(b, "free", 1800);
	resets = fake_bmc_count(&b->bmc, RESET);
	str_copy(pin, sizeof(pin), world_at(b, "status.bmc.fingerprint"));
	http_mem_serve(s.w.net, "https://10.0.9.1", b->bmc.httpd);
	http_free(b->as_bmc);
	b->as_bmc = http_new(
		s.w.hardware,
		http_mem_transport(s.w.net, s.w.hardware, "10.0.9.1:40001", NULL, NULL), 0);
	http_mem_serve(s.w.net, b->origin, s.bmc.httpd); /* the stranger has the old address now */
	http_free(b->as_bmc);
	b->as_bmc = http_new(
		s.w.hardware,
		http_mem_transport(s.w.net, s.w.hardware, "10.0.9.1:40001", NULL, NULL), 0);
	point(b, "https://10.0.9.1" SYSTEM, NULL);
	assert_nothing_went(&s, b, resets);
	approve(b, "01", "https://10.0.9.1" SYSTEM, NULL);
	world_pod(&s.w, &s.w.tenants[0], "train");
	world_wait_running(&s.w, &s.w.tenants[0], "train", 1800);
	str_copy(address, sizeof(address), world_at(b, "status.trustedBMC.address"));
	assert_string_equal(address, "https://10.0.9.1" SYSTEM);
	assert_string_equal(world_at(b, "status.approvalID"), "01");
	assert_string_not_equal(world_at(b, "status.bmc.fingerprint"), pin);
	assert_int_equal(s.bmc.requests, 0);
	/* An approval counts only once. */
	resets = fake_bmc_count(&b->bmc, RESET);
	point(b, STRANGER SYSTEM, "sha256:" STRANGERS_PIN);
	approve(b, "01", STRANGER SYSTEM, "sha256:" STRANGERS_PIN);
	assert_nothing_went(&s, b, resets);
	world_check_serving(&s.w, &s.w.tenants[0], "train");
	stop(&s);
}

/* The address stays the same, but the board was replaced; an operator approves the new
 * certificate. */
static void a_replaced_certificate_is_pinned_anew_by_an_approval(void **state)
{
	static const char pin[] =
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	struct stranger s;
	struct server *b = start(&s, 903);
	char address[128];

	(void)state;
	world_wait_state(b, "free", 1800);
	str_copy(address, sizeof(address), world_at(b, "spec.bmc.address"));
	http_mem_pin(s.w.net, b->origin, pin);
	world_pod(&s.w, &s.w.tenants[0], "train");
	world_wait_reason(b, "BmcAuthFailed", 1800);
	approve(b, "01", address, NULL);
	world_wait_running(&s.w, &s.w.tenants[0], "train", 1800);
	assert_string_equal(world_at(b, "status.bmc.fingerprint") + strlen("sha256:"), pin);
	stop(&s);
}

static void let(struct server *b, const char *id, const char *login, json_t *how)
{
	world_patch_machine(b, json_pack("{s:{s:s, s:s, s:{s:s, s:s, s:o}}}", "approval", "action",
					 "TrustBMC", "id", id, "bmc", "credentials", login,
					 "address", world_at(b, "spec.bmc.address"), "tls", how));
}

/* The password of another BMC or of a tenant must not be sent to this BMC. */
static void another_secrets_password_goes_nowhere(void **state)
{
	struct stranger s;
	struct server *b = start(&s, 905);
	const char *rack = "/apis/drover.dev/v1alpha1/providers/rack";
	unsigned logins;

	(void)state;
	world_secret(&s.w, "drover-system", "theirs", "username", "drover", "password", "secret-2");
	world_wait_state(b, "free", 1800);
	assert_string_equal(world_at(b, "status.trustedBMC.credentials"), "bmc");
	logins = b->bmc.logins;
	world_patch_machine(
		b, json_pack("{s:{s:{s:s}}}", "bmc", "credentialsSecretRef", "name", "theirs"));
	world_wait_reason(b, "BmcNotTrusted", 120);
	world_run(&s.w, 3600 * 1000);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "the Secret with its password (credentialsSecretRef)"));
	let(b, "01", "bmc", tls(NULL)); /* approves the Secret that is no longer referenced */
	world_run(&s.w, 600 * 1000);
	assert_int_equal(b->bmc.logins, logins);
	world_patch_machine(b, json_pack("{s:{s:n}}", "bmc", "credentialsSecretRef"));
	world_run(&s.w, 600 * 1000);
	assert_int_equal(b->bmc.wrong_passwords, 0);
	/* The Provider's Secret is protected likewise. */
	logins = b->bmc.logins;
	world_do(&s.w, &s.w.host, "PATCH", rack,
		 json_pack("{s:{s:{s:s}}}", "spec", "credentialsSecretRef", "name", "theirs"));
	world_wait_reason(b, "BmcNotTrusted", 3600);
	world_run(&s.w, 3600 * 1000);
	assert_int_equal(b->bmc.logins, logins);
	b->bmc.password = "secret-2";
	let(b, "02", "theirs", tls(NULL));
	world_pod(&s.w, &s.w.tenants[0], "train");
	world_wait_running(&s.w, &s.w.tenants[0], "train", 1800);
	assert_string_equal(world_at(b, "status.trustedBMC.credentials"), "theirs");
	assert_int_equal(b->bmc.wrong_passwords, 0);
	stop(&s);
}

/* A user who may write the CA's Secret must not be able to choose who gets the password. */
static void a_ca_that_was_exchanged_is_not_the_one_that_was_trusted(void **state)
{
	json_t *ca = json_pack("{s:{s:s}, s:n, s:n}", "caSecretRef", "name", "my-ca", "fingerprint",
			       "trustOnFirstUse");
	struct stranger s;
	struct server *b;
	char digest[80], *other;

	(void)state;
	world_start(&s.w, 906, 1);
	b = &s.w.servers[0];
	fake_bmc_init(&s.bmc, s.w.hardware);
	world_secret(&s.w, "drover-system", "my-ca", "ca.crt", s.w.ca_pem, NULL, NULL);
	world_patch_machine(b, json_pack("{s:{s:O}}", "bmc", "tls", ca));
	world_replica(&s.w);
	world_wait_state(b, "free", 1800);
	str_copy(digest, sizeof(digest), world_at(b, "status.trustedBMC.caDigest"));
	assert_true(str_starts(digest, "sha256:"));
	other = mem_printf("%s%s", s.w.ca_pem, s.w.ca_pem);
	world_secret(&s.w, "drover-system", "my-ca", "ca.crt", other, NULL, NULL);
	world_wait_reason(b, "BmcNotTrusted", 120);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "the contents of the Secret in spec.bmc.tls.caSecretRef"));
	assert_string_equal(world_at(b, "status.trustedBMC.caDigest"), digest);
	let(b, "01", "bmc", ca);
	world_pod(&s.w, &s.w.tenants[0], "train");
	world_wait_running(&s.w, &s.w.tenants[0], "train", 1800);
	assert_string_not_equal(world_at(b, "status.trustedBMC.caDigest"), digest);
	free(other);
	stop(&s);
}

static bool first_is_written_down(struct httpd_req *q, unsigned n, void *arg)
{
	struct server *b = arg;

	(void)q;
	if (n == 0)
		assert_string_equal(world_at(b, "status.trustedBMC.address"),
				    world_at(b, "spec.bmc.address"));
	return false;
}

/* The address and certificate that drover is about to trust are recorded before the first login, so
 * that the record survives if the leader dies then. */
static void it_is_written_down_before_the_first_request(void **state)
{
	struct stranger s;
	struct server *b;

	(void)state;
	world_start(&s.w, 904, 1);
	b = &s.w.servers[0];
	b->bmc.tamper = first_is_written_down;
	b->bmc.tamper_arg = b;
	world_replica(&s.w);
	world_wait_state(b, "free", 1800);
	assert_true(b->bmc.requests > 0);
	world_stop(&s.w);
}

static int64_t fence_of(const struct server *b)
{
	return json_int_at(json_at(b->object, "status", "operation"), "fence");
}

/* One write sets both the fence and the first trust. With two writes for each of a thousand
 * machines, the first observation of the last machine would be a tenth of a second later. */
static void who_takes_over_writes_the_first_trust_with_its_fence(void **state)
{
	struct sim_world w;
	struct server *b;
	int64_t fence;

	(void)state;
	world_start(&w, 906, 1);
	b = &w.servers[0];
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_kill(&w.replicas[0]);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1/status",
		 json_pack("{s:{s:n}}", "status", "trustedBMC"));
	assert_string_equal(world_at(b, "status.trustedBMC.address"), "");
	fence = fence_of(b);
	world_replica(&w);
	for (int i = 0; i < 60000 && fence_of(b) == fence; i++)
		world_run(&w, 1);
	assert_true(fence_of(b) > fence);
	assert_string_equal(world_at(b, "status.trustedBMC.address"),
			    world_at(b, "spec.bmc.address"));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_address_gets_nothing),
		cmocka_unit_test(what_a_certificate_is_known_by_is_part_of_it),
		cmocka_unit_test(an_approved_address_is_used_and_its_certificate_pinned_anew),
		cmocka_unit_test(a_replaced_certificate_is_pinned_anew_by_an_approval),
		cmocka_unit_test(another_secrets_password_goes_nowhere),
		cmocka_unit_test(a_ca_that_was_exchanged_is_not_the_one_that_was_trusted),
		cmocka_unit_test(it_is_written_down_before_the_first_request),
		cmocka_unit_test(who_takes_over_writes_the_first_trust_with_its_fence),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
