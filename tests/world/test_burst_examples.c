/* Each BurstPolicy of examples/burst launches what its page says, and the instance ends with its
 * work. Only the tenants' names are changed. */
#include "tests/unit/testing.h"

#include <string.h>
#include "api/annotations.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

#define EUR INT64_C(1000000)
#define TENANT "team-a"
#define FILE_BYTES (1 << 20)

struct example {
	const char *file, *policy, *tenant;
	/* Provider of the cloud; its instance type, with a GPU product */
	const char *provider, *type, *product;
	/* Offers of the cloud, as in struct fake_cloud */
	struct {
		const char *region, *zone, *reservation, *currency;
		bool spot;
		int64_t micros;
	} offers[3];
	/* The work: number of pods; annotations, with "" for none; latest start in ms after now;
	 * true: it requires the product */
	int pods;
	const char *checkpoint, *runtime, *data_class;
	int64_t start_by;
	bool wants_product;
	/* Zone in which it is launched, and its market */
	const char *zone, *market;
	/* Longest time until it is launched, in s */
	int64_t within_s;
};

static const struct example examples[] = {
	{.file = "research",
	 .policy = "research",
	 .tenant = "research",
	 .provider = "aws",
	 .type = "p5.48xlarge",
	 .product = "H100",
	 .offers = {{"eu-west-1", "eu-west-1a", NULL, "EUR", true, 24 * EUR},
		    {"eu-west-1", "eu-west-1b", NULL, "EUR", false, 60 * EUR},
		    {"us-east-1", "us-east-1a", NULL, "USD", false, 55 * EUR}},
	 .pods = 1,
	 .checkpoint = "true",
	 .runtime = "3h",
	 .zone = "eu-west-1a",
	 .market = "Spot",
	 .within_s = 2400},
	{.file = "deadline",
	 .policy = "production-deadlines",
	 .tenant = "production",
	 .provider = "aws",
	 .type = "p5.48xlarge",
	 .product = "H100",
	 .offers = {{"eu-west-1", "eu-west-1a", "cr-1", "EUR", false, 40 * EUR},
		    {"eu-west-1", "eu-west-1b", NULL, "EUR", false, 60 * EUR}},
	 .pods = 1,
	 .start_by = 2 * 3600 * 1000,
	 .zone = "eu-west-1a",
	 .market = "Reserved",
	 .within_s = 6000},
	{.file = "night-spot",
	 .policy = "batch-at-night",
	 .provider = "gcp",
	 .type = "a3-highgpu-8g",
	 .product = "H100",
	 .offers = {{"europe-west4", "europe-west4-a", NULL, "EUR", true, 22 * EUR}},
	 .pods = 3,
	 .checkpoint = "true",
	 .zone = "europe-west4-a",
	 .market = "Spot",
	 /* The window opens at 20:00. */
	 .within_s = 24 * 3600},
	{.file = "sovereign",
	 .policy = "clinic",
	 .tenant = "clinic",
	 .provider = "sovereign",
	 .type = "gpu8",
	 .product = "H100",
	 .offers = {{"de-1", "de-1a", NULL, "EUR", false, 90 * EUR}},
	 .pods = 1,
	 .data_class = "public",
	 .zone = "de-1a",
	 .market = "OnDemand",
	 .within_s = 1800},
	{.file = "overflow",
	 .policy = "overflow",
	 .provider = "lambda",
	 .type = "gpu_8x_b200",
	 .product = "B200",
	 .offers = {{"eu", "eu-1", NULL, "USD", false, 40 * EUR}},
	 .pods = 1,
	 .wants_product = true,
	 .zone = "eu-1",
	 .market = "OnDemand",
	 .within_s = 600},
};

struct scene {
	struct sim_world w;
	struct sky sky;
	const struct example *x;
	struct arena *a;
};

/* Applies the example's policy with the tenant's name changed. */
static void apply_policy(struct scene *s)
{
	const char *path = arena_printf(s->a, "examples/burst/%s.yaml", s->x->file), *at;
	size_t len;
	struct err e;
	char *text = file_text(path, FILE_BYTES, &len, &e);
	const char *whole, *tenants = arena_printf(s->a, "tenants: [%s]", str_or(s->x->tenant, ""));

	assert_non_null(text);
	whole = arena_strdup(s->a, text);
	at = s->x->tenant ? strstr(text, tenants) : NULL;
	if (s->x->tenant) {
		assert_non_null(at);
		whole = arena_printf(s->a, "%.*stenants: [" TENANT "]%s", (int)(at - text), text,
				     at + strlen(tenants));
	}
	world_apply(&s->w, whole);
	free(text);
}

static struct scene *start(const struct example *x, uint64_t seed)
{
	struct scene *s = mem_new(struct scene);

	s->x = x;
	s->a = arena_new();
	world_start(&s->w, seed, 0);
	sky_start(&s->sky, &s->w, NULL);
	memset(s->sky.cloud.zones, 0, sizeof(s->sky.cloud.zones));
	for (size_t i = 0; i < 3 && x->offers[i].zone; i++) {
		s->sky.cloud.zones[i].region = x->offers[i].region;
		s->sky.cloud.zones[i].zone = x->offers[i].zone;
		s->sky.cloud.zones[i].type = x->type;
		s->sky.cloud.zones[i].reservation = x->offers[i].reservation;
		s->sky.cloud.zones[i].currency = x->offers[i].currency;
		s->sky.cloud.zones[i].spot = x->offers[i].spot;
		s->sky.cloud.zones[i].micros = x->offers[i].micros;
		s->sky.cloud.zones[i].capacity = -1;
	}
	world_apply(&s->w,
		    arena_printf(s->a,
				 "apiVersion: drover.dev/v1alpha1\nkind: Provider\n"
				 "metadata: {name: %s}\n"
				 "spec:\n  type: exec\n"
				 "  exec: {command: [" FAKE_CLOUD "], elastic: true}\n"
				 "  instanceTypes:\n  - name: %s\n    interconnect: Efa\n"
				 "    labels: {nvidia.com/gpu.product: %s}\n"
				 "    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", "
				 "pods: \"110\"}\n",
				 x->provider, x->type, x->product));
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s}, {s:s}], s:[{s:s, s:s, s:[s]}]}}}}", "spec",
			   "template", "spec", "providerRefs", "name", "rack", "name", x->provider,
			   "requirements", "key", "node.kubernetes.io/instance-type", "operator",
			   "In", "values", x->type));
	apply_policy(s);
	world_replica(&s->w);
	return s;
}

static void stop(struct scene *s)
{
	sky_stop(&s->sky);
	world_stop(&s->w);
	arena_free(s->a);
	free(s);
}

static void put(json_t *notes, const char *key, const char *value)
{
	if (value)
		json_object_set_new(notes, key, json_string(value));
}

static void create_pods(struct scene *s)
{
	const struct example *x = s->x;
	char at[STR_TIME_SIZE];

	for (int i = 0; i < x->pods; i++) {
		json_t *notes = json_object(), *selector = json_object();

		put(notes, CHECKPOINT_WANTED, x->checkpoint);
		put(notes, ASKS_RUNTIME, x->runtime);
		put(notes, ASKS_DATA_CLASS, x->data_class);
		if (x->start_by)
			put(notes, ASKS_START_BY, str_time(at, loop_wall(s->w.loop) + x->start_by));
		if (x->wants_product)
			put(selector, "nvidia.com/gpu.product", x->product);
		world_do(&s->w, &s->w.tenants[0], "POST", "/api/v1/namespaces/default/pods",
			 json_pack("{s:s,s:s,s:{s:s,s:s,s:o},s:{s:o,s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:"
				   "{s:s}}}]}}",
				   "apiVersion", "v1", "kind", "Pod", "metadata", "name",
				   arena_printf(s->a, "work-%d", i), "namespace", "default",
				   "annotations", notes, "spec", "nodeSelector", selector,
				   "tolerations", "key", "nvidia.com/gpu", "operator", "Exists",
				   "containers", "name", "main", "image", "train:1", "resources",
				   "limits", "nvidia.com/gpu", "8"));
	}
}

/* Approves the first pod of the policy that asks for it. */
static void approve(struct scene *s)
{
	char at[STR_TIME_SIZE];

	world_do(&s->w, &s->w.host, "POST", "/apis/drover.dev/v1alpha1/burstledgers",
		 json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s}]}}", "apiVersion",
			   "drover.dev/v1alpha1", "kind", "BurstLedger", "metadata", "name",
			   s->x->policy, "spec", "approvals", "tenant", TENANT, "work",
			   "default/work-0", "by", "alice", "at",
			   str_time(at, loop_wall(s->w.loop))));
}

static bool all_launched(void *arg)
{
	const struct scene *s = arg;

	return s->sky.cloud.launched == (unsigned)s->x->pods;
}

static bool nothing_left(void *arg)
{
	const struct scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud) &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

static void assert_launched(struct scene *s)
{
	OWN_JSON p = cluster_get(&s->w.host,
				 arena_printf(s->a, "burstpolicies.drover.dev/%s", s->x->policy));
	const json_t *row = json_array_get(json_at(p, "status", "decisions"), 0);

	list_for_each (i, &s->sky.cloud.instances, struct fake_instance, link) {
		assert_string_equal(i->zone, s->x->zone);
		assert_string_equal(i->type, s->x->type);
	}
	assert_string_equal(json_str_at(row, "reason"), "Chosen");
	assert_string_equal(json_str_at(row, "market"), s->x->market);
	assert_string_equal(json_str_at(row, "provider"), s->x->provider);
}

static void each_example_launches_what_its_page_says(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(examples) / sizeof(examples[0]); k++) {
		const struct example *x = &examples[k];
		struct scene *s = start(x, 7700 + k);
		OWN_JSON ledger = NULL;

		create_pods(s);
		if (str_eq(x->file, "sovereign")) {
			world_run(&s->w, x->within_s * 1000);
			assert_int_equal(s->sky.cloud.launched, 0);
			approve(s);
		}
		world_wait(&s->w, all_launched, s, x->within_s, x->file);
		assert_launched(s);
		for (int i = 0; i < x->pods; i++)
			world_wait_running(&s->w, &s->w.tenants[0],
					   arena_printf(s->a, "work-%d", i), 3600);
		for (int i = 0; i < x->pods; i++)
			world_delete_pod(&s->w, &s->w.tenants[0], arena_printf(s->a, "work-%d", i));
		world_wait(&s->w, nothing_left, s, 7200, "the instances have ended");
		ledger = cluster_get(&s->w.host,
				     arena_printf(s->a, "burstledgers.drover.dev/%s", x->policy));
		/* Equal rows are added up. */
		assert_true(json_array_size(json_at(ledger, "status", "rows")) > 0);
		stop(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_example_launches_what_its_page_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
