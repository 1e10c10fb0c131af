#ifndef CLI_HOST_CNI_H
#define CLI_HOST_CNI_H

#include "base/data/json.h"

/*
 * host_cni: whether the CNI of the host cluster lets the frames of tenants' V-nets through, where
 * control planes announce a VIP (spec.network.apiServer via vip): their pods have an interface on a
 * VLAN of the host beside the CNI's own.
 *
 * Cilium drops frames of VLANs that vlan-bpf-bypass does not name, and takes other CNIs'
 * configurations away unless cni-exclusive is false (its ConfigMap cilium-config); Calico's eBPF
 * mode drops VLAN frames (bpfEnabled of its FelixConfiguration). Another CNI, and what its objects
 * do not say, is not judged.
 *
 * Pure. Tests: tests/unit/cli/test_host_cni.c
 */

/* NULL: there is no such object. What is wrong is put behind findings, as drover network check
 * prints it; gives how many. */
unsigned host_cni_judge(const json_t *cilium_config, const json_t *felix, json_t *findings);

#endif
