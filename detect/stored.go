package detect

import (
	"encoding/json"
	"fmt"

	"github.com/keyheat/keyheat/sample"
)

// ReadFinding reads the JSON form of a finding. Documents that were stored before
// a finding had its quality in one place are read too.
func ReadFinding(document []byte) (Finding, error) {
	old := struct {
		*Finding
		Seen     string       `json:"seen"`
		Coverage *float64     `json:"coverage"`
		Gaps     []sample.Gap `json:"gaps"`
	}{Finding: &Finding{}}
	if err := json.Unmarshal(document, &old); err != nil {
		return Finding{}, fmt.Errorf("read a finding: %w", err)
	}
	f := old.Finding
	if f.Quality.Source != "" {
		return *f, nil
	}
	source := SourceRequests
	switch old.Seen {
	case "changes":
		source = SourceChanges
	case "both":
		source = SourceMixed
	}
	f.Quality = NewQuality(source)
	f.Quality.Coverage, f.Quality.Gaps = old.Coverage, append(f.Quality.Gaps, old.Gaps...)
	f.BelongTo(causeOf[f.Kind], f.causeKey())
	return *f, nil
}
