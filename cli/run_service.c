#include "cli/run_service.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/str.h"
#include "controller/controller.h"

static void status(struct buf *line, void *arg)
{
	const struct context *c = controller_context(arg);
	size_t machines = kube_cache_size(c->cache[OBJECT_MACHINE]);
	const char *holder;

	if (!c->ready) {
		buf_puts(line, "reading the objects of the host cluster");
		return;
	}
	holder = kube_lease_holder(c->lease);
	if (c->leading)
		buf_puts(line, "leading");
	else if (str_empty(holder) || str_eq(holder, c->o.identity))
		buf_puts(line, "waiting for the lease");
	else
		buf_printf(line, "following %.100s", holder);
	buf_printf(line, ", %zu machine%s", machines, machines == 1 ? "" : "s");
}

struct service *run_service_new(struct loop_group *g, struct controller *c)
{
	const struct service_spec spec = {getenv("NOTIFY_SOCKET"), status, c};
	struct service *s;
	struct err e;

	s = service_new(g, &spec, &e);
	if (!s)
		log_error("no reports to the service manager", LOG_E(&e));
	else if (service_watchdog(s, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), &e) < 0)
		log_error("no reports to the watchdog", LOG_E(&e));
	return s;
}
