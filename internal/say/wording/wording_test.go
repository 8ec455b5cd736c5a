package wording_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// TestKeysAreOnlyRead: whoever writes keys cannot steer a terminal, a page's
// direction of text, or what stands beside them.
func TestKeysAreOnlyRead(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"merchant#7": "merchant#7", "": "", "naïve 鍵 🔥": "naïve 鍵 🔥", `say "hi"`: `say "hi"`,
		"a\x1b[2Jb": `a\x1b[2Jb`, "a\u009b2Jb": `a\u009b2Jb`, "a\x1b]8;;http://x\x07b": `a\x1b]8;;http://x\ab`,
		"a\nb\tc\r": `a\nb\tc\r`, "a\u202eb": `a\u202eb`, "a\u2066b": `a\u2066b`, "a\xffb": `a\xffb`, "a\x00b": `a\x00b`, `a\b`: `a\\b`,
	} {
		if got := wording.Printable(key); got != want {
			t.Errorf("%q is written as %q, want %q", key, got, want)
		}
		if got := wording.Quote(key); got != "“"+want+"”" {
			t.Errorf("%q is quoted as %q", key, got)
		}
	}
}

// TestInvisibleCharactersAreSeen: text in which a reader sees less than there is could pass for
// another key. That holds for each character which Unicode lets a font leave out, for blank
// ones, and for spaces other than the usual one, in JSON too.
func TestInvisibleCharactersAreSeen(t *testing.T) {
	t.Parallel()
	// DerivedCoreProperties.txt of Unicode 15: Default_Ignorable_Code_Point.
	ignorable := [][2]rune{
		{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f},
		{0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	}
	others := [][2]rune{
		{0x7f, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x2800, 0x2800}, {0x3000, 0x3000}, {0xe000, 0xe000},
		{0xfff9, 0xfffb}, {0x13441, 0x13442}, {0x16fe4, 0x16fe4}, {0x1d159, 0x1d159},
	}
	for _, span := range append(ignorable, others...) {
		for r := span[0]; r <= span[1]; r++ {
			key := "a" + string(r) + "b"
			if got := wording.Printable(key); strings.ContainsRune(got, r) || !strings.HasPrefix(got, `a\`) || !strings.HasSuffix(got, "b") {
				t.Errorf("%U is written as %q", r, got)
			}
			text, err := wording.JSON(key)
			var read string
			if err != nil || strings.ContainsRune(text, r) || json.Unmarshal([]byte(text), &read) != nil || read != key {
				t.Errorf("%U is the JSON %q, read as %q (%v)", r, text, read, err)
			}
		}
	}
	const seen = "naïve e\u0301 鍵 한글 🔥 ⣿ नि"
	if text, err := wording.JSON(seen); wording.Printable(seen) != seen || err != nil || text != `"`+seen+`"`+"\n" {
		t.Errorf("%q and %q (%v), want %q", wording.Printable(seen), text, err, seen)
	}
}

// TestCellsAreNoFormulas: whatever separates the cells of a file for a spreadsheet, none of
// them begins with a formula's first character, behind whatever is skipped.
func TestCellsAreNoFormulas(t *testing.T) {
	t.Parallel()
	for _, starter := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
		for _, separator := range []string{"", ";", "|", "\t", "\r", "\n", "\r\n", "a;", "a|", ";;", "a;b|"} {
			for _, skipped := range []string{"", " ", "  ", "\u00a0", "\u3000", `"`, `'`, ` "`, `"" `, "“"} {
				cell := wording.Cell(separator + skipped + starter + "cmd")
				for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(";|\t\r\n", r) }) {
					if strings.HasPrefix(strings.TrimLeft(part, " \u00a0\u3000\"“"), starter) {
						t.Errorf("%q is the cell %q: %q is a formula", separator+skipped+starter, cell, part)
					}
				}
			}
		}
	}
	for text, want := range map[string]string{
		"": "", "merchant#7": "merchant#7", "a=b;c-d|e@f": "a=b;c-d|e@f", ";=cmd|' /C calc'!A0": ";'=cmd|' /C calc'!A0", "=1": "'=1", " =1": "' =1", "a; -5%": "a;' -5%",
		`a;"=1`: `a;'"=1`, "'=1": "''=1",
	} {
		if got := wording.Cell(text); got != want {
			t.Errorf("%q is the cell %q, want %q", text, got, want)
		}
	}
}

// TestShares: shares are written with their bounds. One of which these say nothing is left
// out, and all are then said to be small, where they are.
func TestShares(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]detect.Part{
		"a with 62 to 71%; and at least 1 more": {{Text: "a", Low: 0.62, High: 0.71}, {Text: "b", Low: 0.04, High: 0.3}},
		"a with 25 to 44%; b with 1 to 4%":      {{Text: "a", Low: 0.25, High: 0.44}, {Text: "b", Low: 0.01, High: 0.04}},
		"a with 62%":                            {{Text: "a", Low: 0.62, High: 0.625}},
		"a with 30 to 32%; b with 20 to 22%; c with 15 to 17%; and at least 1 more": {
			{Text: "a", Low: 0.3, High: 0.32}, {Text: "b", Low: 0.2, High: 0.22}, {Text: "c", Low: 0.15, High: 0.17}, {Text: "d", Low: 0.1, High: 0.12},
		},
		"no caller has more than 23%, so that none makes most of the load": {{Text: "a", Low: 0.04, High: 0.22}, {Text: "b", Low: 0.03, High: 0.225}},
		"": {{Text: "a", Low: 0.1, High: 0.9}},
	} {
		if got := wording.Shares("caller", parts); got != want {
			t.Errorf("%+v are written as %q, want %q", parts, got, want)
		}
	}
	if got := wording.Shares("", []detect.Part{{Text: "a", Low: 0.04, High: 0.22}, {Text: "b", Low: 0.03, High: 0.225}}); got != "" {
		t.Errorf("of parts that are all small it is said %q", got)
	}
	if got := wording.Shares("caller", nil); got != "" {
		t.Errorf("of no parts it is said %q", got)
	}
}

// TestPartsAreAllOrNothingOnlyWhereTheyAre: what is nearly all of a load is not all of it.
func TestPartsAreAllOrNothingOnlyWhereTheyAre(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0%", 0.0004: "under 1%", 0.005: "under 1%", 0.0051: "1%", 0.5: "50%", 0.994: "99%", 0.9996: "over 99%", 1: "100%"} {
		if got := wording.Part(share); got != want {
			t.Errorf("%v is written as %q, want %q", share, got, want)
		}
	}
}

// TestMeanSizesAreRound: a mean of the requests that were looked at is not exact to the byte.
func TestMeanSizesAreRound(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[float64]string{
		100: "about 100 bytes", 1023: "about 1,000 bytes", 1024: "about 1 KB", 4500: "about 4.4 KB", 267_264: "about 260 KB", 300 << 10: "about 300 KB",
	} {
		if got := wording.Size(bytes); got != want {
			t.Errorf("%g bytes are written as %q, want %q", bytes, got, want)
		}
	}
}

// TestPartsHaveTheirBounds: a sampled share is written with its interval, an exact one without.
func TestPartsHaveTheirBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		share, low, high float64
		want             string
	}{
		{0.33, 0.33, 0.33, "33%"}, {0.33, 0, 0, "33%"}, {0.331, 0.328, 0.334, "33%"},
		{0.33, 0.242, 0.433, "33% (24 to 44%)"}, {0.01, 0.0023, 0.031, "1% (0.2 to 4%)"}, {1, 0.93, 1, "100% (93 to 100%)"},
	} {
		if got := wording.PartWithin(c.share, c.low, c.high); got != c.want {
			t.Errorf("%v within %v and %v: %q, want %q", c.share, c.low, c.high, got, c.want)
		}
	}
}
