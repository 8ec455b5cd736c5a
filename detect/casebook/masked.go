package casebook

import (
	"regexp"

	"github.com/keyheat/keyheat/detect"
)

// MaskedKey is a mask in place of keys, as logs write it: many keys may be behind it.
const MaskedKey detect.Case = "masked_key"

var maskedKey = Case{
	Code: MaskedKey, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool { return f.Subject.OfKey() && IsMask(string(f.Key)) },
	Heals:   func(*detect.Finding) Healing { return Healing{Outlook: Unknown, Ground: GroundMasked} },
	Tonight: always(FindKey),
}

// mask is what stands in place of a part of a key that is to stay hidden.
var mask = regexp.MustCompile(`(?i)(^|[#:/|_. -])(\w{0,6}\*{3,}\w{0,6}|x{4,}\d{0,6}|[<[]?(redacted|masked|filtered|scrubbed)[\]>]?|hidden)($|[#:/|_. -])`)

// IsMask reports whether a part of a key is a mask.
func IsMask(key string) bool { return mask.MatchString(key) }
