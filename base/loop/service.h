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
 *   EXTEND_TIMEOUT_USEC=...  with each report before that: a start that takes long is not ended
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
	/* Appends one line without a newline to *line; bytes beyond SERVICE_STATUS_MAX are cut. */
	void (*status)(struct buf *line, void *arg);
	void *arg;
};

struct service;

/* Starts to report; status() is called from the next turn of the loop on. Copies *s. Returns NULL
 * with *e, which names the environment variable, if a value cannot be used. */
struct service *service_new(struct loop_group *g, const struct service_spec *s, struct err *e);
void service_free(struct service *s);

/* Sends WATCHDOG=1 from the next report on. limit_us: $WATCHDOG_USEC, the limit of the watchdog in
 * microseconds; NULL or "": no watchdog. pid: $WATCHDOG_PID, the process that the watchdog watches;
 * NULL or "": this one. Returns -1 with *e if the limit cannot be used; all other reports are then
 * sent as before. */
int service_watchdog(struct service *s, const char *limit_us, const char *pid, struct err *e);

/* Reports that the program serves. Each report is sent at once; s NULL: no effect. */
void service_ready(struct service *s);
/* Reports that the program ends. */
void service_stopping(struct service *s);

#endif
