package split

import "github.com/keyheat/keyheat/sample/keyhash"

// areHidden reports whether a policy hides the order of sort keys: behind what all have in
// common most of them begin alike, and then with a hash, which orders them as no item
// is. What is plain before it, such as a date, is an order where it differs.
func areHidden(places []timed) bool {
	if len(places) == 0 {
		return false
	}
	common := len(places[0].order)
	for i := range places {
		common = commonLength(places[0].order[:common], places[i].order)
	}
	begins := map[string]int{}
	most := 0
	for i := range places {
		if at := hashBehind(places[i].order, common); at >= 0 {
			begin := places[i].order[:at]
			begins[begin]++
			most = max(most, begins[begin])
		}
	}
	return 2*most > len(places)
}

// hashBehind returns where the first hash begins that does not end within the common
// part; -1 when there is none.
func hashBehind(order string, common int) int {
	for from := 0; ; {
		at := keyhash.Find(order[from:])
		if at < 0 {
			return -1
		}
		if from += at + keyhash.Length; from > common {
			return from - keyhash.Length
		}
	}
}

func commonLength(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
