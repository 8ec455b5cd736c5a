package keypolicy

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

// Erased stands where the key was.
const Erased = "(purged)"

// shortest is from how many bytes on a key is also looked for inside of people's words: a
// shorter one, such as 42, is part of many. As a whole value it is always found.
const shortest = 5

// Eraser removes a key in each form in which it may be stored, with its key shards and its
// dated forms. It is a store.Eraser, for one goroutine.
type Eraser struct {
	keys []sample.Key
	o    EraserOptions
	// others are the texts that contain the key and stay.
	others map[string]bool
}

// EraserOptions choose the other keys that count as forms of the key.
type EraserOptions struct {
	// Suffixes are the forms in which the tables' policies number key shards. Forms with
	// a word, such as bob#SHARD_7, need no entry.
	Suffixes []shardkey.Form
	// Containing takes out every text that has the key as a component.
	Containing bool
}

// NewEraser returns an eraser of a key. keys are its stored forms: plain, and each hash that a
// policy makes of it.
func NewEraser(keys []sample.Key, o EraserOptions) *Eraser {
	all := slices.Clone(keys)
	for _, k := range keys {
		// Bytes that are no text are stored as U+FFFD, one for each in JSON.
		columns := strings.ToValidUTF8(strings.ReplaceAll(k.Text, "\x00", "\uFFFD"), "\uFFFD")
		for _, form := range []string{columns, string([]rune(k.Text))} {
			if k.Text = form; !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return &Eraser{keys: all, o: o, others: map[string]bool{}}
}

// maxOthers bounds how many other texts are remembered.
const maxOthers = 10_000

// Others returns the keys, sort keys and callers that contain the key as a component and
// were left, in order; complete is false where there were too many to remember.
func (keys *Eraser) Others() (others []string, complete bool) {
	return slices.Sorted(maps.Keys(keys.others)), len(keys.others) < maxOthers
}

// Is implements store.Eraser.
func (keys *Eraser) Is(stored sample.Key) bool { return keys.is(stored, false) }

// text reports whether a stored text without a type, such as a caller, is the key. cut
// means that the text may be only a beginning.
func (keys *Eraser) text(stored string, cut bool) bool {
	return keys.is(sample.Key{Text: stored}, cut)
}

// is reports whether a stored key is the key, a key shard of it, or a dated form of it.
// It remembers one that merely contains it.
func (keys *Eraser) is(stored sample.Key, cut bool) bool {
	for _, key := range keys.keys {
		sameType := stored.Type == "" || stored.Type == key.Type
		switch {
		case key.Text == "" || stored.Text == "":
		case sameType && (stored.Text == key.Text || cut && strings.HasPrefix(key.Text, stored.Text)),
			sameType && key.Type == sample.TypeString && keys.isDerived(stored.Text, key.Text):
			return true
		case contains(stored.Text, key.Text):
			if keys.o.Containing {
				return true
			}
			if len(keys.others) < maxOthers {
				keys.others[strings.Clone(stored.Text)] = true
			}
		}
	}
	return false
}

// isDerived reports whether a text is a key shard or a dated form of a key.
func (keys *Eraser) isDerived(text, key string) bool {
	for _, form := range keys.o.Suffixes {
		// A group of them has a * for the number.
		if base, _, is := form.Parse(strings.Replace(text, "*", "0", 1)); is && base == key {
			return true
		}
	}
	for i := range occurrences(text, key) {
		if before.MatchString(text[:i]) && behind.MatchString(text[i+len(key):]) {
			return true
		}
	}
	return false
}

// before and behind match dates and marks of key shards on either side of a key, and
// their placeholders in the pattern of a group of keys. Compact dates and Unix times are
// excluded: user#20261123 may be a user of that number.
var before, behind = func() (*regexp.Regexp, *regexp.Regexp) {
	const (
		separator = `[#|:/_., -]`
		clock     = `(?:[T #-][0-2]\d(?:[:-]?[0-5]\d(?:[:-]?[0-5]\d(?:\.\d+)?)?)?Z?)?`
		day       = `(?:19|20)\d\d(?:-[01]\d(?:-[0-3]\d` + clock + `)?|/[01]\d/[0-3]\d|\.[01]\d\.[0-3]\d|-?[Ww][0-5]\d)`
		mark      = `(?:SHARD[_#]|shard-)(?:\d{1,6}|\*)|<(?:second|minute|hour|date|week|epoch)>`
		part      = `(?:` + day + `|` + mark + `)`
	)
	return regexp.MustCompile(`^(?:` + part + separator + `)*$`), regexp.MustCompile(`^(?:` + separator + part + `)*$`)
}()

// separators stand between the components of keys.
const separators = "#|:/_-., "

// ends reports whether a component ends behind so many bytes.
func ends(text string, n int) bool {
	return n == len(text) || strings.IndexByte(separators, text[n]) >= 0
}

// contains reports whether a text has a key as a component, between separators.
func contains(text, key string) bool {
	for i := range occurrences(text, key) {
		if (i == 0 || ends(text, i-1)) && ends(text, i+len(key)) {
			return true
		}
	}
	return false
}

// occurrences returns where a key begins in a text.
func occurrences(text, key string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(text[from:], key)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + 1
		}
	}
}

// Window implements store.Eraser.
func (keys *Eraser) Window(body []byte) (erased []byte, was bool, err error) {
	var w sketch.Window
	if err := w.UnmarshalBinary(body); err != nil {
		return nil, false, err
	}
	if !keys.forget(&w) {
		return nil, false, nil
	}
	erased, err = w.MarshalBinary()
	return erased, err == nil, err
}

// Rollup implements store.Eraser.
func (keys *Eraser) Rollup(body []byte) (erased []byte, was bool, err error) {
	var r rollup.Rollup
	if err := r.UnmarshalBinary(body); err != nil {
		return nil, false, err
	}
	kept := r.Keys[:0]
	for _, k := range r.Keys {
		if keys.is(k.Key, k.Cut) {
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
func (keys *Eraser) Delta(table sample.Target, body []byte) (erased []byte, version int, was bool, err error) {
	var d sketch.Delta
	if err := d.UnmarshalBinary(body); err != nil {
		return nil, 0, false, err
	}
	within := func(t sample.Target) bool {
		return t.Table == table.Table && (table.Account == "" || t.Account == table.Account) && (table.Region == "" || t.Region == table.Region)
	}
	for i := range d.Windows {
		if w := &d.Windows[i]; within(w.Target) {
			was = keys.forget(w) || was
		}
	}
	for i := range d.Callers {
		c := &d.Callers[i]
		for _, top := range []*sketch.Top{&c.Writers, &c.Readers} {
			if rest, changed := keys.withoutEntries(*top); within(c.Target) && changed {
				*top, was = rest, true
			}
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
	"action", "case", "direction", "effort", "event", "fix", "ground", "instead", "op", "partition", "period", "rule", "sampling", "severity", "source", "state", "subject", "unit", "unread", "verdict",
	"account", "fingerprint", "id", "incident", "index", "key_type", "owner", "region", "root", "route", "runbook_url", "table", "version",
}

// Document implements store.Eraser. Numbers keep their notation.
func (keys *Eraser) Document(document []byte) (erased []byte, was bool, err error) {
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

func (keys *Eraser) value(v any) (erased any, was bool) {
	switch v := v.(type) {
	case string:
		if keys.text(v, false) {
			return Erased, true
		}
	case []any:
		for i := range v {
			var in bool
			v[i], in = keys.value(v[i])
			was = was || in
		}
	case map[string]any:
		for name, of := range v {
			word, isText := of.(string)
			if isText && slices.Contains(ours, name) {
				continue
			}
			var without any
			var in bool
			if isText && name == "reason" { // a silence's, which a person wrote
				without, in = keys.Text(word)
			} else {
				without, in = keys.value(of)
			}
			v[name] = without
			was = was || in
			// A name with nothing but small letters is a member's, and no key.
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" && keys.text(name, false) {
				delete(v, name)
				v[Erased], was = without, true
			}
		}
	}
	return v, was
}

// Text implements store.Eraser. It looks for the key as a word, and in addresses of pages.
func (keys *Eraser) Text(text string) (erased string, was bool) {
	for _, k := range keys.keys {
		for _, form := range []string{k.Text, url.QueryEscape(k.Text), url.PathEscape(k.Text)} {
			var in bool
			if text, in = replace(text, form); in {
				was = true
			}
		}
	}
	return text, was
}

// replace removes a key from a text: the whole text or, if the key is not short, each
// place where it stands by itself.
func replace(text, key string) (string, bool) {
	switch {
	case key == "" || text != key && len(key) < shortest:
		return text, false
	case text == key:
		return Erased, true
	}
	var out strings.Builder
	was := false
	for {
		before, after, found := strings.Cut(text, key)
		out.WriteString(before)
		if !found {
			return out.String(), was
		}
		if isApart(out.String(), after) {
			out.WriteString(Erased)
			was = true
		} else {
			out.WriteString(key)
		}
		text = after
	}
}

// isApart reports whether a key between two texts is no part of a longer word.
func isApart(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return !isWord(last, before) && !isWord(first, after)
}

func isWord(r rune, in string) bool { return in != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
