// kstatus: what kstatus, the library by which Flux, Helm and others wait, says of each object in a stream of JSON: one
// line "STATUS: message" for each.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	objects := json.NewDecoder(os.Stdin)
	for {
		var text json.RawMessage
		err := objects.Decode(&text)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fail(err)
		}
		object := unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			fail(err)
		}
		result, err := status.Compute(&object)
		if err != nil {
			fail(err)
		}
		fmt.Printf("%s: %s\n", result.Status, result.Message)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
