#ifndef BASE_LOOP_SERVICE_H
#define BASE_LOOP_SERVICE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/loop/loop.h"

/*
 * service: reports the state of this program to the service manager that started it, by the
 * protocol of sd_notify(3): one datagram of lines KEY=VALUE for each report.
 *
 *   READY=1     once, after service_ready()
 *   STOPPING=1  once, after service_stopping()
 *   STATUS=...  when the line of the callback status() has changed
 *   WATCHDOG=1  at half of the watchdog's limit, or every 5 s if that is sooner. A timer of the
 *               loop sends it, so the service manager restarts a program whose loop hangs
 *
 * A datagram that the socket does not accept is sent again a second later. Nothing blocks.
 * Everything runs on the loop's thread.
 * Tests: tests/unit/base/loop/test_service.c
 */
#define SERVICE_STATUS_MAX 200

struct service_spec {
	/* $NOTIFY_SOCKET: path, or name of an abstract socket behind '@'; NULL or "": no service
	 * manager waits for reports, and none is sent */
	const char *socket;
	/* $WATCHDOG_USEC: limit of the watchdog in microseconds; NULL or "": no watchdog */
	const char *watchdog_us;
	/* $WATCHDOG_PID: process that the watchdog watches; NULL or "": this one */
	const char *watchdog_pid;
	/* Appends one line without a newline to *line; bytes beyond SERVICE_STATUS_MAX are cut. */
	void (*status)(struct buf *line, void *arg);
	void *arg;
};

struct service;

/* Starts to report; status() is called from the next turn of the loop on. Copies *s. Returns NULL
 * with *e, which names the environment variable, if a value cannot be used. */
struct service *service_new(struct loop_group *g, const struct service_spec *s, struct err *e);
void service_free(struct service *s);

/* Reports that the program serves. Each report is sent at once; s NULL: no effect. */
void service_ready(struct service *s);
/* Reports that the program ends. */
void service_stopping(struct service *s);

#endif
