package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample/mapped"
)

// maxSample is the largest line, or element of an array, that a file may hold, in bytes. A larger
// one is one bad sample. Commands of AWS print answers with all their events as one object.
const maxSample = 64 << 20

// bufferSize is the size of a buffer in bytes, as long as no sample needs more.
const bufferSize = 1 << 20

// faultExcerpt is how many bytes of an oversized sample are kept to show.
const faultExcerpt = 1 << 10

// faultTooLarge is the Fault of a sample that is larger than maxSample.
const faultTooLarge = "larger than 64 MiB"

// layout is how a file holds its samples.
type layout int

const (
	unknown layout = iota
	lines          // NDJSON: cut at newlines, with any content
	array          // one array: cut between its elements
	objects        // objects that span lines: cut behind each
)

// splitter cuts a stream of JSON into messages of whole samples, in a buffer of
// bounded size. Its positions are offsets into the (uncompressed) stream.
type splitter struct {
	r    io.Reader
	most int   // how large a sample may be
	err  error // error that ended r; io.EOF at a clean end
	buf  []byte
	used int   // bytes of buf that the last message took
	at   int64 // position of buf[used]
	line int64 // number of its line, from 1

	layout      layout
	columns     *mapped.Columns // columns of a supposed CSV, whose rows may span lines
	linesFrom   int             // bytes before the lines that isLines found
	wrapped     bool            // the array stands in {"Records":[…]}
	scan        scanner
	scanned     int  // bytes of buf that the scanner has seen
	inOversized bool // in the rest of a sample that is too large
}

func newSplitter(r io.Reader, most int) *splitter {
	return &splitter{r: r, most: most, line: 1, buf: make([]byte, 0, min(most, bufferSize))}
}

// next returns the next message, valid until the following call. At the end it
// returns io.EOF, or the error that ended the stream.
func (s *splitter) next() (source.Message, error) {
	for {
		s.discard()
		if s.layout == unknown && !s.recognise() {
			return source.Message{}, s.err
		}
		if s.inOversized && !s.skipRest() {
			return source.Message{}, s.err
		}
		line := s.line
		m, ok := s.cut()
		switch {
		case ok && len(bytes.TrimSpace(m)) > 0:
			return source.Message{Value: m, Line: line}, nil
		case ok:
		case (len(s.buf) == cap(s.buf) || s.err != nil) && s.isLines():
			return source.Message{Value: s.take(s.linesFrom), Line: line}, nil
		case len(s.buf) == cap(s.buf) && cap(s.buf) < s.most && s.err == nil:
			s.buf = slices.Grow(s.buf, min(cap(s.buf), s.most-cap(s.buf)))
		case len(s.buf) == cap(s.buf):
			m := s.tooLarge()
			m.Line = line
			return m, nil
		case s.err == nil:
			s.fill()
		case len(bytes.TrimSpace(s.buf)) > 0: // the last line, or an unfinished value
			if s.layout == array {
				s.buf[0] = '['
			}
			return source.Message{Value: s.take(len(s.buf)), Line: line}, nil
		default:
			return source.Message{}, s.err
		}
	}
}

// recognise determines the layout from the first line, and reports false for an
// empty stream.
func (s *splitter) recognise() bool {
	for s.err == nil && bytes.Count(s.buf, []byte("\n")) < 3 && len(s.buf) < cap(s.buf) {
		s.fill()
	}
	blank := len(s.buf) - len(bytes.TrimLeft(s.buf, "\ufeff \t\r\n"))
	s.take(blank)
	s.discard()
	if len(s.buf) == 0 {
		if s.err == nil {
			return s.recognise()
		}
		return false
	}
	if s.unwrap() {
		return s.layout == array || s.recognise()
	}
	line, rest, _ := bytes.Cut(s.buf, []byte("\n"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	switch {
	case json.Valid(line):
		s.layout = lines
	case opensArray(s.buf) && !separate(rest):
		s.layout = array
	case s.buf[0] == '{' && (len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')), objectsTouch(line):
		s.layout = objects
	default:
		s.layout = lines
		names, _, _ := bytes.Cut(s.buf[mapped.Preamble(s.buf):], []byte("\n"))
		if columns, ok := mapped.ColumnsOf(names); ok && s.line == 1 {
			s.columns = &columns
		}
	}
	return true
}

// objectsTouch reports whether a line begins with two objects with nothing between them, as
// Firehose writes its files.
func objectsTouch(line []byte) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	var first, second map[string]json.RawMessage
	return len(line) > 0 && line[0] == '{' && d.Decode(&first) == nil && d.Decode(&second) == nil
}

// opensArray reports whether a text begins as an array of objects does. A line of a log
// may begin with a bracket too: a time in brackets.
func opensArray(text []byte) bool {
	if text[0] != '[' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	return len(text) == 0 || bytes.IndexByte([]byte("{[]"), text[0]) >= 0
}

// separate reports whether two lines are a JSON object each, with no comma between them.
// Then the stream consists of lines, and the text before them is one bad line. As the
// beginning of an array it would swallow them.
func separate(text []byte) bool {
	first, text, _ := bytes.Cut(text, []byte("\n"))
	second, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	return isObject(first) && isObject(second)
}

// isLines reports whether a supposed array, or object over lines, consists of lines after
// all. An object then fills a line, and the next character may not follow an element.
// Otherwise one broken line would swallow all lines after it. linesFrom is then the length
// of the text before the first such line.
func (s *splitter) isLines() bool {
	if s.layout == lines {
		return false
	}
	for at := bytes.IndexByte(s.buf, '\n') + 1; at > 0; {
		line, rest, found := bytes.Cut(s.buf[at:], []byte("\n"))
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if !found {
			return false
		}
		if len(rest) > 0 && bytes.IndexByte([]byte(",]}"), rest[0]) < 0 && isObject(line) {
			s.layout, s.wrapped, s.inOversized, s.linesFrom = lines, false, false, at
			return true
		}
		at += len(line) + 1
	}
	return false
}

func isObject(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && line[0] == '{' && json.Valid(line)
}

// unwrap skips one end of AWS's {"Records":[…]}, a common form of whole files, so that its
// elements are cut like any array's. Other members may follow the array.
func (s *splitter) unwrap() bool {
	if s.wrapped && (s.buf[0] == '}' || s.buf[0] == ',') {
		rest, n := scanner{depth: 1}, 0
		for rest.depth > 0 && (n < len(s.buf) || s.err == nil && len(s.buf) < cap(s.buf)) {
			if n == len(s.buf) {
				s.fill()
				continue
			}
			rest.step(s.buf[n])
			n++
		}
		s.wrapped = false
		s.take(n)
		s.discard()
		return true
	}
	head := wrapper.Find(s.buf)
	if head == nil {
		return false
	}
	s.wrapped, s.layout = true, array
	s.take(len(head) - 1)
	s.discard()
	return true
}

// wrapper is the beginning of {"Records":[…]}, or of another of AWS's answers, up to its bracket.
var wrapper = regexp.MustCompile(`^\{\s*"(?:Records|[Ee]vents)"\s*:\s*\[`)

// cut returns as many whole samples as the buffer holds.
func (s *splitter) cut() ([]byte, bool) {
	if s.layout == lines {
		n := s.wholeLines()
		return s.take(n), n > 0
	}
	end := s.scanEnd()
	if end < 0 {
		return nil, false
	}
	if s.layout == objects {
		return s.take(end + 1), true
	}
	closed := s.buf[end] == ']'
	s.buf[0], s.buf[end] = '[', ']'
	m := s.buf[:end+1]
	if len(bytes.TrimSpace(m[1:end])) == 0 { // no element
		m = nil
	}
	if closed {
		s.layout = unknown // any text may follow the array
		s.take(end + 1)
	} else {
		s.take(end) // its comma opens the next message
	}
	return m, true
}

// wholeLines returns how many bytes of the buffer are whole lines, or rows of CSV.
func (s *splitter) wholeLines() (n int) {
	if s.columns == nil {
		return bytes.LastIndexByte(s.buf, '\n') + 1
	}
	for {
		row, _ := s.columns.Next(s.buf[n:], false)
		if row == 0 {
			return n
		}
		n += row
	}
}

// scanEnd returns the index of the last byte at which the buffer can be cut, -1 for none.
// That is the last comma between elements, the array's end, or the end of an object. Inside
// an oversized sample scanEnd returns the first such index.
func (s *splitter) scanEnd() int {
	end := -1
	for i := max(s.scanned, s.opening()); i < len(s.buf); i++ {
		s.scanned = i + 1
		b := s.buf[i]
		top := s.scan.depth == 0 && !s.scan.quoted
		s.scan.step(b)
		switch {
		case s.layout == objects && b == '}' && s.scan.depth == 0 && !s.scan.quoted:
			return i
		case s.layout == array && top && (b == ']' || b == ',' && s.inOversized):
			return i
		case s.layout == array && top && b == ',':
			end = i
		}
	}
	return end
}

// opening returns how many bytes at the front belong to the layout itself: the
// bracket or comma before an array's elements.
func (s *splitter) opening() int {
	if s.layout == array && !s.inOversized {
		return 1
	}
	return 0
}

// tooLarge returns the beginning of a sample that does not fit; the next call
// skips the rest.
func (s *splitter) tooLarge() source.Message {
	excerpt := bytes.Clone(s.buf[s.opening():][:faultExcerpt])
	s.inOversized = true
	return source.Message{Value: excerpt, Fault: faultTooLarge}
}

// skipRest reads to the end of a sample that is too large; false at the end of
// the stream.
func (s *splitter) skipRest() bool {
	for {
		end := bytes.IndexByte(s.buf, '\n')
		if s.layout != lines {
			end = s.scanEnd()
		}
		if end >= 0 {
			s.inOversized = false
			s.resume(end)
			return true
		}
		if s.layout != lines && s.err == nil && len(s.buf) < cap(s.buf) {
			s.fill() // until enough is there to see whether these are lines
			continue
		}
		if s.isLines() {
			s.take(s.linesFrom)
			s.discard()
			return true
		}
		s.take(len(s.buf))
		s.discard()
		if s.err != nil {
			return false
		}
		s.fill()
	}
}

// resume drops the end of the oversized sample, up to the separator before the next one.
func (s *splitter) resume(end int) {
	switch {
	case s.layout != array:
		end++
	case s.buf[end] == ']':
		s.layout = unknown
		end++
	}
	s.take(end)
	s.discard()
}

// take marks the first n bytes as used and returns them.
func (s *splitter) take(n int) []byte {
	s.used = n
	s.at += int64(n)
	s.line += int64(bytes.Count(s.buf[:n], []byte("\n")))
	return s.buf[:n]
}

// discard moves the unused bytes to the front.
func (s *splitter) discard() {
	if s.used == 0 {
		return
	}
	s.buf = s.buf[:copy(s.buf, s.buf[s.used:])]
	s.used, s.scanned = 0, 0
	if !s.inOversized {
		s.scan = scanner{}
	}
}

func (s *splitter) fill() {
	n, err := s.r.Read(s.buf[len(s.buf):min(cap(s.buf), len(s.buf)+bufferSize)])
	s.buf = s.buf[:len(s.buf)+n]
	s.err = err
}

// atEOF reports whether err is the clean end of a stream.
func atEOF(err error) bool { return errors.Is(err, io.EOF) }

// scanner follows the nesting of JSON, byte by byte.
type scanner struct {
	depth           int
	quoted, escaped bool
}

func (s *scanner) step(b byte) {
	switch {
	case b == '\n': // no JSON string spans lines: an unfinished one ends here
		s.quoted, s.escaped = false, false
	case s.escaped:
		s.escaped = false
	case s.quoted && b == '\\':
		s.escaped = true
	case b == '"':
		s.quoted = !s.quoted
	case s.quoted:
	case b == '{' || b == '[':
		s.depth++
	case b == '}' || b == ']':
		s.depth--
	}
}
