#include "tests/unit/testing.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/simulated/http_mem.h"
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/fabric.h"
#include "sim/rack/ports.h"
#include "tests/data/pems.h"

/* Tests the driver port-move with drover's side of the protocol (providers/fabric.h). The rack is a
 * stub. */
#define RACK "https://127.10.0.2:8443"
#define MAC "b8:ce:f6:00:00:01"
#define PROGRAM "/sim/port-move"

struct yard {
	struct loop *l;
	struct loop_group *g, *driver_g;
	struct http_mem_net *net;
	struct http *http;
	struct httpd *d;
	struct fabric *fabric;
	struct loop_child *child;
	struct sim_ports *driver;
	/* Segment of the port in the stub */
	char segment[64];
	int64_t fence;
	/* HTTP status of the stub's answers; 0: success */
	int status;
	struct err e;
	/* Number of answers of the driver to the last request */
	unsigned answers;
	struct err err;
	char where[64];
	enum fabric_proof proof;
};

/* --- the rack --------------------------------------------------------------------------------- */

static void on_port(struct httpd_req *q, void *arg)
{
	struct yard *y = arg;
	struct err e;
	size_t len;
	const char *text = httpd_body(q, &len);
	OWN_JSON j = len ? json_parse(text, len, &e) : NULL;
	char out[128];

	assert_string_equal(httpd_segment(q, 0), MAC);
	if (y->status) {
		httpd_reply_json(q, y->status, "{\"error\":\"the switch says no\"}");
		return;
	}
	if (j && json_int_at(j, "fence") < y->fence) {
		httpd_reply_json(q, 409, "{\"error\":\"the fence is lower\"}");
		return;
	}
	if (j) {
		str_copy(y->segment, sizeof(y->segment), json_str_at(j, "segment"));
		y->fence = json_int_at(j, "fence");
	}
	str_format(out, sizeof(out), "{\"segment\":\"%s\",\"fence\":%d}", y->segment,
		   (int)y->fence);
	httpd_reply_json(q, 200, out);
}

/* --- the driver as a child process on the simulated loop -------------------------------------- */

static void on_write(const char *line, size_t len, void *arg)
{
	loop_sim_child_line(((struct yard *)arg)->child, line, len);
}

static void program_start(struct loop_child *c, const char *const *argv, void **state, void *arg)
{
	struct yard *y = arg;

	(void)argv;
	y->child = c;
	y->driver = sim_ports_new(y->http, RACK, PEMS_CA, on_write, y, &y->e);
	assert_non_null(y->driver);
	*state = y;
}

static void program_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	(void)c;
	assert_true(sim_ports_line(((struct yard *)state)->driver, line, len));
}

static void program_eof(struct loop_child *c, void *state)
{
	(void)state;
	loop_sim_child_exit(c, 0);
}

static void program_free(void *state)
{
	struct yard *y = state;

	sim_ports_free(y->driver);
	y->driver = NULL;
}

static int setup(void **state)
{
	static const char *const command[] = {PROGRAM, NULL};
	struct yard *y = mem_new(struct yard);
	struct loop_sim_program program = {.start = program_start,
					   .line = program_line,
					   .eof = program_eof,
					   .free = program_free,
					   .arg = y};
	struct fabric_spec s = {.type = "exec", .command = command, .allowed = command};

	y->l = loop_sim_new(3, 1764000000000);
	y->g = loop_group_new(y->l, "drover");
	y->driver_g = loop_group_new(y->l, "driver");
	y->net = http_mem_net_new(y->l);
	y->http = http_new(y->driver_g,
			   http_mem_transport(y->net, y->driver_g, "127.0.0.1", NULL, NULL), 0);
	y->d = httpd_new(y->driver_g);
	httpd_route(y->d, "*", "/sim/ports/{}", 4096, on_port, y);
	http_mem_serve(y->net, RACK, y->d);
	loop_sim_program(y->l, PROGRAM, &program);
	s.group = y->g;
	y->fabric = fabric_new(&s, &y->e);
	assert_non_null(y->fabric);
	*state = y;
	return 0;
}

static int teardown(void **state)
{
	struct yard *y = *state;

	fabric_free(y->fabric);
	loop_sim_run_until(y->l, loop_now(y->l) + 70000);
	assert_null(y->driver); /* The driver ended when its input was closed. */
	http_free(y->http);
	httpd_free(y->d);
	http_mem_net_free(y->net);
	loop_group_free(y->driver_g);
	loop_group_free(y->g);
	loop_free(y->l);
	free(y);
	return 0;
}

static void on_done(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct yard *y = arg;

	y->answers++;
	err_clear(&y->err);
	if (e)
		y->err = *e;
	str_copy(y->where, sizeof(y->where), p ? str_or(p->segment, "none") : "");
	y->proof = p ? p->proof : FABRIC_PROOF_NONE;
}

/* Moves the port to segment (NULL: only observes it) and waits. Returns the kind of the error. */
static enum err_kind ask(struct yard *y, const char *mac, const char *segment, int64_t fence)
{
	struct fabric_port port = {.machine = "gpu-1", .mac = mac};
	struct fabric_call c = {.op_id = "01JD", .fence = fence, .done = on_done, .arg = y};

	y->answers = 0;
	if (segment)
		fabric_place(y->fabric, &port, segment, &c);
	else
		fabric_observe(y->fabric, &port, &c);
	loop_sim_run_until(y->l, loop_now(y->l) + 5000);
	assert_int_equal(y->answers, 1);
	return y->err.kind;
}

/* --- the tests -------------------------------------------------------------------------------- */

static void a_port_is_where_it_was_placed_and_that_is_proved(void **state)
{
	struct yard *y = *state;

	assert_int_equal(ask(y, MAC, "tenant/team-a", 7), ERR_NONE);
	assert_string_equal(y->segment, "tenant/team-a");
	assert_int_equal(y->fence, 7);
	assert_int_equal(ask(y, MAC, NULL, 7), ERR_NONE);
	assert_string_equal(y->where, "tenant/team-a");
	assert_int_equal(y->proof, FABRIC_PROOF_STRONG);
}

static void a_port_in_no_segment_is_known_to_be_in_none(void **state)
{
	struct yard *y = *state;

	assert_int_equal(ask(y, MAC, NULL, 7), ERR_NONE);
	assert_string_equal(y->where, "none");
}

static void a_lower_fence_is_a_conflict(void **state)
{
	struct yard *y = *state;

	assert_int_equal(ask(y, MAC, "quarantine", 7), ERR_NONE);
	assert_int_equal(ask(y, MAC, "tenant/team-a", 6), ERR_CONFLICT);
	assert_string_equal(y->segment, "quarantine");
}

static void a_machine_without_an_address_has_no_port(void **state)
{
	struct yard *y = *state;

	assert_int_equal(ask(y, NULL, "quarantine", 7), ERR_INVALID);
	assert_int_equal(ask(y, "../../machines", NULL, 7), ERR_INVALID);
}

static void what_the_switch_says_reaches_drover(void **state)
{
	struct yard *y = *state;

	y->status = 404;
	assert_int_equal(ask(y, MAC, NULL, 7), ERR_NOT_FOUND);
	y->status = 503;
	assert_int_equal(ask(y, MAC, "quarantine", 7), ERR_UNAVAILABLE);
	http_mem_serve(y->net, RACK, NULL);
	assert_int_equal(ask(y, MAC, "quarantine", 7), ERR_UNAVAILABLE);
}

static void a_line_that_is_no_request_ends_the_driver(void **state)
{
	struct yard *y = *state;

	assert_int_equal(ask(y, MAC, NULL, 7), ERR_NONE);
	assert_false(sim_ports_line(y->driver, "{}", 2));
	assert_false(sim_ports_line(y->driver, "nonsense", 8));
}

static void the_program_ends_with_its_input(void **state)
{
	static const char hello[] = "{\"id\":1,\"op\":\"hello\",\"protocol\":1}\n";
	int in[2], out[2], status;
	char got[64] = "";
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		_exit(sim_ports_main("http://127.0.0.1:1", NULL));
	}
	close(in[0]);
	close(out[1]);
	assert_int_equal(write(in[1], hello, sizeof(hello) - 1), sizeof(hello) - 1);
	assert_true(read(out[0], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "{\"id\":1,\"protocol\":1}\n");
	close(in[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(out[0]);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_port_is_where_it_was_placed_and_that_is_proved),
		T(a_port_in_no_segment_is_known_to_be_in_none),
		T(a_lower_fence_is_a_conflict),
		T(a_machine_without_an_address_has_no_port),
		T(what_the_switch_says_reaches_drover),
		T(a_line_that_is_no_request_ends_the_driver),
		cmocka_unit_test(the_program_ends_with_its_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
