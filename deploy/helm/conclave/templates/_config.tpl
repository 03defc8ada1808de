{{- /* The variable that contains the key of a provider or a client: PROVIDER_KEY_MY_SERVER */ -}}
{{- define "conclave.variable" -}}
{{- printf "%s_%s" .prefix (regexReplaceAll "[^A-Z0-9]" (upper .name) "_") -}}
{{- end -}}

{{- /* conclave.yaml: `config` of the values, plus the variable or file of each secret. */ -}}
{{- define "conclave.config" -}}
{{- $values := .Values -}}
{{- $config := deepCopy $values.config -}}
{{- $stores := deepCopy (default dict $config.stores) -}}
{{- if eq $values.mode "embedded" -}}
{{- $stores = omit $stores "kafka" "redis" -}}
{{- end -}}
{{- with $stores.kafka -}}
{{- if $values.kafka.existingSecret -}}
{{- $_ := set . "sasl" (merge (dict "user_env" "KAFKA_USER" "password_env" "KAFKA_PASSWORD") (default dict .sasl)) -}}
{{- end -}}
{{- if $values.kafka.tls.existingSecret -}}
{{- $_ := set . "ssl" (include "conclave.tlsFiles" (dict "store" "kafka" "tls" $values.kafka.tls) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- with $stores.redis -}}
{{- if $values.redis.existingSecret -}}
{{- $_ := set . "password_env" "REDIS_PASSWORD" -}}
{{- if $values.redis.userKey -}}{{- $_ := set . "user_env" "REDIS_USER" -}}{{- end -}}
{{- end -}}
{{- if $values.redis.tls.existingSecret -}}
{{- $_ := set . "tls" (include "conclave.tlsFiles" (dict "store" "redis" "tls" $values.redis.tls) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- if and $stores.neo4j $values.neo4j.existingSecret -}}
{{- $_ := set $stores "neo4j" (merge (dict "user_env" "NEO4J_USER" "password_env" "NEO4J_PASSWORD") $stores.neo4j) -}}
{{- end -}}
{{- if and $stores.chroma $values.chroma.existingSecret -}}
{{- $_ := set $stores "chroma" (merge (dict "token_env" "CHROMA_TOKEN") $stores.chroma) -}}
{{- end -}}
{{- if and (dig "blobs" "s3" false $stores) $values.s3.existingSecret -}}
{{- $s3 := merge (dict "access_key_env" "S3_ACCESS_KEY" "secret_key_env" "S3_SECRET_KEY") $stores.blobs.s3 -}}
{{- $_ := set $stores "blobs" (dict "s3" $s3) -}}
{{- end -}}
{{- if $stores -}}{{- $_ := set $config "stores" $stores -}}{{- else -}}{{- $config = omit $config "stores" -}}{{- end -}}
{{- range $name, $_ := $values.providerKeys -}}
{{- $provider := dig "providers" $name dict $config -}}
{{- if not $provider -}}{{- fail (printf "providerKeys.%s: there is no config.providers.%s" $name $name) -}}{{- end -}}
{{- $_ := set $provider "api_key_env" (include "conclave.variable" (dict "prefix" "PROVIDER_KEY" "name" $name)) -}}
{{- end -}}
{{- if $values.clientKeys -}}
{{- $keys := default dict $config.keys -}}
{{- range $name, $_ := $values.clientKeys -}}
{{- $key := default dict (get $keys $name) -}}
{{- $_ := set $keys $name (merge (dict "key_env" (include "conclave.variable" (dict "prefix" "CLIENT_KEY" "name" $name))) $key) -}}
{{- end -}}
{{- $_ := set $config "keys" $keys -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "conclave.tlsFiles" -}}
{{- $folder := printf "/etc/conclave/tls/%s" .store -}}
{{- $files := dict "ca_file" (printf "%s/ca.crt" $folder) -}}
{{- if .tls.client -}}
{{- $files = merge $files (dict "cert_file" (printf "%s/tls.crt" $folder) "key_file" (printf "%s/tls.key" $folder)) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{- /* Refuses what would only fail in a pod. */ -}}
{{- define "conclave.check" -}}
{{- $values := .Values -}}
{{- if eq $values.mode "distributed" -}}
{{- if not (dig "stores" "kafka" "brokers" false $values.config) -}}{{- fail "mode: distributed needs config.stores.kafka.brokers; for one pod without Kafka set mode: embedded" -}}{{- end -}}
{{- if not (dig "stores" "redis" "url" false $values.config) -}}{{- fail "mode: distributed needs config.stores.redis.url; for one pod without Redis set mode: embedded" -}}{{- end -}}
{{- if not (or $values.adminKey.existingSecret $values.clientKeys (eq (default "keys" $values.config.access) "open")) -}}{{- fail "mode: distributed needs adminKey.existingSecret: every gateway must have the same key (kubectl create secret generic conclave-admin --from-literal=admin.key=sk-conclave-...)" -}}{{- end -}}
{{- $served := list "judge" -}}
{{- range $values.experts -}}{{- $served = concat $served .classes -}}{{- end -}}
{{- range concat (list "expert" "evidence") (keys (default dict $values.config.task_classes)) -}}
{{- if not (has . $served) -}}{{- fail (printf "no deployment of `experts` serves the task class %s: its tasks would wait forever" .) -}}{{- end -}}
{{- end -}}
{{- if and (not (dig "stores" "neo4j" false $values.config)) (gt (int $values.graphIngest.replicas) 1) -}}{{- fail "graphIngest.replicas is above 1 without config.stores.neo4j: each pod would have a separate graph" -}}{{- end -}}
{{- end -}}
{{- if and $values.keda.enabled (not $values.keda.prometheusAddress) -}}{{- fail "keda.enabled needs keda.prometheusAddress" -}}{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.host) -}}{{- fail "ingress.enabled needs ingress.host" -}}{{- end -}}
{{- end -}}

{{- /* Seconds that running tasks get before a pod ends: more than the longest task of any template. */ -}}
{{- define "conclave.grace" -}}
{{- if .Values.shutdownGraceSeconds -}}
{{- int .Values.shutdownGraceSeconds -}}
{{- else -}}
{{- $longest := max 240 (int (dig "reasoning" "step_timeout_seconds" 0 .Values.config)) -}}
{{- range $_, $template := default dict .Values.config.templates -}}
{{- $longest = max $longest (int (ceil (default 0 $template.task_timeout_s))) -}}
{{- end -}}
{{- min 3600 (add $longest 5) -}}
{{- end -}}
{{- end -}}
