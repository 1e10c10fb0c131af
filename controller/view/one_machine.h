#ifndef CONTROLLER_VIEW_ONE_MACHINE_H
#define CONTROLLER_VIEW_ONE_MACHINE_H

#include "base/httpd/httpd.h"
#include "controller/core/context.h"
#include "controller/view/life_log.h"

/*
 * view_one_machine: one machine with its past, GET /v1/machines/NAME. docs/view.md describes its
 * members.
 * Tests: tests/unit/controller/view/test_view.c
 */
/* Maximum number of wipe records in the reply, the newest. */
#define ONE_MACHINE_WIPES 20

/* Replies with the machine that the path names; 404 if there is none. */
void view_one_machine_reply(const struct context *c, const struct life_log *log,
			    struct httpd_req *q);

#endif
