package web

import (
	_ "embed" // the document
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/keyheat/keyheat/docs"
)

// document describes the JSON API as an OpenAPI 3.1 document. It lacks the schemas of
// docs/findings.schema.json, and refers to them as to its own components.
//
//go:embed openapi.json
var document []byte

var apiDescription = sync.OnceValue(func() []byte {
	whole, err := assemble(document, docs.Findings)
	if err != nil {
		panic(err) // both are part of the program
	}
	return whole
})

// definitions and components are how a schema refers to another one, there and here.
const definitions, components = "#/$defs/", "#/components/schemas/"

// assemble adds the schemas that a document refers to, and lacks.
func assemble(document, schema []byte) ([]byte, error) {
	var whole struct {
		OpenAPI    string                                `json:"openapi"`
		Info       json.RawMessage                       `json:"info"`
		Paths      json.RawMessage                       `json:"paths"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(document, &whole); err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	var known struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(schema), definitions, components)), &known); err != nil {
		return nil, fmt.Errorf("the schema of findings: %w", err)
	}
	schemas := whole.Components["schemas"]
	// Added schemas may refer to more.
	for added, text := true, string(document); added; {
		added = false
		for _, name := range slices.Sorted(maps.Keys(known.Defs)) {
			if schemas[name] == nil && strings.Contains(text, `"`+components+name+`"`) {
				schemas[name], added = known.Defs[name], true
				text += string(known.Defs[name])
			}
		}
	}
	return json.Marshal(whole)
}
