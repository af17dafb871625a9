// flux-health FILE: what a healthCheckExprs entry of a Flux Kustomization (FILE: YAML with inProgress, failed and
// current) says of each object in a stream of JSON: one line for each. FAKE: stands for Flux, of which only the rule is
// taken over: the expressions are CEL over the object's fields, in that order, and the first that holds tells; when
// none does, it is in progress.
package main

import (
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"sigs.k8s.io/yaml"

	"numaoperator.io/tools/judge"
)

type expressions struct {
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: flux-health FILE")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		judge.Fail(err)
	}
	var check expressions
	if err := yaml.Unmarshal(text, &check); err != nil {
		judge.Fail(err)
	}
	judge.Each(func(object map[string]any) (string, error) {
		return health(check, object)
	})
}

func health(check expressions, object map[string]any) (string, error) {
	for _, rule := range []struct{ status, expression string }{
		{"InProgress", check.InProgress},
		{"Failed", check.Failed},
		{"Current", check.Current},
	} {
		if rule.expression == "" {
			continue
		}
		holds, err := evaluate(rule.expression, object)
		if err != nil {
			return "", fmt.Errorf("%s: %w", rule.status, err)
		}
		if holds {
			return rule.status, nil
		}
	}
	return "InProgress", nil
}

func evaluate(expression string, object map[string]any) (bool, error) {
	options := []cel.EnvOption{ext.Strings()}
	for _, field := range []string{"apiVersion", "kind", "metadata", "spec", "status"} {
		options = append(options, cel.Variable(field, cel.DynType))
	}
	environment, err := cel.NewEnv(options...)
	if err != nil {
		return false, err
	}
	ast, issues := environment.Compile(expression)
	if issues.Err() != nil {
		return false, issues.Err()
	}
	program, err := environment.Program(ast)
	if err != nil {
		return false, err
	}
	result, _, err := program.Eval(object)
	if err != nil {
		return false, err
	}
	holds, ok := result.Value().(bool)
	if !ok {
		return false, fmt.Errorf("not a boolean but %v", result.Type())
	}
	return holds, nil
}
