#include "wipe/proto.h"

#include <stdlib.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"

#define DIGEST "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SECRET "0011223344556677889900112233445566778899001122334455667788990011"

static const struct proto_boot boot = {
	.endpoint = "https://10.0.2.2:8443",
	.ca_pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
	.machine = "gpu-1",
	.operation = "op-7",
	.boot = 3,
	.secret = SECRET,
	.wall_time = 1790000000000,
	.address = "10.1.0.17/24",
};

static void a_boot_block_has_its_fixed_size_and_reads_back(void **state)
{
	struct err e;
	struct proto_boot got = {0};
	char block[PROTO_BOOT_BLOCK];
	OWN(arena) a = arena_new();

	(void)state;
	assert_ok(proto_boot_write(&boot, block, &e), &e);
	assert_int_equal(block[PROTO_BOOT_BLOCK - 1], ' ');
	assert_ok(proto_boot_read(block, sizeof(block), a, &got, &e), &e);
	assert_string_equal(got.endpoint, boot.endpoint);
	assert_string_equal(got.ca_pem, boot.ca_pem);
	assert_string_equal(got.secret, SECRET);
	assert_string_equal(got.address, boot.address);
	assert_null(got.mac);
	assert_int_equal(got.boot, 3);
	assert_true(got.wall_time == boot.wall_time);
}

static void a_boot_block_that_is_too_small_is_refused(void **state)
{
	struct err e;
	char block[PROTO_BOOT_BLOCK];
	struct proto_boot big = boot;
	char *pem = mem_alloc(PROTO_BOOT_BLOCK + 1);

	(void)state;
	memset(pem, 'x', PROTO_BOOT_BLOCK);
	big.ca_pem = pem;
	assert_int_equal(proto_boot_write(&big, block, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	free(pem);
}

static void an_unpatched_boot_block_says_so(void **state)
{
	struct err e;
	struct proto_boot got;
	char block[PROTO_BOOT_BLOCK];
	OWN(arena) a = arena_new();

	(void)state;
	memset(block, ' ', sizeof(block));
	memcpy(block, PROTO_BOOT_MARK, strlen(PROTO_BOOT_MARK));
	assert_int_equal(proto_boot_read(block, sizeof(block), a, &got, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_boot_block_without_tls_or_with_a_short_secret_is_refused(void **state)
{
	static const char *const bad[] = {
		"{\"endpoint\":\"http://h\",\"ca\":\"x\",\"machine\":\"m\",\"operation\":\"o\","
		"\"boot\":1,\"secret\":\"" SECRET "\"}",
		"{\"endpoint\":\"https://h\",\"ca\":\"x\",\"machine\":\"m\",\"operation\":\"o\","
		"\"boot\":1,\"secret\":\"00\"}",
		"{\"endpoint\":\"https://h\",\"machine\":\"m\",\"operation\":\"o\","
		"\"boot\":1,\"secret\":\"" SECRET "\"}",
		"[]",
		"",
	};
	struct proto_boot got;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		OWN(arena) a = arena_new();

		assert_int_equal(proto_boot_read(bad[i], strlen(bad[i]), a, &got, &e), -1);
	}
}

static void the_boot_secret_depends_on_machine_operation_and_boot(void **state)
{
	OWN(secret) key = secret_from_str("boot key");
	char one[65], two[65];

	(void)state;
	proto_boot_secret(key, "uid", "op", 1, one);
	/* The expected value is the output of: printf 'uid\nop\n1' | openssl dgst -sha256 -hmac
	 * 'boot key' */
	assert_string_equal(one,
			    "a4b4e721e4b4bfeaf43f1a021ec4d6cdaab28096671a1caa39f76e125a5a836c");
	proto_boot_secret(key, "uid", "op", 2, two);
	assert_string_not_equal(one, two);
	proto_boot_secret(key, "uid2", "op", 1, two);
	assert_string_not_equal(one, two);
}

static void an_order_survives_the_wire(void **state)
{
	struct err e;
	OWN(arena) a = arena_new();
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_file files[] = {{"meta-data", "instance-id: x\n"}, {"user-data", ""}};
	struct proto_order o = {
		.seq = 4,
		.id = "op-7/wipe",
		.fence = 9,
		.kind = PROTO_WRITE,
		.what = PROTO_WRITE_CONFIG,
		.format = 1,
		.minimum_level = WIPE_PURGE,
		.minimum_level_hdd = WIPE_CLEAR,
		.nonce = SECRET,
		.expected = {wwns, 2},
		.drive = "eui.1",
		.digest = DIGEST,
		.files = {files, 2},
	};
	struct proto_order got = {0};
	char *text = proto_encode(proto_order_fields, &o);

	(void)state;
	assert_ok(proto_decode(proto_order_fields, text, strlen(text), &got, a, &e), &e);
	free(text);
	assert_string_equal(got.id, o.id);
	assert_int_equal(got.kind, PROTO_WRITE);
	assert_int_equal(got.what, PROTO_WRITE_CONFIG);
	assert_int_equal(got.format, 1);
	assert_int_equal(got.minimum_level, WIPE_PURGE);
	assert_int_equal(got.minimum_level_hdd, WIPE_CLEAR);
	assert_int_equal(got.fence, 9);
	assert_int_equal(got.expected.n, 2);
	assert_string_equal(got.expected.v[1], "eui.2");
	assert_int_equal(got.files.n, 2);
	assert_string_equal(got.files.v[0].content, "instance-id: x\n");
	assert_null(got.evidence);
}

/* The first value of each enum is 0. It must arrive as 0 and not as absent (-1). */
static void zeros_of_an_order_survive_the_wire(void **state)
{
	struct err e;
	OWN(arena) a = arena_new();
	struct proto_order o = {.id = "x"}, got = {.kind = 7};
	char *text = proto_encode(proto_order_fields, &o);

	(void)state;
	assert_ok(proto_decode(proto_order_fields, text, strlen(text), &got, a, &e), &e);
	free(text);
	assert_int_equal(got.kind, PROTO_INSPECT);
	assert_int_equal(got.what, PROTO_WRITE_IMAGE);
	assert_int_equal(got.format, 0);
	assert_int_equal(got.minimum_level, WIPE_FAIL);
	assert_true(got.seq == 0 && got.fence == 0);
}

static void a_report_with_inventory_survives_the_wire(void **state)
{
	struct err e;
	OWN(arena) a = arena_new();
	struct proto_drive d = {.path = "/dev/nvme0n1",
				.type = "NVMe",
				.wwn = "eui.1",
				.bytes = 1 << 30,
				.read_only = true};
	struct proto_inventory inv = {.cpus = 2, .drives = {&d, 1}};
	struct proto_report r = {.id = "x", .state = PROTO_DONE, .inventory = &inv}, got = {0};
	char *text = proto_encode(proto_report_fields, &r);

	(void)state;
	assert_ok(proto_decode(proto_report_fields, text, strlen(text), &got, a, &e), &e);
	free(text);
	assert_int_equal(got.state, PROTO_DONE);
	assert_non_null(got.inventory);
	assert_int_equal(got.inventory->drives.n, 1);
	assert_string_equal(got.inventory->drives.v[0].wwn, "eui.1");
	assert_true(got.inventory->drives.v[0].read_only);
	assert_true(got.inventory->drives.v[0].bytes == 1 << 30);
}

static void a_message_over_the_limit_is_refused_unparsed(void **state)
{
	struct err e;
	OWN(arena) a = arena_new();
	struct proto_welcome w;

	(void)state;
	assert_int_equal(proto_decode(proto_welcome_fields, "{}", PROTO_MAX_MESSAGE + 1, &w, a, &e),
			 -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
}

static void a_signature_covers_method_target_and_body(void **state)
{
	struct err e;
	char public[CRYPTO_PUBLIC_TEXT];
	OWN(crypto_key) k = crypto_key_new();
	OWN(crypto_key) pub = crypto_key_from_public(crypto_key_public(k, public), &e);
	char *sig = proto_sign(k, "POST", "/agent/v1/report", "{}", 2);

	(void)state;
	assert_non_null(pub);
	assert_true(proto_signed(pub, "POST", "/agent/v1/report", "{}", 2, sig));
	assert_false(proto_signed(pub, "GET", "/agent/v1/report", "{}", 2, sig));
	assert_false(proto_signed(pub, "POST", "/agent/v1/hello", "{}", 2, sig));
	assert_false(proto_signed(pub, "POST", "/agent/v1/report", "{ }", 3, sig));
	assert_false(proto_signed(pub, "POST", "/agent/v1/report", "{}", 2, "AAAA"));
	assert_false(proto_signed(pub, "POST", "/agent/v1/report", "{}", 2, "***"));
	assert_false(proto_signed(pub, "POST", "/agent/v1/report", "{}", 2, NULL));
	free(sig);
}

static void a_stamp_reads_back_and_any_flipped_byte_voids_it(void **state)
{
	char block[PROTO_STAMP_SIZE];
	const char *record = NULL, *digest = NULL;
	OWN(arena) a = arena_new();

	(void)state;
	proto_stamp_write("gpu-1-42", DIGEST, block);
	assert_true(proto_stamp_read(block, a, &record, &digest));
	assert_string_equal(record, "gpu-1-42");
	assert_string_equal(digest, DIGEST);
	for (size_t i = 0; i < sizeof(block); i += 61) {
		block[i] ^= 1;
		assert_false(proto_stamp_read(block, a, &record, &digest));
		block[i] ^= 1;
	}
	memset(block, 0, sizeof(block));
	assert_false(proto_stamp_read(block, a, &record, &digest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boot_block_has_its_fixed_size_and_reads_back),
		cmocka_unit_test(a_boot_block_that_is_too_small_is_refused),
		cmocka_unit_test(an_unpatched_boot_block_says_so),
		cmocka_unit_test(a_boot_block_without_tls_or_with_a_short_secret_is_refused),
		cmocka_unit_test(the_boot_secret_depends_on_machine_operation_and_boot),
		cmocka_unit_test(an_order_survives_the_wire),
		cmocka_unit_test(zeros_of_an_order_survive_the_wire),
		cmocka_unit_test(a_report_with_inventory_survives_the_wire),
		cmocka_unit_test(a_message_over_the_limit_is_refused_unparsed),
		cmocka_unit_test(a_signature_covers_method_target_and_body),
		cmocka_unit_test(a_stamp_reads_back_and_any_flipped_byte_voids_it),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
