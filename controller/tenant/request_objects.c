#include "controller/tenant/request_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/fields.h"
#include "base/data/json.h"
#include "base/str.h"
#include "kube/want.h"

#define SHOWN 64
#define NAME_BYTES 253
#define CONDITIONS 16
#define CONDITIONS_BYTES ((size_t)64 << 10)
#define LISTS_BYTES ((size_t)32 << 10)
#define PARAMETER_MACHINES "drover.dev/free-machines"

const char *const request_class_names[] = {
	[REQUEST_CHECK] = "check-capacity.autoscaling.x-k8s.io",
	[REQUEST_ATOMIC] = "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
	[REQUEST_QUEUED] = "queued.drover.dev",
	NULL,
};

/* --- reading ---------------------------------------------------------------------------------- */

static const struct scan_want request_meta[] = {KUBE_WANT_META, SCAN_PLAIN("generation"),
						SCAN_PLAIN("creationTimestamp"),
						SCAN_PLAIN("deletionTimestamp"), SCAN_END};
static const struct scan_want request_ref[] = {SCAN_PLAIN("name"), SCAN_END};
static const struct scan_want request_sets[] = {SCAN_SOME("podTemplateRef", request_ref),
						SCAN_PLAIN("count"), SCAN_END};
static const struct scan_want request_spec[] = {SCAN_PLAIN("provisioningClassName"),
						SCAN_SOME_OF("podSets", request_sets, LISTS_BYTES),
						SCAN_ALL("parameters", LISTS_BYTES), SCAN_END};
static const struct scan_want request_status[] = {SCAN_ALL("conditions", CONDITIONS_BYTES),
						  SCAN_END};
const struct scan_want request_want[] = {SCAN_SOME("metadata", request_meta),
					 SCAN_SOME("spec", request_spec),
					 SCAN_SOME("status", request_status), SCAN_END};

static bool class_of(const char *name, enum request_class *class_)
{
	for (int i = 0; i < REQUEST_CLASSES; i++)
		if (str_eq(name, request_class_names[i])) {
			*class_ = (enum request_class)i;
			return true;
		}
	return false;
}

static void refuse(struct request_object *r, const char *because, const char *text)
{
	if (r->refused)
		return;
	r->because = because;
	r->refused = text;
}

static bool is_name(const char *s)
{
	return !str_empty(s) && strlen(s) <= NAME_BYTES && !strpbrk(s, ":/");
}

static void read_sets(const json_t *list, struct request_object *r, struct arena *a)
{
	const size_t n = json_array_size(list);
	json_t *set;
	size_t i;

	if (n < 1 || n > REQUEST_SETS || scan_weight(list) >= LISTS_BYTES) {
		refuse(r, "PodSetsNotRead",
		       arena_printf(a, "spec.podSets must have 1 to %d elements", REQUEST_SETS));
		return;
	}
	r->sets = arena_calloc(a, n, sizeof(*r->sets));
	json_array_foreach (list, i, set) {
		const char *name = json_str_at(set, "podTemplateRef", "name");
		const int64_t count = json_int_at(set, "count");

		if (!is_name(name) || count < 1) {
			refuse(r, "PodSetsNotRead",
			       arena_printf(a, "podSets[%zu] needs a podTemplateRef and a count",
					    i));
			return;
		}
		if (count > REQUEST_PODS || r->pods + count > REQUEST_PODS) {
			refuse(r, "TooBig",
			       arena_printf(a,
					    "podSets[%zu] wants %lld pods: a request may "
					    "have %d in total",
					    i, (long long)count, REQUEST_PODS));
			return;
		}
		r->sets[r->nsets++] = (struct request_set){arena_strdup(a, name), count};
		r->pods += count;
	}
}

static bool is_true(const char *s, bool *out)
{
	*out = str_eq(s, "true");
	return *out || str_eq(s, "false");
}

static bool read_parameter(const char *key, const char *value, struct request_object *r)
{
	if (!value)
		return false;
	if (str_eq(key, "ValidUntilSeconds"))
		return str_to_i64(value, 1, 366 * 86400, &r->valid_s);
	if (r->class_ != REQUEST_CHECK)
		return false;
	if (str_eq(key, "noRetry"))
		return is_true(value, &r->no_retry);
	return str_eq(key, PARAMETER_MACHINES) && is_true(value, &r->machines);
}

static void read_parameters(const json_t *list, struct request_object *r, struct arena *a)
{
	const char *key;
	json_t *v;

	r->valid_s = r->class_ == REQUEST_QUEUED ? 0 : REQUEST_EXPIRES_S;
	if (scan_weight(list) >= LISTS_BYTES)
		refuse(r, "ParameterNotSupported", "the parameters are too long");
	json_object_foreach ((json_t *)list, key, v)
		if (!read_parameter(key, json_string_value(v), r))
			refuse(r, "ParameterNotSupported",
			       arena_printf(a, "parameter %.*s: %.*s: not supported by class %s",
					    SHOWN, key, SHOWN, str_or(json_string_value(v), ""),
					    request_class_names[r->class_]));
}

/* Reads all conditions into r->conditions. Includes those of other writers, because a patch
 * replaces the whole list and has to repeat them. Returns false if the list is too long or cannot
 * be decoded. */
static bool read_conditions(const json_t *list, struct request_object *r, struct arena *a)
{
	struct err e;
	json_t *c;
	size_t i;

	if (json_array_size(list) > CONDITIONS || scan_weight(list) >= CONDITIONS_BYTES)
		return false;
	r->conditions.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*r->conditions.v));
	json_array_foreach (list, i, c)
		if (fields_decode(condition_fields, c, "conditions",
				  &r->conditions.v[r->conditions.n++], a, &e) < 0)
			return false;
	return true;
}

void *request_project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *spec = json_object_get(o, "spec");
	struct request_object *r = arena_new_obj(a, struct request_object);

	(void)arg;
	if (json_at(o, "metadata", "deletionTimestamp") ||
	    !class_of(json_str_at(spec, "provisioningClassName"), &r->class_) ||
	    !is_name(json_str_at(o, "metadata", "name")))
		return NULL;
	r->uid = arena_strdup(a, str_or(json_str_at(o, "metadata", "uid"), ""));
	r->generation = json_int_at(o, "metadata", "generation");
	if (!str_to_time(str_or(json_str_at(o, "metadata", "creationTimestamp"), ""), &r->created))
		r->created = 0;
	if (strlen(r->uid) > SHOWN || !read_conditions(json_at(o, "status", "conditions"), r, a)) {
		err_note(e, ERR_CAPACITY, 0, "the ProvisioningRequest is larger than drover reads");
		return NULL;
	}
	read_sets(json_object_get(spec, "podSets"), r, a);
	read_parameters(json_object_get(spec, "parameters"), r, a);
	if (r->refused) {
		r->nsets = 0;
		r->pods = 0;
	}
	return r;
}

/* --- names ------------------------------------------------------------------------------------ */

const char *request_pod_name(struct arena *a, const char *request, size_t set, size_t number)
{
	return arena_printf(a, "%s:%zu:%zu", request, set, number);
}

bool request_of_pod(const char *pod, const char **request, struct arena *a)
{
	const char *end = strchr(pod, ':');

	if (end && request)
		*request = arena_strndup(a, pod, (size_t)(end - pod));
	return end != NULL;
}

/* --- conditions ------------------------------------------------------------------------------- */

enum request_phase request_phase(const struct request_object *o, int64_t now)
{
	const struct condition *p = condition_get(&o->conditions, "Provisioned");

	if (o->refused || condition_is_true(&o->conditions, "Failed") ||
	    condition_is_true(&o->conditions, "BookingExpired") ||
	    condition_is_true(&o->conditions, "CapacityRevoked"))
		return REQUEST_OVER;
	if (!p || p->status != CONDITION_TRUE)
		return REQUEST_WAITS;
	return now < p->last_transition_time + REQUEST_BOOKED_MS ? REQUEST_BOOKED : REQUEST_OVER;
}

int64_t request_due(const struct request_object *o)
{
	const struct condition *p = condition_get(&o->conditions, "Provisioned");

	switch (request_phase(o, 0)) { /* now 0: compute the phase from the conditions alone */
	case REQUEST_BOOKED:
		return p->last_transition_time + REQUEST_BOOKED_MS;
	case REQUEST_WAITS:
		return o->valid_s ? o->created + o->valid_s * 1000 : 0;
	case REQUEST_OVER:
		break;
	}
	return 0;
}

struct writing {
	const struct request_object *o;
	struct conditions *out;
	struct arena *a;
	int64_t now;
	bool changed;
};

static void set(struct writing *w, const char *type, bool is, const char *reason, const char *text)
{
	const struct condition c = {.type = type,
				    .status = is ? CONDITION_TRUE : CONDITION_FALSE,
				    .reason = reason,
				    .message = text,
				    .observed_generation = w->o->generation};

	w->changed |= condition_set(w->out, w->a, &c, w->now);
}

static void set_waits(struct writing *w, const struct request_result *said)
{
	const struct request_object *o = w->o;
	const bool check = o->class_ == REQUEST_CHECK,
		   late = o->valid_s && w->now >= o->created + o->valid_s * 1000;
	const char *reason = str_or(said->reason, "Expired"), *text = str_or(said->text, "");

	if (said->served)
		set(w, "Provisioned", true, check ? "CapacityIsFound" : "CapacityIsProvisioned",
		    arena_printf(w->a,
				 check && o->machines
					 ? "there is room for %lld pods on Nodes and free machines"
					 : "there is room for %lld pods on Nodes that are Ready",
				 (long long)o->pods));
	else if (late)
		set(w, "Failed", true, reason,
		    arena_printf(w->a, "not served within %lld s: %s", (long long)o->valid_s,
				 text));
	else if (said->reason &&
		 ((check && o->no_retry) || (o->class_ == REQUEST_ATOMIC && said->never)))
		set(w, "Failed", true, reason, text);
	else if (said->reason)
		set(w, "Provisioned", false, reason, text);
}

bool request_conditions(const struct request_object *o, const struct request_result *said,
			int64_t now, struct arena *a, struct conditions *out)
{
	struct writing w = {.o = o, .out = out, .a = a, .now = now};
	const int64_t due = request_due(o);

	out->n = o->conditions.n;
	out->v = arena_calloc(a, out->n + 4, sizeof(*out->v));
	if (out->n)
		memcpy(out->v, o->conditions.v, out->n * sizeof(*out->v));
	if (o->refused) {
		set(&w, "Failed", true, o->because, o->refused);
	} else if (request_phase(o, now) == REQUEST_WAITS) {
		set(&w, "Accepted", true, "Accepted",
		    "drover provides machines for it, or reports why not");
		set_waits(&w, said);
	} else if (request_phase(o, 0) == REQUEST_BOOKED && now >= due) {
		set(&w, "BookingExpired", true, "CapacityReservationTimeExpired",
		    "the reservation of its pod slots ended after 10 min");
	}
	return w.changed;
}
