{{- define "conclave.secretVariable" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | quote }} } }
{{ end -}}

{{- /* Programs that read a variable of `secretEnv`, as { list }, according to the sections of config that name it. */ -}}
{{- define "conclave.readersOf" -}}
{{- $config := .root.Values.config -}}
{{- $named := printf "\\b%s\\b" .name -}}
{{- $readers := list "standalone" -}}
{{- range $section, $app := dict "webhooks" "merger" "webhook_delivery" "merger" "mcp" "experts" "keys" "gateway" -}}
{{- if regexMatch $named (toYaml (get $config $section)) -}}{{- $readers = append $readers $app -}}{{- end -}}
{{- end -}}
{{- if or (eq (len $readers) 1) (regexMatch $named (toYaml (omit $config "webhooks" "webhook_delivery" "mcp" "keys"))) -}}
{{- $readers = list "standalone" "gateway" "planner" "experts" "merger" "graph-ingest" -}}
{{- end -}}
{{- toJson (dict "list" $readers) -}}
{{- end -}}

{{- define "conclave.environment" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $app := .component.app -}}
{{- $distributed := eq $values.mode "distributed" -}}
- { name: CONCLAVE_CONFIG, value: /etc/conclave/conclave.yaml }
- { name: CONCLAVE_HOME, value: {{ ternary "/tmp/conclave" "/data" $distributed }} }
- { name: ADMIN_HOST, value: 0.0.0.0 }
- { name: ADMIN_PORT, value: '9464' }
- { name: LOG_LEVEL, value: {{ $values.logLevel | quote }} }
{{ if $distributed -}}
- { name: SHUTDOWN_GRACE_S, value: {{ include "conclave.grace" $root | quote }} }
- { name: CONCLAVE_SERVICE, value: {{ $app }} }
{{ end -}}
{{- if has $app (list "gateway" "standalone") -}}
- { name: HOST, value: 0.0.0.0 }
- { name: PORT, value: '8080' }
- { name: CONCLAVE_ADMIN_KEY_FILE, value: {{ ternary "/etc/conclave/keys/admin.key" "/data/admin.key" (ne $values.adminKey.existingSecret "") }} }
{{ end -}}
{{- if eq $app "experts" -}}
- { name: WORKER_CLASSES, value: {{ join "," .component.classes | quote }} }
{{ end -}}
{{- if $values.sealKey.existingSecret -}}
- { name: CONCLAVE_SEAL_KEY_FILE, value: /etc/conclave/keys/seal.key }
{{ end -}}
{{- if and $values.permitKey.existingSecret (has $app (list "merger" "experts" "standalone")) -}}
{{ include "conclave.secretVariable" (dict "name" "CONCLAVE_PERMIT_KEY" "secret" $values.permitKey.existingSecret "key" $values.permitKey.key) }}
{{- end -}}
{{- if $distributed -}}
{{- with $values.kafka }}{{ if .existingSecret -}}
{{ include "conclave.secretVariable" (dict "name" "KAFKA_USER" "secret" .existingSecret "key" .userKey) }}
{{- include "conclave.secretVariable" (dict "name" "KAFKA_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}{{ end -}}
{{- with $values.redis }}{{ if .existingSecret -}}
{{ if .userKey }}{{ include "conclave.secretVariable" (dict "name" "REDIS_USER" "secret" .existingSecret "key" .userKey) }}{{ end -}}
{{ include "conclave.secretVariable" (dict "name" "REDIS_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}{{ end -}}
{{- end -}}
{{- $stores := default dict $values.config.stores -}}
{{- with $values.neo4j }}{{ if and .existingSecret $stores.neo4j (ne $app "merger") -}}
{{ include "conclave.secretVariable" (dict "name" "NEO4J_USER" "secret" .existingSecret "key" .userKey) }}
{{- include "conclave.secretVariable" (dict "name" "NEO4J_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}{{ end -}}
{{- with $values.chroma }}{{ if and .existingSecret $stores.chroma -}}
{{ include "conclave.secretVariable" (dict "name" "CHROMA_TOKEN" "secret" .existingSecret "key" .tokenKey) }}
{{- end }}{{ end -}}
{{- with $values.s3 }}{{ if and .existingSecret (dig "blobs" "s3" false $stores) -}}
{{ include "conclave.secretVariable" (dict "name" "S3_ACCESS_KEY" "secret" .existingSecret "key" .accessKeyKey) }}
{{- include "conclave.secretVariable" (dict "name" "S3_SECRET_KEY" "secret" .existingSecret "key" .secretKeyKey) }}
{{- end }}{{ end -}}
{{- range $name, $from := $values.providerKeys -}}
{{ include "conclave.secretVariable" (dict "name" (include "conclave.variable" (dict "prefix" "PROVIDER_KEY" "name" $name)) "secret" $from.existingSecret "key" $from.key) }}
{{- end -}}
{{- if has $app (list "gateway" "standalone") -}}
{{- range $name, $from := $values.clientKeys -}}
{{ include "conclave.secretVariable" (dict "name" (include "conclave.variable" (dict "prefix" "CLIENT_KEY" "name" $name)) "secret" $from.existingSecret "key" $from.key) }}
{{- end -}}
{{- end -}}
{{- range $name, $from := $values.secretEnv -}}
{{- if has $app (include "conclave.readersOf" (dict "root" $root "name" $name) | fromJson).list -}}
{{ include "conclave.secretVariable" (dict "name" $name "secret" $from.existingSecret "key" $from.key) }}
{{- end -}}
{{- end -}}
{{- range $name, $value := $values.env -}}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{ end -}}
{{- end -}}

{{- /* Folders from Secrets: { <volume>: { at, sources } } */ -}}
{{- define "conclave.secretFolders" -}}
{{- $values := .root.Values -}}
{{- $distributed := eq $values.mode "distributed" -}}
{{- $folders := dict -}}
{{- $keys := list -}}
{{- if and $values.adminKey.existingSecret (has .component.app (list "gateway" "standalone")) -}}
{{- $keys = append $keys (dict "secret" (dict "name" $values.adminKey.existingSecret "items" (list (dict "key" $values.adminKey.key "path" "admin.key")))) -}}
{{- end -}}
{{- if $values.sealKey.existingSecret -}}
{{- $keys = append $keys (dict "secret" (dict "name" $values.sealKey.existingSecret "items" (list (dict "key" $values.sealKey.key "path" "seal.key")))) -}}
{{- end -}}
{{- if $keys -}}{{- $_ := set $folders "keys" (dict "at" "/etc/conclave/keys" "sources" $keys) -}}{{- end -}}
{{- range $store := list "kafka" "redis" -}}
{{- $tls := (get $values $store).tls -}}
{{- if and $distributed $tls.existingSecret -}}
{{- $items := list (dict "key" "ca.crt" "path" "ca.crt") -}}
{{- if $tls.client -}}{{- $items = concat $items (list (dict "key" "tls.crt" "path" "tls.crt") (dict "key" "tls.key" "path" "tls.key")) -}}{{- end -}}
{{- $_ := set $folders (printf "tls-%s" $store) (dict "at" (printf "/etc/conclave/tls/%s" $store) "sources" (list (dict "secret" (dict "name" $tls.existingSecret "items" $items)))) -}}
{{- end -}}
{{- end -}}
{{- toJson $folders -}}
{{- end -}}

{{- define "conclave.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $component := .component -}}
{{- $folders := include "conclave.secretFolders" . | fromJson -}}
{{- $http := has $component.app (list "gateway" "standalone") -}}
metadata:
  labels:
    {{- include "conclave.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component.name }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    # A changed configuration restarts the pods.
    checksum/config: {{ include "conclave.config" $root | sha256sum }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "conclave.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  # The pod's pause process has the id 1: it reaps processes that tool servers and calculations leave, and signals work as outside a container.
  shareProcessNamespace: true
  terminationGracePeriodSeconds: {{ ternary (add (include "conclave.grace" $root) 30) 30 (eq $values.mode "distributed") }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if and $values.topologySpread.enabled (eq $values.mode "distributed") }}
  topologySpreadConstraints:
    {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: {{ $values.topologySpread.whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "conclave.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $component.name }}
    {{- end }}
  {{- end }}
  containers:
    - name: {{ $component.app }}
      image: {{ printf "%s:%s" $values.image.repository (default $root.Chart.AppVersion $values.image.tag) | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: [node, dist/{{ $component.app }}.js]
      env:
        {{- include "conclave.environment" . | nindent 8 }}
      ports:
        {{- if $http }}
        - { name: http, containerPort: 8080 }
        {{- end }}
        - { name: metrics, containerPort: 9464 }
      # The admin port answers before the stores do. A pod without a store is alive but not ready.
      startupProbe:
        httpGet: { path: /health/live, port: metrics }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /health/live, port: metrics }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /health/ready, port: metrics }
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 2
      {{- if $http }}
      lifecycle:
        # Requests still arrive until every node knows that the pod ends.
        preStop: { exec: { command: [sleep, '5'] } }
      {{- end }}
      resources: {{- toYaml $component.settings.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: config, mountPath: /etc/conclave/conclave.yaml, subPath: conclave.yaml, readOnly: true }
        - { name: tmp, mountPath: /tmp }
        {{- if eq $component.app "standalone" }}
        - { name: data, mountPath: /data }
        {{- end }}
        {{- range $name, $folder := $folders }}
        - { name: {{ $name }}, mountPath: {{ $folder.at }}, readOnly: true }
        {{- end }}
        {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: config
      configMap: { name: {{ include "conclave.fullname" $root }} }
    - name: tmp
      emptyDir: { sizeLimit: 1Gi }
    {{- range $name, $folder := $folders }}
    - name: {{ $name }}
      projected:
        defaultMode: 0440
        sources: {{- toYaml $folder.sources | nindent 10 }}
    {{- end }}
    {{- if and (eq $component.app "standalone") $values.embedded.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim: { claimName: {{ $values.embedded.persistence.existingClaim }} }
    {{- end }}
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}
