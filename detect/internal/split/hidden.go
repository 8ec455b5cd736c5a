package split

import "github.com/keyheat/keyheat/sample/keyhash"

// areHidden reports whether a policy hides the order of sort keys. Most of them then
// begin alike behind the part that all share, and go on with a hash, whose order is not
// the order of the items. A plain part before the hash, such as a date, is an order if it
// differs.
func areHidden(requests []request) bool {
	common := len(requests[0].order)
	for i := range requests {
		common = commonLength(requests[0].order[:common], requests[i].order)
	}
	begins := map[string]int{}
	most := 0
	for i := range requests {
		if at := hashBehind(requests[i].order, common); at >= 0 {
			begin := requests[i].order[:at]
			begins[begin]++
			most = max(most, begins[begin])
		}
	}
	return 2*most > len(requests)
}

// hashBehind returns the index of the first hash that ends beyond the common part, or -1
// if there is none.
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
