// Package keypolicy hides keys before they are counted. Replaced texts reach no sketch,
// log or store, and so no page and no message.
//
// A table's [Policy] chooses how much of each key stays: everything, its beginning, or a hash
// alone. Hashes are keyed ([Secrets]), so that nobody finds a key by trial. Sort keys, callers
// and other attributes are hidden like partition keys.
//
// An [Eraser] removes a key that was counted, from stored summaries and JSON, and from
// people's words.
package keypolicy

import (
	"fmt"
	"strconv"
	"strings"
)

// Mode is the treatment of keys.
type Mode string

// The modes.
const (
	// Plain keeps them. It is the zero value's meaning, too.
	Plain Mode = "plain"
	// Prefix keeps the first characters; the rest is hashed.
	Prefix Mode = "prefix"
	HMAC   Mode = "hmac"
)

// maxPrefix bounds how many characters [Prefix] keeps.
const maxPrefix = 64

// Policy is the treatment of the keys of one table and of its indexes.
type Policy struct {
	Mode Mode
	// Keep is how many characters Prefix keeps.
	Keep int
	// Positions allows to keep the first 16 bits of a hashed key's position.
	Positions bool
}

// Parse reads plain, prefix(4) or hmac; the empty text is plain.
func Parse(text string) (Policy, error) {
	switch mode := Mode(text); mode {
	case "":
		return Policy{Mode: Plain}, nil
	case Plain, HMAC:
		return Policy{Mode: mode}, nil
	}
	count, isPrefix := strings.CutPrefix(text, string(Prefix)+"(")
	count, closed := strings.CutSuffix(count, ")")
	n, err := strconv.Atoi(count)
	if !isPrefix || !closed || err != nil || n < 1 || n > maxPrefix {
		return Policy{}, fmt.Errorf("%q: give plain, prefix(N) with N from 1 to %d, or hmac", text, maxPrefix)
	}
	return Policy{Mode: Prefix, Keep: n}, nil
}

// Hashes reports whether the policy needs a secret.
func (p Policy) Hashes() bool { return p.Mode == Prefix || p.Mode == HMAC }
