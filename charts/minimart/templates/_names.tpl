{{/* What the pods are found by; never changed, since a Deployment cannot change it. */}}
{{- define "minimart.selector" -}}
app.kubernetes.io/name: minimart
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "minimart.labels" -}}
{{ include "minimart.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}
