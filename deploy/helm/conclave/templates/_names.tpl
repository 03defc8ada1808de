{{- define "conclave.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "conclave.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "conclave.labels" -}}
{{ include "conclave.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "conclave.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "conclave.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* Deployments of this mode, as { list: [{ name, app, settings, classes }] }. `app` determines its targets in "conclave.arrows". */ -}}
{{- define "conclave.components" -}}
{{- $values := .Values -}}
{{- $list := list -}}
{{- if eq $values.mode "distributed" -}}
{{- $list = append $list (dict "name" "gateway" "app" "gateway" "settings" $values.gateway "classes" list) -}}
{{- $list = append $list (dict "name" "planner" "app" "planner" "settings" $values.planner "classes" list) -}}
{{- $list = append $list (dict "name" "merger" "app" "merger" "settings" $values.merger "classes" (list "judge")) -}}
{{- $list = append $list (dict "name" "graph-ingest" "app" "graph-ingest" "settings" $values.graphIngest "classes" list) -}}
{{- range $values.experts -}}
{{- $list = append $list (dict "name" (printf "experts-%s" .name) "app" "experts" "settings" . "classes" .classes) -}}
{{- end -}}
{{- else -}}
{{- $list = append $list (dict "name" "standalone" "app" "standalone" "settings" $values.embedded "classes" list) -}}
{{- end -}}
{{- dict "list" $list | toJson -}}
{{- end -}}
