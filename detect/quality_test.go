package detect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestUnknownQualityIsNotZero: what nothing tells is null in JSON.
func TestUnknownQualityIsNotZero(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(detect.NewQuality(detect.SourceRequests))
	must.Succeed(t, err)
	for _, want := range []string{`"rate":null`, `"coverage":null`, `"estimated":null`, `"gaps":[]`, `"cannot_see":[]`, `"resolution":1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
}

func TestQualityOfEachSource(t *testing.T) {
	t.Parallel()
	for source, want := range map[detect.Source]struct{ blind, resolution int }{
		detect.SourceRequests: {0, 1}, detect.SourceChanges: {3, 1}, detect.SourceMixed: {0, 1}, detect.SourceMinutes: {0, 60},
	} {
		if q := detect.NewQuality(source); len(q.CannotSee) != want.blind || q.Resolution != want.resolution {
			t.Errorf("%s cannot see %q in %d s, want %+v", source, q.CannotSee, q.Resolution, want)
		}
	}
}
