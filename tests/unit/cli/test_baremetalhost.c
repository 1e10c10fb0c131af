/* Tests how BareMetalHosts become Machines. The hosts are those of Metal3's own documentation. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/baremetalhost.h"

/* docs/user-guide/src/bmo/introduction.md of metal3-docs */
static const char node_0[] = "apiVersion: metal3.io/v1alpha1\n"
			     "kind: BareMetalHost\n"
			     "metadata: {name: node-0, namespace: metal3}\n"
			     "spec:\n"
			     "  bmc:\n"
			     "    address: ipmi://192.168.111.1:6230\n"
			     "    credentialsName: node-0-bmc-secret\n"
			     "  bootMACAddress: 00:5a:91:3f:9a:bd\n"
			     "  image:\n"
			     "    checksum: http://172.22.0.1/images/CENTOS_8.img.md5sum\n"
			     "    url: http://172.22.0.1/images/CENTOS_8.img\n"
			     "  online: true\n"
			     "status:\n"
			     "  hardware: {cpu: {arch: x86_64, count: 2}, hostname: node-0}\n";
/* docs/user-guide/src/bmo/provisioning.md of metal3-docs, with a Redfish address */
static const char host_0[] =
	"apiVersion: metal3.io/v1alpha1\n"
	"kind: BareMetalHost\n"
	"metadata: {name: host-0, namespace: my-cluster}\n"
	"spec:\n"
	"  online: true\n"
	"  bootMACAddress: 80:c1:6e:7a:e8:10\n"
	"  bmc:\n"
	"    address: redfish-virtualmedia://192.168.1.13/redfish/v1/Systems/1\n"
	"    credentialsName: host-0-bmc\n"
	"    disableCertificateVerification: true\n"
	"  rootDeviceHints:\n"
	"    wwn: \"0x55cd2e415652abcd\"\n"
	"    minSizeGigabytes: 100\n";
/* docs/api.md of baremetal-operator: a host that OpenShift uses */
static const char master_0[] = "apiVersion: metal3.io/v1alpha1\n"
			       "kind: BareMetalHost\n"
			       "metadata: {name: bmo-master-0, namespace: bmo-project}\n"
			       "spec:\n"
			       "  bmc:\n"
			       "    address: ipmi://10.10.57.19\n"
			       "    credentialsName: bmo-master-0-bmc-secret\n"
			       "  bootMACAddress: 98:03:9b:61:80:48\n"
			       "  consumerRef:\n"
			       "    apiVersion: machine.openshift.io/v1beta1\n"
			       "    kind: Machine\n"
			       "    name: bmo-master-0\n"
			       "    namespace: bmo-project\n"
			       "  externallyProvisioned: true\n"
			       "  hardwareProfile: default\n"
			       "  online: true\n"
			       "status:\n"
			       "  operationalStatus: OK\n"
			       "  provisioning: {state: externally provisioned}\n";

static struct baremetalhost_import m;
static struct buf notes;

static int setup(void **state)
{
	(void)state;
	m = (struct baremetalhost_import){.provider = "hall-a",
					  .ns = "drover-system",
					  .a = arena_new(),
					  .secrets = json_object(),
					  .names = json_object()};
	buf_init(&notes, 1 << 20);
	buf_puts(&notes, "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buf_done(&notes);
	arena_free(m.a);
	json_decref(m.secrets);
	json_decref(m.names);
	return 0;
}

static json_t *convert(const char *yaml)
{
	struct err e;
	OWN_JSON host = yaml_parse(yaml, strlen(yaml), &e);

	if (!host)
		fail_msg("%s: %s", e.text, yaml);
	buf_clear(&notes);
	buf_puts(&notes, "");
	return baremetalhost_machine(&m, host, &notes);
}

static void assert_note(const char *what)
{
	if (!strstr(notes.data, what))
		fail_msg("want '%s' in: %s", what, notes.data);
}

static void assert_json(const json_t *j, const char *want)
{
	char *got = json_text_sorted(j);

	assert_string_equal(got, want);
	free(got);
}

static void an_ipmi_host_keeps_address_mac_and_secret(void **state)
{
	OWN_JSON o = convert(node_0);

	(void)state;
	assert_json(o, "{\"apiVersion\":\"drover.dev/v1alpha1\",\"kind\":\"Machine\","
		       "\"metadata\":{\"name\":\"node-0\"},\"spec\":{\"bmc\":{\"address\":"
		       "\"ipmi://192.168.111.1:6230\",\"credentialsSecretRef\":{\"name\":"
		       "\"node-0-bmc-secret\"}},\"bootMACAddress\":\"00:5a:91:3f:9a:bd\","
		       "\"managementPolicy\":\"Observe\",\"providerRef\":{\"name\":\"hall-a\"}}}");
	assert_note("# BareMetalHost metal3/node-0 becomes Machine node-0\n");
	assert_note("needs a Provider of type ipmi");
	assert_note("copy Secret metal3/node-0-bmc-secret to drover-system/node-0-bmc-secret:\n");
	assert_note("#     kubectl get secret -n metal3 node-0-bmc-secret -o json | jq ");
	assert_note("in use: Metal3 provisions this host; approve");
	assert_note("detach the host from Metal3 (annotation baremetalhost.metal3.io/detached)");
}

static void a_redfish_host_gets_https_and_pins_the_certificate(void **state)
{
	m.instance_type = "hgx-h100-8";
	OWN_JSON o = convert(host_0);

	(void)state;
	assert_string_equal(json_str_at(o, "spec", "bmc", "address"),
			    "https://192.168.1.13/redfish/v1/Systems/1");
	assert_true(json_true_at(o, "spec", "bmc", "tls", "trustOnFirstUse"));
	assert_string_equal(json_str_at(o, "spec", "instanceType"), "hgx-h100-8");
	assert_note("rootDeviceHints (wwn, minSizeGigabytes) is ignored");
	assert_note("disableCertificateVerification is ignored");
	assert_null(strstr(notes.data, "in use"));
}

static void a_host_in_use_is_said_to_be(void **state)
{
	OWN_JSON o = convert(master_0);

	(void)state;
	assert_non_null(o);
	assert_note("in use: Metal3 provisions this host for bmo-master-0, state externally "
		    "provisioned;");
}

static void each_scheme_of_metal3_is_converted_or_refused(void **state)
{
	static const struct {
		const char *address, *want, *note;
	} rows[] = {
		{"192.168.1.13", "ipmi://192.168.1.13", "type ipmi"},
		{"192.168.1.13:623", "ipmi://192.168.1.13:623", "type ipmi"},
		{"ipmi://[fd00::17]:623", "ipmi://[fd00::17]:623", "type ipmi"},
		{"redfish://myhost.example/redfish/v1/Systems/System.Embedded.1",
		 "https://myhost.example/redfish/v1/Systems/System.Embedded.1",
		 "will trust the first certificate"},
		{"redfish+https://10.0.0.1:8443/redfish/v1/Systems/1",
		 "https://10.0.0.1:8443/redfish/v1/Systems/1", "will trust the first certificate"},
		{"redfish+http://10.0.0.1:8000/redfish/v1/Systems/1",
		 "https://10.0.0.1:8000/redfish/v1/Systems/1", "drover requires HTTPS"},
		{"idrac-virtualmedia+https://10.0.0.1/redfish/v1/Systems/System.Embedded.1",
		 "https://10.0.0.1/redfish/v1/Systems/System.Embedded.1",
		 "will trust the first certificate"},
		{"idrac-redfish://10.0.0.1/redfish/v1/Systems/1",
		 "https://10.0.0.1/redfish/v1/Systems/1", "will trust the first certificate"},
		{"ilo5-virtualmedia://10.0.0.1/redfish/v1/Systems/1",
		 "https://10.0.0.1/redfish/v1/Systems/1", "will trust the first certificate"},
		{"redfish-uefihttp://10.0.0.1/redfish/v1/Systems/1",
		 "https://10.0.0.1/redfish/v1/Systems/1", "will trust the first certificate"},
		{"idrac://10.0.0.1", NULL, "no driver for BMC addresses idrac://"},
		{"irmc://10.0.0.1:443", NULL, "no driver for BMC addresses irmc://"},
		{"ilo4-virtualmedia://10.0.0.1", NULL, "no driver"},
		{"libvirt://192.168.122.1:6233/", NULL, "no driver"},
		{"redfish+ftp://10.0.0.1/x", NULL, "neither +http nor +https"},
		{"redfish://admin:pw@10.0.0.1/redfish/v1/Systems/1", NULL, "contains a user"},
		{"redfish://10.0.0.1/redfish?x=1", NULL, "a query"},
		{"ipmi://10.0.0.1/x", NULL, "is not HOST or HOST:PORT"},
		{"ipmi://", NULL, "is not HOST or HOST:PORT"},
		{"redfish://", NULL, "not imported: spec.bmc.address"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN_JSON o = convert(arena_printf(
			m.a,
			"{metadata: {name: h%zu, namespace: x}, spec: {bmc: {address: \"%s\"}}}", i,
			rows[i].address));

		if (!str_eq(json_str_at(o, "spec", "bmc", "address"), rows[i].want))
			fail_msg("%s: want %s, got %s: %s", rows[i].address,
				 str_or(rows[i].want, "none"),
				 str_or(json_str_at(o, "spec", "bmc", "address"), "none"),
				 notes.data);
		assert_note(rows[i].note);
		assert_null(strstr(notes.data, "pw"));
	}
}

static void names_and_secrets_of_two_namespaces_do_not_collide(void **state)
{
	static const char host[] = "{metadata: {name: h, namespace: %s}, spec: {bmc: {address: "
				   "10.0.0.1, credentialsName: bmc}}}";
	OWN_JSON a = convert(arena_printf(m.a, host, "a"));
	OWN_JSON b = convert(arena_printf(m.a, host, "b"));

	(void)state;
	assert_string_equal(json_str_at(a, "metadata", "name"), "h");
	assert_string_equal(json_str_at(a, "spec", "bmc", "credentialsSecretRef", "name"), "bmc");
	assert_string_equal(json_str_at(b, "metadata", "name"), "b-h");
	assert_string_equal(json_str_at(b, "spec", "bmc", "credentialsSecretRef", "name"), "b-bmc");
	assert_note("copy Secret b/bmc to drover-system/b-bmc:\n");

	/* A Secret that two hosts share is copied once. */
	OWN_JSON again = convert("{metadata: {name: h2, namespace: a}, spec: {bmc: {address: "
				 "10.0.0.2, credentialsName: bmc}}}");
	assert_string_equal(json_str_at(again, "spec", "bmc", "credentialsSecretRef", "name"),
			    "bmc");
	assert_null(strstr(notes.data, "copy Secret"));
}

static void hostile_texts_stay_in_comments(void **state)
{
	OWN_JSON o = convert(
		"{metadata: {name: h, namespace: x, annotations: "
		"{baremetalhost.metal3.io/detached: \"\"}}, spec: {bmc: {address: 10.0.0.1, "
		"credentialsName: \"a; rm -rf $HOME\"}, "
		"consumerRef: {name: \"x\\nkind: Pod\\e[31m\"}, rootDeviceHints: {\"a\\n---\\n\": "
		"1}}}");

	(void)state;
	assert_non_null(o);
	assert_null(json_at(o, "spec", "bmc", "credentialsSecretRef"));
	assert_null(strstr(notes.data, "rm -rf"));
	assert_null(strstr(notes.data, "detach it"));
	assert_null(strchr(notes.data, '\033'));
	for (const char *line = notes.data; *line; line = strchr(line, '\n') + 1)
		assert_true(str_starts(line, "# "));
}

static void what_no_machine_can_be_made_of_is_left_out(void **state)
{
	static const char *const hosts[] = {
		"{metadata: {name: h, namespace: x}, spec: {online: true}}",
		"{metadata: {name: h, namespace: x}, spec: {bmc: {address: \"\"}}}",
		("{metadata: {name: h, namespace: x}, spec: {bmc: {address: 10.0.0.1}, "
		 "bootMACAddress: none}}"),
		"{metadata: {name: \"../x\", namespace: x}, spec: {bmc: {address: 10.0.0.1}}}",
		"{spec: {bmc: {address: 10.0.0.1}}}",
		"{}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		OWN_JSON o = convert(hosts[i]);

		if (o)
			fail_msg("%s: a Machine", hosts[i]);
		assert_note("not imported: ");
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(an_ipmi_host_keeps_address_mac_and_secret),
		T(a_redfish_host_gets_https_and_pins_the_certificate),
		T(a_host_in_use_is_said_to_be),
		T(each_scheme_of_metal3_is_converted_or_refused),
		T(names_and_secrets_of_two_namespaces_do_not_collide),
		T(hostile_texts_stay_in_comments),
		T(what_no_machine_can_be_made_of_is_left_out),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
