package intake

import "bytes"

// records counts the objects of a list that comes in several messages, so that one in a line of
// many has a number of its own. It reads a message no further than it is asked for.
type records struct {
	message []byte // a list, or a part of one; nil for what is none
	at      int
	n       int64 // objects that begin before at, those of earlier messages among them
	depth   int   // of the brackets around at
	inText  bool
}

func (r *records) begin(message []byte) {
	r.advance(len(r.message))
	message = bytes.TrimLeft(message, " \t\r\n")
	r.at, r.depth, r.inText = 0, 0, false
	if r.message = nil; len(message) > 0 && message[0] == '[' {
		r.message = message
	}
}

// number returns the number, from 1, of the object that a part of the message begins; 0 where it
// is in no list.
func (r *records) number(part []byte) int64 {
	at := offset(r.message, part)
	if at < r.at { // not in it, or a part that was passed already
		return 0
	}
	r.advance(at + 1)
	return r.n
}

func (r *records) advance(to int) {
	for ; r.at < to; r.at++ {
		switch b := r.message[r.at]; {
		case r.inText && b == '\\':
			r.at++ // whatever follows is text
		case b == '"':
			r.inText = !r.inText
		case r.inText:
		case b == '{' || b == '[':
			if r.depth == 1 {
				r.n++
			}
			r.depth++
		case b == '}' || b == ']':
			r.depth--
		}
	}
}
