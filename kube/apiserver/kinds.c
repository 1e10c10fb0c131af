#include <stdlib.h>
#include "base/crypto.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Sets defaults and applies admission rules of particular kinds as kube-apiserver does, limited to
 * those that clients rely on.
 * Tests: tests/unit/kube/apiserver/test_write.c, tests/unit/kube/apiserver/test_checks.c
 */

static void set_str(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, json_string(value));
}

static void default_to(json_t *o, const char *key, json_t *value)
{
	if (json_object_get(o, key))
		json_decref(value);
	else
		json_object_set_new(o, key, value);
}

static int merge_string_data(json_t *secret, struct fault *f)
{
	json_t *plain = json_object_get(secret, "stringData"), *data, *value;
	const char *key;

	if (!json_is_object(plain))
		return 0;
	if (!json_is_object(json_object_get(secret, "data")))
		json_object_set_new(secret, "data", json_object());
	data = json_object_get(secret, "data");
	json_object_foreach (plain, key, value) {
		if (!json_is_string(value))
			return fault_set(f, FAULT_BAD_REQUEST, "stringData: %s is not a string",
					 key);

		char *text = crypto_base64(json_string_value(value), json_string_length(value));

		set_str(data, key, text);
		free(text);
	}
	json_object_del(secret, "stringData");
	return 0;
}

static int check_secret_data(const json_t *secret, struct fault *f)
{
	const char *key;
	json_t *v;

	json_object_foreach (json_object_get(secret, "data"), key, v) {
		struct err e;
		size_t len;
		char *bytes = json_is_string(v)
				      ? crypto_base64_decode(json_string_value(v),
							     json_string_length(v), &len, &e)
				      : NULL;

		if (!bytes && !json_is_null(v))
			return fault_set(f, FAULT_BAD_REQUEST, "data.%s: want base64", key);
		if (bytes)
			secret_wipe(bytes, len);
		free(bytes);
	}
	return 0;
}

/* Callback of a search for the default PriorityClass: sets *arg to its value and ends the search.
 * As in the admission plugin Priority, a pod without a class gets the priority of the default
 * class. */
static bool find_default_class(const struct store_entry *e, void *arg)
{
	struct err err;
	OWN_JSON class = json_parse(e->value, e->value_len, &err);

	if (!json_true_at(class, "globalDefault"))
		return true;
	*(json_int_t *)arg = json_int_at(class, "value");
	return false;
}

static int set_priority(const struct request *rq, json_t *spec, struct fault *f)
{
	const char *name = json_str_at(spec, "priorityClassName");
	json_int_t by_default = 0;
	struct store_entry entry;

	if (str_empty(name)) {
		store_list(rq->a->store, "priorityclasses.scheduling.k8s.io/", NULL, 0,
			   find_default_class, &by_default);
		default_to(spec, "priority", json_integer(by_default));
		return 0;
	}
	/* These two classes exist in every cluster without an object in the store (scheduling/v1
	 * types): use their fixed values. */
	if (str_eq(name, "system-cluster-critical") || str_eq(name, "system-node-critical")) {
		json_object_set_new(spec, "priority",
				    json_integer(str_eq(name, "system-node-critical")
							 ? 2000001000
							 : 2000000000));
		return 0;
	}

	OWN_JSON class = object_read(
		rq->a, arena_printf(rq->arena, "priorityclasses.scheduling.k8s.io/%s", name),
		&entry);

	if (!class)
		return fault_set(f, FAULT_FORBIDDEN, "no PriorityClass with name %s was found",
				 name);
	json_object_set_new(spec, "priority", json_integer(json_int_at(class, "value")));
	if (json_str_at(class, "preemptionPolicy"))
		json_object_set(spec, "preemptionPolicy",
				json_object_get(class, "preemptionPolicy"));
	return 0;
}

static int begin_pod(const struct request *rq, json_t *pod, struct fault *f)
{
	json_t *spec = json_object_get(pod, "spec");

	json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
	if (!json_is_object(spec))
		return 0;
	default_to(spec, "schedulerName", json_string("default-scheduler"));
	default_to(spec, "restartPolicy", json_string("Always"));
	default_to(spec, "terminationGracePeriodSeconds", json_integer(30));
	return set_priority(rq, spec, f);
}

static void begin_namespace(const struct request *rq, json_t *ns)
{
	json_t *meta = object_meta(ns);

	if (!json_is_object(json_object_get(meta, "labels")))
		json_object_set_new(meta, "labels", json_object());
	set_str(json_object_get(meta, "labels"), "kubernetes.io/metadata.name",
		json_str_at(meta, "name"));
	json_object_set_new(ns, "status", json_pack("{s:s}", "phase", "Active"));
	if (rq->a->spec.controllers)
		json_object_set_new(ns, "spec", json_pack("{s:[s]}", "finalizers", "kubernetes"));
}

int kind_adjust(const struct request *rq, json_t *obj, bool creating, struct fault *f)
{
	const struct resource *r = rq->r;

	if (resource_is_crd(r))
		return resource_crd_check(obj, loop_wall(rq->a->loop), f) < 0 ||
				       (rq->a->spec.checks &&
					structural_check(obj, rq->arena, f) < 0)
			       ? -1
			       : 0;
	if (r->custom && r->schema && rq->a->spec.schemas)
		return schema_apply(r->schema, r->patterns, obj, f);
	if (*r->group)
		return 0;
	if (str_eq(r->kind, "Secret")) {
		default_to(obj, "type", json_string("Opaque"));
		if (merge_string_data(obj, f) < 0 ||
		    (rq->a->spec.checks && check_secret_data(obj, f) < 0))
			return -1;
		return creating && rq->a->spec.authenticate &&
				       str_eq(json_str_at(obj, "type"),
					      "kubernetes.io/service-account-token")
			       ? token_fill_secret(rq, obj, f)
			       : 0;
	}
	if (creating && str_eq(r->kind, "Pod"))
		return begin_pod(rq, obj, f);
	if (creating && str_eq(r->kind, "Namespace"))
		begin_namespace(rq, obj);
	return 0;
}
