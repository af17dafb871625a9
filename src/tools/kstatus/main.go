// kstatus: what kstatus, the library by which Flux, Helm and others wait, says of each object in a stream of JSON: one
// line "STATUS: message" for each.
package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"numaoperator.io/tools/judge"
)

func main() {
	judge.Each(func(text json.RawMessage) (string, error) {
		object := unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			return "", err
		}
		result, err := status.Compute(&object)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %s", result.Status, result.Message), nil
	})
}
