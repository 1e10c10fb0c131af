/*
 * wipe: `drover wipe verify`, `drover wipe report` and `drover wipe keys`. Reads files, and
 * WipeRecords and keys from the host cluster; cli/audit.c verifies the records, cli/wipe_report.c
 * prints the report.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/annotations.h"
#include "api/kinds.h"
#include "api/resources.h"
#include "base/args.h"
#include "base/buf.h"
#include "base/http/http_curl.h"
#include "base/loop/loop.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/audit.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/wipe_report.h"
#include "kube/call.h"

#define FILE_MAX (256u << 20)
#define DEPTH_MAX 4
#define NAMES_MAX 256

struct verify {
	/* machine, record: report only records of this machine, or this record; NULL: all */
	const char *kubeconfig, *context, *ns, *machine, *record;
	const char *args[NAMES_MAX];
	size_t nargs;
	/* report: `drover wipe report`; html: as HTML */
	bool json, keys_only, report, html;
	struct audit *audit;
	size_t nkeys;

	/* names of the WipeRecords to read from the host cluster; at: index of the one that is
	 * being read */
	const char *names[NAMES_MAX];
	size_t nnames, at;
	struct loop *loop;
	struct kube_client *client;
	/* label selector of the list that is being read, and number of its records so far */
	char selector[128];
	size_t listed;
	bool failed;
};

static void complain(struct verify *v, const char *what, const char *why)
{
	char *text = mem_printf("%s: %s", what, why);

	str_printable(text); /* A file may have any name. */
	fprintf(stderr, "drover wipe: %s\n", text);
	free(text);
	v->failed = true;
}

/* Reports that `what` could not be read from the host cluster, and what the operator can do. */
static void complain_of_cluster(struct verify *v, const char *what, const struct err *e)
{
	const char *remedy = cli_remedy(e);
	char *text = mem_printf("%s%s%s", e->text, remedy ? "; " : "", str_or(remedy, ""));

	complain(v, what, text);
	free(text);
}

/* --- files ------------------------------------------------------------------------------------ */

static int read_fd(int fd, struct buf *b, struct err *e)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0)
		if (buf_add(b, piece, (size_t)n, e) < 0)
			return -1;
	return n < 0 ? err_errno(e, errno, "read") : 0;
}

static int read_path(const char *path, struct buf *b, struct err *e)
{
	int fd = str_eq(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC), rc;

	buf_init(b, FILE_MAX);
	if (fd < 0)
		return err_errno(e, errno, "open");
	rc = read_fd(fd, b, e);
	close(fd);
	return rc;
}

static void add_file(struct verify *v, const char *path)
{
	struct buf b;
	struct err e;

	if (read_path(path, &b, &e) < 0)
		complain(v, path, e.text);
	else
		audit_add(v->audit, str_eq(path, "-") ? "standard input" : path, b.data, b.len);
	buf_done(&b);
}

static bool is_record_file(const char *name)
{
	return !str_eq(name, "keys.json") && name[0] != '.' &&
	       (str_ends(name, ".json") || str_ends(name, ".yaml") || str_ends(name, ".yml") ||
		str_ends(name, ".dsse"));
}

static void add_folder(struct verify *v, const char *path, int depth)
{
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort);

	if (n < 0) {
		complain(v, path, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		char *sub = mem_printf("%s/%s", path, list[i]->d_name);
		struct stat st;

		if (list[i]->d_name[0] == '.') {
			/* skip the folder itself, and partly written files, whose names begin with
			 * a dot */
		} else if (stat(sub, &st) < 0) {
			complain(v, sub, strerror(errno));
		} else if (S_ISDIR(st.st_mode)) {
			if (depth < DEPTH_MAX)
				add_folder(v, sub, depth + 1);
			else
				complain(v, sub, "folders are nested too deeply");
		} else if (!is_record_file(list[i]->d_name)) {
			/* skip files whose name is not that of a record */
		} else if (S_ISREG(st.st_mode)) {
			add_file(v, sub);
		} else { /* not read, because reading a pipe could block */
			complain(v, sub, "not a regular file");
		}
		free(sub);
		free(list[i]);
	}
	free(list);
}

/* --- reading from the host cluster ------------------------------------------------------------ */

static void ask_next(struct verify *v);

static void add_object(struct verify *v, const char *source, const json_t *o)
{
	char *text = json_text(o);

	audit_add(v->audit, source, text, strlen(text));
	free(text);
}

static void on_listed(json_t *o, void *arg)
{
	struct verify *v = arg;
	OWN_JSON whole = json_pack("{s:s, s:s}", "apiVersion", OBJECT_API_VERSION, "kind",
				   object_kinds[OBJECT_WIPE_RECORD].kind);

	json_object_update(whole, o); /* items of a list need not have apiVersion and kind */
	add_object(v, str_or(json_str_at(o, "metadata", "name"), "WipeRecord"), whole);
	v->listed++;
}

static void on_list_end(const char *rv, const struct err *e, void *arg)
{
	struct verify *v = arg;
	const char *name = v->names[v->at++];

	(void)rv;
	if (e && e->kind == ERR_NOT_FOUND)
		complain(v, name,
			 "this cluster has no type wiperecords." OBJECT_GROUP
			 "; check --kubeconfig and --context");
	else if (e)
		complain_of_cluster(v, name, e);
	else if (!v->listed)
		complain(v, name,
			 "the cluster has no WipeRecord of this name, and no machine of this name "
			 "with WipeRecords; `drover get wipes` lists the records");
	ask_next(v);
}

/* Lists all records of a machine, so that the chain of a record can be verified. */
static void ask_machine(struct verify *v, const char *machine)
{
	str_format(v->selector, sizeof(v->selector), "drover.dev/machine=%s", machine);
	v->listed = 0;
	(void)kube_list(v->client,
			&(struct kube_list_spec){.resource = &object_resources[OBJECT_WIPE_RECORD],
						 .label_selector = v->selector,
						 .on_item = on_listed,
						 .done = on_list_end,
						 .arg = v});
}

static void on_record(json_t *o, const struct err *e, void *arg)
{
	struct verify *v = arg;
	const char *name = v->names[v->at], *machine = json_str_at(o, "spec", "machine", "name");

	if (v->report && e && e->kind == ERR_NOT_FOUND && str_is_label_value(name)) {
		ask_machine(v, name);
		return;
	}
	if (e && e->kind == ERR_NOT_FOUND)
		complain(v, name,
			 "the cluster has no WipeRecord of this name; `drover get wipes` lists the "
			 "records");
	else if (e)
		complain_of_cluster(v, name, e);
	else
		add_object(v, name, o);
	if (!e && v->report)
		v->record = name;
	if (!e && v->report && machine && str_is_label_value(machine)) {
		ask_machine(v, machine);
		return;
	}
	v->at++;
	ask_next(v);
}

static void on_keys(json_t *o, const struct err *e, void *arg)
{
	struct verify *v = arg;
	const char *name, *now = json_str_at(o, "data", "current");
	json_t *key;

	if (e) {
		if (e->kind == ERR_NOT_FOUND)
			complain(v, "ConfigMap " KEYS_PUBLISHED,
				 "not found: drover has published no keys in this namespace; check "
				 "--context and --namespace, or give --keys FILE");
		else if (e->code == 403)
			complain(v, "ConfigMap " KEYS_PUBLISHED,
				 "your user may not read it: bind the Role drover-auditor "
				 "(deploy/rbac.yaml), or give --keys FILE");
		else
			complain_of_cluster(v, "ConfigMap " KEYS_PUBLISHED, e);
		loop_stop(v->loop);
		return;
	}
	if (v->keys_only && v->json) /* print the keys in the form that the option --keys reads */
		json_dumpf(json_object_get(o, "data"), stdout, JSON_INDENT(2));
	if (v->keys_only && v->json)
		putchar('\n');
	if (now) { /* add and print the current key first */
		v->nkeys += audit_keys(v->audit, now);
		if (v->keys_only && !v->json)
			printf("%s\n", now);
	}
	json_object_foreach (json_at(o, "data"), name, key) {
		const char *text = json_string_value(key);

		if (!text || str_eq(text, now))
			continue;
		v->nkeys += audit_keys(v->audit, text);
		if (v->keys_only && !v->json)
			printf("%s\n", text);
	}
	ask_next(v);
}

static void ask_next(struct verify *v)
{
	if (v->at == v->nnames)
		loop_stop(v->loop);
	else
		(void)kube_get(v->client, &object_resources[OBJECT_WIPE_RECORD], NULL,
			       v->names[v->at], on_record, v);
}

static void ask_cluster(struct verify *v)
{
	struct kube_client_spec cs = {.name = "host"};
	struct loop_group *g;
	struct http *h;
	struct err e;
	OWN(kube_config)
	host = cli_kubeconfig(v->kubeconfig, v->context, &e);

	if (!host && v->nnames)
		err_note_wrap(&e,
			      "there is no such file, and drover cannot ask the host cluster for a "
			      "WipeRecord of this name");
	if (!host) {
		complain(v, v->nnames ? v->names[0] : "host cluster", e.text);
		return;
	}
	v->loop = loop_uv_new();
	g = loop_group_new(v->loop, "cli");
	h = http_new(g, http_curl_new(g, 4), 4);
	cs.config = host;
	v->client = kube_client_new(g, h, &cs, &e);
	if (v->client) {
		if (!v->nkeys) {
			if (!v->keys_only)
				fputs("drover wipe: without --key or --keys drover uses the keys "
				      "that the cluster publishes; to use keys that you saved, "
				      "give --keys FILE\n",
				      stderr);
			(void)kube_get(v->client, &KUBE_CONFIGMAPS, v->ns, KEYS_PUBLISHED, on_keys,
				       v);
		} else {
			ask_next(v);
		}
		loop_run(v->loop);
	} else {
		complain(v, "host cluster", e.text);
	}
	kube_client_free(v->client);
	http_free(h);
	loop_group_free(g);
	loop_free(v->loop);
}

/* --- the commands ----------------------------------------------------------------------------- */

enum { OPT_KEY = 256, OPT_KEYS, OPT_MACHINE, OPT_RECORD, OPT_HTML };

#define KEY_ROWS                                                                                   \
	{"key", OPT_KEY, "ed25519:...", 0, "Public key of drover; may be repeated", 0},            \
		{"keys",                                                                           \
		 OPT_KEYS,                                                                         \
		 "FILE",                                                                           \
		 0,                                                                                \
		 "File with public keys: keys.json, a ConfigMap, or one key per line",             \
		 0},                                                                               \
		{"machine", OPT_MACHINE, "NAME", 0, "Only records of this machine", 0},            \
		CLI_CLUSTER_ROWS, CLI_NAMESPACE_ROW

static const struct argp_option verify_options[] = {
	KEY_ROWS,
	{"output", 'o', "json", 0, "Print JSON", 0},
	{0},
};

static const struct argp_option report_options[] = {
	KEY_ROWS,
	{"record", OPT_RECORD, "NAME", 0, "Only this record", 0},
	{"html", OPT_HTML, NULL, 0, "Print an HTML page without scripts and external parts", 0},
	{0},
};

static void take_keys(struct verify *v, struct argp_state *st, const char *arg, bool is_file)
{
	struct buf b;
	struct err e;
	size_t n;

	if (!is_file) {
		n = audit_keys(v->audit, arg);
	} else {
		if (read_path(arg, &b, &e) < 0)
			argp_failure(st, 2, 0, "--keys %s: %s", arg, e.text);
		n = audit_keys(v->audit, b.data);
		buf_done(&b);
	}
	if (!n)
		argp_error(st, "%s %s: contains no key (ed25519:...)", is_file ? "--keys" : "--key",
			   arg);
	v->nkeys += n;
}

static error_t parse_verify(int key, char *arg, struct argp_state *st)
{
	struct verify *v = st->input;

	switch (key) {
	case OPT_KEY:
	case OPT_KEYS:
		take_keys(v, st, arg, key == OPT_KEYS);
		return 0;
	case OPT_MACHINE:
		v->machine = arg;
		return 0;
	case OPT_RECORD:
		v->record = arg;
		return 0;
	case OPT_HTML:
		v->html = true;
		return 0;
	case 'o':
		if (!str_eq(arg, "json"))
			argp_error(st, "--output: want json, got '%s'", arg);
		v->json = true;
		return 0;
	case 'k':
		v->kubeconfig = arg;
		return 0;
	case CLI_CONTEXT:
		v->context = arg;
		return 0;
	case 'n':
		v->ns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (v->nargs == NAMES_MAX)
			argp_error(st, "at most %d arguments; a folder counts as one", NAMES_MAX);
		v->args[v->nargs++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!v->nargs)
			argp_error(st, "give files, folders or records");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp verify_argp = {
	.options = verify_options,
	.parser = parse_verify,
	.args_doc = "FILE|FOLDER|RECORD|-...",
	.doc = "Verify wipe records: signatures, evidence, verdict, and the chain of each "
	       "machine's records.\v"
	       "Examples:\n  drover wipe verify records/ --keys keys.json\n"
	       "  kubectl get wiperecords -o yaml | drover wipe verify - --key ed25519:...\n"
	       "  drover wipe verify gpu-r1-07-41-1\n"
	       "Files are checked without network access. An argument that is not a file is the "
	       "name of a WipeRecord of the host cluster. Exit status 1: a record is bad, or one "
	       "is missing in a chain.",
};

static const struct argp report_argp = {
	.options = report_options,
	.parser = parse_verify,
	.args_doc = "RECORD|MACHINE\nFILE|FOLDER|-...",
	.doc = "Print wipe records for an auditor or a customer: the machine, its tenant before, "
	       "each drive with technique, level and verification, and whether the signatures "
	       "and the chain are valid, checked as by `drover wipe verify`.\v"
	       "Examples:\n  drover wipe report gpu-r1-07-41-1\n"
	       "  drover wipe report gpu-r1-07 --html --keys keys.json > gpu-r1-07.html\n"
	       "  drover wipe report records/ --record gpu-r1-07-41-1 --keys keys.json\n"
	       "Files are read without network access. An argument that is not a file is the "
	       "name of a WipeRecord of the host cluster, or of a machine whose records are all "
	       "printed. Exit status 1: a printed record is bad, its predecessor is missing, or "
	       "there is none to print.",
};

static const struct argp_option keys_options[] = {
	CLI_CLUSTER_ROWS,
	CLI_NAMESPACE_ROW,
	CLI_OUTPUT_ROW,
	{0},
};

static error_t parse_keys(int key, char *arg, struct argp_state *st)
{
	struct verify *v = st->input;
	struct cli_options o = {0};

	switch (key) {
	case 'k':
		v->kubeconfig = arg;
		return 0;
	case CLI_CONTEXT:
		v->context = arg;
		return 0;
	case 'n':
		v->ns = arg;
		return 0;
	case 'o':
		(void)cli_option(key, arg, st, &o);
		v->json = o.json;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp keys_argp = {
	.options = keys_options,
	.parser = parse_keys,
	.doc = "Print the public keys with which drover countersigned wipe records, the current "
	       "one first.\v"
	       "Keep the keys where the people who run drover cannot change them: a record is only "
	       "as trustworthy as its key.\n"
	       "Examples:\n"
	       "  drover wipe keys\n"
	       "  drover wipe keys -o json > keys.json",
};

static void verify_args(struct verify *v)
{
	struct stat st;

	for (size_t i = 0; i < v->nargs; i++) {
		const char *arg = v->args[i];

		if (str_eq(arg, "-"))
			add_file(v, arg);
		else if (stat(arg, &st) == 0 && S_ISDIR(st.st_mode))
			add_folder(v, arg, 0);
		else if (stat(arg, &st) == 0)
			add_file(v, arg);
		else if (strchr(arg, '/') || str_ends(arg, ".json") || str_ends(arg, ".yaml"))
			complain(v, arg, strerror(errno));
		else
			v->names[v->nnames++] = arg;
	}
	if (v->report && v->nnames > 1)
		complain(v, v->names[1], "give at most one WipeRecord or Machine of the cluster");
	else if (v->nnames)
		ask_cluster(v);
	else if (!v->nkeys)
		complain(v, "no key",
			 "to check signatures, give the public keys with --key or --keys");
}

static int report(struct verify *v)
{
	struct buf b;
	bool good;

	verify_args(v);
	if (!v->nkeys || v->failed)
		return 1;
	audit_run(v->audit, v->machine);
	buf_init(&b, FILE_MAX);
	good = wipe_report(v->audit, v->record, v->html, &b);
	fwrite(b.data, 1, b.len, stdout);
	good &= !b.over;
	buf_done(&b);
	return good ? 0 : 1;
}

static int verify(struct verify *v)
{
	struct buf b;

	verify_args(v);
	if (!v->nkeys)
		return 1;
	audit_run(v->audit, v->machine);
	buf_init(&b, FILE_MAX);
	if (v->json) {
		OWN_JSON j = audit_json(v->audit);

		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		audit_print(v->audit, &b);
		fwrite(b.data, 1, b.len, stdout);
	}
	buf_done(&b);
	return v->failed || audit_count(v->audit, AUDIT_BAD) || audit_gaps(v->audit) ||
	       !audit_any(v->audit);
}

int cli_wipe(int argc, char **argv)
{
	struct verify v = {.ns = "drover-system"};
	OWN(audit) audit = audit_new();
	char title[64];
	bool asked;

	v.audit = audit;
	str_format(title, sizeof(title), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	if (argc > 1 && str_eq(argv[1], "verify")) {
		argv[1] = title;
		args_parse(&verify_argp, argc - 1, argv + 1, &v);
		return verify(&v);
	}
	if (argc > 1 && str_eq(argv[1], "report")) {
		argv[1] = title;
		v.report = true;
		args_parse(&report_argp, argc - 1, argv + 1, &v);
		return report(&v);
	}
	if (argc > 1 && str_eq(argv[1], "keys")) {
		argv[1] = title;
		v.keys_only = true;
		args_parse(&keys_argp, argc - 1, argv + 1, &v);
		ask_cluster(&v);
		return v.failed;
	}
	asked = argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"));
	fprintf(asked ? stdout : stderr,
		"Usage: %s verify FILE|FOLDER|RECORD|-...   verify wipe records\n"
		"   or: %s report RECORD|MACHINE|FILE...    print them for an auditor\n"
		"   or: %s keys                             print the keys to check them with\n"
		"`%s verify --help` shows the options.\n",
		argv[0], argv[0], argv[0], argv[0]);
	return asked ? 0 : 2;
}
