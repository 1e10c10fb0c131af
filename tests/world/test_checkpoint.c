/* Checkpoints: a workload saves its state before its pods are evicted. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/leaving.h"

/* --- checkpoints ------------------------------------------------------------------------------ */

struct saver {
	struct httpd *d;
	/* posts: number of POSTs so far. done_at: number of the POST that is answered with done; 0:
	 * never. */
	unsigned posts, done_at;
	char body[2048];
};

static void on_checkpoint(struct httpd_req *q, void *arg)
{
	struct saver *s = arg;
	size_t len;
	bool done = s->done_at && ++s->posts >= s->done_at;

	if (!s->done_at)
		s->posts++;
	str_copy(s->body, sizeof(s->body), httpd_body(q, &len));
	httpd_reply_json(q, done || s->posts == 1 ? 200 : 202,
			 done ? "{\"done\":true}" : "{\"done\":false}");
}

/* Starts a pool whose claims have a checkpoint URL, and one machine that serves. */
static struct server *saving(struct sim_world *w, uint64_t seed, struct saver *s)
{
	world_start(w, seed, 1);
	s->d = httpd_new(w->hardware);
	httpd_route(s->d, "POST", "/save", 65536, on_checkpoint, s);
	http_mem_serve(w->net, "https://saver.test:8443", s->d);
	leaving_set_pool(w, json_pack("{s:{s:{s:{s:s,s:s}}}}", "template", "spec", "checkpoint",
				      "url", "https://saver.test:8443/save?x=1", "timeout", "3m"));
	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 900);
	world_wait_state(&w->servers[0], "serving", 60);
	return &w->servers[0];
}

static void saved(struct sim_world *w, struct saver *s)
{
	http_mem_serve(w->net, "https://saver.test:8443", NULL);
	httpd_free(s->d);
	world_stop(w);
}

static void who_saves_work_is_asked_until_it_is_done(void **state)
{
	struct sim_world w;
	struct saver s = {.done_at = 4};
	struct server *b = saving(&w, 340, &s);
	struct err e;
	OWN_JSON body = NULL;
	int64_t began;

	(void)state;
	leaving_drain(&w, "fans", 3600, "  onDeadline: Escalate\n");
	world_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	leaving_wait_at(b, "status.leave.blockedBy", "checkpoint saver.test:8443", 30);
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 120);
	assert_int_equal(s.posts, 4);
	assert_true(loop_wall(w.loop) - began >= 15000 && loop_wall(w.loop) - began < 60000);
	body = json_parse(s.body, strlen(s.body), &e);
	assert_string_equal(json_str_at(body, "apiVersion"), "drover.dev/v1alpha1");
	assert_string_equal(json_str_at(body, "machine"), "gpu-1");
	assert_string_equal(json_str_at(body, "virtualCluster"), "team-a");
	assert_string_equal(json_str_at(body, "reason"), "Drain");
	assert_non_null(json_str_at(body, "deadline"));
	assert_string_equal(json_str_at(json_array_get(json_object_get(body, "pods"), 0), "name"),
			    "train");
	world_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void who_never_says_done_is_waited_for_until_its_timeout_and_no_longer(void **state)
{
	struct sim_world w;
	struct saver s = {0};
	struct server *b = saving(&w, 341, &s);
	int64_t began;

	(void)state;
	world_release(b);
	world_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 300);
	assert_true(loop_wall(w.loop) - began >= 180 * 1000);
	assert_true(loop_wall(w.loop) - began < 200 * 1000);
	leaving_wait_event(&w, &w.host, "CheckpointTimedOut", "");
	world_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void a_checkpoint_is_not_begun_anew_by_the_next_leader(void **state)
{
	struct sim_world w;
	struct saver s = {0};
	struct server *b = saving(&w, 342, &s);
	int64_t began;

	(void)state;
	world_release(b);
	world_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	world_run(&w, 100 * 1000);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 60 * 1000);
	assert_true(leaving_runs_still(&w));
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 60);
	assert_true(loop_wall(w.loop) - began < 200 * 1000);
	world_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void a_checkpoint_does_not_outlast_the_deadline_of_the_drain(void **state)
{
	struct sim_world w;
	struct saver s = {0};
	struct server *b = saving(&w, 343, &s);

	(void)state;
	leaving_drain(&w, "fans", 60, "  onDeadline: Escalate\n");
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 70);
	world_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void checkpoint_pod(struct sim_world *w, const char *value)
{
	leaving_patch_pod(w, "train",
			  json_pack("{s:{s:{s:s,s:s}}}", "metadata", "annotations",
				    "drover.dev/checkpoint", value, "drover.dev/checkpoint-done",
				    "of an earlier time"));
}

static bool is_requested(void *arg)
{
	OWN_JSON pod = cluster_get(arg, "pods/default/train");

	return json_at(pod, "metadata", "annotations", "drover.dev/checkpoint-requested") != NULL;
}

static void a_pod_that_asks_for_it_is_told_and_waited_for(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 344);
	OWN_JSON pod = NULL;

	(void)state;
	checkpoint_pod(&w, "true");
	world_release(b);
	leaving_wait_at(b, "status.leave.blockedBy", "checkpoint default/train", 30);
	world_wait(&w, is_requested, &w.tenants[0], 10, "the pod is told");
	world_run(&w, 200 * 1000);
	pod = cluster_get(&w.tenants[0], "pods/default/train");
	assert_non_null(pod);
	assert_null(json_at(pod, "metadata", "annotations", "drover.dev/checkpoint-done"));
	leaving_patch_pod(&w, "train",
			  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
				    "drover.dev/checkpoint-done", "yes"));
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 20);
	assert_false(leaving_was_told(&w.host, "CheckpointTimedOut", ""));
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void a_pod_that_does_not_answer_has_as_long_as_it_said(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 345);
	int64_t began;

	(void)state;
	checkpoint_pod(&w, "90s");
	world_release(b);
	world_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 300);
	assert_true(loop_wall(w.loop) - began >= 90 * 1000);
	assert_true(loop_wall(w.loop) - began < 110 * 1000);
	leaving_wait_event(&w, &w.host, "CheckpointTimedOut", "default/train");
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_saves_work_is_asked_until_it_is_done),
		cmocka_unit_test(who_never_says_done_is_waited_for_until_its_timeout_and_no_longer),
		cmocka_unit_test(a_checkpoint_is_not_begun_anew_by_the_next_leader),
		cmocka_unit_test(a_checkpoint_does_not_outlast_the_deadline_of_the_drain),
		cmocka_unit_test(a_pod_that_asks_for_it_is_told_and_waited_for),
		cmocka_unit_test(a_pod_that_does_not_answer_has_as_long_as_it_said),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
