/* pause: keeps the namespaces of a pod open. It runs as PID 1 of the pod, so it also reaps orphaned
 * processes. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_stop(int signo)
{
	(void)signo;
	_exit(0);
}

static void on_child(int signo)
{
	(void)signo;
	while (waitpid(-1, 0, WNOHANG) > 0)
		;
}

int main(void)
{
	const struct sigaction stop = {.sa_handler = on_stop};
	const struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};

	if (sigaction(SIGINT, &stop, 0) < 0 || sigaction(SIGTERM, &stop, 0) < 0 ||
	    sigaction(SIGCHLD, &child, 0) < 0)
		return 1;
	for (;;)
		pause();
}
