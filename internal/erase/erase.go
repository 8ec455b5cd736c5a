// Package erase takes a key out of what is stored: summaries, JSON and sentences.
package erase

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/heat"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Erased stands where a text named the key.
const Erased = "(purged)"

// shortest is from how many bytes on a key is also looked for inside of other texts: a
// shorter one, such as 42, is part of many. Quoted and as a whole value it is always found.
const shortest = 5

// Key is a key to take out, in each form in which it may be stored. It is a
// store.Eraser.
type Key []sample.Key

// Window implements store.Eraser.
func (keys Key) Window(body []byte) (erased []byte, was bool, err error) {
	var w sketch.Window
	if err := w.UnmarshalBinary(body); err != nil {
		return nil, false, err
	}
	for _, k := range keys {
		was = forget(&w, k) || was
	}
	if !was {
		return nil, false, nil
	}
	erased, err = w.MarshalBinary()
	return erased, err == nil, err
}

// Rollup implements store.Eraser.
func (keys Key) Rollup(body []byte) (erased []byte, was bool, err error) {
	var r heat.Rollup
	if err := r.UnmarshalBinary(body); err != nil {
		return nil, false, err
	}
	kept := r.Keys[:0]
	for _, k := range r.Keys {
		if slices.ContainsFunc(keys, func(key sample.Key) bool { return named(k.Key, k.Cut, key) }) {
			r.Drop(k)
			was = true
			continue
		}
		kept = append(kept, k)
	}
	if r.Keys = kept; !was {
		return nil, false, nil
	}
	erased, err = r.MarshalBinary()
	return erased, err == nil, err
}

// Delta implements store.Eraser: of windows of other tables nothing is taken out.
func (keys Key) Delta(table sample.Target, body []byte) (erased []byte, version int, was bool, err error) {
	var d sketch.Delta
	if err := d.UnmarshalBinary(body); err != nil {
		return nil, 0, false, err
	}
	for i := range d.Windows {
		w := &d.Windows[i]
		if w.Table != table.Table || table.Account != "" && w.Account != table.Account || table.Region != "" && w.Region != table.Region {
			continue
		}
		for _, k := range keys {
			was = forget(w, k) || was
		}
	}
	if !was {
		return nil, 0, false, nil
	}
	erased, err = d.MarshalBinary()
	return erased, sketch.Version, err == nil, err
}

// ours are the members of documents whose values are Keyheat's own words, or names that
// are not keys: where a key is called pending, or N, it is not in them.
var ours = []string{
	"action", "basis", "cause", "direction", "effort", "event", "kind", "op", "partition", "period", "sampling", "severity", "source", "state", "unit", "verdict",
	"account", "fingerprint", "id", "incident", "index", "key_type", "owner", "region", "root", "route", "runbook_url", "table", "version",
}

// Document implements store.Eraser. Numbers stay as they are written; what is no JSON
// is a text.
func (keys Key) Document(document []byte) (erased []byte, was bool, err error) {
	if !json.Valid(document) {
		text, was := keys.Text(string(document))
		return []byte(text), was, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, false, err
	}
	v, was = keys.value(v)
	if !was {
		return document, false, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(v)
	return bytes.TrimRight(out.Bytes(), "\n"), err == nil, err
}

func (keys Key) value(v any) (erased any, was bool) {
	switch v := v.(type) {
	case string:
		return keys.Text(v)
	case []any:
		for i := range v {
			var in bool
			v[i], in = keys.value(v[i])
			was = was || in
		}
	case map[string]any:
		for name, of := range v {
			if word, is := of.(string); is && slices.Contains(ours, name) && !strings.Contains(word, " ") {
				continue
			}
			without, in := keys.value(of)
			v[name] = without
			was = was || in
			// A name with nothing but small letters is a member's, and no key.
			if renamed, named := keys.Text(name); named && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
				delete(v, name)
				v[renamed], was = without, true
			}
		}
	}
	return v, was
}

// Text implements store.Eraser.
func (keys Key) Text(text string) (erased string, was bool) {
	for _, k := range keys {
		for _, form := range formsOf(k.Text) {
			var in bool
			if text, in = replace(text, form); in {
				was = true
			}
		}
	}
	return text, was
}

// formsOf returns a key as it may be written: as it is, as it is shown, and as an
// address holds it.
func formsOf(text string) []string {
	forms := []string{text}
	for _, form := range []string{wording.Printable(text), strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// replace replaces a key in a text: the whole text, what is quoted, and, of a key that
// is not short, each place where it stands by itself.
func replace(text, key string) (string, bool) {
	if key == "" || !strings.Contains(text, key) {
		return text, false
	}
	if text == key {
		return Erased, true
	}
	var out strings.Builder
	was := false
	for rest := text; ; {
		i := strings.Index(rest, key)
		if i < 0 {
			out.WriteString(rest)
			return out.String(), was
		}
		before, after := rest[:i], rest[i+len(key):]
		out.WriteString(before)
		written := out.String()
		if apart(written, after) && (len(key) >= shortest || quoted(written, after)) {
			out.WriteString(Erased)
			was = true
		} else {
			out.WriteString(key)
		}
		rest = after
	}
}

// apart reports whether a key between two texts is no part of a longer word.
func apart(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return !isWord(last, before) && !isWord(first, after)
}

func isWord(r rune, in string) bool { return in != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// quoted reports whether the key begins what is quoted, as in “42” and “42#SHARD_7”.
func quoted(before, after string) bool {
	return strings.HasSuffix(before, "“") && strings.Contains(after, "”")
}
