/*
 * client: options, kubeconfig, connection and blocking calls. Separate from the commands, so that
 * tests can call the commands on a simulated loop.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "api/annotations.h"
#include "api/resources.h"
#include "base/buf.h"
#include "base/http/http_curl.h"
#include "base/loop/loop.h"
#include "base/loop/loop_uv.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "kube/client.h"
#include "kube/config.h"

error_t cli_option(int key, char *arg, struct argp_state *st, struct cli_options *o)
{
	switch (key) {
	case 'k':
		o->kubeconfig = arg;
		return 0;
	case CLI_CONTEXT:
		o->context = arg;
		return 0;
	case 'o':
		if (!str_eq(arg, "json"))
			argp_error(st, "--output: want json, got '%s'", arg);
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool cli_moves_cursor(const struct cli_client *c)
{
	const char *type = getenv("TERM");

	return c->tty && !str_empty(type) && !str_eq(type, "dumb");
}

bool cli_colours(const struct cli_client *c)
{
	return cli_moves_cursor(c) && str_empty(getenv("NO_COLOR"));
}

int cli_failed(const struct cli_client *c, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	str_printable(text);
	fprintf(stderr, "%s: %s\n", c->verb, text);
	return 1;
}

/* Returns what helps if a call gets this error, whether it reads or writes; NULL: nothing known. */
static const char *remedy_of_any(const struct err *e)
{
	if (e->kind == ERR_DENIED && e->code == 401)
		return "the cluster does not know this user: log in again, or give another "
		       "--kubeconfig or --context";
	if (e->kind == ERR_DENIED && e->code != 403)
		return "the API server's certificate does not match the kubeconfig: give another "
		       "--kubeconfig or --context";
	if (e->kind == ERR_UNAVAILABLE || e->kind == ERR_TIMEOUT)
		return "check that the API server runs, and that --kubeconfig and --context are "
		       "right";
	return NULL;
}

const char *cli_remedy(const struct err *e)
{
	return e->kind == ERR_DENIED && e->code == 403
		       ? "to read, your user needs the ClusterRole drover-view (deploy/rbac.yaml)"
		       : remedy_of_any(e);
}

static int failed_with(const struct cli_client *c, const struct err *e, const char *remedy)
{
	return cli_failed(c, "%s%s%s", e->text, remedy ? "; " : "", str_or(remedy, ""));
}

int cli_failed_read(const struct cli_client *c, const struct err *e)
{
	return failed_with(c, e, cli_remedy(e));
}

/* Loads a kubeconfig that the user gave. NULL with *e, which says what to give instead. */
static struct kube_config *load(const char *path, const char *context, struct err *e)
{
	struct kube_config *found = kube_config_load(path, context, e);
	struct err was;

	if (found)
		return found;
	was = *e;
	err_note(e, was.kind, was.code, "%.170s; give another --kubeconfig FILE or --context NAME",
		 was.text);
	return NULL;
}

/* Loads ~/.kube/config, the default of kubectl. NULL with *e if it does not exist or is invalid. */
static struct kube_config *of_kubectl(const char *context, struct err *e)
{
	const char *home = getenv("HOME");
	char *path = str_empty(home) ? NULL : mem_printf("%s/.kube/config", home);
	struct kube_config *found = NULL;

	if (path && access(path, F_OK) == 0)
		found = load(path, context, e);
	else
		err_note(e, ERR_NOT_FOUND, 0,
			 "no cluster given: there is no ~/.kube/config, and this is not a pod. "
			 "Give --kubeconfig FILE or set KUBECONFIG (for `drover up`: "
			 "~/.drover/up/host.conf)");
	free(path);
	return found;
}

struct kube_config *cli_kubeconfig(const char *path, const char *context, struct err *e)
{
	const char *given = getenv("KUBECONFIG");
	struct kube_config *found;

	if (path)
		return load(path, context, e);
	if (str_empty(given))
		return str_empty(getenv("KUBERNETES_SERVICE_HOST")) || context
			       ? of_kubectl(context, e)
			       : kube_config_in_cluster(e);
	found = load(given, context, e);
	if (!found)
		err_note_wrap(e, "KUBECONFIG");
	return found;
}

int cli_open(struct cli_client *c, const char *verb, const struct cli_options *o)
{
	struct kube_client_spec cs = {.name = "host"};
	struct err e;

	*c = (struct cli_client){
		.verb = verb, .json = o->json, .tty = isatty(STDOUT_FILENO) == 1, .out = stdout};
	OWN(kube_config)
	host = cli_kubeconfig(o->kubeconfig, o->context, &e);
	if (!host) {
		(void)cli_failed(c, "%s", e.text);
		return -1;
	}
	c->loop = loop_uv_new();
	c->group = loop_group_new(c->loop, "cli");
	c->http = http_new(c->group, http_curl_new(c->group, 4), 4);
	cs.config = host;
	c->host = kube_client_new(c->group, c->http, &cs, &e);
	if (c->host)
		return 0;
	(void)cli_failed(c, "%s", e.text);
	cli_close(c);
	return -1;
}

void cli_close(struct cli_client *c)
{
	kube_client_free(c->host);
	http_free(c->http);
	loop_group_free(c->group);
	loop_free(c->loop);
}

/* --- calls ------------------------------------------------------------------------------------ */

struct client_answer {
	struct loop *loop;
	json_t *o;
	struct err e;
	bool in;
};

static void on_answer(json_t *o, const struct err *e, void *arg)
{
	struct client_answer *a = arg;

	a->in = true;
	if (e)
		a->e = *e;
	else
		a->o = json_incref(o);
	loop_stop(a->loop);
}

static json_t *answered(struct client_answer *a, struct err *e)
{
	while (!a->in)
		loop_run(a->loop);
	if (!a->o)
		*e = a->e;
	return a->o;
}

json_t *cli_get_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		   const char *name, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_get(c->host, resource, ns, name, on_answer, &a);
	return answered(&a, e);
}

json_t *cli_get(struct cli_client *c, enum object_kind_id kind, const char *name, struct err *e)
{
	return cli_get_of(c, &object_resources[kind], NULL, name, e);
}

json_t *cli_path(struct cli_client *c, const char *path, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_get_path(c->host, path, on_answer, &a);
	return answered(&a, e);
}

json_t *cli_path_with(struct cli_client *c, const char *path, const struct kube_path_options *o,
		      struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_get_path_with(c->host, path, o, on_answer, &a);
	return answered(&a, e);
}

struct secret *cli_token(struct cli_client *c, const char *ns, const char *account,
			 const char *audience, int64_t seconds, struct err *e)
{
	struct client_answer a = {.loop = c->loop};
	OWN_JSON asked = json_pack("{s:s, s:s, s:{s:[s], s:I}}", "apiVersion",
				   "authentication.k8s.io/v1", "kind", "TokenRequest", "spec",
				   "audiences", audience, "expirationSeconds", (json_int_t)seconds);
	OWN_JSON reply = NULL;
	const char *token;

	(void)kube_request_token(c->host, ns, account, asked, on_answer, &a);
	reply = answered(&a, e);
	token = json_str_at(reply, "status", "token");
	if (reply && !token)
		err_note(e, ERR_PROTOCOL, 0,
			 "the API server answered the TokenRequest without a token");
	return token ? secret_from_str(token) : NULL;
}

json_t *cli_text(struct cli_client *c, const char *path, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_get_text(c->host, path, on_answer, &a);
	return answered(&a, e);
}

json_t *cli_review(struct cli_client *c, const struct kube_resource *kind, const json_t *review,
		   struct err *e)
{
	return cli_create_of(c, kind, NULL, review, e);
}

json_t *cli_metadata(struct cli_client *c, const struct kube_resource *kind, const char *ns,
		     const char *name, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_get_metadata(c->host, kind, ns, name, on_answer, &a);
	return answered(&a, e);
}

json_t *cli_secret(struct cli_client *c, const char *ns, const char *name, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_get(c->host, &KUBE_SECRETS, ns, name, on_answer, &a);
	return answered(&a, e);
}

struct secret *cli_decoded(const char *base64, struct err *e)
{
	size_t len;
	char *raw = crypto_base64_decode(base64, strlen(base64), &len, e);
	struct secret *s = raw ? secret_new(raw, len) : NULL;

	if (raw)
		secret_wipe(raw, len);
	free(raw);
	return s;
}

static void on_listed(const char *rv, const struct err *e, void *arg)
{
	struct client_answer *a = arg;

	(void)rv;
	a->in = true;
	if (e)
		a->e = *e;
	else
		a->o = json_null();
	loop_stop(a->loop);
}

struct items {
	struct client_answer a;
	void (*on_item)(json_t *o, void *arg);
	void *arg;
	/* true: the list started again, after on_item() had already seen some objects */
	bool again;
};

static void on_one(json_t *o, void *arg)
{
	struct items *i = arg;

	i->on_item(o, i->arg);
}

static void on_anew(void *arg)
{
	((struct items *)arg)->again = true;
}

static void on_items(const char *rv, const struct err *e, void *arg)
{
	on_listed(rv, e, &((struct items *)arg)->a);
}

int cli_list(struct cli_client *c, enum object_kind_id kind, void (*on_item)(json_t *o, void *arg),
	     void *arg, struct err *e)
{
	return cli_list_selected(c, kind, NULL, on_item, arg, e);
}

int cli_list_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		const char *selector, void (*on_item)(json_t *o, void *arg), void *arg,
		struct err *e)
{
	struct items i = {.a = {.loop = c->loop}, .on_item = on_item, .arg = arg};
	const struct kube_list_spec s = {.resource = resource,
					 .ns = ns,
					 .label_selector = selector,
					 .on_item = on_one,
					 .on_restart = on_anew,
					 .done = on_items,
					 .arg = &i};

	(void)kube_list(c->host, &s);
	if (!answered(&i.a, e))
		return -1;
	return i.again ? err_set(e, ERR_UNAVAILABLE, 0,
				 "the list of %s changed while drover read it; run the command "
				 "again",
				 resource->plural)
		       : 0;
}

int cli_list_selected(struct cli_client *c, enum object_kind_id kind, const char *selector,
		      void (*on_item)(json_t *o, void *arg), void *arg, struct err *e)
{
	return cli_list_of(c, &object_resources[kind], NULL, selector, on_item, arg, e);
}

#define NO_TYPE                                                                                    \
	"this cluster has no type %s." OBJECT_GROUP "; check --kubeconfig and --context, or "      \
	"install the types: drover crds | kubectl apply -f -"

/* True if the cluster serves objects of this kind. */
static bool is_served(struct cli_client *c, enum object_kind_id kind)
{
	struct err e;
	size_t i;
	json_t *v;
	OWN_JSON group = cli_path(c, "/apis/" OBJECT_API_VERSION, &e);

	json_array_foreach (json_object_get(group, "resources"), i, v)
		if (str_eq(json_str_at(v, "name"), object_kinds[kind].plural))
			return true;
	return false;
}

int cli_report_unreadable(struct cli_client *c, enum object_kind_id kind, const char *name,
			  const struct err *e)
{
	const struct object_kind *k = &object_kinds[kind];

	if (e->kind != ERR_NOT_FOUND)
		return cli_failed_read(c, e);
	if (name && is_served(c, kind))
		return cli_failed(c, "there is no %s %s; `drover get %s` lists them", k->singular,
				  name, k->plural);
	return cli_failed(c, NO_TYPE, k->plural);
}

bool cli_is_outdated(struct cli_client *c)
{
	const bool is = c->outdated;

	c->outdated = false;
	return is;
}

/* Prints why an object of this kind was not created, or, with this name, not changed, and what the
 * operator can do. Prints nothing if CLI_REPEAT() calls the verb again. name NULL: not created.
 * Always returns 1. */
static int failed_write(struct cli_client *c, enum object_kind_id kind, const char *name,
			const struct err *e)
{
	c->outdated = e->kind == ERR_CONFLICT && c->tries > 1;
	c->tries--;
	if (c->outdated)
		return 1;
	if (e->kind == ERR_NOT_FOUND)
		return cli_report_unreadable(c, kind, name, e);
	return failed_with(c, e,
			   e->kind == ERR_DENIED && e->code == 403
				   ? "this needs the ClusterRole drover-oncall or drover-admin "
				     "(deploy/rbac.yaml)"
				   : remedy_of_any(e));
}

json_t *cli_create_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		      const json_t *object, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_create(c->host, resource, ns, object, on_answer, &a);
	return answered(&a, e);
}

json_t *cli_patch_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		     const char *name, const json_t *patch, struct err *e)
{
	struct client_answer a = {.loop = c->loop};

	(void)kube_patch(c->host, resource, ns, name, NULL, KUBE_PATCH_MERGE, patch, on_answer, &a);
	return answered(&a, e);
}

int cli_delete_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		  const char *name, const char *uid, struct err *e)
{
	struct client_answer a = {.loop = c->loop};
	const struct kube_delete_opts o = {.uid = uid, .grace_s = -1};
	OWN_JSON gone = NULL;

	(void)kube_delete(c->host, resource, ns, name, &o, on_answer, &a);
	gone = answered(&a, e);
	return gone ? 0 : -1;
}

json_t *cli_machine(struct cli_client *c, const char *name, struct err *e)
{
	json_t *m = cli_get(c, OBJECT_MACHINE, name, e);
	const char *of;

	if (m || e->kind != ERR_NOT_FOUND)
		return m;
	OWN_JSON n = cli_get(c, OBJECT_NODE_CLAIM, name, e);
	if (!n) {
		if (e->kind == ERR_NOT_FOUND && !is_served(c, OBJECT_MACHINE))
			err_note(e, ERR_NOT_FOUND, 0, NO_TYPE, object_kinds[OBJECT_MACHINE].plural);
		else if (e->kind == ERR_NOT_FOUND)
			err_note(e, ERR_NOT_FOUND, 0,
				 "there is no Machine %s, and no Node of that name that drover "
				 "manages (NodeClaim)",
				 name);
		return NULL;
	}
	of = json_str_at(n, "spec", "machineRef", "name");
	if (!of)
		of = json_str_at(n, "status", "machineRef", "name");
	if (!of) {
		err_note(e, ERR_NOT_FOUND, 0,
			 "NodeClaim %s has no machine yet; `drover why claim/%s` shows "
			 "what it waits for",
			 name, name);
		return NULL;
	}
	return cli_get(c, OBJECT_MACHINE, of, e);
}

/* --- confirmation ----------------------------------------------------------------------------- */

int cli_confirm(const struct cli_client *c)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO))
		return cli_failed(c,
				  "nothing was changed: without a terminal drover cannot ask for "
				  "confirmation. To confirm, give --yes");
	fputs("Type yes to confirm: ", stderr);
	fflush(stderr);
	if (fgets(line, sizeof(line), stdin) && str_eq(line, "yes\n"))
		return 0;
	return cli_failed(c, "nothing was changed");
}

/* --- what was written ------------------------------------------------------------------------- */

/* Returns s in single quotes, so that a shell reads it as one word; malloc'd. */
static char *cli_quote(const char *s)
{
	struct buf b;

	buf_init(&b, 4 << 20);
	buf_puts(&b, "'");
	for (; *s; s++) {
		if (*s == '\'')
			buf_puts(&b, "'\\''");
		else
			buf_put(&b, s, 1);
	}
	buf_puts(&b, "'");
	return buf_steal(&b);
}

json_t *cli_annotation(struct cli_client *c, const char *key, const char *value)
{
	char now[STR_TIME_SIZE];

	return json_pack("{s:{s:{s:s}}}", "metadata", "annotations", key,
			 value ? value : str_time_micro(now, loop_wall(c->loop)));
}

static void tell(struct cli_client *c, const json_t *object, const json_t *wrote,
		 const char *kubectl, const char *text)
{
	bool dim = cli_colours(c);
	OWN_JSON all = NULL;

	if (c->json) {
		all = json_pack("{s:O, s:O, s:s}", "object", object, "wrote", wrote, "kubectl",
				kubectl);
		json_dumpf(all, c->out, JSON_INDENT(2));
		fputc('\n', c->out);
		return;
	}
	fprintf(c->out, "%s\n", text);
	fputs(dim ? screen_sequence(SCREEN_DIM) : "", c->out);
	fprintf(c->out, "same as: %s%s\n", kubectl, dim ? SCREEN_NORMAL : "");
}

/* Returns the name of the caller's user as the API server knows it, owned by the caller; NULL: the
 * API server does not report it. */
static json_t *user_name(struct cli_client *c)
{
	static const struct kube_resource reviews = {
		"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", false};
	OWN_JSON review = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
				    "SelfSubjectReview");
	struct err e;
	OWN_JSON o = cli_review(c, &reviews, review, &e);

	return json_incref(json_at(o, "status", "userInfo", "username"));
}

/* Returns a copy of an object or patch with the annotation AUDIT_REQUESTED_BY, owned by the caller.
 * Without the annotation if the API server does not report the user. */
static json_t *signed_by_user(struct cli_client *c, const json_t *o)
{
	OWN_JSON user = user_name(c);
	OWN_JSON note = NULL;
	json_t *copy = json_deep_copy(o);
	char time[STR_TIME_SIZE];

	if (!json_string_length(user))
		return copy;
	note = json_pack(
		"{s:{s:{s:o}}}", "metadata", "annotations", AUDIT_REQUESTED_BY,
		json_sprintf("%s %s", json_string_value(user), str_time(time, loop_wall(c->loop))));
	json_object_update_recursive(copy, note);
	return copy;
}

/* Patches the object, or creates it if name is NULL. Sends the annotation AUDIT_REQUESTED_BY with
 * the change; without it if the API server refuses that, as an older policy drover-oncall does. */
static json_t *send_change(struct cli_client *c, enum object_kind_id kind, const char *name,
			   const json_t *change, struct err *e)
{
	const struct kube_resource *r = &object_resources[kind];
	OWN_JSON full = signed_by_user(c, change);
	json_t *o =
		name ? cli_patch_of(c, r, NULL, name, full, e) : cli_create_of(c, r, NULL, full, e);

	if (o || e->kind != ERR_DENIED || json_equal(full, change))
		return o;
	return name ? cli_patch_of(c, r, NULL, name, change, e)
		    : cli_create_of(c, r, NULL, change, e);
}

int cli_write(struct cli_client *c, enum object_kind_id kind, const char *name, json_t *patch,
	      const char *text)
{
	struct err e;
	OWN_JSON wrote = patch;
	OWN_JSON o = send_change(c, kind, name, patch, &e);
	json_t *meta = json_object_get(wrote, "metadata");
	char *plain, *quoted;
	struct buf b;

	if (!o)
		return failed_write(c, kind, name, &e);
	json_object_del(meta, "resourceVersion");
	if (meta && !json_object_size(meta))
		json_object_del(wrote, "metadata");
	plain = json_text(wrote);
	quoted = cli_quote(plain);
	buf_init(&b, 4 << 20);
	buf_printf(&b, "kubectl patch %s %s --type merge -p ", object_kinds[kind].singular, name);
	buf_puts(&b, quoted);
	tell(c, o, wrote, b.data, text);
	buf_done(&b);
	free(plain);
	free(quoted);
	return 0;
}

int cli_make(struct cli_client *c, enum object_kind_id kind, json_t *object, const char *text)
{
	struct err e;
	OWN_JSON wrote = object;
	OWN_JSON o = send_change(c, kind, NULL, object, &e);
	char *plain, *quoted;
	struct buf b;

	if (!o)
		return failed_write(c, kind, NULL, &e);
	plain = json_text(wrote);
	quoted = cli_quote(plain);
	buf_init(&b, 4 << 20);
	buf_puts(&b, "kubectl create -f - <<<");
	buf_puts(&b, quoted);
	tell(c, o, wrote, b.data, text);
	buf_done(&b);
	free(plain);
	free(quoted);
	return 0;
}
