#include "kube/client.h"

const struct kube_resource KUBE_PODS = {"", "v1", "pods", "Pod", true};
const struct kube_resource KUBE_NODES = {"", "v1", "nodes", "Node", false};
const struct kube_resource KUBE_SECRETS = {"", "v1", "secrets", "Secret", true};
const struct kube_resource KUBE_CONFIGMAPS = {"", "v1", "configmaps", "ConfigMap", true};
const struct kube_resource KUBE_NAMESPACES = {"", "v1", "namespaces", "Namespace", false};
const struct kube_resource KUBE_LEASES = {"coordination.k8s.io", "v1", "leases", "Lease", true};
const struct kube_resource KUBE_EVENTS = {"", "v1", "events", "Event", true};
const struct kube_resource KUBE_DAEMONSETS = {"apps", "v1", "daemonsets", "DaemonSet", true};
const struct kube_resource KUBE_DEPLOYMENTS = {"apps", "v1", "deployments", "Deployment", true};
const struct kube_resource KUBE_STATEFULSETS = {"apps", "v1", "statefulsets", "StatefulSet", true};
const struct kube_resource KUBE_PVCS = {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
					true};
const struct kube_resource KUBE_PVS = {"", "v1", "persistentvolumes", "PersistentVolume", false};
const struct kube_resource KUBE_STORAGECLASSES = {"storage.k8s.io", "v1", "storageclasses",
						  "StorageClass", false};
const struct kube_resource KUBE_CSINODES = {"storage.k8s.io", "v1", "csinodes", "CSINode", false};
const struct kube_resource KUBE_CRDS = {"apiextensions.k8s.io", "v1", "customresourcedefinitions",
					"CustomResourceDefinition", false};
const struct kube_resource KUBE_VOLUMEATTACHMENTS = {"storage.k8s.io", "v1", "volumeattachments",
						     "VolumeAttachment", false};
const struct kube_resource KUBE_PDBS = {"policy", "v1", "poddisruptionbudgets",
					"PodDisruptionBudget", true};
const struct kube_resource KUBE_SERVICES = {"", "v1", "services", "Service", true};
const struct kube_resource KUBE_ENDPOINTSLICES = {"discovery.k8s.io", "v1", "endpointslices",
						  "EndpointSlice", true};
