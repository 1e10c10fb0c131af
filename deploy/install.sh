#!/bin/sh
# Installs drover in a cluster, or its Debian package on a host; takes it away again.
#
#   deploy/install.sh --image REF --agent-name HOST [--agent-name HOST ...] [--management-network NETWORK ...]
#                     [--context NAME] [--ha] [--no-wait]
#   deploy/install.sh --package FILE|URL --sha256 HEX
#   deploy/install.sh --uninstall [--purge] [--context NAME]
#   deploy/install.sh --uninstall [--purge] --package drover
#
# In a cluster: applies deploy/ with these settings by kubectl (KUBECONFIG, --context), and waits until drover is
# ready.  Run again it changes what has changed; an upgrade is a run with another --image.
#
#   --image REF                 the image where nodes pull it: registry.example/drover:0.1, or ...@sha256:...
#   --agent-name HOST           host or address at which machines reach drover; Providers' spec.agent.endpoint has it too
#   --management-network NET    network of BMCs and of drover, into which no tenant's kubeconfig may lead
#   --ha                        two replicas on nodes labelled drover.dev/management-network=true (docs/install.md)
#   --no-wait                   do not wait until it is ready
#   --package FILE|URL          installs drover_VERSION_ARCH.deb, whose SHA-256 has to be --sha256
#   --uninstall                 takes drover away, and keeps its definitions, objects, Secrets (package: settings)
#   --purge                     those too; refused while an object of drover is left
set -eu
umask 022

say() { printf 'drover: %s\n' "$*"; }
die() {
	printf 'drover: %s\n' "$*" >&2
	exit 1
}
usage() {
	sed -n '2,/^set -eu/{/^#/!d;s/^# \{0,1\}//;p;}' "$0"
	exit "$1"
}

here=$(cd "$(dirname "$0")" && pwd)
image='' names='' networks='' context='' package='' sum='' uninstall='' purge=''
replicas=1 wait=yes
while [ $# -gt 0 ]; do
	case $1 in
	--ha) replicas=2 ;;
	--no-wait) wait= ;;
	--uninstall) uninstall=yes ;;
	--purge) purge=yes ;;
	-h | --help) usage 0 ;;
	--image | --agent-name | --management-network | --context | --package | --sha256)
		[ $# -ge 2 ] || die "$1: has no value"
		[ -n "$2" ] || die "$1: has no value"
		case $1 in
		--image) image=$2 ;;
		--agent-name) names="$names $2" ;;
		--management-network) networks="$networks $2" ;;
		--context) context=$2 ;;
		--package) package=$2 ;;
		--sha256) sum=$2 ;;
		esac
		shift
		;;
	*) die "$1: no such option; --help lists them" ;;
	esac
	shift
done

k() {
	if [ -n "$context" ]; then kubectl --context "$context" "$@"; else kubectl "$@"; fi
}

# --- a cluster ------------------------------------------------------------------------------------

# What a name, address or network has in it, and nothing that is YAML's.
plain() {
	case $2 in
	*[!A-Za-z0-9.:/_@%-]*) die "$1: want no such characters: $2" ;;
	esac
}

cluster_is_there() {
	command -v kubectl >/dev/null || die "kubectl is missing: the package kubernetes-client, or https://kubernetes.io/docs/tasks/tools"
	version=$(k get --raw /version 2>&1) || die "the cluster does not answer (KUBECONFIG, --context): $version"
	minor=$(printf '%s\n' "$version" | sed -n 's/.*"minor": *"\([0-9]*\).*/\1/p')
	[ "${minor:-0}" -ge 30 ] || die "Kubernetes 1.30 or later is needed, for ValidatingAdmissionPolicies; this is 1.${minor:-?}"
}

settings() {
	printf 'agent-name: ['
	separator=
	for name in $names; do
		printf '%s"%s"' "$separator" "$name"
		separator=', '
	done
	printf ']\nmanagement-network: ['
	separator=
	for network in $networks; do
		printf '%s"%s"' "$separator" "$network"
		separator=', '
	done
	printf ']\n'
}

# As in kustomization.yaml: NAME[:TAG][@DIGEST].
image_entry() {
	name=${image%%@*} digest='' tag=''
	[ "$name" = "$image" ] || digest=${image#*@}
	case ${name##*/} in
	*:*) tag=${name##*:} name=${name%:*} ;;
	esac
	[ -n "$tag$digest" ] || die "--image $image: want a tag or a digest"
	printf '{name: drover, newName: "%s"' "$name"
	if [ -n "$digest" ]; then printf ', digest: "%s"}\n' "$digest"; else printf ', newTag: "%s"}\n' "$tag"; fi
}

# An overlay beside a copy of deploy/: kustomize takes no path from elsewhere.
overlay() {
	mkdir "$work/deploy" "$work/overlay"
	cp -R "$here/crds" "$here/rbac.yaml" "$here/controller.yaml" "$here/kustomization.yaml" "$work/deploy"
	settings >"$work/overlay/drover.yaml"
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
		printf 'images:\n- '
		image_entry
		printf 'configMapGenerator:\n- {name: drover, namespace: drover-system, files: [drover.yaml]}\n'
		if [ "$replicas" -eq 1 ]; then
			printf 'resources: [../deploy]\n'
		else
			cp "$here/../examples/deploy/ha/replicas.yaml" "$here/../examples/deploy/ha/budget.yaml" "$work/overlay"
			sed -n '/^patches:/,$p' "$here/../examples/deploy/ha/kustomization.yaml"
			printf 'resources: [../deploy, budget.yaml]\n'
		fi
	} >"$work/overlay/kustomization.yaml"
}

install_cluster() {
	[ -n "$image" ] || die "--image is missing: where nodes pull drover; \`make container\` makes it, docs/install.md says how"
	[ -n "$names" ] || die "--agent-name is missing: host or address at which machines reach drover"
	plain --image "$image"
	for word in $names; do plain --agent-name "$word"; done
	for word in $networks; do plain --management-network "$word"; done
	cluster_is_there
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	overlay
	# Definitions first, and known, so that nothing waits for them.
	k apply --server-side --force-conflicts --field-manager=drover-install -f "$work/deploy/crds" >"$work/log" 2>&1 ||
		die "$(tail -n 3 "$work/log")"
	k wait --for=condition=Established --timeout=60s -f "$work/deploy/crds" >"$work/log" 2>&1 || die "$(tail -n 3 "$work/log")"
	k apply --server-side --force-conflicts --field-manager=drover-install -k "$work/overlay" >"$work/log" 2>&1 ||
		die "$(tail -n 3 "$work/log")"
	say "definitions, rights and controller are applied: namespace drover-system"
	if [ -n "$wait" ]; then
		k -n drover-system rollout status deployment/drover --timeout=300s >"$work/log" 2>&1 ||
			die "not ready: $(tail -n 1 "$work/log"); kubectl -n drover-system logs deployment/drover"
		say "ready"
	fi
	say "next: a Provider, Machines, a NodePool, tenants (examples/), then: drover get pools"
}

# What is left of drover's own kinds, one a line.  An answer that does not come is no answer that nothing is left.
objects_left() {
	for file in "$here"/crds/*.yaml; do
		kind=$(sed -n 's/^  name: //p' "$file" | head -n 1)
		there=$(k get crd "$kind" -o name --ignore-not-found) || return 1
		[ -z "$there" ] || k get "$kind" -o name --ignore-not-found || return 1
	done
}

# A file's documents but that of the namespace.
but_namespace() {
	awk 'function out() { if (doc !~ /\nkind: Namespace\n/) printf "%s", doc; doc = "---\n" }
		/^---$/ { out(); next } { doc = doc $0 "\n" } END { out() }' "$1"
}

uninstall_cluster() {
	cluster_is_there
	if [ -n "$purge" ]; then
		left=$(objects_left) || die "--purge: what is left cannot be asked"
		left=$(printf '%s\n' "$left" | grep -v '^wiperecord\.' || true)
		[ -z "$left" ] || die "--purge: these are left; delete them while drover runs, which takes its finalizers off (docs/install.md):
$left"
	fi
	k -n drover-system delete poddisruptionbudget drover --ignore-not-found >/dev/null
	k delete --ignore-not-found -f "$here/controller.yaml" >/dev/null
	but_namespace "$here/rbac.yaml" | k delete --ignore-not-found -f - >/dev/null
	for map in $(k -n drover-system get configmaps -o name --ignore-not-found | grep -E '^configmap/drover(-[a-z0-9]{10})?$' || true); do
		k -n drover-system delete "$map" --ignore-not-found >/dev/null
	done
	say "drover is taken away; machines are left as they are"
	if [ -z "$purge" ]; then
		say "kept: definitions, objects, and Secrets and bills in namespace drover-system; install again, or --uninstall --purge"
		return
	fi
	k delete --ignore-not-found -f "$here/crds" >/dev/null
	k delete namespace drover-system --ignore-not-found >/dev/null
	say "definitions, wipe records, Secrets and bills are deleted"
}

# --- a host ---------------------------------------------------------------------------------------

install_package() {
	[ "$(id -u)" -eq 0 ] || die "--package: only root installs packages"
	command -v apt-get >/dev/null || die "--package: this is no Debian"
	[ -n "$sum" ] || die "--sha256 is missing: the digest that $package has to have"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	case $package in
	https://*) curl -fsSL --proto '=https' -o "$work/drover.deb" "$package" || die "$package cannot be fetched" ;;
	*://*) die "--package $package: want https" ;;
	*) cp -- "$package" "$work/drover.deb" || die "$package cannot be read" ;;
	esac
	printf '%s  %s\n' "$sum" "$work/drover.deb" | sha256sum -c --status - ||
		die "$package: its SHA-256 is not $sum: nothing was installed"
	chmod 755 "$work"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --allow-downgrades "$work/drover.deb" >"$work/log" 2>&1 ||
		die "$(tail -n 3 "$work/log")"
	say "installed: $(dpkg-query -W -f '${Package} ${Version}' drover)"
	say "next: agent-name into /etc/drover/drover.yaml, a kubeconfig of ServiceAccount drover into /etc/drover/kubeconfig, then: systemctl enable --now drover"
}

uninstall_package() {
	[ "$(id -u)" -eq 0 ] || die "--uninstall: only root removes packages"
	verb=remove
	[ -z "$purge" ] || verb=purge
	DEBIAN_FRONTEND=noninteractive apt-get "$verb" -y -qq drover >/dev/null
	say "the package is removed"
}

case $uninstall$package in
'') install_cluster ;;
yes) uninstall_cluster ;;
yes*) uninstall_package ;;
*) install_package ;;
esac
