/* promise: compares encoded specs, so that an absent member equals its default. */
#include "controller/rules/promise.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/data/json.h"
#include "base/str.h"

static const char *const counts[] = {"image",	"labels",	 "annotations",
				     "taints",	"startupTaints", "userDataSecretRef",
				     "kubelet", "network"};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

struct node_claim_spec promise_of(const struct node_pool *p, const struct object_image *image)
{
	const struct node_pool_template_spec *t = &p->spec.template_.spec;

	return (struct node_claim_spec){
		.image = *image,
		.labels = p->spec.template_.metadata.labels,
		.annotations = p->spec.template_.metadata.annotations,
		.taints = t->taints,
		.startup_taints = t->startup_taints,
		.user_data_secret_ref = t->user_data_secret_ref,
		.kubelet = t->kubelet,
		.network = t->network,
		.checkpoint = t->checkpoint,
		.deadlines = p->spec.deadlines,
		.wipe = p->spec.wipe,
		.expire_after = t->expire_after,
		.termination_grace_period = t->termination_grace_period,
	};
}

/* Encodes the members of *s that are compared as JSON. */
static json_t *encode(const struct node_claim_spec *s)
{
	const struct node_claim n = {.spec = *s};
	OWN_JSON whole = fields_encode(object_kinds[OBJECT_NODE_CLAIM].fields, &n);
	json_t *out = json_object();

	for (size_t i = 0; i < COUNTS; i++)
		json_object_set(out, counts[i], json_at(whole, "spec", counts[i]));
	return out;
}

static bool holds(const json_t *list, const json_t *item)
{
	json_t *x;
	size_t i;

	json_array_foreach (list, i, x)
		if (json_equal(x, item))
			return true;
	return false;
}

static bool is_empty(const json_t *x)
{
	return !x || (!json_object_size(x) && !json_array_size(x));
}

/* True if x equals y. Two lists are equal if each element of either is also in the other. */
static bool same(const json_t *x, const json_t *y)
{
	json_t *item;
	size_t i;

	if (is_empty(x) || is_empty(y))
		return is_empty(x) == is_empty(y);
	if (!json_is_array(x) || !json_is_array(y))
		return json_equal(x, y);
	json_array_foreach (x, i, item)
		if (!holds(y, item))
			return false;
	json_array_foreach (y, i, item)
		if (!holds(x, item))
			return false;
	return true;
}

const char *promise_differs(const struct node_claim_spec *is, const struct node_claim_spec *said,
			    struct arena *a)
{
	OWN_JSON x = encode(is);
	OWN_JSON y = encode(said);
	const char *out = NULL;

	for (size_t i = 0; i < COUNTS; i++)
		if (!same(json_object_get(x, counts[i]), json_object_get(y, counts[i])))
			out = out ? arena_printf(a, "%s, %s", out, counts[i]) : counts[i];
	return out;
}

const char *promise_name(const struct node_claim_spec *s, char out[static PROMISE_NAME_SIZE])
{
	OWN_JSON x = encode(s);
	char *text = json_dumps(x, JSON_SORT_KEYS | JSON_COMPACT);
	uint8_t d[CRYPTO_SHA256];

	crypto_sha256(text, strlen(text), d);
	free(text);
	str_hex(out, d, (PROMISE_NAME_SIZE - 1) / 2);
	return out;
}
