/* Tests `drover support-bundle`, on the simulated loop: what the archive must contain, and what it
 * must not contain. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "api/annotations.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/verbs.h"

#define PLANTED "hunter2planted"

static struct cli_client c;
static char *said, *packed, *plain;
static size_t said_len, packed_len, plain_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	c = (struct cli_client){.verb = "drover support-bundle",
				.loop = d->l,
				.group = d->g,
				.http = d->c.http,
				.host = d->c.host,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
	fclose(c.out);
	free(said);
	free(packed);
	free(plain);
	packed = plain = NULL;
	return bench_teardown(state);
}

static void bundle(void)
{
	FILE *f = open_memstream(&packed, &packed_len);

	assert_int_equal(cli_do_bundle(&c, BENCH_NS, f), 0);
	fclose(f);
	plain = mem_alloc(8 << 20);
	plain_len = ZSTD_decompress(plain, 8 << 20, packed, packed_len);
	assert_false(ZSTD_isError(plain_len));
}

/* Returns the text of file `name` in the archive; NULL: missing. */
static const char *file(struct bench *d, const char *name)
{
	for (size_t at = 0; at + 512 <= plain_len && plain[at];) {
		size_t len = (size_t)strtol(plain + at + 124, NULL, 8);

		if (str_eq(plain + at, name))
			return arena_strndup(d->a, plain + at + 512, len);
		at += 512 + (len + 511) / 512 * 512;
	}
	return NULL;
}

static void assert_in(struct bench *d, const char *name, const char *what)
{
	const char *text = file(d, name);

	if (!text || !strstr(text, what))
		fail_msg("want '%s' in %s: %s", what, name, str_or(text, "(no such file)"));
}

/* Plants secrets in every text that users or devices can write. */
static void plant(struct bench *d)
{
	static const char *const conditions =
		"{'conditions': [{'type': 'Ready', 'status': 'False', 'reason': 'X', 'message': "
		"'GET "
		"https://root:" PLANTED "@10.0.0.1/ failed, sent Bearer " PLANTED "', "
		"'lastTransitionTime': '2026-01-01T00:00:00Z'}]}";
	static const struct {
		enum object_kind_id kind;
		const char *name;
	} all[] = {{OBJECT_PROVIDER, "hall-a"},
		   {OBJECT_NODE_POOL, "h100"},
		   {OBJECT_VIRTUAL_CLUSTER, "team-a"},
		   {OBJECT_MACHINE, "m-1"}};

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {'nodePoolRef': "
		     "{'name': "
		     "'h100', 'uid': 'u'}, 'virtualClusterRef': {'name': 'team-a', 'uid': 'u'}}}");
	bench_put(
		d,
		"{'kind': 'Drain', 'metadata': {'name': 'psu'}, 'spec': {'machineNames': ['m-1'], "
		"'reason': 'token=" PLANTED "'}}");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		bench_patch(d, all[i].kind, all[i].name,
			    "{'metadata': {'annotations': {'someone/token': '" PLANTED "'}}}");
		bench_status(d, all[i].kind, all[i].name, conditions);
	}
	bench_secret(d, "bmc-1", "password", PLANTED, NULL, NULL);
	bench_must(
		d, &d->host, "POST", "/apis/events.k8s.io/v1/namespaces/default/events",
		"{'apiVersion': 'events.k8s.io/v1', 'kind': 'Event', 'metadata': {'name': 'e1'}, "
		"'eventTime': '2026-01-01T00:00:00.000000Z', 'reportingController': 'drover', "
		"'reportingInstance': 'x', 'action': 'X', 'type': 'Warning', 'reason': "
		"'BmcAuthFailed', "
		"'note': 'password: " PLANTED
		"', 'regarding': {'apiVersion': 'drover.dev/v1alpha1', "
		"'kind': 'Machine', 'name': 'm-1'}}");
}

static void nothing_that_was_planted_is_in_it(void **state)
{
	struct bench *d = *state;

	plant(d);
	d->host.denied_at = "/secrets?";
	bundle();
	assert_int_equal(d->host.denials, 0); /* The command lists no Secrets. */
	if (memmem(plain, plain_len, PLANTED, strlen(PLANTED)))
		fail_msg("it is at: %.300s",
			 (char *)memmem(plain, plain_len, PLANTED, strlen(PLANTED)) - 200);
	assert_in(d, "objects/machines/0001.jsonl", "\"name\":\"m-1\"");
	assert_in(d, "objects/machines/0001.jsonl", "https://REDACTED@10.0.0.1/ failed");
	assert_in(d, "objects/drains/0001.jsonl", "token=REDACTED");
	assert_in(d, "objects/nodepools/0001.jsonl", "h100");
	assert_in(d, "events/0001.jsonl", "BmcAuthFailed");
	assert_in(d, "check.txt", "wrong  controller: no controller has ever run here");
	assert_in(d, "why.txt", "virtualcluster/team-a");
	assert_in(d, "cluster.json", "v1.36.2");
	assert_in(d, "version.txt", "drover ");
	assert_in(d, "missing.txt", "lease.json: ");
	assert_null(file(d, "objects/burstpolicies/0001.jsonl"));
}

static void many_are_many_files(void **state)
{
	struct bench *d = *state;
	const char *names = "";

	for (int i = 0; i < 70; i++)
		names = arena_printf(d->a, "%s%s'gpu-%055d'", names, i ? ", " : "", i);
	for (int i = 0; i < 300; i++)
		bench_must(d, &d->host, "POST", "/apis/" OBJECT_API_VERSION "/drains",
			   arena_printf(d->a,
					"{'apiVersion': '" OBJECT_API_VERSION
					"', 'kind': 'Drain', 'metadata': {'name': 'd-%d'}, 'spec': "
					"{'machineNames': [%s], 'reason': 'x'}}",
					i, names));
	bundle();
	assert_non_null(file(d, "objects/drains/0001.jsonl"));
	assert_non_null(file(d, "objects/drains/0002.jsonl"));
	assert_null(file(d, "objects/drains/0003.jsonl"));
}

/* --- an API server with pods and their logs --------------------------------------------------- */

#define PODS "https://pods.test:6443"

static void on_log(struct httpd_req *q, void *arg)
{
	static const char log[] = "started\nlogin token=" PLANTED " \xff\n";

	(void)arg;
	httpd_reply(q, 200, "text/plain", log, sizeof(log) - 1);
}

static void on_pods(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply_json(q, 200,
			 "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [{\"metadata\": "
			 "{\"name\": \"drover-0\"}, \"spec\": {\"containers\": [{\"name\": "
			 "\"drover\"}]}}]}");
}

static void logs_are_taken_and_redacted(void **state)
{
	struct bench *d = *state;
	struct kube_config *cfg = mem_new(struct kube_config);
	struct kube_client_spec cs = {.config = cfg, .name = "host", .qps = 1000, .burst = 1000};
	struct httpd *h = httpd_new(d->server_g);
	struct err e;

	cfg->server = mem_strdup(PODS);
	cfg->token = secret_from_str("a-token-0123456789");
	httpd_route(h, "GET", "/api/v1/namespaces/" BENCH_NS "/pods/drover-0/log", 0, on_log, NULL);
	httpd_route(h, "GET", "/api/v1/namespaces/" BENCH_NS "/pods", 0, on_pods, NULL);
	http_mem_serve(d->net, PODS, h);
	c.host = kube_client_new(d->g, d->c.http, &cs, &e);
	bundle();
	assert_string_equal(file(d, "logs/drover-0/drover.log"),
			    "started\nlogin token=REDACTED ?\n");
	assert_in(d, "pods/0001.jsonl", "drover-0");
	http_mem_serve(d->net, PODS, NULL);
	kube_client_free(c.host);
	kube_config_free(cfg);
	httpd_free(h);
}

/* --- every kind of secret, in every file ------------------------------------------------------ */

/* A BMC password, a token, a key of a cloud account, and the secret values of a kubeconfig */
static const char *const secrets[] = {"Pa$5/w0rd+pl,an;ted", "tok-3n.planted/0123456789abcdef",
				      "wJalrXUtnFEMI/K7MDENG/bPxRfiCYplantedKEY",
				      "kubeconfig-token-planted-4711",
				      "MHcCAQEEIPlantedPrivateKey0123456789"};
enum { SECRETS = sizeof(secrets) / sizeof(secrets[0]), KUBECONFIG_TOKEN = 3, PRIVATE_KEY = 4 };

static const char *base64(struct arena *a, const char *text)
{
	char *b64 = crypto_base64(text, strlen(text));
	const char *copy = arena_strdup(a, b64);

	free(b64);
	return copy;
}

static const char *url_encoded(struct arena *a, const char *text, bool upper)
{
	const char *out = "";

	for (; *text; text++)
		out = isalnum((unsigned char)*text) || strchr("-._~", *text)
			      ? arena_printf(a, "%s%c", out, *text)
			      : arena_printf(a, upper ? "%s%%%02X" : "%s%%%02x", out,
					     (unsigned char)*text);
	return out;
}

/* Returns texts with secrets as users, devices and libraries write them into messages and logs; the
 * caller owns the result. */
static json_t *planted_texts(struct arena *a)
{
	const char *pem = arena_printf(
		a, "-----BEGIN EC PRIVATE KEY-----\n%s\n-----END EC PRIVATE KEY-----\n",
		secrets[PRIVATE_KEY]);
	const char *kubeconfig =
		arena_printf(a,
			     "apiVersion: v1\nkind: Config\nusers:\n- user:\n    token: %s\n    "
			     "client-key-data: %s\n",
			     secrets[KUBECONFIG_TOKEN], base64(a, pem));
	json_t *all =
		json_pack("[s, s, s, s, s]", pem, kubeconfig, base64(a, pem), base64(a, kubeconfig),
			  arena_printf(a, "data: {\"kubeconfig\": \"%s\"}", base64(a, kubeconfig)));

	for (int i = 0; i < KUBECONFIG_TOKEN; i++) {
		const char *p = secrets[i], *u = url_encoded(a, p, true), *b = base64(a, p);
		const char *const texts[] = {
			arena_printf(a, "GET https://root:%s@10.0.0.1/redfish/v1 failed", u),
			arena_printf(a, "https://s3.example/x?X-Amz-Security-Token=%s&a=b: 403", u),
			arena_printf(a, "login with password=%s failed", p),
			arena_printf(a, "login {\"UserName\": \"root\", \"Password\" : \"%s\"}", p),
			arena_printf(a, "\"body\":\"{\\\"token\\\":\\\"%s\\\"}\"", p),
			arena_printf(a, "Authorization: Basic %s",
				     base64(a, arena_printf(a, "root:%s", p))),
			arena_printf(a, "authorization: Bearer %s", p),
			arena_printf(a, "X-Auth-Token: %s", p),
			arena_printf(a, "Cookie: session=%s", p),
			arena_printf(a, "aws_secret_access_key = %s", p),
			arena_printf(a, "ran ipmitool --password %s --host 10.0.0.1", p),
			arena_printf(a, "Secret {\"data\":{\"password\":\"%s\"}}", b),
		};

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			json_array_append_new(all, json_string(texts[k]));
	}
	return all;
}

/* Returns an object with secrets in each place where an object can have one; the caller owns the
 * result. */
static json_t *planted_object(struct arena *a, const char *name)
{
	json_t *texts = planted_texts(a), *conditions = json_array(), *v;
	json_t *o = json_pack("{s:{s:s, s:{s:s, s:s}}, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s, s:s}}",
			      "metadata", "name", name, "annotations",
			      "kubectl.kubernetes.io/last-applied-configuration", secrets[0],
			      "someone/token", base64(a, secrets[1]), "spec", "password",
			      secrets[0], "bootstrapToken", secrets[1], "secretAccessKey",
			      secrets[2], "kubeconfig", base64(a, secrets[3]), "involvedObject",
			      "apiVersion", OBJECT_API_VERSION, "kind", "Machine", "name", "m-1");
	size_t i;

	json_array_foreach (texts, i, v)
		json_array_append_new(conditions,
				      json_pack("{s:s, s:s, s:s, s:O}", "type", "Ready", "status",
						"False", "reason", "X", "message", v));
	json_object_set_new(json_at(o, "spec"), "containers",
			    json_pack("[{s:s, s:[s, s], s:[s, s], s:[{s:s, s:s}]}]", "name",
				      "drover", "command", "drover", secrets[0], "args", secrets[1],
				      secrets[2], "env", "name", "AWS_SECRET_ACCESS_KEY", "value",
				      secrets[2]));
	json_object_set_new(o, "note", json_incref(json_array_get(texts, 0)));
	json_object_set_new(o, "status", json_pack("{s:o}", "conditions", conditions));
	json_object_set_new(json_at(o, "spec"), "reasons", texts);
	return o;
}

static void reply(struct httpd_req *q, json_t *o)
{
	char *text = json_text(o);

	httpd_reply_json(q, 200, text);
	free(text);
	json_decref(o);
}

static void on_planted_list(struct httpd_req *q, void *arg)
{
	OWN(arena) a = arena_new();

	reply(q, json_pack("{s:{s:s}, s:[o]}", "metadata", "resourceVersion", "1", "items",
			   planted_object(a, arg)));
}

static void on_planted_object(struct httpd_req *q, void *arg)
{
	OWN(arena) a = arena_new();

	reply(q, planted_object(a, arg));
}

static void on_planted_log(struct httpd_req *q, void *arg)
{
	OWN(arena) a = arena_new();
	OWN_JSON texts = planted_texts(a);
	const char *log = "";
	json_t *v;
	size_t i;

	(void)arg;
	json_array_foreach (texts, i, v) { /* once as plain text, once in a line of drover's log */
		char *line = json_dumps(v, JSON_ENCODE_ANY);

		log = arena_printf(a, "%s%s\n{\"level\": \"warn\", \"error\": %s}\n", log,
				   json_string_value(v), line);
		free(line);
	}
	httpd_reply(q, 200, "text/plain", log, strlen(log));
}

static void assert_free_of(const char *what, const char *data, size_t len)
{
	const char *at = memmem(data, len, what, strlen(what));

	if (at)
		fail_msg("'%s' is in the archive: %.*s", what,
			 (int)(data + len - at < 300 ? data + len - at : 300),
			 at - data > 200 ? at - 200 : data);
}

/* Asserts that neither the archive nor its content has the secret: plain, URL-encoded, or in base64
 * at any position of a longer text. */
static void assert_secret_is_absent(struct arena *a, const char *secret)
{
	const char *forms[6] = {secret, url_encoded(a, secret, true),
				url_encoded(a, secret, false)};

	for (size_t k = 0; k < 3; k++) { /* base64 depends on the offset modulo 3 */
		const char *b64 = base64(a, arena_printf(a, "%.*s%s", (int)k, "xx", secret));
		const size_t first = k ? k + 1 : 0, end = (k + strlen(secret)) * 8 / 6;

		forms[3 + k] = arena_strndup(a, b64 + first, end - first);
	}
	for (size_t i = 0; i < 6; i++) {
		assert_free_of(forms[i], plain, plain_len);
		assert_free_of(forms[i], packed, packed_len);
	}
}

static void no_secret_of_any_kind_is_in_any_file_in_any_form(void **state)
{
	static char names[OBJECT_KINDS][32];
	struct bench *d = *state;
	struct kube_config *cfg = mem_new(struct kube_config);
	struct kube_client_spec cs = {.config = cfg, .name = "host", .qps = 1000, .burst = 1000};
	struct httpd *h = httpd_new(d->server_g);
	static char one[] = "drover-0";
	struct err e;

	cfg->server = mem_strdup(PODS);
	cfg->token = secret_from_str("a-token-0123456789");
	for (int k = 0; k < OBJECT_KINDS; k++) {
		str_format(names[k], sizeof(names[k]), "%s-1", object_kinds[k].singular);
		httpd_route(h, "GET",
			    arena_printf(d->a, "/apis/" OBJECT_API_VERSION "/%s",
					 object_kinds[k].plural),
			    0, on_planted_list, names[k]);
	}
	httpd_route(h, "GET", "/api/v1/namespaces/default/events", 0, on_planted_list, one);
	httpd_route(h, "GET", "/api/v1/namespaces/" BENCH_NS "/pods", 0, on_planted_list, one);
	httpd_route(h, "GET", "/api/v1/namespaces/" BENCH_NS "/pods/drover-0/log", 0,
		    on_planted_log, NULL);
	httpd_route(h, "GET", "/version", 0, on_planted_object, one);
	httpd_route(h, "GET", "/apis/apps/v1/namespaces/" BENCH_NS "/deployments/drover", 0,
		    on_planted_object, one);
	httpd_route(h, "GET",
		    "/apis/coordination.k8s.io/v1/namespaces/" BENCH_NS "/leases/" CONTROLLER_LEASE,
		    0, on_planted_object, one);
	http_mem_serve(d->net, PODS, h);
	c.host = kube_client_new(d->g, d->c.http, &cs, &e);
	bundle();
	for (int i = 0; i < SECRETS; i++)
		assert_secret_is_absent(d->a, secrets[i]);
	/* Every file contains REDACTED, so each of them was read and had secrets. */
	for (int k = 0; k < OBJECT_KINDS; k++)
		assert_in(d, arena_printf(d->a, "objects/%s/0001.jsonl", object_kinds[k].plural),
			  "REDACTED");
	assert_in(d, "events/0001.jsonl", "REDACTED");
	assert_in(d, "pods/0001.jsonl", "REDACTED");
	assert_in(d, "logs/drover-0/drover.log", "X-Auth-Token: REDACTED\n");
	assert_in(d, "deployment.json", "REDACTED");
	assert_in(d, "lease.json", "REDACTED");
	assert_in(d, "cluster.json", "REDACTED");
	http_mem_serve(d->net, PODS, NULL);
	kube_client_free(c.host);
	kube_config_free(cfg);
	httpd_free(h);
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover support-bundle", cli_support_bundle, NULL,
				  (const char *const[]){"-o", "x.zip", NULL}),
			 2);
	verb_assert_said("want a file name that ends with .tar.zst");
	assert_int_equal(verb_run("drover support-bundle", cli_support_bundle, NULL,
				  (const char *const[]){"all", NULL}),
			 2);
	verb_assert_said("takes no argument, got 'all'");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(nothing_that_was_planted_is_in_it),
		T(many_are_many_files),
		T(logs_are_taken_and_redacted),
		T(no_secret_of_any_kind_is_in_any_file_in_any_form),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
