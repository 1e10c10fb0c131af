#!/bin/sh
# Installs drover in a cluster, or its Debian packages on a host; also uninstalls both.
#
#   deploy/install.sh --image REF --agent-name HOST [--agent-name HOST ...] [--management-network NETWORK ...]
#                     [--context NAME] [--single | --host-network] [--no-wait]
#   deploy/install.sh --package FILE|URL --sha256 HEX [--package FILE|URL --sha256 HEX ...]
#   deploy/install.sh --uninstall [--purge] [--context NAME]
#   deploy/install.sh --uninstall [--purge] --package drover
#
# In a cluster: applies deploy/ with these settings by kubectl (KUBECONFIG, --context), and waits until drover is
# ready. A further run applies changed settings; to upgrade, run it with another --image.
#
#   --image REF                 image that nodes pull: registry.example/drover:0.1, or ...@sha256:...
#   --agent-name HOST           host or address at which machines reach drover, as in spec.agent.endpoint of the Providers
#   --management-network NET    network of BMCs and of drover, which no tenant's kubeconfig may point to
#   --single                    one replica instead of two
#   --host-network              two replicas on the network of nodes labelled drover.dev/management-network=true
#                               (docs/install.md)
#   --no-wait                   do not wait until drover is ready
#   --package FILE|URL          install this .deb, whose SHA-256 must equal the --sha256 behind it: drover and
#                               drover-agent-image together, and drover-libvirt for libvirt hosts
#   --uninstall                 remove drover, but keep its definitions, objects and Secrets (package: settings)
#   --purge                     with --uninstall: remove these too; refused while an object of drover exists that its
#                               finalizers may hold: delete it while drover runs, or see drover uninstall --help
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
image='' names='' networks='' context='' package='' packages='' uninstall='''' purge=''
form=ha wait=yes
while [ $# -gt 0 ]; do
	case $1 in
	--single) form=single ;;
	--host-network) form=host-network ;;
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
		--package)
			[ -z "$package" ] || die "--sha256 is missing: the expected digest of $package"
			package=$2
			;;
		--sha256)
			[ -n "$package" ] || die "--sha256: behind --package, whose digest it is"
			packages="$packages$2 $package
"
			package=
			;;
		esac
		shift
		;;
	*) die "$1: unknown option; --help lists the options" ;;
	esac
	shift
done

k() {
	if [ -n "$context" ]; then kubectl --context "$context" "$@"; else kubectl "$@"; fi
}

# --- a cluster ------------------------------------------------------------------------------------

# Allows only characters of names, addresses and networks, and none that are special in YAML.
plain() {
	case $2 in
	*[!A-Za-z0-9.:/_@%-]*) die "$1: invalid characters: $2" ;;
	esac
}

cluster_is_there() {
	command -v kubectl >/dev/null || die "kubectl is missing: install the package kubernetes-client, or see https://kubernetes.io/docs/tasks/tools"
	version=$(k get --raw /version 2>&1) || die "the cluster does not answer (KUBECONFIG, --context): $version"
	minor=$(printf '%s\n' "$version" | sed -n 's/.*"minor": *"\([0-9]*\).*/\1/p')
	[ "${minor:-0}" -ge 30 ] || die "Kubernetes 1.30 or later is required (ValidatingAdmissionPolicy); this cluster has 1.${minor:-?}"
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

# Prints the entry of images: in kustomization.yaml for NAME[:TAG][@DIGEST].
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

# Makes an overlay beside a copy of deploy/, because kustomize accepts no paths outside.
overlay() {
	mkdir "$work/deploy" "$work/overlay"
	cp -R "$here/crds" "$here/rbac.yaml" "$here/controller.yaml" "$here/kustomization.yaml" "$work/deploy"
	settings >"$work/overlay/drover.yaml"
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
		printf 'images:\n- '
		image_entry
		printf 'configMapGenerator:\n- {name: drover, namespace: drover-system, files: [drover.yaml]}\n'
		printf 'resources: [../deploy]\n'
		sed -n '/^patches:/,$p' "$here/../examples/deploy/$form/kustomization.yaml"
	} >"$work/overlay/kustomization.yaml"
}

install_cluster() {
	[ -n "$image" ] || die "--image is missing: the image that nodes pull; \`make container\` builds it (docs/install.md)"
	[ -n "$names" ] || die "--agent-name is missing: host or address at which machines reach drover"
	plain --image "$image"
	for word in $names; do plain --agent-name "$word"; done
	for word in $networks; do plain --management-network "$word"; done
	cluster_is_there
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	overlay
	# Definitions first, so that they are established before anything uses them.
	k apply --server-side --force-conflicts --field-manager=drover-install -f "$work/deploy/crds" >"$work/log" 2>&1 ||
		die "$(tail -n 3 "$work/log")"
	k wait --for=condition=Established --timeout=60s -f "$work/deploy/crds" >"$work/log" 2>&1 || die "$(tail -n 3 "$work/log")"
	k apply --server-side --force-conflicts --field-manager=drover-install -k "$work/overlay" >"$work/log" 2>&1 ||
		die "$(tail -n 3 "$work/log")"
	say "definitions, permissions and controller are applied in namespace drover-system"
	if [ -n "$wait" ]; then
		k -n drover-system rollout status deployment/drover --timeout=300s >"$work/log" 2>&1 ||
			die "not ready: $(tail -n 1 "$work/log"); kubectl -n drover-system logs deployment/drover"
		say "ready"
	fi
	say "next: create a Provider, Machines, a NodePool and VirtualClusters (examples/), then run: drover get pools"
}

# Lists the objects of drover's kinds, one per line, that a purge would lose or could not delete: all but
# AuditSegments, BurstLedgers, and WipeRecords without a finalizer. Fails if the API server does not answer.
objects_left() {
	for file in "$here"/crds/*.yaml; do
		kind=$(sed -n 's/^  name: //p' "$file" | head -n 1)
		there=$(k get crd "$kind" -o name --ignore-not-found) || return 1
		[ -n "$there" ] || continue
		case $kind in
		auditsegments.* | burstledgers.*) ;;
		wiperecords.*)
			k get "$kind" --ignore-not-found -o jsonpath='{range .items[?(@.metadata.finalizers)]}wiperecord.drover.dev/{.metadata.name}{" (not exported)\n"}{end}' ||
				return 1
			;;
		*) k get "$kind" -o name --ignore-not-found || return 1 ;;
		esac
	done
}

# Prints the YAML documents of a file except the Namespace.
but_namespace() {
	awk 'function out() { if (doc !~ /\nkind: Namespace\n/) printf "%s", doc; doc = "---\n" }
		/^---$/ { out(); next } { doc = doc $0 "\n" } END { out() }' "$1"
}

uninstall_cluster() {
	cluster_is_there
	if [ -n "$purge" ]; then
		left=$(objects_left) || die "--purge: the objects of drover cannot be listed"
		[ -z "$left" ] || die "--purge: these objects still exist; delete them while drover runs, because it removes their finalizers. Without drover: drover uninstall --check lists what each loses, drover uninstall --release-finalizers deletes them (docs/install.md):
$left"
	fi
	k delete --ignore-not-found -f "$here/controller.yaml" >/dev/null
	# The leader releases its Lease and its endpoint, for which it needs its rights.
	k -n drover-system wait --for=delete pod -l app=drover --timeout=60s >/dev/null 2>&1 || true
	k -n drover-system delete endpointslice drover-leader --ignore-not-found >/dev/null
	but_namespace "$here/rbac.yaml" | k delete --ignore-not-found -f - >/dev/null
	for map in $(k -n drover-system get configmaps -o name --ignore-not-found | grep -E '^configmap/drover(-[2456789bcdfghkmt]{10})?$' || true); do
		k -n drover-system delete "$map" --ignore-not-found >/dev/null
	done
	say "drover is removed; machines stay as they are"
	if [ -z "$purge" ]; then
		say "kept: definitions, objects, and Secrets and bills in namespace drover-system; --uninstall --purge removes them"
		return
	fi
	k delete --ignore-not-found --timeout=120s -f "$here/crds" >/dev/null ||
		die "--purge: the definitions are not deleted yet; drover uninstall --check lists the objects that hold them"
	k delete namespace drover-system --ignore-not-found --timeout=300s >/dev/null ||
		die "--purge: namespace drover-system is not deleted yet: kubectl get namespace drover-system -o yaml shows what it waits for"
	say "definitions, wipe records, Secrets and bills are deleted"
}

# --- a host ---------------------------------------------------------------------------------------

# Writes the package $1 to file $2, if its SHA-256 is $3.
fetch() {
	case $1 in
	https://*) curl -fsSL --proto '=https' -o "$2" "$1" || die "$1 cannot be fetched" ;;
	*://*) die "--package $1: want https" ;;
	*) cp -- "$1" "$2" || die "$1 cannot be read" ;;
	esac
	printf '%s  %s\n' "$3" "$2" | sha256sum -c --status - || die "$1: its SHA-256 is not $3; nothing was installed"
}

install_packages() {
	[ "$(id -u)" -eq 0 ] || die "--package: only root installs packages"
	command -v apt-get >/dev/null || die "--package: apt-get is missing; this is not a Debian system"
	[ -z "$package" ] || die "--sha256 is missing: the expected digest of $package"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	n=0
	while read -r sum file; do
		[ -n "$file" ] || continue
		n=$((n + 1))
		fetch "$file" "$work/$n.deb" "$sum"
	done <<-END
		$packages
	END
	chmod 755 "$work"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --allow-downgrades "$work"/*.deb >"$work/log" 2>&1 ||
		die "$(tail -n 3 "$work/log")"
	say "installed: $(dpkg-query -W -f '${Package} ${Version}' drover)"
	say "next: set agent-name in /etc/drover/drover.yaml, write a kubeconfig of ServiceAccount drover to /etc/drover/kubeconfig, then run: systemctl enable --now drover"
}

uninstall_packages() {
	[ "$(id -u)" -eq 0 ] || die "--uninstall: only root removes packages"
	verb=remove
	[ -z "$purge" ] || verb=purge
	# shellcheck disable=SC2046 # word splitting is intended
	DEBIAN_FRONTEND=noninteractive apt-get "$verb" -y -qq \
		$(dpkg-query -W -f '${Package}\n' drover drover-agent-image drover-libvirt 2>/dev/null) >/dev/null
	say "the packages are removed"
}

case $uninstall$packages$package in
'') install_cluster ;;
yes) uninstall_cluster ;;
yes*) uninstall_packages ;;
*) install_packages ;;
esac
