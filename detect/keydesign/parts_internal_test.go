package keydesign

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// FuzzTemplate holds templates to what regular expressions alone make of a key, and tokens
// to those that a regular expression finds.
func FuzzTemplate(f *testing.F) {
	for _, key := range []string{
		"", "customer#00002024", "user42order77", "tenant_7#2024-05-01T10:11:12.345+02:00", "1716400000000", "events#20240501", "OPEN#Shard_12",
		"\u017fhard7", "shardhard7", "ops@example.com", "~abcdefghijklmnopqrstu72024-05", "2024-05-01T10:00:00+00002024-05-02", "<id>", "<a<b>", "a<1>b",
		"123e4567-e89b-12d3-a456-426614174000", "ключ42", "a\xffb7", "½x", "1 2024-5", "19201716400000000",
		"#", "##", "a##b#", "#2024-05#", "_", "\x01", "\u202e42", "é\u0301#7", "shard#\u0661", "\xed\xa0\x80-1", "a@b.c@d.e", "<" + strings.Repeat("<", 40) + ">",
		strings.Repeat("\u017fhard1#", 1000), strings.Repeat("a-", 4096) + "2024-05-01", strings.Repeat("7", 8192), strings.Repeat("a@b.", 2048),
	} {
		f.Add(key, true)
		f.Add(key, false)
	}
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		for _, kind := range []string{"S", "N"} {
			key := sample.Key{Type: kind, Text: text}
			if got, want := templateOf(key, cut), templateByPatterns(key, cut); got != want {
				t.Errorf("%s %q: %q, want %q", kind, text, got, want)
			}
		}
		if got, want := tokens(text), token.FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("tokens of %q: %q, want %q", text, got, want)
		}
	})
}

// TestTemplatesOfManyKeys does the same with keys that are put together from what parts are
// made of, in every order.
func TestTemplatesOfManyKeys(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"2024", "1999", "-05", "-01", "T10", ":11", ":12", ".5", "Z", "+02", "00", "1716400000000", "0", "7", "shard", "SHARD", "_", "#", "-", "~", "@", ".",
		"a", "order", "abcdefghij", "01234567", "-89ab", "ſhard", "é", " ", "<", ">", "example.com",
	}
	random := rand.New(rand.NewPCG(1, 2))
	parts := 0
	for range 10_000 {
		var b strings.Builder
		for range 1 + random.IntN(9) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		key := sample.Key{Type: "S", Text: b.String()}
		got, want := templateOf(key, false), templateByPatterns(key, false)
		if got != want {
			t.Fatalf("%q: %q, want %q", key.Text, got, want)
		}
		for _, k := range knownParts {
			if strings.Contains(got, k.placeholder) {
				parts++
			}
		}
	}
	if parts < 1_000 {
		t.Errorf("only %d known parts", parts)
	}
}

// token is a run of letters and digits, or a placeholder.
var token = regexp.MustCompile(`<\w+>|[\pL\pN]+`)

// templateByPatterns is the oracle of templateOf: every pattern is tried.
func templateByPatterns(key sample.Key, cut bool) string {
	if key.Type == "N" && !cut {
		for _, k := range knownParts {
			if key.Text != "" && k.pattern.FindString(key.Text) == key.Text {
				return k.placeholder
			}
		}
		return partNumber
	}
	text := escaper.Replace(key.Text)
	for _, k := range knownParts {
		text = k.pattern.ReplaceAllString(text, "${1}"+k.placeholder)
	}
	whole := token.FindString(text) == text
	text = strings.ReplaceAll(token.ReplaceAllStringFunc(text, func(part string) string { return placeholder(part, whole) }), underscore, "_")
	if cut {
		text += partRest
	}
	return text
}

// BenchmarkTemplate is what a key costs of which nothing is known but its words.
func BenchmarkTemplate(b *testing.B) {
	key := sample.Key{Type: "S", Text: fmt.Sprintf("customer#%08d", 4711)}
	for b.Loop() {
		templateOf(key, false)
	}
}
