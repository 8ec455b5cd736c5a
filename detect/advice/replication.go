package advice

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
)

// Replication says of a write-hot key of a global table what its load consists of;
// empty for other keys, and where the table's replicas are not known.
func Replication(f *detect.Finding, facts *detect.TableFacts) string {
	if facts == nil || len(facts.Replicas) == 0 || f.Kind == detect.HotKeyRead {
		return ""
	}
	seen := ""
	switch f.Quality.Source {
	case detect.SourceRequests:
		seen = " Samples of requests show the writes that are made here, not those that are replicated to here: the load may be higher."
	case detect.SourceChanges:
		seen = " The stream shows the writes that are replicated to here, too."
	}
	return fmt.Sprintf("This is a global table, with %s in %s: every write also consumes write units of the same key there. A partition's limits hold in each Region by itself, so loads of several Regions are not added up.%s",
		plural(len(facts.Replicas), "a replica", "replicas"), strings.Join(facts.Replicas, ", "), seen)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
