package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Subject is a key of a table or index, or, without a key, all of it.
type Subject struct {
	Target detect.Target
	Hash   uint64
	Key    sample.Key
}

// IsWhole reports whether the subject is a table or index as a whole.
func (s Subject) IsWhole() bool { return s.Hash == 0 }

// Kinds returns the kinds that findings of the subject can have.
func (s Subject) Kinds() [2]detect.Kind {
	switch {
	case s.IsWhole():
		return [2]detect.Kind{detect.HotPartition, detect.TableStarvation}
	case s.Target.Index != "":
		return [2]detect.Kind{detect.HotGSIKey, detect.HotKeyRead}
	}
	return [2]detect.Kind{detect.HotKeyWrite, detect.HotKeyRead}
}
