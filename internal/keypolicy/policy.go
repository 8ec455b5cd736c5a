// Package keypolicy hides keys before they are counted. Replaced texts reach no sketch,
// log or store, and so no page and no message.
//
// A table's [Policy] chooses how much of each key stays: everything, its beginning,
// hashes, or nothing. Hashes are keyed ([Secrets]), so that nobody finds a key by trial.
// They are made component by component, so that keys of one tenant still show their
// common part. Sort keys, callers and other attributes are hidden like partition keys.
//
// # Readable parts of a hidden key
//
// The verdict needs the structure of keys, without personal data:
//
//   - a date or time within two days of the request's own, which adds nothing to the
//     request's time: rolling keys and rising sort keys are still recognised. Other
//     dates, such as a date of birth, are hidden;
//   - a key shard's mark with its number, as in #SHARD_7, and a bare number in the form
//     that the table's policy names for key shards;
//   - words that the operator lists, such as user and order: templates of keys keep
//     them.
//
// An [Eraser] removes a key that was counted, from stored summaries and JSON, and from
// people's words.
package keypolicy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/shardkey"
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
	// None drops them: only the totals of tables are counted.
	None Mode = "none"
)

// maxPrefix bounds how many characters [Prefix] keeps.
const maxPrefix = 64

// Policy is the treatment of the keys of one table and of its indexes.
type Policy struct {
	Mode Mode
	// Keep is how many characters Prefix keeps.
	Keep int
	// Words stay readable as whole components of keys.
	Words []string
	// Positions allows to keep the first 16 bits of a hashed key's position.
	Positions bool
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

func (p Policy) hides() bool { return p.Hashes() || p.Mode == None }
