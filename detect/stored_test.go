package detect_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestReadsFindingsOfBefore: what was stored before quality was one thing is read
// with it.
func TestReadsFindingsOfBefore(t *testing.T) {
	t.Parallel()
	f, err := detect.ReadFinding([]byte(`{"fingerprint":"f1","kind":"hot_key_write","table":"orders","index":"","key":"a","key_type":"S",
		"severity":"critical","state":"firing","seen":"changes","coverage":0.5,"gaps":[{"source":"kafka","partition":"orders/1","reason":"lost"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Table != "orders" || f.Key != "a" || f.Kind != detect.HotKeyWrite || f.State != detect.Firing {
		t.Errorf("read %+v", f)
	}
	if q := f.Quality; q.Source != detect.SourceChanges || q.Coverage == nil || *q.Coverage != 0.5 || len(q.Gaps) != 1 || q.Gaps[0].Reason != "lost" || len(q.CannotSee) != 3 {
		t.Errorf("quality %+v", q)
	}
	if f.Incident == "" {
		t.Error("it has no incident")
	}
}

func TestReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	want := hotKey(detect.HotKeyRead, detect.Target{Account: "1", Region: "eu-west-1", Table: "orders"}, "a")
	want.Quality = detect.NewQuality(detect.SourceMixed)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := detect.ReadFinding(text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: read\n%+v, want\n%+v", err, got, want)
	}
	if _, err := detect.ReadFinding([]byte(`{"kind":`)); err == nil {
		t.Error("half a document is read")
	}
}
