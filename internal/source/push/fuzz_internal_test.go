package push

import "testing"

// FuzzBody reads any bytes as a body: no body is larger than a batch may be.
func FuzzBody(f *testing.F) {
	for _, body := range []string{"", "{}", "\x1f\x8b\b\x00\x00\x00\x00\x00\x02\xff\x01\x02\x00\xfd\xff{}C\xbf\xa6\xa3\x02\x00\x00\x00", "\x28\xb5\x2f\xfd\x04\x00\x11\x00\x00{}"} {
		for _, encoding := range []string{"", "identity", "gzip", "zstd", "br"} {
			f.Add([]byte(body), encoding)
		}
	}
	const most = 1 << 16
	d := newDecompressor(most)
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		got, err := d.decompress(body, encoding)
		if encoding != "" && encoding != "identity" && err == nil && len(got) > most {
			t.Errorf("%d bytes", len(got))
		}
		if r := refuseBody(err); err != nil && (r.status < 400 || r.status > 499) {
			t.Errorf("%v is %d", err, r.status)
		}
	})
}
