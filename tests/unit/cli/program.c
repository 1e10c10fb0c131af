#include "tests/unit/testing.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/cli/program.h"

#define LIMIT_MS 60000 /* Long enough for a program with sanitizers on a busy machine */

char program_text[1 << 20];

const char *program_address(void)
{
	static char address[32];
	unsigned pid = (unsigned)getpid();

	str_format(address, sizeof(address), "127.%u.%u.%u", 64 + (pid >> 16 & 63), pid >> 8 & 255,
		   pid & 255);
	return address;
}

/* --- the process ------------------------------------------------------------------------------ */

void program_start(struct program *p, const char *name, int (*fn)(int argc, char **argv),
		   const char *const *args)
{
	char *argv[40] = {(char *)name};
	int argc = 1, out[2], status;

	for (; args[argc - 1]; argc++) {
		assert_true(argc < 39);
		argv[argc] = (char *)args[argc - 1];
	}
	assert_int_equal(pipe(out), 0);
	fflush(NULL);
	*p = (struct program){.out = out[0]};
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unsetenv("KUBECONFIG");
		unsetenv("KUBERNETES_SERVICE_HOST");
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(out[0]);
		close(out[1]);
		status = fn(argc, argv);
		fflush(NULL);
		test_exit(status);
	}
	close(out[1]);
}

const char *program_path(const char *name, char out[static PROGRAM_PATH])
{
	ssize_t n = readlink("/proc/self/exe", out, PROGRAM_PATH - 64);
	char *tests;

	out[n > 0 ? n : 0] = '\0';
	/* The test is at build/VARIANT/tests/..., the program at build/VARIANT/NAME. */
	tests = strstr(out, "/tests/");
	assert_non_null(tests);
	str_format(tests + 1, 64, "%s", name);
	return out;
}

int program_exec(const char *name, char **argv)
{
	char path[PROGRAM_PATH];

	execv(program_path(name, path), argv);
	perror(path);
	return 127;
}

/* Reads more output of the program. Returns false if the program has closed its streams. */
static bool read_more(struct program *p)
{
	struct pollfd f = {.fd = p->out, .events = POLLIN};
	ssize_t n;

	if (poll(&f, 1, LIMIT_MS) <= 0)
		fail_msg("it says nothing more: %s", p->said);
	n = read(p->out, p->said + p->len, sizeof(p->said) - 1 - p->len);
	if (n <= 0)
		return false;
	p->len += (size_t)n;
	p->said[p->len] = '\0';
	return true;
}

const char *program_hear(struct program *p, const char *what)
{
	static char rest[512];
	const char *at, *end;

	while (!(at = strstr(p->said, what)) || !(end = strchr(at, '\n')))
		if (!read_more(p))
			return NULL;
	at += strlen(what);
	str_format(rest, sizeof(rest), "%.*s", (int)(end - at), at);
	return rest;
}

const char *program_await(struct program *p, const char *what)
{
	const char *rest = program_hear(p, what);

	if (!rest)
		fail_msg("it ended without '%s': %s", what, p->said);
	return rest;
}

int program_end(struct program *p, int signum)
{
	int status;

	if (signum)
		assert_int_equal(kill(p->pid, signum), 0);
	while (read_more(p))
		;
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	close(p->out);
	p->pid = 0;
	if (!WIFEXITED(status))
		fail_msg("it died of signal %d: %s", WTERMSIG(status), p->said);
	return WEXITSTATUS(status);
}

/* --- the client ------------------------------------------------------------------------------- */

struct asked {
	struct loop *loop;
	int status;
};

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct asked *a = arg;

	a->status = r ? r->status : 0;
	str_copy(program_text, sizeof(program_text), r ? r->body : e->text);
	loop_stop(a->loop);
}

int program_ask(const struct program_call *c)
{
	struct asked a = {.loop = loop_uv_new()};
	struct loop_group *g = loop_group_new(a.loop, "test");
	struct http *h = http_new(g, http_curl_new(g, 4), 0);
	OWN(secret) bearer = c->bearer ? secret_from_str(c->bearer) : NULL;
	OWN(secret) password = c->password ? secret_from_str(c->password) : NULL;
	struct http_peer_spec spec = {.base_url = c->url, .ca_pem = c->ca_pem, .plain_ok = true};
	struct http_call call = {.method = c->method,
				 .path = c->path,
				 .bearer = bearer,
				 .basic_user = c->user,
				 .basic_password = password,
				 .body = c->body,
				 .body_len = c->body ? strlen(c->body) : 0,
				 .done = on_reply,
				 .arg = &a};
	struct http_peer *peer;
	struct err e;

	peer = http_peer_new(h, &spec, &e);
	if (!peer)
		fail_msg("%s", e.text);
	http_start(peer, &call);
	loop_run(a.loop);
	http_peer_free(peer);
	http_free(h);
	loop_group_free(g);
	loop_free(a.loop);
	return a.status;
}

json_t *program_json(void)
{
	struct err e;

	return json_parse(program_text, strlen(program_text), &e);
}

void program_ask_until(const struct program_call *c, int status)
{
	struct timespec t = {.tv_nsec = 20000000};
	int got = program_ask(c);

	for (int ms = 0; got != status && ms < LIMIT_MS; ms += 20) {
		nanosleep(&t, NULL);
		got = program_ask(c);
	}
	if (got != status)
		fail_msg("%s%s: want %d, got %d: %.500s", c->url, c->path, status, got,
			 program_text);
}

/* --- files ------------------------------------------------------------------------------------ */

char *program_file(const char *folder, const char *name)
{
	char path[256], *text = mem_alloc(1 << 16);
	FILE *f;

	str_format(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		fail_msg("no file %s", path);
	text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
	fclose(f);
	return text;
}

const char *program_folder(char out[static 64])
{
	str_copy(out, 64, "/tmp/drover-program-XXXXXX");
	assert_non_null(mkdtemp(out));
	return out;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void program_folder_done(const char *folder)
{
	assert_int_equal(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}
