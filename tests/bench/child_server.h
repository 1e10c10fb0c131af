#ifndef TESTS_BENCH_CHILD_SERVER_H
#define TESTS_BENCH_CHILD_SERVER_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* child_server: runs the server that a benchmark measures against in a process of its own, so that
 * its processor time does not count. */
static _Noreturn void child_server_die(const char *what)
{
	(void)fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Starts a process in which serve(out, arg) writes its port to `out` and never returns. The process
 * ends with this one. Returns the port. */
static inline unsigned child_server_start(void (*serve)(int out, void *arg), void *arg, pid_t *pid)
{
	unsigned port = 0;
	int ends[2];

	if (pipe(ends) < 0 || (*pid = fork()) < 0)
		child_server_die("cannot start the server");
	if (*pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(ends[0]);
		serve(ends[1], arg);
	}
	(void)close(ends[1]);
	if (read(ends[0], &port, sizeof(port)) != sizeof(port))
		child_server_die("the server did not start");
	(void)close(ends[0]);
	return port;
}

static inline void child_server_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

#endif
