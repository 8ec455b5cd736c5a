package mapped

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// lookup returns the value at a path in an object, or nil if it is missing or null. Names may
// contain dots at every depth: attributes.db.name also finds db.name in the object attributes.
func lookup(fields map[string]json.RawMessage, path string) json.RawMessage {
	if value := present(fields[path]); value != nil {
		return value
	}
	for at := range len(path) {
		if path[at] != '.' {
			continue
		}
		if value := present(fields[path[:at]]); value != nil {
			if value = lookUp(value, path[at+1:]); value != nil {
				return value
			}
		}
	}
	return nil
}

// lookUp returns the value at a path in a value: an object, an array (elements are numbered
// from 0), or a text that contains one as JSON.
func lookUp(value json.RawMessage, path string) json.RawMessage {
	if value = inner(value); len(value) == 0 {
		return nil
	}
	if object := objectOfPairs(value); value[0] == '[' && object != nil {
		value = object
	}
	switch {
	case value[0] == '{':
		var fields map[string]json.RawMessage
		if json.Unmarshal(value, &fields) != nil {
			return nil
		}
		return lookup(fields, path)
	case value[0] != '[':
		return nil
	}
	first, rest, deeper := strings.Cut(path, ".")
	n, err := strconv.Atoi(first)
	var elements []json.RawMessage
	if err != nil || json.Unmarshal(value, &elements) != nil || n < 0 || n >= len(elements) {
		return nil
	}
	if value = present(elements[n]); value == nil || !deeper {
		return value
	}
	return lookUp(value, rest)
}

// present returns a value, nil for null.
func present(value json.RawMessage) json.RawMessage {
	if value = bytes.TrimSpace(value); string(value) == "null" || len(value) == 0 {
		return nil
	}
	return value
}
