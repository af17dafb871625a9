// bundle-validate DIR: Operator Framework's own validators on an OLM bundle, as "operator-sdk bundle validate
// --select-optional suite=operatorframework" calls them. Ends with 1 on an error and on a warning that is not known.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"
)

// All of validation.AllValidators but two: PackageManifestValidator is for the format before bundles, and
// MultipleArchitecturesValidator asks a container engine about images in a registry.
var validators = validator.Validators{
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.BundleValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCategoriesValidator,
	validation.StandardCapabilitiesValidator,
	validation.ObjectValidator,
	validation.OperatorGroupValidator,
	validation.CommunityOperatorValidator,
	validation.AlphaDeprecatedAPIsValidator,
	validation.GoodPracticesValidator,
}

// Warnings that we live with: a part of their text, and why.
var known = map[string]string{
	"permissions to create CRD":                               "NodeResourceTopology's CRD has several users and no owner: it is made when absent",
	"permission to create/update poddisruptionbudgets":        "one, in the operator's own namespace, for the scheduler's replicas",
	"Kind=NumaNodeState: provided API should have an example": "nobody creates one but the operator",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle-validate DIR")
		os.Exit(2)
	}
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, err := range result.Errors {
			failed = true
			fmt.Println("error:", err)
		}
		for _, warning := range result.Warnings {
			if why := reason(warning.Error()); why != "" {
				fmt.Printf("known: %s (%s)\n", first(warning.Error()), why)
			} else {
				failed = true
				fmt.Println("warning:", warning)
			}
		}
	}
	if failed {
		os.Exit(1)
	}
	fmt.Printf("%s: %d validators, no error\n", bundle.Name, len(validators))
}

func reason(warning string) string {
	for text, why := range known {
		if strings.Contains(warning, text) {
			return why
		}
	}
	return ""
}

// first sentence
func first(text string) string {
	sentence, _, _ := strings.Cut(text, ". ")
	return sentence
}
