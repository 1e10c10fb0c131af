/*
 * common: field tables that several kinds share, checks of names, URLs, requirements and TLS
 * settings, and the list of conditions.
 */
#include "api/common.h"

#include <string.h>
#include "base/address.h"
#include "base/str.h"
#include "api/tables.h"

bool object_is_digest(const char *s)
{
	return str_starts(s, "sha256:") && strlen(s) == 71 &&
	       strspn(s + 7, "0123456789abcdef") == 64;
}

/* True if s consists of `groups` groups, separated by colons, of `each` characters from
 * `digits`. */
static bool is_groups(const char *s, const char *digits, size_t groups, size_t each)
{
	for (size_t i = 0; i < groups; i++, s += each + 1)
		if (strspn(s, digits) != each || s[each] != (i + 1 < groups ? ':' : '\0'))
			return false;
	return true;
}

bool object_is_mac(const char *s)
{
	return is_groups(s, "0123456789abcdefABCDEF", 6, 2);
}

bool object_is_pci(const char *s)
{
	return is_groups(s, "0123456789abcdef", 2, 4);
}

static bool is_url(const char *s)
{
	size_t scheme = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+.-");

	return *s >= 'a' && *s <= 'z' && str_starts(s + scheme, "://") && s[scheme + 3] &&
	       !strpbrk(s, " \t\n\v\f\r");
}

bool object_is_https(const char *s)
{
	return str_starts(s, "https://") && is_url(s);
}

bool object_is_http(const char *s)
{
	return object_is_https(s) || (str_starts(s, "http://") && is_url(s));
}

/* True if s is the part of a URL after "://": a host with an optional port and path, without user,
 * query and fragment. */
static bool is_place(const char *s)
{
	size_t n = strcspn(s, "/?#@");

	return n && (!s[n] || s[n] == '/') && !strpbrk(s + n, "?#");
}

/* True if s, the text after "127.", continues an IPv4 address with an optional port. False if it
 * continues a host name, such as "127.example.com". */
static bool is_loopback(const char *s)
{
	const size_t n = strspn(s, "0123456789.");
	const size_t port = s[n] == ':' ? 1 + strspn(s + n + 1, "0123456789") : 0;

	return n && port != 1 && (!s[n + port] || s[n + port] == '/');
}

bool object_is_bmc(const char *s)
{
	static const char tls[] = "https://", here[] = "http://127.";

	if (!is_url(s))
		return false;
	if (str_starts(s, tls))
		return is_place(s + strlen(tls));
	if (str_starts(s, here))
		return is_loopback(s + strlen(here)) && is_place(s + strlen(here));
	return str_starts(s, "ipmi://") || str_starts(s, "libvirt://") || str_starts(s, "exec://");
}

#define DIGITS "0123456789"
#define OF_ADDRESS DIGITS "abcdefABCDEF.:"

/* True if s consists of one to `most` digits. */
static bool is_digits(const char *s, size_t most)
{
	size_t n = strspn(s, DIGITS);

	return n && n <= most && !s[n];
}

bool object_is_gate(const char *s)
{
	return s[0] == 'G' && s[1] >= '0' && s[1] <= '3' && !s[2];
}

/* True if s is a Kubernetes minor version such as 1.36. */
static bool is_minor(const char *s)
{
	return str_starts(s, "1.") && is_digits(s + 2, 3);
}

bool object_is_address(const char *s)
{
	return *s && !s[strspn(s, OF_ADDRESS)];
}

bool object_is_network(const char *s)
{
	size_t n = strspn(s, OF_ADDRESS);

	return n && s[n] == '/' && is_digits(s + n + 1, 3);
}

bool object_is_probe(const char *s)
{
	return *s && !s[strspn(s, OF_ADDRESS "[]")];
}

/* Splits at the last colon, because an IPv6 host contains colons too. */
bool object_is_host_port(const char *s)
{
	static const char of_host[] =
		DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:-[]";
	const char *colon = strrchr(s, ':');

	return colon && colon > s && is_digits(colon + 1, 5) && !s[strspn(s, of_host)];
}

bool object_is_currency(const char *s)
{
	return strlen(s) == 3 && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static const struct field owner_fields[] = {
	FIELD(object_owner, api_version, "apiVersion", FIELD_STR, .required = true),
	FIELD(object_owner, kind, "kind", FIELD_STR, .required = true),
	FIELD(object_owner, name, "name", FIELD_STR, .required = true),
	FIELD(object_owner, uid, "uid", FIELD_STR, .required = true),
	FIELD(object_owner, controller, "controller", FIELD_BOOL),
	FIELD(object_owner, block_owner_deletion, "blockOwnerDeletion", FIELD_BOOL),
	FIELDS_END,
};

/* Fields of metadata, for decoding only: no CRD schema contains them, because the API server
 * defines metadata. The length limits are at least those of the API server, so that no valid object
 * is refused. */
const struct field object_meta_fields[] = {
	FIELD(object_meta, name, "name", FIELD_STR, .required = true, .max_len = 253),
	FIELD(object_meta, namespace, "namespace", FIELD_STR, .max_len = 63),
	FIELD(object_meta, uid, "uid", FIELD_STR),
	FIELD(object_meta, resource_version, "resourceVersion", FIELD_STR),
	FIELD(object_meta, generation, "generation", FIELD_I64),
	FIELD(object_meta, creation_timestamp, "creationTimestamp", FIELD_TIME),
	FIELD(object_meta, deletion_timestamp, "deletionTimestamp", FIELD_TIME),
	FIELD(object_meta, labels, "labels", FIELD_MAP, .max_items = 4096),
	FIELD(object_meta, annotations, "annotations", FIELD_MAP, .max_items = 4096,
	      .max_len = 262144),
	FIELD(object_meta, finalizers, "finalizers", FIELD_STRINGS),
	FIELD_ITEMS(object_meta, owner_references, "ownerReferences", owner_fields),
	FIELDS_END,
};

const char *const condition_status_names[] = {"False", "True", "Unknown", NULL};

const struct field condition_fields[] = {
	FIELD(condition, type, "type", FIELD_STR, .required = true, .max_len = 316,
	      .doc = "Type of the condition."),
	FIELD(condition, status, "status", FIELD_ENUM, .enums = condition_status_names,
	      .required = true, .doc = "Whether the condition holds: True, False or Unknown."),
	FIELD(condition, reason, "reason", FIELD_STR,
	      .doc = "Reason code for the condition's status, one word from a fixed list."),
	FIELD(condition, message, "message", FIELD_STR, .max_len = 8192,
	      .doc = "Human-readable details of the status."),
	FIELD(condition, observed_generation, "observedGeneration", FIELD_I64, .min = 0,
	      .max = INT64_MAX,
	      .doc = "Value of the object's metadata.generation for which drover set the "
		     "condition."),
	FIELD(condition, last_transition_time, "lastTransitionTime", FIELD_TIME,
	      .doc = "Time at which the condition's field status last changed."),
	FIELDS_END,
};

const struct field object_name_ref_fields[] = {
	FIELD(object_name_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the referenced object."),
	FIELDS_END,
};

const struct field object_ref_fields[] = {
	FIELD(object_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the referenced object."),
	FIELD(object_ref, uid, "uid", FIELD_STR, .max_len = 64,
	      .doc = "UID of the referenced object. If set, a later object with the same name "
		     "does not match."),
	FIELDS_END,
};

/* Fields of a Secret reference without a namespace: the Secret must be in drover's namespace. */
const struct field object_local_secret_fields[] = {
	FIELD(object_secret_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of a Secret in the namespace in which drover runs."),
	FIELD(object_secret_ref, key, "key", FIELD_STR, .max_len = 253,
	      .doc = "Key of the CA certificate in the Secret's data. If not set, ca.crt. Has no "
		     "effect on a Secret with credentials, because the keys of credentials are "
		     "fixed."),
	FIELDS_END,
};

const char *const object_effect_names[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

const struct field object_taint_fields[] = {
	FIELD(object_taint, key, "key", FIELD_STR, .required = true, AS_QUALIFIED,
	      .doc = "Key of the taint."),
	FIELD(object_taint, value, "value", FIELD_STR, .max_len = 63, .doc = "Value of the taint."),
	FIELD(object_taint, effect, "effect", FIELD_ENUM, .enums = object_effect_names,
	      .required = true, .doc = "Effect of the taint on pods that do not tolerate it."),
	FIELDS_END,
};

/* --- schedules -------------------------------------------------------------------------------- */

/* Pattern of one field of a cron expression: a list of values, ranges and steps. value_: pattern of
 * one value. */
#define SCHEDULE_PART(value_) "([*?]|" value_ "(-" value_ ")?)(/0*[1-9][0-9]*)?"
#define SCHEDULE_FIELD(value_) SCHEDULE_PART(value_) "(," SCHEDULE_PART(value_) ")*"
#define SCHEDULE_MONTHS "(0*([1-9]|1[0-2])|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
#define SCHEDULE_WEEKDAYS "(0*[0-7]|sun|mon|tue|wed|thu|fri|sat)"
#define SPACE "[[:space:]]+"
#define SCHEDULE_SHAPE                                                                             \
	"^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[[:space:]]*" SCHEDULE_FIELD(   \
		"0*[0-5]?[0-9]") SPACE SCHEDULE_FIELD("0*([01]?[0-9]|2[0-3])")                     \
		SPACE SCHEDULE_FIELD("0*([1-9]|[12][0-9]|3[01])") SPACE                            \
		SCHEDULE_FIELD(SCHEDULE_MONTHS)                                                    \
	SPACE SCHEDULE_FIELD(SCHEDULE_WEEKDAYS) "[[:space:]]*)$"
/* SCHEDULE_NEVER(days_, months_): pattern of a schedule that never occurs, because none of its
 * months has one of its days, such as 30 February. */
#define SCHEDULE_LIST(value_) value_ "(," value_ ")*"
#define SCHEDULE_NEVER(days_, months_)                                                             \
	"^[[:space:]]*[^[:space:]]+" SPACE "[^[:space:]]+" SPACE SCHEDULE_LIST(days_)              \
	SPACE SCHEDULE_LIST(months_) SPACE "[*?](/0*1)?[[:space:]]*$"
#define SCHEDULE_NAMES                                                                             \
	".replace('sun','0').replace('mon','1').replace('tue','2').replace('wed','3')"             \
	".replace('thu','4').replace('fri','5').replace('sat','6').replace('jan','1')"             \
	".replace('feb','2').replace('mar','3').replace('apr','4').replace('may','5')"             \
	".replace('jun','6').replace('jul','7').replace('aug','8').replace('sep','9')"             \
	".replace('oct','10').replace('nov','11').replace('dec','12')"

/* CEL rules that refuse the same schedules as schedule_check(), so that the API server rejects them
 * at once. */
const struct field_rule object_schedule_rules[] = {
	{"self.lowerAscii().matches('" SCHEDULE_SHAPE "')",
	 "want five fields (minute hour day month weekday) such as 0 22 * * mon-fri, "
	 "or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually"},
	{"self.lowerAscii()" SCHEDULE_NAMES
	 ".replace('\\t',' ').replace('\\n',' ').replace(',',' ').replace('/',' ').split(' ')"
	 ".all(r, !r.matches('^[0-9]+-[0-9]+$') || int(r.split('-')[0]) <= int(r.split('-')[1]))",
	 "a range ends before it begins: write two, such as sat,sun or 22-23,0-6"},
	{"!self.lowerAscii().matches('" SCHEDULE_NEVER(
		 "0*3[01](-0*31)?",
		 "(0*2|feb)") "|" SCHEDULE_NEVER("0*31",
						 "(0*[2469]|0*11|feb|apr|jun|sep|nov)") "')",
	 "never comes: none of its months has such a day"},
	{NULL, NULL},
};

const char *const object_operator_names[] = {"In",  "NotIn", "Exists", "DoesNotExist", "Gt", "Lt",
					     "Gte", "Lte",   NULL};

const struct field object_requirement_fields[] = {
	FIELD(object_requirement, key, "key", FIELD_STR, .required = true, AS_QUALIFIED,
	      .doc = "Label key."),
	FIELD(object_requirement, operator, "operator", FIELD_ENUM, .enums = object_operator_names,
	      .required = true,
	      .doc = "How the label's value is compared with the entries in the field values."),
	FIELD(object_requirement, values, "values", FIELD_STRINGS, .max_items = 128, .max_len = 63,
	      .doc = "Values with which the label's value is compared. Gt, Lt, Gte and Lte need "
		     "exactly one whole number. Exists and DoesNotExist must have none."),
	FIELD_UNKEPT("minValues", FIELD_I64, .refused = true,
		     .doc = "Not supported yet: lowest number of different label values among "
			    "which drover must be able to choose."),
	FIELDS_END,
};

#define VALUES_RULES                                                                               \
	{"self.all(x, !(x.operator in ['In', 'NotIn']) || "                                        \
	 "(has(x.values) && size(x.values) > 0))",                                                 \
	 "operators In and NotIn need values"},                                                    \
		{"self.all(x, !(x.operator in ['Exists', 'DoesNotExist']) || "                     \
		 "!has(x.values) || size(x.values) == 0)",                                         \
		 "operators Exists and DoesNotExist take no values"},
const struct field_rule object_requirement_rules[] = {
	VALUES_RULES{"self.all(x, !(x.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || "
		     "(has(x.values) && size(x.values) == 1 && x.values[0].matches('^[0-9]+$')))",
		     "operators Gt, Lt, Gte and Lte need one whole number"},
	{NULL, NULL},
};

int object_requirements_check(const struct object_requirements *r, const char *path, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct object_requirement *q = &r->v[i];
		const char *name = object_operator_names[q->operator];
		int64_t n;

		switch ((enum object_operator)q->operator) {
		case OPERATOR_IN:
		case OPERATOR_NOT_IN:
			/* mutant: selector-empty */
			if (!q->values.n)
				return err_set(e, ERR_INVALID, 0,
					       "%s[%zu].values: operator %s needs values", path, i,
					       name);
			break;
		case OPERATOR_EXISTS:
		case OPERATOR_DOES_NOT_EXIST:
			if (q->values.n)
				return err_set(e, ERR_INVALID, 0,
					       "%s[%zu].values: operator %s takes no values", path,
					       i, name);
			break;
		case OPERATOR_GT:
		case OPERATOR_LT:
		case OPERATOR_GTE:
		case OPERATOR_LTE:
			if (q->values.n != 1 || !str_to_i64(q->values.v[0], 0, INT64_MAX, &n))
				return err_set(e, ERR_INVALID, 0,
					       "%s[%zu].values: operator %s needs one whole number",
					       path, i, name);
			break;
		}
	}
	return 0;
}

/* Operators of a label selector: the first four of object_operator_names, so that an index means
 * the same operator in both lists. */
static const char *const selector_operator_names[] = {"In", "NotIn", "Exists", "DoesNotExist",
						      NULL};

static const struct field selector_requirement_fields[] = {
	FIELD(object_requirement, key, "key", FIELD_STR, .required = true, AS_QUALIFIED,
	      .doc = "Label key."),
	FIELD(object_requirement, operator, "operator", FIELD_ENUM,
	      .enums = selector_operator_names, .required = true,
	      .doc = "How the label's value is compared with the entries in the field values."),
	FIELD(object_requirement, values, "values", FIELD_STRINGS, .max_items = 64, .max_len = 63,
	      .doc = "Values with which the label's value is compared. Must be empty for Exists "
		     "and DoesNotExist."),
	FIELDS_END,
};

static const struct field_rule selector_rules[] = {VALUES_RULES{NULL, NULL}};
const struct field object_selector_fields[] = {
	FIELD(object_label_selector, match_labels, "matchLabels", FIELD_MAP, .max_items = 32,
	      .max_len = 63, .doc = "Labels that must be present with exactly these values."),
	FIELD_ITEMS(object_label_selector, match_expressions, "matchExpressions",
		    selector_requirement_fields, .max_items = 32, .rules = selector_rules,
		    .doc = "Requirements that must all hold."),
	FIELDS_END,
};

int object_selector_check(const struct object_label_selector *s, const char *path, struct err *e)
{
	struct object_requirements r = {0};

	if (!s)
		return 0;
	r.v = s->match_expressions.v;
	r.n = s->match_expressions.n;
	return object_requirements_check(&r, path, e);
}

_Static_assert((int)OPERATOR_LTE == (int)SELECTOR_LTE && (int)OPERATOR_GT == (int)SELECTOR_GT &&
		       (int)OPERATOR_IN == (int)SELECTOR_IN,
	       "operators are numbered alike");

struct selector object_selector(const struct object_label_selector *s, struct arena *a)
{
	struct selector out = {0};

	if (!s)
		return out;
	out.v = arena_calloc(a, s->match_labels.n + s->match_expressions.n, sizeof(*out.v));
	for (size_t i = 0; i < s->match_labels.n; i++) {
		const struct label *l = &s->match_labels.v[i];
		const char **values = arena_calloc(a, 1, sizeof(*values));

		values[0] = l->value;
		out.v[out.n++] = (struct requirement){
			.key = l->key, .op = SELECTOR_IN, .values = values, .nvalues = 1};
	}
	for (size_t i = 0; i < s->match_expressions.n; i++) {
		const struct object_requirement *r = &s->match_expressions.v[i];

		out.v[out.n++] = (struct requirement){
			.key = r->key,
			.op = (enum selector_op)r->operator,
			.values = r->values.v,
			.nvalues = r->values.n,
		};
	}
	return out;
}

const char *const object_interconnect_names[] = {"None", "Infiniband", "Efa", NULL};

const char *const object_image_format_names[] = {"raw", "raw+zstd", NULL};

const struct field object_image_fields[] = {
	FIELD(object_image, kubernetes_version, "kubernetesVersion", FIELD_STR, .required = true,
	      .max_len = 8, .pattern = "^1[.][0-9]{1,3}$", .valid = is_minor,
	      .want = "a minor version such as \"1.36\"",
	      .doc = "Kubernetes minor version of the kubelet in the image, such as \"1.36\"."),
	FIELD(object_image, url, "url", FIELD_STR, AS_HTTP,
	      .doc = "URL from which the agent downloads the image. Must be set together with "
		     "the field digest; both may be left out if the field category is set."),
	FIELD(object_image, format, "format", FIELD_ENUM, .enums = object_image_format_names,
	      .def = "\"raw+zstd\"",
	      .doc = "Format of the downloaded bytes: a raw disk image, plain or compressed with "
		     "zstd."),
	FIELD(object_image, digest, "digest", FIELD_STR, AS_DIGEST,
	      .doc = "SHA-256 digest of the file at the URL in the field url, as downloaded and "
		     "before any decompression."),
	FIELD(object_image, category, "category", FIELD_STR, .max_len = 63,
	      .doc = "Name of the BCM category in which machines are installed. Only for "
		     "machines of a Provider of type bcm."),
	FIELD(object_image, software_image, "softwareImage", FIELD_STR, .max_len = 63,
	      .doc = "Name of the BCM software image that is installed instead of the category's "
		     "software image. The field category must be set too."),
	FIELDS_END,
};

int object_image_check(const struct object_image *i, const char *path, struct err *e)
{
	if (!i->url != !i->digest)
		return err_set(e, ERR_INVALID, 0, "%s: url and digest must be set together", path);
	if (!i->url && !i->category)
		return err_set(e, ERR_INVALID, 0, "%s: want url and digest, or category", path);
	if (i->software_image && !i->category)
		return err_set(e, ERR_INVALID, 0, "%s.softwareImage: requires category", path);
	return 0;
}

const struct field object_kubelet_fields[] = {
	FIELD(object_kubelet, max_pods, "maxPods", FIELD_I64, .min = 1, .max = 1000,
	      .doc = "Highest number of pods on the node. If not set, the kubelet's default "
		     "applies."),
	FIELD(object_kubelet, system_reserved, "systemReserved", FIELD_RESOURCES, .max_items = 16,
	      .doc = "Resources that the kubelet reserves for the operating system."),
	FIELD(object_kubelet, kube_reserved, "kubeReserved", FIELD_RESOURCES, .max_items = 16,
	      .doc = "Resources that the kubelet reserves for itself and the container runtime."),
	FIELDS_END,
};

const char *const object_isolation_names[] = {"Required", "NotRequired", NULL};

const struct field object_node_network_fields[] = {
	FIELD(object_node_network, isolation, "isolation", FIELD_ENUM,
	      .enums = object_isolation_names, .def = "\"Required\"",
	      .doc = "Whether the machine's network must be isolated from other tenants. "
		     "NotRequired also allows Providers with spec.network.type none, which isolate "
		     "no machine."),
	FIELDS_END,
};

#define DEADLINE(member_, def_, doc_)                                                              \
	FIELD(object_deadlines, member_, #member_, FIELD_DURATION, .min = MINUTE, .max = DAY,      \
	      .def = (def_), .doc = (doc_))
const struct field object_deadlines_fields[] = {
	DEADLINE(imaging, "\"30m\"", "Longest time for writing the image to the machine's disk."),
	DEADLINE(booting, "\"30m\"",
		 "Longest time from power-on until the Node appears in the tenant's cluster. For "
		 "a cloud instance, this time ends when the cloud reports the instance as "
		 "running."),
	DEADLINE(joining, "\"10m\"",
		 "Longest time from the end of booting until drover has verified that the Node is "
		 "this machine. For a cloud instance, this time includes the wait until the Node "
		 "appears. The node's bootstrap token is valid for spec.deadlines.booting plus "
		 "spec.deadlines.joining plus 5 minutes (for a cloud instance: plus 45 minutes)."),
	DEADLINE(gating, "\"15m\"",
		 "Longest time, counted from the end of joining, until the node has passed the "
		 "checks in the field gate."),
	FIELD(object_deadlines, not_ready, "notReady", FIELD_DURATION, .never = true, .min = MINUTE,
	      .max = 31 * DAY, .def = "\"30m\"",
	      .doc = "Longest time that a serving Node may be NotReady or missing before its "
		     "machine is released. Never: drover releases no machine because its Node is "
		     "NotReady or missing."),
	FIELDS_END,
};

const struct field object_checkpoint_fields[] = {
	FIELD(object_checkpoint, url, "url", FIELD_STR, .required = true, AS_HTTPS,
	      .doc = "https URL that drover calls before it evicts pods, so that work can be "
		     "saved (docs/drain.md)."),
	FIELD_PTR(object_checkpoint, ca_secret_ref, "caSecretRef", object_local_secret_fields,
		  .doc = "Secret with the CA certificate for the server in checkpoint.url. The "
			 "certificate is under the Secret's key caSecretRef.key (default: ca.crt). "
			 "Without caSecretRef, the system's CAs are trusted."),
	FIELD(object_checkpoint, timeout, "timeout", FIELD_DURATION, .min = SECOND, .max = DAY,
	      .def = "\"5m\"",
	      .doc = "Longest time that drover waits until the called service reports that the "
		     "work is saved. Afterwards drover evicts the pods."),
	FIELDS_END,
};

/* Wipe levels that a minimum may name, at the same indices as in wipe_level_names. The entry of the
 * lowest level, Fail, is "", because Fail is no valid minimum. */
const char *const object_minimum_level_names[] = {"", "Clear", "Purge", NULL};

struct minimum_level {
	int flash, hdd;
};
_Static_assert(sizeof(struct minimum_level) ==
		       sizeof(((struct object_wipe_floor *)0)->minimum_level),
	       "the table below is for the member of struct object_wipe_floor");

const struct field object_minimum_level_fields[] = {
	FIELD(minimum_level, flash, "flash", FIELD_ENUM, .enums = object_minimum_level_names,
	      .def = "\"Purge\"",
	      .doc = "Lowest level accepted for flash drives. Purge is stricter than Clear."),
	FIELD(minimum_level, hdd, "hdd", FIELD_ENUM, .enums = object_minimum_level_names,
	      .def = "\"Clear\"", .doc = "Lowest level accepted for rotating drives."),
	FIELDS_END,
};

const struct field object_wipe_floor_fields[] = {
	FIELD_OBJ(object_wipe_floor, minimum_level, "minimumLevel", object_minimum_level_fields,
		  .def = "{}",
		  .doc = "Lowest level of NIST SP 800-88 that the last wipe must have reached on "
			 "each drive."),
	FIELD(object_wipe_floor, minimum_trust, "minimumTrust", FIELD_ENUM,
	      .enums = wipe_trust_names, .def = "\"BootNetwork\"",
	      .doc = "Lowest trust level that the agent (the program that wipes machines) must "
		     "have had at the last wipe. BootNetwork: the agent connected over the "
		     "provisioning network, and no hardware measured its boot. SecureBoot and "
		     "Quote: no agent of this version reaches these levels, so no machine is "
		     "accepted."),
	FIELD(object_wipe_floor, must_cover, "mustCover", FIELD_STRINGS,
	      .enums = statement_part_names, .max_items = STATEMENT_PARTS,
	      .doc = "Parts of the machine, besides its drives, that the last wipe must have "
		     "covered."),
	FIELDS_END,
};

const struct field object_tls_fields[] = {
	FIELD(object_tls, fingerprint, "fingerprint", FIELD_STR, AS_DIGEST,
	      .doc = "SHA-256 digest of the server certificate."),
	FIELD_PTR(
		object_tls, ca_secret_ref, "caSecretRef", object_local_secret_fields,
		.doc = "Secret with the CA certificate. The certificate is under the Secret's key "
		       "caSecretRef.key (default: ca.crt)."),
	FIELD(object_tls, trust_on_first_use, "trustOnFirstUse", FIELD_BOOL,
	      .doc = "Whether drover accepts and pins the first certificate that the server "
		     "presents. From then on, drover refuses any other certificate."),
	FIELDS_END,
};

const struct field_rule object_tls_rules[] = {
	{"(has(self.fingerprint) ? 1 : 0) + (has(self.caSecretRef) ? 1 : 0) + "
	 "(has(self.trustOnFirstUse) && self.trustOnFirstUse ? 1 : 0) == 1",
	 "want exactly one of fingerprint, caSecretRef and trustOnFirstUse"},
	{NULL, NULL},
};

int object_probes_check(const struct strings *s, const char *field, struct err *e)
{
	char host[ADDRESS_TEXT];
	uint16_t port;

	for (size_t i = 0; i < s->n; i++)
		if (!address_service(s->v[i], host, &port))
			return err_set(
				e, ERR_INVALID, 0,
				"%s[%zu]: want an address such as 10.20.0.1 or 10.20.0.10:6443, "
				"got \"%s\"",
				field, i, s->v[i]);
	return 0;
}

int object_tls_check(const struct object_tls *t, bool needed, const char *path, struct err *e)
{
	int n = !!t->fingerprint + !!t->ca_secret_ref + t->trust_on_first_use;

	if (n == 1 || (n == 0 && !needed))
		return 0;
	return err_set(
		e, ERR_INVALID, 0,
		"%s: want exactly one of fingerprint, caSecretRef and trustOnFirstUse, got %d",
		path, n);
}

const struct field object_drive_fields[] = {
	FIELD(object_drive, wwn, "wwn", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "World-wide name of the drive, or EUI-64 or NGUID of an NVMe namespace."),
	FIELD(object_drive, type, "type", FIELD_STR, .max_len = 16,
	      .doc = "Type of the drive, such as NVMe, SATA or SAS."),
	FIELD(object_drive, model, "model", FIELD_STR, .max_len = 128,
	      .doc = "Model, as reported by the drive."),
	FIELD(object_drive, serial_number, "serialNumber", FIELD_STR, .max_len = 128,
	      .doc = "Serial number, as reported by the drive."),
	FIELD(object_drive, slot, "slot", FIELD_STR, .max_len = 64,
	      .doc = "Location at which the drive was seen, for human readers, such as \"bay "
		     "5\", \"slot 12\", \"pci 0000:3b:00.0\" or \"ata3\"."),
	FIELD(object_drive, bytes, "bytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Capacity in bytes."),
	FIELDS_END,
};

int object_name_check(const struct object_meta *m, size_t max, struct err *e)
{
	if (strlen(m->name) > max || !str_is_dns_label(m->name))
		return err_set(e, ERR_INVALID, 0,
			       "metadata.name: want a DNS label of at most %zu bytes, got \"%s\"",
			       max, m->name);
	return 0;
}

int object_same(const struct field *f, const void *a, const void *b, const char *path,
		struct err *e)
{
	OWN_JSON x = fields_encode(f, a);
	OWN_JSON y = fields_encode(f, b);

	return json_equal(x, y) ? 0 : err_set(e, ERR_INVALID, 0, "%s: is immutable", path);
}

/* --- conditions ------------------------------------------------------------------------------- */

const struct condition *condition_get(const struct conditions *c, const char *type)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].type, type))
			return &c->v[i];
	return NULL;
}

bool condition_is_true(const struct conditions *c, const char *type)
{
	const struct condition *found = condition_get(c, type);

	return found && found->status == CONDITION_TRUE;
}

bool condition_set(struct conditions *c, struct arena *a, const struct condition *want, int64_t now)
{
	struct condition *old = (struct condition *)condition_get(c, want->type);
	bool turned = !old || old->status != want->status;
	/* Compare NULL and "" as equal: an empty string is omitted when encoded, and decodes as
	 * NULL. */
	bool changed = turned || !str_eq(str_or(old->reason, ""), str_or(want->reason, "")) ||
		       !str_eq(str_or(old->message, ""), str_or(want->message, ""));

	if (!old) {
		struct condition *v = arena_calloc(a, c->n + 1, sizeof(*v));

		if (c->n)
			memcpy(v, c->v, c->n * sizeof(*v));
		c->v = v;
		old = &v[c->n++];
	}
	if (changed) {
		old->type = arena_strdup(a, want->type);
		old->status = want->status;
		old->reason = arena_strdup(a, want->reason);
		old->message = arena_strdup(a, want->message);
	}
	if (turned)
		old->last_transition_time = now;
	old->observed_generation = want->observed_generation;
	return changed;
}

bool condition_set_stalled(struct conditions *c, struct arena *a, const struct condition *because,
			   int64_t generation, int64_t now)
{
	const struct condition want = {.type = CONDITION_STALLED,
				       .status = because ? CONDITION_TRUE : CONDITION_FALSE,
				       .reason = because ? because->reason : "NotStalled",
				       .message = because ? because->message : "",
				       .observed_generation = generation};

	if (!because && !condition_get(c, CONDITION_STALLED))
		return false;
	return condition_set(c, a, &want, now);
}
