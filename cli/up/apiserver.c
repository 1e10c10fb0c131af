/*
 * apiserver: `drover apiserver`. Runs the embedded API server alone, for kubectl, tests and
 * experiments.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "base/args.h"
#include "base/log.h"
#include "base/loop/loop_uv.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/up/server.h"

struct apiserver_options {
	const char *data, *listen, *kubeconfig;
};

enum { OPT_KUBECONFIG = 256 };

static const struct argp_option options[] = {
	{"data", 'd', "DIR", 0,
	 "Directory for CA, token and objects (default: none, everything stays in memory)", 0},
	{"listen", 'l', "ADDR:PORT", 0, "Address to serve on (default: 127.0.0.1:6443)", 0},
	{"kubeconfig-out", OPT_KUBECONFIG, "FILE", 0,
	 "Write the administrator's kubeconfig to this file (default: admin.conf in the "
	 "directory of --data; required without --data)",
	 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct apiserver_options *o = st->input;

	switch (key) {
	case 'd':
		o->data = arg;
		return 0;
	case 'l':
		o->listen = arg;
		return 0;
	case OPT_KUBECONFIG:
		o->kubeconfig = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument: %s", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->data && !o->kubeconfig)
			argp_error(st, "give --data or --kubeconfig-out, so that the kubeconfig "
				       "can be written");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Serve the Kubernetes API from this process, without controllers or kubelets.\v"
	       "Example: drover apiserver --data ~/.drover/api\n"
	       "  kubectl --kubeconfig ~/.drover/api/admin.conf get namespaces\n"
	       "SIGTERM or Ctrl-C stops the server.",
};

static void on_signal(int signum, void *arg)
{
	(void)signum;
	loop_stop(arg);
}

static int start(struct loop_group *g, const struct apiserver_options *o, struct up_server **s,
		 struct err *e)
{
	const struct up_server_spec spec = {.folder = o->data, .listen = o->listen};
	const char *file = o->kubeconfig;
	char path[4096];

	*s = up_server_new(g, &spec, e);
	if (!*s)
		return -1;
	if (!file && !str_format(path, sizeof(path), "%s/admin.conf", o->data))
		return err_set(e, ERR_INVALID, 0, "--data: the path is too long");
	if (!file)
		file = path;
	if (up_server_save_kubeconfig(*s, file, e) < 0)
		return -1;
	printf("serving %s\nkubectl --kubeconfig %s get namespaces\n", up_server_url(*s), file);
	fflush(stdout);
	return 0;
}

int cli_apiserver(int argc, char **argv)
{
	struct apiserver_options o = {.listen = "127.0.0.1:6443"};
	struct up_server *server = NULL;
	struct loop_signal *term, *intr;
	struct loop_group *group;
	struct loop *loop;
	int status = 0;
	struct err e;

	args_parse(&argp, argc, argv, &o);
	log_config(LOG_INFO, LOG_TEXT);
	prctl(PR_SET_DUMPABLE, 0); /* no core dump, because the process holds credentials */
	loop = loop_uv_new();
	group = loop_group_new(loop, "apiserver");
	term = loop_signal(group, SIGTERM, on_signal, loop);
	intr = loop_signal(group, SIGINT, on_signal, loop);
	if (start(group, &o, &server, &e) < 0) {
		fprintf(stderr, "drover apiserver: %s%s\n", e.text,
			e.code == EADDRINUSE ? "; choose another address with --listen ADDR:PORT"
					     : "");
		status = 1;
	} else {
		loop_run(loop);
	}
	loop_signal_free(term);
	loop_signal_free(intr);
	up_server_free(server);
	loop_group_free(group);
	loop_free(loop);
	return status;
}
