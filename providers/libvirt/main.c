/*
 * drover-libvirt: helper process that calls libvirt for drover. It is a separate process because
 * libvirt blocks and loads a second libcurl. Only drover starts it. It ends when its standard input
 * ends, at most END_S seconds later.
 * Tests: tests/unit/providers/libvirt/test_serve.c, tests/real/libvirt.py
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/libvirt/serve.h"

#define END_S 10

static void on_answer(const char *line, size_t len, void *arg)
{
	(void)arg;
	if (fwrite(line, 1, len, stdout) != len || fputc('\n', stdout) == EOF ||
	    fflush(stdout) != 0)
		_exit(1);
}

static const char usage[] =
	"drover-libvirt: started by drover for a Provider of type libvirt; speaks JSON lines.\n"
	"Protocol: docs/providers/libvirt.md. Version " DROVER_VERSION "\n";

int main(int argc, char **argv)
{
	struct serve *s;
	char *line;
	struct err e;

	if (argc > 1) {
		fputs(usage,
		      str_eq(argv[1], "--help") || str_eq(argv[1], "--version") ? stdout : stderr);
		return str_eq(argv[1], "--help") || str_eq(argv[1], "--version") ? 0 : 2;
	}
	line = malloc(SERVE_LINE_MAX + 2);
	mem_init();
	prctl(PR_SET_DUMPABLE, 0);
	s = serve_new(on_answer, NULL);
	while (line && fgets(line, SERVE_LINE_MAX + 2, stdin)) {
		size_t len = strlen(line);

		if (len == 0 || line[len - 1] != '\n') {
			fputs("a request is too long, or its line is incomplete\n", stderr);
			_exit(1);
		}
		if (serve_line(s, line, len - 1, &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			_exit(1);
		}
	}
	/* drover has ended. Let calls in progress finish, because another drover begins to act only
	 * later (after 15 s: controller/life/takeover.c). If a call hangs, alarm() ends the
	 * process. */
	alarm(END_S);
	serve_free(s);
	free(line);
	return 0;
}
