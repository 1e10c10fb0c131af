#ifndef PROVIDERS_REGISTRY_H
#define PROVIDERS_REGISTRY_H

#include "providers/fabric.h"
#include "providers/provider.h"

/* registry: declares every implementation of provider_ops and fabric_ops, for the lists of types in
 * provider.c and fabric.c. */
extern const struct provider_ops redfish_provider_ops;
extern const struct provider_ops ipmi_provider_ops;
extern const struct provider_ops libvirt_provider_ops;
extern const struct provider_ops bcm_provider_ops;
extern const struct provider_ops exec_provider_ops;
extern const struct provider_ops ec2_provider_ops;

extern const struct fabric_ops none_fabric_ops;
extern const struct fabric_ops exec_fabric_ops;
extern const struct fabric_ops netris_fabric_ops;

#endif
