package detect

import "github.com/keyheat/keyheat/sample"

// subject is a key of a table or index, or, without a key, all of it.
type subject struct {
	target Target
	hash   uint64
	key    sample.Key
}

// whole reports whether the subject is a table or index as a whole.
func (s subject) whole() bool { return s.hash == 0 }

// kinds returns the kinds that findings of the subject can have.
func (s subject) kinds() [2]Kind {
	switch {
	case s.whole():
		return [2]Kind{HotPartition, TableStarvation}
	case s.target.Index != "":
		return [2]Kind{HotGSIKey, HotKeyRead}
	}
	return [2]Kind{HotKeyWrite, HotKeyRead}
}
