package source

import "io"

// ParseFetch lets a fuzz target reach the decoder of fetch responses, which no
// server can be made to send in every form.
func ParseFetch(buf []byte, version int16) (records []byte, err error) {
	res, err := parseFetch(buf, version, "samples", 0)
	if err != nil {
		return nil, err
	}
	return res.records, nil
}

// Split lets a fuzz target cut a stream as a file is cut; at is the position
// behind each message.
func Split(r io.Reader) func() (m Message, at int64, err error) {
	s := newSplitter(r, 0)
	return func() (Message, int64, error) {
		m, err := s.next()
		return m, s.at, err
	}
}
