package files

import (
	"io"

	"github.com/keyheat/keyheat/internal/source"
)

// Split lets a fuzz target cut a stream as a file is cut; at is the position
// behind each message.
func Split(r io.Reader) func() (m source.Message, at int64, err error) {
	s := newSplitter(r, MaxSample)
	return func() (source.Message, int64, error) {
		m, err := s.next()
		return m, s.at, err
	}
}

// Progress describes how much of a source is read.
func Progress(f *Source) string { return f.progress() }

// MaxSample is the largest sample of Split in bytes.
const MaxSample = bufferSize

// Limit lets tests do with smaller samples.
func Limit(f *Source, most int) { f.most = most }
