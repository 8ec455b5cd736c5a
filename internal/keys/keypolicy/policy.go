// Package keypolicy hides keys before they are counted: what it replaces is neither in
// a sketch, nor in a log, nor in the store, and so on no page and in no message.
//
// A table's [Policy] says what stays: everything, the beginning of each key, hashes, or
// nothing at all. Hashes are keyed ([Secrets]), so that a key cannot be found by trying,
// and made component by component, so that keys of one tenant still show what they
// share. Sort keys, callers and other attributes are hidden as partition keys are.
//
// # What stays readable in a hidden key
//
// The verdict needs the structure of keys, which is not personal data:
//
//   - a date or time within two days of the request's own, which tells no more than
//     the request's time does: rolling keys and rising sort keys are still recognised.
//     Other dates, such as a date of birth, are hidden;
//   - the mark of a shard with its number, as in #SHARD_7, and a bare number in the
//     form that the table's policy says is a shard's;
//   - words that the operator lists, such as user and order: templates of keys keep
//     them.
package keypolicy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/shardkey"
)

// Mode is what becomes of keys.
type Mode string

// The modes.
const (
	// Plain keeps them. It is the zero value's meaning, too.
	Plain Mode = "plain"
	// Prefix keeps the first characters; the rest is hashed.
	Prefix Mode = "prefix"
	// HMAC hashes them.
	HMAC Mode = "hmac"
	// None drops them: only the totals of tables are counted.
	None Mode = "none"
)

// maxPrefix bounds how many characters [Prefix] keeps.
const maxPrefix = 64

// Policy is what becomes of the keys of one table and of its indexes.
type Policy struct {
	Mode Mode
	// Keep is how many characters Prefix keeps.
	Keep int
	// Words stay readable as whole components of keys.
	Words []string
	// Shards is the form of shards' names that are bare numbers; nil where bare
	// numbers are none.
	Shards *shardkey.Form
}

// Parse reads plain, prefix(4), hmac or none; the empty text is plain.
func Parse(text string) (Policy, error) {
	switch mode := Mode(text); mode {
	case "":
		return Policy{Mode: Plain}, nil
	case Plain, HMAC, None:
		return Policy{Mode: mode}, nil
	}
	count, isPrefix := strings.CutPrefix(text, string(Prefix)+"(")
	count, closed := strings.CutSuffix(count, ")")
	n, err := strconv.Atoi(count)
	if !isPrefix || !closed || err != nil || n < 1 || n > maxPrefix {
		return Policy{}, fmt.Errorf("%q: give plain, prefix(N) with N from 1 to %d, hmac or none", text, maxPrefix)
	}
	return Policy{Mode: Prefix, Keep: n}, nil
}

// Hashes reports whether the policy needs a secret.
func (p Policy) Hashes() bool { return p.Mode == Prefix || p.Mode == HMAC }

// hides reports whether it changes anything.
func (p Policy) hides() bool { return p.Hashes() || p.Mode == None }
