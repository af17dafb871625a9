// helm-template renders a chart as "helm template" does, by Helm's own packages: values, their schema, the engine and
// the order of the objects. All of helm, which would talk to a cluster, would take minutes to compile; of this, what
// is slow to compile is shared with the lab's build.
//
//	helm-template [--namespace NAMESPACE] [--set NAME=VALUE]… [--values FILE]… CHART
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/strvals"
)

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "helm-template:", err)
		os.Exit(1)
	}
}

func run() error {
	var sets, files list
	flag.Var(&sets, "set", "a value, as for helm")
	flag.Var(&files, "values", "a file of values, as for helm")
	namespace := flag.String("namespace", "default", "of the release")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("wants one chart, got %d", flag.NArg())
	}
	values := map[string]any{}
	for _, file := range files {
		more, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return err
		}
		values = chartutil.MergeTables(more, values)
	}
	for _, set := range sets {
		if err := strvals.ParseInto(set, values); err != nil {
			return err
		}
	}
	loaded, err := loader.Load(flag.Arg(0))
	if err != nil {
		return err
	}
	return render(loaded, values, *namespace)
}

func render(loaded *chart.Chart, values map[string]any, namespace string) error {
	release := chartutil.ReleaseOptions{Name: "release-name", Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, values, release, chartutil.DefaultCapabilities.Copy())
	if err != nil {
		return err
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		return err
	}
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	// helm template --include-crds
	for _, crd := range loaded.CRDObjects() {
		fmt.Printf("---\n# Source: %s\n%s\n", crd.Filename, crd.File.Data)
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	if len(hooks) > 0 {
		return fmt.Errorf("hooks are not rendered: %s", hooks[0].Path)
	}
	for _, manifest := range manifests {
		fmt.Printf("---\n# Source: %s\n%s\n", manifest.Name, manifest.Content)
	}
	return nil
}
