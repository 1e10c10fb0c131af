/*
 * elastic: one call of an elastic provider of type ec2 against a server that others wrote, for tests/real/ec2.py.
 *
 *	elastic ENDPOINT REGION ZONE TYPE IMAGE SUBNET offers
 *	elastic ... launch TOKEN COUNT		tags: cluster "c-1", claim TOKEN
 *	elastic ... list CLUSTER
 *	elastic ... terminate ID
 *
 * Credentials come from the environment.  It prints one line for each offer or instance and "error KIND TEXT" for an
 * error; it ends with 1 then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http/http_curl.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/provider.h"

struct run {
	struct loop *loop;
	bool failed;
};

static void end(struct run *r, const struct err *e)
{
	if (e)
		printf("error %s %s\n", err_kind_name(e->kind), e->text);
	r->failed = e;
	loop_stop(r->loop);
}

static void on_offers(const struct elastic_offer *o, size_t n, const struct err *e, void *arg)
{
	for (size_t i = 0; i < n; i++)
		printf("%s %s %s %s\n", o[i].region, o[i].zone, o[i].type,
		       elastic_market_names[o[i].market]);
	end(arg, e);
}

static void on_instances(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		printf("%s %s %s %s", v[i].id, elastic_state_names[v[i].state],
		       str_or(v[i].zone, "-"), str_or(v[i].type, "-"));
		for (size_t t = 0; t < v[i].ntags; t++)
			printf(" %s=%s", v[i].tags[t].key, v[i].tags[t].value);
		printf("\n");
	}
	end(arg, e);
}

static bool launch(struct provider *p, char **argv, struct run *r)
{
	const struct elastic_tag tags[] = {{ELASTIC_TAG_CLUSTER, "c-1"},
					   {ELASTIC_TAG_CLAIM, argv[8]}};
	struct elastic_launch l = {.token = argv[8],
				   .offer = {.region = argv[2], .zone = argv[3], .type = argv[4]},
				   .user_data = "#!/bin/sh\n",
				   .user_data_len = 10,
				   .count = strtol(argv[9], NULL, 10),
				   .max_micros_per_hour = -1,
				   .tags = tags,
				   .ntags = 2};

	return provider_launch(p, &l, on_instances, r);
}

static bool call(struct provider *p, int argc, char **argv, struct run *r)
{
	const char *verb = argv[7];

	if (str_eq(verb, "offers"))
		return provider_offers(p, on_offers, r);
	if (str_eq(verb, "launch") && argc == 10)
		return launch(p, argv, r);
	if (str_eq(verb, "list") && argc == 9)
		return provider_list_owned(p, argv[8], on_instances, r);
	if (str_eq(verb, "terminate") && argc == 9)
		return provider_terminate(p, argv[2], argv[8], NULL, on_instances, r);
	return false;
}

int main(int argc, char **argv)
{
	struct run r = {.loop = NULL};
	struct provider_spec s = {.name = "judged", .type = "ec2", .plain_ok = true};
	struct provider *p;
	struct err e;

	if (argc < 8) {
		fprintf(stderr, "usage: elastic ENDPOINT REGION ZONE TYPE IMAGE SUBNET VERB ...\n");
		return 2;
	}
	mem_init();
	r.loop = loop_uv_new();
	s.group = loop_group_new(r.loop, "elastic");
	s.http = http_new(s.group, http_curl_new(s.group, 8), 8);
	{
		const struct provider_cloud_zone zone = {argv[2], argv[3],
							 *argv[6] ? argv[6] : NULL, NULL, argv[5]};
		const struct provider_cloud_type type = {argv[4], 0, true, true};
		const struct provider_cloud cloud = {.endpoint = argv[1],
						     .zones = {&zone, 1},
						     .types = {&type, 1},
						     .login = PROVIDER_LOGIN_ENVIRONMENT};

		s.cloud = &cloud;
		p = provider_new(&s, &e);
	}
	if (p && call(p, argc, argv, &r))
		loop_run(r.loop);
	else
		end(&r, p ? NULL : &e);
	provider_free(p);
	http_free(s.http);
	loop_group_free(s.group);
	loop_free(r.loop);
	return r.failed;
}
