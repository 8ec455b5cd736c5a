package tables_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
)

// sectionOf reads the sections from a file's text.
func sectionOf(t *testing.T, text string) *tables.Section {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := tables.Read(path)
	must.Succeed(t, err)
	return s
}

// TestKeysAreHiddenByTable: the general policy holds where a table has none, the most
// specific one else, for the table's indexes too.
func TestKeysAreHiddenByTable(t *testing.T) {
	t.Parallel()
	s := sectionOf(t, `
policy: {keys: hmac}
tables:
  open: {keys: plain}
  short: {keys: prefix(2)}
  eu-west-1/open: {keys: hmac}
  counted: {suffix: BASE#7}
`)
	secret := tables.Hashing{Secret: config.Secret(base64.StdEncoding.EncodeToString(make([]byte, 32)))}
	must.Succeed(t, s.ValidateHiding(secret))
	hider := s.Hider(secret)()
	for _, c := range []struct {
		at   sample.Target
		like string // H is a hash
	}{
		{sample.Target{Table: "orders"}, "H"},
		{sample.Target{Table: "orders", Index: "by-status"}, "H"},
		{sample.Target{Table: "open"}, "user#7"},
		{sample.Target{Table: "open", Index: "by-status"}, "user#7"},
		{sample.Target{Table: "open", Region: "eu-west-1"}, "H"},
		{sample.Target{Table: "short"}, "usH"},
		{sample.Target{Table: "counted"}, "H"},
		{sample.Target{Table: "orders"}, "H"},
	} {
		r := sample.Record{Table: c.at.Table, Index: c.at.Index, Region: c.at.Region, PK: sample.KeyString("user#7"), Time: 1}
		hider.Hide(&r)
		parts := strings.Split(r.PK.Text, "~")
		got := parts[0]
		for _, part := range parts[1:] {
			got += "H" + part[22:]
		}
		if got != c.like {
			t.Errorf("%+v: %q, want %q", c.at, r.PK.Text, c.like)
		}
	}
}

func TestNothingIsHiddenByDefault(t *testing.T) {
	t.Parallel()
	if s := sectionOf(t, "tables: {orders: {keys: plain}}"); s.Hider(tables.Hashing{}) != nil || s.ValidateHiding(tables.Hashing{}) != nil {
		t.Error("plain keys are hidden, or need a secret")
	}
	for _, text := range []string{"policy: {keys: hmac}", "tables: {orders: {keys: prefix(3)}}"} {
		if err := sectionOf(t, text).ValidateHiding(tables.Hashing{}); err == nil || !strings.Contains(err.Error(), "openssl rand") {
			t.Errorf("%s without a secret: %v", text, err)
		}
	}
	if err := sectionOf(t, "{}").ValidateHiding(tables.Hashing{Secret: "hunter2"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a bad secret: %v", err)
	}
}
