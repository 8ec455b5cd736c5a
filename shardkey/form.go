package shardkey

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxShards is the most key shards of a Sharding. A key that needs more needs another design.
const MaxShards = 100_000

// Form is the position of a shard's number in a partition key.
type Form struct {
	// Before and After surround the number: "#SHARD_" and "" in BASE#SHARD_7,
	// "" and "#" in 7#BASE.
	Before, After string
	// Prefix means that the number is before the base, not behind it.
	Prefix bool
	// Alone means that the number is the whole partition key. The base is then in the sort key,
	// as in a sharded index of a status.
	Alone bool
	// Digits is the least number of digits, with zeros before the number as in BASE#007; 0 or 1
	// for a number without them.
	Digits int
	// Hex means that the number is hexadecimal, as in BASE#0f.
	Hex bool
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

// NumberOnly returns the form 7, with the base in the sort key.
func NumberOnly() Form { return Form{Prefix: true, Alone: true} }

// Forms returns the common forms, in the order in which [Parse] tries them: forms with a word
// before forms with only a number.
func Forms() []Form {
	return []Form{
		HashShardUnderscore(), HashShardHash(), HashShardDash(), HashNumber(), DotNumber(),
		NumberHash(), NumberDash(), NumberOnly(),
	}
}

// String returns an example: shard 7 of BASE.
func (f Form) String() string { return f.name("BASE", 7) }

func (f Form) name(base string, shard int) string {
	digits := strconv.Itoa(shard)
	number := f.Before + strings.Repeat("0", max(0, f.Digits-len(digits))) + digits + f.After
	switch {
	case f.Alone:
		return number
	case f.Prefix:
		return number + base
	}
	return base + number
}

func (f Form) check() error {
	mark := f.Before + f.After
	switch {
	case f.Digits > 1, f.Hex:
		return fmt.Errorf("shardkey: the form %q has zeros before the number, or hexadecimal ones: choose a form without them", f)
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

// Parse splits a name of this form. It is the exact inverse of Sharding.Name for any base. For
// NumberOnly the base is empty, because it is in the sort key.
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

// number reads a shard's number in the format of strconv.Itoa.
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

// Parsed is a split partition key.
type Parsed struct {
	// Base is the key without its shard. Tail is the part behind the shard, as in
	// user#42#SHARD_7#2026.
	Base, Tail string
	Shard      int
	Form       Form
}

// Parse splits a partition key that looks like a key shard, in one of [Forms] or another way that
// people write it. It finds forms with a word anywhere in the key, and a number alone between two
// marks or at the ends, where it may be hexadecimal if it is last. The latter are guesses: user#42
// is read as shard 42 of user. The parts of a date are no shards. A Sharding takes a form with zeros
// before the number, a hexadecimal one, or one with a word before the base, from nobody: such a form
// is only read.
func Parse(name string) (Parsed, bool) {
	p, ok := parse(withoutDates(name))
	if p.Form.Prefix {
		p.Base = name[len(name)-len(p.Base):]
	} else {
		p.Base, p.Tail = name[:len(p.Base)], name[len(name)-len(p.Tail):]
	}
	return p, ok
}

// withoutDates returns the name with letters in the place of dates. Digits beside one show that it
// is a part of a longer number.
func withoutDates(name string) string {
	out := []byte(name)
	digit := func(at int) bool { return at >= 0 && at < len(name) && '0' <= name[at] && name[at] <= '9' }
	for _, at := range dates.FindAllStringIndex(name, -1) {
		if !digit(at[0]-1) && !digit(at[1]) {
			copy(out[at[0]:at[1]], strings.Repeat("x", at[1]-at[0]))
		}
	}
	return string(out)
}

func parse(name string) (Parsed, bool) {
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
	return parseOther(name)
}

// The other ways: a word or a mark before a last number, either around a first one, or marks around
// one in the middle. A date is as long as one with a day has to be.
var (
	lastNumber   = regexp.MustCompile(`^(.*?[^#_:/|.@?&-])([#_:/|.@?&-]{1,2}(?i:shard|bucket|partition|part|slot)[#_:/|.=-]?|[#_:/|.@-])(\d{1,6}|[0-9a-f]{1,2}|[0-9A-F]{1,2})$`)
	noBase       = regexp.MustCompile(`^[#_:/|.@?&-]*(?i:shard|bucket|partition|part|slot)?$`)
	firstNumber  = regexp.MustCompile(`^((?i:shard|bucket|partition|part|slot)[#_:/|.=-])?(\d{1,6})([#_:/|.@-])(.+)$`)
	middleNumber = regexp.MustCompile(`^(.*[^#_:/|.@?&-])([#_:/|.@-])(\d{1,3})([#_:/|.@-].*[^#_:/|.@?&-].*)$`)
	dates        = regexp.MustCompile(`\d{4}[-/.]\d{2}([-/.]\d{2})?([T -]\d{2}([:-]\d{2}){0,2})?`)
)

func parseOther(name string) (Parsed, bool) {
	if m := lastNumber.FindStringSubmatch(name); m != nil {
		return newParsed(m[1], m[3], "", Form{Before: m[2]})
	}
	if m := firstNumber.FindStringSubmatch(name); m != nil {
		return newParsed(m[4], m[2], "", Form{Before: m[1], After: m[3], Prefix: true})
	}
	if m := middleNumber.FindStringSubmatch(name); m != nil {
		return newParsed(m[1], m[3], m[4], Form{Before: m[2]})
	}
	return Parsed{}, false
}

func newParsed(base, digits, tail string, form Form) (Parsed, bool) {
	if digits[0] == '0' && len(digits) > 1 {
		form.Digits = len(digits)
	}
	system := 10
	if form.Hex = strings.Trim(digits, "0123456789") != ""; form.Hex {
		system = 16
	}
	shard, err := strconv.ParseInt(digits, system, 32)
	return Parsed{Base: base, Tail: tail, Shard: int(shard), Form: form}, err == nil && shard < MaxShards && !noBase.MatchString(base)
}

// find finds a shard with a word, perhaps with other parts behind it.
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
