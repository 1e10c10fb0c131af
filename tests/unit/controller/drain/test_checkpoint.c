/* Tests the checkpoint service, which drover notifies before it drains a node: which server drover
 * trusts, what drover sends, and the effect of each answer. Trust is tested with TLS on the real
 * loop, the rest on the simulated loop. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "api/resources.h"
#include "api/tables.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/httpd/httpd_mhd.h"
#include "base/log.h"
#include "tests/simulated/loop_sim.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/secrets.h"
#include "controller/drain/checkpoint.h"
#include "controller/life/life.h"
#include "controller/tenant/projection.h"
#include "kube/call.h"
#include "tests/unit/base/http/http_rig.h"
#include "tests/data/pems.h"

#define NS "drover-system"
#define TOKEN "token-of-the-host-0123456789"

struct hut {
	struct rig r;
	struct context c;
	struct tenant t;
	struct kube_client *k;
	struct secret *token;
	struct node_claim n;
	struct leave lv;
	struct object_checkpoint want;
	struct object_secret_ref ca;
	struct checkpoint *cp;
	int64_t began;
	const char *who;
	char url[200];
	char log[65536];
	const char *awaited;

	/* CA certificate of the server, stored in the Secret; NULL: no Secret exists */
	const char *ca_pem;
	/* Number of pods on the node */
	unsigned pods;
	/* Annotation of these pods; NULL: none */
	const char *note;
	unsigned posts;
	char headers[512], *body;
	int status;
	const char *answer, *extra, *extra_value;
	/* Number of blanks that the server appends to its answer */
	size_t padding;
	bool silent;
};

/* --- the checkpoint service ------------------------------------------------------------------- */

static void hut_on_save(struct httpd_req *q, void *arg)
{
	static const char *const never[] = {"Authorization", "Cookie", "X-Auth-Token",
					    "Proxy-Authorization", NULL};
	struct hut *h = arg;
	size_t len, n = strlen(h->answer);
	char *text;

	h->posts++;
	free(h->body);
	h->body = mem_strdup(httpd_body(q, &len));
	str_copy(h->headers, sizeof(h->headers), str_or(httpd_query(q, "x"), ""));
	for (int i = 0; never[i]; i++)
		if (httpd_header(q, never[i]) || (h->r.real && httpd_identity(q)->cert_subject_cn))
			str_copy(h->headers, sizeof(h->headers), "a credential came");
	if (h->silent)
		return;
	if (h->extra)
		httpd_reply_header(q, h->extra, h->extra_value);
	text = mem_alloc(n + h->padding + 1);
	memcpy(text, h->answer, n);
	memset(text + n, ' ', h->padding);
	text[n + h->padding] = '\0';
	httpd_reply_json(q, h->status, text);
	free(text);
}

static void hut_on_secret(struct httpd_req *q, void *arg)
{
	struct hut *h = arg;
	char *b64, *text;
	OWN_JSON o = NULL;

	if (!h->ca_pem) {
		httpd_reply_json(q, 404,
				 "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
		return;
	}
	b64 = crypto_base64(h->ca_pem, strlen(h->ca_pem));
	o = json_pack("{s:s, s:{s:s, s:s}, s:{s:s}}", "kind", "Secret", "metadata", "name",
		      httpd_segment(q, 0), "resourceVersion", "1", "data", "ca.crt", b64);
	text = json_text(o);
	httpd_reply_json(q, 200, text);
	free(text);
	free(b64);
}

static void hut_on_pods(struct httpd_req *q, void *arg)
{
	struct hut *h = arg;
	json_t *items;
	OWN_JSON list = NULL;
	char name[32], *text;

	if (httpd_query(q, "watch"))
		return;
	items = json_array();
	for (unsigned i = 0; i < h->pods; i++) {
		str_format(name, sizeof(name), "train-%u", i);
		json_array_append_new(
			items,
			json_pack("{s:{s:s, s:s, s:s, s:s, s:{s:s*}}, s:{s:s}, s:{s:s}}",
				  "metadata", "namespace", "default", "name", name, "uid", name,
				  "resourceVersion", "1", "annotations", CHECKPOINT_WANTED, h->note,
				  "spec", "nodeName", "node-1", "status", "phase", "Running"));
	}
	list = json_pack("{s:s, s:{s:s}, s:o}", "kind", "PodList", "metadata", "resourceVersion",
			 "1", "items", items);
	text = json_text(list);
	httpd_reply_json(q, 200, text);
	free(text);
}

/* --- drover ----------------------------------------------------------------------------------- */

static void hut_on_line(const char *line, size_t len, void *arg)
{
	struct hut *h = arg;
	size_t at = strlen(h->log);

	if (at + len + 1 < sizeof(h->log))
		memcpy(h->log + at, line, len);
}

static void hut_on_tick(void *arg)
{
	(void)arg;
}

static void hut_on_secret_changed(const char *ns, const char *name, void *arg)
{
	(void)ns, (void)name, (void)arg;
}

static struct kube_cache *hut_cache(struct hut *h, const struct kube_resource *r)
{
	struct kube_cache_spec s = {
		.client = h->k, .resource = r, .project = tenant_project_pod, .arg = &h->t};

	return kube_cache_new(h->r.client_g, &s);
}

static void hut_url(struct hut *h, const char *origin)
{
	str_format(h->url, sizeof(h->url), "%s/save?x=%s", origin, "wanted");
	h->want.url = h->url;
}

static void hut_start(struct hut *h, bool real)
{
	struct kube_config cfg = {0};
	struct kube_client_spec ks = {.config = &cfg, .name = "host"};
	struct err e;

	memset(h, 0, sizeof(*h));
	log_redirect(hut_on_line, h);
	rig_start(&h->r, real);
	httpd_route(h->r.d, "POST", "/save", 1 << 20, hut_on_save, h);
	httpd_route(h->r.d, "GET", "/api/v1/namespaces/" NS "/secrets/{}", 0, hut_on_secret, h);
	httpd_route(h->r.d, "GET", "/api/v1/pods", 0, hut_on_pods, h);
	h->status = 200;
	h->answer = "{\"done\":true}";
	h->pods = 1;
	h->ca_pem = real ? h->r.ca_pem : PEMS_CA;
	h->token = secret_from_str(TOKEN);
	cfg.server = h->r.url;
	cfg.ca_pem = h->r.ca_pem;
	cfg.token = h->token;
	cfg.namespace_ = (char *)"default";
	h->k = kube_client_new(h->r.client_g, h->r.h, &ks, &e);
	if (!h->k)
		fail_msg("%s", e.text);
	h->c.loop = h->r.loop;
	h->c.group = h->r.client_g;
	h->c.http = h->r.h;
	h->c.host = h->k;
	h->c.secrets = secrets_new(h->r.client_g, h->k, NS, hut_on_secret_changed, NULL);
	h->t.name = (char *)"team-a";
	h->t.client = h->k;
	h->n.meta.name = "node-1";
	h->n.spec.checkpoint = &h->want;
	h->want.timeout = 180 * 1000;
	h->ca = (struct object_secret_ref){.name = "saver-ca"};
	h->want.ca_secret_ref = &h->ca;
	hut_url(h, h->r.url);
	h->lv.reason = LEAVE_DRAIN;
	h->began = loop_wall(h->r.loop);
}

static bool hut_has_pods(void *arg)
{
	struct hut *h = arg;

	return kube_cache_synced(h->t.pods) && kube_cache_size(h->t.pods) == h->pods;
}

/* Starts the server. Call it after the test has configured the server's members in *h. */
static void hut_open(struct hut *h)
{
	/* This test gets no Machines from an API server, so an empty cache is enough. */
	h->c.cache[OBJECT_MACHINE] = hut_cache(h, &object_resources[OBJECT_MACHINE]);
	h->t.pods = hut_cache(h, &KUBE_PODS);
	rig_until(&h->r, hut_has_pods, h);
	h->cp = checkpoint_new(
		&(struct leave_of){&h->c, &h->t, "gpu-1", "gpu-1", hut_on_tick, NULL});
	h->began = loop_wall(h->r.loop);
}

static void hut_stop(struct hut *h)
{
	/* The token for the host cluster's API server must not be sent to the checkpoint
	 * service. */
	assert_null(strstr(h->log, TOKEN));
	if (h->body)
		assert_null(strstr(h->body, TOKEN));
	assert_string_not_equal(h->headers, "a credential came");
	checkpoint_free(h->cp);
	kube_cache_free(h->t.pods);
	kube_cache_free(h->c.cache[OBJECT_MACHINE]);
	secrets_free(h->c.secrets);
	kube_client_free(h->k);
	secret_free(h->token);
	free(h->body);
	rig_stop(&h->r);
	log_redirect(NULL, NULL);
}

static void hut_look(struct hut *h)
{
	h->who = checkpoint_look(h->cp, &h->n, &h->lv, h->began);
}

static bool hut_is_done(void *arg)
{
	hut_look(arg);
	return !((struct hut *)arg)->who;
}

static bool hut_was_said(void *arg)
{
	struct hut *h = arg;

	hut_look(h);
	return strstr(h->log, h->awaited);
}

/* Runs until the log contains text. The drain must still wait for the service at that time. */
static void hut_await(struct hut *h, const char *text)
{
	h->awaited = text;
	rig_until(&h->r, hut_was_said, h);
	assert_non_null(h->who);
	assert_true(str_starts(h->who, "checkpoint "));
}

/* Advances the simulated clock by that many seconds and evaluates the checkpoint once per
 * second. */
static void hut_pass(struct hut *h, int64_t seconds)
{
	for (int64_t i = 0; i < seconds; i++) {
		hut_look(h);
		loop_sim_run_until(h->r.loop, loop_now(h->r.loop) + 1000);
	}
	hut_look(h);
}

/* --- trust ------------------------------------------------------------------------------------ */

static void a_service_is_believed_by_the_ca_of_its_secret(void **state)
{
	struct hut h;
	struct err e;
	OWN_JSON body = NULL;

	(void)state;
	hut_start(&h, true);
	hut_open(&h);
	rig_until(&h.r, hut_is_done, &h);
	assert_int_equal(h.posts, 1);
	assert_string_equal(h.headers, "wanted");
	body = json_parse(h.body, strlen(h.body), &e);
	assert_string_equal(json_str_at(body, "machine"), "gpu-1");
	assert_string_equal(json_str_at(body, "virtualCluster"), "team-a");
	/* Eight members: no deadline, because the drain has none. */
	assert_int_equal(json_object_size(body), 8);
	hut_stop(&h);
}

static void a_service_of_another_ca_is_told_nothing(void **state)
{
	struct secret *key;
	struct hut h;
	struct err e;
	char *pem;

	(void)state;
	hut_start(&h, true);
	assert_ok(crypto_ca_new("another CA", loop_wall(h.r.loop), 2, &pem, &key, &e), &e);
	h.ca_pem = pem;
	hut_open(&h);
	hut_await(&h, "CheckpointFailed");
	assert_int_equal(h.posts, 0);
	hut_stop(&h);
	free(pem);
	secret_free(key);
}

static void without_a_secret_the_systems_cas_count(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, true);
	h.want.ca_secret_ref = NULL;
	hut_open(&h);
	hut_await(&h, "CheckpointFailed");
	assert_int_equal(h.posts, 0);
	hut_stop(&h);
}

/* Opens a second listener with the same handlers; its certificate is for these names (NULL: plain
 * HTTP). */
static struct httpd_mhd *other_door(struct hut *h, const char *const *names, int64_t issued,
				    const char *host)
{
	struct secret *key = NULL;
	struct httpd_mhd *door;
	char *cert = NULL, origin[64];
	struct err e;

	if (names)
		assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = h->r.ca_pem,
								       .ca_key = h->r.ca_key,
								       .cn = "x",
								       .names = names,
								       .wall_ms = issued,
								       .days = 2},
					    &cert, &key, &e),
			  &e);
	door = httpd_mhd_new(h->r.d,
			     &(struct httpd_mhd_spec){
				     .address = "127.0.0.1:0", .cert_pem = cert, .key_pem = key},
			     &e);
	if (!door)
		fail_msg("%s", e.text);
	str_format(origin, sizeof(origin), "%s://%s:%u", names ? "https" : "http", host,
		   httpd_mhd_port(door));
	hut_url(h, origin);
	free(cert);
	secret_free(key);
	return door;
}

static void a_certificate_for_another_name_is_refused(void **state)
{
	static const char *const names[] = {"saver.example", NULL};
	struct httpd_mhd *door;
	struct hut h;

	(void)state;
	hut_start(&h, true);
	door = other_door(&h, names, loop_wall(h.r.loop), "localhost");
	hut_open(&h);
	hut_await(&h, "CheckpointFailed");
	assert_int_equal(h.posts, 0);
	httpd_mhd_free(door);
	hut_stop(&h);
}

static void a_certificate_that_has_run_out_is_refused(void **state)
{
	static const char *const names[] = {"localhost", NULL};
	struct httpd_mhd *door;
	struct hut h;

	(void)state;
	hut_start(&h, true);
	door = other_door(&h, names, loop_wall(h.r.loop) - 10 * 86400000LL, "localhost");
	hut_open(&h);
	hut_await(&h, "CheckpointFailed");
	assert_int_equal(h.posts, 0);
	httpd_mhd_free(door);
	hut_stop(&h);
}

static void plain_http_is_refused_whoever_let_it_in(void **state)
{
	struct httpd_mhd *door;
	struct hut h;

	(void)state;
	hut_start(&h, true);
	door = other_door(&h, NULL, 0, "localhost");
	hut_open(&h);
	hut_await(&h, "CheckpointFailed");
	assert_int_equal(h.posts, 0);
	/* Validation already refuses an object with such a URL. */
	assert_false(object_is_https(h.url));
	httpd_mhd_free(door);
	hut_stop(&h);
}

static void a_service_whose_ca_is_missing_is_not_asked_without(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, false);
	h.ca_pem = NULL;
	hut_open(&h);
	hut_pass(&h, 60);
	assert_non_null(strstr(h.log, "caSecretRef: the Secret cannot be read"));
	assert_non_null(h.who);
	h.ca_pem = PEMS_CA;
	h.ca.key = "another.crt";
	hut_pass(&h, 60);
	assert_non_null(strstr(h.log, "the Secret has no key another.crt"));
	assert_int_equal(h.posts, 0);
	/* The checkpoint's timeout runs even though nothing was sent, and then the drain
	 * continues. */
	hut_pass(&h, 60);
	assert_null(h.who);
	hut_stop(&h);
}

/* --- what drover sends ------------------------------------------------------------------------ */

static void a_login_in_the_url_is_neither_sent_nor_told(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, false);
	hut_url(&h, "https://anna:hunter2@server");
	hut_open(&h);
	hut_pass(&h, 20);
	assert_int_equal(h.posts, 0);
	assert_string_equal(h.who, "checkpoint server");
	assert_non_null(strstr(h.log, "may not carry a user name"));
	assert_null(strstr(h.log, "hunter2"));
	hut_stop(&h);
}

static void what_the_url_asks_with_is_not_told(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, false);
	h.status = 500;
	hut_open(&h);
	hut_pass(&h, 20);
	assert_true(h.posts > 1);
	assert_string_equal(h.who, "checkpoint server");
	assert_non_null(strstr(h.log, "HTTP 500"));
	assert_null(strstr(h.log, "wanted"));
	hut_stop(&h);
}

static void the_list_of_pods_has_an_end(void **state)
{
	struct hut h;
	struct err e;
	OWN_JSON body = NULL;

	(void)state;
	hut_start(&h, false);
	h.pods = 3000;
	hut_open(&h);
	hut_pass(&h, 10);
	assert_null(h.who);
	body = json_parse(h.body, strlen(h.body), &e);
	assert_int_equal(json_array_size(json_object_get(body, "pods")), 1000);
	assert_int_equal(json_int_at(body, "podsLeft"), 3000);
	hut_stop(&h);
}

/* --- what the service answers ----------------------------------------------------------------- */

static void only_200_with_done_is_an_end(void **state)
{
	static const struct {
		int status;
		const char *answer;
		bool trouble;
	} cases[] = {
		{200, "{\"done\":\"true\"}", false},
		{200, "{\"done\":1}", false},
		{200, "{}", false},
		{200, "[true]", true},
		{200, "", true},
		{200, "{\"done\":true", true},
		{201, "{\"done\":true}", true},
		{202, "{\"done\":true}", false},
		{404, "{\"done\":true}", true},
		{429, "{\"done\":true}", true},
		{500, "{\"done\":true}", true},
		{503, "{\"done\":true}", true},
		{200, "{\"done\":false,\"done\":true}", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hut h;

		hut_start(&h, false);
		h.status = cases[i].status;
		h.answer = cases[i].answer;
		hut_open(&h);
		hut_pass(&h, 12);
		if (h.posts < 2 || !h.who ||
		    !strstr(h.log, "CheckpointFailed") != !cases[i].trouble)
			fail_msg("%d %s: %u posts, %s", cases[i].status, cases[i].answer, h.posts,
				 h.log);
		h.status = 200;
		h.answer = "{\"done\":true}";
		hut_pass(&h, 12);
		assert_null(h.who);
		hut_stop(&h);
	}
}

static void a_redirect_is_not_followed(void **state)
{
	static const int codes[] = {301, 302, 303, 307, 308};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct hut h;

		hut_start(&h, true);
		h.status = codes[i];
		h.extra = "Location";
		h.extra_value = "/save?x=elsewhere";
		hut_open(&h);
		hut_await(&h, "HTTP 30");
		assert_int_equal(h.posts, 1);
		assert_string_equal(h.headers, "wanted");
		hut_stop(&h);
	}
}

static void an_answer_without_end_is_none(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, false);
	h.padding = 64 << 10;
	hut_open(&h);
	hut_pass(&h, 30);
	assert_non_null(h.who);
	assert_non_null(strstr(h.log, "CheckpointFailed"));
	h.padding = 60 << 10;
	hut_pass(&h, 12);
	assert_null(h.who);
	hut_stop(&h);
}

static void silence_ends_after_ten_seconds_and_is_asked_again(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, false);
	h.silent = true;
	hut_open(&h);
	hut_pass(&h, 9);
	assert_int_equal(h.posts, 1);
	assert_null(strstr(h.log, "CheckpointFailed"));
	hut_pass(&h, 100);
	assert_non_null(strstr(h.log, "CheckpointFailed"));
	/* The first request ends after 10 s; then one request follows every 5 s. */
	assert_in_range(h.posts, 6, 8);
	assert_non_null(h.who);
	hut_pass(&h, 80);
	assert_null(h.who);
	assert_non_null(strstr(h.log, "CheckpointTimedOut"));
	hut_stop(&h);
}

static void it_is_asked_as_seldom_as_it_wants_but_not_for_ever(void **state)
{
	struct hut h;

	(void)state;
	hut_start(&h, false);
	h.status = 503;
	h.extra = "Retry-After";
	h.extra_value = "86400";
	hut_open(&h);
	hut_pass(&h, 95);
	assert_in_range(h.posts, 3, 4);
	hut_stop(&h);
}

static void the_same_trouble_is_told_once(void **state)
{
	struct hut h;
	unsigned told = 0;

	(void)state;
	hut_start(&h, false);
	h.status = 500;
	hut_open(&h);
	hut_pass(&h, 60);
	assert_true(h.posts > 8);
	for (const char *at = h.log; (at = strstr(at, "CheckpointFailed")); at++)
		told++;
	assert_int_equal(told, 1);
	hut_stop(&h);
}

/* --- pods ------------------------------------------------------------------------------------- */

/* Returns for how many seconds the drain waits for the service if a pod has this annotation. */
static int64_t waited(const char *note)
{
	int64_t seconds = 0;
	struct hut h;

	hut_start(&h, false);
	h.n.spec.checkpoint = NULL;
	h.note = note;
	hut_open(&h);
	assert_true(checkpoint_needed(&h.t, &h.n));
	for (hut_look(&h); h.who && seconds < 2 * 86400; hut_look(&h)) {
		loop_sim_run_until(h.r.loop, loop_now(h.r.loop) + 10000);
		seconds += 10;
	}
	hut_stop(&h);
	return seconds;
}

static void a_pod_has_a_day_at_most_and_nonsense_counts_as_five_minutes(void **state)
{
	char *endless = mem_alloc(100001);

	(void)state;
	memset(endless, '9', 100000);
	endless[100000] = '\0';
	assert_int_equal(waited("true"), 300);
	assert_int_equal(waited("20m"), 1200);
	assert_int_equal(waited("1000000h"), 86400);
	assert_int_equal(waited("-5m"), 300);
	assert_int_equal(waited("0s"), 300);
	assert_int_equal(waited(""), 300);
	assert_int_equal(waited(endless), 300);
	free(endless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_is_believed_by_the_ca_of_its_secret),
		cmocka_unit_test(a_service_of_another_ca_is_told_nothing),
		cmocka_unit_test(without_a_secret_the_systems_cas_count),
		cmocka_unit_test(a_certificate_for_another_name_is_refused),
		cmocka_unit_test(a_certificate_that_has_run_out_is_refused),
		cmocka_unit_test(plain_http_is_refused_whoever_let_it_in),
		cmocka_unit_test(a_service_whose_ca_is_missing_is_not_asked_without),
		cmocka_unit_test(a_login_in_the_url_is_neither_sent_nor_told),
		cmocka_unit_test(what_the_url_asks_with_is_not_told),
		cmocka_unit_test(the_list_of_pods_has_an_end),
		cmocka_unit_test(only_200_with_done_is_an_end),
		cmocka_unit_test(a_redirect_is_not_followed),
		cmocka_unit_test(an_answer_without_end_is_none),
		cmocka_unit_test(silence_ends_after_ten_seconds_and_is_asked_again),
		cmocka_unit_test(it_is_asked_as_seldom_as_it_wants_but_not_for_ever),
		cmocka_unit_test(the_same_trouble_is_told_once),
		cmocka_unit_test(a_pod_has_a_day_at_most_and_nonsense_counts_as_five_minutes),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
