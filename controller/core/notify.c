/* notify: passes a notice to the subscriber. The function has a file of its own so that no module
 * needs the subscriber's header. */
#include "controller/core/notify.h"

#include "controller/core/context.h"

void notify(const struct context *c, enum notice what, const char *name)
{
	if (c->on_notice)
		c->on_notice(what, name, c->on_notice_arg);
}
