#include "tests/unit/testing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/buf.h"
#include "tests/simulated/loop_sim.h"
#include "base/loop/service.h"
#include "base/mem.h"
#include "base/str.h"

/* The loop is simulated, the sockets are real. */
struct fixture {
	struct loop *l;
	struct loop_group *g;
	struct service *s;
	/* socket of the service manager */
	int manager;
	char folder[64], path[96];
	/* present status line of the program */
	const char *line;
};

static int bound(const struct sockaddr_un *at, size_t len)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)at, (socklen_t)len), 0);
	return fd;
}

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	str_copy(f->folder, sizeof(f->folder), "/tmp/drover-service-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	str_format(f->path, sizeof(f->path), "%s/notify", f->folder);
	str_copy(at.sun_path, sizeof(at.sun_path), f->path);
	f->manager = bound(&at, sizeof(at));
	f->l = loop_sim_new(1, 1700000000000);
	f->g = loop_group_new(f->l, "test");
	f->line = "reading objects";
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	service_free(f->s);
	loop_group_free(f->g);
	loop_free(f->l);
	close(f->manager);
	unlink(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

static void status(struct buf *line, void *arg)
{
	buf_puts(line, ((struct fixture *)arg)->line);
}

static void start(struct fixture *f, const char *socket, const char *us, const char *pid)
{
	const struct service_spec spec = {socket, status, f};
	struct err e;

	f->s = service_new(f->g, &spec, &e);
	if (!f->s || service_watchdog(f->s, us, pid, &e) < 0)
		fail_msg("%s", e.text);
}

/* Returns the next report that `fd` has received; "": none. */
static const char *next(int fd)
{
	static char text[1024];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static unsigned reports_with(int fd, const char *what)
{
	unsigned n = 0;

	for (const char *text = next(fd); text[0]; text = next(fd))
		n += strstr(text, what) != NULL;
	return n;
}

static void it_is_ready_once_and_not_before(void **state)
{
	struct fixture *f = *state;

	start(f, f->path, NULL, NULL);
	loop_sim_run_until(f->l, 4000);
	assert_string_equal(next(f->manager),
			    "EXTEND_TIMEOUT_USEC=65000000\nSTATUS=reading objects\n");
	loop_sim_run_until(f->l, 6000);
	assert_string_equal(next(f->manager), "EXTEND_TIMEOUT_USEC=65000000\n");
	f->line = "leading, 3 machines";
	service_ready(f->s);
	assert_string_equal(next(f->manager), "READY=1\nSTATUS=leading, 3 machines\n");
	service_ready(f->s);
	loop_sim_run_until(f->l, 60000);
	assert_string_equal(next(f->manager), "");
	service_stopping(f->s);
	service_stopping(f->s);
	assert_string_equal(next(f->manager), "STOPPING=1\n");
	loop_sim_run_until(f->l, 120000);
	assert_string_equal(next(f->manager), "");
}

static void the_watchdog_gets_a_report_at_half_of_its_limit(void **state)
{
	struct fixture *f = *state;
	char pid[16];

	str_format(pid, sizeof(pid), "%d", (int)getpid());
	start(f, f->path, "3000000", pid);
	service_ready(f->s);
	loop_sim_run_until(f->l, 15000);
	/* at 0 s, 1.5 s, ... 15 s */
	assert_int_equal(reports_with(f->manager, "WATCHDOG=1\n"), 11);
	/* A loop that does not turn reports nothing. */
	assert_string_equal(next(f->manager), "");
}

static void a_watchdog_of_another_process_gets_none(void **state)
{
	struct fixture *f = *state;

	start(f, f->path, "3000000", "1");
	service_ready(f->s);
	loop_sim_run_until(f->l, 60000);
	assert_int_equal(reports_with(f->manager, "WATCHDOG"), 0);
}

static void a_changed_status_is_one_line_of_text(void **state)
{
	struct fixture *f = *state;
	char filler[400];
	const char *text;

	start(f, f->path, NULL, NULL);
	service_ready(f->s);
	assert_int_equal(reports_with(f->manager, "STATUS=reading objects\n"), 1);
	f->line = "following x\nWATCHDOG=trigger, 2 machines\xff";
	loop_sim_run_until(f->l, 6000);
	assert_string_equal(next(f->manager), "STATUS=following x?WATCHDOG=trigger, 2 machines?\n");
	memset(filler, 'm', sizeof(filler));
	filler[sizeof(filler) - 1] = '\0';
	f->line = filler;
	loop_sim_run_until(f->l, 12000);
	text = next(f->manager);
	assert_int_equal(strlen(text), strlen("STATUS=\n") + SERVICE_STATUS_MAX);
	f->line = "";
	loop_sim_run_until(f->l, 60000);
	assert_string_equal(next(f->manager), "");
}

static void an_abstract_socket_is_reached(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char name[64];
	int fd;

	str_format(name, sizeof(name), "@drover-service-%d", (int)getpid());
	str_copy(at.sun_path + 1, sizeof(at.sun_path) - 1, name + 1);
	fd = bound(&at, offsetof(struct sockaddr_un, sun_path) + strlen(name));
	start(f, name, NULL, NULL);
	service_ready(f->s);
	assert_int_equal(reports_with(fd, "READY=1\n"), 1);
	close(fd);
}

static void a_report_that_was_not_accepted_is_sent_again(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char later[112];
	int fd;

	str_format(later, sizeof(later), "%s.2", f->path);
	start(f, later, NULL, NULL);
	service_ready(f->s);
	loop_sim_run_until(f->l, 500);
	str_copy(at.sun_path, sizeof(at.sun_path), later);
	fd = bound(&at, sizeof(at));
	loop_sim_run_until(f->l, 1500);
	assert_string_equal(next(fd), "READY=1\nSTATUS=reading objects\n");
	loop_sim_run_until(f->l, 60000);
	assert_string_equal(next(fd), "");
	close(fd);
	unlink(later);
}

static void without_a_service_manager_nothing_is_sent(void **state)
{
	struct fixture *f = *state;

	start(f, NULL, "1", NULL);
	service_ready(f->s);
	service_stopping(f->s);
	loop_sim_run_until(f->l, 60000);
	service_free(f->s);
	start(f, "", NULL, NULL);
	service_ready(f->s);
	assert_string_equal(next(f->manager), "");
	service_ready(NULL);
	service_stopping(NULL);
	service_free(NULL);
}

static void what_ends_is_not_ready_later(void **state)
{
	struct fixture *f = *state;

	start(f, f->path, NULL, NULL);
	service_stopping(f->s);
	service_ready(f->s);
	loop_sim_run_until(f->l, 60000);
	assert_string_equal(next(f->manager), "STOPPING=1\nSTATUS=reading objects\n");
	assert_string_equal(next(f->manager), "");
}

static void a_socket_that_cannot_be_used_is_named(void **state)
{
	static const struct {
		const char *socket, *says;
	} cases[] = {
		{"run/notify", "NOTIFY_SOCKET: want a path or @NAME, got run/notify"},
		{"vsock:2:1", "NOTIFY_SOCKET: want a path or @NAME, got vsock:2:1"},
		{"@", "NOTIFY_SOCKET: want a path or @NAME, got @"},
		{"/run/1234567890123456789012345678901234567890123456789012345678901234567890"
		 "1234567890123456789012345678901234567890",
		 "NOTIFY_SOCKET: longer than 107 bytes"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct service_spec spec = {cases[i].socket, status, f};
		struct err e = {0};

		assert_null(service_new(f->g, &spec, &e));
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].says, e.text);
	}
}

static void a_watchdog_that_cannot_be_used_is_named_and_the_rest_is_reported(void **state)
{
	static const struct {
		const char *us, *says;
	} cases[] = {
		{"soon", "WATCHDOG_USEC: want 2000 to 86400000000 microseconds"},
		{"1999", "got 1999"},
		{"86400000001", "got 86400000001"},
	};
	struct fixture *f = *state;
	struct err e = {0};

	start(f, f->path, NULL, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(service_watchdog(f->s, cases[i].us, NULL, &e), -1);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].says, e.text);
	}
	service_ready(f->s);
	assert_string_equal(next(f->manager), "READY=1\nSTATUS=reading objects\n");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_is_ready_once_and_not_before),
		CASE(the_watchdog_gets_a_report_at_half_of_its_limit),
		CASE(a_watchdog_of_another_process_gets_none),
		CASE(a_changed_status_is_one_line_of_text),
		CASE(an_abstract_socket_is_reached),
		CASE(a_report_that_was_not_accepted_is_sent_again),
		CASE(without_a_service_manager_nothing_is_sent),
		CASE(what_ends_is_not_ready_later),
		CASE(a_socket_that_cannot_be_used_is_named),
		CASE(a_watchdog_that_cannot_be_used_is_named_and_the_rest_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
