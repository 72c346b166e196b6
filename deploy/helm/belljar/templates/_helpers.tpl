{{- define "belljar.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "belljar.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "belljar.labels" -}}
{{ include "belljar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "belljar.tokenSecret" -}}
{{ .Values.token.existingSecret | default (printf "%s-token" (include "belljar.name" .)) }}
{{- end }}

{{- define "belljar.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "belljar.name" .) }}
{{- end }}

{{- /* Prometheus and probes ask for the Pod's address, the others for a name. */ -}}
{{- define "belljar.hosts" -}}
{{- $name := include "belljar.name" . }}
{{- $hosts := list "$(POD_IP)" $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) }}
{{- if .Values.ingress.enabled }}{{ $hosts = append $hosts .Values.ingress.host }}{{ end }}
{{- concat $hosts .Values.allowedHosts | join "," }}
{{- end }}
