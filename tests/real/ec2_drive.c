/*
 * ec2_drive: runs a Provider of type ec2 against an EC2 endpoint of another maker. It launches two
 * instances at once, lists them by their tag, launches with the same token again, and ends all
 * instances. It prints the results as one line of JSON:
 *
 *   {"launched": [ID], "owned": [ID], "again": [ID], "gone": N}
 *   {"ends": {ID: MS}, "atRisk": {ID: MS}}, with EC2_QUEUE
 *   or {"error": TEXT, "kind": N, "at": WORD}   kind: enum err_kind; at: name of the failed step
 *
 * Environment: EC2_ENDPOINT, EC2_ZONE, EC2_SUBNET, EC2_GROUP, EC2_IMAGE, EC2_TYPE, EC2_CA (a file,
 * or empty), and the access key in AWS's own variables, such as AWS_ACCESS_KEY_ID. If EC2_ROLE is
 * set, that role is assumed at EC2_STS (a URL) with EC2_EXTERNAL_ID. If EC2_QUEUE (the URL of an
 * SQS queue) is set, the program launches nothing, but lists instances until the provider knows the
 * end of two of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/http/http_curl.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/provider.h"
#include "providers/elastic.h"
#include "providers/provider.h"

#define CLUSTER "ec2-drive"
#define LOOKS 120
#define LOOK_MS 250

enum step { LAUNCH, OWNED, AGAIN, END, GONE, QUEUE };
static const char *const steps[] = {"launch", "owned", "again", "end", "gone", "queue"};

struct drive {
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	struct provider *provider;
	struct loop_timer next;
	enum step step;
	char region[32], ids[2][40];
	size_t ended;
	int looks;
	json_t *out;
	bool failed;
};

static const char *env(const char *name)
{
	return str_or(getenv(name), "");
}

static bool may_act(void *arg)
{
	(void)arg;
	return true;
}

static void failed(struct drive *d, const struct err *e)
{
	json_decref(d->out);
	d->out = json_pack("{s:s, s:i, s:s}", "error", e->text, "kind", e->kind, "at",
			   steps[d->step]);
	d->failed = true;
	loop_stop(d->loop);
}

static void on_ends(struct drive *d, const struct elastic_instance *v, size_t n)
{
	json_t *ends = json_object(), *at_risk = json_object();

	for (size_t i = 0; i < n; i++) {
		if (v[i].ends_at)
			json_object_set_new(ends, v[i].id, json_integer(v[i].ends_at));
		if (v[i].at_risk_since)
			json_object_set_new(at_risk, v[i].id, json_integer(v[i].at_risk_since));
	}
	json_object_set_new(d->out, "ends", ends);
	json_object_set_new(d->out, "atRisk", at_risk);
	if (json_object_size(ends) >= 2 || ++d->looks == LOOKS)
		loop_stop(d->loop);
	else
		loop_timer_start(&d->next, LOOK_MS);
}

static void on_done(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct drive *d = arg;
	json_t *ids = json_array();
	size_t gone = 0;

	if (e) {
		json_decref(ids);
		failed(d, e);
		return;
	}
	if (d->step == QUEUE) {
		json_decref(ids);
		on_ends(d, v, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(ids, json_string(v[i].id));
		gone += v[i].state == ELASTIC_TERMINATED;
		if (d->step == LAUNCH && i < 2)
			str_copy(d->ids[i], sizeof(d->ids[i]), v[i].id);
	}
	if (d->step == END) {
		json_decref(ids);
		d->step = ++d->ended < 2 ? END : GONE;
	} else if (d->step == GONE) {
		json_object_set_new(d->out, "gone", json_integer((json_int_t)gone));
		json_decref(ids);
		if (gone == 2 || ++d->looks == LOOKS) {
			loop_stop(d->loop);
			return;
		}
	} else {
		json_object_set_new(d->out, d->step == LAUNCH ? "launched" : steps[d->step], ids);
		d->step++;
	}
	loop_timer_start(&d->next, d->step == GONE ? LOOK_MS : 0);
}

static void launch(struct drive *d)
{
	static const struct elastic_tag tags[] = {{ELASTIC_TAG_CLUSTER, CLUSTER},
						  {ELASTIC_TAG_CLAIM, "uid-<&>-ü"}};
	const struct elastic_launch l = {.token = "ec2-drive-1",
					 .offer = {.region = d->region,
						   .zone = env("EC2_ZONE"),
						   .type = env("EC2_TYPE"),
						   .micros_per_hour = -1,
						   .available = -1},
					 .user_data = "#!/bin/sh\n",
					 .user_data_len = strlen("#!/bin/sh\n"),
					 .count = 2,
					 .max_micros_per_hour = -1,
					 .tags = tags,
					 .ntags = 2,
					 .may_act = may_act};

	provider_launch(d->provider, &l, on_done, d);
}

static void on_next(void *arg)
{
	struct drive *d = arg;

	if (d->step == LAUNCH || d->step == AGAIN)
		launch(d);
	else if (d->step == END)
		provider_terminate(d->provider, d->region, d->ids[d->ended], may_act, on_done, d);
	else
		provider_list_owned(d->provider, CLUSTER, on_done, d);
}

static int begin(struct drive *d, const char *ca, struct err *e)
{
	const char *const groups[] = {env("EC2_GROUP"), NULL};
	const struct provider_cloud_zone zone = {d->region, env("EC2_ZONE"), env("EC2_SUBNET"),
						 groups, NULL};
	const struct provider_cloud_type type = {env("EC2_TYPE"), 0, true, false};
	const struct provider_cloud_queue queue = {getenv("EC2_QUEUE"), d->region};
	const struct provider_cloud cloud = {
		.endpoint = env("EC2_ENDPOINT"),
		.ca_pem = ca,
		.zones = {&zone, 1},
		.types = {&type, 1},
		.queues = {&queue, queue.url ? 1 : 0},
		.image = env("EC2_IMAGE"),
		.login = PROVIDER_LOGIN_ENVIRONMENT,
		.assume_role = {.arn = getenv("EC2_ROLE"),
				.external_id = getenv("EC2_EXTERNAL_ID")},
		.sts_endpoint = getenv("EC2_STS")};

	str_format(d->region, sizeof(d->region), "%.*s", (int)strlen(env("EC2_ZONE")) - 1,
		   env("EC2_ZONE"));
	d->loop = loop_uv_new();
	d->group = loop_group_new(d->loop, "ec2");
	d->http = http_new(d->group, http_curl_new(d->group, 8), 0);
	d->out = json_object();
	d->step = queue.url ? QUEUE : LAUNCH;
	loop_timer_init(&d->next, d->group, on_next, d);
	d->provider = provider_new(&(struct provider_spec){.name = "aws",
							   .type = "ec2",
							   .cloud = &cloud,
							   .group = d->group,
							   .http = d->http,
							   .plain_ok = true},
				   e);
	return d->provider ? 0 : -1;
}

static char *file(const char *path)
{
	FILE *f = *path ? fopen(path, "re") : NULL;
	char *text = f ? mem_alloc(65536) : NULL;

	if (!f)
		return NULL;
	text[fread(text, 1, 65535, f)] = '\0';
	(void)fclose(f);
	return text;
}

int main(void)
{
	struct drive d = {0};
	char *ca, *text;
	struct err e;

	mem_init();
	ca = file(env("EC2_CA"));
	if (strlen(env("EC2_ZONE")) < 2 || begin(&d, ca, &e) < 0) {
		(void)fprintf(stderr, "ec2_drive: %s\n", d.loop ? e.text : "EC2_ZONE is not set");
		return 1;
	}
	loop_timer_start(&d.next, 0);
	loop_run(d.loop);
	text = json_text(d.out);
	puts(text);
	free(text);
	json_decref(d.out);
	provider_free(d.provider);
	http_free(d.http);
	loop_group_free(d.group);
	loop_free(d.loop);
	free(ca);
	return d.failed;
}
