package silence_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

var matched = detect.Incident{
	ID: "0123", Case: casebook.FewValues, Subject: detect.SubjectKeys, Target: detect.Target{Account: "1", Region: "eu-west-1", Table: "orders", Index: "by-status"},
	Severity: detect.Critical, Owner: "payments", Labels: map[string]string{"tier": `1"\`},
}

func TestMatchers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`account=1`: true, `region=eu-west-1`: true, `table=orders`: true, `index="by-status"`: true, `case=few_values`: true, `subject=~"key.*"`: true, `case!~"hot_.*|samples_lost"`: true, `subject!=partition`: true,
		`subject=keys`: true, `severity=critical`: true, `owner = "payments"`: true, ` incident=0123 `: true, `labels.tier="1\"\\"`: true,
		`table=order`: false, `table!=orders`: false, `table!=carts`: true, `severity!=warning`: true, `labels.team=`: true, `labels.team!=""`: false,
		// Of all of the text, as in Alertmanager.
		`table=~order`: false, `table=~"order."`: true, `table=~rders`: false, `table=~"a|orders"`: true, `table=~"orders|a"`: true,
		`table=~"ord\w+"`: true, `table=~"o|s"`: false, `table!~"order.*"`: false, `table!~order`: true, `table=~"(?i)ORDERS"`: true,
		`table=~"(?m)^orders$"`: true, `table=~`: false, `table!~""`: true,
	} {
		m, err := silence.ParseMatcher(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := m.Matches(&matched, &detect.Finding{Subject: detect.KeyWrites}); got != want {
			t.Errorf("%s matches: %t, want %t", text, got, want)
		}
		again, err := silence.ParseMatcher(m.String())
		if err != nil || again.String() != m.String() || again.Value != m.Value {
			t.Errorf("%s is written as %s and read as %+v, %v", text, m, again, err)
		}
	}
}

// TestGlobalIncidentsAreInAllRegions: a matcher of the Region chooses an incident of
// writes to a global table if it chooses all Regions, whichever the root is of.
func TestGlobalIncidentsAreInAllRegions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`region=eu-west-1`: false, `region=us-east-1`: false, `region=~"eu-west-1|us-east-1"`: true, `region=~".+"`: true, `region=~"eu-.*"`: false,
		`region!=eu-west-1`: false, `region!=us-east-1`: false, `region!=ap-south-1`: true, `region!~"us-.*"`: false, `region=`: false, `table=orders`: true,
	} {
		m, err := silence.ParseMatcher(text)
		must.Succeed(t, err)
		for _, region := range []string{"eu-west-1", "us-east-1", ""} {
			i := matched
			i.Region = region
			root := detect.Finding{Subject: detect.KeyWrites, Replication: &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}}}
			if got := m.Matches(&i, &root); got != want {
				t.Errorf("%s matches with a root of %q: %t, want %t", text, region, got, want)
			}
		}
	}
}

func TestAttacksOnMatchers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: "compares nothing", `orders`: "compares nothing", `tabel=orders`: `there is no "tabel": give account, region, table`,
		`=orders`: `there is no ""`, `labels.=x`: `there is no "labels."`, `key=x`: `there is no "key"`, `table!orders`: `"!" is no comparison`,
		`table="orders`: "not closed", `table="orders\"`: "not closed", `table="a" index="b"`: "follows the quotes",
		`table=~"("`: "missing closing )", `table=~"a)|(b"`: "unexpected )", `table=~"a{1001}"`: "invalid repeat count", `table=~"\8"`: "invalid escape",
		`severity=warn`: `"warn": write critical, warning`, "table=a\nb": "one line", "table=\x00": "one line", "table=\xff": "one line",
		`subject=key_write`: `there is no subject "key_write": did you mean "key_writes"?`, `case!=hot-key`: `there is no case "hot-key": did you mean "hot_key"?`,
		`subject=~"hot_keys_.*"`: `there is no subject "hot_keys_.*"`, `case!~x`: `there is no case "x"; known are account_quota, at_limit`,
		`table=` + strings.Repeat("x", 2000): "too long", strings.Repeat("x", 100_000): "compares nothing",
		`labels.` + strings.Repeat("x", 2000) + `=a`: "too long",
	} {
		m, err := silence.ParseMatcher(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.80s is read as %+v, %v; want %s", text, m, err, want)
		}
	}
}

// FuzzParseMatcher: what is read is written so that it is read again.
func FuzzParseMatcher(f *testing.F) {
	f.Add(`table=~"a\"b\\c"`)
	f.Add(`labels.x!~"\d+"`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := silence.ParseMatcher(text)
		if err != nil {
			return
		}
		again, err := silence.ParseMatcher(m.String())
		if err != nil || again.Name != m.Name || again.Op != m.Op || again.Value != m.Value {
			t.Errorf("%q is %+v, and then %+v, %v", text, m, again, err)
		}
	})
}
