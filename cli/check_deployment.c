/*
 * check_deployment: compares the replicas of the Deployment of drover with each other: the digest
 * of an image is known only from a pod that runs it, because a tag may be moved.
 * Tests: tests/unit/cli/test_check.c
 */
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "cli/check.h"

struct pods {
	struct arena *a;
	/* digest of the image -> names of the pods that run it, separated by ", " */
	json_t *digests;
};

/* Returns the digest at the end of a pod's imageID, "REGISTRY/NAME@sha256:..."; NULL: there is
 * none, as before the image was pulled. */
static const char *digest_of(const json_t *pod)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(pod, "status", "containerStatuses"), i, c)
		if (str_eq(json_str_at(c, "name"), CONTROLLER_DEPLOYMENT))
			return strstr(str_or(json_str_at(c, "imageID"), ""), "sha256:");
	return NULL;
}

static void on_pod(json_t *o, void *arg)
{
	struct pods *p = arg;
	const char *digest = digest_of(o), *names;

	if (!digest || json_str_at(o, "metadata", "deletionTimestamp") ||
	    str_eq(json_str_at(o, "status", "phase"), "Failed") ||
	    str_eq(json_str_at(o, "status", "phase"), "Succeeded"))
		return;
	names = json_str_at(p->digests, digest);
	json_object_set_new(
		p->digests, digest,
		json_string(arena_printf(p->a, "%s%s%s", str_or(names, ""), names ? ", " : "",
					 str_or(json_str_at(o, "metadata", "name"), "?"))));
}

static const char *image_of(const json_t *deployment)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(deployment, "spec", "template", "spec", "containers"), i, c)
		if (str_eq(json_str_at(c, "name"), CONTROLLER_DEPLOYMENT))
			return str_or(json_str_at(c, "image"), "?");
	return "?";
}

static void check_image(struct check *k, const json_t *deployment)
{
	OWN(arena) a = arena_new();
	OWN_JSON digests = json_object();
	struct pods p = {a, digests};
	const char *digest, *all = "";
	json_t *names;
	struct err e;

	if (cli_list_of(k->c, &KUBE_PODS, k->ns, "app=" CONTROLLER_DEPLOYMENT, on_pod, &p, &e) <
	    0) {
		findings_add(k->f, FINDING_UNKNOWN, "image",
			     "give your user the permission `list` on pods in drover's namespace",
			     "%s", e.text);
		return;
	}
	json_object_foreach (digests, digest, names)
		all = arena_printf(a, "%s%s%s (%s)", all, all[0] ? "; " : "", digest,
				   json_string_value(names));
	if (!all[0])
		findings_add(k->f, FINDING_UNKNOWN, "image", NULL,
			     "%s: no replica has reported which image it runs",
			     image_of(deployment));
	else if (json_object_size(digests) > 1)
		findings_add(
			k->f, FINDING_WARNING, "image",
			arena_printf(
				a,
				"kubectl -n %s rollout status deployment/" CONTROLLER_DEPLOYMENT
				"; if no rollout is in progress, the image's tag was moved to a "
				"new image: install drover by digest",
				k->ns),
			"replicas run different images: %s", all);
	else
		findings_add(k->f, FINDING_OK, "image", NULL, "%s, which is %s",
			     image_of(deployment), all);
}

static void check_replicas(struct check *k, const json_t *deployment)
{
	OWN(arena) a = arena_new();
	const json_int_t want = json_int_at(deployment, "spec", "replicas"),
			 ready = json_int_at(deployment, "status", "readyReplicas");
	const char *mend = arena_printf(a,
					"kubectl -n %s describe pods -l app=" CONTROLLER_DEPLOYMENT
					", and read their logs",
					k->ns);

	if (ready < want)
		findings_add(k->f, ready ? FINDING_WARNING : FINDING_WRONG, "replicas", mend,
			     "%lld of %lld are ready", (long long)ready, (long long)want);
	else
		findings_add(k->f, FINDING_OK, "replicas", NULL, "%lld of %lld are ready",
			     (long long)ready, (long long)want);
}

void check_deployment(struct check *k)
{
	static const struct kube_resource deployments = {"apps", "v1", "deployments", "Deployment",
							 true};
	struct err e;
	OWN_JSON d = cli_get_of(k->c, &deployments, k->ns, CONTROLLER_DEPLOYMENT, &e);

	if (d) {
		check_replicas(k, d);
		check_image(k, d);
	} else if (e.kind == ERR_NOT_FOUND) {
		findings_add(k->f, FINDING_OK, "image", NULL,
			     "not checked: namespace %s has no Deployment " CONTROLLER_DEPLOYMENT
			     ", so drover runs outside of this cluster, or not at all",
			     k->ns);
	} else {
		findings_add(k->f, FINDING_UNKNOWN, "image",
			     "give your user the permissions `get` on deployments and `list` on "
			     "pods in drover's namespace",
			     "%s", e.text);
	}
}
