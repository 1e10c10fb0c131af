#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"

#define SECRETS "/api/v1/namespaces/kube-system/secrets"
#define CONFIGS "/api/v1/namespaces/kube-system/configmaps"
#define ACCOUNTS "/api/v1/namespaces/default/serviceaccounts"
#define WHOAMI "/apis/authentication.k8s.io/v1/selfsubjectreviews"
#define CANI "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define RBAC "/apis/rbac.authorization.k8s.io/v1"

static const char *const masters[] = {"system:masters", NULL};
static const char *const testers[] = {"testers", NULL};
static struct apiserver_token tokens[] = {
	{.user = "admin", .groups = masters},
	{.user = "jane", .groups = testers},
};

static int setup(void **state)
{
	struct api *r = mem_new(struct api);
	struct apiserver_spec spec = {
		.authenticate = true, .rbac = true, .tokens = tokens, .ntokens = 2};

	tokens[0].token = secret_from_str("admin-token");
	tokens[1].token = secret_from_str("jane-token");
	spec.ca_pem = "PEM";
	api_start(r, &spec, 1000);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	api_teardown(state);
	for (int i = 0; i < 2; i++)
		secret_free((struct secret *)tokens[i].token);
	return 0;
}

static void as(struct api *r, const char *token)
{
	secret_free(r->bearer);
	r->bearer = token ? secret_from_str(token) : NULL;
}

/* Returns the status of a request with this token. */
static int try(struct api *r, const char *token, const char *method, const char *path,
	       const char *body)
{
	as(r, token);
	return api_do(r, method, path, body);
}

static void must(struct api *r, const char *path, const char *body)
{
	try(r, "admin-token", "POST", path, body);
	assert_status(r, 201);
}

static void tell(struct api *r, const char *token, const char *name)
{
	try(r, token, "POST", WHOAMI, "{}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "status.userInfo.username"), name);
}

static void who_shows_nothing_is_anonymous_and_who_shows_nonsense_is_refused(void **state)
{
	struct api *r = *state;

	try(r, NULL, "GET", "/api/v1/nodes", NULL);
	assert_status(r, 403);
	assert_string_equal(api_str(r, "message"),
			    "nodes is forbidden: User \"system:anonymous\" cannot list resource "
			    "\"nodes\" in API group \"\" at the cluster scope");
	try(r, NULL, "GET", "/api", NULL);
	assert_status(r, 403);
	try(r, NULL, "GET", "/version", NULL);
	assert_status(r, 200);
	try(r, "nonsense", "GET", "/version", NULL);
	try(r, "nonsense", "GET", "/api/v1/nodes", NULL);
	assert_status(r, 401);
	tell(r, "jane-token", "jane");
	assert_string_equal(api_str(r, "status.userInfo.groups.0"), "testers");
	assert_string_equal(api_str(r, "status.userInfo.groups.1"), "system:authenticated");
	try(r, "jane-token", "GET", "/api", NULL);
	assert_status(r, 200);
	try(r, "jane-token", "GET", "/api/v1/namespaces/default/pods/x", NULL);
	assert_status(r, 403);
	assert_string_equal(api_str(r, "message"),
			    "pods \"x\" is forbidden: User \"jane\" cannot get resource \"pods\" "
			    "in API group \"\" in the namespace \"default\"");
	try(r, "admin-token", "GET", "/api/v1/nodes", NULL);
	assert_status(r, 200);
}

static void a_client_certificate_says_who_it_is(void **state)
{
	struct api *r = *state;

	as(r, NULL);
	api_certify(r, "carol", "system:masters");
	api_do(r, "POST", WHOAMI, "{}");
	assert_string_equal(api_str(r, "status.userInfo.username"), "carol");
	api_do(r, "GET", "/api/v1/nodes", NULL);
	assert_status(r, 200);
	api_certify(r, "dave", "people");
	api_do(r, "GET", "/api/v1/nodes", NULL);
	assert_status(r, 403);
}

static void make_bootstrap(struct api *r, const char *id, const char *more)
{
	char body[600];

	snprintf(body, sizeof(body),
		 "{'metadata':{'name':'bootstrap-token-%s'},'type':'bootstrap.kubernetes.io/token',"
		 "'stringData':{'token-id':'%s','token-secret':'0123456789abcdef'%s}}",
		 id, id, more);
	must(r, SECRETS, body);
}

static void a_bootstrap_token_is_a_node_until_it_expires(void **state)
{
	struct api *r = *state;

	make_bootstrap(
		r, "abcdef",
		",'usage-bootstrap-authentication':'true','expiration':'2023-11-14T23:00:00Z',"
		"'auth-extra-groups':'system:bootstrappers:mine,system:masters'");
	make_bootstrap(r, "unused", "");
	tell(r, "abcdef.0123456789abcdef", "system:bootstrap:abcdef");
	assert_string_equal(api_str(r, "status.userInfo.groups.0"), "system:bootstrappers");
	assert_string_equal(api_str(r, "status.userInfo.groups.1"), "system:bootstrappers:mine");
	assert_string_equal(api_str(r, "status.userInfo.groups.2"), "system:authenticated");
	api_do(r, "POST", "/api/v1/nodes", "{'metadata':{'name':'n'}}");
	assert_status(r, 201);
	api_do(r, "GET", SECRETS, NULL);
	assert_status(r, 403);
	try(r, "abcdef.0123456789abcdeg", "GET", "/api", NULL);
	assert_status(r, 401);
	try(r, "unused.0123456789abcdef", "GET", "/api", NULL);
	assert_status(r, 401);
	api_run(r, 3600000);
	try(r, "abcdef.0123456789abcdef", "GET", "/api", NULL);
	assert_status(r, 401);
}

static char *token_of(struct api *r, const char *account, const char *body)
{
	char path[200];

	snprintf(path, sizeof(path), ACCOUNTS "/%s/token", account);
	must(r, path, body);
	assert_string_equal(api_str(r, "kind"), "TokenRequest");
	assert_non_null(api_str(r, "metadata.uid"));
	assert_non_null(json_at(r->j, "spec", "boundObjectRef"));
	return mem_strdup(api_str(r, "status.token"));
}

static void a_token_of_a_service_account_is_good_until_it_expires_or_the_account_goes(void **state)
{
	struct api *r = *state;
	char *token, *other;

	must(r, ACCOUNTS, "{'metadata':{'name':'bot'}}");
	try(r, "admin-token", "POST", ACCOUNTS "/bot/token", "{'spec':{'expirationSeconds':10}}");
	assert_status(r, 422);
	try(r, "admin-token", "POST", ACCOUNTS "/none/token", "{}");
	assert_status(r, 404);
	token = token_of(r, "bot", "{}");
	tell(r, token, "system:serviceaccount:default:bot");
	assert_string_equal(api_str(r, "status.userInfo.groups.1"),
			    "system:serviceaccounts:default");
	other = token_of(r, "bot", "{'spec':{'audiences':['vault']}}");
	try(r, other, "GET", "/api", NULL);
	assert_status(r, 401);
	free(other);

	other = token_of(r, "bot", "{'spec':{'expirationSeconds':7200}}");
	api_run(r, 3601000);
	try(r, token, "GET", "/api", NULL);
	assert_status(r, 401);
	tell(r, other, "system:serviceaccount:default:bot");
	try(r, "admin-token", "DELETE", ACCOUNTS "/bot", NULL);
	try(r, other, "GET", "/api", NULL);
	assert_status(r, 401);
	must(r, ACCOUNTS, "{'metadata':{'name':'bot'}}"); /* same name, but a different UID */
	try(r, other, "GET", "/api", NULL);
	assert_status(r, 401);
	free(token);
	free(other);
}

static void a_forged_token_is_refused(void **state)
{
	struct api *r = *state;
	char *token, *last, *other, *mine, *spliced;

	must(r, ACCOUNTS, "{'metadata':{'name':'bot'}}");
	token = token_of(r, "bot", "{}");
	last = strchr(token, '.') + 10;
	*last = *last == 'A' ? 'B' : 'A';
	try(r, token, "GET", "/api", NULL);
	assert_status(r, 401);
	strrchr(token, '.')[1] = '\0';
	try(r, token, "GET", "/api", NULL);
	assert_status(r, 401);
	/* Valid claims with the signature of a different token. */
	other = token_of(r, "bot", "{'spec':{'expirationSeconds':7200}}");
	mine = token_of(r, "bot", "{}");
	spliced =
		mem_printf("%.*s%s", (int)(strrchr(other, '.') - other), other, strrchr(mine, '.'));
	try(r, mine, "GET", "/api", NULL);
	assert_status(r, 200);
	try(r, spliced, "GET", "/api", NULL);
	assert_status(r, 401);
	free(other);
	free(mine);
	free(spliced);
	try(r, "a..b", "GET", "/api", NULL);
	assert_status(r, 401);
	try(r, "eyJhbGciOiJub25lIn0.e30.", "GET", "/api", NULL);
	assert_status(r, 401);
	free(token);
}

static void a_secret_of_a_service_account_holds_a_token_that_goes_with_it(void **state)
{
	struct api *r = *state;
	struct err e;
	size_t len;
	char *token;
	const char *path = "/api/v1/namespaces/default/secrets",
		   *body = "{'metadata':{'name':'t',"
			   "'annotations':{'kubernetes.io/service-account.name':"
			   "'bot'}},'type':'kubernetes.io/service-account-token'}";

	try(r, "admin-token", "POST", path, body);
	assert_status(r, 422);
	must(r, ACCOUNTS, "{'metadata':{'name':'bot'}}");
	must(r, path, body);
	assert_string_equal(api_str(r, "data.namespace"), "ZGVmYXVsdA==");
	assert_non_null(json_at(r->j, "data", "ca.crt"));
	token = crypto_base64_decode(api_str(r, "data.token"), strlen(api_str(r, "data.token")),
				     &len, &e);
	tell(r, token, "system:serviceaccount:default:bot");
	api_run(r, 1000LL * 86400 * 365);
	tell(r, token, "system:serviceaccount:default:bot");
	try(r, "admin-token", "DELETE", "/api/v1/namespaces/default/secrets/t", NULL);
	try(r, token, "GET", "/api", NULL);
	assert_status(r, 401);
	free(token);
}

static void a_token_review_knows_whose_a_token_is(void **state)
{
	struct api *r = *state;
	const char *path = "/apis/authentication.k8s.io/v1/tokenreviews";

	must(r, path, "{'spec':{'token':'jane-token'}}");
	assert_string_equal(api_str(r, "status.user.username"), "jane");
	assert_string_equal(api_str(r, "status.audiences.0"),
			    "https://kubernetes.default.svc.cluster.local");
	must(r, path, "{'spec':{'token':'nobody'}}");
	assert_null(json_at(r->j, "status", "authenticated")); /* false is omitted */
	assert_true(json_is_object(json_at(r->j, "status", "user")));
	assert_null(api_str(r, "status.audiences.0"));
	must(r, path, "{'spec':{'token':'jane-token','audiences':['other.dev']}}");
	assert_null(api_str(r, "status.user.username"));
	try(r, "jane-token", "POST", path, "{'spec':{'token':'jane-token'}}");
	assert_status(r, 403);
	try(r, "admin-token", "GET", path, NULL);
	assert_status(r, 405);
}

static void grant(struct api *r, const char *role, const char *rules)
{
	char body[1000];

	snprintf(body, sizeof(body), "{'metadata':{'name':'%s'},'rules':[%s]}", role, rules);
	must(r, RBAC "/clusterroles", body);
	snprintf(body, sizeof(body),
		 "{'metadata':{'name':'%s'},'roleRef':{'kind':'ClusterRole','name':'%s'},"
		 "'subjects':[{'kind':'Group','name':'testers'}]}",
		 role, role);
	must(r, RBAC "/clusterrolebindings", body);
}

static void roles_say_verb_group_resource_subresource_and_name(void **state)
{
	struct api *r = *state;
	const char *t = "jane-token", *pods = "/api/v1/namespaces/default/pods";

	grant(r, "a", "{'apiGroups':[''],'resources':['pods'],'verbs':['get','list']}");
	assert_int_equal(try(r, t, "GET", pods, NULL), 200);
	assert_int_equal(try(r, t, "GET", "/api/v1/pods", NULL), 200);
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/default/pods/x", NULL), 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/pods?watch=true", NULL), 403);
	assert_int_equal(try(r, t, "DELETE", pods, NULL), 403);
	assert_int_equal(try(r, t, "POST", "/api/v1/namespaces/default/pods/x/eviction", "{}"),
			 403);
	grant(r, "b", "{'apiGroups':[''],'resources':['pods/eviction'],'verbs':['create']}");
	assert_int_equal(try(r, t, "POST", "/api/v1/namespaces/default/pods/x/eviction", "{}"),
			 404);
	grant(r, "any-status", "{'apiGroups':['*'],'resources':['*/status'],'verbs':['get']}");
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes/n/status", NULL), 404);
	assert_int_equal(
		try(r, t, "GET", "/apis/apps/v1/namespaces/default/deployments/d/scale", NULL),
		403);
	grant(r, "c",
	      "{'apiGroups':[''],'resources':['nodes'],'resourceNames':['n'],'verbs':['*']}");
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes/n", NULL), 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes/m", NULL), 403);
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes", NULL), 403);
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn", NULL),
			 200);
	assert_int_equal(try(r, t, "POST", "/api/v1/nodes", "{'metadata':{'name':'n'}}"), 403);
	assert_int_equal(try(r, "admin-token", "DELETE", RBAC "/clusterrolebindings/a", NULL), 200);
	assert_int_equal(try(r, t, "GET", pods, NULL), 403);
}

static void a_role_holds_in_its_namespace(void **state)
{
	struct api *r = *state;
	const char *t = "jane-token";

	must(r, RBAC "/namespaces/default/roles",
	     "{'metadata':{'name':'r'},"
	     "'rules':[{'apiGroups':[''],'resources':['*'],'verbs':['get']}]}");
	must(r, RBAC "/namespaces/default/rolebindings",
	     "{'metadata':{'name':'r'},'roleRef':{'kind':'Role','name':'r'},"
	     "'subjects':[{'kind':'User','name':'jane'}]}");
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/default/pods/x", NULL), 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/kube-system/pods/x", NULL), 403);
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/default", NULL), 200);
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/kube-system", NULL), 403);
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes/x", NULL), 403);
	assert_int_equal(
		try(r, t, "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/x", NULL),
		403);
}

static void aggregated_roles_hold_the_rules_of_those_that_they_select(void **state)
{
	struct api *r = *state;

	must(r, RBAC "/namespaces/default/rolebindings",
	     "{'metadata':{'name':'v'},'roleRef':{'kind':'ClusterRole','name':'view'},'subjects':[{"
	     "'kind':'User','name':'jane'}]}");
	assert_int_equal(try(r, "jane-token", "GET", "/api/v1/namespaces/default/pods", NULL), 200);
	assert_int_equal(try(r, "jane-token", "GET", "/api/v1/namespaces/kube-system/pods", NULL),
			 403);
	assert_int_equal(try(r, "jane-token", "GET", "/api/v1/pods", NULL), 403);
	assert_int_equal(try(r, "jane-token", "GET", "/api/v1/namespaces/default/secrets", NULL),
			 403);
	must(r, RBAC "/clusterroles",
	     "{'metadata':{'name':'more','labels':{'rbac.authorization.k8s.io/aggregate-to-view':"
	     "'true'}},'rules':[{'apiGroups':[''],'resources':['secrets'],'verbs':['list']}]}");
	assert_int_equal(try(r, "jane-token", "GET", "/api/v1/namespaces/default/secrets", NULL),
			 200);
}

static void nobody_grants_what_he_does_not_hold(void **state)
{
	struct api *r = *state;
	const char *t = "jane-token";

	grant(r, "roles",
	      "{'apiGroups':['rbac.authorization.k8s.io'],'resources':['roles','rolebindings'],"
	      "'verbs':['create']},{'apiGroups':[''],'resources':['pods'],'verbs':['get']}");
	try(r, t, "POST", RBAC "/namespaces/default/roles",
	    "{'metadata':{'name':'x'},"
	    "'rules':[{'apiGroups':[''],'resources':['secrets'],'verbs':['get']}]}");
	assert_status(r, 403);
	try(r, t, "POST", RBAC "/namespaces/default/roles",
	    "{'metadata':{'name':'x'},"
	    "'rules':[{'apiGroups':[''],'resources':['*'],'verbs':['get']}]}");
	assert_status(r, 403);
	try(r, t, "POST", RBAC "/namespaces/default/roles",
	    "{'metadata':{'name':'x'},"
	    "'rules':[{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]}");
	assert_status(r, 201);
	grant(r, "cluster-roles",
	      "{'apiGroups':['rbac.authorization.k8s.io'],"
	      "'resources':['clusterroles'],'verbs':['create']}");
	try(r, t, "POST", RBAC "/clusterroles",
	    "{'metadata':{'name':'x'},"
	    "'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'a':'b'}}]}}");
	assert_status(r, 403);
	try(r, t, "POST", RBAC "/namespaces/default/rolebindings",
	    "{'metadata':{'name':'x'},'roleRef':{'kind':'ClusterRole','name':'cluster-admin'},"
	    "'subjects':[{'kind':'User','name':'jane'}]}");
	assert_status(r, 403);
	try(r, t, "POST", RBAC "/namespaces/default/rolebindings",
	    "{'metadata':{'name':'x'},'roleRef':{'kind':'Role','name':'x'},"
	    "'subjects':[{'kind':'User','name':'jane'}]}");
	assert_status(r, 201);
}

static void nobody_grants_by_a_change_what_he_does_not_hold(void **state)
{
	struct api *r = *state;
	const char *role = RBAC "/namespaces/default/roles/x";
	const char *binding = RBAC "/namespaces/default/rolebindings/x";

	grant(r, "roles",
	      "{'apiGroups':['rbac.authorization.k8s.io'],'resources':['roles','rolebindings'],"
	      "'verbs':['update','patch']},"
	      "{'apiGroups':[''],'resources':['pods'],'verbs':['get']}");
	must(r, RBAC "/namespaces/default/roles",
	     "{'metadata':{'name':'x'},"
	     "'rules':[{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]}");
	must(r, RBAC "/namespaces/default/rolebindings",
	     "{'metadata':{'name':'x'},'roleRef':{'kind':'Role','name':'x'}}");
	as(r, "jane-token");
	api_patch(r, "merge-patch+json", role, "{'metadata':{'labels':{'a':'b'}}}");
	assert_status(r, 200);
	api_patch(r, "merge-patch+json", role,
		  "{'rules':[{'apiGroups':[''],'resources':['secrets'],'verbs':['get']}]}");
	assert_status(r, 403);
	api_do(r, "PUT", role,
	       "{'metadata':{'name':'x'},"
	       "'rules':[{'apiGroups':[''],'resources':['*'],'verbs':['get']}]}");
	assert_status(r, 403);
	/* An error in the metadata is reported before the permission check. An error in the rest of
	 * the object is reported after the check. */
	api_patch(r, "merge-patch+json", role,
		  "{'metadata':{'resourceVersion':'1'},'rules':[{'apiGroups':[''],"
		  "'resources':['secrets'],'verbs':['get']}]}");
	assert_status(r, 409);
	api_patch(r, "merge-patch+json", binding,
		  "{'roleRef':{'kind':'ClusterRole','name':'cluster-admin'}}");
	assert_status(r, 403);
}

static bool can(struct api *r, const char *token, const char *attributes)
{
	char body[400];

	snprintf(body, sizeof(body), "{'spec':{%s}}", attributes);
	try(r, token, "POST", CANI, body);
	assert_status(r, 201);
	return json_true_at(r->j, "status", "allowed");
}

static void reviews_answer_what_somebody_may(void **state)
{
	struct api *r = *state;

	grant(r, "p", "{'apiGroups':[''],'resources':['pods'],'verbs':['list']}");
	assert_true(can(
		r, "jane-token",
		"'resourceAttributes':{'verb':'list','resource':'pods','namespace':'default'}"));
	assert_string_equal(api_str(r, "status.reason"), "RBAC: allowed by binding \"p\"");
	assert_false(
		can(r, "jane-token", "'resourceAttributes':{'verb':'list','resource':'nodes'}"));
	assert_true(can(r, "admin-token", "'resourceAttributes':{'verb':'*','resource':'*'}"));
	assert_true(
		can(r, "jane-token", "'nonResourceAttributes':{'verb':'get','path':'/apis/x'}"));
	assert_false(can(r, "jane-token", "'nonResourceAttributes':{'verb':'get','path':'/logs'}"));
	try(r, "jane-token", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
	    "{'spec':{'namespace':'default'}}");
	assert_non_null(strstr(r->text, "[\"pods\"]"));
	assert_null(strstr(r->text, "[\"*\"]"));
	assert_int_equal(json_object_size(json_object_get(r->j, "spec")), 0);
	must(r, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
	     "{'spec':{'user':'x','groups':['testers'],"
	     "'resourceAttributes':{'verb':'list','resource':'pods'}}}");
	assert_true(json_true_at(r->j, "status", "allowed"));
	must(r, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
	     "{'spec':{'user':'x','resourceAttributes':{'verb':'list','resource':'pods'}}}");
	assert_false(json_true_at(r->j, "status", "allowed"));
	must(r, "/apis/authorization.k8s.io/v1/namespaces/kube-system/localsubjectaccessreviews",
	     "{'spec':{'user':'y','resourceAttributes':{'verb':'get','resource':'pods',"
	     "'namespace':'default'}}}");
	assert_false(json_true_at(r->j, "status", "allowed"));
	must(r, RBAC "/namespaces/kube-system/rolebindings",
	     "{'metadata':{'name':'y'},'roleRef':{'kind':'ClusterRole','name':'view'},'subjects':[{"
	     "'kind':'User','name':'y'}]}");
	must(r, "/apis/authorization.k8s.io/v1/namespaces/kube-system/localsubjectaccessreviews",
	     "{'spec':{'user':'y','resourceAttributes':{'verb':'get','resource':'pods',"
	     "'namespace':'default'}}}");
	/* The namespace in the path applies, not the one in the body. */
	assert_true(json_true_at(r->j, "status", "allowed"));
}

static const struct {
	const char *kind, *path;
} paths[] = {
	{"Namespace", "/api/v1/namespaces"},
	{"ServiceAccount", "/api/v1/namespaces/%s/serviceaccounts"},
	{"ClusterRole", RBAC "/clusterroles"},
	{"ClusterRoleBinding", RBAC "/clusterrolebindings"},
	{"Role", RBAC "/namespaces/%s/roles"},
	{"RoleBinding", RBAC "/namespaces/%s/rolebindings"},
};

static void apply_document(struct api *r, const char *text)
{
	struct err e;
	OWN_JSON j = yaml_parse(text, strlen(text), &e);
	const char *path = NULL;
	char full[200];

	if (!j)
		fail_msg("%s", e.text);
	if (str_starts(json_str_at(j, "kind"), "ValidatingAdmissionPolicy"))
		/* this server does not implement the kind (docs/apiserver.md); tests/real/rights.py
		 * tests it with a real kube-apiserver */
		return;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (str_eq(paths[i].kind, json_str_at(j, "kind")))
			path = paths[i].path;
	assert_non_null(path);
	if (strstr(path, "%s"))
		snprintf(full, sizeof(full), "%.*s%s%s", (int)(strstr(path, "%s") - path), path,
			 json_str_at(j, "metadata", "namespace"), strstr(path, "%s") + 2);
	else
		str_copy(full, sizeof(full), path);
	as(r, "admin-token");
	api_raw(r, "POST", full, "application/yaml", text);
	if (r->status != 201 && r->status != 409)
		fail_msg("%s: %d %s", full, r->status, r->text);
}

static void apply_file(struct api *r, const char *name)
{
	FILE *f = fopen(name, "r");
	char text[65536], *rest = text, *end;

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	assert_true(feof(f));
	fclose(f);
	for (; rest; rest = end) {
		end = strstr(rest, "\n---\n");
		if (end) {
			end[1] = '\0';
			end += strlen("\n---\n");
		}
		apply_document(r, rest);
	}
}

static char *token_of_drover(struct api *r)
{
	must(r, "/api/v1/namespaces/drover-system/serviceaccounts/drover/token", "{}");
	return mem_strdup(api_str(r, "status.token"));
}

/* arguments: verb, name */
#define SLICE_RIGHT                                                                                \
	"'resourceAttributes':{'verb':'%s','group':'discovery.k8s.io',"                            \
	"'resource':'endpointslices','namespace':'drover-system','name':'%s'}"
static const char *const slice_verbs[] = {"create", "get", "patch", "delete"};

#define SLEEPER "/apis/apps/v1/namespaces/vc-team-a/"

static void drovers_own_roles_allow_what_they_say_in_the_host_cluster(void **state)
{
	struct api *r = *state;
	char *t;

	apply_file(r, "deploy/rbac.yaml");
	t = token_of_drover(r);
	assert_true(can(r, t,
			"'resourceAttributes':{'verb':'patch','group':'drover.dev',"
			"'resource':'machines','subresource':'status'}"));
	assert_true(can(r, t,
			"'resourceAttributes':{'verb':'create','group':'coordination.k8s.io',"
			"'resource':'leases','namespace':'drover-system'}"));
	assert_false(can(r, t,
			 "'resourceAttributes':{'verb':'create','group':'coordination.k8s.io',"
			 "'resource':'leases','namespace':'default'}"));
	for (size_t i = 0; i < sizeof(slice_verbs) / sizeof(slice_verbs[0]); i++) {
		const char *verb = slice_verbs[i];
		char own[256], other[256];

		str_format(own, sizeof(own), SLICE_RIGHT, verb, "drover-leader");
		str_format(other, sizeof(other), SLICE_RIGHT, verb, "drover-view-x7k2p");
		assert_true(can(r, t, own));
		assert_int_equal(can(r, t, other), str_eq(verb, "create"));
	}
	assert_false(can(r, t,
			 "'resourceAttributes':{'verb':'list','resource':'secrets',"
			 "'namespace':'drover-system'}"));
	assert_false(can(r, t, "'resourceAttributes':{'verb':'delete','resource':'nodes'}"));
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/drover-system/secrets/x", NULL), 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/secrets", NULL), 403);
	must(r, "/api/v1/namespaces", "{'metadata':{'name':'vc-team-a'}}");
	assert_int_equal(try(r, t, "GET", SLEEPER "statefulsets/team-a", NULL), 403);
	apply_file(r, "deploy/tenant-kubeconfig.yaml");
	assert_int_equal(try(r, t, "GET", SLEEPER "statefulsets/team-a", NULL), 404);
	assert_int_equal(try(r, t, "GET", SLEEPER "statefulsets/other", NULL), 403);
	assert_int_equal(try(r, t, "GET", SLEEPER "statefulsets", NULL), 403);
	assert_int_equal(try(r, t, "DELETE", SLEEPER "statefulsets/team-a", NULL), 403);
	free(t);
}

static void drovers_own_roles_allow_what_they_say_in_a_tenant(void **state)
{
	struct api *r = *state;
	char *t;

	apply_file(r, "deploy/tenant-rbac.yaml");
	t = token_of_drover(r);
	assert_int_equal(try(r, t, "GET", "/api/v1/pods", NULL), 200);
	assert_int_equal(try(r, t, "DELETE", "/api/v1/nodes/x", NULL), 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes/x", NULL), 403);
	assert_int_equal(try(r, t, "POST", "/api/v1/namespaces/default/pods/x/eviction", "{}"),
			 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/persistentvolumeclaims", NULL), 200);
	assert_int_equal(try(r, t, "GET", "/api/v1/persistentvolumes", NULL), 200);
	assert_int_equal(try(r, t, "GET", "/apis/storage.k8s.io/v1/storageclasses", NULL), 200);
	assert_int_equal(try(r, t, "GET", "/apis/storage.k8s.io/v1/csinodes", NULL), 200);
	assert_int_equal(try(r, t, "DELETE", "/api/v1/persistentvolumes/x", NULL), 403);
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/kube-system", NULL), 200);
	assert_int_equal(try(r, t, "GET", "/api/v1/namespaces/default", NULL), 403);
	assert_int_equal(try(r, t, "POST", SECRETS, "{'metadata':{'name':'s'}}"), 201);
	assert_int_equal(try(r, t, "GET", SECRETS "/s", NULL), 403);
	assert_int_equal(try(r, t, "GET", CONFIGS "/kubeadm-config", NULL), 404);
	assert_int_equal(try(r, t, "GET", CONFIGS "/kubelet-config", NULL), 403);
	assert_int_equal(try(r, t, "GET", CONFIGS, NULL), 403);
	assert_int_equal(try(r, t, "DELETE", SECRETS "/s", NULL), 200);
	assert_int_equal(try(r, t, "POST", "/api/v1/nodes", "{'metadata':{'name':'s'}}"), 403);
	assert_int_equal(try(r, t, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
			     "{'spec':{'token':'x'}}"),
			 201);
	assert_int_equal(try(r, t, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
			     "{'spec':{'user':'x','nonResourceAttributes':{'path':'/',"
			     "'verb':'get'}}}"),
			 201);
	free(t);
}

static void drovers_own_roles_allow_what_they_say_of_the_hosts_nodes(void **state)
{
	struct api *r = *state;
	char *t;

	apply_file(r, "deploy/rbac.yaml");
	t = token_of_drover(r);
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes", NULL), 403);
	apply_file(r, "deploy/host-nodes-rbac.yaml");
	assert_int_equal(try(r, t, "GET", "/api/v1/nodes", NULL), 200);
	assert_int_equal(try(r, t, "DELETE", "/api/v1/nodes/x", NULL), 404);
	assert_int_equal(try(r, t, "GET", "/api/v1/pods", NULL), 403);
	assert_int_equal(try(r, t, "GET", CONFIGS "/kubeadm-config", NULL), 404);
	assert_int_equal(try(r, t, "POST", SECRETS, "{'metadata':{'name':'s'}}"), 201);
	assert_int_equal(try(r, t, "GET", SECRETS "/s", NULL), 403);
	assert_int_equal(try(r, t, "DELETE", SECRETS "/s", NULL), 200);
	free(t);
}

static void one_may_act_as_another_where_that_is_allowed(void **state)
{
	struct api *r = *state;

	as(r, "admin-token");
	r->as = "jane";
	api_do(r, "POST", WHOAMI, "{}");
	assert_string_equal(api_str(r, "status.userInfo.username"), "jane");
	api_do(r, "GET", "/api/v1/nodes", NULL);
	assert_status(r, 403);
	as(r, "jane-token");
	r->as = "admin";
	api_do(r, "POST", WHOAMI, "{}");
	assert_status(r, 403);
	r->as = NULL;
	grant(r, "bots",
	      "{'apiGroups':[''],'resources':['serviceaccounts'],'resourceNames':['bot'],"
	      "'verbs':['impersonate']}");
	as(r, "jane-token");
	r->as = "system:serviceaccount:default:bot";
	api_do(r, "POST", WHOAMI, "{}");
	assert_string_equal(api_str(r, "status.userInfo.groups.0"), "system:serviceaccounts");
	r->as_group = "system:masters";
	api_do(r, "POST", WHOAMI, "{}");
	assert_status(r, 403);
	r->as_group = NULL;
	r->as = "system:serviceaccount:default:other";
	api_do(r, "POST", WHOAMI, "{}");
	assert_status(r, 403);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(who_shows_nothing_is_anonymous_and_who_shows_nonsense_is_refused),
		CASE(a_client_certificate_says_who_it_is),
		CASE(a_bootstrap_token_is_a_node_until_it_expires),
		CASE(a_token_of_a_service_account_is_good_until_it_expires_or_the_account_goes),
		CASE(a_forged_token_is_refused),
		CASE(a_secret_of_a_service_account_holds_a_token_that_goes_with_it),
		CASE(a_token_review_knows_whose_a_token_is),
		CASE(roles_say_verb_group_resource_subresource_and_name),
		CASE(a_role_holds_in_its_namespace),
		CASE(aggregated_roles_hold_the_rules_of_those_that_they_select),
		CASE(nobody_grants_what_he_does_not_hold),
		CASE(nobody_grants_by_a_change_what_he_does_not_hold),
		CASE(reviews_answer_what_somebody_may),
		CASE(drovers_own_roles_allow_what_they_say_in_the_host_cluster),
		CASE(drovers_own_roles_allow_what_they_say_in_a_tenant),
		CASE(drovers_own_roles_allow_what_they_say_of_the_hosts_nodes),
		CASE(one_may_act_as_another_where_that_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
