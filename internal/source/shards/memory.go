package shards

import "github.com/keyheat/keyheat/internal/source"

// pageBuffers are unused buffers for the values of pages.
var pageBuffers = source.NewBuffers(2 << 20)

// recordBytes is the memory of a Record without its value, and with its sequence number.
const recordBytes = 80

// pageMemory is the memory of a page from its request until it is counted or given back.
type pageMemory struct {
	hold   *source.Hold
	buffer []byte
}

// take charges the hold for a page that was read, and reports whether there is enough
// memory.
func (m *pageMemory) take(p *Page) bool {
	m.buffer = p.Buffer
	need := int64(cap(p.Buffer)) + int64(len(p.Records))*recordBytes
	if !m.hold.Grow(need) {
		return false
	}
	m.hold.Shrink(need)
	return true
}

// release gives the page's memory back. The page may not be used afterwards.
func (m *pageMemory) release() {
	if m.buffer != nil {
		pageBuffers.Keep(m.buffer)
	}
	m.buffer = nil
	m.hold.Release()
}
