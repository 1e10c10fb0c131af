#include <string.h>
#include "base/buf.h"
#include "base/str.h"
#include "kube/apiserver/messages.h"
#include "tests/unit/testing.h"

/* Bodies are encoded here by hand, field by field, after the description of the encoding. */

static void put_varint(struct buf *b, uint64_t n)
{
	unsigned char c;

	for (; n > 127; n >>= 7) {
		c = (unsigned char)(n | 0x80);
		buf_put(b, &c, 1);
	}
	c = (unsigned char)n;
	buf_put(b, &c, 1);
}

static void put_number(struct buf *b, unsigned field, uint64_t n)
{
	put_varint(b, field << 3);
	put_varint(b, n);
}

static void put_bytes(struct buf *b, unsigned field, const void *data, size_t len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	buf_put(b, data, len);
}

static void put_text(struct buf *b, unsigned field, const char *text)
{
	put_bytes(b, field, text, strlen(text));
}

/* Appends the contents of `in` to b as a message field, and empties `in`. */
static void put_message(struct buf *b, unsigned field, struct buf *in)
{
	put_bytes(b, field, in->data, in->len);
	buf_done(in);
	buf_init(in, 1 << 16);
}

/* Decodes raw in an envelope and frees raw. NULL: the body was refused, *f has the text. */
static json_t *decode(const char *version, const char *kind, struct buf *raw, struct fault *f)
{
	struct buf all, type;
	json_t *j;

	buf_init(&all, 1 << 16);
	buf_init(&type, 1 << 16);
	buf_put(&all, "k8s", 4);
	put_text(&type, 1, version);
	put_text(&type, 2, kind);
	put_message(&all, 1, &type);
	put_bytes(&all, 2, raw->data, raw->len);
	put_text(&all, 3, "");
	put_text(&all, 4, "");
	*f->text = '\0';
	j = protobuf_decode(all.data, all.len, f);
	buf_done(&all);
	buf_done(&type);
	buf_done(raw);
	return j;
}

static void expect(json_t *j, const struct fault *f, const char *want)
{
	char *text = j ? json_text(j) : NULL;

	if (!text)
		fail_msg("refused: %s", f->text);
	assert_string_equal(text, want);
	free(text);
	json_decref(j);
}

static void a_secret_keeps_its_bytes_labels_and_name(void **state)
{
	struct buf b, meta, entry;
	struct fault f;

	(void)state;
	buf_init(&b, 1 << 16);
	buf_init(&meta, 1 << 16);
	buf_init(&entry, 1 << 16);
	put_text(&meta, 1, "s");
	put_text(&meta, 2, ""); /* Go encodes an empty string like this. */
	put_number(&meta, 7, 0);
	put_text(&entry, 1, "app");
	put_text(&entry, 2, "x");
	put_message(&meta, 11, &entry);
	put_bytes(&meta, 8, "", 0); /* an empty creationTimestamp */
	put_message(&b, 1, &meta);
	put_text(&entry, 1, "key");
	put_bytes(&entry, 2, "\0\xff", 2);
	put_message(&b, 2, &entry);
	put_text(&b, 3, "Opaque");
	buf_done(&meta);
	buf_done(&entry);
	expect(decode("v1", "Secret", &b, &f), &f,
	       "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\","
	       "\"labels\":{\"app\":\"x\"}},\"data\":{\"key\":\"AP8=\"},\"type\":\"Opaque\"}");
}

static void a_zero_that_was_said_is_kept(void **state)
{
	struct buf b, spec, limit;
	struct fault f;

	(void)state;
	buf_init(&b, 1 << 16);
	buf_init(&spec, 1 << 16);
	buf_init(&limit, 1 << 16);
	put_number(&spec, 1, 0); /* replicas, a pointer in Go: 0 is kept */
	put_number(&spec, 5, 0); /* minReadySeconds: 0 means not set */
	put_message(&b, 2, &spec);
	expect(decode("apps/v1", "Deployment", &b, &f), &f,
	       "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"replicas\":0}}");
	buf_init(&b, 1 << 16);
	put_number(&limit, 1, 1); /* type of the value: a string */
	put_number(&limit, 2, 0);
	put_text(&limit, 3, "50%");
	put_message(&spec, 1, &limit);
	put_number(&limit, 1, 0);
	put_number(&limit, 2, 3);
	put_message(&spec, 3, &limit);
	put_message(&b, 2, &spec);
	expect(decode("policy/v1", "PodDisruptionBudget", &b, &f), &f,
	       "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\","
	       "\"spec\":{\"minAvailable\":\"50%\",\"maxUnavailable\":3}}");
	buf_done(&spec);
	buf_done(&limit);
}

static void times_quantities_and_members_that_stand_outside_are_as_in_json(void **state)
{
	struct buf b, spec, part, inner;
	struct fault f;

	(void)state;
	buf_init(&b, 1 << 16);
	buf_init(&spec, 1 << 16);
	buf_init(&part, 1 << 16);
	buf_init(&inner, 1 << 16);
	put_text(&spec, 1, "me");
	put_number(&spec, 2, 15);
	put_number(&part, 1, 1767225600);
	put_number(&part, 2, 123456000);
	put_message(&spec, 4, &part);
	put_message(&b, 2, &spec);
	expect(decode("coordination.k8s.io/v1", "Lease", &b, &f), &f,
	       "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"spec\":{"
	       "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
	       "\"renewTime\":\"2026-01-01T00:00:00.123456Z\"}}");
	/* The source of a volume is encoded beside the volume's name; an empty emptyDir message
	 * still counts. */
	buf_init(&b, 1 << 16);
	put_text(&part, 1, "v");
	put_bytes(&inner, 2, "", 0);
	put_message(&part, 2, &inner);
	put_message(&spec, 1, &part);
	put_message(&b, 2, &spec);
	expect(decode("v1", "Pod", &b, &f), &f,
	       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"volumes\":[{\"name\":\"v\","
	       "\"emptyDir\":{}}]}}");
	buf_init(&b, 1 << 16);
	put_text(&part, 1, "cpu");
	put_text(&inner, 1, "100m");
	put_message(&part, 2, &inner);
	put_message(&spec, 1, &part);
	put_message(&b, 2, &spec);
	expect(decode("v1", "ResourceQuota", &b, &f), &f,
	       "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\","
	       "\"spec\":{\"hard\":{\"cpu\":\"100m\"}}}");
	buf_done(&spec);
	buf_done(&part);
	buf_done(&inner);
}

static void what_the_table_does_not_know_is_refused_not_lost(void **state)
{
	struct fault f;
	struct buf b;

	(void)state;
	buf_init(&b, 1 << 16);
	put_text(&b, 99, "new");
	assert_null(decode("v1", "ConfigMap", &b, &f));
	assert_int_equal(f.kind, FAULT_BAD_REQUEST);
	assert_non_null(strstr(f.text, "field 99 of core.v1.ConfigMap"));
	buf_init(&b, 1 << 16);
	assert_null(decode("example.dev/v1", "Widget", &b, &f));
	assert_int_equal(f.kind, FAULT_MEDIA_TYPE);
}

static void broken_bodies_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bodies[] = {
		{"", 0},
		{"k8s", 3},
		{"k8t\0", 4},
		{"k8s\0\xff", 5},		  /* a number without an end */
		{"k8s\0\x12\x7f", 6},		  /* longer than the body */
		{"k8s\0\x0a\x02\x0a\x7f", 8},	  /* a type longer than the body */
		{"k8s\0\x0d\x01\x02\x03\x04", 9}, /* a fixed-width field, which no type uses */
		{"k8s\0\x12\x00", 6},		  /* no kind */
	};
	struct fault f;
	struct buf b;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
		if (protobuf_decode(bodies[i].bytes, bodies[i].len, &f))
			fail_msg("body %zu was accepted", i);
	buf_init(&b, 1 << 16);
	put_number(&b, 2, 1); /* data as a number */
	assert_null(decode("v1", "ConfigMap", &b, &f));
	buf_init(&b, 1 << 16);
	put_text(&b, 2, "\x0a\x01\xff\x12\x00"); /* a key that is not UTF-8 */
	assert_null(decode("v1", "ConfigMap", &b, &f));
}

static void every_row_of_the_table_reads_and_refers_to_another(void **state)
{
	static const char *const kinds[][3] = {
		{"", "v1", "Pod"},
		{"", "v1", "Node"},
		{"apps", "v1", "StatefulSet"},
		{"batch", "v1", "Job"},
		{"policy", "v1", "Eviction"},
		{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"},
		{"authorization.k8s.io", "v1", "SelfSubjectAccessReview"},
		{"events.k8s.io", "v1", "Event"},
		{"", "v1", "DeleteOptions"},
		{"storage.k8s.io", "v1", "VolumeAttachment"},
	};
	OWN_JSON components = json_object();
	OWN(arena) a = arena_new();
	const char *name;
	json_t *schema;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct message *m = message_of_kind(kinds[i][0], kinds[i][1], kinds[i][2]);

		if (!m)
			fail_msg("%s is not in the table", kinds[i][2]);
		messages_add_schemas(m, components, a);
	}
	json_object_foreach (components, name, schema) {
		const struct message *m = NULL;
		const char *known = strstr(name, "apis.") ? strstr(name, "apis.") + 5
							  : name + strlen("io.k8s.api.");
		struct message_field f;

		m = message_find(known);
		if (!m)
			fail_msg("%s: no such message", name);
		for (const char *at = NULL; message_next(m, &at, &f);)
			if (f.number == 0 || (f.type == MESSAGE_MESSAGE && !message_find(f.of)))
				fail_msg("%s.%s: %s is not in the table", name, f.name, f.of);
	}
	assert_true(json_object_size(components) > 150);
	assert_null(message_of_kind("", "v1", "Nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_keeps_its_bytes_labels_and_name),
		cmocka_unit_test(a_zero_that_was_said_is_kept),
		cmocka_unit_test(times_quantities_and_members_that_stand_outside_are_as_in_json),
		cmocka_unit_test(what_the_table_does_not_know_is_refused_not_lost),
		cmocka_unit_test(broken_bodies_are_refused),
		cmocka_unit_test(every_row_of_the_table_reads_and_refers_to_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
