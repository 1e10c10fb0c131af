/*
 * drover-agent: as process 1 of its boot image it is the machine's whole user space. As an ordinary
 * process it runs only with --pretend DIR and then uses only the files below DIR (DIR/sys, DIR/dev,
 * DIR/proc). So starting the program by mistake does not wipe a workstation.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/log.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "wipe/agent.h"
#include "wipe/init.h"
#include "wipe/net.h"

#ifndef DROVER_VERSION
#define DROVER_VERSION "unknown"
#endif
#define BOOT_BLOCK "/.extra/credentials/drover.cred"
#define GIVE_UP_S 600
/* Largest time in ms by which the clock may be ahead of the time in the boot block. The boot block
 * has the time at which the boot was ordered; the machine may have started much later. */
#define BLOCK_AGE_MS (24 * 3600 * 1000)
#define WELCOME_AGE_MS 2000

struct program {
	struct loop *loop;
	const struct proto_boot *boot;
	/* True if the program is process 1. */
	bool init;
};

static void say(const char *what, const char *detail, const struct err *e, void *arg)
{
	(void)arg;
	if (e)
		log_warn(what, LOG_S("about", str_or(detail, "")), LOG_E(e));
	else
		log_info(what, LOG_S("about", str_or(detail, "")));
}

static void set_clock(int64_t wall_ms, int64_t slack_ms)
{
	struct timespec now, t = {.tv_sec = wall_ms / 1000, .tv_nsec = wall_ms % 1000 * 1000000};

	clock_gettime(CLOCK_REALTIME, &now);
	if (init_clock_is_wrong(now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000, wall_ms,
				slack_ms))
		(void)!clock_settime(CLOCK_REALTIME, &t);
}

static void on_welcome(int64_t wall_ms, void *arg)
{
	const struct program *p = arg;

	if (p->init)
		set_clock(wall_ms, WELCOME_AGE_MS);
}

static void power_off(void *arg)
{
	struct program *p = arg;

	if (p->init)
		init_power_off();
	loop_stop(p->loop);
}

static void renew_network(void *arg)
{
	const struct program *p = arg;
	struct err e;

	if (p->init && net_renew(p->boot, &e) < 0)
		log_warn("cannot configure the network", LOG_E(&e));
}

static int read_boot(const char *path, struct arena *a, struct proto_boot *out, struct err *e)
{
	char *block = arena_alloc(a, PROTO_BOOT_BLOCK + 1);
	size_t n = host_bytes(block, PROTO_BOOT_BLOCK + 1, path);

	if (!n)
		return err_set(e, ERR_NOT_FOUND, 0, "no boot block at %s", path);
	return proto_boot_read(block, n, a, out, e);
}

static int run(struct program *p, const struct host *h, const struct proto_boot *boot,
	       struct err *e)
{
	OWN(arena) a = arena_new();
	struct loop_group *g;
	struct http *http;
	struct agent *agent;
	struct agent_config c = {
		.host = h,
		.boot = boot,
		.boot_id = host_line(a, "%s/sys/kernel/random/boot_id", h->proc),
		.version = DROVER_VERSION,
		.trust = WIPE_BOOT_NETWORK,
		.power_off = power_off,
		.set_clock = on_welcome,
		.renew_network = renew_network,
		.say = say,
		.arg = p,
	};

	if (!c.boot_id)
		return err_set(e, ERR_NOT_FOUND, 0, "the kernel has no boot id");
	p->boot = boot;
	p->loop = loop_uv_new();
	g = loop_group_new(p->loop, "agent");
	http = http_new(g, http_curl_new(g, 16), 32);
	c.group = g;
	c.http = http;
	agent = agent_new(&c, e);
	if (agent) {
		agent_start(agent);
		loop_run(p->loop);
	}
	agent_free(agent);
	http_free(http);
	loop_group_free(g);
	loop_free(p->loop);
	return agent ? 0 : -1;
}

/* Ends the program if the boot block cannot be used, because nothing can be reported without it:
 * shows the error on the console for GIVE_UP_S, then powers off. */
static void give_up(const struct err *e)
{
	log_error("cannot start", LOG_E(e));
	sleep(GIVE_UP_S);
	init_power_off();
}

static void run_machine(void)
{
	struct program p = {.init = true};
	struct host h = host_real;
	struct proto_boot boot = {0};
	OWN(arena) a = arena_new();
	struct timespec up;
	struct err e;

	init_mounts();
	init_entropy();
	h.settle = init_settle;
	init_network_modules();
	if (read_boot(BOOT_BLOCK, a, &boot, &e) < 0)
		give_up(&e);
	if (boot.wall_time)
		set_clock(boot.wall_time, BLOCK_AGE_MS);
	clock_gettime(CLOCK_BOOTTIME, &up);
	log_info("drover-agent", LOG_S("version", DROVER_VERSION), LOG_S("machine", boot.machine),
		 LOG_I("up_ms", up.tv_sec * 1000 + up.tv_nsec / 1000000));
	while (net_up(&boot, &e) < 0) {
		log_warn("cannot configure the network", LOG_E(&e));
		sleep(1);
		init_network_modules();
	}
	init_storage_modules();
	if (run(&p, &h, &boot, &e) < 0)
		give_up(&e);
	init_power_off();
}

static int run_pretend(const char *dir, const char *block)
{
	struct program p = {0};
	OWN(arena) a = arena_new();
	struct host h = {
		.sys = arena_printf(a, "%s/sys", dir),
		.dev = arena_printf(a, "%s/dev", dir),
		.proc = arena_printf(a, "%s/proc", dir),
		.files_are_drives = true,
	};
	struct proto_boot boot = {0};
	struct err e;

	if (read_boot(block, a, &boot, &e) < 0 || run(&p, &h, &boot, &e) < 0) {
		log_error("cannot start", LOG_E(&e));
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	mem_init();
	/* Enlarges libuv's thread pool, because drives are processed in parallel and each blocks
	 * one thread. */
	setenv("UV_THREADPOOL_SIZE", "64", 0);
	if (getpid() == 1)
		run_machine();
	if (argc == 4 && !strcmp(argv[1], "--pretend"))
		return run_pretend(argv[2], argv[3]);
	fprintf(stderr, "usage: drover-agent --pretend DIR BOOTBLOCK\n"
			"--pretend, for tests: the files in DIR/dev are the drives; DIR/sys and "
			"DIR/proc replace /sys and /proc.\n"
			"Without arguments drover-agent runs only as process 1 of its boot "
			"image.\n");
	return 2;
}
