{{- /* Labels of an object, with the map FURTHER added. The selector of the pods, app: drover, never
changes. Call with (list $ FURTHER). */}}
{{- define "drover.labels" -}}
{{- with index . 0 }}
{{- $own := dict "app" "drover" "app.kubernetes.io/name" "drover" "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") }}
{{- toYaml (merge $own (index $ 1) .Values.commonLabels) }}
{{- end }}
{{- end }}

{{- /* Metadata of an object of drover-system. Call with (list $ NAME FURTHER), where the map FURTHER
has further labels. */}}
{{- define "drover.metadata" -}}
name: {{ index . 1 }}
namespace: drover-system
labels:
  {{- include "drover.labels" (list (index . 0) (index . 2)) | nindent 2 }}
{{- end }}

{{- /* The first of the names that machines use. */}}
{{- define "drover.agentName" -}}
{{- $name := index .Values.settings "agent-name" }}
{{- if kindIs "slice" $name }}{{ $name | default (list "") | first }}{{ else }}{{ $name }}{{ end }}
{{- end }}

{{- /* Pods' affinity: the value affinity, with podAntiAffinity added unless it has its own. */}}
{{- define "drover.affinity" -}}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" (dict "app" "drover")) }}
{{- $anti := dict }}
{{- if eq .Values.podAntiAffinity "required" }}
{{- $anti = dict "podAntiAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term)) }}
{{- else if eq .Values.podAntiAffinity "preferred" }}
{{- $anti = dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution"
  (list (dict "weight" 100 "podAffinityTerm" $term))) }}
{{- end }}
{{- if or .Values.affinity $anti }}
{{- toYaml (hasKey .Values.affinity "podAntiAffinity" | ternary .Values.affinity (merge (dict) .Values.affinity $anti)) }}
{{- end }}
{{- end }}

{{- /* Fails if kind KIND of monitoring.coreos.com is missing in the cluster. Call with
(list $ KIND VALUE). */}}
{{- define "drover.needs" -}}
{{- $kind := printf "monitoring.coreos.com/v1/%s" (index . 1) }}
{{- if not ((index . 0).Capabilities.APIVersions.Has $kind) }}
{{- fail (printf "%s: this cluster has no %s. Install the Prometheus operator first, or set %s=false. For helm template, add --api-versions %s" (index . 2) $kind (index . 2) $kind) }}
{{- end }}
{{- end }}

{{- /* Fails if drover cannot be installed with these values in this cluster. */}}
{{- define "drover.check" -}}
{{- if ne .Release.Namespace "drover-system" }}
{{- fail (printf "--namespace %s: drover must be installed in namespace drover-system, which its permissions name" .Release.Namespace) }}
{{- end }}
{{- $_ := required "image.repository is missing: set it to the image repository of drover (docs/install.md)" .Values.image.repository }}
{{- if not (include "drover.agentName" .) }}
{{- fail "settings.agent-name is missing: set it to the hosts or addresses at which machines reach drover" }}
{{- end }}
{{- if not (.Files.Glob "files/crds/*.yaml") }}
{{- fail "files/crds of the chart is missing: take the whole directory deploy/helm/drover, or the package" }}
{{- end }}
{{- range list (list "apps/v1" "Deployment" "drover-system" "drover") (list "rbac.authorization.k8s.io/v1" "ClusterRole" "" "drover-controller") }}
{{- $found := lookup (index . 0) (index . 1) (index . 2) (index . 3) | default dict }}
{{- $notes := ($found.metadata | default dict).annotations | default dict }}
{{- $release := index $notes "meta.helm.sh/release-name" }}
{{- $namespace := index $notes "meta.helm.sh/release-namespace" }}
{{- if and $release (or (ne $release $.Release.Name) (ne $namespace $.Release.Namespace)) }}
{{- fail (printf "%s %s belongs to release %s in namespace %s, and a cluster has room for one drover. To change that one: helm upgrade %s --namespace %s. To replace it: helm uninstall %s --namespace %s first; objects of drover.dev are kept" (index . 1) (index . 3) $release $namespace $release $namespace $release $namespace) }}
{{- end }}
{{- end }}
{{- with .Values.monitoring }}
{{- if .serviceMonitor.enabled }}{{ include "drover.needs" (list $ "ServiceMonitor" "monitoring.serviceMonitor.enabled") }}{{ end }}
{{- if .prometheusRule.enabled }}{{ include "drover.needs" (list $ "PrometheusRule" "monitoring.prometheusRule.enabled") }}{{ end }}
{{- end }}
{{- end }}
