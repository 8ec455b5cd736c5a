package split

import "strings"

// The form of the hashes that a producer hides keys by: 16 bytes in base64 without
// padding, one for each part of a key between '#' (see sample/awssdk's HMACKey).
const (
	hashLength = 22
	// hashEnds are the last letters of 128 bits: four of its bits are zero.
	hashEnds = "AQgw"
	// cutLength is from which length the end of a sort key may have been cut off.
	cutLength = 64
)

// hidden reports whether sort keys are hashes, all of them and in each part: then
// their order says nothing of that of the keys.
func hidden(places []timed) bool {
	for i := range places {
		if !hashed(places[i].order) {
			return false
		}
	}
	return len(places) > 0
}

func hashed(order string) bool {
	// The attributes of a multi-attribute key end in 0 1 (see sample.Key.AppendOrder).
	all := strings.Split(strings.ReplaceAll(strings.TrimSuffix(order, "\x00\x01"), "\x00\x01", "#"), "#")
	for i, part := range all {
		if i > 0 && i == len(all)-1 && len(part) < hashLength && len(order) >= cutLength {
			return true
		}
		if len(part) != hashLength || !strings.Contains(hashEnds, part[hashLength-1:]) || strings.ContainsFunc(part, notInHash) {
			return false
		}
	}
	return true
}

func notInHash(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}
