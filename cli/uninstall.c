/*
 * uninstall: `drover uninstall`: one pass lists all objects and saves them; the next deletes them,
 * kind by kind; a last pass lists what is left.
 */
#include "cli/uninstall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/annotations.h"
#include "api/resources.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/lease_holder.h"
#include "cli/uninstall_objects.h"
#include "controller/rules/kept_bills.h"

/* attempts to write an object that others change at the same time */
enum { ATTEMPTS = 5 };

#define STOP_DROVER                                                                                \
	"helm uninstall drover -n drover-system, deploy/install.sh --uninstall, or on a host "     \
	"systemctl disable --now drover"

struct left {
	enum object_kind_id kind;
	const char *name, *uid, *loses;
	/* names of finalizers, separated by a comma; "": none. foreign: not drover's. */
	const char *drovers, *foreign;
	bool deleting;
};

struct uninstall {
	struct cli_client *c;
	const struct cli_uninstall *u;
	struct arena *a;
	struct left *v;
	size_t n, cap;
	/* number of AuditSegments, which are saved but not deleted one by one */
	size_t segments;
	/* kind that the API server is listing now */
	enum object_kind_id kind;
	/* receives each listed object; NULL: none. save_failed: errno of the first failure; 0:
	 * none. */
	FILE *save;
	int save_failed;
};

/* --- what is there ---------------------------------------------------------------------------- */

static const char *joined(const json_t *o, bool drovers, struct arena *a)
{
	const char *text = "";
	json_t *v;
	size_t i;

	json_array_foreach (json_at(o, "metadata", "finalizers"), i, v) {
		const char *name = str_or(json_string_value(v), "");

		if (uninstall_is_drovers(name) == drovers)
			text = arena_printf(a, "%s%s%s", text, text[0] ? "," : "", name);
	}
	return text;
}

/* Appends o to the file, unless there is none, as one line. */
static void save(struct uninstall *w, json_t *o)
{
	if (!w->save || w->save_failed)
		return;
	json_object_set_new(o, "apiVersion", json_string(OBJECT_API_VERSION));
	json_object_set_new(o, "kind", json_string(object_kinds[w->kind].kind));
	errno = 0;
	if (json_dumpf(o, w->save, JSON_COMPACT) < 0 || fputc('\n', w->save) == EOF)
		w->save_failed = errno ? errno : EIO;
}

static void on_object(json_t *o, void *arg)
{
	struct uninstall *w = arg;
	struct left *l;

	mem_grow(w->v, w->n + 1, w->cap);
	l = &w->v[w->n++];
	*l = (struct left){
		.kind = w->kind,
		.name = arena_strdup(w->a, str_or(json_str_at(o, "metadata", "name"), "")),
		.uid = arena_strdup(w->a, str_or(json_str_at(o, "metadata", "uid"), "")),
		.loses = uninstall_loses(w->kind, o, w->a),
		.drovers = joined(o, true, w->a),
		.foreign = joined(o, false, w->a),
		.deleting = json_str_at(o, "metadata", "deletionTimestamp")};
	save(w, o);
}

static void on_segment(json_t *o, void *arg)
{
	struct uninstall *w = arg;

	w->segments++;
	save(w, o);
}

/* Lists the objects of all kinds. AuditSegments are counted only: nobody but drover may delete
 * them, and the deletion of the definitions deletes them too. A kind that the cluster does not know
 * has none. Returns 0, or the exit status after printing the cause. */
static int list_all(struct uninstall *w)
{
	/* the order of deletion: a tenant's claims before their machines, machines before their
	 * Provider, and the proofs last */
	static const enum object_kind_id order[] = {
		OBJECT_VIRTUAL_CLUSTER, OBJECT_NODE_POOL,    OBJECT_BURST_POLICY,
		OBJECT_DRAIN,		OBJECT_NODE_CLAIM,   OBJECT_MACHINE,
		OBJECT_PROVIDER,	OBJECT_BURST_LEDGER, OBJECT_WIPE_RECORD};
	struct err e;

	w->n = 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		w->kind = order[i];
		if (cli_list(w->c, w->kind, on_object, w, &e) < 0 && e.kind != ERR_NOT_FOUND)
			return cli_failed_read(w->c, &e);
	}
	w->segments = 0;
	w->kind = OBJECT_AUDIT_SEGMENT;
	if (cli_list(w->c, w->kind, on_segment, w, &e) < 0 && e.kind != ERR_NOT_FOUND)
		return cli_failed_read(w->c, &e);
	return 0;
}

static const char *label(const struct left *l, struct arena *a)
{
	return arena_printf(a, "%s/%s", object_kinds[l->kind].singular, l->name);
}

/* Returns the number of objects that a finalizer holds; drovers: one of drover. */
static size_t held(const struct uninstall *w, bool drovers)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].drovers[0] || (!drovers && w->v[i].foreign[0]);
	return n;
}

static void print_json(const struct uninstall *w, FILE *out)
{
	OWN_JSON all = json_pack("{s:I, s:I, s:I, s:[]}", "left", (json_int_t)w->n, "held",
				 (json_int_t)held(w, false), "auditSegments",
				 (json_int_t)w->segments, "objects");

	for (size_t i = 0; i < w->n; i++) {
		const struct left *l = &w->v[i];

		json_array_append_new(json_at(all, "objects"),
				      json_pack("{s:s, s:s, s:b, s:s, s:s, s:s}", "kind",
						object_kinds[l->kind].kind, "name", l->name,
						"deleting", (int)l->deleting, "finalizers",
						l->drovers, "otherFinalizers", l->foreign, "loses",
						l->loses));
	}
	json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
}

static void print_table(const struct uninstall *w, FILE *out)
{
	static const struct grid_style style = {0};
	struct grid *g = grid_new();

	grid_head(g, "object");
	grid_head(g, "finalizers");
	grid_head(g, "lost");
	for (size_t i = 0; i < w->n; i++) {
		const struct left *l = &w->v[i];

		grid_cell(g, arena_printf(w->a, "%s%s", label(l, w->a),
					  l->deleting ? " (deleted)" : ""));
		grid_cell(g, arena_printf(w->a, "%s%s%s", l->drovers,
					  l->drovers[0] && l->foreign[0] ? "," : "", l->foreign));
		grid_cell(g, l->loses);
	}
	if (w->n)
		grid_print(g, &style, out);
	grid_free(g);
}

/* --- the check -------------------------------------------------------------------------------- */

static void print_next(const struct uninstall *w, const struct lease_holder *h)
{
	const size_t n = held(w, false);
	FILE *out = w->c->out;

	if (w->segments)
		fprintf(out,
			"%zu segments of the audit log are deleted with the definitions; to keep "
			"the log: kubectl get auditsegments -o json > FILE\n",
			w->segments);
	if (!w->n) {
		fprintf(out,
			"no object of drover is left; to delete the rest, first save bills and "
			"keys (kubectl -n %s get configmaps -o yaml > FILE), then: "
			"deploy/install.sh --uninstall --purge\n",
			w->u->ns);
		return;
	}
	fprintf(out, "%zu objects are left, %zu of them with a finalizer\n", w->n, n);
	if (h->state == LEASE_HELD)
		fprintf(out,
			"drover runs (replica %s): delete the objects now; drover then drains and "
			"wipes the machines and removes its finalizers. `drover why` shows what an "
			"object waits for\n",
			h->name);
	else if (!held(w, true) && n == w->n)
		fputs("no finalizer of drover is left: only the software that set the other "
		      "finalizers can remove them\n",
		      out);
	else
		fputs("drover does not run. To save the objects in a file and then delete them, "
		      "without draining or wiping machines: drover uninstall --release-finalizers "
		      "--save FILE\n",
		      out);
}

static int report(const struct uninstall *w, const struct lease_holder *h)
{
	if (w->c->json) {
		print_json(w, w->c->out);
		return w->n > 0;
	}
	print_table(w, w->c->out);
	print_next(w, h);
	return w->n > 0;
}

/* --- bills ------------------------------------------------------------------------------------ */

/* Adds the bill of vc to its ConfigMap. Returns 0, or -1 with *e (ERR_CONFLICT: another writer
 * changed the ConfigMap). */
static int put_bill(struct uninstall *w, const struct virtual_cluster *vc, struct err *e)
{
	OWN(arena) a = arena_new();
	OWN_JSON write = NULL, *done = NULL;
	char name[KEPT_BILLS_NAME];
	size_t dropped;
	json_t *data;

	kept_bills_name(kept_bills_of(vc->meta.uid), name);
	OWN_JSON map = cli_get_of(w->c, &KUBE_CONFIGMAPS, w->u->ns, name, e);
	if (!map && e->kind != ERR_NOT_FOUND)
		return -1;
	data = kept_bills_patch(json_object_get(map, "data"), vc, loop_wall(w->c->loop), a,
				&dropped);
	if (dropped) {
		json_decref(data);
		return err_set(e, ERR_CAPACITY, 0,
			       "ConfigMap %s has no room for its bill beside %zu others: save them "
			       "(kubectl -n %s get configmap %s -o yaml > FILE), then delete the "
			       "ConfigMap",
			       name, dropped, w->u->ns, name);
	}
	if (map) {
		write = json_pack("{s:{s:s*}, s:o}", "metadata", "resourceVersion",
				  json_str_at(map, "metadata", "resourceVersion"), "data", data);
		done = cli_patch_of(w->c, &KUBE_CONFIGMAPS, w->u->ns, name, write, e);
	} else {
		write = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:o}", "apiVersion", "v1", "kind",
				  "ConfigMap", "metadata", "name", name, "labels",
				  "app.kubernetes.io/managed-by", "drover", "data", data);
		done = cli_create_of(w->c, &KUBE_CONFIGMAPS, w->u->ns, write, e);
	}
	return done ? 0 : -1;
}

/* Saves the bill of VirtualCluster o, as the controller does before it removes its finalizer. A
 * bill that cannot be decoded, or for which there is no namespace any more, is only in the file of
 * --save. Returns 0, or -1 with *e. */
static int keep_bill(struct uninstall *w, const json_t *o, struct err *e)
{
	OWN(arena) a = arena_new();
	void *out;
	int rc;

	if (!json_array_size(json_at(o, "status", "cost", "charges")))
		return 0;
	rc = object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, a, &out, e);
	if (rc == 0)
		rc = put_bill(w, out, e);
	if (rc == 0 || (e->kind != ERR_NOT_FOUND && e->kind != ERR_INVALID))
		return rc;
	fprintf(stderr,
		"%s: the bill of %s is saved only in the file %s, not in a ConfigMap: "
		"%s\n",
		w->c->verb, json_str_at(o, "metadata", "name"), w->u->save, e->text);
	return 0;
}

/* --- the release ------------------------------------------------------------------------------ */

/* Removes drover's finalizers from object o, as it was read. Returns 0, or -1 with *e. */
static int let_go(struct uninstall *w, const struct left *l, const json_t *o, struct err *e)
{
	json_t *keep = json_array(), *v;
	OWN_JSON patch =
		json_pack("{s:{s:s*, s:o}}", "metadata", "resourceVersion",
			  json_str_at(o, "metadata", "resourceVersion"), "finalizers", keep);
	OWN_JSON done = NULL;
	size_t i;

	json_array_foreach (json_at(o, "metadata", "finalizers"), i, v)
		if (!uninstall_is_drovers(str_or(json_string_value(v), "")))
			json_array_append(keep, v);
	if (json_array_size(keep) == json_array_size(json_at(o, "metadata", "finalizers")))
		return 0;
	done = cli_patch_of(w->c, &object_resources[l->kind], NULL, l->name, patch, e);
	return done ? 0 : -1;
}

/* Deletes one object: saves its bill, marks it as deleted, and removes drover's finalizers from the
 * version that was read. Returns 0 if it is gone or held only by finalizers of others; -1 with
 * *e. */
static int release_once(struct uninstall *w, const struct left *l, struct err *e)
{
	const struct kube_resource *r = &object_resources[l->kind];
	OWN_JSON o = cli_get_of(w->c, r, NULL, l->name, e);

	if (!o)
		return -1;
	if (!str_eq(json_str_at(o, "metadata", "uid"), l->uid))
		return 0; /* a new object of this name, which nobody agreed to delete */
	if (l->kind == OBJECT_VIRTUAL_CLUSTER && keep_bill(w, o, e) < 0)
		return err_wrap(e, "its bill cannot be saved in namespace %s", w->u->ns);
	if (!json_str_at(o, "metadata", "deletionTimestamp")) {
		if (cli_delete_of(w->c, r, NULL, l->name, l->uid, e) < 0)
			return -1;
		json_decref(o);
		o = cli_get_of(w->c, r, NULL, l->name, e);
		if (!o)
			return -1;
	}
	return let_go(w, l, o, e);
}

static int release(struct uninstall *w, const struct left *l)
{
	struct err e = {.kind = ERR_CONFLICT};
	int rc = -1;

	for (int i = 0; i < ATTEMPTS && rc < 0 && e.kind == ERR_CONFLICT; i++)
		rc = release_once(w, l, &e);
	if (rc < 0 && e.kind != ERR_NOT_FOUND)
		return cli_failed(w->c, "%s %s is not deleted: %s", object_kinds[l->kind].singular,
				  l->name, e.text);
	return 0;
}

/* Writes all objects to the file of --save, and lists them. Returns the exit status. */
static int save_all(struct uninstall *w)
{
	const int fd = open(w->u->save, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int status;

	if (fd < 0)
		return cli_failed(w->c, "--save %s: %s%s", w->u->save, strerror(errno),
				  errno == EEXIST ? "; give a file that does not exist" : "");
	w->save = fdopen(fd, "w");
	status = list_all(w);
	if (fflush(w->save) || fsync(fd))
		w->save_failed = w->save_failed ? w->save_failed : errno;
	fclose(w->save);
	w->save = NULL;
	if (!status && w->save_failed)
		status = cli_failed(w->c, "--save %s: %s; nothing was deleted", w->u->save,
				    strerror(w->save_failed));
	if (status || (!w->n && !w->segments))
		(void)unlink(w->u->save);
	return status;
}

/* Refuses if a replica leads, or a Deployment would start one. Returns 0 or, after printing the
 * error, 1. */
static int refuse_beside_drover(struct uninstall *w)
{
	struct lease_holder h;
	struct err e;

	if (lease_holder_read(w->c, w->u->ns, &h, &e) < 0)
		return cli_failed_read(w->c, &e);
	if (h.state == LEASE_HELD)
		return cli_failed(w->c,
				  "drover runs (replica %s) and would set its finalizers again: "
				  "delete the objects while it runs, or stop it first (" STOP_DROVER
				  ")",
				  h.name);
	OWN_JSON o = cli_get_of(w->c, &KUBE_DEPLOYMENTS, w->u->ns, CONTROLLER_DEPLOYMENT, &e);
	if (!o && e.kind != ERR_NOT_FOUND)
		return cli_failed_read(w->c, &e);
	if (json_integer_value(json_at(o, "spec", "replicas")) > 0)
		return cli_failed(w->c,
				  "Deployment " CONTROLLER_DEPLOYMENT
				  " in namespace %s starts drover: stop it first (" STOP_DROVER ")",
				  w->u->ns);
	return 0;
}

static int release_all(struct uninstall *w)
{
	int status = save_all(w);

	if (status || !w->n)
		return status || report(w, &(struct lease_holder){0});
	print_table(w, stderr);
	fprintf(stderr,
		"drover deletes these %zu objects and removes its finalizers. It drains, powers "
		"off, isolates and wipes nothing; column LOST shows what remains or is lost. The "
		"objects and %zu segments of the audit log are saved in %s.\n",
		w->n, w->segments, w->u->save);
	if (!w->u->yes && cli_confirm(w->c)) {
		(void)unlink(w->u->save);
		return 1;
	}
	/* Ask again for each object, because a replica may have started meanwhile. */
	for (size_t i = 0; i < w->n; i++)
		if (refuse_beside_drover(w) || release(w, &w->v[i]))
			return 1;
	status = list_all(w);
	return status ? status : report(w, &(struct lease_holder){0});
}

int cli_do_uninstall(struct cli_client *c, const struct cli_uninstall *u)
{
	OWN(arena) a = arena_new();
	struct uninstall w = {.c = c, .u = u, .a = a};
	struct lease_holder h;
	struct err e;
	int status;

	if (u->release)
		status = refuse_beside_drover(&w) || release_all(&w);
	else if (lease_holder_read(c, u->ns, &h, &e) < 0)
		status = cli_failed_read(c, &e);
	else
		status = list_all(&w) || report(&w, &h);
	free(w.v);
	return status;
}

/* --- the command line ------------------------------------------------------------------------- */

enum { CHECK = 0x6201, RELEASE, SAVE };

struct uninstall_args {
	struct cli_options o;
	struct cli_uninstall u;
	bool check;
};

static const struct argp_option options[] = {
	{"check", CHECK, NULL, 0, "Only list the objects (default)", 0},
	{"release-finalizers", RELEASE, NULL, 0,
	 "Delete all objects and remove drover's finalizers, if drover no longer runs", 0},
	{"save", SAVE, "FILE", 0,
	 "With --release-finalizers: new file for the objects, one JSON object a line", 0},
	{"yes", 'y', NULL, 0, "With --release-finalizers: do not ask for confirmation", 0},
	CLI_NAMESPACE_ROW,
	CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct uninstall_args *v = st->input;

	switch (key) {
	case CHECK:
		v->check = true;
		return 0;
	case RELEASE:
		v->u.release = true;
		return 0;
	case SAVE:
		v->u.save = arg;
		return 0;
	case 'y':
		v->u.yes = true;
		return 0;
	case 'n':
		v->u.ns = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "takes no argument, got '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (v->check && v->u.release)
			argp_error(st, "--check changes nothing and cannot be combined with "
				       "--release-finalizers");
		if (v->u.release && str_empty(v->u.save))
			argp_error(st, "--release-finalizers needs --save FILE, for the objects "
				       "that it deletes");
		if (!v->u.release && (v->u.save || v->u.yes))
			argp_error(st, "--save and --yes need --release-finalizers");
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "List every object of drover that is left, with the finalizers that prevent its "
	       "deletion, and with what is lost if the object is deleted while drover does not "
	       "run. With --release-finalizers, delete the objects; this is for an installation "
	       "whose controller no longer runs. While the controller runs, --release-finalizers "
	       "is refused, because the controller itself removes the finalizers once machines are "
	       "drained and wiped.\vExamples:\n"
	       "  drover uninstall --check\n"
	       "  drover uninstall --release-finalizers --save drover-objects.jsonl\n"
	       "Bills of tenants are saved in ConfigMaps drover-bills-*, from where drover cost "
	       "reads them. Definitions, Secrets and bills are deleted by deploy/install.sh "
	       "--uninstall --purge.\n"
	       "Exit status: 0 nothing is left, 1 something is left or failed, 2 wrong usage.\n"
	       "The same with kubectl: delete the objects, then patch metadata.finalizers "
	       "(docs/install.md).",
};

int cli_uninstall(int argc, char **argv)
{
	struct uninstall_args v = {.u.ns = "drover-system"};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover uninstall", &v.o) < 0)
		return 1;
	status = cli_do_uninstall(&c, &v.u);
	cli_close(&c);
	return status;
}
