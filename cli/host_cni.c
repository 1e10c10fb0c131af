#include "cli/host_cni.h"

#include "base/str.h"

/* host_cni: judges the settings of Cilium and Calico. Tests: tests/unit/cli/test_host_cni.c */

static unsigned wrong(json_t *findings, const char *says, const char *mend)
{
	json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s}", "of", "host cluster",
						  "result", "wrong", "says", says, "mend", mend));
	return 1;
}

unsigned host_cni_judge(const json_t *cilium_config, const json_t *felix, json_t *findings)
{
	const json_t *data = json_object_get(cilium_config, "data");
	unsigned n = 0;

	if (cilium_config && !str_eq(json_str_at(data, "cni-exclusive"), "false"))
		n += wrong(findings,
			   "Cilium removes the configuration of other CNIs, so pods of control "
			   "planes get no interface in a V-net",
			   "set cni-exclusive: \"false\" in ConfigMap kube-system/cilium-config "
			   "(Helm: cni.exclusive)");
	if (cilium_config && str_empty(json_str_at(data, "vlan-bpf-bypass")))
		n += wrong(findings,
			   "Cilium drops the frames of all VLANs, so no machine reaches the VIP of "
			   "an API server",
			   "list the VLANs of the V-nets in vlan-bpf-bypass of ConfigMap "
			   "kube-system/cilium-config (Helm: bpf.vlanBypass)");
	if (json_true_at(felix, "spec", "bpfEnabled"))
		n += wrong(
			findings,
			"Calico runs in eBPF mode, which drops VLAN frames, so no machine reaches "
			"the VIP of an API server",
			"set spec.bpfEnabled: false in the FelixConfiguration named default");
	return n;
}
