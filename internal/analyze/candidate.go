package analyze

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// Candidate is a partition key that a table might have instead of its own. Its parts are
// joined with #, as written here and in the key:
//
//	tenant#entity        two attributes
//	device#@date         an attribute and the day of the request, in UTC
//	pk#hash(sk)%8        the present key in 8 shards, chosen by the sort key
//
// A part is pk or sk, the name of an attribute (attrs of the samples), or @date,
// @hour or @month. hash(PART)%N stands last and is the shard that package
// shardkey calculates, 0 to N−1.
type Candidate struct {
	text    string
	parts   []string
	shards  shardkey.Sharding
	shardBy string // the part that decides the shard, empty without shards
}

// shardPart matches the last part of a candidate with shards.
var shardPart = regexp.MustCompile(`^hash\(([^()]+)\)%(\d+)$`)

// ParseCandidate parses a candidate.
func ParseCandidate(text string) (Candidate, error) {
	c := Candidate{text: text}
	for part := range strings.SplitSeq(text, "#") {
		if err := c.add(part); err != nil {
			return Candidate{}, fmt.Errorf("candidate %q: %w", text, err)
		}
	}
	if c.shardBy != "" && len(c.parts) == 0 {
		return Candidate{}, fmt.Errorf("candidate %q: name the sharded part, as in pk#%s", text, text)
	}
	return c, nil
}

func (c *Candidate) add(part string) error {
	switch {
	case c.shardBy != "":
		return fmt.Errorf("%q follows the shard: hash(…)%%N comes last", part)
	case part == "":
		return fmt.Errorf("a part is empty: name pk, sk, attributes, @date, @hour or @month, joined with #")
	case part[0] == '@':
		if layouts[part] == "" {
			return fmt.Errorf("unknown part %s: give @date, @hour or @month", part)
		}
	case strings.HasPrefix(part, "hash("):
		match := shardPart.FindStringSubmatch(part)
		if match == nil {
			return fmt.Errorf("%q: write hash(PART)%%N, such as hash(sk)%%8", part)
		}
		n, err := strconv.Atoi(match[2])
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		if c.shards, err = shardkey.New(n, shardkey.HashNumber()); err != nil {
			return err
		}
		c.shardBy = match[1]
		return nil
	}
	c.parts = append(c.parts, part)
	return nil
}

// layouts are the parts that are times.
var layouts = map[string]string{"@date": "2006-01-02", "@hour": "2006-01-02T15", "@month": "2006-01"}

// String returns the candidate as it was written.
func (c Candidate) String() string { return c.text }

// Key returns the partition key that the record would have. It reports false if the
// record lacks a part.
func (c Candidate) Key(r *sample.Record) (sample.Key, bool) {
	var b strings.Builder
	for i, part := range c.parts {
		value, ok := valueOf(r, part)
		if !ok {
			return sample.Key{}, false
		}
		if i > 0 {
			b.WriteByte('#')
		}
		b.WriteString(value)
	}
	if c.shardBy == "" {
		return sample.KeyString(b.String()), true
	}
	value, ok := valueOf(r, c.shardBy)
	if !ok {
		return sample.Key{}, false
	}
	name, err := c.shards.Pick(b.String(), value)
	return sample.KeyString(name), err == nil
}

// valueOf returns a record's value for a part of a key.
func valueOf(r *sample.Record, part string) (string, bool) {
	value := r.Attrs[part]
	switch {
	case part == "pk":
		value = r.PK.Text
	case part == "sk":
		value = r.SK.Text
	case layouts[part] != "":
		value = time.UnixMilli(r.Time).UTC().Format(layouts[part])
	}
	return value, value != ""
}
