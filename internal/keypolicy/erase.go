package keypolicy

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Erased stands where the key was.
const Erased = "(purged)"

// Eraser removes a key, and every text that contains it, such as its key shards and dated
// forms, in each form in which it may be stored. It is a store.Eraser.
type Eraser struct {
	table sample.Target
	texts []string
	// orders are the key's bytes as DynamoDB sorts them.
	orders []string
}

// NewEraser returns an eraser of a key of a table and its indexes. An empty Account or Region
// of the table matches every one. keys are the key's stored forms: plain, and each hash that a
// policy makes of it.
func NewEraser(table sample.Target, keys []sample.Key) *Eraser {
	e := &Eraser{table: table}
	for _, k := range keys {
		if k.Text == "" {
			continue
		}
		e.orders = append(e.orders, string(k.AppendOrder(nil)))
		// Bytes that are no text are stored as U+FFFD, one for each in JSON. People paste
		// addresses of pages.
		columns := strings.ToValidUTF8(strings.ReplaceAll(k.Text, "\x00", "\uFFFD"), "\uFFFD")
		for _, form := range []string{k.Text, columns, string([]rune(k.Text)), url.QueryEscape(k.Text), url.PathEscape(k.Text)} {
			if !slices.Contains(e.texts, form) {
				e.texts = append(e.texts, form)
			}
		}
	}
	return e
}

// names reports whether a stored text is the key, or contains it. cut means that the text may
// be only the beginning of what was stored.
func (e *Eraser) names(stored string, cut bool) bool {
	return stored != "" && slices.ContainsFunc(e.texts, func(key string) bool {
		return contains(stored, key) || cut && strings.HasPrefix(key, stored)
	})
}

// contains reports whether a text has a key by itself: as a whole, or without a letter or digit
// beside it, and not as a part of a date.
func contains(text, key string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], key)
		if i < 0 {
			return false
		}
		from += i
		to := from + len(key)
		last, _ := utf8.DecodeLastRuneInString(text[:from])
		first, _ := utf8.DecodeRuneInString(text[to:])
		if !isWord(last) && !isWord(first) && !isInDate(text, from, to) {
			return true
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var dates = regexp.MustCompile(`\d{4}-[01]\d-[0-3]\d(?:T[\d:.]+)?`)

// isInDate reports whether a part of a text is only a part of a date: purging the user 11 leaves
// every 2026-11-23 as it is.
func isInDate(text string, from, to int) bool {
	return slices.ContainsFunc(dates.FindAllStringIndex(text, -1), func(date []int) bool {
		return date[0] <= from && to <= date[1] && to-from < date[1]-date[0]
	})
}

// Window implements store.Eraser.
func (e *Eraser) Window(body []byte) ([]byte, error) {
	var w sketch.Window
	if err := w.UnmarshalBinary(body); err != nil || !e.forget(&w) {
		return nil, err
	}
	return w.MarshalBinary()
}

// Rollup implements store.Eraser.
func (e *Eraser) Rollup(body []byte) ([]byte, error) {
	var r rollup.Rollup
	if err := r.UnmarshalBinary(body); err != nil {
		return nil, err
	}
	before := len(r.Keys)
	r.Keys = slices.DeleteFunc(r.Keys, func(k rollup.Key) bool {
		gone := e.names(k.Key.Text, k.Cut)
		if gone {
			r.Drop(k)
		}
		return gone
	})
	if len(r.Keys) == before {
		return nil, nil
	}
	return r.MarshalBinary()
}

// Delta implements store.Eraser.
func (e *Eraser) Delta(body []byte) ([]byte, error) {
	var d sketch.Delta
	if err := d.UnmarshalBinary(body); err != nil {
		return nil, err
	}
	was := false
	for i := range d.Windows {
		if w := &d.Windows[i]; e.isOf(w.Target) {
			was = e.forget(w) || was
		}
	}
	for i := range d.Callers {
		if c := &d.Callers[i]; e.isOf(c.Target) {
			was = e.forgetEntries(&c.Writers, &c.Readers) || was
		}
	}
	if !was {
		return nil, nil
	}
	return d.MarshalBinary()
}

// isOf reports whether a target is the table, or an index of it.
func (e *Eraser) isOf(t sample.Target) bool {
	of := &e.table
	return t.Table == of.Table && (of.Account == "" || t.Account == of.Account) && (of.Region == "" || t.Region == of.Region)
}

// ours are the members of documents whose values are Keyheat's own words, or names that
// are not keys: where a key is called pending, or N, it is not in them.
var ours = []string{
	"action", "cannot_see", "case", "direction", "effort", "event", "fix", "ground", "instead", "op", "outcome", "partition", "period", "rule", "sampling", "severity", "source", "state", "subject", "suffix", "unit", "unread", "verdict",
	"account", "fingerprint", "id", "incident", "index", "key_type", "owner", "region", "root", "route", "runbook_url", "table", "version",
}

// Document implements store.Eraser. Numbers keep their notation.
func (e *Eraser) Document(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	v, was := e.value("", v)
	if !was {
		return nil, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}

// value returns the value of a member without the key.
func (e *Eraser) value(member string, v any) (erased any, was bool) {
	switch v := v.(type) {
	case string:
		if !slices.Contains(ours, member) && e.names(v, false) {
			return Erased, true
		}
	case []any:
		for i := range v {
			var in bool
			v[i], in = e.value(member, v[i])
			was = was || in
		}
	case map[string]any:
		for name, of := range v {
			without, in := e.value(name, of)
			v[name] = without
			was = was || in
			// A name with nothing but small letters is a member's, and no key.
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" && e.names(name, false) {
				delete(v, name)
				v[Erased], was = without, true
			}
		}
	}
	return v, was
}

// Text implements store.Eraser.
func (e *Eraser) Text(text []byte) ([]byte, error) {
	if !e.names(string(text), false) {
		return nil, nil
	}
	return []byte(Erased), nil
}
