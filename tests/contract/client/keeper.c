#include "tests/contract/client/keeper.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/up/server.h"

struct keeper {
	int control;
	/* Process ID of the child that starts and kills the server; 0: no child, because the caller
	 * of the program provides the server */
	pid_t child;
	struct kube_config *config;
};

/* Address and credentials that a server reports when it listens */
struct keeper_door {
	char url[128], ca_pem[4096], token[256];
};

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "keeper: %s\n", what);
	_exit(1);
}

/* --- the keeper process ----------------------------------------------------------------------- */

static _Noreturn void serve(const char *folder, const char *listen, int out)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "server");
	struct keeper_door door = {0};
	struct err e;
	struct up_server *s =
		up_server_new(g, &(struct up_server_spec){.folder = folder, .listen = listen}, &e);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!s)
		die(e.text);
	if (!str_copy(door.url, sizeof(door.url), up_server_url(s)) ||
	    !str_copy(door.ca_pem, sizeof(door.ca_pem), up_server_ca_pem(s)) ||
	    !str_copy(door.token, sizeof(door.token), secret_expose(up_server_token(s))) ||
	    write(out, &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("nobody wants the address");
	loop_run(l);
	_exit(0);
}

static pid_t start(const char *folder, const char *listen, struct keeper_door *door)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		die(strerror(errno));
	if (pid == 0)
		serve(folder, listen, fds[1]);
	(void)close(fds[1]);
	if (read(fds[0], door, sizeof(*door)) != (ssize_t)sizeof(*door))
		die("the server did not start");
	(void)close(fds[0]);
	return pid;
}

static void kill_server(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static _Noreturn void keep(int control)
{
	char *folder = mem_printf("%s/drover-client-XXXXXX", str_or(getenv("TMPDIR"), "/tmp"));
	struct keeper_door door;
	char listen[128], byte;
	pid_t server;

	if (!mkdtemp(folder))
		die("no folder");
	server = start(folder, "127.0.0.1:0", &door);
	if (write(control, &door, sizeof(door)) != (ssize_t)sizeof(door) ||
	    !str_copy(listen, sizeof(listen), door.url + strlen("https://")))
		die("nobody wants the server");
	/* Serves requests to kill and restart until the test closes its end of the pipe, or
	 * dies. */
	while (read(control, &byte, 1) == 1) {
		kill_server(server);
		server = start(folder, listen, &door);
		if (write(control, &byte, 1) != 1)
			break;
	}
	kill_server(server);
	(void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

/* --- the test's side -------------------------------------------------------------------------- */

static void take_given(struct keeper *k, const char *kubeconfig)
{
	const char *fd = getenv("DROVER_CLIENT_CONTROL");
	int64_t n;
	struct err e;

	if (!fd || !str_to_i64(fd, 3, 1000, &n))
		die("DROVER_CLIENT_CONTROL: want a descriptor");
	k->control = (int)n;
	k->config = kube_config_load(kubeconfig, NULL, &e);
	if (!k->config)
		die(e.text);
}

static void start_own(struct keeper *k)
{
	struct keeper_door door;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || (k->child = fork()) < 0)
		die(strerror(errno));
	if (k->child == 0) {
		(void)close(pair[0]);
		keep(pair[1]);
	}
	(void)close(pair[1]);
	k->control = pair[0];
	if (read(k->control, &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("no server");
	k->config = mem_new(struct kube_config);
	*k->config = (struct kube_config){
		.server = mem_strdup(door.url),
		.ca_pem = mem_strdup(door.ca_pem),
		.token = secret_from_str(door.token),
		.namespace_ = mem_strdup("default"),
	};
}

struct keeper *keeper_new(void)
{
	struct keeper *k = mem_new(struct keeper);
	const char *kubeconfig = getenv("DROVER_CLIENT_KUBECONFIG");

	if (kubeconfig)
		take_given(k, kubeconfig);
	else
		start_own(k);
	return k;
}

void keeper_free(struct keeper *k)
{
	(void)close(k->control);
	if (k->child)
		(void)waitpid(k->child, NULL, 0);
	kube_config_free(k->config);
	free(k);
}

bool keeper_is_given(void)
{
	return getenv("DROVER_CLIENT_KUBECONFIG") != NULL;
}

const struct kube_config *keeper_config(const struct keeper *k)
{
	return k->config;
}

void keeper_restart_server(struct keeper *k)
{
	char byte = 'r';

	if (write(k->control, &byte, 1) != 1 || read(k->control, &byte, 1) != 1)
		die("the server did not come back");
}
