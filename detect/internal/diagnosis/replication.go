package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Replication says of a write-hot key of a global table what its load consists of;
// empty for other keys, and where the table's replicas are not known.
func Replication(f *detect.Finding) string {
	r := f.Replication
	if r == nil {
		return ""
	}
	others := slices.DeleteFunc(slices.Clone(r.Regions), func(region string) bool { return region == f.Region })
	text := fmt.Sprintf("This is a global table, with %s in %s: each write that succeeds is replicated and loads the same key in each Region, so that its findings in all Regions are one incident.",
		plural(len(others), "a replica", "replicas"), wording.Printable(strings.Join(others, ", ")))
	switch {
	case f.Quality.Source == detect.SourceChanges:
		return text + " The stream shows the writes that are replicated to here, too: nothing is added to it."
	case r.WCU > 0:
		return text + fmt.Sprintf(" Of the peak, %s a second were written in other Regions; writes whose condition failed are counted with them, though these are not replicated. What is said of callers and operations is of the requests of this Region.", wording.PerSecond(detect.Milli(r.WCU), f.Kind))
	}
	return text + " No request of another Region that writes this key was seen at the peak: where those are not sampled, the load may be higher than shown."
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
