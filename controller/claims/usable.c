#include "controller/claims/usable.h"

#include "api/provider.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/fleet.h"

const char *usable_not(const struct context *c, const struct drivers *drivers,
		       const struct fleet *fleet, const char *provider, const char **message)
{
	const struct driver *s = driver_get(drivers, provider);
	const struct err *e;

	*message = "";
	if (!CTX_GET(c, OBJECT_PROVIDER, provider_object, provider)) {
		*message = "no Provider of this name exists";
		return "ProviderNotFound";
	}
	if (!s)
		return USABLE_STARTING;
	e = s->provider ? fleet_trouble(fleet, provider) : &s->error;
	if (!e)
		return NULL;
	*message = e->text;
	return e->kind == ERR_DENIED	    ? "NotAllowed"
	       : s->provider		    ? "CloudFailed"
	       : e->kind == ERR_UNSUPPORTED ? "Unsupported"
	       : e->kind == ERR_INVALID	    ? "InvalidSpec"
					    : "DriverFailed";
}
