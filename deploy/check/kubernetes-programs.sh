#!/bin/sh
# Builds what `npm run check:deploy -- kubernetes` needs from the Go module proxy into a folder: an API server, a controller manager and a
# scheduler, helm, and the definitions of KEDA and of the Prometheus operator. Takes about 20 minutes on two
# processors. etcd comes from the distribution (apt-get install etcd-server); kubectl must be on PATH.
#   sh deploy/check/kubernetes-programs.sh <folder>
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
version=v1.35.4
staging=v0.35.4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOBIN="$out" GOFLAGS=-buildvcs=false

folder_of() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }

go install helm.sh/helm/v3/cmd/helm@v3.16.4

# The repository of Kubernetes replaces its parts with its own folders; outside of it each part is a module.
cd "$work"
kubernetes=$(folder_of "k8s.io/kubernetes@$version")
{
  printf 'module programs\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$(awk '$1 == "go" { print $2 }' "$kubernetes/go.mod")" "$version"
  sed -n "s#^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => ./staging/.*#\t\1 => \1 $staging#p" "$kubernetes/go.mod"
  printf ')\n'
} >go.mod
programs='kube-apiserver kube-controller-manager kube-scheduler'
{
  printf '//go:build tools\n\npackage programs\n\nimport (\n'
  for name in $programs; do printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "$name"; done
  printf ')\n'
} >tools.go
go mod tidy -e
stamp="-s -w -X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=35"
for name in $programs; do go build -trimpath -ldflags "$stamp" -o "$out/$name" "k8s.io/kubernetes/cmd/$name"; done

mkdir -p "$out/definitions"
install -m 644 "$(folder_of github.com/kedacore/keda/v2@v2.21.0)"/config/crd/bases/keda.sh_*.yaml "$out/definitions"
operator=$(folder_of github.com/prometheus-operator/prometheus-operator@v0.84.0)
install -m 644 "$operator/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" "$out/definitions"
