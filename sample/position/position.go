// Package position computes where a partition key lies in DynamoDB's key space.
//
// DynamoDB keeps the items of a table in the order of a hash of their partition key, and a
// partition holds one contiguous range of it. Two keys with near positions are likely in one
// partition; with known ranges, a key's partition follows from its position.
//
// AWS does not document the hash. It was found by observation: a Scan returns items in its
// order. So a position is an inference. Check it for a table before you rely on it.
package position

import (
	"crypto/md5" //nolint:gosec // DynamoDB's choice; nothing is secret here
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// Position is a place in the key space: 0 is its begin, 1<<64 would be its end.
type Position uint64

// coarseBits are the bits of a [sample.Place].
const coarseBits = 16

// Coarse returns the position with its first 16 bits alone.
func (p Position) Coarse() Position { return p &^ (1<<(64-coarseBits) - 1) }

// CoarseRange returns the first and the last position with the same first 16 bits.
func (p Position) CoarseRange() (first, last Position) {
	return p.Coarse(), p.Coarse() + 1<<(64-coarseBits) - 1
}

// Place returns the place of a hidden key with this position.
func (p Position) Place() sample.Place { return sample.Place(p>>(64-coarseBits)) + 1 } //nolint:gosec // at most 65,536

// Range returns the first and the last position that a key may have: equal ones if the key is
// not hidden. ok is false if neither the key nor its place tells one.
func Range(k sample.Key, place sample.Place) (first, last Position, ok bool) {
	if place > 0 {
		first, last = (Position(place-1) << (64 - coarseBits)).CoarseRange()
		return first, last, place <= 1<<coarseBits
	}
	first, ok = Find(k)
	return first, first, ok
}

// prefix is what DynamoDB puts before a key's bytes. Source: dynalite, commit a82d553, checked
// against listings of real tables from 2013 to 2026.
const prefix = "Outliers"

// Find returns the position of a partition key. ok is false for an unknown key, for a key of
// several attributes, whose hash is not known, and for a hidden key: see [Range].
func Find(k sample.Key) (p Position, ok bool) {
	switch k.Type {
	case sample.TypeString:
		if keyhash.Find(k.Text) >= 0 {
			return 0, false
		}
		return String(k.Text), true
	case sample.TypeNumber:
		p, err := Number(k.Text)
		return p, err == nil
	case sample.TypeBinary:
		raw, err := base64.StdEncoding.DecodeString(k.Text)
		return Binary(raw), err == nil
	}
	return 0, false
}

// String returns the position of a string key: its UTF-8 as sent, without normalisation.
func String(text string) Position {
	var room [len(prefix) + 64]byte
	return hash(append(append(room[:0], prefix...), text...))
}

// Binary returns the position of a binary key.
func Binary(raw []byte) Position {
	var room [len(prefix) + 64]byte
	return hash(append(append(room[:0], prefix...), raw...))
}

// Number returns the position of a number key, from any decimal text. It never converts
// through a float.
func Number(text string) (Position, error) {
	k, err := sample.KeyNumber(text)
	if err != nil {
		return 0, fmt.Errorf("position: %w", err)
	}
	var room [len(prefix) + maxNumberBytes]byte
	return hash(appendNumber(append(room[:0], prefix...), k.Text)), nil
}

func hash(prefixed []byte) Position {
	sum := md5.Sum(prefixed) //nolint:gosec // see the import
	return Position(binary.BigEndian.Uint64(sum[:]))
}

const (
	// maxPairs is the most pairs of decimal digits of a number: 38 digits in 20 pairs, if
	// the point stands within a pair.
	maxPairs       = 20
	maxNumberBytes = 1 + maxPairs + 1
)

// appendNumber appends the bytes that DynamoDB hashes of a number: Oracle's NUMBER form. text
// is canonical, as sample.KeyNumber returns it. The first byte is the sign and the exponent in
// base 100; then follows a byte for each pair of digits, aligned to the point.
func appendNumber(to []byte, text string) []byte {
	if text == "0" {
		return append(to, 0x80)
	}
	magnitude, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(magnitude, ".")
	whole = strings.TrimLeft(whole, "0")
	digits := whole + fraction
	point := len(whole) // digits before the point; below zero if zeros follow it
	if whole == "" {
		digits = strings.TrimLeft(fraction, "0")
		point = len(digits) - len(fraction)
	}
	digits = strings.TrimRight(digits, "0")
	if point%2 != 0 {
		digits, point = "0"+digits, point+1
	}
	if len(digits)%2 != 0 {
		digits += "0"
	}
	const zeroExponent = 0xc0
	exponent := byte(zeroExponent + point/2) //nolint:gosec // from 80 to ff for a number that fits
	if negative {
		exponent = ^exponent
	}
	to = append(to, exponent)
	for i := 0; i < len(digits); i += 2 {
		pair := 10*(digits[i]-'0') + digits[i+1] - '0'
		if negative {
			to = append(to, 101-pair)
		} else {
			to = append(to, pair+1)
		}
	}
	const endOfNegative = 102
	if negative && len(digits) < 2*maxPairs {
		to = append(to, endOfNegative)
	}
	return to
}

// Cell returns the number of the position's cell if the key space is divided into 1<<bits equal
// ones.
func (p Position) Cell(bits int) int { return int(p >> (64 - bits)) } //nolint:gosec // bits are few

// String returns the first 16 bits, enough to tell partitions apart: 0x4a10.
func (p Position) String() string { return fmt.Sprintf("0x%04x", uint64(p)>>48) }

// MarshalText writes all 64 bits, in hexadecimal.
func (p Position) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(p)), nil }

// UnmarshalText reads the form of MarshalText.
func (p *Position) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	*p = Position(v)
	if err != nil {
		return fmt.Errorf("position: %w", err)
	}
	return nil
}
