#include "cli/console.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/args.h"
#include "base/arena.h"
#include "base/str.h"
#include "cli/bmc_login.h"
#include "cli/cli.h"
#include "providers/ipmi.h"

struct console {
	struct cli_client *c;
	const struct cli_console *o;
	struct arena *a;
	struct cli_bmc b;
};

/* Sets *e to an error that names the place of the machine's console. Call if the machine's Provider
 * is not of type ipmi. Always returns -1. */
static int elsewhere(const struct console *w, struct err *e)
{
	const struct machine *m = w->b.m;
	const char *address = m->spec.bmc ? str_or(m->spec.bmc->address, "") : "",
		   *slash = strrchr(address, '/');

	if (w->b.p->spec.libvirt)
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "it is a virtual machine; run on its host: virsh -c %s console %s "
			       "(Ctrl-] ends the console)",
			       str_or(w->b.p->spec.libvirt->uri, "qemu:///system"),
			       slash ? slash + 1 : w->o->machine);
	return err_set(
		e, ERR_UNSUPPORTED, 0,
		"drover opens a console only for Provider type ipmi, not for type %s; look for a "
		"console on the web page of its BMC or of its management system",
		provider_object_type_names[w->b.p->spec.type]);
}

/* Reads the Machine and its login into w->b. Fails if the machine has no IPMI console, or if the
 * password may not be sent to its BMC. */
static int find(struct console *w, struct err *e)
{
	if (cli_bmc_read(w->c, w->a, w->o->machine, &w->b, e) < 0)
		return -1;
	if (!str_eq(provider_object_type_names[w->b.p->spec.type], "ipmi"))
		return elsewhere(w, e);
	if (cli_bmc_login(w->c, w->o->ns, &w->b, e) < 0)
		return -1;
	return ipmi_login_fits(secret_expose(w->b.user), w->b.password, e);
}

/* --- ipmitool --------------------------------------------------------------------------------- */

struct command {
	const char *program, *host, *port, *user;
	/* path of the memory file from which ipmitool reads the password */
	char file[32];
};

static const char *const *words_of(const struct command *t, struct arena *a, const char *verb)
{
	const char *words[] = {t->program, "-I",    "lanplus", "-H",	t->host, "-p", t->port,
			       "-U",	   t->user, "-f",      t->file, "sol",	 verb, NULL};
	const char **copy = arena_alloc(a, sizeof(words));

	memcpy(copy, words, sizeof(words));
	return copy;
}

static const char *const *environment(struct arena *a)
{
	const char **env = arena_calloc(a, 4, sizeof(*env));

	env[0] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	env[1] = "LANG=C.UTF-8";
	env[2] = arena_printf(a, "TERM=%s", str_or(getenv("TERM"), "dumb"));
	return env;
}

/* Ends another user's session on the console, if there is one. An error of ipmitool is ignored,
 * because usually there is no session. */
static int end_session(const struct command *t, struct arena *a, struct err *e)
{
	pid_t pid;
	int rc = posix_spawn(&pid, t->program, NULL, NULL,
			     (char *const *)(uintptr_t)words_of(t, a, "deactivate"),
			     (char *const *)(uintptr_t)environment(a));

	if (rc)
		return err_errno(e, rc, "cannot start %s", t->program);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* Replaces this process by ipmitool. ipmitool inherits only the terminal and fd, the memory file
 * with the password. Returns only on failure: -1 with *e. */
static int become(const struct console *w, const struct command *t, int fd, struct err *e)
{
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0 || fcntl(fd, F_SETFD, 0) < 0)
		return err_errno(e, errno, "cannot start %s", t->program);
	if (w->o->take && end_session(t, w->a, e) < 0)
		return -1;
	fprintf(stderr,
		"%s: type ~. at the start of a line to end the console (over ssh: ~~.), ~? for "
		"help; to end the session of another user that has the console: drover console %s "
		"--take\n",
		w->o->machine, w->o->machine);
	execve(t->program, (char *const *)(uintptr_t)words_of(t, w->a, "activate"),
	       (char *const *)(uintptr_t)environment(w->a));
	return err_errno(e, errno, "cannot start %s (apt-get install ipmitool)", t->program);
}

static int open_console(struct console *w, struct err *e)
{
	struct command t = {.program = w->o->program};
	char *host = NULL, *port = NULL;
	int fd, rc;

	if (find(w, e) < 0 || ipmi_parse_address(w->b.m->spec.bmc->address, &host, &port, e) < 0)
		return -1;
	t.host = host;
	t.port = port;
	t.user = secret_expose(w->b.user);
	fd = secret_file(w->b.password, e);
	rc = fd;
	if (fd >= 0) {
		str_format(t.file, sizeof(t.file), "/proc/self/fd/%d", fd);
		rc = become(w, &t, fd, e);
		close(fd);
	}
	free(host);
	free(port);
	return rc;
}

int cli_do_console(struct cli_client *c, const struct cli_console *o)
{
	OWN(arena) a = arena_new();
	struct console w = {.c = c, .o = o, .a = a};
	struct err e;

	if (open_console(&w, &e) < 0)
		(void)cli_failed(c, "machine %s: %s", o->machine, e.text);
	cli_bmc_done(&w.b);
	return 1;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { TAKE = 0x7101 };

struct console_args {
	struct cli_options o;
	struct cli_console console;
};

static const struct argp_option options[] = {
	{"take", TAKE, NULL, 0, "First end the session that has the console, whoever opened it", 0},
	CLI_NAMESPACE_ROW,
	CLI_CLUSTER_ROWS,
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct console_args *q = st->input;

	switch (key) {
	case TAKE:
		q->console.take = true;
		return 0;
	case 'n':
		q->console.ns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (q->console.machine)
			argp_error(st, "one machine at a time");
		q->console.machine = arg;
		return 0;
	case ARGP_KEY_END:
		if (!q->console.machine)
			argp_error(st, "give a machine");
		return 0;
	default:
		return cli_option(key, arg, st, &q->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "MACHINE",
	.doc = "Open the serial console of an IPMI machine on this terminal, with ipmitool.\v"
	       "Examples:\n"
	       "  drover console old-7\n"
	       "  drover console old-7 --take\n"
	       "The command reads the Secret with the BMC's password with your own rights, and "
	       "connects to the BMC from this computer. Type ~. to end the console. For machines "
	       "of other Provider types the command prints where to find their console.",
};

int cli_console(int argc, char **argv)
{
	struct console_args q = {.console = {.ns = "drover-system", .program = IPMITOOL}};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &q);
	if (cli_open(&c, "drover console", &q.o) < 0)
		return 1;
	status = cli_do_console(&c, &q.console);
	cli_close(&c);
	return status;
}
