package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// newYAMLCommand turns a stream of YAML documents on stdin into one JSON array on stdout, so that
// test code needs no YAML library of its own. Empty documents are left out.
func newYAMLCommand() *cobra.Command {
	return &cobra.Command{
		Use:           "yaml2json",
		Short:         "read YAML documents from stdin, write one JSON array",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(*cobra.Command, []string) error { return convertYAML(os.Stdin, os.Stdout) },
	}
}

func convertYAML(in io.Reader, out io.Writer) error {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(in))
	documents := []json.RawMessage{}
	for number := 1; ; number++ {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return json.NewEncoder(out).Encode(documents)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", number, err)
		}
		document, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return fmt.Errorf("document %d: %w", number, err)
		}
		if string(document) != "null" {
			documents = append(documents, document)
		}
	}
}
