#include "controller/tenant/device_objects.h"

#include <string.h>

#include "base/data/json.h"
#include "base/data/quantity.h"
#include "base/str.h"
#include "controller/tenant/pod_topology.h"
#include "kube/want.h"

#define ITEMS_MAX 256
#define NAME_MAX_BYTES 253
#define CHANNEL_CONFIG "ComputeDomainChannelConfig"

/* --- members that are read -------------------------------------------------------------------- */

#define LIST(name, some) SCAN_SOME_OF(name, some, DEVICE_LIST_BYTES + 1)

static const struct scan_want nothing[] = {SCAN_END};
static const struct scan_want meta[] = {KUBE_WANT_META, SCAN_PLAIN("deletionTimestamp"), SCAN_END};

static const struct scan_want cel[] = {SCAN_PLAIN("expression"), SCAN_END};
static const struct scan_want selector[] = {SCAN_SOME("cel", cel), SCAN_END};
#define REQUEST                                                                                    \
	SCAN_PLAIN("deviceClassName"), SCAN_PLAIN("allocationMode"), SCAN_PLAIN("count"),          \
		SCAN_PLAIN("adminAccess"), SCAN_SOME("selectors", selector),                       \
		SCAN_SOME("capacity", nothing)
static const struct scan_want exactly[] = {REQUEST, SCAN_END};
static const struct scan_want request[] = {SCAN_PLAIN("name"), SCAN_SOME("exactly", exactly),
					   SCAN_SOME("firstAvailable", nothing), REQUEST, SCAN_END};
static const struct scan_want constraint[] = {SCAN_PLAIN("matchAttribute"),
					      SCAN_PLAIN("distinctAttribute"), SCAN_END};
static const struct scan_want parameters[] = {SCAN_PLAIN("kind"), SCAN_PLAIN("domainID"), SCAN_END};
static const struct scan_want opaque[] = {SCAN_PLAIN("driver"), SCAN_SOME("parameters", parameters),
					  SCAN_END};
static const struct scan_want config[] = {SCAN_SOME("opaque", opaque), SCAN_END};
static const struct scan_want devices[] = {LIST("requests", request),
					   LIST("constraints", constraint), LIST("config", config),
					   SCAN_END};

static const struct scan_want result[] = {SCAN_PLAIN("driver"), SCAN_PLAIN("pool"),
					  SCAN_PLAIN("device"), SCAN_PLAIN("adminAccess"),
					  SCAN_END};
static const struct scan_want results[] = {LIST("results", result), SCAN_END};
static const struct scan_want allocation[] = {
	SCAN_SOME("devices", results), SCAN_ALL("nodeSelector", DEVICE_LIST_BYTES + 1), SCAN_END};
static const struct scan_want reserved[] = {SCAN_PLAIN("uid"), SCAN_END};
static const struct scan_want claim_status[] = {SCAN_SOME("allocation", allocation),
						LIST("reservedFor", reserved), SCAN_END};
static const struct scan_want claim_spec[] = {SCAN_SOME("devices", devices), SCAN_END};
const struct scan_want device_want_claim[] = {SCAN_SOME("metadata", meta),
					      SCAN_SOME("spec", claim_spec),
					      SCAN_SOME("status", claim_status), SCAN_END};

static const struct scan_want template_spec[] = {SCAN_SOME("spec", claim_spec), SCAN_END};
const struct scan_want device_want_template[] = {SCAN_SOME("metadata", meta),
						 SCAN_SOME("spec", template_spec), SCAN_END};

static const struct scan_want class_spec[] = {LIST("selectors", selector),
					      SCAN_PLAIN("extendedResourceName"), SCAN_END};
const struct scan_want device_want_class[] = {SCAN_SOME("metadata", meta),
					      SCAN_SOME("spec", class_spec), SCAN_END};

static const struct scan_want text_value[] = {SCAN_PLAIN("string"), SCAN_END};
static const struct scan_want amount_value[] = {SCAN_PLAIN("value"), SCAN_END};
static const struct scan_want attributes[] = {SCAN_SOME("type", text_value),
					      SCAN_SOME("productName", text_value),
					      SCAN_SOME("architecture", text_value), SCAN_END};
static const struct scan_want capacities[] = {SCAN_SOME("memory", amount_value), SCAN_END};
#define DEVICE                                                                                     \
	SCAN_SOME("attributes", attributes), SCAN_SOME("capacity", capacities),                    \
		SCAN_SOME("taints", nothing)
/* Members of a device that v1beta1 nests in `basic`. */
static const struct scan_want basic[] = {DEVICE, SCAN_END};
static const struct scan_want device[] = {SCAN_PLAIN("name"), SCAN_SOME("basic", basic), DEVICE,
					  SCAN_END};
static const struct scan_want pool[] = {SCAN_PLAIN("name"), SCAN_PLAIN("generation"),
					SCAN_PLAIN("resourceSliceCount"), SCAN_END};
static const struct scan_want slice_spec[] = {SCAN_PLAIN("driver"), SCAN_PLAIN("nodeName"),
					      SCAN_SOME("pool", pool), LIST("devices", device),
					      SCAN_END};
const struct scan_want device_want_slice[] = {SCAN_SOME("metadata", meta),
					      SCAN_SOME("spec", slice_spec), SCAN_END};

/* --- requests --------------------------------------------------------------------------------- */

#define SAY(...) arena_printf(a, __VA_ARGS__)

/* Returns the name in member `key`, in the arena; NULL: missing, empty or too long. */
static const char *name_at(const json_t *o, const char *key, struct arena *a)
{
	const char *s = json_str_at(o, key);

	return str_empty(s) || strlen(s) > NAME_MAX_BYTES ? NULL : arena_strdup(a, s);
}

static const char **selectors_of(const json_t *list, size_t *n, struct arena *a)
{
	const char **v = arena_calloc(a, json_array_size(list) + 1, sizeof(*v));
	json_t *s;
	size_t i;

	json_array_foreach (list, i, s)
		v[(*n)++] = arena_strdup(a, str_or(json_str_at(s, "cel", "expression"), ""));
	return v;
}

static struct device_request request_of(const json_t *o, struct arena *a)
{
	const json_t *q = json_object_get(o, "exactly") ? json_object_get(o, "exactly") : o,
		     *count = json_object_get(q, "count");
	const char *mode = json_str_at(q, "allocationMode");
	struct device_request r = {.name = str_or(name_at(o, "name", a), ""),
				   .class_ = name_at(q, "deviceClassName", a),
				   .count = count ? json_integer_value(count) : 1};

	r.cel = selectors_of(json_object_get(q, "selectors"), &r.ncel, a);
	if (json_array_size(json_object_get(o, "firstAvailable")))
		r.unjudged = "firstAvailable";
	else if (json_true_at(q, "adminAccess"))
		r.unjudged = "adminAccess";
	else if (mode && !str_eq(mode, "ExactCount"))
		r.unjudged = SAY("allocationMode %.40s", mode);
	else if (json_object_get(q, "capacity"))
		r.unjudged = "a part of a device (capacity)";
	else if (!r.class_)
		r.unjudged = "no deviceClassName";
	else if (r.count < 1 || r.count > DEVICE_COUNT_MAX)
		r.unjudged = SAY("a count outside 1 to %d", DEVICE_COUNT_MAX);
	return r;
}

/* True if all GPUs of a Node have the same value of this attribute. */
static bool is_of_every_gpu(const char *attribute)
{
	static const char *const same[] = {"productName", "architecture", "type", "driverVersion",
					   "cudaDriverVersion"};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (str_starts(attribute, DEVICE_GPU_DRIVER "/") &&
		    str_eq(attribute + strlen(DEVICE_GPU_DRIVER "/"), same[i]))
			return true;
	return false;
}

/* Returns the first constraint that drover does not support; NULL: none. A request for a single
 * device satisfies any constraint. */
static const char *constraints_of(const json_t *list, const struct device_asks *asks,
				  struct arena *a)
{
	json_t *c;
	size_t i;

	if (asks->n == 1 && asks->v[0].count == 1)
		return NULL;
	json_array_foreach (list, i, c) {
		const char *match = json_str_at(c, "matchAttribute");

		if (!match || !is_of_every_gpu(match))
			return SAY("constraint on %.100s",
				   str_or(match, str_or(json_str_at(c, "distinctAttribute"),
							"something else")));
	}
	return NULL;
}

static struct device_asks asks_of(const json_t *spec, struct arena *a)
{
	const json_t *d = json_object_get(spec, "devices"), *list = json_object_get(d, "requests"),
		     *limits = json_object_get(d, "constraints"),
		     *settings = json_object_get(d, "config");
	struct device_asks asks = {.n = 0};
	json_t *o;
	size_t i;

	if (scan_weight(list) > DEVICE_LIST_BYTES || scan_weight(limits) > DEVICE_LIST_BYTES ||
	    scan_weight(settings) > DEVICE_LIST_BYTES || json_array_size(list) > ITEMS_MAX) {
		asks.unjudged =
			"a list of requests, constraints or configurations that is too long";
		return asks;
	}
	asks.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*asks.v));
	json_array_foreach (list, i, o)
		asks.v[asks.n++] = request_of(o, a);
	asks.unjudged = constraints_of(limits, &asks, a);
	json_array_foreach (settings, i, o) {
		const json_t *p = json_at(o, "opaque", "parameters");

		if (str_eq(json_str_at(o, "opaque", "driver"), DEVICE_CHANNEL_DRIVER) &&
		    str_eq(json_str_at(p, "kind"), CHANNEL_CONFIG))
			asks.domain = name_at(p, "domainID", a);
	}
	return asks;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Reads an allocation's nodeSelector into *out. kube-scheduler writes none, or one term that names
 * the Node. Returns NULL, or the part that drover does not support. */
static const char *place_of(const json_t *place, struct selector *out, struct arena *a)
{
	const json_t *terms = json_object_get(place, "nodeSelectorTerms"),
		     *term = json_array_get(terms, 0);
	struct selector names = {0};

	if (!place)
		return NULL;
	if (scan_weight(place) > DEVICE_LIST_BYTES || json_array_size(terms) != 1)
		return "a nodeSelector without exactly one term";
	if (!demand_requirements(json_object_get(term, "matchExpressions"), ITEMS_MAX, out, a) ||
	    !demand_requirements(json_object_get(term, "matchFields"), 0, &names, a))
		return "a nodeSelector that cannot be read";
	for (size_t i = 0; i < names.n; i++) {
		if (!str_eq(names.v[i].key, "metadata.name"))
			return "a nodeSelector on a field other than metadata.name";
		names.v[i].key = WORLD_NODE_NAME;
		out->v[out->n++] = names.v[i];
	}
	return NULL;
}

void *device_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *got = json_at(o, "status", "allocation"),
		     *list = json_at(got, "devices", "results"),
		     *users = json_at(o, "status", "reservedFor");
	struct device_claim *c = arena_new_obj(a, struct device_claim);
	json_t *r;
	size_t i;

	(void)arg;
	(void)e;
	c->asks = asks_of(json_object_get(o, "spec"), a);
	c->deleting = json_at(o, "metadata", "deletionTimestamp") != NULL;
	c->allocated = got != NULL;
	c->first = name_at(json_array_get(users, 0), "uid", a);
	c->elsewhere = place_of(json_object_get(got, "nodeSelector"), &c->node, a);
	c->results = arena_calloc(a, json_array_size(list) + 1, sizeof(*c->results));
	json_array_foreach (list, i, r)
		if (!json_true_at(r, "adminAccess"))
			c->results[c->nresults++] = (struct device_result){name_at(r, "driver", a),
									   name_at(r, "pool", a),
									   name_at(r, "device", a)};
	return c;
}

void *device_project_template(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	struct device_template *t = arena_new_obj(a, struct device_template);

	(void)arg;
	(void)e;
	t->asks = asks_of(json_at(o, "spec", "spec"), a);
	return t;
}

void *device_project_class(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *list = json_at(o, "spec", "selectors");
	struct device_class *c = arena_new_obj(a, struct device_class);

	(void)arg;
	(void)e;
	c->extended = name_at(json_object_get(o, "spec"), "extendedResourceName", a);
	c->unreadable = scan_weight(list) > DEVICE_LIST_BYTES;
	if (!c->unreadable)
		c->cel = selectors_of(list, &c->ncel, a);
	return c;
}

static void add_label(struct labels *l, const char *key, const char *value)
{
	if (value && str_is_label_value(value))
		l->v[l->n++] = (struct label){key, value};
}

/* Returns the labels that GPU feature discovery writes for device d, sorted by key. */
static struct labels labels_of(const json_t *d, struct arena *a)
{
	const char *family = json_str_at(d, "attributes", "architecture", "string"),
		   *product = json_str_at(d, "attributes", "productName", "string"),
		   *memory = json_str_at(d, "capacity", "memory", "value");
	struct labels l = {.v = arena_calloc(a, 3, sizeof(*l.v))};
	struct quantity q;
	struct err e;

	add_label(&l, DEVICE_LABEL_FAMILY, family ? device_label_family(family, a) : NULL);
	if (memory && quantity_parse(memory, &q, &e) == 0 && q.nano > 0)
		add_label(&l, DEVICE_LABEL_MEMORY,
			  SAY("%lld", (long long)(quantity_floor(q) >> 20)));
	add_label(&l, DEVICE_LABEL_PRODUCT, product ? device_label_product(product, a) : NULL);
	return l;
}

void *device_project_slice(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *spec = json_object_get(o, "spec"), *list = json_object_get(spec, "devices");
	struct device_slice *s = arena_new_obj(a, struct device_slice);
	json_t *d;
	size_t i;

	(void)arg;
	(void)e;
	s->driver = name_at(spec, "driver", a);
	s->pool = name_at(json_object_get(spec, "pool"), "name", a);
	s->node = name_at(spec, "nodeName", a);
	s->generation = json_int_at(spec, "pool", "generation");
	s->slices = json_int_at(spec, "pool", "resourceSliceCount");
	if (!str_eq(s->driver, DEVICE_GPU_DRIVER) || scan_weight(list) > DEVICE_LIST_BYTES)
		return s;
	s->whole = arena_calloc(a, json_array_size(list) + 1, sizeof(*s->whole));
	json_array_foreach (list, i, d) {
		const json_t *it = json_object_get(d, "basic") ? json_object_get(d, "basic") : d;
		const char *name = name_at(d, "name", a);

		if (!name || !str_eq(json_str_at(it, "attributes", "type", "string"), "gpu") ||
		    json_array_size(json_object_get(it, "taints")))
			continue;
		if (!s->nwhole)
			s->labels = labels_of(it, a);
		s->whole[s->nwhole++] = name;
	}
	return s;
}

/* --- evaluation of a claim -------------------------------------------------------------------- */

/* Adds n CEL selectors to *w. Returns false if a part is not supported; *unjudged then names it.
 * whose: names the owner of the selectors, for that text. */
static bool selects(const char *const *v, size_t n, const char *whose, enum device_kind kind,
		    struct device_wish *w, const char **unjudged, struct arena *a)
{
	for (size_t i = 0; i < n; i++) {
		const char *why = device_cel(v[i], kind, w, a);

		if (why) {
			*unjudged = SAY("%s, CEL selector: %s", whose, why);
			return false;
		}
	}
	return true;
}

/* True if only devices of `kind` can satisfy the request. False: other devices can satisfy it, or
 * *unjudged names a part that is not supported. */
static bool means(const struct device_request *r, const struct device_class *k,
		  enum device_kind kind, struct device_wish *w, const char **unjudged,
		  struct arena *a)
{
	*w = (struct device_wish){.never = false};
	*unjudged = NULL;
	if (!selects(k->cel, k->ncel, SAY("DeviceClass %s", r->class_), kind, w, unjudged, a) ||
	    w->never)
		return false;
	if (!selects(r->cel, r->ncel, SAY("request %s", r->name), kind, w, unjudged, a))
		return false;
	return w->pinned && !w->never;
}

static void add_wish(struct selector *to, const struct selector *more, struct arena *a)
{
	struct requirement *v = arena_calloc(a, to->n + more->n + 1, sizeof(*v));

	for (size_t i = 0; i < to->n; i++)
		v[i] = to->v[i];
	for (size_t i = 0; i < more->n; i++)
		v[to->n++] = more->v[i];
	to->v = v;
}

static bool add_request(const struct device_request *r, const struct device_class *k,
			struct device_answer *out, struct device_refusal *no, struct arena *a)
{
	const char *of_gpu, *of_channel;
	struct device_wish w;

	if (means(r, k, DEVICE_GPU, &w, &of_gpu, a)) {
		out->gpus += r->count;
		add_wish(&out->node, &w.node, a);
		return true;
	}
	if (means(r, k, DEVICE_CHANNEL, &w, &of_channel, a) && r->count == 1) {
		out->channel = true;
		return true;
	}
	no->unjudged = of_gpu ? of_gpu
			      : SAY("request %s of DeviceClass %s, which selects devices other "
				    "than whole GPUs of driver " DEVICE_GPU_DRIVER ",",
				    r->name, r->class_);
	return false;
}

bool device_judge(const struct device_asks *asks,
		  const struct device_class *(*class_)(const char *name, void *arg), void *arg,
		  struct device_answer *out, struct device_refusal *no, struct arena *a)
{
	*no = (struct device_refusal){.unjudged = asks->unjudged};
	*out = (struct device_answer){.gpus = 0};
	if (asks->unjudged)
		return false;
	for (size_t i = 0; i < asks->n; i++) {
		const struct device_request *r = &asks->v[i];
		const struct device_class *k = r->class_ ? class_(r->class_, arg) : NULL;

		if (r->unjudged)
			no->unjudged = SAY("request %s: %s", r->name, r->unjudged);
		else if (!k)
			no->wait = SAY("DeviceClass %s does not exist", r->class_);
		else if (k->unreadable)
			no->unjudged =
				SAY("DeviceClass %s, whose selectors are longer than %zu KiB,",
				    r->class_, DEVICE_LIST_BYTES >> 10);
		else
			(void)add_request(r, k, out, no, a);
		if (no->unjudged || no->wait)
			return false;
	}
	return true;
}
