"""Renders the chart with Helm's own engine, without a cluster.

stdin: {"chart": folder, "kubernetes": [version], "releases": [{"name", "namespace", "values" (YAML text)}]}
stdout: [{"objects": [object], "notes": text, "invalid": [sentence], "lint": [finding]} or {"error": text}], in the order of the input.
"""
import json
import sys

import helm_python as helm
import kubernetes_validate
import yaml

# API groups of other projects, whose schemas are not part of Kubernetes.
FOREIGN = ("keda.sh/", "monitoring.coreos.com/")


def objects_of(manifests):
    for name in sorted(manifests):
        if name.endswith(".txt"):
            continue
        yield from (one for one in yaml.safe_load_all(manifests[name]) if one)


def invalid(one, versions):
    if one["apiVersion"].startswith(FOREIGN):
        return
    for version in versions:
        try:
            kubernetes_validate.validate(one, version, strict=True)
        except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
            yield f"{one['kind']} {one['metadata']['name']} under Kubernetes {version}: {error}"


def render(chart, release, versions):
    values = yaml.safe_load(release["values"]) or {}
    try:
        chart.validate_schema(values)
        manifests = chart.render(values, name=release["name"], namespace=release["namespace"])
    except helm.HelmError as error:
        return {"error": str(error)}
    objects = list(objects_of(manifests))
    return {
        "objects": objects,
        "notes": "".join(text for name, text in manifests.items() if name.endswith("NOTES.txt")),
        "invalid": [text for one in objects for text in invalid(one, versions)],
        # 2 is a warning. The missing icon is only a recommendation (1).
        "lint": [one["error"] for one in helm.lint(folder, values, strict=True)["messages"] if one["severity"] >= 2],
    }


asked = json.load(sys.stdin)
folder = asked["chart"]
with helm.Chart.load(folder) as chart:
    json.dump([render(chart, release, asked["kubernetes"]) for release in asked["releases"]], sys.stdout)
