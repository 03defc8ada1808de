{{- /* An address in conclave.yaml as { host, port }; `fallback` is the port if the address has none. */ -}}
{{- define "conclave.address" -}}
{{- $written := .url -}}
{{- if not (contains "://" $written) -}}{{- $written = printf "tcp://%s" $written -}}{{- end -}}
{{- $url := urlParse $written -}}
{{- $host := $url.hostname -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- if not $port -}}{{- $port = toString (default (ternary 443 80 (eq $url.scheme "https")) .fallback) -}}{{- end -}}
{{- dict "host" $host "port" (int $port) | toJson -}}
{{- end -}}

{{- /* The pods or addresses behind a host, as a list of peers of a NetworkPolicy. */ -}}
{{- define "conclave.peers" -}}
{{- $labels := splitList "." . -}}
{{- if regexMatch "^[0-9.]+$" . -}}
{{- list (dict "ipBlock" (dict "cidr" (printf "%s/32" .))) | toJson -}}
{{- else if eq (len $labels) 1 -}}
{{- list (dict "podSelector" dict) | toJson -}}
{{- else if or (and (ge (len $labels) 3) (eq (index $labels 2) "svc")) (regexMatch "\\.svc(\\.|$)" .) -}}
{{- $at := 0 -}}
{{- range $n, $label := $labels -}}{{- if and (eq $label "svc") (not $at) -}}{{- $at = $n -}}{{- end -}}{{- end -}}
{{- list (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" (index $labels (int (sub $at 1)))))) | toJson -}}
{{- else -}}
{{- include "conclave.public" . -}}
{{- end -}}
{{- end -}}

{{- /* The internet without private, shared, link-local and loopback ranges, so that a cloud's metadata service cannot be reached. */ -}}
{{- define "conclave.public" -}}
{{- $private := list "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "169.254.0.0/16" "172.16.0.0/12" "192.168.0.0/16" -}}
{{- list (dict "ipBlock" (dict "cidr" "0.0.0.0/0" "except" $private)) | toJson -}}
{{- end -}}

{{- /* The addresses of each target, from the configuration: { <target>: [{ host, port }] } */ -}}
{{- define "conclave.targets" -}}
{{- $config := .Values.config -}}
{{- $stores := default dict $config.stores -}}
{{- $targets := dict -}}
{{- if eq .Values.mode "distributed" -}}
{{- $brokers := list -}}
{{- range dig "kafka" "brokers" list $stores -}}{{- $brokers = append $brokers (include "conclave.address" (dict "url" . "fallback" 9092) | fromJson) -}}{{- end -}}
{{- $_ := set $targets "kafka" $brokers -}}
{{- with dig "redis" "url" "" $stores -}}
{{- $servers := list (include "conclave.address" (dict "url" . "fallback" 6379) | fromJson) -}}
{{- range dig "redis" "sentinel" "addresses" list $stores -}}{{- $servers = append $servers (include "conclave.address" (dict "url" . "fallback" 26379) | fromJson) -}}{{- end -}}
{{- $_ := set $targets "redis" $servers -}}
{{- end -}}
{{- end -}}
{{- with dig "neo4j" "url" "" $stores -}}{{- $_ := set $targets "neo4j" (list (include "conclave.address" (dict "url" . "fallback" 7687) | fromJson)) -}}{{- end -}}
{{- with dig "chroma" "url" "" $stores -}}{{- $_ := set $targets "chroma" (list (include "conclave.address" (dict "url" .) | fromJson)) -}}{{- end -}}
{{- with dig "blobs" "s3" "url" "" $stores -}}{{- $_ := set $targets "blobs" (list (include "conclave.address" (dict "url" .) | fromJson)) -}}{{- end -}}
{{- with dig "search" "searxng" "" $config -}}{{- $_ := set $targets "searxng" (list (include "conclave.address" (dict "url" .) | fromJson)) -}}{{- end -}}
{{- range $target, $section := dict "models" $config.providers "mcp" $config.mcp "webhooks" $config.webhooks -}}
{{- $addresses := list -}}
{{- range $name, $entry := default dict $section -}}
{{- $url := default "" (ternary $entry.base_url $entry.url (eq $target "models")) -}}
{{- if and (eq $target "webhooks") (not $url) -}}{{- $url = "https://public.invalid" -}}{{- end -}}
{{- if $url -}}{{- $addresses = append $addresses (include "conclave.address" (dict "url" $url) | fromJson) -}}{{- end -}}
{{- end -}}
{{- if $addresses -}}{{- $_ := set $targets $target $addresses -}}{{- end -}}
{{- end -}}
{{- /* Model servers are reached through the proxy, if there is one. */ -}}
{{- range $name := list "HTTPS_PROXY" "HTTP_PROXY" -}}
{{- with get $.Values.env $name -}}{{- $_ := set $targets "models" (append (default list $targets.models) (include "conclave.address" (dict "url" .) | fromJson)) -}}{{- end -}}
{{- end -}}
{{- toJson $targets -}}
{{- end -}}

{{- /* Targets of each program: the servers that libs/host connects it to. */ -}}
{{- define "conclave.arrows" -}}
gateway: [kafka, redis, neo4j, chroma, blobs, models, web]
planner: [kafka, redis, neo4j, chroma, blobs, models, searxng]
experts: [kafka, redis, neo4j, chroma, blobs, models, searxng, mcp, web]
merger: [kafka, redis, chroma, blobs, models, webhooks]
graph-ingest: [kafka, redis, neo4j, chroma, blobs, models]
standalone: [neo4j, chroma, blobs, models, searxng, mcp, webhooks, web]
{{- end -}}

{{- /* Egress rules to one target, as { list: [...] }; empty if the target is not configured. */ -}}
{{- define "conclave.egress" -}}
{{- $values := .root.Values -}}
{{- $own := default dict (get $values.networkPolicy.targets .target) -}}
{{- $addresses := default list (get (include "conclave.targets" .root | fromJson) .target) -}}
{{- $rules := list -}}
{{- if eq .target "web" -}}
{{- if $values.networkPolicy.web -}}
{{- $to := default (include "conclave.public" . | fromJsonArray) $own.to -}}
{{- $rules = append $rules (dict "to" $to "ports" (list (dict "protocol" "TCP" "port" 80) (dict "protocol" "TCP" "port" 443))) -}}
{{- end -}}
{{- else if and $own.to $own.ports -}}
{{- $ports := list -}}{{- range $own.ports -}}{{- $ports = append $ports (dict "protocol" "TCP" "port" (int .)) -}}{{- end -}}
{{- $rules = append $rules (dict "to" $own.to "ports" $ports) -}}
{{- else -}}
{{- range $address := $addresses -}}
{{- $ports := list -}}{{- range default (list $address.port) $own.ports -}}{{- $ports = append $ports (dict "protocol" "TCP" "port" (int .)) -}}{{- end -}}
{{- $rule := dict "to" (default (include "conclave.peers" $address.host | fromJsonArray) $own.to) "ports" $ports -}}
{{- if not (has $rule $rules) -}}{{- $rules = append $rules $rule -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "list" $rules | toJson -}}
{{- end -}}
