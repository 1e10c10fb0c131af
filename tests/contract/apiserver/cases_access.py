"""Cases of authentication and authorisation: tokens, anonymous requests, RBAC, access reviews."""
import engine
from engine import ABSENT, ANY, TEXT, Step, case, delete, fault, get, has, like, one_of, patch, post
from cases_objects import CM, SECRETS, cm

ACCOUNTS = "/api/v1/namespaces/{ns}/serviceaccounts"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = RBAC + "/namespaces/{ns}/roles"
BINDINGS = RBAC + "/namespaces/{ns}/rolebindings"
SELF = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
TOKEN = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
ROBOT = [post(ACCOUNTS, {"metadata": {"name": "robot"}}),
         post(ACCOUNTS + "/robot/token", TOKEN, keep={"token": "status.token"})]
ROBOT_NAME = "system:serviceaccount:{ns}:robot"


class As(Step):
    """A step as another user, with this token (names in braces are replaced); "": anonymous."""

    def __init__(self, token, step):
        super().__init__(step.method, step.path, step.body, step.code, step.want, step.keep,
                         step.within, step.headers, answer=step.answer)
        self.token = token

    def once(self, run):
        self.user = engine.fill(self.token, run.names)
        super().once(run)


def robot(step):
    return As("{token}", step)


def role(*rules, name="r"):
    return post(ROLES, {"metadata": {"name": name}, "rules": list(rules)})


def rule(verbs, resources, group="", **more):
    return {"apiGroups": [group], "resources": resources.split(","), "verbs": verbs.split(","),
            **more}


def bound(name="r", kind="Role"):
    return post(BINDINGS, {"metadata": {"name": name},
                           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind,
                                       "name": name},
                           "subjects": [{"kind": "ServiceAccount", "name": "robot",
                                         "namespace": "{ns}"}]})


def may(verb, resource, allowed, **attributes):
    """A step: the robot asks by SelfSubjectAccessReview whether it may, and gets `allowed`."""
    return robot(post(SELF, {"spec": {"resourceAttributes": {
        "namespace": "{ns}", "verb": verb, "resource": resource, **attributes}}},
        want={"status.allowed": allowed}, within=3))


case("access: nobody is told nothing",
     As("", get(CM, code=(401, 403), want={"kind": "Status", "status": "Failure"})))
case("access: a wrong token is 401",
     As("nonsense", get(CM, **fault(401, "Unauthorized"))))
case("access: anonymous may ask for health",
     As("", get("/livez")), As("", get("/version")))
case("access: the administrator is who he is",
     post(ME, {}, want={"status.userInfo.username": TEXT, "status.userInfo.groups": ANY}))
case("access: the token of a ServiceAccount names it",
     *ROBOT, robot(post(ME, {}, want={
         "status.userInfo.username": ROBOT_NAME,
         "status.userInfo.groups": has("system:serviceaccounts")})))
case("access: TokenRequest says until when",
     ROBOT[0],
     post(ACCOUNTS + "/robot/token", {**TOKEN, "spec": {"expirationSeconds": 3600}},
          want={"kind": "TokenRequest", "status.token": like(r"[^.]+\.[^.]+\.[^.]+"),
                "status.expirationTimestamp": TEXT}))
case("access: a TokenRequest for less than ten minutes is 422",
     ROBOT[0],
     post(ACCOUNTS + "/robot/token", {**TOKEN, "spec": {"expirationSeconds": 5}},
          **fault(422, "Invalid")))
case("access: a TokenRequest of no account is 404",
     post(ACCOUNTS + "/none/token", TOKEN, **fault(404, "NotFound")))
case("access: the token dies with its account",
     *ROBOT, robot(post(ME, {})), delete(ACCOUNTS + "/robot"),
     robot(post(ME, {}, code=401, within=15)))
case("access: TokenReview knows a token",
     *ROBOT, post(REVIEWS, {"spec": {"token": "{token}"}}, want={
         "status.authenticated": True, "status.user.username": ROBOT_NAME}),
     post(REVIEWS, {"spec": {"token": "nonsense"}}, want={
         "status.authenticated": one_of(False, ABSENT)}))
case("access: a token counts for its audiences only",
     ROBOT[0], post(ACCOUNTS + "/robot/token", {**TOKEN, "spec": {"audiences": ["a.dev", "b.dev"]}},
                    keep={"token": "status.token"}),
     robot(post(ME, {}, code=401)),
     post(REVIEWS, {"spec": {"token": "{token}"}}, want={"status.authenticated": one_of(False, ABSENT)}),
     post(REVIEWS, {"spec": {"token": "{token}", "audiences": ["c.dev"]}},
          want={"status.authenticated": one_of(False, ABSENT)}),
     post(REVIEWS, {"spec": {"token": "{token}", "audiences": ["c.dev", "b.dev"]}}, want={
         "status.authenticated": True, "status.user.username": ROBOT_NAME,
         "status.audiences": ["b.dev"]}))
case("access: a token Secret is filled in",
     ROBOT[0],
     post(SECRETS, {"metadata": {"name": "t", "annotations": {
         "kubernetes.io/service-account.name": "robot"}},
         "type": "kubernetes.io/service-account-token"}),
     get(SECRETS + "/t", want={"data.token": TEXT, "data.namespace": TEXT}, within=10))
case("access: who has no role may nothing, and is told what",
     *ROBOT, robot(get(CM, **fault(403, "Forbidden", also={
         "message": has('cannot list resource "configmaps" in API group ""')}))))
case("access: a role allows its verbs and no others",
     *ROBOT, role(rule("get,list", "configmaps")), bound(), post(CM, cm()),
     robot(get(CM, within=5)), robot(get(CM + "/a")),
     robot(delete(CM + "/a", code=403)), robot(post(CM, cm("b"), code=403)),
     robot(get(SECRETS, code=403)),
     robot(get(CM + "?watch=true&timeoutSeconds=1", code=403)))
case("access: resourceNames",
     *ROBOT, role(rule("get", "configmaps", resourceNames=["a"])), bound(),
     post(CM, cm("a")), post(CM, cm("b")),
     robot(get(CM + "/a", within=5)), robot(get(CM + "/b", code=403)), robot(get(CM, code=403)))
case("access: resourceNames for a list by metadata.name",
     *ROBOT, role(rule("list,watch", "configmaps", resourceNames=["a"])), bound(),
     robot(get(CM + "?fieldSelector=metadata.name=a", within=5)),
     robot(get(CM + "?fieldSelector=metadata.name=b", code=403)))
case("access: a subresource is a resource of its own",
     *ROBOT, role(rule("*", "pods")), bound(),
     may("create", "pods", True), may("create", "pods", False, subresource="eviction"),
     may("patch", "pods", False, subresource="status"))
case("access: stars",
     *ROBOT, role({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}), bound(),
     may("create", "pods", True, subresource="eviction"),
     may("list", "deployments", True, group="apps"))
case("access: a role is of its namespace alone",
     *ROBOT, role(rule("*", "configmaps")), bound(),
     robot(get(CM, within=5)), robot(get("/api/v1/namespaces/default/configmaps", code=403)),
     robot(get("/api/v1/configmaps", code=403)))
case("access: a cluster role bound in a namespace is of that namespace",
     *ROBOT, post(RBAC + "/clusterroles", {"metadata": {"name": "{id}"}, "rules": [
         rule("get,list", "configmaps")]}), bound("{id}", "ClusterRole"),
     robot(get(CM, within=5)), robot(get("/api/v1/configmaps", code=403)))
case("access: a cluster role bound for all",
     *ROBOT, post(RBAC + "/clusterroles", {"metadata": {"name": "{id}"}, "rules": [
         rule("get,list", "nodes"), {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}),
     post(RBAC + "/clusterrolebindings", {
         "metadata": {"name": "{id}"},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                     "name": "{id}"},
         "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io",
                       "name": "system:serviceaccounts:{ns}"}]}),
     robot(get("/api/v1/nodes", within=5)),
     robot(post(SELF, {"spec": {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}},
                want={"status.allowed": True})))
case("access: aggregated cluster roles",
     post(RBAC + "/clusterroles", {"metadata": {"name": "{id}"}, "aggregationRule": {
         "clusterRoleSelectors": [{"matchLabels": {"part-of": "{id}"}}]}}),
     post(RBAC + "/clusterroles", {"metadata": {"name": "{id}-a", "labels": {"part-of": "{id}"}},
                                   "rules": [rule("get", "configmaps")]}),
     *ROBOT, bound("{id}", "ClusterRole"), may("get", "configmaps", True),
     may("list", "configmaps", False))
case("access: nobody grants what he does not hold",
     *ROBOT, role(rule("create,get", "roles", "rbac.authorization.k8s.io")), bound(),
     may("create", "roles", True, group="rbac.authorization.k8s.io"),
     robot(post(ROLES, {"metadata": {"name": "more"}, "rules": [rule("get", "secrets")]},
                **fault(403, "Forbidden", also={"message": has("attempting to grant")}))))
case("access: nobody binds what he does not hold",
     *ROBOT, role(rule("create,get", "rolebindings", "rbac.authorization.k8s.io")), bound(),
     role(rule("*", "secrets"), name="other"),
     may("create", "rolebindings", True, group="rbac.authorization.k8s.io"),
     robot(post(BINDINGS, {"metadata": {"name": "x"}, "roleRef": {
         "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "other"},
         "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "me"}]},
         code=403)))
case("access: the roleRef of a binding does not change",
     role(rule("get", "pods")), bound(),
     patch(BINDINGS + "/r", {"roleRef": {"name": "other"}}, **fault(422, "Invalid", also={
         "message": has("roleRef")})))
case("access: SelfSubjectRulesReview lists",
     *ROBOT, role(rule("get", "configmaps")), bound(), may("get", "configmaps", True),
     robot(post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                {"spec": {"namespace": "{ns}"}},
                want={"status.resourceRules.*.resources": has(["configmaps"])})))
case("access: SubjectAccessReview asks for another",
     ROBOT[0], role(rule("get", "configmaps")), bound(),
     post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {
         "user": ROBOT_NAME, "resourceAttributes": {
             "namespace": "{ns}", "verb": "get", "resource": "configmaps"}}},
         want={"status.allowed": True}, within=5),
     post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {
         "user": ROBOT_NAME, "resourceAttributes": {
             "namespace": "{ns}", "verb": "delete", "resource": "configmaps"}}},
         want={"status.allowed": False}))
case("access: impersonation",
     get(CM, headers={"Impersonate-User": "{id}"}, **fault(403, "Forbidden", also={
         "message": has("cannot list resource")})),
     post(ME, {}, headers={"Impersonate-User": "{id}", "Impersonate-Group": "g"},
          code=201, want={"status.userInfo.username": "{id}",
                          "status.userInfo.groups": has("g")}))
case("access: a bootstrap token is a bootstrapper",
     post("/api/v1/namespaces/kube-system/secrets", {
         "metadata": {"name": "bootstrap-token-{id6}"}, "type": "bootstrap.kubernetes.io/token",
         "stringData": {"token-id": "{id6}", "token-secret": "0123456789abcdef",
                        "usage-bootstrap-authentication": "true",
                        "auth-extra-groups": "system:bootstrappers:x"}}),
     As("{id6}.0123456789abcdef", post(ME, {}, within=5, want={
         "status.userInfo.username": "system:bootstrap:{id6}",
         "status.userInfo.groups": has("system:bootstrappers:x")})),
     As("{id6}.0123456789abcdee", post(ME, {}, code=401)))
case("access: an expired bootstrap token is 401",
     post("/api/v1/namespaces/kube-system/secrets", {
         "metadata": {"name": "bootstrap-token-{id6}"}, "type": "bootstrap.kubernetes.io/token",
         "stringData": {"token-id": "{id6}", "token-secret": "0123456789abcdef",
                        "usage-bootstrap-authentication": "true",
                        "expiration": "2001-01-01T00:00:00Z"}}),
     As("{id6}.0123456789abcdef", post(ME, {}, code=401)))
