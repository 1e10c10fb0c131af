#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/yaml.h"
#include "controller/audit.h"
#include "controller/cli.h"
#include "controller/objects.h"

static struct {
	struct crypto_key *agent, *drover, *other;
	char drover_text[CRYPTO_PUBLIC_TEXT], other_text[CRYPTO_PUBLIC_TEXT];
	char dir[64];
} at;

static const char *not_covered[] = {"GPUMemory", "BMC"};
static struct evidence_device drives[2];

static struct evidence sample(void)
{
	drives[0] = (struct evidence_device){.type = "NVMe",
					     .model = "Micron 7450",
					     .serial = "22A",
					     .wwn = "eui.0001",
					     .bytes = 960197124096,
					     .technique = "SanitizeCryptoErase",
					     .level = WIPE_PURGE,
					     .canaries = {64, 0},
					     .reads = {10000, 0, 0}};
	drives[1] = drives[0];
	drives[1].wwn = "eui.0002";
	drives[1].rotational = true;
	drives[1].level = WIPE_CLEAR;
	drives[1].technique = "Overwrite";
	return (struct evidence){
		.machine = {"gpu-1", "31b0", "4c4c4544-0001", "J7XK2T3"},
		.tenancy = 41,
		.attempt = 1,
		.virtual_cluster = {"team-b", "1e0f"},
		.previous = {"gpu-1-40-1", "sha256:00"},
		.nonce_digest = "sha256:11",
		.policy_digest = "sha256:22",
		.start_time = 1796120400000,
		.end_time = 1796120470000,
		.verdict = WIPE_CLEAR,
		.agent_trust = WIPE_BOOT_NETWORK,
		.inventory = {.expected = 2, .seen = 2},
		.devices = {drives, 2},
		.not_covered = {not_covered, 2},
	};
}

/* malloc'd; unfinished when it says so */
static char *envelope_of(const struct evidence *ev, const struct crypto_key *drover)
{
	struct err e;
	char *one, *both;

	if (ev->unfinished)
		return evidence_sign_unfinished(ev, drover);
	one = evidence_sign(ev, at.agent);
	both = evidence_countersign(one, drover, &e);
	assert_non_null(both);
	free(one);
	return both;
}

/* A WipeRecord as the API serves it; gives. */
static json_t *record_with(const struct evidence *ev, const char *envelope)
{
	OWN(arena) a = arena_new();
	struct wipe_record r = {.spec = {.evidence = *ev, .envelope = envelope}};
	json_t *o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);

	json_object_set_new(o, "apiVersion", json_string(OBJECT_API_VERSION));
	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_set_new(o, "metadata",
			    json_pack("{s:s, s:{s:s}}", "name",
				      arena_printf(a, "%s-%lld-%lld", ev->machine.name,
						   (long long)ev->tenancy, (long long)ev->attempt),
				      "labels", "drover.dev/machine", ev->machine.name));
	return o;
}

static json_t *record_of(const struct evidence *ev)
{
	char *envelope = envelope_of(ev, at.drover);
	json_t *o = record_with(ev, envelope);

	free(envelope);
	return o;
}

static int setup(void **state)
{
	(void)state;
	at.agent = crypto_key_new();
	at.drover = crypto_key_new();
	at.other = crypto_key_new();
	crypto_key_public(at.drover, at.drover_text);
	crypto_key_public(at.other, at.other_text);
	str_copy(at.dir, sizeof(at.dir), "/tmp/drover-audit-XXXXXX");
	return mkdtemp(at.dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	crypto_key_free(at.agent);
	crypto_key_free(at.drover);
	crypto_key_free(at.other);
	return 0;
}

static void add_json(struct audit *a, const json_t *o)
{
	char *text = json_text(o);

	audit_add(a, "test", text, strlen(text));
	free(text);
}

/* The one row of this object; its error in *e. */
static enum audit_result judged(const json_t *o, struct err *e)
{
	OWN(audit) a = audit_new();
	const struct audit_row *rows;
	size_t n;

	audit_keys(a, at.drover_text);
	add_json(a, o);
	audit_run(a, NULL);
	rows = audit_rows(a, &n);
	assert_int_equal(n, 1);
	*e = rows[0].err;
	return rows[0].result;
}

static void expect_bad(const json_t *o, const char *names)
{
	struct err e;

	if (judged(o, &e) != AUDIT_BAD)
		fail_msg("%s: was accepted", names);
	if (!strstr(e.text, names))
		fail_msg("\"%s\" does not name %s", e.text, names);
}

/* --- what is good ----------------------------------------------------------------------------------- */

static void a_record_is_good_in_every_shape(void **state)
{
	struct evidence ev = sample();
	OWN_JSON o = record_of(&ev);
	OWN_JSON list =
		json_pack("{s:s, s:s, s:[O]}", "apiVersion", "v1", "kind", "List", "items", o);
	const char *b64 = json_str_at(o, "spec", "envelope");
	struct buf yaml;
	struct err e;
	size_t n;
	char *texts[6], *dsse = crypto_base64_decode(b64, strlen(b64), &n, &e);

	(void)state;
	buf_init(&yaml, 1 << 20);
	yaml_print(o, &yaml);
	texts[0] = json_text(o);
	texts[1] = json_text(list);
	texts[2] = mem_strdup(b64);
	texts[3] = mem_printf("%s\n", dsse);
	texts[4] = mem_strdup(yaml.data);
	texts[5] = mem_printf("---\n%s---\n", yaml.data);
	for (size_t i = 0; i < 6; i++) {
		OWN(audit) a = audit_new();
		const struct audit_row *r;

		audit_keys(a, at.drover_text);
		audit_add(a, "x", texts[i], strlen(texts[i]));
		audit_run(a, NULL);
		r = audit_rows(a, &n);
		assert_int_equal(n, 1);
		if (r->result != AUDIT_PROVED)
			fail_msg("shape %zu: %s", i, r->err.text);
		assert_string_equal(r->record, "gpu-1-41-1");
		assert_string_equal(r->verdict, "Clear");
		assert_int_equal(r->drives, 2);
		assert_int_equal(r->chain, AUDIT_NOT_GIVEN);
		free(texts[i]);
	}
	free(dsse);
	buf_done(&yaml);
}

static void failed_and_unfinished_attempts_are_not_bad_and_not_proof(void **state)
{
	struct evidence ev = sample();
	OWN_JSON failed = NULL;
	OWN_JSON lone = NULL;
	struct err e;

	(void)state;
	drives[1].level = WIPE_FAIL;
	drives[1].reads.dirty = 7;
	ev.verdict = WIPE_FAIL;
	failed = record_of(&ev);
	assert_int_equal(judged(failed, &e), AUDIT_FAILED);
	drives[0].level = WIPE_FAIL;
	ev.unfinished = "AgentSilent: nothing for 5 minutes";
	lone = record_of(&ev);
	assert_int_equal(judged(lone, &e), AUDIT_UNFINISHED);
	json_object_del(json_at(lone, "spec"), "unfinished"); /* as if an agent had signed */
	expect_bad(lone, "spec.unfinished");
}

static void without_the_right_key_nothing_is_good(void **state)
{
	struct evidence ev = sample();
	char *forged = envelope_of(&ev, at.other);
	OWN_JSON o = record_with(&ev, forged);

	(void)state;
	expect_bad(o, "drover's signature is by an unknown key");
	free(forged);
}

/* --- what was changed ------------------------------------------------------------------------------- */

typedef void leaf_fn(json_t *whole, json_t *parent, const char *key, size_t index, json_t *v,
		     const char *path, void *arg);

static void each_leaf(json_t *whole, json_t *j, const char *path, leaf_fn *fn, void *arg)
{
	OWN(arena) a = arena_new();
	OWN_JSON keys = json_array(); /* fn may take members out and put them in */
	const char *key;
	size_t i;
	json_t *v;

	json_object_foreach (j, key, v)
		json_array_append_new(keys, json_string(key));
	for (i = 0; i < json_array_size(json_is_object(j) ? keys : j); i++) {
		const char *p;

		key = json_string_value(json_array_get(keys, i));
		v = key ? json_object_get(j, key) : json_array_get(j, i);
		p = key ? arena_printf(a, "%s%s%s", path, path[0] ? "." : "", key)
			: arena_printf(a, "%s[%zu]", path, i);
		if (json_is_object(v) || json_is_array(v))
			each_leaf(whole, v, p, fn, arg);
		else
			fn(whole, j, key, i, v, p, arg);
	}
}

static json_t *changed(const json_t *v)
{
	OWN(arena) a = arena_new();

	if (json_is_integer(v))
		return json_integer(json_integer_value(v) + 1);
	if (json_is_boolean(v))
		return json_boolean(!json_is_true(v));
	return json_string(arena_printf(a, "%sx", str_or(json_string_value(v), "")));
}

static void put(json_t *parent, const char *key, size_t index, json_t *v)
{
	if (key)
		json_object_set_new(parent, key, v);
	else
		json_array_set_new(parent, index, v);
}

static void change_shown(json_t *whole, json_t *parent, const char *key, size_t index, json_t *v,
			 const char *path, void *arg)
{
	json_t *was = json_incref(v);
	bool envelope = str_eq(path, "spec.envelope"), label = str_starts(path, "metadata.labels");

	++*(unsigned *)arg;
	put(parent, key, index, changed(v));
	expect_bad(whole, envelope ? "envelope" : label ? "metadata.labels" : path);
	if (json_is_integer(was)) { /* the same number as a text is another value */
		char text[32];

		str_format(text, sizeof(text), "%lld", (long long)json_integer_value(was));
		put(parent, key, index, json_string(text));
		expect_bad(whole, path);
	}
	put(parent, key, index, json_incref(was));
	if (key && !label) {
		json_object_del(parent, key);
		expect_bad(whole, path);
		put(parent, key, index, json_incref(was));
	}
	json_decref(was);
}

static void every_field_that_is_shown_is_checked_and_named(void **state)
{
	struct evidence ev = sample();
	OWN_JSON o = record_of(&ev);
	unsigned leaves = 0;
	struct err e;

	(void)state;
	assert_int_equal(judged(o, &e), AUDIT_PROVED);
	each_leaf(o, o, "", change_shown, &leaves);
	assert_true(leaves > 45);
	assert_int_equal(judged(o, &e), AUDIT_PROVED); /* all was put back */
	json_object_set_new(json_at(o, "spec"), "approvedBy", json_string("the auditor"));
	expect_bad(o, "spec.approvedBy");
}

/* The envelope around this statement, with the signatures of the true one. */
static char *around(const json_t *envelope, const json_t *statement)
{
	OWN_JSON o = json_deep_copy(envelope);
	char *text = json_text_sorted(statement), *b64 = crypto_base64(text, strlen(text)), *all,
	     *out;

	json_object_set_new(o, "payload", json_string(b64));
	free(b64);
	free(text);
	all = json_text_sorted(o);
	out = crypto_base64(all, strlen(all));
	free(all);
	return out;
}

static void change_payload(json_t *whole, json_t *parent, const char *key, size_t index, json_t *v,
			   const char *path, void *arg)
{
	json_t *was = json_incref(v), *envelope = arg;
	OWN(audit) a = audit_new();
	const struct audit_row *r;
	size_t n;
	char *text;

	put(parent, key, index, changed(v));
	text = around(envelope, whole);
	audit_keys(a, at.drover_text);
	audit_add(a, "x", text, strlen(text));
	audit_run(a, NULL);
	r = audit_rows(a, &n);
	if (r->result != AUDIT_BAD || !strstr(r->err.text, "agent's signature is bad"))
		fail_msg("%s: %s", path, r->err.text);
	free(text);
	put(parent, key, index, was);
}

static json_t *decoded(const char *b64)
{
	struct err e;
	size_t n;
	char *text = crypto_base64_decode(b64, strlen(b64), &n, &e);
	json_t *j = json_parse(text, n, &e);

	free(text);
	assert_non_null(j);
	return j;
}

static void no_field_of_the_payload_can_be_changed(void **state)
{
	struct evidence ev = sample();
	OWN_JSON o = record_of(&ev);
	OWN_JSON envelope = decoded(json_str_at(o, "spec", "envelope"));
	OWN_JSON statement = decoded(json_str_at(envelope, "payload"));

	(void)state;
	each_leaf(statement, statement, "", change_payload, envelope);
}

static void no_byte_of_the_envelope_can_be_changed(void **state)
{
	static const char instead[] = "A0+/=-\n ";
	struct evidence ev = sample();
	char *envelope = envelope_of(&ev, at.drover);
	size_t n = strlen(envelope);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char was = envelope[i];
		OWN_JSON o = NULL;
		struct err e;

		envelope[i] = instead[i % (sizeof(instead) - 1)];
		if (envelope[i] == was)
			envelope[i] = was == 'B' ? 'C' : 'B';
		o = record_with(&ev, envelope);
		if (judged(o, &e) != AUDIT_BAD)
			fail_msg("byte %zu of %zu", i, n);
		envelope[i] = was;
	}
	free(envelope);
}

/* Signed by both, and still nonsense: an agent that lies about its own counts. */
static void a_verdict_that_its_drives_do_not_bear_out_is_bad(void **state)
{
	static const char *gone[] = {"eui.9"};
	struct evidence ev = sample();
	OWN_JSON found = NULL;
	OWN_JSON missing = NULL;
	OWN_JSON low = NULL;
	OWN_JSON none = NULL;

	(void)state;
	drives[1].reads.dirty = 1;
	found = record_of(&ev);
	expect_bad(found, "spec.devices[1].level: Clear, and data was found");
	ev = sample();
	ev.inventory.missing = (struct strings){gone, 1};
	missing = record_of(&ev);
	expect_bad(missing, "drive eui.9 was missing");
	ev = sample();
	ev.verdict = WIPE_FAIL;
	low = record_of(&ev);
	expect_bad(low, "spec.verdict: Fail, but the worst drive is Clear");
	ev = sample();
	ev.devices.n = 0;
	none = record_of(&ev);
	expect_bad(none, "spec.verdict: Clear, but the worst drive is Fail");
}

/* --- the chain -------------------------------------------------------------------------------------- */

/* tenancy 40 attempt 1, 41-1 unfinished, 41-2: linked as drover links them. */
static void make_chain(json_t *out[3])
{
	static const int64_t number[3][2] = {{40, 1}, {41, 1}, {41, 2}};
	char name[64] = "", digest[CRYPTO_DIGEST_TEXT] = "";

	for (int i = 0; i < 3; i++) {
		struct evidence ev = sample();
		uint8_t d[CRYPTO_SHA256];

		ev.tenancy = number[i][0];
		ev.attempt = number[i][1];
		ev.previous.name = i ? name : NULL;
		ev.previous.digest = i ? digest : NULL;
		if (i == 1) {
			ev.unfinished = "AgentSilent: x";
			ev.verdict = drives[0].level = drives[1].level = WIPE_FAIL;
		}
		out[i] = record_of(&ev);
		evidence_digest(json_str_at(out[i], "spec", "envelope"), d);
		crypto_digest_text(d, digest);
		str_copy(name, sizeof(name), json_str_at(out[i], "metadata", "name"));
	}
}

static struct audit *audit_of(json_t *const *list, size_t n)
{
	struct audit *a = audit_new();

	audit_keys(a, at.drover_text);
	for (size_t i = 0; i < n; i++)
		if (list[i])
			add_json(a, list[i]);
	audit_run(a, NULL);
	return a;
}

static void records_are_linked_to_the_one_before(void **state)
{
	json_t *list[3], *mixed[4];
	const struct audit_row *r;
	struct audit *a;
	size_t n;

	(void)state;
	make_chain(list);
	mixed[0] = list[2];
	mixed[1] = list[0];
	mixed[2] = list[1];
	mixed[3] = list[0]; /* given twice */
	a = audit_of(mixed, 4);
	r = audit_rows(a, &n);
	assert_int_equal(n, 3);
	assert_int_equal(audit_count(a, AUDIT_BAD), 0);
	assert_string_equal(r[0].record, "gpu-1-40-1");
	assert_int_equal(r[0].chain, AUDIT_FIRST);
	assert_int_equal(r[1].chain, AUDIT_LINKED);
	assert_int_equal(r[1].result, AUDIT_UNFINISHED);
	assert_int_equal(r[2].chain, AUDIT_LINKED);
	audit_free(a);

	mixed[0] = NULL; /* the middle one was taken out */
	mixed[1] = list[0];
	mixed[2] = list[2];
	a = audit_of(mixed, 3);
	r = audit_rows(a, &n);
	assert_int_equal(n, 2);
	assert_int_equal(r[1].chain, AUDIT_NOT_GIVEN);
	audit_free(a);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

static void expect_broken(json_t *const *list, size_t n, const char *record, const char *why)
{
	struct audit *a = audit_of(list, n);
	const struct audit_row *r = audit_rows(a, &n);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		if (str_eq(r[i].record, record) && r[i].result == AUDIT_BAD) {
			found = true;
			assert_int_equal(r[i].chain, AUDIT_BROKEN);
			if (!strstr(r[i].err.text, why))
				fail_msg("\"%s\" does not say \"%s\"", r[i].err.text, why);
		}
	if (!found)
		fail_msg("%s is not bad", record);
	audit_free(a);
}

static void a_record_that_was_replaced_breaks_the_chain(void **state)
{
	json_t *list[3], *other[3];
	struct evidence ev = sample();

	(void)state;
	make_chain(list);
	ev.tenancy = 40; /* signed by drover as well, but another one */
	ev.previous.name = ev.previous.digest = NULL;
	ev.end_time += 1000;
	other[0] = record_of(&ev);
	other[1] = list[1];
	expect_broken(other, 2, "gpu-1-41-1", "is another one than was signed");
	other[1] = list[0];
	expect_broken(other, 2, "gpu-1-40-1", "two different records");
	json_decref(other[0]);
	ev = sample();
	ev.attempt = 2;
	ev.previous.name = ev.previous.digest = NULL;
	other[0] = record_of(&ev);
	expect_broken(other, 1, "gpu-1-41-2", "says that it is the first");
	ev.attempt = 1;
	json_decref(other[0]);
	other[0] = record_of(&ev);
	other[1] = list[0];
	expect_broken(other, 2, "gpu-1-41-1", "says that it is the first, but gpu-1-40-1");
	json_decref(other[0]);
	/* It leaves one out. */
	ev = sample();
	ev.attempt = 2;
	ev.previous.name = "gpu-1-40-1";
	ev.previous.digest = json_str_at(list[1], "spec", "previous", "digest");
	other[0] = record_of(&ev);
	other[1] = list[0];
	other[2] = list[1];
	expect_broken(other, 2, "gpu-1-41-2", "gpu-1-40-1 is not the one before");
	expect_broken(other, 3, "gpu-1-41-2", "gpu-1-40-1 is not the one before");
	json_decref(other[0]);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

/* --- the verb --------------------------------------------------------------------------------------- */

static char said[1 << 20];

/* Run it in a process of its own with this on standard input; what it wrote is in `said`. */
static int wipe(const char *input, const char *const *args)
{
	char *argv[16] = {(char *)"drover wipe"};
	int argc = 1, out[2], in[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		unsetenv("KUBECONFIG");
		unsetenv("KUBERNETES_SERVICE_HOST");
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		status = cli_wipe(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	close(out[1]);
	close(in[0]);
	if (input)
		assert_int_equal(write(in[1], input, strlen(input)), strlen(input));
	close(in[1]);
	while ((got = read(out[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}
#define WIPE(input, ...) wipe(input, (const char *const[]){__VA_ARGS__, NULL})

static void assert_said(const char *what)
{
	if (!strstr(said, what))
		fail_msg("want '%s' in: %.2000s", what, said);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void a_folder_as_it_was_exported_is_checked(void **state)
{
	OWN(arena) a = arena_new();
	json_t *list[3];
	const char *sub = arena_printf(a, "%s/gpu-1", at.dir),
		   *keys = arena_printf(a, "%s/keys.json", at.dir), *path;

	(void)state;
	make_chain(list);
	assert_int_equal(mkdir(sub, 0755), 0);
	for (int i = 0; i < 3; i++) {
		char *text = json_text(list[i]);

		path = arena_printf(a, "%s/%s.json", sub, json_str_at(list[i], "metadata", "name"));
		put_file(path, text);
		free(text);
	}
	put_file(keys,
		 arena_printf(a, "{\"keys\":[\"%s\",\"%s\"]}", at.other_text, at.drover_text));
	assert_int_equal(WIPE(NULL, "verify", at.dir, "--keys", keys), 0);
	assert_said("gpu-1-41-2");
	assert_said("no agent signature: attempt not finished (AgentSilent: x)");
	assert_said("3 records: 2 proved clean, 0 failed, 1 not finished, 0 bad.");
	assert_said("Every record is what was signed.");
	assert_int_equal(WIPE(NULL, "verify", at.dir, "--key", at.drover_text, "-o", "json"), 0);
	assert_said("\"result\": \"unfinished\"");
	assert_said("\"ok\": true");
	assert_int_equal(
		WIPE(NULL, "verify", at.dir, "--key", at.drover_text, "--machine", "gpu-2"), 1);
	assert_said("There is nothing to check.");

	put_file(arena_printf(a, "%s/junk.json", sub), "{\"kind\":\"Pod\"}");
	assert_int_equal(WIPE(NULL, "verify", at.dir, "--keys", keys), 1);
	assert_said("is this a WipeRecord?");
	assert_said("DO NOT TRUST");
	put_file(arena_printf(a, "%s/junk.json", sub), "{\"kind\":");
	assert_int_equal(WIPE(NULL, "verify", at.dir, "--keys", keys, "-o", "json"), 1);
	assert_said("\"ok\": false");
	unlink(arena_printf(a, "%s/junk.json", sub));
	for (int i = 0; i < 3; i++) {
		unlink(arena_printf(a, "%s/%s.json", sub,
				    json_str_at(list[i], "metadata", "name")));
		json_decref(list[i]);
	}
	unlink(keys);
	rmdir(sub);
	rmdir(at.dir);
}

static void standard_input_is_a_file_too(void **state)
{
	struct evidence ev = sample();
	OWN_JSON o = record_of(&ev);
	char *text = json_text(o);

	(void)state;
	assert_int_equal(WIPE(text, "verify", "-", "--key", at.drover_text), 0);
	assert_said("1 record: 1 proved clean");
	json_object_set_new(json_at(o, "spec"), "verdict", json_string("Purge"));
	free(text);
	text = json_text(o);
	assert_int_equal(WIPE(text, "verify", "-", "--key", at.drover_text), 1);
	assert_said("BAD: spec.verdict: not what was signed");
	free(text);
}

static void wrong_usage_is_said(void **state)
{
	(void)state;
	assert_int_equal(wipe(NULL, (const char *const[]){NULL}), 2);
	assert_int_equal(WIPE(NULL, "clean"), 2);
	assert_int_equal(WIPE(NULL, "verify"), 2);
	assert_said("which files, folders or records?");
	assert_int_equal(WIPE(NULL, "verify", "x", "--key", "secret"), 2);
	assert_said("names no key");
	assert_int_equal(WIPE(NULL, "verify", "x", "--keys", "/nonexistent"), 2);
	assert_int_equal(WIPE("{}", "verify", "-"), 1);
	assert_said("whose signature?");
	assert_int_equal(WIPE(NULL, "verify", "/nonexistent/r.json", "--key", at.drover_text), 1);
	assert_said("/nonexistent/r.json");
	assert_int_equal(WIPE(NULL, "verify", "gpu-1-1-1"), 1); /* no cluster to ask */
	assert_said("host cluster");
	assert_int_equal(WIPE(NULL, "keys"), 1);
	assert_int_equal(WIPE(NULL, "verify", "--help"), 0);
	assert_said("kubectl get wiperecords");
}

/* --- by hand ---------------------------------------------------------------------------------------- */

/* The commands that docs/wipe.md gives under "By hand"; malloc'd. */
static char *by_hand(void)
{
	static char text[64 << 10];
	FILE *f = fopen("docs/wipe.md", "r");
	char *from, *to;
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	from = strstr(text, "## By hand");
	assert_non_null(from);
	from = strstr(from, "```sh\n") + strlen("```sh\n");
	to = strstr(from, "```");
	assert_non_null(to);
	return mem_printf("set -eu\n%.*s", (int)(to - from), from);
}

/* Its status; what it wrote is in `said`. */
static int shell(const char *script)
{
	int out[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(out[0]);
		if (chdir(at.dir) == 0)
			execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	while ((got = read(out[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_commands_in_the_manual_check_a_record(void **state)
{
	static const char *const made[] = {"record.json",  "keys.txt", "envelope.json",
					   "payload.json", "signed",   "key.der",
					   "sig"};
	OWN(arena) a = arena_new();
	struct evidence ev = sample();
	OWN_JSON o = record_of(&ev);
	char *script = by_hand(), *text = json_text(o), digest[CRYPTO_DIGEST_TEXT];
	uint8_t d[CRYPTO_SHA256];
	const char *second;

	(void)state;
	if (access("/usr/bin/jq", X_OK) < 0 || access("/usr/bin/openssl", X_OK) < 0) {
		free(script);
		free(text);
		skip();
	}
	if (mkdir(at.dir, 0700) < 0) /* as the tests before left it */
		assert_int_equal(access(at.dir, W_OK), 0);
	put_file(arena_printf(a, "%s/record.json", at.dir), text);
	put_file(arena_printf(a, "%s/keys.txt", at.dir), at.drover_text);
	if (shell(script) != 0)
		fail_msg("%.2000s", said);
	assert_said("Signature Verified Successfully");
	second = strstr(strstr(said, "Verified") + 1, "Verified");
	assert_non_null(second);
	assert_said("countersigned by drover");
	assert_said("the agent is the one that is stated");
	evidence_digest(json_str_at(o, "spec", "envelope"), d);
	assert_said(crypto_digest_text(d, digest));
	assert_said("\"verdict\": \"Clear\"");
	free(text);

	/* A payload that was changed. */
	{
		OWN_JSON envelope = decoded(json_str_at(o, "spec", "envelope"));
		OWN_JSON statement = decoded(json_str_at(envelope, "payload"));
		char *forged;

		json_object_set_new(json_at(statement, "predicate"), "verdict",
				    json_string("Purge"));
		forged = around(envelope, statement);
		json_object_set_new(json_at(o, "spec"), "envelope", json_string(forged));
		free(forged);
	}
	text = json_text(o);
	put_file(arena_printf(a, "%s/record.json", at.dir), text);
	assert_int_not_equal(shell(script), 0);
	free(text);
	free(script);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		unlink(arena_printf(a, "%s/%s", at.dir, made[i]));
	rmdir(at.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_good_in_every_shape),
		cmocka_unit_test(failed_and_unfinished_attempts_are_not_bad_and_not_proof),
		cmocka_unit_test(without_the_right_key_nothing_is_good),
		cmocka_unit_test(every_field_that_is_shown_is_checked_and_named),
		cmocka_unit_test(no_field_of_the_payload_can_be_changed),
		cmocka_unit_test(no_byte_of_the_envelope_can_be_changed),
		cmocka_unit_test(a_verdict_that_its_drives_do_not_bear_out_is_bad),
		cmocka_unit_test(records_are_linked_to_the_one_before),
		cmocka_unit_test(a_record_that_was_replaced_breaks_the_chain),
		cmocka_unit_test(a_folder_as_it_was_exported_is_checked),
		cmocka_unit_test(standard_input_is_a_file_too),
		cmocka_unit_test(wrong_usage_is_said),
		cmocka_unit_test(the_commands_in_the_manual_check_a_record),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, setup, teardown);
}
