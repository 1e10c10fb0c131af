#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "tests/simulated/http_mem.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/events.h"
#include "providers/ec2/provider.h"
#include "providers/elastic.h"
#include "providers/provider.h"
#include "sim/ec2/ec2.h"
#include "tests/contract/fake_sqs.h"
#include "tests/world/leaving.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

/* A Provider of type ec2 with the EC2 simulator; its instances boot a system that joins. */
#define ORIGIN "https://ec2.eu-west-1.test"
#define ENDPOINT "https://ec2.{region}.test"
#define KEY "AKIDEXAMPLE"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define BOXES 4

struct scene {
	struct sim_world w;
	struct sim_ec2 *sim;
	struct httpd *httpd;
	struct server servers[BOXES];
	char ids[BOXES][40];
	unsigned n;
};

static void on_change(const struct sim_ec2_instance *i, void *arg)
{
	struct scene *s = arg;

	if (str_eq(i->state, "running") && s->n < BOXES) {
		struct server *b = &s->servers[s->n];

		server_init(b, &s->w, SKY_FIRST + s->n);
		str_copy(s->ids[s->n++], sizeof(s->ids[0]), i->id);
		sky_put_config(b, i->user_data);
		str_format(b->segment, sizeof(b->segment), "tenant/team-a");
		server_power(b, true);
	} else if (str_eq(i->state, "shutting-down")) {
		for (unsigned k = 0; k < s->n; k++)
			if (str_eq(s->ids[k], i->id))
				server_power(&s->servers[k], false);
	}
}

static void start(struct scene *s, uint64_t seed)
{
	static const struct sim_ec2_key key = {.id = KEY, .secret = SECRET};
	struct sim_ec2_spec spec = {.keys = &key, .nkeys = 1, .on_change = on_change, .arg = s};
	OWN_JSON prices =
		json_pack("{s:[{s:s, s:i, s:i, s:i, s:i}]}", "types", "name", "gpu-8", "vcpus", 4,
			  "gpus", 8, "microsPerHour", 21960000, "spotMicrosPerHour", 8000000);
	struct err e;

	world_start(&s->w, seed, 0);
	spec.group = s->w.hardware;
	spec.prices = prices;
	s->sim = sim_ec2_new(&spec, &e);
	assert_non_null(s->sim);
	s->httpd = httpd_new(s->w.hardware);
	sim_ec2_routes(s->sim, s->httpd);
	http_mem_serve(s->w.net, ORIGIN, s->httpd);
	world_secret(&s->w, "drover-system", "aws", "accessKeyID", KEY, "secretAccessKey", SECRET);
	world_secret(&s->w, "drover-system", "aws", "endpoint", ENDPOINT, NULL, NULL);
	world_apply(
		&s->w,
		"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: aws}\n"
		"spec:\n  type: ec2\n  credentialsSecretRef: {name: aws}\n"
		"  ec2:\n    endpoint: \"" ENDPOINT "\"\n    image: ami-1\n"
		"    zones:\n"
		"    - {region: eu-west-1, zone: eu-west-1a, subnet: subnet-eu-west-1a}\n"
		"    - {region: eu-west-1, zone: eu-west-1b, subnet: subnet-eu-west-1b}\n"
		"  instanceTypes:\n  - name: gpu-8\n"
		"    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", pods: \"110\"}\n"
		"    pricePerHour: \"21.96\"\n    currency: USD\n");
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s}]}}, s:{s:s}}}", "spec", "template", "spec",
			   "providerRefs", "name", "aws", "limits", "nodes", "3"));
	world_replica(&s->w);
}

static void stop(struct scene *s)
{
	for (unsigned k = 0; k < s->n; k++)
		server_done(&s->servers[k]);
	http_mem_serve(s->w.net, ORIGIN, NULL);
	httpd_free(s->httpd);
	sim_ec2_free(s->sim);
	world_stop(&s->w);
	free(s);
}

/* Creates a policy that launches only in this market, and sets the price `field` of the instance
 * type to 9 USD. */
static void only_by(struct scene *s, const char *market, const char *field)
{
	OWN(arena) a = arena_new();

	world_apply(
		&s->w,
		arena_printf(a,
			     "apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\n"
			     "metadata: {name: research}\n"
			     "spec:\n  mode: Enforce\n  match: {tenants: [team-a]}\n"
			     "  trigger: {maxQueueWait: {default: 1m}}\n  tiers: [{market: %s}]\n"
			     "  offers: [{name: aws, provider: aws, regions: [eu-west-1], "
			     "instanceTypes: [gpu-8]}]\n"
			     "  cost: {currency: USD}\n"
			     "  runtime: {maxRuntime: 4h, spotNeeds: {checkpointable: false}}\n"
			     "  scaleBack: {idleTimeout: 2m}\n"
			     "  budget: [{scope: Policy, amount: '1000', per: Day}]\n",
			     market));
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/aws",
		 json_pack("{s:{s:{s:b}, s:[{s:s, s:{s:s, s:s, s:s, s:s}, s:s, s:s, s:s}]}}",
			   "spec", "ec2", "reservations", str_eq(market, "Reserved"),
			   "instanceTypes", "name", "gpu-8", "capacity", "cpu", "4", "memory",
			   "8Gi", "nvidia.com/gpu", "8", "pods", "110", "pricePerHour", "21.96",
			   "currency", "USD", field, "9"));
}

static bool nothing_alive(void *arg)
{
	struct scene *s = arg;

	return !sim_ec2_live(s->sim) && !store_count(s->w.host.store, "machines.drover.dev/") &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

static void serve(struct scene *s)
{
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1800);
}

static void give_back(struct scene *s)
{
	world_delete_pod(&s->w, &s->w.tenants[0], "train");
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	assert_int_equal(store_count(s->w.tenants[0].store, "nodes/"), 0);
}

/* Copies the only Machine, or the namespace kube-system. */
static bool keep(const json_t *o, void *arg)
{
	json_t **kept = arg;

	if (str_eq(json_str_at(o, "kind"), "Namespace") &&
	    !str_eq(json_str_at(o, "metadata", "name"), "kube-system"))
		return true;
	*kept = json_deep_copy(o);
	return false;
}

static json_t *one_of(struct scene *s, const char *prefix)
{
	json_t *o = NULL;

	cluster_each(&s->w.host, prefix, keep, &o);
	assert_non_null(o);
	return o;
}

/* --- the cloud as seen by another client with the same keys ----------------------------------- */

struct told {
	struct scene *s;
	char tags[1000];
	bool done;
};

static void on_told(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct told *t = arg;
	size_t at = 0;

	t->done = true;
	assert_null(e);
	assert_int_equal(n, 1);
	for (size_t i = 0; i < v[0].ntags; i++) {
		str_format(t->tags + at, sizeof(t->tags) - at, "%s=%s ", v[0].tags[i].key,
			   v[0].tags[i].value);
		at = strlen(t->tags);
	}
}

static bool is_told(void *arg)
{
	return ((struct told *)arg)->done;
}

static void has_tag(const struct told *t, const char *key, const char *value)
{
	char text[300];

	str_format(text, sizeof(text), "%s=%s ", key, value);
	if (!strstr(t->tags, text))
		fail_msg("no %s in %s", text, t->tags);
}

static void check_tags(struct scene *s, const json_t *m)
{
	static const struct provider_cloud_zone zone = {.region = "eu-west-1",
							.zone = "eu-west-1a"};
	static const struct provider_cloud_type type = {.name = "gpu-8", .on_demand = true};
	OWN(secret) secret = secret_from_str(SECRET);
	OWN_JSON ns = one_of(s, "namespaces/");
	struct provider_cloud c = {.endpoint = ORIGIN,
				   .zones = {&zone, 1},
				   .types = {&type, 1},
				   .image = "ami-1",
				   .login = PROVIDER_LOGIN_KEYS,
				   .access_key_id = KEY,
				   .secret_access_key = secret};
	struct http *http =
		http_new(s->w.hardware,
			 http_mem_transport(s->w.net, s->w.hardware, "10.9.9.9", NULL, NULL), 0);
	struct provider_spec ps = {
		.name = "other", .type = "ec2", .cloud = &c, .group = s->w.hardware, .http = http};
	struct told t = {.s = s};
	struct err e;
	struct provider *p = provider_new(&ps, &e);

	assert_non_null(p);
	assert_true(provider_list_owned(p, json_str_at(ns, "metadata", "uid"), on_told, &t));
	world_wait(&s->w, is_told, &t, 60, "the list");
	has_tag(&t, ELASTIC_TAG_CLUSTER, json_str_at(ns, "metadata", "uid"));
	has_tag(&t, ELASTIC_TAG_MACHINE, json_str_at(m, "metadata", "name"));
	has_tag(&t, ELASTIC_TAG_CLAIM, json_str_at(m, "spec", "elastic", "claim", "uid"));
	has_tag(&t, ELASTIC_TAG_TENANT, "team-a");
	provider_free(p);
	http_free(http);
}

/* ---------------------------------------------------------------------------------------------- */

static void a_pod_is_served_by_an_instance_of_ec2(void **state)
{
	struct scene *s = mem_new(struct scene);
	struct sim_ec2_instance i;
	OWN_JSON m = NULL;
	int64_t micros;

	(void)state;
	start(s, 7201);
	serve(s);
	assert_int_equal(sim_ec2_launched(s->sim), 1);
	m = one_of(s, "machines.drover.dev/");
	assert_string_equal(json_str_at(m, "status", "instance", "id"), s->ids[0]);
	assert_int_equal(json_integer_value(json_at(m, "status", "instance", "microsPerHour")),
			 21960000);
	assert_string_equal(json_str_at(m, "status", "instance", "currency"), "USD");
	assert_true(sim_ec2_find(s->sim, s->ids[0], &i));
	assert_string_equal(i.type, "gpu-8");
	assert_true(str_starts(i.zone, "eu-west-1"));
	check_tags(s, m);
	give_back(s);
	micros = sim_ec2_micros(s->sim);
	assert_true(micros > 0);
	world_run(&s->w, 600000);
	/* nothing is billed after the end of the instance */
	assert_int_equal(sim_ec2_micros(s->sim), micros);
	stop(s);
}

static void a_launch_whose_answer_is_lost_makes_one_instance(void **state)
{
	struct sim_ec2_fault lost = {.what = "LostReply", .on = "RunInstances", .count = 1};
	struct sim_ec2_fault late = {.what = "Late", .on = "DescribeInstances", .value = 8000};
	struct scene *s = mem_new(struct scene);
	struct err e;

	(void)state;
	start(s, 7202);
	assert_int_equal(sim_ec2_fault(s->sim, &lost, &e), 0);
	assert_int_equal(sim_ec2_fault(s->sim, &late, &e), 0);
	serve(s);
	assert_int_equal(sim_ec2_launched(s->sim), 1);
	assert_true(sim_ec2_calls(s->sim, "RunInstances") >= 1);
	give_back(s);
	stop(s);
}

static void without_capacity_in_one_zone_the_other_is_asked(void **state)
{
	struct sim_ec2_fault none = {.what = "Capacity", .zone = "eu-west-1a"};
	struct scene *s = mem_new(struct scene);
	struct sim_ec2_instance i;
	struct err e;

	(void)state;
	start(s, 7203);
	assert_int_equal(sim_ec2_fault(s->sim, &none, &e), 0);
	serve(s);
	assert_true(sim_ec2_find(s->sim, s->ids[0], &i));
	assert_string_equal(i.zone, "eu-west-1b");
	give_back(s);
	stop(s);
}

static const char *ready(struct scene *s)
{
	static char text[400];
	OWN_JSON p = cluster_get(&s->w.host, "providers.drover.dev/aws");
	json_t *c;
	size_t i;

	json_array_foreach (json_at(p, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Ready"))
			str_format(text, sizeof(text), "%s %s %s", json_str_at(c, "status"),
				   json_str_at(c, "reason"), json_str_at(c, "message"));
	return text;
}

static bool is_refused(void *arg)
{
	return str_starts(ready(arg),
			  "False NotAllowed DescribeInstances in eu-west-1: AuthFailure: ");
}

static bool is_ready(void *arg)
{
	return str_starts(ready(arg), "True ");
}

/* The Provider reports the cloud's error. When the Secret changes, drover reads it and repeats the
 * refused call at once. */
static void keys_that_are_wrong_are_told_and_new_ones_used_at_once(void **state)
{
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7204);
	world_wait(&s->w, is_ready, s, 60, "the Provider is ready");
	world_do(&s->w, &s->w.host, "PATCH", "/api/v1/namespaces/drover-system/secrets/aws",
		 json_pack("{s:{s:s}}", "data", "secretAccessKey", "d3Jvbmc="));
	world_wait(&s->w, is_refused, s, 120, "the Provider says what the cloud says");
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_run(&s->w, 30000);
	assert_int_equal(sim_ec2_launched(s->sim), 0);
	world_secret(&s->w, "drover-system", "aws", "secretAccessKey", SECRET, NULL, NULL);
	world_wait(&s->w, is_ready, s, 60, "the Provider is ready again");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1800);
	stop(s);
}

static bool is_away(void *arg)
{
	return str_starts(ready(arg), "False CloudFailed DescribeInstances in eu-west-1: ");
}

/* One failed list call is not reported; failures for minutes are. */
static void a_cloud_that_is_away_is_told_after_minutes(void **state)
{
	struct sim_ec2_fault away = {.what = "Status", .on = "DescribeInstances", .value = 503};
	struct scene *s = mem_new(struct scene);
	struct err e;

	(void)state;
	start(s, 7206);
	world_run(&s->w, 10000);
	assert_true(is_ready(s));
	assert_int_equal(sim_ec2_fault(s->sim, &away, &e), 0);
	world_run(&s->w, 200000);
	assert_true(is_ready(s));
	world_wait(&s->w, is_away, s, 300, "the Provider says that its cloud is away");
	sim_ec2_well(s->sim);
	world_wait(&s->w, is_ready, s, 120, "it is there again");
	stop(s);
}

/* Claim and Machine are deleted by force; the billed instance carries tags that name them. */
static void what_was_lost_is_found_by_its_tags_and_ended(void **state)
{
	static const char *const kinds[] = {"machines", "nodeclaims"};
	struct scene *s = mem_new(struct scene);
	OWN_JSON m = NULL;
	char name[100], path[300];

	(void)state;
	start(s, 7205);
	serve(s);
	m = one_of(s, "machines.drover.dev/");
	str_copy(name, sizeof(name), json_str_at(m, "metadata", "name"));
	world_kill(&s->w.replicas[0]);
	for (size_t i = 0; i < 2; i++) {
		str_format(path, sizeof(path), "/apis/drover.dev/v1alpha1/%s/%s", kinds[i], name);
		world_do(&s->w, &s->w.host, "PATCH", path,
			 json_pack("{s:{s:n}}", "metadata", "finalizers"));
		world_do(&s->w, &s->w.host, "DELETE", path, NULL);
	}
	world_delete_pod(&s->w, &s->w.tenants[0], "train");
	assert_int_equal(sim_ec2_live(s->sim), 1);
	world_replica(&s->w);
	world_wait(&s->w, nothing_alive, s, SKY_ORPHAN_MS / 1000, "the orphan is ended");
	/* Drover no longer knows whose Node it was; an operator has to delete it. */
	str_format(path, sizeof(path), "/api/v1/nodes/%s", name);
	world_do(&s->w, &s->w.tenants[0], "DELETE", path, NULL);
	stop(s);
}

struct interrupted {
	struct scene *s;
	const char *id;
};

static bool is_interrupted(void *arg)
{
	OWN_JSON m = NULL;
	struct scene *s = arg;

	cluster_each(&s->w.host, "machines.drover.dev/", keep, &m);
	return str_eq(json_str_at(m, "status", "leave", "reason"), "Interrupted");
}

static bool is_off(void *arg)
{
	struct interrupted *k = arg;
	struct sim_ec2_instance i;

	return !sim_ec2_find(k->s->sim, k->id, &i) ||
	       (!str_eq(i.state, "running") && !str_eq(i.state, "pending"));
}

static bool is_evicted(void *arg)
{
	struct scene *s = arg;

	return !store_count(s->w.tenants[0].store, "pods/default/train") && sim_ec2_live(s->sim);
}

/* The Node is drained within the two minutes of notice, and the replacement pod gets another
 * Node. */
static void a_spot_notice_drains_the_node_and_its_work_goes_on_elsewhere(void **state)
{
	struct sim_ec2_fault notice = {.what = "SpotNotice"};
	struct scene *s = mem_new(struct scene);
	struct sim_ec2_instance i;
	struct err e;

	(void)state;
	start(s, 7207);
	only_by(s, "Spot", "spotPricePerHour");
	serve(s);
	assert_true(sim_ec2_find(s->sim, s->ids[0], &i));
	assert_string_equal(i.state, "running");
	assert_int_equal(store_count(s->w.tenants[0].store, "pods/default/train"), 1);
	assert_int_equal(sim_ec2_fault(s->sim, &notice, &e), 0);
	world_wait(&s->w, is_interrupted, s, 40, "the notice is seen");
	leaving_wait_event(&s->w, &s->w.host, "Interrupted",
			   "the cloud will end the instance soon");
	world_wait(&s->w, is_evicted, s, 70, "its pod was asked to go");
	world_wait(&s->w, is_off, &(struct interrupted){s, s->ids[0]}, 120, "it has ended");
	world_pod(&s->w, &s->w.tenants[0], "again");
	world_wait_running(&s->w, &s->w.tenants[0], "again", 1800);
	assert_int_equal(sim_ec2_launched(s->sim), 2);
	world_delete_pod(&s->w, &s->w.tenants[0], "again");
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
	stop(s);
}

/* --- recommendations -------------------------------------------------------------------------- */

#define QUEUE "https://sqs.eu-west-1.amazonaws.com/123456789012/drover"

/* Starts a world whose Spot instance serves the pod train. wait: value of its checkpoint
 * annotation; NULL: it does not save its work. */
static struct scene *with_queue(uint64_t seed, struct fake_sqs *q, const char *wait)
{
	struct scene *s = mem_new(struct scene);

	start(s, seed);
	fake_sqs_start(q, s->w.hardware, QUEUE);
	http_mem_serve(s->w.net, "https://sqs.eu-west-1.amazonaws.com", q->httpd);
	only_by(s, "Spot", "spotPricePerHour");
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/aws",
		 json_pack("{s:{s:{s:[s]}}}", "spec", "ec2", "eventQueues", QUEUE));
	serve(s);
	if (wait)
		leaving_patch_pod(&s->w, "train",
				  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
					    "drover.dev/checkpoint", wait));
	world_run(&s->w, 60000);
	fake_sqs_event(q, EC2_EVENT_RECOMMENDATION, s->ids[0], loop_wall(s->w.loop));
	return s;
}

static void without_queue(struct scene *s, struct fake_sqs *q)
{
	http_mem_serve(s->w.net, "https://sqs.eu-west-1.amazonaws.com", NULL);
	fake_sqs_done(q);
	stop(s);
}

static bool leaves_for_risk(void *arg)
{
	OWN_JSON m = NULL;
	struct scene *s = arg;

	cluster_each(&s->w.host, "machines.drover.dev/", keep, &m);
	return str_eq(json_str_at(m, "status", "leave", "reason"), "AtRisk");
}

static bool serves_on(void *arg)
{
	OWN_JSON m = NULL;
	struct scene *s = arg;

	cluster_each(&s->w.host, "machines.drover.dev/", keep, &m);
	return str_eq(json_str_at(m, "status", "state"), "serving");
}

static bool is_asked_to_save(void *arg)
{
	struct scene *s = arg;
	OWN_JSON o = cluster_get(&s->w.tenants[0], "pods/default/train");

	return json_str_at(json_at(o, "metadata", "annotations"),
			   "drover.dev/checkpoint-requested") != NULL;
}

static void a_recommendation_drains_what_saves_its_work(void **state)
{
	struct fake_sqs q;
	struct scene *s = with_queue(7210, &q, "10m");

	(void)state;
	world_wait(&s->w, leaves_for_risk, s, 60, "the recommendation is seen");
	world_wait(&s->w, is_asked_to_save, s, 60, "the pod is asked to save its work");
	world_run(&s->w, 5 * 60000);
	assert_int_equal(store_count(s->w.tenants[0].store, "pods/default/train"), 1);
	leaving_patch_pod(&s->w, "train",
			  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
				    "drover.dev/checkpoint-done", "yes"));
	world_wait(&s->w, is_off, &(struct interrupted){s, s->ids[0]}, 600, "it has ended");
	assert_int_equal(store_count(s->w.tenants[0].store, "pods/default/train"), 0);
	without_queue(s, &q);
}

/* The recommendation is still remembered after the drain was withdrawn. */
static void what_does_not_save_its_work_serves_on(void **state)
{
	struct fake_sqs q;
	struct scene *s = with_queue(7211, &q, "30s");

	(void)state;
	world_wait(&s->w, leaves_for_risk, s, 60, "the recommendation is seen");
	world_wait(&s->w, serves_on, s, 300, "the pod does not save its work");
	leaving_wait_event(&s->w, &s->w.host, "DrainWithdrawn",
			   "not all pods saved their work and left in time");
	for (int i = 0; i < 60; i++) {
		world_run(&s->w, 10000);
		assert_true(serves_on(s));
	}
	assert_int_equal(store_count(s->w.tenants[0].store, "pods/default/train"), 1);
	without_queue(s, &q);
}

static void a_recommendation_does_nothing_without_checkpoints(void **state)
{
	struct fake_sqs q;
	struct scene *s = with_queue(7212, &q, NULL);

	(void)state;
	world_run(&s->w, 10 * 60000);
	assert_true(serves_on(s));
	assert_int_equal(leaving_events(&s->w, "Draining"), 0);
	assert_int_equal(json_array_size(q.messages), 0);
	without_queue(s, &q);
}

/* Instances of a reserved block end 30 min before the block; their pods are drained 15 min before
 * that. */
static void a_block_is_drained_ahead_of_its_end(void **state)
{
	struct scene *s = mem_new(struct scene);
	int64_t began;
	struct err e;

	(void)state;
	start(s, 7208);
	began = loop_now(s->w.loop);
	assert_int_equal(
		sim_ec2_reserve(s->sim,
				&(struct sim_ec2_reservation){.id = "cr-1",
							      .type = "gpu-8",
							      .zone = "eu-west-1a",
							      .count = 1,
							      .starts = began,
							      .ends = began + INT64_C(8) * 3600000,
							      .upfront_micros = 1000000},
				&e),
		0);
	only_by(s, "Reserved", "reservedPricePerHour");
	serve(s);
	assert_int_equal(sim_ec2_reserve(s->sim,
					 &(struct sim_ec2_reservation){.id = "cr-1",
								       .type = "gpu-8",
								       .zone = "eu-west-1a",
								       .count = 1,
								       .starts = began,
								       .ends = loop_now(s->w.loop) +
									       INT64_C(3600000),
								       .upfront_micros = 1000000},
					 &e),
			 0);
	world_run(&s->w, 13 * 60000);
	assert_false(is_interrupted(s));
	world_wait(&s->w, is_interrupted, s, 240, "it is drained ahead of the end");
	world_wait(&s->w, is_off, &(struct interrupted){s, s->ids[0]}, 900,
		   "it has ended before the block does");
	stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_is_served_by_an_instance_of_ec2),
		cmocka_unit_test(a_launch_whose_answer_is_lost_makes_one_instance),
		cmocka_unit_test(without_capacity_in_one_zone_the_other_is_asked),
		cmocka_unit_test(keys_that_are_wrong_are_told_and_new_ones_used_at_once),
		cmocka_unit_test(a_cloud_that_is_away_is_told_after_minutes),
		cmocka_unit_test(a_spot_notice_drains_the_node_and_its_work_goes_on_elsewhere),
		cmocka_unit_test(a_recommendation_drains_what_saves_its_work),
		cmocka_unit_test(what_does_not_save_its_work_serves_on),
		cmocka_unit_test(a_recommendation_does_nothing_without_checkpoints),
		cmocka_unit_test(a_block_is_drained_ahead_of_its_end),
		cmocka_unit_test(what_was_lost_is_found_by_its_tags_and_ended),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
