/*
 * bundle: `drover support-bundle`: writes one archive for remote diagnosis, without anything that
 * may be a secret (cli/redact.h).
 *
 * The archive always has the same file names. Objects are written as they arrive, in files of about
 * 1 MiB, so that 10,000 machines need no more memory than a few. No Secret is read.
 * Tests: tests/unit/cli/test_bundle.c
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/annotations.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/redact.h"
#include "cli/tarball.h"
#include "cli/verbs.h"

enum {
	/* Size in bytes at which the next file of a list begins. */
	PART = 1 << 20,
	/* Maximum size of one object, in bytes. */
	PART_MAX = 16 << 20,
	/* Maximum number of files of one kind. */
	PARTS = 256,
	/* Maximum number of containers whose logs are added. */
	PODS = 16,
	/* Number of lines that are added from the end of each container's log. */
	LOG_LINES = 2000,
	TEXT_MAX = 64 << 20,
};

struct bundle {
	struct cli_client *c;
	const char *ns;
	struct tarball *tar;
	struct arena *a;
	/* one line for each object or file that could not be read, and why */
	struct buf missing;
	/* number of lines of missing */
	size_t lacking;
	/* State of the list that is being read. folder: its folder in the archive; part: content of
	 * the file that is not full yet; parts: number of full files; left_out: number of objects
	 * left out; wanted: true for objects to add (NULL: all). */
	const char *folder;
	struct buf part;
	unsigned parts;
	size_t left_out;
	bool (*wanted)(const json_t *o);
	struct {
		const char *pod, *container;
	} logs[PODS];
	size_t nlogs;
};

static void lacks(struct bundle *b, const char *what, const char *why)
{
	b->lacking++;
	buf_printf(&b->missing, "%s: ", what);
	redact_text(why, &b->missing);
	buf_puts(&b->missing, "\n");
}

static void add_text(struct bundle *b, const char *name, const char *text)
{
	struct buf out;

	buf_init(&out, TEXT_MAX);
	redact_text(text, &out);
	if (out.over)
		lacks(b, name, "too large");
	else
		tarball_add(b->tar, name, out.data, out.len);
	buf_done(&out);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void end_part(struct bundle *b)
{
	if (b->part.len)
		tarball_add(b->tar, arena_printf(b->a, "%s/%04u.jsonl", b->folder, ++b->parts),
			    b->part.data, b->part.len);
	buf_clear(&b->part);
}

static void on_object(json_t *o, void *arg)
{
	struct bundle *b = arg;
	OWN_JSON copy = NULL;
	char *text;

	if (b->wanted && !b->wanted(o))
		return;
	if (b->parts >= PARTS) {
		b->left_out++;
		return;
	}
	copy = json_deep_copy(o);
	/* mutant: bundle-unredacted */
	redact_object(copy);
	text = json_text_sorted(copy);
	buf_puts(&b->part, text);
	buf_puts(&b->part, "\n");
	free(text);
	if (b->part.len >= PART)
		end_part(b);
}

static void begin_list(struct bundle *b, const char *folder, bool (*wanted)(const json_t *o))
{
	b->folder = folder;
	b->wanted = wanted;
	b->parts = 0;
	b->left_out = 0;
	buf_clear(&b->part);
}

static void end_list(struct bundle *b, int rc, const struct err *e)
{
	end_part(b);
	if (rc < 0)
		lacks(b, b->folder, e->text);
	if (b->left_out)
		lacks(b, b->folder,
		      arena_printf(b->a,
				   "%zu more objects are left out, because there are too many",
				   b->left_out));
}

static void add_kinds(struct bundle *b)
{
	struct err e;

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		begin_list(b, arena_printf(b->a, "objects/%s", object_kinds[kind].plural), NULL);
		end_list(b, cli_list(b->c, (enum object_kind_id)kind, on_object, b, &e), &e);
	}
}

static bool is_about_ours(const json_t *event)
{
	return str_starts(json_str_at(event, "involvedObject", "apiVersion"), OBJECT_GROUP "/");
}

/* Adds drover's events, which are in namespace "default" because drover's objects are
 * cluster-scoped. */
static void add_events(struct bundle *b)
{
	struct err e;

	begin_list(b, "events", is_about_ours);
	end_list(b, cli_list_of(b->c, &KUBE_EVENTS, "default", NULL, on_object, b, &e), &e);
}

/* --- drover's own Deployment ------------------------------------------------------------------ */

static void add_path(struct bundle *b, const char *name, const char *path)
{
	struct err e;
	OWN_JSON o = cli_path(b->c, path, &e);
	char *text;

	if (!o) {
		lacks(b, name, e.text);
		return;
	}
	redact_object(o);
	text = json_text_sorted(o);
	tarball_add(b->tar, name, text, strlen(text));
	free(text);
}

static void on_pod(json_t *o, void *arg)
{
	struct bundle *b = arg;
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "spec", "containers"), i, c)
		if (b->nlogs < PODS) {
			b->logs[b->nlogs].pod =
				arena_strdup(b->a, json_str_at(o, "metadata", "name"));
			b->logs[b->nlogs++].container = arena_strdup(b->a, json_str_at(c, "name"));
		}
	on_object(o, b);
}

static void add_log(struct bundle *b, const char *pod, const char *container)
{
	const char *name = arena_printf(b->a, "logs/%.60s/%.30s.log", pod, container);
	struct err e;
	OWN_JSON text = NULL;

	if (!str_is_dns_subdomain(pod) || !str_is_dns_label(container))
		return;
	text = cli_text(b->c,
			arena_printf(b->a,
				     "/api/v1/namespaces/%s/pods/%s/log?container=%s"
				     "&tailLines=%d",
				     b->ns, pod, container, LOG_LINES),
			&e);
	if (text)
		add_text(b, name, json_string_value(text));
	else
		lacks(b, name, e.text);
}

static void add_own(struct bundle *b)
{
	struct err e;

	add_path(b, "cluster.json", "/version");
	add_path(b, "lease.json",
		 arena_printf(b->a,
			      "/apis/coordination.k8s.io/v1/namespaces/%s/leases/" CONTROLLER_LEASE,
			      b->ns));
	add_path(b, "deployment.json",
		 arena_printf(b->a, "/apis/apps/v1/namespaces/%s/deployments/drover", b->ns));
	begin_list(b, "pods", NULL);
	end_list(b, cli_list_of(b->c, &KUBE_PODS, b->ns, NULL, on_pod, b, &e), &e);
	for (size_t i = 0; i < b->nlogs; i++)
		add_log(b, b->logs[i].pod, b->logs[i].container);
}

/* Runs a command on drover's own namespace and adds its output as a file. */
static void add_verb(struct bundle *b, const char *name,
		     int (*run)(struct cli_client *c, const char *ns))
{
	struct cli_client c = *b->c;
	char *said = NULL;
	size_t len;

	c.out = open_memstream(&said, &len);
	c.tty = c.json = false;
	(void)run(&c, b->ns);
	fclose(c.out);
	add_text(b, name, said);
	free(said);
}

static int stuck(struct cli_client *c, const char *ns)
{
	(void)ns;
	return cli_do_stuck(c, NULL);
}

static int write_all(struct cli_client *c, const char *ns, FILE *to)
{
	OWN(arena) a = arena_new();
	OWN(tarball) tar = tarball_new(to, loop_wall(c->loop) / 1000);
	struct bundle b = {.c = c, .ns = ns, .tar = tar, .a = a};
	struct err e;
	int rc;

	buf_init(&b.part, PART_MAX);
	buf_init(&b.missing, PART_MAX);
	add_text(&b, "version.txt", "drover " DROVER_VERSION " " DROVER_COMMIT "\n");
	add_verb(&b, "check.txt", cli_do_check);
	add_verb(&b, "why.txt", stuck);
	add_own(&b);
	add_kinds(&b);
	add_events(&b);
	if (b.lacking)
		(void)cli_failed(
			c,
			"parts that could not be read: %zu; missing.txt in the archive says "
			"why",
			b.lacking);
	lacks(&b, "metrics",
	      "not included: reading the metrics of the controller needs a token, and drover "
	      "reads no Secret for this archive");
	tarball_add(b.tar, "missing.txt", b.missing.data, b.missing.len);
	rc = tarball_end(b.tar, &e);
	buf_done(&b.part);
	buf_done(&b.missing);
	return rc < 0 ? cli_failed(c, "%s", e.text) : 0;
}

/* True if the API server answers this user. Otherwise each part would fail, some after a timeout;
 * prints why. */
static bool is_answered(struct cli_client *c)
{
	struct err e;
	OWN_JSON o = cli_path(c, "/api/v1/namespaces/default", &e);

	if (o || e.kind == ERR_NOT_FOUND || e.code == 403)
		return true;
	(void)cli_failed_read(c, &e);
	return false;
}

int cli_do_bundle(struct cli_client *c, const char *ns, FILE *to)
{
	return is_answered(c) ? write_all(c, ns, to) : 1;
}

/* --- the command ------------------------------------------------------------------------------ */

struct bundle_args {
	struct cli_options o;
	const char *ns, *file;
};

static const struct argp_option options[] = {
	CLI_CLUSTER_ROWS,
	CLI_NAMESPACE_ROW,
	{"output", 'o', "FILE", 0, "File to write (default: drover-support.tar.zst)", 0},
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct bundle_args *v = st->input;

	switch (key) {
	case 'n':
		v->ns = arg;
		return 0;
	case 'o':
		if (!str_ends(arg, ".tar.zst"))
			argp_error(st,
				   "--output: want a file name that ends with .tar.zst, got '%s'",
				   arg);
		v->file = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "takes no argument, got '%s'", arg);
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Write an archive for remote diagnosis: drover's objects and their events, its "
	       "Lease, Deployment and pods with their logs, the output of `drover check` and "
	       "`drover why`, and versions.\v"
	       "Examples:\n"
	       "  drover support-bundle\n"
	       "  drover support-bundle -o night.tar.zst; tar --zstd -tvf night.tar.zst\n"
	       "No Secret is read, and anything else that may be a credential is replaced by "
	       "REDACTED; still, review the archive before you pass it on. missing.txt in the "
	       "archive lists what could not be read. Only you can read the archive.",
};

/* Creates a file that only the caller may read. NULL with errno: the file exists already, or cannot
 * be created. */
static FILE *file_of(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

int cli_support_bundle(int argc, char **argv)
{
	struct bundle_args v = {.ns = "drover-system", .file = "drover-support.tar.zst"};
	struct cli_client c;
	int status;
	FILE *to;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover support-bundle", &v.o) < 0)
		return 1;
	to = file_of(v.file);
	if (!to) {
		status = cli_failed(&c, "%s: %s", v.file, strerror(errno));
		cli_close(&c);
		return status;
	}
	status = cli_do_bundle(&c, v.ns, to);
	if (fclose(to) != 0)
		status = cli_failed(&c, "%s: %s", v.file, strerror(errno));
	if (status)
		unlink(v.file);
	else
		fprintf(c.out, "%s\n", v.file);
	cli_close(&c);
	return status;
}
