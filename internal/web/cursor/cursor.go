// Package cursor cuts lists into pages, and writes places in the order of a list as text,
// for addresses. A place holds the values that the list is ordered by, not a number, so that
// the next page continues correctly while rows come and go.
package cursor

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// Parameter is the name that a cursor has in addresses.
const Parameter = "after"

// errForeign is the error for text that is no place of a list.
var errForeign = errors.New(Parameter + ": this is no place of the list, take the one that the page before gives")

// write writes a place as text.
func write(place any) (string, error) {
	body, err := json.Marshal(place)
	return base64.RawURLEncoding.EncodeToString(body), err
}

// read reads a place into a pointer's target. For text that [write] did not write it
// returns [errForeign].
func read(text string, place any) error {
	body, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(body, place) != nil {
		return errForeign
	}
	return nil
}
