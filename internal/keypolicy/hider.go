package keypolicy

import (
	"maps"
	"slices"
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
)

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
		t.Policy = h.policy(t.target)
		h.tables[t.target] = t
	}
	h.last = t
	return &t.Policy
}

// Hide replaces the record's texts as the policy of its table demands.
func (h *Hider) Hide(r *sample.Record) {
	p := h.recordPolicy(r)
	if !p.Hashes() {
		return
	}
	r.ID = ""
	if len(h.secrets) == 0 { // the settings' check lets nobody get here
		r.PK, r.SK, r.Caller, r.Attrs = sample.Key{}, sample.Key{}, "", nil
		return
	}
	plain, secret := r.PK, h.secrets.index(r.Time)
	r.PK, r.SK = h.key(p, secret, r.PK), h.key(p, secret, r.SK)
	if p.Positions && r.Index == "" && r.PK != plain {
		if at, known := position.Find(plain); known {
			r.Place = at.Place()
		}
	}
	if r.Caller != "" {
		r.Caller = h.text(p, secret, kindCaller, r.Caller)
	}
	if r.Attrs != nil {
		attrs := maps.Clone(r.Attrs)
		for name, value := range attrs {
			attrs[name] = h.text(p, secret, kindAttribute, value)
		}
		r.Attrs = attrs
	}
}

// Hashes returns the forms in which collectors stored a key of a table: one for each secret. A
// key that no policy hides is its own form.
func (h *Hider) Hashes(table sample.Target, k sample.Key) []sample.Key {
	return h.hashes(table, k, func(p *Policy, secret int) []sample.Key { return []sample.Key{h.key(p, secret, k)} })
}

// Everywhere returns the forms in which collectors stored a value of a table as a key, a
// caller or another attribute: see [Hider.Hashes].
func (h *Hider) Everywhere(table sample.Target, k sample.Key) []sample.Key {
	return h.hashes(table, k, func(p *Policy, secret int) []sample.Key {
		return []sample.Key{
			h.key(p, secret, k),
			sample.KeyString(h.text(p, secret, kindCaller, k.Text)),
			sample.KeyString(h.text(p, secret, kindAttribute, k.Text)),
		}
	})
}

func (h *Hider) hashes(table sample.Target, k sample.Key, hide func(p *Policy, secret int) []sample.Key) (all []sample.Key) {
	p := h.policy(table)
	if !p.Hashes() {
		return []sample.Key{k}
	}
	for i := range h.secrets {
		for _, hidden := range hide(&p, i) {
			if !slices.Contains(all, hidden) {
				all = append(all, hidden)
			}
		}
	}
	return all
}

func (h *Hider) key(p *Policy, secret int, k sample.Key) sample.Key {
	if k.IsZero() {
		return k
	}
	parts := k.Parts()
	for i, part := range parts {
		if text := h.text(p, secret, part.Type, part.Text); text != part.Text {
			parts[i] = sample.KeyString(text)
		}
	}
	return sample.JoinKeys(parts...)
}

// text hides a text except for the beginning that stays.
func (h *Hider) text(p *Policy, secret int, kind, text string) string {
	from := 0
	if p.Mode == Prefix && kind != sample.TypeBinary {
		from = prefixLength(text, p.Keep)
	}
	if from == len(text) {
		return text
	}
	return text[:from] + h.hash(secret, kind, text[from:])
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
