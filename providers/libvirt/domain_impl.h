#ifndef PROVIDERS_LIBVIRT_DOMAIN_IMPL_H
#define PROVIDERS_LIBVIRT_DOMAIN_IMPL_H

#include <libxml/tree.h>
#include "providers/libvirt/domain.h"

/* domain_impl: shared by domain.c and domain_build.c. Not included elsewhere. */
struct domain {
	xmlDoc *doc;
};

xmlNode *domain_add(xmlNode *parent, const char *name);
xmlNode *domain_add_text(xmlNode *parent, const char *name, const char *text);
void domain_put(xmlNode *n, const char *attribute, const char *value);
/* Returns drover's element in <metadata>; creates it if missing. */
xmlNode *domain_own(struct domain *d);
xmlNode *domain_add_slot(struct domain *d);

#endif
