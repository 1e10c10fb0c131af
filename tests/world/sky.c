#include "tests/world/sky.h"

#include <string.h>
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

void sky_put_config(struct server *b, const char *user_data)
{
	const char *at = user_data ? strchr(user_data, '\n') : NULL;
	json_t *config = at ? json_loads(at, 0, NULL) : NULL, *f;
	size_t i, n;
	struct err e;

	json_array_foreach (json_object_get(config, "write_files"), i, f) {
		const char *content = json_str_at(f, "content");
		char *text;

		if (!str_eq(json_str_at(f, "path"), "/run/drover/drover-join.cfg"))
			continue;
		text = (char *)crypto_base64_decode(content, strlen(content), &n, &e);
		str_copy(b->drives[0].data + SERVER_CONFIG_AT,
			 SERVER_DRIVE_BYTES - SERVER_CONFIG_AT, text);
		free(text);
	}
	json_decref(config);
	str_copy(b->drives[0].data, SERVER_CONFIG_AT, SERVER_IMAGE);
}

static void on_running(struct fake_instance *i, void *arg)
{
	struct sky *s = arg;
	struct server *b = &s->servers[s->n];

	if (s->n == SKY_INSTANCES)
		return;
	server_init(b, s->world, SKY_FIRST + s->n);
	s->of[s->n++] = i;
	sky_put_config(b, i->user_data);
	str_format(b->segment, sizeof(b->segment), "tenant/%s",
		   str_or(json_str_at(i->tags, "drover.dev/virtual-cluster"), ""));
	server_power(b, true);
}

static void on_ended(struct fake_instance *i, void *arg)
{
	struct sky *s = arg;

	for (unsigned k = 0; k < s->n; k++)
		if (s->of[k] == i)
			server_power(&s->servers[k], false);
}

void sky_start(struct sky *s, struct sim_world *w, const char *nodes)
{
	*s = (struct sky){.world = w};
	fake_cloud_init(&s->cloud, w->hardware);
	s->cloud.on_running = on_running;
	s->cloud.on_ended = on_ended;
	s->cloud.arg = s;
	for (int k = 0; k < 2; k++) {
		s->cloud.zones[k].zone = k ? "b" : "a";
		s->cloud.zones[k].type = "gpu-8";
		s->cloud.zones[k].micros = 20000000 + k;
		s->cloud.zones[k].capacity = -1;
	}
	world_apply(
		w,
		"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: sky}\n"
		"spec:\n  type: exec\n  exec: {command: [" FAKE_CLOUD "], elastic: true}\n"
		"  instanceTypes:\n  - name: gpu-8\n"
		"    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", pods: \"110\"}\n");
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s}, {s:s}]}}, s:{s:s?}}}", "spec", "template", "spec",
			   "providerRefs", "name", "rack", "name", "sky", "limits", "nodes",
			   nodes));
	w->sky = s;
}

void sky_stop(struct sky *s)
{
	s->world->sky = NULL;
	for (unsigned k = 0; k < s->n; k++)
		server_done(&s->servers[k]);
	s->n = 0;
	fake_cloud_done(&s->cloud);
}

const char *sky_name(const struct sky *s)
{
	const struct fake_instance *i =
		list_entry(s->cloud.instances.prev, struct fake_instance, link);

	return json_str_at(i->tags, "drover.dev/machine");
}

struct owner {
	const char *uid;
	bool found;
};

static bool is_owner(const json_t *o, void *arg)
{
	struct owner *w = arg;

	w->found |= str_eq(json_str_at(o, "metadata", "uid"), w->uid) ||
		    str_eq(json_str_at(o, "spec", "elastic", "claim", "uid"), w->uid);
	return !w->found;
}

static bool orphaned(struct sky *s, unsigned k, const char *claim_uid)
{
	struct owner w = {.uid = claim_uid};
	int64_t now = loop_now(s->world->loop);

	cluster_each(&s->world->host, "nodeclaims.drover.dev/", is_owner, &w);
	cluster_each(&s->world->host, "machines.drover.dev/", is_owner, &w);
	if (w.found)
		s->orphan_since[k] = 0;
	else if (!s->orphan_since[k])
		s->orphan_since[k] = now;
	return s->orphan_since[k] && now - s->orphan_since[k] > SKY_ORPHAN_MS;
}

bool sky_wrong(struct sky *s, char *why, size_t size)
{
	int64_t now = loop_now(s->world->loop);
	bool due = now - s->looked_at >= 5000;
	unsigned k = 0;

	list_for_each (i, &s->cloud.instances, struct fake_instance, link) {
		const char *claim = json_str_at(i->tags, "drover.dev/claim");

		if (k == SKY_INSTANCES)
			break;
		if (!i->gone && fake_cloud_alive_of(&s->cloud, claim) > 1) {
			str_format(why, size, "two instances are billed for claim %s", claim);
			return true;
		}
		if (!i->gone && due && orphaned(s, k, claim)) {
			str_format(why, size, "S4: instance %s is nobody's, and is billed", i->id);
			return true;
		}
		k++;
	}
	if (due)
		s->looked_at = now;
	return false;
}
