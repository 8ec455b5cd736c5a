package keypolicy

import (
	"errors"
	"maps"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sample/position"
)

// kindCaller and kindAttribute keep the hashes of callers and of other attributes apart
// from the hashes of keys.
const (
	kindCaller    = "caller:"
	kindAttribute = sample.TypeString
)

// Bounds of a hider's memory: beyond these numbers of tables or texts it starts empty. A
// text longer than maxRemembered is hashed each time.
const (
	maxTables     = 4096
	maxTexts      = 1 << 14
	maxRemembered = 128
	// maxComponents is how many components of one key are hashed apart: the rest is
	// one more, so that a key of separators stays short.
	maxComponents = 16
)

// ErrNothingKept is the error of looking for a key where nothing of keys is kept.
var ErrNothingKept = errors.New("the policy none keeps nothing of keys: there is nothing to be found")

// Hider hides the keys of requests by the policies of their tables. It is for one
// goroutine.
type Hider struct {
	policy  func(sample.Target) Policy
	secrets Secrets
	hashers []*keyhash.Hasher
	tables  map[sample.Target]*tablePolicy
	last    *tablePolicy // of the latest record
	// known are hashes by secret, kind and text: hot keys come again.
	known map[hashed]string
}

type tablePolicy struct {
	target sample.Target
	Policy
}

type hashed struct {
	secret     int
	kind, text string
}

// NewHider returns a hider. policy returns the policy of a table, whose account and
// Region may be empty; Index is always empty.
func NewHider(policy func(sample.Target) Policy, secrets Secrets) *Hider {
	h := &Hider{policy: policy, secrets: secrets, tables: map[sample.Target]*tablePolicy{}, known: map[hashed]string{}}
	for _, s := range secrets {
		h.hashers = append(h.hashers, keyhash.New(s.key))
	}
	return h
}

func (h *Hider) recordPolicy(r *sample.Record) *Policy {
	table := sample.Target{Account: r.Account, Region: r.Region, Table: r.Table}
	if h.last != nil && h.last.target == table {
		return &h.last.Policy
	}
	t := h.tables[table]
	if t == nil {
		if len(h.tables) >= maxTables {
			clear(h.tables)
		}
		kept := r.Clone()
		t = &tablePolicy{target: sample.Target{Account: kept.Account, Region: kept.Region, Table: kept.Table}}
		t.Policy = h.policyOf(t.target)
		h.tables[t.target] = t
	}
	h.last = t
	return &t.Policy
}

// policyOf returns the policy of a table. Without a secret nothing of a key that should
// be hashed is kept.
func (h *Hider) policyOf(table sample.Target) Policy {
	p := h.policy(table)
	if p.Hashes() && len(h.secrets) == 0 {
		p.Mode = None
	}
	return p
}

// Hide replaces the record's texts as the policy of its table demands.
func (h *Hider) Hide(r *sample.Record) {
	p := h.recordPolicy(r)
	if !p.hides() {
		return
	}
	r.ID = ""
	if p.Mode == None {
		r.PK, r.SK, r.Caller, r.Attrs = sample.Key{}, sample.Key{}, "", nil
		return
	}
	plain, secret := r.PK, h.secrets.index(r.Time)
	r.PK, r.SK = h.key(p, secret, r.PK, r.Time), h.key(p, secret, r.SK, r.Time)
	if p.Positions && r.Index == "" && r.PK != plain {
		if at, known := position.Find(plain); known {
			r.Place = at.Place()
		}
	}
	if r.Caller != "" {
		r.Caller = h.text(p, secret, kindCaller, r.Caller, r.Time)
	}
	if r.Attrs != nil {
		attrs := maps.Clone(r.Attrs)
		for name, value := range attrs {
			attrs[name] = h.text(p, secret, kindAttribute, value, r.Time)
		}
		r.Attrs = attrs
	}
}

// Hashes returns the forms in which collectors stored a key of a table: one for each
// secret, for requests near a date in the key and for others, without repeats. A key that
// no policy hides is its own form.
func (h *Hider) Hashes(table sample.Target, k sample.Key) ([]sample.Key, error) {
	return h.hashes(table, k, func(p *Policy, secret int, at int64) []sample.Key {
		return []sample.Key{h.key(p, secret, k, at)}
	})
}

// Everywhere returns the forms in which collectors stored a value of a table as a key, a
// caller or another attribute: see [Hider.Hashes].
func (h *Hider) Everywhere(table sample.Target, k sample.Key) ([]sample.Key, error) {
	return h.hashes(table, k, func(p *Policy, secret int, at int64) []sample.Key {
		component := *p // behind another one, none of its beginning is kept
		component.Mode = HMAC
		return []sample.Key{
			h.key(p, secret, k, at),
			h.key(&component, secret, k, at),
			sample.KeyString(h.text(p, secret, kindCaller, k.Text, at)),
			sample.KeyString(h.text(p, secret, kindAttribute, k.Text, at)),
		}
	})
}

func (h *Hider) hashes(table sample.Target, k sample.Key, hide func(p *Policy, secret int, at int64) []sample.Key) ([]sample.Key, error) {
	p := h.policy(table)
	switch {
	case p.Mode == None:
		return nil, ErrNothingKept
	case !p.hides():
		return []sample.Key{k}, nil
	case len(h.secrets) == 0:
		return nil, errors.New("no secret: give the file that the collectors have")
	}
	var all []sample.Key
	seen := map[sample.Key]bool{}
	times := []int64{0} // far from every date
	for _, part := range k.Parts() {
		times = append(times, timesIn(part.Text)...)
	}
	for i := range h.secrets {
		for _, time := range times {
			for _, hidden := range hide(&p, i, time) {
				if !seen[hidden] {
					seen[hidden] = true
					all = append(all, hidden)
				}
			}
		}
	}
	return all, nil
}

func (h *Hider) key(p *Policy, secret int, k sample.Key, at int64) sample.Key {
	if k.IsZero() {
		return k
	}
	parts := k.Parts()
	for i, part := range parts {
		if text := h.text(p, secret, part.Type, part.Text, at); text != part.Text {
			parts[i] = sample.KeyString(text)
		}
	}
	return sample.JoinKeys(parts...)
}

// text hides a text except for its readable parts.
func (h *Hider) text(p *Policy, secret int, kind, text string, at int64) string {
	if kind == sample.TypeBinary {
		return h.hash(secret, kind, text)
	}
	from := 0
	if p.Mode == Prefix {
		from = prefixLength(text, p.Keep)
	}
	var out strings.Builder
	out.WriteString(text[:from])
	components := 0
	for _, s := range p.readable(text, at) {
		if s.to <= from {
			continue
		}
		s.from = max(s.from, from)
		h.hideBetween(&out, secret, kind, text[from:s.from], &components)
		out.WriteString(text[s.from:s.to])
		from = s.to
	}
	h.hideBetween(&out, secret, kind, text[from:], &components)
	return out.String()
}

// hideBetween writes the text between two readable parts: components as hashes, the
// separators at its ends unchanged.
func (h *Hider) hideBetween(out *strings.Builder, secret int, kind, text string, components *int) {
	body := strings.TrimLeft(text, separators)
	out.WriteString(text[:len(text)-len(body)])
	hidden := strings.TrimRight(body, separators)
	tail := body[len(hidden):]
	for more := hidden != ""; more; {
		component := hidden
		if *components++; *components < maxComponents {
			component, hidden, more = strings.Cut(hidden, hashSeparator)
		} else {
			more = false
		}
		if component != "" {
			out.WriteString(h.hash(secret, kind, component))
		}
		if more {
			out.WriteString(hashSeparator)
		}
	}
	out.WriteString(tail)
}

// prefixLength returns the bytes of a text's first characters.
func prefixLength(text string, characters int) int {
	for i := range text {
		if characters == 0 {
			return i
		}
		characters--
	}
	return len(text)
}

func (h *Hider) hash(secret int, kind, text string) string {
	if of, known := h.known[hashed{secret, kind, text}]; known {
		return of
	}
	of := h.hashers[secret].Hide(kind, text)
	if len(text) <= maxRemembered {
		if len(h.known) >= maxTexts {
			clear(h.known)
		}
		h.known[hashed{secret, strings.Clone(kind), strings.Clone(text)}] = of
	}
	return of
}
