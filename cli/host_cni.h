#ifndef CLI_HOST_CNI_H
#define CLI_HOST_CNI_H

#include "base/data/json.h"

/*
 * host_cni: checks that the CNI of the host cluster passes the frames of tenants' V-nets (VLANs of
 * the Netris fabric). Only control planes that announce a VIP need this (spec.network.apiServer
 * with via: vip): their pods have a second interface, on a VLAN of the host.
 *
 * Cilium drops frames of VLANs that vlan-bpf-bypass does not list, and removes other CNIs'
 * configurations unless cni-exclusive is false (ConfigMap cilium-config). Calico's eBPF mode drops
 * VLAN frames (bpfEnabled of its FelixConfiguration). Other CNIs, and settings that these objects
 * do not contain, are not checked.
 *
 * Pure functions. Tests: tests/unit/cli/test_host_cni.c
 */

/* Appends a finding for each problem to `findings`, in the form that `drover network check` prints.
 * Returns the number of problems. cilium_config: ConfigMap of Cilium; felix: FelixConfiguration of
 * Calico; for both, NULL means that the object does not exist. */
unsigned host_cni_judge(const json_t *cilium_config, const json_t *felix, json_t *findings);

#endif
