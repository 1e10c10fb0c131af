#include "sim/common/run.h"

#include <signal.h>
#include <stdio.h>
#include "base/loop/loop_uv.h"
#include "base/str.h"

static void on_signal(int signum, void *arg)
{
	struct sim_run *r = arg;

	(void)signum;
	loop_stop(r->loop);
}

int sim_run_folder(struct sim_run *r, const char *data, struct err *e)
{
	if (sim_folder_open(&r->folder, data, r->verb, e) < 0)
		return -1;
	r->password = sim_folder_password(&r->folder, r->loop, e);
	return r->password ? 0 : -1;
}

int sim_run_certificates(struct sim_run *r, const char *name, const char *subject, struct err *e)
{
	static const char *const here[] = {"localhost", "127.0.0.1", NULL};

	return sim_folder_certificates(&r->folder, r->loop, name, subject, here, &r->tls, e);
}

struct httpd_mhd *sim_run_listen(struct sim_run *r, struct httpd *d, const char *address,
				 unsigned connections, struct err *e)
{
	const struct httpd_mhd_spec s = {.address = address,
					 .max_connections = connections,
					 .cert_pem = r->tls.cert,
					 .key_pem = r->tls.key};

	return httpd_mhd_new(d, &s, e);
}

void sim_run_ready(struct sim_run *r)
{
	r->term = loop_signal(r->group, SIGTERM, on_signal, r);
	r->intr = loop_signal(r->group, SIGINT, on_signal, r);
}

int sim_run(struct sim_run *r, int (*begin)(void *arg, struct err *e), void (*finish)(void *arg),
	    void *arg)
{
	struct err e;
	int status = 0;

	r->loop = loop_uv_new();
	r->group = loop_group_new(r->loop, r->verb);
	r->folder.lock = -1;
	if (begin(arg, &e) < 0) {
		fprintf(stderr, "%s: %s\n", r->verb, e.text);
		status = 1;
	} else {
		loop_run(r->loop);
	}
	loop_signal_free(r->term);
	loop_signal_free(r->intr);
	finish(arg);
	secret_free(r->password);
	sim_certificates_done(&r->tls);
	loop_group_free(r->group);
	loop_free(r->loop);
	sim_folder_close(&r->folder);
	return status;
}

int64_t sim_run_number(const char *text, int64_t min, int64_t max, const char *name,
		       struct argp_state *st)
{
	int64_t n = 0;

	if (!str_to_i64(text, min, max, &n))
		argp_error(st, "--%s: want %lld to %lld, got '%s'", name, (long long)min,
			   (long long)max, text);
	return n;
}
