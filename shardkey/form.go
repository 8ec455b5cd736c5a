package shardkey

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxShards is the most shards that a Sharding may have. More than this want
// another key design.
const MaxShards = 100_000

// Form is how a shard's number stands in a partition key.
type Form struct {
	// Before and After surround the number: "#SHARD_" and "" in BASE#SHARD_7,
	// "" and "#" in 7#BASE.
	Before, After string
	// Prefix reports that the number stands before the base, not behind it.
	Prefix bool
	// Alone reports that the number is the whole partition key, the real key being
	// in the sort key, as in a sharded index of a status.
	Alone bool
}

// HashShardUnderscore returns the form BASE#SHARD_7.
func HashShardUnderscore() Form { return Form{Before: "#SHARD_"} }

// HashShardHash returns the form BASE#SHARD#7.
func HashShardHash() Form { return Form{Before: "#SHARD#"} }

// HashShardDash returns the form BASE#shard-7.
func HashShardDash() Form { return Form{Before: "#shard-"} }

// HashNumber returns the form BASE#7.
func HashNumber() Form { return Form{Before: "#"} }

// DotNumber returns the form BASE.7.
func DotNumber() Form { return Form{Before: "."} }

// NumberHash returns the form 7#BASE.
func NumberHash() Form { return Form{After: "#", Prefix: true} }

// NumberDash returns the form 7-BASE.
func NumberDash() Form { return Form{After: "-", Prefix: true} }

// NumberOnly returns the form 7: the base is in the sort key.
func NumberOnly() Form { return Form{Prefix: true, Alone: true} }

// Forms returns the forms that are found in the field, in the order in which
// [Parse] tries them: those that name a shard by a word before those that are
// only a number.
func Forms() []Form {
	return []Form{
		HashShardUnderscore(), HashShardHash(), HashShardDash(), HashNumber(), DotNumber(),
		NumberHash(), NumberDash(), NumberOnly(),
	}
}

// String returns an example: the shard 7 of BASE.
func (f Form) String() string { return f.name("BASE", 7) }

func (f Form) name(base string, shard int) string {
	number := f.Before + strconv.Itoa(shard) + f.After
	switch {
	case f.Alone:
		return number
	case f.Prefix:
		return number + base
	}
	return base + number
}

// check returns what is wrong with a form that a caller made.
func (f Form) check() error {
	mark := f.Before + f.After
	switch {
	case !f.Alone && mark == "":
		return fmt.Errorf("shardkey: the form has nothing between base and number: choose one of Forms")
	case f.Prefix && f.Before != "" || !f.Prefix && f.After != "":
		return fmt.Errorf("shardkey: the form %q has its mark on the wrong side of the number", f)
	case f.Prefix && !f.Alone && digitAt(f.After, 0) || !f.Prefix && digitAt(f.Before, len(f.Before)-1):
		return fmt.Errorf("shardkey: the form %q has a digit beside the number, which cannot be read back", f)
	}
	return nil
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// Parse takes a name of this form apart. It is the exact inverse of
// Sharding.Name, whatever the base; of the form NumberOnly the base is in the sort
// key, and empty here.
func (f Form) Parse(name string) (base string, shard int, ok bool) {
	var digits string
	switch {
	case f.Alone:
		digits = name
	case f.Prefix:
		digits, base, ok = strings.Cut(name, f.After)
	default:
		i := strings.LastIndex(name, f.Before)
		ok = i >= 0
		if ok {
			base, digits = name[:i], name[i+len(f.Before):]
		}
	}
	if !f.Alone && (!ok || base == "") {
		return "", 0, false
	}
	shard, ok = number(digits)
	if !ok {
		return "", 0, false
	}
	return base, shard, true
}

// number reads a shard's number as strconv.Itoa writes it.
func number(digits string) (int, bool) {
	if len(digits) == 0 || len(digits) > 6 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	n := 0
	for i := range digits {
		if !digitAt(digits, i) {
			return 0, false
		}
		n = 10*n + int(digits[i]-'0')
	}
	return n, n < MaxShards
}

// Parsed is a partition key taken apart.
type Parsed struct {
	// Base is the key as it would be without shards. Where a part follows the
	// shard, as in user#42#SHARD_7#2026, it is in Tail.
	Base, Tail string
	Shard      int
	Form       Form
}

// Parse reports whether a partition key looks like a shard, and of what. Forms with
// a word are found anywhere in the key; a number alone only at its ends, and
// that much is a guess: user#42 is read as shard 42 of user.
func Parse(name string) (Parsed, bool) {
	for _, f := range Forms() {
		if base, shard, ok := f.Parse(name); ok {
			return Parsed{Base: base, Shard: shard, Form: f}, true
		}
		if len(f.Before) > 1 {
			if p, ok := f.find(name); ok {
				return p, true
			}
		}
	}
	return Parsed{}, false
}

// within finds a worded shard that other parts follow.
func (f Form) find(name string) (Parsed, bool) {
	for end := len(name); ; {
		i := strings.LastIndex(name[:end], f.Before)
		if i <= 0 {
			return Parsed{}, false
		}
		rest := name[i+len(f.Before):]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if shard, ok := number(rest[:digits]); ok && digits < len(rest) && strings.ContainsRune("#.|:/-_", rune(rest[digits])) {
			return Parsed{Base: name[:i], Tail: rest[digits:], Shard: shard, Form: f}, true
		}
		end = i
	}
}
