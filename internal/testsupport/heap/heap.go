// Package heap measures what a test leaves on the heap.
package heap

import "runtime"

// Live returns the bytes that are in use. The second collection frees what finalizers and
// pools kept through the first.
func Live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
