/* Tests what the metrics count in a whole simulated world, and that docs/metrics.md lists all of
 * them. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "api/reasons.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/core/known_series.h"
#include "controller/rules/pod_end.h"
#include "controller/core/spans.h"
#include "tests/world/approving.h"
#include "tests/world/leaving.h"

#define MANUAL "docs/metrics.md"

static char *page_of(struct sim_world *w)
{
	struct buf b;
	char *text;

	controller_read_gauges(w->replicas[0].controller);
	buf_init(&b, 4u << 20);
	metrics_write(controller_context(w->replicas[0].controller)->metrics, &b);
	text = strndup(b.data, b.len);
	buf_done(&b);
	return text;
}

static bool shows(const char *page, const char *line)
{
	const char *p = page;
	size_t n = strlen(line);

	for (; (p = strstr(p, line)); p += n)
		if ((p == page || p[-1] == '\n') && p[n] == '\n')
			return true;
	return false;
}

static char *manual(void)
{
	FILE *f = fopen(MANUAL, "r");
	char *text = mem_alloc(1 << 18);
	size_t n;

	if (!f)
		fail_msg("%s cannot be read; run from the root", MANUAL);
	n = fread(text, 1, (1 << 18) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* True if the manual's table has a row for metric `name` with this help text: | `name` | type |
 * labels | help | */
static bool in_manual(const char *text, const char *name, const char *help)
{
	char head[128], tail[400];
	const char *row, *end;

	str_format(head, sizeof(head), "\n| `%s` |", name);
	str_format(tail, sizeof(tail), "| %s |", help);
	row = strstr(text, head);
	end = row ? strchr(row + 1, '\n') : NULL;
	return end && (size_t)(end - row) > strlen(tail) &&
	       strncmp(end - strlen(tail), tail, strlen(tail)) == 0;
}

static void the_manual_lists_each_family_with_its_help_and_no_other(void **state)
{
	const struct spans_spec traces = {.endpoint = "https://collector:4318"};
	struct sim_world w;
	struct err e;
	char *page, *text = manual(), *save = NULL;
	size_t families = 0, rows = 0;

	(void)state;
	world_start(&w, 21, 0);
	world_replica(&w);
	world_run(&w, 10000);
	/* The metric of spans exists only with traces. */
	assert_ok(controller_trace(w.replicas[0].controller, &traces, &e), &e);
	page = page_of(&w);
	for (char *l = strtok_r(page, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char name[128], *help;

		if (!str_starts(l, "# HELP "))
			continue;
		help = strchr(l + 7, ' ');
		assert_non_null(help);
		str_format(name, sizeof(name), "%.*s", (int)(help - l - 7), l + 7);
		families++;
		if (!in_manual(text, name, help + 1))
			fail_msg("%s: no row '| `%s` | TYPE | LABELS | %s |'", MANUAL, name,
				 help + 1);
	}
	for (const char *p = text; (p = strstr(p, "\n| `")); p++)
		rows += str_starts(p + 4 + strspn(p + 4, "abcdefghijklmnopqrstuvwxyz_"), "` |");
	assert_true(families > 10);
	assert_int_equal(rows, families);
	free(page);
	free(text);
	world_stop(&w);
}

static void a_tenancy_is_counted_from_claim_to_wipe(void **state)
{
	struct sim_world w;
	char *page;

	(void)state;
	world_start(&w, 22, 1);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "claimed", 900);
	world_run(&w, 100); /* until the replica has read what it wrote */
	page = page_of(&w);
	assert_true(
		shows(page, "drover_gpus{pool=\"gpus\",tenant=\"team-a\",state=\"starting\"} 8"));
	free(page);
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 3600 * 1000);
	page = page_of(&w);
	assert_true(shows(page, "drover_machines{state=\"serving\"} 1"));
	assert_true(shows(page, "drover_claims_created_total{pool=\"gpus\"} 1"));
	assert_true(shows(page, "drover_wipes_total{verdict=\"Clear\"} 1") ||
		    shows(page, "drover_wipes_total{verdict=\"Purge\"} 1"));
	assert_non_null(strstr(page, "\ndrover_wiped_drives_total{technique=\""));
	assert_null(strstr(page, "technique=\"other\""));
	assert_non_null(strstr(page, "\nrest_client_request_duration_seconds_count{verb=\"POST\","
				     "client=\"tenant\"} "));
	assert_true(shows(page, "drover_machine_state_seconds_count{state=\"imaging\"} 1"));
	assert_null(strstr(page, "drover_machine_state_seconds_count{state=\"serving\"}"));
	assert_true(shows(page, "drover_claim_ready_seconds_count{pool=\"gpus\"} 1"));
	assert_true(shows(page, "drover_claim_ready_seconds_bucket{pool=\"gpus\",le=\"30\"} 0"));
	assert_true(shows(page, "drover_machine_return_seconds_count{pool=\"gpus\"} 0"));
	assert_true(
		shows(page, "drover_gpus{pool=\"gpus\",tenant=\"team-a\",state=\"allocated\"} 8"));
	assert_true(shows(page, "drover_gpus{pool=\"gpus\",tenant=\"team-a\",state=\"idle\"} 0"));
	assert_non_null(strstr(page, "\ndrover_machine_oldest_seconds{state=\"serving\"} 36"));
	assert_true(shows(page,
			  "drover_pod_wait_seconds_count{tenant=\"team-a\",priority=\"none\"} 1"));
	assert_non_null(strstr(
		page, "\ndrover_machine_looks_total{provider=\"rack\",outcome=\"answered\"} "));
	assert_non_null(strstr(page, "\ndrover_provider_call_seconds_count{provider=\"rack\","
				     "operation=\"power_on\",result=\"ok\"} "));
	assert_non_null(strstr(page, "\ndrover_provider_call_seconds_count{provider=\"rack\","
				     "operation=\"place\",result=\"ok\"} "));
	assert_non_null(strstr(
		page,
		"\nrest_client_requests_total{client=\"tenant\",method=\"POST\",code=\"201\"} "));
	/* The VirtualCluster is older than this process: it may have been served before. */
	assert_true(shows(page, "drover_tenant_first_pod_seconds_count 0"));
	free(page);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "free", 1800);
	world_run(&w, COUNTERS_DELAY_MS);
	page = page_of(&w);
	assert_true(shows(page, "drover_machine_state_seconds_count{state=\"serving\"} 1"));
	/* The machine served for a little more than an hour. */
	assert_true(shows(page,
			  "drover_machine_state_seconds_bucket{state=\"serving\",le=\"3600\"} 0"));
	assert_true(shows(page,
			  "drover_machine_state_seconds_bucket{state=\"serving\",le=\"7200\"} 1"));
	assert_true(shows(page, "drover_machine_state_seconds_count{state=\"wiping\"} 2"));
	assert_true(shows(page, "drover_claim_ready_seconds_count{pool=\"gpus\"} 1"));
	assert_true(shows(page, "drover_machine_return_seconds_count{pool=\"gpus\"} 1"));
	/* The pod was deleted while it ran, and removed at once: how it ended was not seen. */
	assert_true(
		shows(page, "drover_gpu_pods_ended_total{tenant=\"team-a\",result=\"unknown\"} 1"));
	free(page);
	world_stop(&w);
}

static void a_pod_that_drover_evicts_has_not_failed(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 26);
	char *page;

	(void)state;
	world_release(b);
	world_wait_state(b, "free", 1800);
	world_run(&w, COUNTERS_DELAY_MS);
	page = page_of(&w);
	assert_true(shows(page, "drover_gpu_pods_ended_total{tenant=\"team-a\","
				"result=\"evicted_by_drover\"} 1"));
	assert_true(
		shows(page, "drover_gpu_pods_ended_total{tenant=\"team-a\",result=\"failed\"} 0"));
	assert_null(strstr(page, "result=\"unknown\""));
	free(page);
	world_stop(&w);
}

#define TEAM_A "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a"

static bool team_a_is_gone(void *arg)
{
	OWN_JSON o =
		cluster_get(&((struct sim_world *)arg)->host, "virtualclusters.drover.dev/team-a");

	return !o;
}

static void a_new_tenant_is_timed_until_its_first_pod_runs(void **state)
{
	struct sim_world w;
	json_t *spec;
	char *page;

	(void)state;
	world_start(&w, 24, 1);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	{
		OWN_JSON was = cluster_get(&w.host, "virtualclusters.drover.dev/team-a");

		spec = json_deep_copy(json_object_get(was, "spec"));
	}
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	world_wait(&w, team_a_is_gone, &w, 900, "team-a is gone");
	world_do(&w, &w.host, "POST", "/apis/" OBJECT_API_VERSION "/virtualclusters",
		 json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", OBJECT_API_VERSION, "kind",
			   "VirtualCluster", "metadata", "name", "team-a", "spec", spec));
	world_run(&w, 20000);
	world_pod(&w, &w.tenants[0], "waits");
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 5000);
	page = page_of(&w);
	assert_true(shows(page, "drover_pods_waiting{tenant=\"team-a\"} 2"));
	assert_non_null(strstr(page, "\ndrover_pod_longest_wait_seconds{tenant=\"team-a\"} "));
	assert_false(shows(page, "drover_pod_longest_wait_seconds{tenant=\"team-a\"} 0"));
	free(page);
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 1000);
	page = page_of(&w);
	assert_true(shows(page, "drover_tenant_first_pod_seconds_count 1"));
	assert_true(shows(page, "drover_pods_waiting{tenant=\"team-a\"} 1"));
	free(page);
	world_stop(&w);
}

/* A pool that was created while this replica led, and then deleted. */
static void a_pool_is_shown_from_its_first_to_its_last_day(void **state)
{
	struct sim_world w;
	json_t *spec;
	char *page;

	(void)state;
	world_start(&w, 25, 0);
	world_replica(&w);
	world_run(&w, 30000);
	{
		OWN_JSON was = cluster_get(&w.host, "nodepools.drover.dev/gpus");

		spec = json_deep_copy(json_object_get(was, "spec"));
	}
	world_do(&w, &w.host, "POST", "/apis/" OBJECT_API_VERSION "/nodepools",
		 json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", OBJECT_API_VERSION, "kind",
			   "NodePool", "metadata", "name", "more", "spec", spec));
	world_run(&w, 5000);
	page = page_of(&w);
	assert_true(shows(page, "drover_claims_created_total{pool=\"more\"} 0"));
	free(page);
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/nodepools/more", NULL);
	world_run(&w, 5000);
	page = page_of(&w);
	assert_null(strstr(page, "pool=\"more\""));
	free(page);
	world_stop(&w);
}

static void a_claim_that_fails_is_counted_once_with_its_reason(void **state)
{
	struct sim_world w;
	char *page;

	(void)state;
	world_start(&w, 23, 1);
	w.bad_images = 1000;
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(&w.servers[0], "ImageMismatch", 1800);
	world_run(&w, 5000);
	page = page_of(&w);
	/* Prometheus reads 0 before the first failure, whatever its interval of up to 2 minutes. */
	assert_true(shows(page,
			  "drover_claims_failed_total{pool=\"gpus\",reason=\"ImageMismatch\"} 0"));
	free(page);
	world_run(&w, COUNTERS_DELAY_MS);
	page = page_of(&w);
	assert_true(shows(page,
			  "drover_claims_failed_total{pool=\"gpus\",reason=\"ImageMismatch\"} 1"));
	free(page);
	world_stop(&w);
}

/* The claim waits for three hours, and its machine is ready some minutes after the approval. */
static void the_time_of_a_claim_begins_with_its_approval(void **state)
{
	struct sim_world w;
	char *page;

	(void)state;
	world_start(&w, 26, 1);
	approving_ask(&w, json_pack("{s:s}", "claims", "Manual"));
	world_replica(&w);
	world_wait_all(&w, "free", 3600);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	world_run(&w, 3 * 3600 * 1000);
	approving_decide_first(&w, "Approved");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_run(&w, 1000);
	page = page_of(&w);
	assert_true(shows(page, "drover_claim_ready_seconds_count{pool=\"gpus\"} 1"));
	assert_true(shows(page, "drover_claim_ready_seconds_bucket{pool=\"gpus\",le=\"3600\"} 1"));
	free(page);
	world_stop(&w);
}

/* --- without a simulated world ---------------------------------------------------------------- */

static void a_place_is_counted_without_the_name_of_the_segment(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	static const char *const act_reason[] = {"act", "reason", NULL};
	struct metric *fails = metrics_counter(m, "drover_act_failures_total", "", act_reason);

	(void)state;
	counters_act_failed(f, "place tenant/team-a", "BmcUnreachable");
	counters_act_failed(f, "place tenant/team-b", "BmcUnreachable");
	counters_act_failed(f, "power-on", "BmcBusy");
	assert_true(metric_get(fails, (const char *const[]){"place", "BmcUnreachable"}) == 2);
	assert_true(metric_get(fails, (const char *const[]){"power-on", "BmcBusy"}) == 1);
	counters_free(f);
}

/* A former leader must not count what the new one repeats. */
static void a_follower_counts_only_its_requests(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m};
	struct counters *f = counters_new(&c);
	struct buf before, after;

	(void)state;
	buf_init(&before, 1 << 20);
	buf_init(&after, 1 << 20);
	metrics_write(m, &before);
	counters_act_failed(f, "power-on", "BmcBusy");
	counters_claim_created(f, "gpus");
	counters_claim_failed(f, "gpus", "JoinTimeout");
	counters_claimed_warm(f, true);
	counters_wipe(f, "Clear");
	counters_wipe_revoked(f);
	counters_transition(f, "free", "p90");
	counters_observation(f, "rack", true);
	counters_pod_placed(f, "team-a", NULL, 1000);
	counters_pod_ended(f, "team-a", "failed");
	counters_provider_call(f, "rack", "observe", NULL, 1000);
	counters_wiped_drive(f, "Overwrite", "Clear");
	counters_first_pod(f, 1000);
	counters_turn(f);
	metrics_write(m, &after);
	assert_string_equal(after.data, before.data);
	counters_request(f, "host", "GET", 200, 40);
	metrics_write(m, &after);
	assert_non_null(strstr(after.data, "client=\"host\",method=\"GET\",code=\"200\"} 1\n"));
	assert_non_null(strstr(after.data, "rest_client_request_duration_seconds_sum{verb=\"GET\","
					   "client=\"host\"} 0.04\n"));
	/* A watch has no duration. */
	counters_request(f, "host", "GET", 200, -1);
	buf_clear(&after);
	metrics_write(m, &after);
	assert_non_null(strstr(after.data,
			       "rest_client_request_duration_seconds_count{verb=\"GET\","
			       "client=\"host\"} 1\n"));
	buf_done(&before);
	buf_done(&after);
	counters_free(f);
}

/* Adds up the values of all lines that begin with `series` and contain `with`. Reads the page line
 * by line, because a sanitizer reads the whole text at each call of strstr(). */
static double sum_of(const char *page, const char *series, const char *with)
{
	double all = 0;
	char line[512];

	for (const char *p = page; *p; p += strcspn(p, "\n") + 1) {
		str_format(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		if (str_starts(line, series) && strstr(line, with))
			all += strtod(strstr(line, "} ") + 2, NULL);
	}
	return all;
}

static void calls_are_counted_by_provider_operation_and_result(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	struct err late, denied;
	char name[32];
	struct buf b;

	(void)state;
	err_note(&late, ERR_TIMEOUT, 0, "late");
	err_note(&denied, ERR_DENIED, 0, "denied");
	counters_provider_call(f, "rack", "observe", NULL, 2500);
	counters_provider_call(f, "rack", "observe", NULL, 2600);
	counters_provider_call(f, "rack", "observe", &late, 60000);
	counters_provider_call(f, "rack", "power_on", &denied, 100);
	buf_init(&b, 16u << 20);
	metrics_write(m, &b);
#define CALLS "drover_provider_call_seconds"
#define OBSERVE(result) "{provider=\"rack\",operation=\"observe\",result=\"" result "\""
	assert_true(shows(b.data, CALLS "_bucket" OBSERVE("ok") ",le=\"2.5\"} 1"));
	assert_true(shows(b.data, CALLS "_sum" OBSERVE("ok") "} 5.1"));
	assert_true(shows(b.data, CALLS "_bucket" OBSERVE("timeout") ",le=\"60\"} 1"));
	assert_true(shows(b.data, CALLS "_count{provider=\"rack\",operation=\"power_on\","
					"result=\"error\"} 1"));
	/* Beyond the limit a result is kept. */
	for (int i = 0; i < 1200; i++) {
		str_format(name, sizeof(name), "rack-%d", i);
		counters_provider_call(f, name, "observe", i % 3 ? &late : NULL, 100);
	}
	buf_clear(&b);
	metrics_write(m, &b);
	assert_true(sum_of(b.data, CALLS "_count{", "result=\"timeout\"") == 801);
	assert_true(sum_of(b.data, CALLS "_count{", "result=\"ok\"") == 402);
	buf_done(&b);
	counters_free(f);
}

/* Each pool fails by 20 reasons: twice as many series as the family has. */
static void failures_of_a_thousand_pools_keep_their_reasons(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	char pool[32], label[64];
	struct buf b;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		str_format(pool, sizeof(pool), "pool-%d", i);
		for (enum reason r = 1; r <= 20; r++)
			counters_claim_failed(f, pool, reason_name(r));
	}
	buf_init(&b, 16u << 20);
	metrics_write(m, &b);
	for (enum reason r = 1; r <= 20; r++) {
		str_format(label, sizeof(label), "reason=\"%s\"", reason_name(r));
		assert_true(sum_of(b.data, "drover_claims_failed_total{", label) == 1000);
	}
	buf_done(&b);
	counters_free(f);
}

/* 600 tenants with 8 results each: more series than the family has. */
static void ends_of_pods_keep_their_results(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	char tenant[32], label[64];
	struct buf b;
	size_t series = 0;

	(void)state;
	for (int i = 0; i < 600; i++) {
		str_format(tenant, sizeof(tenant), "tenant-%d", i);
		for (int r = 0; r < POD_ENDS; r++)
			counters_pod_ended(f, tenant, pod_end_names[r]);
	}
	buf_init(&b, 16u << 20);
	metrics_write(m, &b);
	for (int r = 0; r < POD_ENDS; r++) {
		str_format(label, sizeof(label), "result=\"%s\"", pod_end_names[r]);
		assert_true(sum_of(b.data, "drover_gpu_pods_ended_total{", label) == 600);
	}
	for (const char *p = b.data; *p; p += strcspn(p, "\n") + 1)
		series += str_starts(p, "drover_gpu_pods_ended_total{");
	assert_int_equal(series, 501 * POD_ENDS);
	assert_non_null(strstr(b.data, "{tenant=\"tenant-499\",result=\"unknown\"} 1\n"));
	buf_done(&b);
	counters_free(f);
}

static int64_t wall(void *arg)
{
	return *(int64_t *)arg;
}

/* A replica that has just begun to lead counts before it is scraped. */
static void the_first_event_after_a_failover_is_seen(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f;
	int64_t now = 1796119200000;
	struct buf b;

	(void)state;
	metrics_clock(m, wall, &now);
	f = counters_new(&c);
	known_series_lead(&c);
	counters_wipe(f, "Fail");
	counters_act_failed(f, "power-on", "BmcBusy");
	buf_init(&b, 1 << 20);
	metrics_write(m, &b);
	assert_true(shows(b.data, "drover_wipes_total{verdict=\"Fail\"} 0"));
	assert_true(
		shows(b.data, "drover_act_failures_total{act=\"power-on\",reason=\"BmcBusy\"} 0"));
	now += COUNTERS_DELAY_MS;
	buf_clear(&b);
	metrics_write(m, &b);
	assert_true(shows(b.data, "drover_wipes_total{verdict=\"Fail\"} 1"));
	assert_true(
		shows(b.data, "drover_act_failures_total{act=\"power-on\",reason=\"BmcBusy\"} 1"));
	buf_done(&b);
	counters_free(f);
}

static void waits_are_counted_by_a_few_priority_classes(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	char class[32];
	struct buf b;

	(void)state;
	counters_pod_placed(f, "team-a", NULL, 1000);
	for (int i = 0; i < 40; i++) {
		str_format(class, sizeof(class), "class-%d", i % 20);
		counters_pod_placed(f, "team-a", class, 1000);
	}
	buf_init(&b, 1 << 20);
	metrics_write(m, &b);
#define WAITS(class) "\ndrover_pod_wait_seconds_count{tenant=\"team-a\",priority=\"" class "\"} "
	assert_non_null(strstr(b.data, WAITS("none") "1\n"));
	assert_non_null(strstr(b.data, WAITS("class-15") "2\n"));
	assert_null(strstr(b.data, WAITS("class-16")));
	assert_non_null(strstr(b.data, WAITS("other") "8\n"));
	buf_done(&b);
	counters_free(f);
}

static void ways_are_counted_by_the_leader_alone(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m};
	struct counters *f = counters_new(&c);
	static const char *const way_by[] = {"way", "by", NULL};
	struct metric *api_paths = metrics_counter(m, "drover_eta_ways_total", "", way_by);

	(void)state;
	counters_transition(f, "free", "p90");
	assert_true(metric_get(api_paths, (const char *const[]){"free", "p90"}) == 0);
	c.leading = true;
	counters_transition(f, "free", "p90");
	assert_true(metric_get(api_paths, (const char *const[]){"free", "p90"}) == 1);
	counters_free(f);
}

static void only_a_leader_counts_times_and_only_of_states_that_were_left(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	struct machine was = {.status = {.state = "imaging", .state_since = 1000}}, is = was;
	struct buf b;

	(void)state;
	counters_machine(f, &was, &is);
	counters_machine(f, NULL, &is);
	counters_machine(f, &was, NULL);
	is.status.state = "attaching";
	is.status.state_since = 43000;
	c.leading = false;
	counters_machine(f, &was, &is);
	c.leading = true;
	counters_machine(f, &was, &is);
	was.status.state = "a state of another version";
	counters_machine(f, &was, &is);
	buf_init(&b, 1 << 20);
	metrics_write(m, &b);
	assert_non_null(strstr(b.data, "drover_machine_state_seconds_sum{state=\"imaging\"} 42\n"));
	assert_non_null(
		strstr(b.data, "drover_machine_state_seconds_count{state=\"imaging\"} 1\n"));
	assert_null(strstr(b.data, "another version"));
	buf_done(&b);
	counters_free(f);
}

/* Moves the machine to a state at this second of the wall clock. */
static void move(struct counters *f, struct machine *m, const char *state, int64_t s)
{
	const struct machine was = *m;

	m->status.state = state;
	m->status.state_since = s * 1000;
	counters_machine(f, &was, m);
}

/* Returns the number of returns of pool "gpus" in at most le; le NULL: all of them. */
static double returns(const struct metrics *m, const char *le)
{
	char series[128];
	struct buf b;
	double n;

	str_format(series, sizeof(series), "drover_machine_return_seconds_%s{pool=\"gpus\"%s%s%s",
		   le ? "bucket" : "count", le ? ",le=\"" : "", le ? le : "", le ? "\"" : "");
	buf_init(&b, 1 << 20);
	metrics_write(m, &b);
	n = sum_of(b.data, series, "} ");
	buf_done(&b);
	return n;
}

/* The machine begins to leave before this replica leads, is quarantined on its way, and is free
 * after an hour and a half. */
static void a_return_is_counted_with_its_quarantine_by_whoever_leads_at_its_end(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m};
	struct counters *f = counters_new(&c);
	struct machine is = {.meta.name = "gpu-1", .status = {.state = "serving", .pool = "gpus"}};
	struct machine_quarantine q = {.reason = "DriveFailed"};

	(void)state;
	move(f, &is, "draining", 1000);
	move(f, &is, "stopping", 1300);
	is.status.quarantine = &q;
	move(f, &is, "quarantined", 1400);
	c.leading = true;
	move(f, &is, "stopping", 6000);
	is.status.quarantine = NULL;
	move(f, &is, "verifying", 6200);
	is.status.pool = "gpus";
	move(f, &is, "free", 6400);
	assert_true(returns(m, NULL) == 1);
	assert_true(returns(m, "3600") == 0);
	assert_true(returns(m, "7200") == 1);
	/* A quarantine is no usual return. */
	assert_true(counters_recycle_ms(f) == 0);
	is.status.state = "serving";
	move(f, &is, "stopping", 7000);
	move(f, &is, "verifying", 7100);
	move(f, &is, "free", 7200);
	assert_true(returns(m, NULL) == 2);
	assert_true(returns(m, "300") == 1);
	assert_true(counters_recycle_ms(f) == 200 * 1000);
	counters_free(f);
}

static void a_machine_that_does_not_come_back_by_itself_is_no_return(void **state)
{
	OWN(metrics) m = metrics_new();
	struct context c = {.metrics = m, .leading = true};
	struct counters *f = counters_new(&c);
	struct machine is = {.meta.name = "gpu-1", .status = {.state = "serving", .pool = "gpus"}};
	struct machine_quarantine q = {.reason = "QuarantinedByOperator"};

	(void)state;
	move(f, &is, "stopping", 1000);
	is.status.quarantine = &q;
	move(f, &is, "quarantined", 1100);
	is.status.quarantine = NULL;
	move(f, &is, "stopping", 90000);
	move(f, &is, "free", 90100);
	is.status.state = "serving";
	move(f, &is, "draining", 90200);
	move(f, &is, "serving", 90300);
	move(f, &is, "stopping", 90400);
	move(f, &is, "retired", 90500);
	move(f, &is, "free", 90600);
	assert_true(returns(m, NULL) == 0);
	counters_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manual_lists_each_family_with_its_help_and_no_other),
		cmocka_unit_test(a_tenancy_is_counted_from_claim_to_wipe),
		cmocka_unit_test(a_pod_that_drover_evicts_has_not_failed),
		cmocka_unit_test(a_new_tenant_is_timed_until_its_first_pod_runs),
		cmocka_unit_test(a_pool_is_shown_from_its_first_to_its_last_day),
		cmocka_unit_test(a_claim_that_fails_is_counted_once_with_its_reason),
		cmocka_unit_test(the_time_of_a_claim_begins_with_its_approval),
		cmocka_unit_test(a_place_is_counted_without_the_name_of_the_segment),
		cmocka_unit_test(a_follower_counts_only_its_requests),
		cmocka_unit_test(calls_are_counted_by_provider_operation_and_result),
		cmocka_unit_test(failures_of_a_thousand_pools_keep_their_reasons),
		cmocka_unit_test(ends_of_pods_keep_their_results),
		cmocka_unit_test(the_first_event_after_a_failover_is_seen),
		cmocka_unit_test(waits_are_counted_by_a_few_priority_classes),
		cmocka_unit_test(ways_are_counted_by_the_leader_alone),
		cmocka_unit_test(only_a_leader_counts_times_and_only_of_states_that_were_left),
		cmocka_unit_test(
			a_return_is_counted_with_its_quarantine_by_whoever_leads_at_its_end),
		cmocka_unit_test(a_machine_that_does_not_come_back_by_itself_is_no_return),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
