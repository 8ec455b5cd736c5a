package detect_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestReadFinding reads a finding from its own JSON form, and no half document.
func TestReadFinding(t *testing.T) {
	t.Parallel()
	want := hotKey(detect.KeyReads, detect.Target{Account: "1", Region: "eu-west-1", Table: "orders"}, "a")
	want.Quality = detect.NewQuality(detect.SourceMixed)
	text, err := json.Marshal(want)
	must.Succeed(t, err)
	got, err := detect.ReadFinding(text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: read\n%+v, want\n%+v", err, got, want)
	}
	if _, err := detect.ReadFinding([]byte(`{"case":`)); err == nil {
		t.Error("half a document is read")
	}
}
